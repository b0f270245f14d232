"""From what the user points at (a path, `-`, a data frame) to a table. Formats go by content, not by file name."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from unisono.io.reading import problems
from unisono.io.reading.delimited import TextTable
from unisono.io.reading.frames import FrameTable, to_polars
from unisono.io.reading.table import Table

STDIN = "-"
_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
_FOREIGN = {
    b"PK\x03\x04": "it is an Excel or zip file",
    b"\xd0\xcf\x11\xe0": "it is an old Excel file",
    b"%PDF": "it is a PDF",
    b"SQLi": "it is a database",
    b"\x89HDF": "it is an HDF5 file",
}


def open_table(source: Any) -> Table:
    """The table behind a path, behind `-` (standard input) or in a data frame; a table is its own."""
    if isinstance(source, Table):
        return source
    if isinstance(source, str | os.PathLike):
        name, data = _bytes_of(os.fspath(source))
        return table_of_bytes(name, data)
    return FrameTable("data frame", to_polars(source), counted_from=0)


def table_of_bytes(name: str, data: np.ndarray) -> Table:
    """Text or Parquet, either of them gzipped."""
    if data[:2].tobytes() == _GZIP:
        data = _unzipped(name, data)
    start = data[:4].tobytes()
    if start == _PARQUET:
        return FrameTable(name, _parquet(name, data), counted_from=1)
    if start in _FOREIGN:
        raise problems.not_a_table(name, _FOREIGN[start])
    return TextTable(name, data)


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


def _unzipped(name: str, data: np.ndarray) -> np.ndarray:
    try:
        return np.frombuffer(gzip.decompress(data.tobytes()), dtype=np.uint8)
    except (OSError, EOFError, zlib.error):
        raise problems.not_a_table(name, "its gzip data is damaged or cut short", "Compress it again.") from None


def _parquet(name: str, data: np.ndarray) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(data.tobytes()))
    except (pl.exceptions.PolarsError, OSError):
        raise problems.not_a_table(name, "its Parquet data is damaged", "Write it again.") from None
