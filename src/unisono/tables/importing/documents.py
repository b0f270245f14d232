"""Opening what other tools wrote: JSON, JSON lines, delimited text and XML; plain, gzipped, or inside a zip archive.

JSON lines and tables are read row by row. XML elements know their line; document types are refused, because nothing
needs one and entities grow without end.
"""

from __future__ import annotations

import csv
import functools
import gzip
import io
import itertools
import json
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from unisono.errors import DataError
from unisono.tables.importing.located_json import JsonText, Node, TableRow
from unisono.tables.labels import did_you_mean, listed
from unisono.tables.reading.json_and_workbooks import parsed_json
from unisono.tables.reading.open_table import STDIN, source_name

_ZIP, _GZIP = b"PK\x03\x04", b"\x1f\x8b"
_SEPARATORS = ",\t;"


def open_bytes(path: str) -> IO[bytes]:
    """The bytes of a file, unpacked if it is gzipped."""
    stream: IO[bytes] = io.BytesIO(_standard_input()) if path == STDIN else Path(path).open("rb")  # noqa: SIM115
    head = stream.read(4)
    stream.seek(0)
    if head == _ZIP:
        raise DataError(f"{source_name(path)} is a zip archive or a workbook. Unpack it, or save it as CSV or JSON.")
    return gzip.open(stream) if head[:2] == _GZIP else stream  # type: ignore[return-value]


def lines_of(path: str) -> Iterator[tuple[int, str]]:
    """Lines of a text file with their numbers, without their ends."""
    name = source_name(path)
    number = 1
    try:
        with open_bytes(path) as stream:
            for number, raw in enumerate(stream, 1):
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise DataError(f"{name} line {number}: byte 0x{byte:02x} is not UTF-8. Save it with that encoding.") from None
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataError(f"{name} line {number}: its gzip data is damaged or cut short. Compress it again.") from None


def json_document(path: str) -> Node:
    """A whole JSON document."""
    name = source_name(path)
    return parsed(JsonText(name, "\n".join(line for _, line in lines_of(path))))


def parsed(source: JsonText) -> Node:
    """The value of a JSON text."""
    if not source.text.strip("\ufeff \t\r\n"):
        raise DataError(f"{source.name} is empty. Expected JSON.")
    return Node(parsed_json(source.name, source.text.lstrip("\ufeff"), source.first), source)


def json_values(path: str) -> Iterator[Node]:
    """The values of a file: its lines if each of them is JSON, else the whole document as one."""
    name = source_name(path)
    lines = ((number, line) for number, line in lines_of(path) if line.strip())
    first = list(itertools.islice(lines, 2))
    if not first:
        raise DataError(f"{name} is empty. Expected JSON.")
    if len(first) > 1 and _complete(first[0][1]):
        for number, line in itertools.chain(first, lines):
            yield parsed(JsonText(name, line, number, single=True))
        return
    # One document. Blank lines were skipped above, so it is put together with its lines where they were.
    rows = [*first, *lines]
    text, at = [], rows[0][0]
    for number, line in rows:
        text.append("\n" * (number - at) + line)
        at = number
    yield parsed(JsonText(name, "".join(text), rows[0][0]))


def json_records(path: str, *under: str) -> Iterator[Node]:
    """Records of JSON lines, of a list, or of the list under one of the keys of a document."""
    for node in json_values(path):
        if isinstance(node.value, list):
            yield from node.each()
            continue
        if not isinstance(node.value, dict):
            raise node.unlike("a list of records")
        inside = [key for key in under if isinstance(node.value.get(key), list)]
        if inside:
            yield from node.each(inside[0])
        else:
            yield node


def records_of(path: str, *under: str) -> Iterator[Node]:
    """Records of JSON in any of its forms, or rows of a table with a header."""
    return json_records(path, *under) if looks_like_json(path) else table_rows(path)


def looks_like_json(path: str) -> bool:
    """Whether the first mark of a file opens JSON."""
    for _, line in lines_of(path):
        if line.strip():
            return line.lstrip()[0] in "{["
    raise DataError(f"{source_name(path)} is empty.")


