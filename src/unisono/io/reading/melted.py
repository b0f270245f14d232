"""A table with annotators (or items) side by side as one with a row for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from unisono.io.reading.numbers import MISSING_WORDS
from unisono.io.reading.spread import Spread
from unisono.io.reading.table import Chunk, Table

LABEL = "name of the column"


class MeltedTable(Table):
    """Columns that are not spread, then whose row it is, then the dimensions. Empty cells make no rows."""

    def __init__(self, table: Table, spread: Spread):
        taken = {index for cells in spread.place.values() for index in cells.values()}
        self._kept = [index for index in range(len(table.columns)) if index not in taken]
        self._table, self._spread = table, spread
        self._labels = list(spread.place)
        super().__init__(table.name, (*(table.columns[index] for index in self._kept), LABEL, *spread.dimensions))
        self.decimal_comma = table.decimal_comma
        self.notes = table.notes

    def parts(self) -> Iterator[Chunk]:
        for part in self._table.parts():
            record = part.first + (np.arange(part.frame.height) if part.kept is None else part.kept)
            found = [self._rows_of(part.frame, number, record) for number in range(len(self._labels))]
            rows = pl.concat([one for one in found if one.height] or found[:1], how="vertical_relaxed").sort("record")
            yield Chunk(rows.drop("record"), 0, rows.get_column("record").to_numpy())

    def original(self, index: int, records: np.ndarray) -> Any:
        if index >= len(self._kept):
            return None
        return self._table.original(self._kept[index], records // len(self._labels))

    def where(self, record: int) -> str:
        row, number = divmod(record, len(self._labels))
        cells = self._spread.place[self._labels[number]]
        names = [self._table.columns[index] for index in cells.values()]
        which = f"column '{names[0]}'" if len(names) == 1 else f"{self._spread.role} '{self._labels[number]}'"
        return f"{self._table.where(row)} {which}"

    def _rows_of(self, frame: pl.DataFrame, number: int, record: np.ndarray) -> pl.DataFrame:
        """The rows of one label, with the number of each among all of the melted table."""
        cells = self._spread.place[self._labels[number]]
        kept = [frame.get_column(str(index)).alias(str(place)) for place, index in enumerate(self._kept)]
        label = pl.Series(str(len(kept)), [self._labels[number]], dtype=pl.String).new_from_index(0, frame.height)
        values = [
            self._cells(frame, dimension, cells.get(dimension)).alias(str(len(kept) + 1 + place))
            for place, dimension in enumerate(self._spread.dimensions)
        ]
        given = np.zeros(frame.height, dtype=bool)
        for value in values:
            given |= ~_is_missing(value)
        rows = pl.DataFrame([*kept, label, *values, pl.Series("record", record * len(self._labels) + number)])
        return rows.filter(given)

    def _cells(self, frame: pl.DataFrame, dimension: str, index: int | None) -> pl.Series:
        """Cells of one column, as text if those of any other label are."""
        beside = [frame.get_column(str(one[dimension])) for one in self._spread.place.values() if dimension in one]
        kind = pl.String if any(one.dtype == pl.String for one in beside) else pl.Float64
        if index is None:
            return pl.Series("", [None], dtype=kind).new_from_index(0, frame.height)
        return frame.get_column(str(index)).cast(kind, strict=False)


def _is_missing(cells: pl.Series) -> np.ndarray:
    if cells.dtype == pl.String:
        text = cells.str.strip_chars().str.to_lowercase()
        return (text.is_null() | text.is_in(["", *MISSING_WORDS]).fill_null(True)).to_numpy()
    return (cells.is_null() | cells.is_nan().fill_null(True)).to_numpy()
