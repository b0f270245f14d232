"""From a path, `-` or a data frame to a table. Formats are recognised by content, not by file name.

gzip, bzip2, Zstandard and zip archives are unpacked first, up to three deep; a workbook is a zip archive that is left
as it is.
"""

from __future__ import annotations

import importlib
import io
import os
import re
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
from unisono.tables.reading import json_and_workbooks, problems
from unisono.tables.reading.data_frames import FrameTable, to_polars, with_index
from unisono.tables.reading.delimited_text import TextTable, as_utf8
from unisono.tables.reading.raw_table import Table

ZIP, _EMPTY_ZIP = b"PK\x03\x04", b"PK\x05\x06"
DEEPEST = 3  # a gzipped table in a zip archive is two deep; more than three is no table that anybody sends
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
        start = data[:10].tobytes()
        packing = next((one for one in _PACKINGS if re.match(one.begins, start, re.DOTALL)), None)
        if packing is not None:
            data = _array(_decompressed(name, data, packing))
        elif start[:4] in (ZIP, _EMPTY_ZIP) and (archive := _archive(name, data)) is not None:
            member = _member(name, archive, wanted)
            data = _array(_extracted(name, archive, member))
            notes += (f"The table is '{member}' in the archive.",)
            named = member == wanted
        else:
            break
    return Unpacked(data, notes, named)


def _array(content: bytes) -> np.ndarray:
    return np.frombuffer(content, dtype=np.uint8)


class Packing(NamedTuple):
    """A way in which one file is packed, known by its first bytes, a regular expression."""

    name: str
    begins: bytes
    modules: tuple[str, ...]  # the first of them that there is


_PACKINGS = (
    Packing("gzip", rb"\x1f\x8b", ("gzip",)),
    Packing("bzip2", rb"BZh.(1AY&SY|\x17rE8P\x90)", ("bz2",)),
    # Python has it from 3.14 on; before, the same module comes as a package.
    Packing("Zstandard", rb"\x28\xb5\x2f\xfd", ("compression.zstd", "backports.zstd")),
)


def _decompressed(name: str, data: np.ndarray, packing: Packing) -> bytes:
    for module in packing.modules:
        try:
            found = importlib.import_module(module)
        except ImportError:
            continue
        try:
            return bytes(found.decompress(data.tobytes()))
        except (OSError, EOFError, ValueError, zlib.error, getattr(found, "ZstdError", EOFError)):
            raise _damaged(name, packing.name) from None
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
    # Operating systems leave files of their own in archives.
    litter = re.compile(r"__MACOSX/|(.*/)?\.[^/]*$|.*/$", re.DOTALL)
    inside = [path for path in archive.namelist() if not litter.match(path)]
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
        return json_and_workbooks.records_table("records", list(source) if isinstance(source, tuple) else source)
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
    if start in (ZIP, json_and_workbooks.OLD_EXCEL):
        return json_and_workbooks.workbook_table(name, data, sheet)
    if start == _PARQUET:
        return FrameTable(name, _parquet(name, data), counted_from=1)
    if start in _FOREIGN:
        raise problems.not_a_table(name, _FOREIGN[start])
    text, notes = as_utf8(name, data)
    table = (
        json_and_workbooks.json_table(name, text.tobytes().decode())
        if json_and_workbooks.looks_like_json(text)
        else TextTable(name, text)
    )
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
