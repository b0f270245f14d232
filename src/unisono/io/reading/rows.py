"""The two shapes of a table of ratings behind one face: a column per dimension, or one row per number.

Both know which annotator and item each row is about, hand out the numbers of one dimension, and say what it means when
two rows claim the same place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from unisono.data.reading import Hasty, LeftOut, Repeating
from unisono.data.scale import Ends, span
from unisono.errors import DataError
from unisono.io.reading import problems
from unisono.io.reading.collecting import Collected, number_column
from unisono.io.reading.hints import parts_of_items


class Rows(ABC):
    """Rows of ratings whose labels are numbered in canonical order."""

    def __init__(self, found: Collected, dimensions: tuple[str, ...]):
        self.found = found
        self.left_out: tuple[LeftOut, ...] = ()
        self.repeating: tuple[Repeating, ...] = ()
        self.hasty: tuple[Hasty, ...] = ()
        self.given_ends: dict[int, Ends | None] = {}  # of the scale, by dimension, where the user gave it
        self.dimensions = dimensions
        self.items = found.label["item"]
        self.annotators = found.label.get("annotator")

    @property
    def source(self) -> str:
        return self.found.table.name

    @property
    def given_scale(self) -> dict[str, Ends | None] | None:
        """What the user said of the scale, by name."""
        return {self.dimensions[d]: ends for d, ends in self.given_ends.items()} or None

    @property
    def pair(self) -> np.ndarray:
        """(rows,) one number for each (item, annotator)."""
        if self.annotators is None:
            return self.items.code.astype(np.int64)
        return np.asarray(self.items.code.astype(np.int64) * len(self.annotators.labels) + self.annotators.code)

    @property
    @abstractmethod
    def claim(self) -> np.ndarray:
        """(rows,) one number for each place that only one row (at one time) may fill."""

    @property
    @abstractmethod
    def sources(self) -> dict[str, str]:
        """Which column, or which level of a long table, each dimension comes from."""

    @abstractmethod
    def _numbers(self, d: int) -> np.ndarray:
        """(rows,) the numbers of dimension d; NaN where missing, and in rows about something else. Handed out once."""

    def numbers(self, d: int) -> np.ndarray:
        """The same, within the scale that the user gave."""
        value, ends = self._numbers(d), self.given_ends.get(d)
        if ends is not None:
            outside = (value < ends[0]) | (value > ends[1])
            if outside.any():
                row = int(np.argmax(outside))
                column = self.sources[self.dimensions[d]]
                raise problems.outside_scale(self.where(row), column, float(value[row]), span(ends))
        return value

    def where(self, row: int) -> str:
        """`ratings.csv row 18`"""
        return self.found.where(row)

    def places(self, first: int, second: int) -> tuple[str, str]:
        """Two rows for one message, in the order of the file."""
        low, high = sorted((int(first), int(second)))
        return problems.join_places(self.where(low), self.where(high), self.source)

    def who(self, row: int) -> str:
        """The trace that a row belongs to, in words."""
        item = self.items.labels[self.items.code[row]]
        if self.annotators is None:
            return f"recording '{item}'"
        return f"annotator '{self.annotators.labels[self.annotators.code[row]]}' on recording '{item}'"

    def refuse_twice(self, first: int, second: int) -> DataError:
        """The error for two rows that make the same claim."""
        places = self.places(first, second)
        item = self.items.labels[self.items.code[first]]
        if self.annotators is None:
            return problems.item_twice(*places, item)
        annotator = self.annotators.labels[self.annotators.code[first]]
        return self._rated_twice(places, annotator, item, first)

    @abstractmethod
    def _rated_twice(self, places: tuple[str, str], annotator: str, item: str, row: int) -> DataError:
        """The error for two rows by one annotator about one item."""


class WideRows(Rows):
    """A column per dimension."""

    def __init__(self, found: Collected, names: dict[str, int], complete: bool = False):
        super().__init__(found, tuple(names))
        self._columns = list(names.values())
        self._complete = complete

    @property
    def claim(self) -> np.ndarray:
        return self.pair

    @property
    def sources(self) -> dict[str, str]:
        columns = self.found.table.columns
        return {name: columns[index] for name, index in zip(self.dimensions, self._columns, strict=True)}

    def _numbers(self, d: int) -> np.ndarray:
        return number_column(self.found, self._columns[d], full=self._complete)

    def _rated_twice(self, places: tuple[str, str], annotator: str, item: str, row: int) -> DataError:
        table, value = self.found.table, self._columns[0]
        known = [table.columns.index(coded.column) for coded in self.found.label.values()]
        others = [table.columns.index(one.column) for one in self.left_out if one.column in table.columns]
        apart = [table.columns[index] for index in parts_of_items(table, known, others, self._columns)]
        only = table.columns[value] if len(self._columns) == 1 and len(apart) == 1 else None
        return problems.rated_twice(*places, annotator, item, self.items.column, apart, only)


class LongRows(Rows):
    """One row per number: one column says of which dimension, another one holds it."""

    def __init__(self, found: Collected, value: int, wanted: dict[str, str]):
        self._dimension = found.label["dimension"]
        self._value = number_column(found, value)
        levels = wanted or {name: name for name in self._dimension.labels}
        for level in levels.values():
            if level not in self._dimension.labels:
                raise problems.no_such_column(found.table.name, level, self._dimension.labels)
        super().__init__(found, tuple(levels))
        self._levels = [self._dimension.labels.index(level) for level in levels.values()]

    def keep(self, chosen: Sequence[int]) -> None:
        """Leaves dimensions out: all but these."""
        self.dimensions = tuple(self.dimensions[d] for d in chosen)
        self._levels = [self._levels[d] for d in chosen]

    @property
    def claim(self) -> np.ndarray:
        return np.asarray(self.pair * len(self._dimension.labels) + self._dimension.code)

    @property
    def sources(self) -> dict[str, str]:
        return {name: self._dimension.labels[level] for name, level in zip(self.dimensions, self._levels, strict=True)}

    def _numbers(self, d: int) -> np.ndarray:
        return np.where(self._dimension.code == self._levels[d], self._value, np.nan)

    def _rated_twice(self, places: tuple[str, str], annotator: str, item: str, row: int) -> DataError:
        dimension = self._dimension.labels[self._dimension.code[row]]
        return problems.answered_twice(*places, annotator, item, dimension, self.items.column)


def sorted_claims(claim: np.ndarray, time: np.ndarray | None = None) -> tuple[np.ndarray, tuple[int, int] | None]:
    """Rows sorted by claim (and time), and the first two rows in the file that make the same one."""
    if time is None:
        order = np.arange(len(claim)) if np.all(np.diff(claim) > 0) else np.argsort(claim, kind="stable")
        same = np.flatnonzero(np.diff(claim[order]) == 0)
    else:
        order = np.lexsort((time, claim))
        same = np.flatnonzero((np.diff(claim[order]) == 0) & (np.diff(time[order]) == 0))
    if not len(same):
        return order, None
    first = same[np.argmin(order[same + 1])]
    return order, (int(order[first]), int(order[first + 1]))
