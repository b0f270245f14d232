"""Whether a reply fits what was asked: the same rule for raters, for attention checks and for known truth."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from unisono.collect.studies.schema import Dimension, Question, Study, Value

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
