"""How a table was read: which column became what, and what was left out and why. Plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class LeftOut:
    """A column that was not taken for a rating."""

    column: str
    why: str
    numeric: bool = False  # it holds numbers, so that it could be taken in


@dataclass(frozen=True, eq=False, repr=False)
class Identifiers:
    """The ids of a table as they came: inside, labels are text; results give back what the table had."""

    column: str  # what the table calls them
    place: Mapping[str, int]  # where the id behind each label stands among the values
    values: Any  # a column of the library that the table came from, with its own type


@dataclass(frozen=True)
class Repeating:
    """An annotator whose answers repeat in blocks, in the order of the rows."""

    annotator: str
    period: int  # rows of the block
    rows: int
    probability: float


@dataclass(frozen=True)
class Hasty:
    """An annotator whose answers came faster than anybody can answer."""

    annotator: str
    column: str  # where the durations are
    fast: int  # answers that came too fast
    answers: int


@dataclass(frozen=True)
class Reading:
    """The roles of the columns of a table of ratings."""

    item: str
    annotator: str
    time: str | None
    dimensions: dict[str, str]  # dimension -> the column (or the level of a long table) it was read from
    left_out: tuple[LeftOut, ...] = ()
    repeating: tuple[Repeating, ...] = ()
    hasty: tuple[Hasty, ...] = ()
    notes: tuple[str, ...] = ()  # what was read otherwise than as plain numbers in plain columns, in sentences
    item_parts: tuple[str, ...] = ()  # columns that the item's name is made of, if there are several
    item_ids: Identifiers | None = field(default=None, compare=False, repr=False)  # None: no column of the table
    annotator_ids: Identifiers | None = field(default=None, compare=False, repr=False)
    part_ids: tuple[Identifiers, ...] = field(default=(), compare=False, repr=False)  # of the item's parts
