"""From a path, `-` or a data frame to a table. Formats are recognised by content, not by file name.

gzip, bzip2, Zstandard and zip archives are unpacked first, up to three deep; a workbook is a zip archive that is left
as it is.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import os
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables.labels import listed, nearest
from unisono.tables.reading import problems
from unisono.tables.reading.data_frames import FrameTable, to_polars, with_index
from unisono.tables.reading.delimited_text import TextTable, as_utf8
from unisono.tables.reading.json_and_workbooks import (
    OLD_EXCEL,
    json_table,
    looks_like_json,
    records_table,
    workbook_table,
)
from unisono.tables.reading.raw_table import Table

ZIP, _EMPTY_ZIP = b"PK\x03\x04", b"PK\x05\x06"
DEEPEST = 3  # a gzipped table in a zip archive is two deep; more than three is no table that anybody sends
_GZIP, _BZIP2, _ZSTANDARD = b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd"
_TABLES = ("csv", "tsv", "tab", "txt", "json", "jsonl", "ndjson", "parquet", "xlsx", "xlsm", "xls", "xlsb", "ods")
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, ValueError, OverflowError)
_PACKED = ("gz", "bz2", "zst", "zip")


class Unpacked(NamedTuple):
    """The bytes of a table, and what is to be said about where they were."""

    data: np.ndarray
    notes: tuple[str, ...] = ()
    named: bool = False  # the user named one of several files, and it was taken


def unpacked(name: str, data: np.ndarray, wanted: str | None = None) -> Unpacked:
    """What lies inside; `wanted` names a file of an archive with several."""
    notes: tuple[str, ...] = ()
    named = False
    for _ in range(DEEPEST):
        start = data[:4].tobytes()
        if start[:2] == _GZIP:
            data = _array(_gunzipped(name, data))
        elif start[:3] == _BZIP2 and data[4:10].tobytes() in (b"1AY&SY", b"\x17rE8P\x90"):
            data = _array(_bunzipped(name, data))
        elif start == _ZSTANDARD:
            data = _array(_unzstandard(name, data))
        elif start in (ZIP, _EMPTY_ZIP) and (archive := _archive(name, data)) is not None:
            member = _member(name, archive, wanted)
            data = _array(_extracted(name, archive, member))
            notes += (f"The table is '{member}' in the archive.",)
            named = member == wanted
        else:
            break
    return Unpacked(data, notes, named)


def _array(content: bytes) -> np.ndarray:
    return np.frombuffer(content, dtype=np.uint8)


def _gunzipped(name: str, data: np.ndarray) -> bytes:
    try:
        return gzip.decompress(data.tobytes())
    except (OSError, EOFError, zlib.error):
        raise _damaged(name, "gzip") from None


def _bunzipped(name: str, data: np.ndarray) -> bytes:
    try:
        return bz2.decompress(data.tobytes())
    except (OSError, EOFError, ValueError):
        raise _damaged(name, "bzip2") from None


def _unzstandard(name: str, data: np.ndarray) -> bytes:
    """Python has it from 3.14 on; before, the same module comes as a package."""
    for module in ("compression.zstd", "backports.zstd"):
        try:
            zstd = importlib.import_module(module)
        except ImportError:
            continue
        try:
            return bytes(zstd.decompress(data.tobytes()))
        except (zstd.ZstdError, EOFError):
            raise _damaged(name, "Zstandard") from None
    raise problems.needs_extra(name, "is packed with Zstandard", "zstd", "unpack it first (zstd -d)")


def _archive(name: str, data: np.ndarray) -> zipfile.ZipFile | None:
    """The archive, unless it is a workbook."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data.tobytes()))
    except (*_BROKEN, RuntimeError):
        raise _damaged(name, "zip") from None
    inside = set(archive.namelist())
    return None if "[Content_Types].xml" in inside or {"mimetype", "content.xml"} <= inside else archive


def _member(name: str, archive: zipfile.ZipFile, wanted: str | None) -> str:
    """The only table of an archive, or the one that was asked for."""
    inside = [info.filename for info in archive.infolist() if not info.is_dir() and not _is_litter(info.filename)]
    if wanted is not None and wanted in inside:
        return wanted
    tables = [one for one in inside if _is_table(one)] or inside
    if len(tables) == 1:
        return tables[0]
    if not tables:
        raise problems.not_a_table(name, "the zip archive is empty")
    close = nearest(wanted, tables) if wanted is not None else None
    lost = "" if wanted is None else f" There is no '{wanted}'."
    raise DataError(f"{name} holds {len(tables)} files: {listed(tables, 8)}.{lost} Say --sheet '{close or tables[0]}'.")


def _is_litter(member: str) -> bool:
    """What operating systems leave in archives."""
    return member.startswith("__MACOSX/") or member.split("/")[-1].startswith(".")


def _is_table(member: str) -> bool:
    *_, before, last = ["", "", *member.lower().split(".")]
    return last in _TABLES or (last in _PACKED and before in _TABLES)


def _extracted(name: str, archive: zipfile.ZipFile, member: str) -> bytes:
    try:
        return archive.read(member)
    except RuntimeError:  # an archive with a password, or packed in a way that Python does not know
        raise problems.not_a_table(name, f"'{member}' in it cannot be unpacked", "Unpack it first.") from None
    except _BROKEN:
        raise _damaged(name, "zip") from None


def _damaged(name: str, what: str) -> Exception:
    return problems.not_a_table(name, f"its {what} data is damaged or cut short", "Compress it again.")


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
    if isinstance(source, list | tuple | dict) and source:
        return records_table("records", list(source) if isinstance(source, tuple) else source)
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
