"""Contradictions among the answers that a question offers: Likert points, choices, and what other kinds do not have."""

from __future__ import annotations

from collections.abc import Iterator

from unisono.collect.studies.schema import Dimension

Finding = tuple[str, object, str]
# What `unisono fuse` takes for a category: so many words, of so many characters.
_MOST, _LONGEST = 50, 60
# Beyond this a slider is easier to answer.
_MOST_POINTS = 11
# Words that `unisono fuse` and others take for a missing answer.
_EMPTY_WORDS = {"na", "nan", "null"}


def check_choices(where: str, asked: Dimension) -> Iterator[Finding]:
    """What is wrong with the answers of a question that is no slider."""
    if asked.anchors:
        yield f"{where}.anchors", asked.anchors, "Only sliders have anchors; label answers with choices."
    if asked.kind == "text":
        if asked.choices:
            yield f"{where}.choices", asked.choices, 'A free text has none; write kind = "choice" to offer them.'
        return
    key = f"{where}.choices"
    if len(asked.choices) < 2:
        yield key, asked.choices, "Offer at least two."
    labels = [label.strip() for label in asked.choices]
    if asked.kind == "likert":
        yield from _likert(key, labels)
    else:
        yield from _words(key, labels)
    yield from _doubled(key, labels)


def _likert(key: str, labels: list[str]) -> Iterator[Finding]:
    if len(labels) > _MOST_POINTS:
        yield key, labels, f"Offer at most {_MOST_POINTS} points, or use a slider."
    if not labels[0] or not labels[-1]:
        yield key, labels, "Label at least both ends; a bare scale means nothing to raters."


def _words(key: str, labels: list[str]) -> Iterator[Finding]:
    if len(labels) > _MOST:
        yield key, len(labels), f"Offer at most {_MOST}."
    for label in labels:
        if not label:
            yield key, label, "Every choice needs a word."
        if len(label) > _LONGEST:
            yield key, label, f"Shorten it to {_LONGEST} characters; the instructions can say more."
        if label.lower() in _EMPTY_WORDS:
            yield key, label, "Tables read this as no answer at all; choose another word."
        if _is_number(label):
            yield key, label, 'Choices are words; write kind = "likert" for numbers.'


def _doubled(key: str, labels: list[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    for label in labels:
        if label and label.casefold() in seen:
            yield key, label, "This answer is there twice; choose another word."
        seen.add(label.casefold())


def _is_number(label: str) -> bool:
    try:
        float(label.replace(",", "."))
    except ValueError:
        return False
    return True
