"""Whether a reply fits what was asked: the same rule for raters, for attention checks and for known truth."""

from __future__ import annotations

import math

from unisono.collect.studies.schema import Dimension, Value

# Characters of a free text; the browser stops there too.
LONGEST_TEXT = 2000


def reply_fault(asked: Dimension, value: Value) -> str | None:
    """What is wrong with the reply, or None."""
    if asked.kind == "text":
        return _text_fault(asked, value)
    if asked.kind == "choice":
        return None if value in asked.choices else f"{asked.name} must be one of {', '.join(asked.choices)}"
    low, high = asked.ends
    if isinstance(value, str) or not (math.isfinite(value) and low <= value <= high):
        return f"{asked.name} must lie between {low} and {high}"
    if asked.kind == "likert" and value != int(value):
        return f"{asked.name} must be a whole number"
    return None


def _text_fault(asked: Dimension, value: Value) -> str | None:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        return f"{asked.name} must be text of at most {LONGEST_TEXT} characters"
    return f"{asked.name} must not be empty" if asked.required and not value.strip() else None
