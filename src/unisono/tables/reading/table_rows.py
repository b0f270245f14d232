"""One pass over a table (label columns become codes, number columns arrays), and its rows, wide or long.

Wide tables have a column per dimension, long ones a row per number. Rows know which annotator and item each is about,
the numbers of every dimension, and make the error for two rows that rate the same thing.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from unisono.errors import DataError, SettingsError
from unisono.maths.grouped_sums import rows_by_group
from unisono.tables.answer_scale import Ends, span
from unisono.tables.item_table import Hasty, LeftOut, Repeating
from unisono.tables.labels import listed
from unisono.tables.reading import problems
from unisono.tables.reading.cell_meanings import Cells, Words, interpret, recode, told
from unisono.tables.reading.column_roles import KIND, is_time, plain_name
from unisono.tables.reading.label_and_number_columns import Coded, LabelColumn, NumberColumn
from unisono.tables.reading.raw_table import Table
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

    def where(self, row: int) -> str:
        """`ratings.csv row 18`"""
        return self.table.where(int(row if self.kept is None else self.kept[row]))

    def look(self, index: int) -> np.ndarray:
        """(rows,) the numbers of a column, whatever else is in it."""
        return self.number[index].look()

    def numbers(self, index: int, *, full: bool = False) -> np.ndarray:
        """(rows,) the same of a column that has to hold numbers; `full` if no cell may be missing."""
        column = self.number[index]
        if trouble := column.trouble(self.table, wanted=True):
            raise trouble
        value = column.look()
        if full and np.isnan(value).any():
            where = self.where(int(np.argmax(np.isnan(value))))
            raise DataError(f"{where}: {column.name} is empty. Every row needs a number here.")
        return value


def collect(
    table: Table,
    labels: Mapping[str, int],
    numbers: Sequence[int],
    clock: int | None = None,
    words: Words | None = None,
    may_be_empty: Collection[str] = (),
) -> Collected:
    """Reads the label columns (role to position), the number columns (positions) and the clock of a table."""
    named = {role: LabelColumn(table.columns[index], index) for role, index in labels.items()}
    counted = {index: NumberColumn(table.columns[index], index) for index in numbers}
    timed = {} if clock is None else {clock: TimeColumn(table.columns[clock], clock)}
    extents: list[tuple[int, int, np.ndarray | None]] = []
    for whole in table.parts():
        part = whole.without_empty_rows(labels["item"])
        if part.frame.height:
            extents.append((part.first, part.frame.height, part.kept))
            for label in named.values():
                label.add(part)
            for number in (counted | timed).values():
                number.add(part, table.decimal_comma)
    if not extents:
        raise problems.header_only(table.name)
    codes = {role: column.finish() for role, column in named.items()}
    lost = recode(list(counted.values()), words.labels) if words is not None and words.labels else []
    said = interpret(_cells(list(counted.values()), codes.get("dimension")), words or Words())
    found = Collected(table, codes, counted | timed, _records(extents), said, lost)
    for role, coded in found.label.items():
        if coded.labels[0] == "" and role not in (KIND, *may_be_empty):
            raise problems.empty_label(found.where(int(np.argmax(coded.code == 0))), role, coded.column)
    return found


def _records(extents: Sequence[tuple[int, int, np.ndarray | None]]) -> np.ndarray | None:
    """The record of every row, where empty rows were dropped; otherwise rows are records, and nothing is kept."""
    if all(kept is None for *_, kept in extents):
        return None
    return np.concatenate([first + (np.arange(rows) if kept is None else kept) for first, rows, kept in extents])


def _cells(columns: Sequence[NumberColumn], dimension: Coded | None) -> list[Cells]:
    """What has a meaning together: columns, or the dimensions of a long table if its values are words."""
    if dimension is None or not any(column.words() for column in columns):
        return [Cells(column.name, column) for column in columns]
    levels = [
        Cells(name, column, dimension.code == code) for column in columns for code, name in enumerate(dimension.labels)
    ]
    return [*levels, *(Cells(column.name, column) for column in columns if column.commas)]


def usable(collected: Collected, columns: Sequence[int], *, wanted: bool) -> tuple[list[int], list[LeftOut]]:
    """Those of the columns that hold numbers, in the order asked for, and those that do not; trouble is raised.

    `wanted` if the user named the columns, so that text cannot just be left out.
    """
    found, aside = [], []
    for index in columns:
        column = collected.number[index]
        if trouble := column.trouble(collected.table, wanted=wanted):
            raise trouble
        if column.kind == "numbers":
            found.append(index)
        elif plain_name(column.name) != KIND:
            aside.append(LeftOut(column.name, "text" if column.kind == "text" else "empty"))
    return found, aside


@dataclass
class Rows:
    """Rows of ratings whose labels are numbered in canonical order."""

    found: Collected
    sources: dict[str, str]  # the dimensions, and which column, or level of a long table, each comes from
    value: list[np.ndarray]  # (rows,) numbers by dimension; NaN where missing, and in rows about something else
    items: Coded
    annotators: Coded | None
    kept: np.ndarray | None = None  # (rows,) which of the rows that were found; None: all
    time: np.ndarray | None = None  # (rows,) of traces
    left_out: tuple[LeftOut, ...] = ()
    repeating: tuple[Repeating, ...] = ()
    hasty: tuple[Hasty, ...] = ()
    notes: tuple[str, ...] = ()  # about rows, beside those about cells
    given_ends: dict[int, Ends | None] = field(default_factory=dict)  # of the scale, by dimension, where the user said

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(self.sources)

    @property
    def source(self) -> str:
        return self.found.table.name

    @property
    def given_scale(self) -> dict[str, Ends | None] | None:
        """What the user said of the scale, by name."""
        return {self.dimensions[d]: ends for d, ends in self.given_ends.items()} or None

    @property
    def all_notes(self) -> tuple[str, ...]:
        """What is to be told of the table, of the cells that are read, and of the rows."""
        return (*told(self.found.said, {one.column for one in self.left_out}), *self.found.lost, *self.notes)

    @property
    def pair(self) -> np.ndarray:
        """(rows,) one number for each (item, annotator)."""
        item = self.items.code.astype(np.int64)
        return item if self.annotators is None else item * len(self.annotators.labels) + self.annotators.code

    @property
    def claim(self) -> np.ndarray:
        """(rows,) one number for each place that only one row (at one time) may fill."""
        level = self.found.label.get("dimension")
        if level is None:
            return self.pair
        code = level.code if self.kept is None else level.code[self.kept]
        return np.asarray(self.pair * len(level.labels) + code)

    @cached_property
    def by_claim(self) -> tuple[np.ndarray, tuple[int, int] | None]:
        """Rows sorted by claim, and the first two in the file that make the same one."""
        return sorted_claims(self.claim)

    def keep(self, chosen: Collection[int]) -> None:
        """Leaves dimensions out: all but these."""
        self.value = [value for d, value in enumerate(self.value) if d in chosen]
        self.sources = {name: source for d, (name, source) in enumerate(self.sources.items()) if d in chosen}

    def some(self, chosen: np.ndarray, value: list[np.ndarray]) -> Rows:
        """Some of all rows, with other numbers."""
        who = self.annotators
        return replace(
            self,
            value=value,
            items=self.items._replace(code=self.items.code[chosen]),
            annotators=None if who is None else who._replace(code=who.code[chosen]),
            kept=chosen,
            time=None if self.time is None else self.time[chosen],
        )

    def numbers(self, d: int) -> np.ndarray:
        """(rows,) the numbers of dimension d, within the scale that the user gave."""
        value, ends = self.value[d], self.given_ends.get(d)
        if ends is not None:
            outside = (value < ends[0]) | (value > ends[1])
            if outside.any():
                row = int(np.argmax(outside))
                column = self.sources[self.dimensions[d]]
                raise DataError(
                    f"{self.where(row)}: {column} is {value[row]:g}, outside the scale {span(ends)}. Correct the cell, "
                    "leave it empty if the rating is missing, or give another scale (--scale)."
                )
        return value

    def where(self, row: int) -> str:
        """`ratings.csv row 18`"""
        return self.found.where(int(row if self.kept is None else self.kept[row]))

    def names(self, pair: int) -> tuple[str, str]:
        """The item and the annotator of a pair; nobody where there are no annotators."""
        if self.annotators is None:
            return self.items.labels[pair], ""
        item, annotator = divmod(pair, len(self.annotators.labels))
        return self.items.labels[item], self.annotators.labels[annotator]

    def who(self, pair: int) -> str:
        """A trace, in words."""
        item, annotator = self.names(pair)
        return f"annotator '{annotator}' on recording '{item}'" if annotator else f"recording '{item}'"

    def refuse_twice(self, *two: int) -> DataError:
        """The error for two rows that make the same claim, in the order of the file."""
        one, other = (self.where(row) for row in sorted(two))
        places = problems.join_places(one, other, self.source)
        pair = int(self.pair[two[0]])
        item, annotator = self.names(pair)
        if self.time is not None:
            return DataError(
                f"{places[0]} and {places[1]}: {self.who(pair)} has two rows at time {self.time[two[0]]:g}. "
                "Keep one row for each time, or say --duplicates mean."
            )
        if self.annotators is None:
            return problems.item_twice(*places, item)
        if level := self.found.label.get("dimension"):
            dimension = level.labels[level.code[two[0]]]
            what = f"{places[0]} and {places[1]}: annotator '{annotator}' rated {dimension} of item '{item}' twice."
            return DataError(f"{what} {self._keep_one}")
        what = f"{places[0]} and {places[1]}: annotator '{annotator}' rated item '{item}' twice."
        return self._rated_twice(what)

    @property
    def _keep_one(self) -> str:
        ways, item = "--duplicates first, last or mean", shlex.quote(self.items.column)
        return f"Say which one counts with {ways}, or what else makes an item: --item {item},COLUMN."

    def _rated_twice(self, what: str) -> DataError:
        """The error that looks for columns that tell the two rows apart."""
        table = self.found.table
        columns = [table.columns.index(column) for column in self.sources.values()]
        known = [table.columns.index(coded.column) for coded in self.found.label.values()]
        others = [table.columns.index(one.column) for one in self.left_out if one.column in table.columns]
        for clock in (self.found.number.get(index) for index in others):
            if isinstance(clock, TimeColumn) and clock.kind == "text":
                return clock.no_time(table)
        others = [index for index in others if not is_time(table.columns[index])]
        apart = [table.columns[index] for index in parts_of_items(table, known, others, columns)]
        if not apart:
            return DataError(f"{what} {self._keep_one}")
        if len(columns) == len(apart) == 1:
            value = shlex.quote(table.columns[columns[0]])
            what += f" If '{apart[0]}' names what was rated, say --dimension {shlex.quote(apart[0])} --value {value}."
        part = "is part" if len(apart) == 1 else "are parts"
        item = shlex.quote(",".join((self.items.column, *apart)))
        return DataError(f"{what} If {listed(apart)} {part} of the item, say --item {item}.")


def wide_rows(found: Collected, names: Mapping[str, int], *, complete: bool = False) -> Rows:
    """A column per dimension; `complete` refuses empty cells."""
    value = [found.numbers(index, full=complete) for index in names.values()]
    sources = {name: found.table.columns[index] for name, index in names.items()}
    return Rows(found, sources, value, found.label["item"], found.label.get("annotator"))


def long_rows(found: Collected, value: int, wanted: Mapping[str, str]) -> Rows:
    """One row per number: one column says of which dimension, another one holds it."""
    numbers, levels = found.numbers(value), found.label["dimension"]
    sources = dict(wanted) or {name: name for name in levels.labels}
    for level in sources.values():
        if level not in levels.labels:
            raise problems.no_such_column(found.table.name, level, levels.labels)
    of = [np.where(levels.code == levels.labels.index(level), numbers, np.nan) for level in sources.values()]
    return Rows(found, sources, of, found.label["item"], found.label.get("annotator"))


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


POLICIES = ("error", "first", "last", "mean")


def settle(rows: Rows, policy: str | None) -> tuple[Rows, tuple[str, ...]]:
    """Rows without repetitions, and what is to be told; DataError if they contradict each other.

    Rows that repeat another one are dropped; where two about the same thing differ, `error` refuses, `first` and `last`
    keep one of them, `mean` averages them dimension by dimension.
    """
    if policy is not None and policy not in POLICIES:
        raise SettingsError(f"duplicates must be one of {', '.join(POLICIES)}, not '{policy}'")
    time = rows.time
    order, twice = rows.by_claim if time is None else sorted_claims(rows.claim, time)
    if twice is None:
        return rows, ()
    claim = rows.claim
    new = np.diff(claim[order]) != 0
    if time is not None:
        new |= np.diff(time[order]) != 0
    group = np.cumsum(np.concatenate([[False], new]))  # (rows,) in sorted order: which rows claim the same
    begin = np.flatnonzero(np.concatenate([[True], new]))
    size = np.diff(np.append(begin, len(order)))
    numbers = [rows.numbers(d)[order] for d in range(len(rows.dimensions))]
    other = np.zeros(len(order), dtype=bool)  # rows that say something else than the first of their group
    for number in numbers:
        first = number[begin][group]
        other |= ~((number == first) | (np.isnan(number) & np.isnan(first)))
    if other.any() and policy in (None, "error"):
        second = int(np.flatnonzero(other)[np.argmin(order[other])])
        raise rows.refuse_twice(int(order[begin[group[second]]]), int(order[second]))
    differs = np.bincount(group[other], minlength=len(begin)) > 0
    # Rows that claim the same lie in the order of the file, since sorting is stable.
    chosen = begin + size - 1 if policy == "last" else begin
    if policy == "mean":
        numbers = [_means(number, group, len(begin)) for number in numbers]
    else:
        numbers = [number[chosen] for number in numbers]
    return rows.some(order[chosen], numbers), _said(size, differs, policy)


def _said(size: np.ndarray, differs: np.ndarray, policy: str | None) -> tuple[str, ...]:
    copies = int((size[~differs] - 1).sum())
    told = []
    if copies:
        told.append(f"{copies} {'row that repeats' if copies == 1 else 'rows that repeat'} another one dropped.")
    if differs.any():
        places = int(differs.sum())
        how = {"first": "the first answer", "last": "the last answer", "mean": "the mean of the answers"}[policy or ""]
        told.append(f"{how.capitalize()} holds where somebody answered more than once ({places}).")
    return tuple(told)


def _means(number: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """(groups,) the mean of what was given; NaN where nothing was."""
    given = ~np.isnan(number)
    count = np.bincount(group[given], minlength=groups)
    total = np.bincount(group[given], weights=number[given], minlength=groups)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
