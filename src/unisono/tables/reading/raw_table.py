"""A table before it means anything: named columns, rows that come in parts, and the way back to where a row stands.

`CoveredTable` is a table of which some columns or rows are hidden, because they were read already.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from unisono.errors import DataError


@dataclass(frozen=True)
class Chunk:
    """Some of the rows. Columns are called by their position: '0', '1', ..."""

    frame: pl.DataFrame
    first: int  # record number of the first row, counted from 0 below the header
    kept: np.ndarray | None = None  # rows that are left, if empty ones were dropped

    def record(self, row: int) -> int:
        """The record number of a row of this part."""
        return self.first + int(row if self.kept is None else self.kept[row])

    def records(self, rows: np.ndarray) -> np.ndarray:
        """The same for several rows."""
        return self.first + (rows if self.kept is None else self.kept[rows])

    def column(self, index: int) -> pl.Series:
        return self.frame.get_column(str(index))

    def without_empty_rows(self, guide: int) -> Chunk:
        """Drops rows without a single filled cell, as spreadsheets leave them; `guide` is a column to look at first."""
        if not _is_empty(self.column(guide)).any():
            return self
        filled = np.zeros(self.frame.height, dtype=bool)
        for column in self.frame.get_columns():
            filled |= ~_is_empty(column).to_numpy()
        left = np.flatnonzero(filled)
        if len(left) == self.frame.height:
            return self
        return Chunk(self.frame[left], self.first, left if self.kept is None else self.kept[left])


class Table(ABC):
    """Named columns over parts of rows, and the way back from a row to where the user finds it."""

    decimal_comma = False
    whole = True  # whether all rows are there: of the first ones alone it cannot be told what stands apart
    form: str | None = None  # what parts of the names of columns mean, where the table itself says so
    notes: tuple[str, ...] = ()  # what the user is told about how it was opened, in sentences

    def __init__(self, name: str, columns: tuple[str, ...]):
        self.name = name
        self.columns = columns
        seen: dict[str, int] = {}
        for index, column in enumerate(columns):
            if column and column in seen:
                where = f"columns {seen[column] + 1} and {index + 1}"
                raise DataError(f"{name} row 1: {where} are both called '{column}'. Rename one of them.")
            seen[column] = index

    @abstractmethod
    def parts(self) -> Iterator[Chunk]:
        """The rows, each exactly once, in order."""

    @cached_property
    def head(self) -> Chunk:
        """The first rows, for what can be seen at a glance; an empty part where there are none."""
        nothing = pl.DataFrame(schema={str(index): pl.String for index in range(len(self.columns))})
        return next(iter(self.parts()), Chunk(nothing, 0))

    def original(self, index: int, records: np.ndarray) -> Any:
        """Cells of a column with the type they came in, as a narwhals series; None where they are text."""
        return None

    @abstractmethod
    def where(self, record: int) -> str:
        """`ratings.csv row 18`"""


def _is_empty(column: pl.Series) -> pl.Series:
    if column.dtype == pl.String:
        return column.is_null() | (column.str.strip_chars() == "").fill_null(True)
    return column.is_null()


MISSING_WORDS = ("na", "nan", "null")


def is_missing(cells: pl.Series) -> pl.Series:
    """Which cells are empty, or say that they are missing in any case."""
    if cells.dtype == pl.String:
        return cells.str.strip_chars().str.to_lowercase().is_in(["", *MISSING_WORDS]).fill_null(True)
    return cells.is_null() | (cells.is_nan().fill_null(True) if cells.dtype.is_float() else False)


def as_text(column: pl.Series) -> pl.Series:
    """Labels as text: 7 is '7', and so is the 7.0 that a frame makes of it when a neighbour is missing."""
    if column.dtype.is_float():
        whole = column.drop_nulls().drop_nans()
        if (whole == whole.round()).all() and (whole.abs() < 2.0**53).all():
            return column.fill_nan(None).cast(pl.Int64).cast(pl.String)
        return column.fill_nan(None).cast(pl.String)
    return column if column.dtype == pl.String else column.cast(pl.String)


class WholeTable(Table):
    """A table whose cells are all in memory already."""

    def __init__(self, name: str, columns: tuple[str, ...], cells: Sequence[pl.Series]):
        super().__init__(name, columns)
        self._frame = pl.DataFrame([column.alias(str(index)) for index, column in enumerate(cells)])

    def parts(self) -> Iterator[Chunk]:
        if self._frame.height:
            yield Chunk(self._frame, 0)


class TableView(Table):
    """A table with other columns or rows, and the same way back; columns beyond those that it had are made."""

    def __init__(self, table: Table, columns: tuple[str, ...]):
        super().__init__(table.name, columns)
        self.decimal_comma, self.notes, self.form = table.decimal_comma, table.notes, table.form
        self._table = table

    def original(self, index: int, records: np.ndarray) -> Any:
        return self._table.original(index, records) if index < len(self._table.columns) else None

    def where(self, record: int) -> str:
        return self._table.where(record)


class WithColumn(TableView):
    """A table with one more column, made of every part."""

    def __init__(self, table: Table, name: str, cells: Callable[[Chunk], pl.Series | pl.Expr]):
        super().__init__(table, (*table.columns, name))
        self._cells = cells

    def parts(self) -> Iterator[Chunk]:
        for part in self._table.parts():
            made = self._cells(part).alias(str(len(self._table.columns)))
            yield Chunk(part.frame.with_columns(made), part.first, part.kept)


class CoveredTable(TableView):
    """The same table; covered columns have no name, and rows whose label in column `of` is covered are not there."""

    def __init__(self, table: Table, columns: Collection[int] = (), of: int | None = None, rows: Collection[str] = ()):
        names = tuple("" if index in columns else name for index, name in enumerate(table.columns))
        super().__init__(table, names)
        self._of = of
        self._rows = list(rows)

    def parts(self) -> Iterator[Chunk]:
        for part in self._table.parts():
            yield part if self._of is None else self._uncovered(part, self._of)

    def _uncovered(self, whole: Chunk, of: int) -> Chunk:
        part = whole.without_empty_rows(of)
        label = part.column(of)
        covered = as_text(label).str.strip_chars().is_in(self._rows).fill_null(False)
        stay = np.flatnonzero(~covered.to_numpy())
        kept = stay if part.kept is None else part.kept[stay]
        return Chunk(part.frame[stay], part.first, kept)
