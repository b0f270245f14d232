"""Films, or pictures of them, rated or traced on two dimensions."""

from __future__ import annotations

FILMS = """
title = "Films"
mode = "{mode}"
[texts]
instructions = "Judge."
[[dimensions]]
name = "valence"
question = "How pleasant is it?"
anchors = ["very unpleasant", "neutral", "very pleasant"]
[[dimensions]]
name = "arousal"
question = "How exciting is it?"
anchors = ["calm", "in between", "exciting"]
[items]
source = "files"
media = "{media}"
[design]
order = "listed"
[raters]
ask_comment = false
[trace]
countdown = 0
[limits]
requests_per_second = 100
"""


def asking_consent(study: str) -> str:
    """A study that asks for consent before it begins."""
    return study.replace("[texts]\n", '[texts]\nconsent = "Do you agree?"\n')
