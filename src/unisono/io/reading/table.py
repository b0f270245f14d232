"""A table before it means anything: named columns, and rows that come in parts. Imports Polars alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from unisono.io.reading import problems


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
    notes: tuple[str, ...] = ()  # what the user is told about how it was opened, in sentences

    def __init__(self, name: str, columns: tuple[str, ...]):
        self.name = name
        self.columns = columns
        seen: dict[str, int] = {}
        for index, column in enumerate(columns):
            if column and column in seen:
                raise problems.repeated_header(name, column, seen[column] + 1, index + 1)
            seen[column] = index

    @abstractmethod
    def parts(self) -> Iterator[Chunk]:
        """The rows, each exactly once, in order."""

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
