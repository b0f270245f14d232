"""From what the user points at (a path, `-`, a data frame) to a table. Formats go by content, not by file name."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unisono.io.reading import problems
from unisono.io.reading.delimited import TextTable
from unisono.io.reading.encoding import as_utf8
from unisono.io.reading.frames import FrameTable, to_polars, with_index
from unisono.io.reading.json_table import json_table, looks_like_json
from unisono.io.reading.packed import ZIP, unpacked
from unisono.io.reading.table import Table
from unisono.io.reading.workbook import OLD_EXCEL, workbook_table

STDIN = "-"
_PARQUET = b"PAR1"
_FOREIGN = {
    b"%PDF": "it is a PDF",
    b"SQLi": "it is a database",
    b"\x89HDF": "it is an HDF5 file",
    b"\x7fELF": "it is a program",
    b"RDX2": "it is an R file",
    b"RDX3": "it is an R file",
    b"$FL2": "it is an SPSS file",
    b"<!DO": "it is a web page",
    b"<htm": "it is a web page",
    b"<?xm": "it is XML",
}


def open_table(source: Any, sheet: str | None = None) -> Table:
    """The table behind a path, behind `-` (standard input) or in a data frame; `sheet` is one of several inside."""
    if isinstance(source, Table):
        return source
    if isinstance(source, str | os.PathLike):
        name, data = _bytes_of(os.fspath(source))
        return table_of_bytes(name, data, sheet)
    native = with_index(source)
    frame = to_polars(native)
    return FrameTable("data frame", frame, counted_from=0, native=frame if isinstance(source, pl.LazyFrame) else native)


def table_of_bytes(name: str, data: np.ndarray, sheet: str | None = None) -> Table:
    """A workbook, Parquet, JSON or delimited text; any of them packed."""
    inside = unpacked(name, data, sheet)
    table = _of_content(name, inside.data, None if inside.named else sheet)
    table.notes = inside.notes + table.notes
    return table


def _of_content(name: str, data: np.ndarray, sheet: str | None) -> Table:
    start = data[:4].tobytes()
    if start in (ZIP, OLD_EXCEL):
        return workbook_table(name, data, sheet)
    if start == _PARQUET:
        return FrameTable(name, _parquet(name, data), counted_from=1)
    if start in _FOREIGN:
        raise problems.not_a_table(name, _FOREIGN[start])
    text, notes = as_utf8(name, data)
    table = json_table(name, text.tobytes().decode()) if looks_like_json(text) else TextTable(name, text)
    table.notes = notes + table.notes
    return table


def source_name(source: Any) -> str:
    """What messages call a source: the file's own name, without its folders."""
    if isinstance(source, str | os.PathLike):
        return "standard input" if os.fspath(source) == STDIN else Path(source).name
    return "data frame"


def _bytes_of(path: str) -> tuple[str, np.ndarray]:
    name = source_name(path)
    if path == STDIN:
        return name, np.frombuffer(sys.stdin.buffer.read(), dtype=np.uint8)
    if Path(path).is_file() and Path(path).stat().st_size:
        # Mapped, not read: the operating system may drop pages that have been parsed.
        return name, np.memmap(path, dtype=np.uint8, mode="r")
    return name, np.frombuffer(Path(path).read_bytes(), dtype=np.uint8)


def _parquet(name: str, data: np.ndarray) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(data.tobytes()))
    except (pl.exceptions.PolarsError, OSError):
        raise problems.not_a_table(name, "its Parquet data is damaged", "Write it again.") from None
