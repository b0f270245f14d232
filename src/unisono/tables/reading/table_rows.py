"""One pass over a table (label columns become codes, number columns arrays), and its rows, wide or long.

Wide tables have a column per dimension, long ones a row per number. Both know which annotator and item each row is
about, return the numbers of one dimension, and make the error for two rows that rate the same thing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unisono.errors import DataError
from unisono.maths.grouped_sums import rows_by_group
from unisono.tables.answer_scale import Ends, span
from unisono.tables.item_table import Hasty, LeftOut, Repeating
from unisono.tables.reading import problems
from unisono.tables.reading.cell_meanings import Cells, Level, Words, interpret, recode, told
from unisono.tables.reading.column_roles import KIND, is_time, plain_name
from unisono.tables.reading.label_and_number_columns import Coded, LabelColumn, NumberColumn
from unisono.tables.reading.raw_table import Chunk, Table
from unisono.tables.reading.table_layout import parts_of_items
from unisono.tables.reading.time_cells import TimeColumn


@dataclass(frozen=True)
class Collected:
    """The columns of a table, checked cell by cell."""

    table: Table
    label: dict[str, Coded]  # by role
    number: dict[int, NumberColumn]  # by position in the table
    kept: np.ndarray | None  # (rows,) record of each row, if empty rows were dropped
    said: Mapping[str, Sequence[str]]  # what the user is told about cells, with the columns it is about
    lost: Sequence[str] = ()  # and about meanings that no cell has

    @property
    def rows(self) -> int:
        return len(next(iter(self.label.values())).code)

    def where(self, row: int) -> str:
        """`ratings.csv row 18`"""
        return self.table.where(int(row if self.kept is None else self.kept[row]))


def collect(
    table: Table,
    labels: Mapping[str, int],
    numbers: Sequence[int],
    clock: int | None = None,
    words: Words | None = None,
    may_be_empty: Collection[str] = (),
) -> Collected:
    """Reads the label columns (role to position), the number columns (positions) and the clock of a table."""
    named = {role: LabelColumn(role, table.columns[index], index) for role, index in labels.items()}
    counted = {index: NumberColumn(table.columns[index], index) for index in numbers}
    timed = {} if clock is None else {clock: TimeColumn(table.columns[clock], clock)}
    extents: list[tuple[int, int, np.ndarray | None]] = []
    for whole in table.parts():
        part = whole.without_empty_rows(labels["item"])
        extents.append((part.first, part.frame.height, part.kept))
        if part.frame.height:
            _add(part, named, counted | timed, table.decimal_comma)
    if not any(height for _, height, _ in extents):
        raise problems.header_only(table.name)
    codes = {role: column.finish() for role, column in named.items()}
    lost = recode(list(counted.values()), words.labels) if words is not None and words.labels else []
    said = interpret(_cells(list(counted.values()), codes.get("dimension")), words or Words())
    found = Collected(table, codes, counted | timed, _records(extents), said, lost)
    for role, coded in found.label.items():
        if coded.labels[0] == "" and role not in (KIND, *may_be_empty):
            raise problems.empty_label(found.where(int(np.argmax(coded.code == 0))), role, named[role].name)
    return found


def _cells(columns: Sequence[NumberColumn], dimension: Coded | None) -> list[Cells]:
    """What has a meaning together: columns, or the dimensions of a long table if its values are words."""
    if dimension is None or not any(column.words for column in columns):
        return list(columns)
    levels = [
        Level(name, column, dimension.code == code) for column in columns for code, name in enumerate(dimension.labels)
    ]
    return [*levels, *(column for column in columns if column.commas)]


def usable(collected: Collected, columns: Sequence[int], *, wanted: bool) -> tuple[list[int], list[LeftOut]]:
    """Those of the columns that hold numbers, in the order asked for, and those that do not; trouble is raised.

    `wanted` if the user named the columns, so that text cannot just be left out.
    """
    found, aside = [], []
    for index in columns:
        column = collected.number[index]
        trouble = column.trouble(collected.table, wanted=wanted)
        if trouble is not None:
            raise trouble
        if column.kind == "numbers":
            found.append(index)
        elif plain_name(column.name) != KIND:
            aside.append(LeftOut(column.name, "text" if column.kind == "text" else "empty"))
    return found, aside


def peek(collected: Collected, index: int) -> np.ndarray:
    """(rows,) the numbers of a column, which may still be handed out afterwards."""
    return collected.number[index].look()


def number_column(collected: Collected, index: int, *, full: bool = False) -> np.ndarray:
    """(rows,) the numbers of a column that has to hold numbers; `full` if no cell may be missing."""
    column = collected.number[index]
    trouble = column.trouble(collected.table, wanted=True)
    if trouble is not None:
        raise trouble
    value = column.take()
    if full and np.isnan(value).any():
        raise problems.empty_cell(collected.where(int(np.argmax(np.isnan(value)))), column.name)
    return value


def _records(extents: Sequence[tuple[int, int, np.ndarray | None]]) -> np.ndarray | None:
    """The record of every row, where empty rows were dropped; otherwise rows are records, and nothing is kept."""
    if all(kept is None for *_, kept in extents):
        return None
    return np.asarray(
        np.concatenate([first + (np.arange(rows) if kept is None else kept) for first, rows, kept in extents])
    )


def _add(
    part: Chunk, named: Mapping[str, LabelColumn], counted: Mapping[int, NumberColumn], decimal_comma: bool
) -> None:
    for label in named.values():
        label.add(part)
    for number in counted.values():
        number.add(part, decimal_comma)


class Rows(ABC):
    """Rows of ratings whose labels are numbered in canonical order."""

    def __init__(self, found: Collected, dimensions: tuple[str, ...]):
        self.found = found
        self.left_out: tuple[LeftOut, ...] = ()
        self.repeating: tuple[Repeating, ...] = ()
        self.hasty: tuple[Hasty, ...] = ()
        self.notes: tuple[str, ...] = ()  # about rows, beside those about cells
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
    def all_notes(self) -> tuple[str, ...]:
        """What is to be told of the cells that are read, and of the rows."""
        return (*told(self.found.said, {one.column for one in self.left_out}), *self.found.lost, *self.notes)

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

    @cached_property
    def by_claim(self) -> tuple[np.ndarray, tuple[int, int] | None]:
        """Rows sorted by claim, and the first two in the file that make the same one."""
        return sorted_claims(self.claim)

    @property
    @abstractmethod
    def sources(self) -> dict[str, str]:
        """Which column, or which level of a long table, each dimension comes from."""

    @abstractmethod
    def _numbers(self, d: int) -> np.ndarray:
        """(rows,) the numbers of dimension d; NaN where missing, and in rows about something else. Handed out once."""

    @abstractmethod
    def look(self, d: int) -> np.ndarray:
        """(rows,) the numbers of dimension d, which are not handed out yet."""

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

    def look(self, d: int) -> np.ndarray:
        return peek(self.found, self._columns[d])

    def _numbers(self, d: int) -> np.ndarray:
        return number_column(self.found, self._columns[d], full=self._complete)

    def _rated_twice(self, places: tuple[str, str], annotator: str, item: str, row: int) -> DataError:
        table, value = self.found.table, self._columns[0]
        known = [table.columns.index(coded.column) for coded in self.found.label.values()]
        others = [table.columns.index(one.column) for one in self.left_out if one.column in table.columns]
        clocks = [self.found.number[index] for index in others if index in self.found.number]
        for clock in (one for one in clocks if isinstance(one, TimeColumn) and one.kind == "text"):
            return clock.no_time(table)
        others = [index for index in others if not is_time(table.columns[index])]
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

    def look(self, d: int) -> np.ndarray:
        return self._numbers(d)

    def _numbers(self, d: int) -> np.ndarray:
        return np.where(self._dimension.code == self._levels[d], self._value, np.nan)

    def _rated_twice(self, places: tuple[str, str], annotator: str, item: str, row: int) -> DataError:
        dimension = self._dimension.labels[self._dimension.code[row]]
        return problems.answered_twice(*places, annotator, item, dimension, self.items.column)


def sorted_claims(claim: np.ndarray, time: np.ndarray | None = None) -> tuple[np.ndarray, tuple[int, int] | None]:
    """Rows sorted by claim (and time), and the first two rows in the file that make the same one."""
    if time is None:
        order = np.arange(len(claim)) if np.all(claim[1:] > claim[:-1]) else rows_by_group(claim)
        placed = claim[order]
        same = np.flatnonzero(placed[1:] == placed[:-1])
    else:
        order = np.lexsort((time, claim))
        same = np.flatnonzero((np.diff(claim[order]) == 0) & (np.diff(time[order]) == 0))
    if not len(same):
        return order, None
    first = same[np.argmin(order[same + 1])]
    return order, (int(order[first]), int(order[first + 1]))
