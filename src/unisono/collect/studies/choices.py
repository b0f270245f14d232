"""The answers that a question offers: contradictions among them, and whether a reply fits what was asked.

The same rule holds for raters, for attention checks and for known truth.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from unisono.collect.studies.schema import Dimension, Question, Study, Value
from unisono.tables.labels import as_number

Finding = tuple[str, object, str]
# What `unisono fuse` takes for a category: so many words, of so many characters.
_MOST_CATEGORIES, _LONGEST = 50, 60
# Countries of the world and then some.
_MOST_CHOICES = 300
# Beyond this a slider is easier to answer.
_MOST_POINTS = 11
# Words that `unisono fuse` and others take for a missing answer.
_EMPTY_WORDS = {"na", "nan", "null"}


def check_choices(where: str, asked: Dimension | Question) -> Iterator[Finding]:
    """What is wrong with the answers of a question that is no slider."""
    key = f"{where}.choices"
    if asked.kind in ("text", "number"):
        if asked.choices:
            yield key, asked.choices, 'This kind offers none; write kind = "choice" to offer them.'
        return
    if len(asked.choices) < 2:
        yield key, asked.choices, "Offer at least two."
    labels = [label.strip() for label in asked.choices]
    if asked.kind == "likert":
        yield from _likert(key, labels)
    else:
        yield from _words(key, labels)
    yield from _doubled(key, labels)


def check_categories(where: str, asked: Dimension) -> Iterator[Finding]:
    """What keeps the words of a choice from being read as categories."""
    key = f"{where}.choices"
    if len(asked.choices) > _MOST_CATEGORIES:
        yield key, f"{len(asked.choices)} words", f"Offer at most {_MOST_CATEGORIES}."
    for label in map(str.strip, asked.choices):
        if label.lower() in _EMPTY_WORDS:
            yield key, label, "Tables read this as no answer at all; choose another word."
        if as_number(label, comma=True) is not None:
            yield key, label, 'Choices are words; write kind = "likert" for numbers.'


def check_number(where: str, asked: Question) -> Iterator[Finding]:
    """What is wrong with the ends of a number."""
    low, high = asked.min, asked.max
    if asked.kind != "number" and (low, high) != (None, None):
        yield f"{where}.min", low, 'Only numbers have ends; write kind = "number", or leave min and max out.'
    elif (low is None) != (high is None):
        yield f"{where}.min", low, "Give both min and max, or neither."
    elif low is not None and high is not None and not (low < high and math.isfinite(high - low)):
        yield f"{where}.min", low, f"It must lie below max, which is {high}."


def _likert(key: str, labels: list[str]) -> Iterator[Finding]:
    if len(labels) > _MOST_POINTS:
        yield key, labels, f"Offer at most {_MOST_POINTS} points, or use a slider."
    if not labels[0] or not labels[-1]:
        yield key, labels, "Label at least both ends; a bare scale means nothing to raters."


def _words(key: str, labels: list[str]) -> Iterator[Finding]:
    if len(labels) > _MOST_CHOICES:
        yield key, f"{len(labels)} words", f"Offer at most {_MOST_CHOICES}."
    for label in labels:
        if not label:
            yield key, label, "Every choice needs a word."
        if len(label) > _LONGEST:
            yield key, label, f"Shorten it to {_LONGEST} characters; the instructions can say more."


def _doubled(key: str, labels: list[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    for label in labels:
        if label and label.casefold() in seen:
            yield key, label, "This answer is there twice; choose another word."
        seen.add(label.casefold())


# Characters of a free text; the browser stops there too.
LONGEST_TEXT = 2000
# Of a step, by which sums of decimal fractions may be off.
_ROUNDING = 1e-6
PAGES = ("before", "after")


def reply_fault(asked: Dimension | Question, value: Value) -> str | None:
    """What is wrong with the reply, or None."""
    if asked.kind == "text":
        return _text_fault(asked, value)
    if asked.kind == "choice":
        return None if value in asked.choices else f"{asked.name} must be one of {', '.join(asked.choices)}"
    if isinstance(value, str) or not math.isfinite(value):
        return f"{asked.name} must be a number"
    low, high = asked.ends
    if not low <= value <= high:
        return f"{asked.name} must lie between {low} and {high}"
    if asked.kind == "likert" and value != int(value):
        return f"{asked.name} must be a whole number"
    return None


def step_fault(asked: Dimension, value: Value) -> str | None:
    """What raters answer lies on a step of the slider; what is known to be true may lie between two."""
    if asked.kind != "slider" or isinstance(value, str):
        return None
    steps = (value - asked.min) / asked.step
    # Steps such as 0.1 have no exact form, and browsers let the handle stand at the end where no step falls on it.
    if abs(steps - round(steps)) <= _ROUNDING or value in asked.ends:
        return None
    return f"{asked.name} must lie on a step of {asked.step:g}"


def _text_fault(asked: Dimension | Question, value: Value) -> str | None:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        return f"{asked.name} must be text of at most {LONGEST_TEXT} characters"
    return f"{asked.name} must not be empty" if asked.required and not value.strip() else None


def questionnaire_fault(study: Study, when: str, replies: Mapping[str, Value]) -> str | None:
    """What is wrong with a page of the questionnaire, or None."""
    page = {question.name: question for question in study.questions if question.when == when}
    if not replies.keys() <= page.keys():
        return "there is no such question"
    if any(question.required and name not in replies for name, question in page.items()):
        return "not all questions are answered"
    return next((fault for name, value in replies.items() if (fault := reply_fault(page[name], value))), None)


def pages_due(study: Study, sent: Collection[str], replies: Collection[str]) -> list[str]:
    """Pages of the questionnaire that a rater has still to fill in: never sent, or edited since to ask for more."""
    return [
        when
        for when in PAGES
        if (page := [question for question in study.questions if question.when == when])
        and (when not in sent or any(question.required and question.name not in replies for question in page))
    ]
