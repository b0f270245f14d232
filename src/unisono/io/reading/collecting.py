"""One pass over a table: label columns become codes, number columns arrays; the text in between is forgotten.

This is where a table's cells are judged; what they mean together (ratings, features, series) is decided by the callers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unisono.data.reading import LeftOut
from unisono.io.reading import problems
from unisono.io.reading.cells import Cells, Level, Words, interpret
from unisono.io.reading.columns import KIND, plain_name
from unisono.io.reading.naming import Coded, LabelColumn
from unisono.io.reading.numbers import NumberColumn
from unisono.io.reading.table import Chunk, Table


@dataclass(frozen=True)
class Collected:
    """The columns of a table, checked cell by cell."""

    table: Table
    label: dict[str, Coded]  # by role
    number: dict[int, NumberColumn]  # by position in the table
    kept: np.ndarray | None  # (rows,) record of each row, if empty rows were dropped
    notes: tuple[str, ...] = ()  # what the user is told about cells, in sentences

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
    timed = {} if clock is None else {clock: NumberColumn(table.columns[clock], clock)}
    extents: list[tuple[int, int, np.ndarray | None]] = []
    for whole in table.parts():
        part = whole.without_empty_rows(labels["item"])
        extents.append((part.first, part.frame.height, part.kept))
        if part.frame.height:
            _add(part, named, counted | timed, table.decimal_comma)
    if not any(height for _, height, _ in extents):
        raise problems.header_only(table.name)
    codes = {role: column.finish() for role, column in named.items()}
    notes = interpret(_cells(list(counted.values()), codes.get("dimension")), words or Words())
    found = Collected(table, codes, counted | timed, _records(extents), tuple(notes))
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
    return np.concatenate([first + (np.arange(rows) if kept is None else kept) for first, rows, kept in extents])


def _add(
    part: Chunk, named: Mapping[str, LabelColumn], counted: Mapping[int, NumberColumn], decimal_comma: bool
) -> None:
    for label in named.values():
        label.add(part)
    for number in counted.values():
        number.add(part, decimal_comma)
