"""The unit of a fused trace, and which way is up, in words."""

from __future__ import annotations

from typing import Any

UNIT = {
    "annotators": "that of the typical annotator; annotators' gains differ by a factor of {factor:g}",
    "private": "that of the typical annotator, whose scale is as good as any: gains differ by a factor of {factor:g}. "
    "Read differences and correlations, or divide by the standard deviation of the truth ({sd})",
    "gold": "that of the known frames, as far as there are enough of them",
}
UP = {"majority": "up is what most annotators do", "gold": "up is what the known frames say, where they are clear"}


def unit_words(notes: dict[str, Any], dimensions: tuple[str, ...] | list[str]) -> str | None:
    """A sentence or two, from the notes of a fuser; None where annotators share a scale by assumption."""
    unit = notes.get("unit")
    if unit is None:
        return None
    sd = ", ".join(f"{name} {value:g}" for name, value in zip(dimensions, notes["truth_sd"], strict=True))
    return f"{UNIT[unit].format(factor=notes['gain_factor'], sd=sd)}; {UP[notes['direction']]}."
