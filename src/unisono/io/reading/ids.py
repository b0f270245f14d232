"""Names made of several columns: `--item system,prompt` makes one label of two cells, and takes it apart again.

Cells are joined by a bar (`gpt|17`). A bar or a backslash inside a cell gets a backslash before it, so that two
different rows of cells never make the same label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from unisono.data.reading import Reading
from unisono.io.reading.columns import find_column
from unisono.io.reading.naming import as_text
from unisono.io.reading.table import Chunk, Table

JOINER = "|"


class JoinedTable(Table):
    """A table with one more column, which holds the cells of several as one label."""

    def __init__(self, table: Table, name: str, places: Sequence[int]):
        super().__init__(table.name, (*table.columns, name))
        self.decimal_comma = table.decimal_comma
        self.notes = table.notes
        self._table = table
        self._places = places

    def parts(self) -> Iterator[Chunk]:
        for part in self._table.parts():
            cells = [as_text(part.column(place)).fill_null("").str.strip_chars() for place in self._places]
            yield Chunk(
                part.frame.with_columns(_joined(cells).alias(str(len(self.columns) - 1))), part.first, part.kept
            )

    def original(self, index: int, records: np.ndarray) -> Any:
        return self._table.original(index, records) if index < len(self._table.columns) else None

    def where(self, record: int) -> str:
        return self._table.where(record)


def join_columns(table: Table, wanted: str | Sequence[str] | None) -> tuple[Table, str | None, tuple[str, ...]]:
    """The table, the column that holds the label, and the columns it is made of if there are several."""
    if wanted is None or (isinstance(wanted, str) and (wanted in table.columns or "," not in wanted)):
        return table, wanted, ()
    given = wanted.split(",") if isinstance(wanted, str) else list(wanted)
    places = [find_column(table, name.strip()) for name in given if name.strip()]
    parts = tuple(table.columns[place] for place in places)
    if len(parts) == 1:
        return table, parts[0], ()
    name = ",".join(parts)
    return JoinedTable(table, name, places), name, parts


def split_label(label: str) -> list[str]:
    """The cells that a label was made of."""
    cells = [""]
    at = 0
    while at < len(label):
        if label[at] == "\\" and at + 1 < len(label):
            cells[-1] += label[at + 1]
            at += 2
        elif label[at] == JOINER:
            cells.append("")
            at += 1
        else:
            cells[-1] += label[at]
            at += 1
    return cells


def with_parts(columns: Mapping[str, Any], reading: Reading | None) -> dict[str, Any]:
    """The columns of a result; where items (the first column) have names of several cells, these are columns too."""
    if reading is None or not reading.item_parts:
        return dict(columns)
    (label, labels), *others = columns.items()
    cells = zip(*map(split_label, labels), strict=True)
    return {label: labels} | dict(zip(reading.item_parts, map(list, cells), strict=True)) | dict(others)


def _joined(cells: Sequence[pl.Series]) -> pl.Series:
    """A label for each row; empty if one of the cells is, so that the row is told like any without a name."""
    frame = pl.DataFrame([cell.alias(str(place)) for place, cell in enumerate(cells)])
    escaped = [
        pl.col(name).str.replace_all("\\", "\\\\", literal=True).str.replace_all(JOINER, "\\|", literal=True)
        for name in frame.columns
    ]
    whole = pl.all_horizontal(pl.all() != "")
    return frame.select(pl.when(whole).then(pl.concat_str(escaped, separator=JOINER)).otherwise(pl.lit(""))).to_series()
