"""A study that asks in every way, for the tests of questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from collect_support import Rater
from unisono.collect.studies import StudyFolder, open_folder

CLEAR_AND_TOPIC = """
[[dimensions]]
name = "clear"
question = "It is clear."
kind = "likert"
choices = ["not at all", "", "partly", "", "very much"]
[[dimensions]]
name = "topic"
question = "What is it about?"
kind = "choice"
choices = ["home", "work", "something else"]
"""
KINDS = f"""
title = "Letters"
mode = "rate"
[texts]
instructions = "Read each letter."
[[dimensions]]
name = "joy"
question = "How much joy?"
anchors = ["none", "a lot"]
{CLEAR_AND_TOPIC}
[[dimensions]]
name = "remark"
question = "Anything odd?"
kind = "text"
[items]
source = "table"
[limits]
requests_per_second = 1000
joins_per_minute = 6000
"""
BEFORE = """
[[questions]]
name = "age"
question = "How old are you?"
kind = "number"
min = 18
max = 120
[[questions]]
name = "place"
question = "Where do you live?"
kind = "choice"
choices = ["city", "village"]
"""
QUESTIONS = f"""
{BEFORE}
[[questions]]
name = "tired"
question = "How tired are you?"
kind = "likert"
choices = ["not at all", "", "very"]
when = "after"
[[questions]]
name = "guess"
question = "What is it about?"
kind = "text"
when = "after"
required = false
"""
PAIRS = """
title = "Two letters"
mode = "compare"
[texts]
instructions = "Read both."
[[dimensions]]
name = "joy"
question = "Which has more joy?"
[[dimensions]]
name = "calm"
question = "Which is calmer?"
[[dimensions]]
name = "why"
question = "Why?"
kind = "text"
[items]
source = "table"
[limits]
requests_per_second = 1000
joins_per_minute = 6000
"""
LETTERS = "item,text\na,I waited for you.\nb,We got the flat!\nc,The meeting is moved.\n"


def question_study(folder: Path, extra: str = "", text: str = KINDS) -> StudyFolder:
    """Three letters, asked about in every way."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text(text + extra, encoding="utf-8")
    (folder / "texts.csv").write_text(LETTERS)
    return open_folder(folder)


def pair_study(folder: Path, extra: str = "", text: str = PAIRS) -> StudyFolder:
    """Three letters, compared two by two."""
    return question_study(folder, extra, text)


def reply(rater: Rater, slot: dict[str, Any], **values: Any) -> dict[str, Any]:
    """An answer to a slot; what is not said is answered in the middle, None leaves it out."""
    usual: dict[str, Any] = {"joy": 50, "clear": 3, "topic": "work"}
    said = {name: value for name, value in (usual | values).items() if value is not None}
    event = rater.event("rating", slot=slot["id"], values=said, start=slot["start"], shown_ms=900)
    answer = rater.send(event)
    assert answer.status_code == 200, answer.text
    receipt: dict[str, Any] = answer.json()
    return receipt
