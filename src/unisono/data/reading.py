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
