"""A column of numbers, made from cells part by part, that remembers the first cell of each kind of trouble.

Missing is an empty cell, or one of the words that R, Python and databases write for it: NA, NaN, null in any case.
Everything else that is no number is text. As long as a column has few different texts they are remembered, so that they
can be given numbers (`settle`); what stays text among numbers is a mistake that the user hears of.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.io.reading import problems
from unisono.io.reading.table import Chunk, Table
from unisono.io.reading.word_cells import Cell, WordCells

MISSING_WORDS = ("na", "nan", "null")
_DECIMAL_COMMA = r"^[+-]?\d*,\d+([eE][+-]?\d+)?$"
_THOUSANDS = r"^[+-]?[1-9]\d{0,2},\d{3}$"  # or three decimals


class NumberColumn:
    """Collects one column; afterwards `kind` says what it turned out to be and `trouble` what is wrong with it."""

    def __init__(self, name: str, index: int):
        self.name = name
        self.index = index
        self._parts: list[np.ndarray] = []
        self._numbers = self._texts = 0
        self._first: dict[str, Cell] = {}
        self._rows = 0
        self._held = WordCells()
        self.commas = 0  # cells with a decimal comma where points are expected, without doubt

    def add(self, part: Chunk, decimal_comma: bool) -> None:
        column = part.column(self.index)
        if column.dtype in (pl.Categorical, pl.Enum):
            column = column.cast(pl.String)
        value = self._from_text(part, column, decimal_comma) if column.dtype == pl.String else _from_typed(column)
        missing = np.isnan(value)
        given = len(value) - int(np.count_nonzero(missing))
        if given and "number" not in self._first:
            self._note("number", part, column, int(np.argmin(missing)))
        self._numbers += given
        self._note_extremes(part, column, value)
        self._parts.append(value)
        self._rows += len(value)

    @property
    def has_numbers(self) -> bool:
        return self._numbers > 0

    @property
    def words(self) -> list[str]:
        """The different texts, in the order in which they occur; none of a column of prose."""
        return self._held.words()

    def words_among(self, rows: np.ndarray) -> list[str]:
        """The same of some rows, a mask."""
        return self._held.words(rows)

    def settle(self, numbers: Mapping[str, float], among: np.ndarray | None = None) -> None:
        """Texts (in the rows `among`, a mask) become numbers; NaN if they stand for missing."""
        rows, value = self._held.take(numbers, among)
        self.look()[rows] = value
        self._texts -= len(rows)
        self._numbers += int((~np.isnan(value)).sum())
        self._first.pop("text", None)
        if self._held.first is not None:
            self._first["text"] = self._held.first

    @property
    def kind(self) -> str:
        """numbers, text (throughout), mixed, or empty"""
        if not self._texts:
            return "numbers" if self._numbers else "empty"
        return "mixed" if self._numbers else "text"

    def take(self) -> np.ndarray:
        """(rows,) the numbers, NaN where missing; handed over once, so that large tables are held once."""
        parts, self._parts = self._parts, []
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def look(self) -> np.ndarray:
        """(rows,) the same, without handing over: what looks at many columns goes on before they are used."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0]

    def trouble(self, table: Table, *, wanted: bool) -> DataError | None:
        """What is wrong with the column; `wanted` if the user named it, so that text cannot just be left out."""
        if self.kind == "mixed":
            return self._mixed_up(table, wanted)
        if "thousands" in self._first and not self.commas:
            return problems.thousands(
                table.where(self._first["thousands"].record), self.name, self._first["thousands"].text
            )
        if wanted and self.kind == "text":
            return problems.only_text(
                table.where(self._first["text"].record), self.name, self._first["text"].text, self.words
            )
        if wanted and self.kind == "empty":
            return problems.no_values(table.name, self.name)
        for name, problem in (("infinite", problems.infinite), ("huge", problems.too_large)):
            if name in self._first:
                return problem(table.where(self._first[name].record), self.name, self._first[name].text)
        return None

    def _mixed_up(self, table: Table, wanted: bool) -> DataError:
        if wanted or self._numbers >= self._texts:
            cell = self._first["text"]
            return problems.text_in_numbers(table.where(cell.record), self.name, cell.text)
        cell = self._first["number"]
        return problems.number_in_text(table.where(cell.record), self.name, cell.text)

    def _from_text(self, part: Chunk, column: pl.Series, decimal_comma: bool) -> np.ndarray:
        value = column.cast(pl.Float64, strict=False)
        odd = np.flatnonzero((value.is_null() & column.is_not_null()).to_numpy())
        result: np.ndarray = np.array(value.to_numpy(), dtype=np.float64)
        if len(odd):
            again = column.gather(odd).str.strip_chars()
            result[odd] = self._second_reading(part, column, odd, again, decimal_comma)
            known = again.str.to_lowercase().is_in(["", *MISSING_WORDS])
            unread = np.flatnonzero(np.isnan(result[odd]) & ~known.to_numpy())
            self._texts += len(unread)
            if len(unread):
                self._note("text", part, column, int(odd[unread[0]]))
                self._held.add(self._rows + odd[unread], part.records(odd[unread]), again.gather(unread))
        return result

    def _second_reading(
        self, part: Chunk, column: pl.Series, rows: np.ndarray, cells: pl.Series, decimal_comma: bool
    ) -> np.ndarray:
        """Numbers among cells that did not read as such at once: blanks around them, a comma for the decimal point."""
        comma = cells.str.contains(_DECIMAL_COMMA).fill_null(False)
        if comma.any():
            doubtful = comma & cells.str.contains(_THOUSANDS) & (not decimal_comma)
            self.commas += 0 if decimal_comma else int((comma & ~doubtful).sum())
            if doubtful.any():
                self._note("thousands", part, column, int(rows[int(np.argmax(doubtful.to_numpy()))]))
            cells = cells.str.replace(",", ".", literal=True).zip_with(comma, cells)
        return np.array(cells.cast(pl.Float64, strict=False).to_numpy(), dtype=np.float64)

    def _note_extremes(self, part: Chunk, column: pl.Series, value: np.ndarray) -> None:
        beyond = np.abs(value) > problems.LARGEST
        if beyond.any():
            infinite = np.isinf(value)
            for name, found in (("infinite", infinite), ("huge", beyond & ~infinite)):
                if found.any():
                    self._note(name, part, column, int(np.argmax(found)))

    def _note(self, name: str, part: Chunk, column: pl.Series, row: int) -> None:
        self._first.setdefault(name, Cell(part.record(row), str(column[row]).strip()))


def _from_typed(column: pl.Series) -> np.ndarray:
    if column.dtype.is_numeric() or column.dtype == pl.Boolean:
        return np.array(column.cast(pl.Float64).to_numpy(), dtype=np.float64)
    return np.full(len(column), np.nan)
