"""Tables of items: numbers of items (features, gold, a reference) or of frames of recordings, with their clock.

Rows of one item lie together; `length` says how many there are (1 each without time). NaN means not known. Frame t of
item m happens at start[m] + t / rate seconds of its `Clock`. `Reading` records how a table was read (which column
became what, what was left out and why); ratings and categories carry one too, and
`check` and `fuse` print it first.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from unisono.errors import DataError
from unisono.tables.labels import Introduced, Introduction, counted, listed

if TYPE_CHECKING:
    from unisono.tables.categories import Categories
    from unisono.tables.ratings import Ratings


@dataclass(frozen=True, eq=False)
class Clock:
    """Frames per second, and the second at which each item's first frame lies."""

    rate: float
    start: np.ndarray  # (M,) seconds

    def seconds(self, length: np.ndarray) -> np.ndarray:
        """Times of all frames, end to end, for items of the given lengths (M,)."""
        first = np.repeat(np.cumsum(length) - length, length)
        frame = np.arange(int(length.sum())) - first
        return np.asarray(np.repeat(self.start, length) + frame / self.rate)

    def select(self, index: np.ndarray) -> Clock:
        """The clock of some of the items."""
        return Clock(self.rate, self.start[index])


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
    labels: tuple[str, ...]
    values: Any  # the ids behind them, a column of the library that the table came from, with its own type

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Where the id behind each label stands among the values."""
        return {label: index for index, label in enumerate(self.labels)}


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


@dataclass(frozen=True, eq=False, repr=False)
class ItemTable(Introduced):
    """Validated per-item (or per-frame) numbers with their labels; read them with `unisono.read_item_table`.

    Examples
    --------
    >>> import pandas as pd, unisono as un
    >>> un.read_item_table(pd.DataFrame({"item": ["a", "b"], "length": [10, 12]})).value.tolist()
    [[10.0], [12.0]]
    """

    value: np.ndarray  # (S, P) numbers, NaN where unknown
    length: np.ndarray  # (M,) rows per item
    items: tuple[str, ...]
    columns: tuple[str, ...]
    clock: Clock | None = None
    source: str = "table"
    reading: Reading | None = None  # how its table was read, whose ids results give back
    frame_kind: str | None = None  # the library of the data frame it came from

    @classmethod
    def from_rows(
        cls,
        value: np.ndarray,
        *,
        items: Sequence[str],
        columns: Sequence[str],
        length: np.ndarray | None = None,
        clock: Clock | None = None,
        source: str = "table",
    ) -> ItemTable:
        """Checks that rows, labels and lengths agree, and freezes the arrays."""
        value = np.asarray(value, dtype=np.float64)
        lengths = np.ones(len(items), dtype=np.int64) if length is None else np.asarray(length, dtype=np.int64)
        if value.ndim != 2 or value.shape != (int(lengths.sum()), len(columns)):
            raise DataError(f"{source}: {value.shape} numbers for {len(items)} items and {len(columns)} columns.")
        if len(set(items)) != len(items):
            seen: set[str] = set()
            twice = next(item for item in items if item in seen or seen.add(item))  # type: ignore[func-returns-value]
            raise DataError(f"{source}: item '{twice}' has more than one row. Keep one row per item.")
        value.setflags(write=False)
        lengths.setflags(write=False)
        return cls(value, lengths, tuple(items), tuple(columns), clock, source)

    def _introduction(self) -> Introduction:
        things = counted(self.M, "item" if self.clock is None else "recording")
        title = f"ItemTable from {self.source}: {things}, {counted(self.P, 'column')}"
        rows = [(name, f"{np.count_nonzero(~np.isnan(self.value[:, p])):,}") for p, name in enumerate(self.columns)]
        return Introduction.of(title, ("column", "numbers"), rows)

    @property
    def M(self) -> int:
        return len(self.items)

    @property
    def P(self) -> int:
        return len(self.columns)

    def place(self) -> dict[str, int]:
        """Index of each item."""
        return {item: i for i, item in enumerate(self.items)}

    def select_items(self, items: Sequence[str]) -> ItemTable:
        """The rows of these items, in this order; every one must be there."""
        place = self.place()
        missing = [item for item in items if item not in place]
        if missing:
            raise DataError(f"{self.source} has no row for item {listed(missing)}. Add rows, or leave these items out.")
        index = np.array([place[item] for item in items], dtype=np.int64)
        first = np.cumsum(self.length) - self.length
        rows = np.concatenate([np.arange(first[i], first[i] + self.length[i]) for i in index] or [np.arange(0)])
        clock = None if self.clock is None else self.clock.select(index)
        return self._with(self.value[rows], items=tuple(items), length=self.length[index], clock=clock)

    def select_columns(self, columns: Sequence[str]) -> ItemTable:
        """Some of the columns, in this order; every one must be there."""
        missing = [column for column in columns if column not in self.columns]
        if missing:
            raise DataError(f"{self.source} has no column {listed(missing)}; it has {listed(self.columns)}.")
        index = [self.columns.index(column) for column in columns]
        return self._with(self.value[:, index], columns=tuple(columns))

    def _with(self, value: np.ndarray, **changes: Any) -> ItemTable:
        """Other numbers, and what changes with them; read in the same way."""
        same = {name: getattr(self, name) for name in ("items", "columns", "length", "clock", "source")}
        found = ItemTable.from_rows(value, **same | changes)
        return replace(found, reading=self.reading, frame_kind=self.frame_kind)


MOST_NAMED = 12  # dimensions, and columns left out, that are named


def reading_data(answers: Ratings | Categories) -> dict[str, Any] | None:
    """The roles of the columns as plain values, for JSON; None where no table was read. Categories have no scale."""
    how, scale = answers.reading, getattr(answers, "scale", None)
    if how is None:
        return None
    found = {"source": answers.source, **column_roles(how)}
    found["scale"] = {} if scale is None else scale.to_dict(answers.dimensions)
    return found | {"numeric_left_out": [one.column for one in how.left_out if one.numeric]}


def column_roles(how: Reading) -> dict[str, Any]:
    """Which column became what, which were left out and why."""
    return {
        "item": how.item,
        "annotator": how.annotator,
        "time": how.time,
        "dimensions": dict(how.dimensions),
        "left_out": {one.column: one.why for one in how.left_out},
        "notes": list(how.notes),
    }


def reading_lines(data: dict[str, Any] | None) -> list[str]:
    """Which column is the item, the annotator, the time; the dimensions; what was left out and how to take it in."""
    if data is None:
        return []
    time = f", time '{data['time']}'" if data["time"] is not None else ""
    named = [
        f"'{name}'" if name == column else f"'{name}' (from '{column}')" for name, column in data["dimensions"].items()
    ]
    labels = f"item '{data['item']}', annotator '{data['annotator']}'{time}"
    lines = [f"Read {data['source']}: {labels}, dimension{'s' * (len(named) != 1)} {_some(named)}."]
    lines += _scale_lines(data["scale"])
    lines += [f"  {note}" for note in data["notes"]]
    aside = list(data["left_out"].items())
    lines += [f"  left out '{column}': {why}" for column, why in aside[:MOST_NAMED]]
    if len(aside) > MOST_NAMED:
        lines.append(f"  left out {len(aside) - MOST_NAMED} more")
    if data["numeric_left_out"]:
        chosen = [*list(data["dimensions"])[:1], data["numeric_left_out"][0]]
        example = " ".join(f"--dim {shlex.quote(name)}" for name in chosen)
        lines.append(f"  To choose the columns yourself name all that count, for example {example}")
    return lines


def _scale_lines(scale: dict[str, Any]) -> list[str]:
    """One line per scale, with the dimensions on it where there are several."""
    by_words: dict[str, list[str]] = {}
    for name, own in scale.items():
        by_words.setdefault(own["words"], []).append(f"'{name}'")
    if len(by_words) == 1:
        return [f"  {words}" for words in by_words]
    return [f"  {words}: {_some(names)}" for words, names in by_words.items()]


def _some(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
