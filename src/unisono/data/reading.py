"""How a table was read: which column became what, and what was left out and why. Plain values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LeftOut:
    """A column that was not taken for a rating."""

    column: str
    why: str
    numeric: bool = False  # it holds numbers, so that it could be taken in


@dataclass(frozen=True)
class Reading:
    """The roles of the columns of a table of ratings."""

    item: str
    annotator: str
    time: str | None
    dimensions: dict[str, str]  # dimension -> the column (or the level of a long table) it was read from
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()  # what was read otherwise than as plain numbers in plain columns, in sentences
    item_parts: tuple[str, ...] = ()  # columns that the item's name is made of, if there are several
