"""ItemTable: numbers that belong to items (features, gold, a reference), or to the frames of recordings.

Rows of one item lie together; `length` says how many there are (1 each without time). NaN means not known.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unisono.data.clock import Clock
from unisono.data.introduction import Introduction, counted
from unisono.data.labels import listed
from unisono.data.reading import Reading
from unisono.errors import DataError


@dataclass(frozen=True, eq=False)
class ItemTable:
    """Validated per-item (or per-frame) numbers with their labels."""

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

    def __repr__(self) -> str:
        return self._introduction().text()

    def _repr_html_(self) -> str:
        return self._introduction().html()

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
            raise DataError(
                f"{self.source} has no row for item {listed(missing)}. Add the missing rows, or leave these items out."
            )
        index = np.array([place[item] for item in items], dtype=np.int64)
        first = np.cumsum(self.length) - self.length
        rows = np.concatenate([np.arange(first[i], first[i] + self.length[i]) for i in index] or [np.arange(0)])
        found = ItemTable.from_rows(
            self.value[rows],
            items=items,
            columns=self.columns,
            length=self.length[index],
            clock=None if self.clock is None else self.clock.select(index),
            source=self.source,
        )
        return replace(found, reading=self.reading, frame_kind=self.frame_kind)

    def select_columns(self, columns: Sequence[str]) -> ItemTable:
        """Some of the columns, in this order; every one must be there."""
        missing = [column for column in columns if column not in self.columns]
        if missing:
            raise DataError(f"{self.source} has no column {listed(missing)}; it has {listed(self.columns)}.")
        index = [self.columns.index(column) for column in columns]
        found = ItemTable.from_rows(
            self.value[:, index],
            items=self.items,
            columns=columns,
            length=self.length,
            clock=self.clock,
            source=self.source,
        )
        return replace(found, reading=self.reading, frame_kind=self.frame_kind)
