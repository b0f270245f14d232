"""The researcher's own tables (texts, truth), read as every other table of unisono is: any separator, quoted or not."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from unisono.errors import DataError
from unisono.tables.labels import listed


class Row(NamedTuple):
    """One row: where the researcher finds it, and its cells by column."""

    where: str
    cells: dict[str, str]


def read_rows(path: Path, needed: tuple[str, ...]) -> list[Row]:
    """All rows of a table that has at least these columns."""
    # Polars takes its time to load, and most studies have no table.
    from unisono.tables.reading.open_table import open_table

    if not path.is_file():
        raise DataError(f"{path}: there is no such file. Write it, with the columns {', '.join(needed)}.")
    table = open_table(path)
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise DataError(f"{path} row 1: there is no column {listed(missing)}. Add it to the header.")
    rows = [
        Row(table.where(part.record(number)), dict(zip(table.columns, map(_text, cells), strict=True)))
        for part in (chunk.without_empty_rows(0) for chunk in table.parts())
        for number, cells in enumerate(part.frame.iter_rows())
    ]
    if not rows:
        raise DataError(f"{path}: no rows below the header. Add one row per item.")
    return rows


def _text(cell: object) -> str:
    return "" if cell is None else str(cell)
