"""Files inside files: gzip, bzip2, Zstandard and zip archives, told by their first bytes, give the bytes of one table.

A workbook is a zip archive too, but it is left as it is. Imports NumPy and the standard library.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import struct
import zipfile
import zlib
from typing import NamedTuple

import numpy as np

from unisono.io.reading import problems

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
    raise problems.several_tables(name, "files", tables, wanted)


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