def raw_rows(path: str, separator: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Cells of a delimited text with the row each began on; blank rows are skipped."""
    name = source_name(path)
    lines = lines_of(path)
    begin = next(lines, None)
    if begin is None:
        raise DataError(f"{name} is empty.")
    separator = separator or max(_SEPARATORS, key=begin[1].count)
    texts = (line + "\n" for _, line in itertools.chain([begin], lines))
    rows = csv.reader(texts, delimiter=separator, strict=True)
    row = 1
    try:
        for cells in rows:
            if any(cell.strip() for cell in cells):
                yield row, cells
            row = rows.line_num + 1
    except csv.Error as error:
        raise DataError(f"{name} row {row}: the quotation marks do not match ({error}).") from None


def table_rows(
    path: str, separator: str | None = None, needed: Sequence[str] = (), may_lack: Sequence[str] = ()
) -> Iterator[Node]:
    """Rows of a table with a header, each as an object of its cells; empty cells are not there.

    `may_lack` are columns at the end of the header for which rows may have no cells.
    """
    name = source_name(path)
    header: list[str] | None = None
    for row, cells in raw_rows(path, separator):
        if header is None:
            header = checked_header(name, cells, needed)
            continue
        if may_lack and header[-len(may_lack) :] == list(may_lack) and len(cells) == len(header) - len(may_lack):
            cells = [*cells, *[""] * len(may_lack)]
        if len(cells) != len(header):
            raise DataError(f"{name} row {row} has {len(cells)} cells where the header has {len(header)}.")
        filled = {column: cell for column, cell in zip(header, cells, strict=True) if cell.strip()}
        yield Node(filled, TableRow(name, row))
    if header is None:
        raise DataError(f"{name} is empty.")


def header_of(path: str, separator: str | None = None) -> list[str]:
    """Names of the columns of a table."""
    for _, cells in raw_rows(path, separator):
        return [cell.strip() for cell in cells]
    raise DataError(f"{source_name(path)} is empty.")


def checked_header(name: str, cells: Sequence[str], needed: Sequence[str]) -> list[str]:
    """The names of the columns, if those needed are among them and no two are alike."""
    header = [cell.strip() for cell in cells]
    for column in needed:
        if column not in header:
            hint = did_you_mean(column, header)
            raise DataError(f"{name} row 1: there is no column '{column}'; there are {listed(header, 12)}.{hint}")
    twice = [column for index, column in enumerate(header) if column and column in header[:index]]
    if twice:
        raise DataError(f"{name} row 1: two columns are called '{twice[0]}'. Rename one of them.")
    return header


def zip_members(path: str, begins: tuple[str, ...] = ("",)) -> Iterator[tuple[str, bytes]]:
    """Names and bytes of the files in a zip archive whose names begin so."""
    name = source_name(path)
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir() and info.filename.startswith(begins):
                    yield info.filename, archive.read(info)
    except NotImplementedError:
        version = ".".join(map(str, sys.version_info[:2]))
        raise DataError(f"{name} is packed in a way that Python {version} cannot unpack.") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, struct.error):
        raise DataError(f"{name} line 1: the zip archive is damaged or cut short.") from None


def is_zip(path: str) -> bool:
    """Whether a file is a zip archive, by its first bytes."""
    if path == STDIN:
        return False
    with Path(path).open("rb") as stream:
        return stream.read(4) == _ZIP


@functools.cache
def _standard_input() -> bytes:
    """Read once, though files are looked at more than once."""
    return sys.stdin.buffer.read()


def _complete(line: str) -> bool:
    try:
        value: Any = json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        # The first of many lines may itself be damaged; a lone bracket opens a document over several lines.
        return line.lstrip()[0] == "{" and len(line.strip()) > 1 and line.rstrip()[-1] == "}"
    return isinstance(value, dict | list)


class Located(Element):
    """An element, the name of its file and the line it begins on."""

    place = ""


def xml_root(path: str) -> Located:
    """The outermost element of a file."""
    name, parser = source_name(path), expat.ParserCreate()

    def place() -> str:
        return f"{name} line {parser.CurrentLineNumber}"

    def located(tag: str, attributes: dict[str, str]) -> Located:
        found = Located(tag, attributes)
        found.place = place()
        return found

    def refuse(*about: Any) -> None:
        raise DataError(f"{place()}: the file has a document type, which is not read. Remove that line.")

    builder = TreeBuilder(located)
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.CharacterDataHandler = builder.data
    with open_bytes(path) as stream:
        data = stream.read()
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        raise DataError(f"{name} line {error.lineno}: this is not XML ({why}). Is the file whole?") from None
    root = builder.close()
    assert isinstance(root, Located)
    return root
