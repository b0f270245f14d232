"""A table seen with some of its columns, or of its rows, covered: what was read already is not read again."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from unisono.io.reading.table import Chunk, Table


class CoveredTable(Table):
    """The same table; covered columns have no name, and rows whose label in column `of` is covered are not there."""

    def __init__(self, table: Table, columns: Collection[int] = (), of: int | None = None, rows: Collection[str] = ()):
        names = tuple("" if index in columns else name for index, name in enumerate(table.columns))
        super().__init__(table.name, names)
        self.decimal_comma = table.decimal_comma
        self.notes = table.notes
        self._table = table
        self._of = of
        self._rows = list(rows)

    def parts(self) -> Iterator[Chunk]:
        for part in self._table.parts():
            yield part if self._of is None else self._uncovered(part, self._of)

    def original(self, index: int, records: np.ndarray) -> Any:
        return self._table.original(index, records)

    def where(self, record: int) -> str:
        return self._table.where(record)

    def _uncovered(self, whole: Chunk, of: int) -> Chunk:
        part = whole.without_empty_rows(of)
        label = part.column(of)
        covered = label.str.strip_chars().is_in(self._rows).fill_null(False)
        stay = np.flatnonzero(~covered.to_numpy())
        kept = stay if part.kept is None else part.kept[stay]
        return Chunk(part.frame[stay], part.first, kept)
