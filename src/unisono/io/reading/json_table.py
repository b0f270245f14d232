"""Tables written as JSON: a list of records, JSON lines, columns of lists, or what pandas writes.

Imports the standard library and Polars. Whatever is nested deeper than a cell is for `unisono import json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.io.reading import problems
from unisono.io.reading.frames import as_label
from unisono.io.reading.table import Chunk, Table

_UNDER = ("data", "records", "rows", "items", "results", "ratings", "annotations")  # where a document keeps its records


class JsonTable(Table):
    """Records, and the line on which each of them is if there is one per line."""

    def __init__(self, name: str, columns: Mapping[str, Sequence[Any]], lines: Sequence[int] | None = None):
        if not columns:
            raise problems.empty_file(name)
        super().__init__(name, tuple(_whole(column).strip() for column in columns))
        self._lines = lines
        self._frame = pl.DataFrame(
            [self._series(index, column, cells) for index, (column, cells) in enumerate(columns.items())]
        )

    def parts(self) -> Iterator[Chunk]:
        if self._frame.height:
            yield Chunk(self._frame, 0)

    def where(self, record: int) -> str:
        return f"{self.name} {f'record {record + 1}' if self._lines is None else f'line {self._lines[record]}'}"

    def _series(self, index: int, column: str, cells: Sequence[Any]) -> pl.Series:
        if all(cell is None or isinstance(cell, int | float) for cell in cells):
            try:
                return pl.Series(str(index), cells, strict=False)
            except (OverflowError, TypeError, pl.exceptions.PolarsError):
                pass  # whole numbers beyond 64 bits are labels
        for record, cell in enumerate(cells):
            if isinstance(cell, dict | list):
                raise problems.nested(self.where(record), column)
        return pl.Series(
            str(index), [None if cell is None else _whole(as_label(cell)) for cell in cells], dtype=pl.String
        )


def looks_like_json(data: np.ndarray) -> bool:
    """Whether the first mark opens JSON, which no header begins with."""
    return data[: 1 << 16].tobytes().lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")


def json_table(name: str, text: str) -> Table:
    """The table in a JSON text."""
    text = text.lstrip("\ufeff")
    if text.lstrip()[0] == "{":
        rows = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(rows) > 1 and rows[1][1].lstrip()[:1] == "{" and rows[0][1].rstrip()[-1:] == "}":
            found = [_parsed(name, line, number) for number, line in rows]
            return _of_records(name, found, [number for number, _ in rows])
    value = _parsed(name, text, 1)
    if isinstance(value, dict):
        inside = [key for key in _UNDER if _are_records(value.get(key))]
        if inside and not _is_split(value):
            value = value[inside[0]]
    return _of_records(name, value) if isinstance(value, list) else _of_document(name, value)


def _of_records(name: str, records: Sequence[Any], lines: Sequence[int] | None = None) -> Table:
    if not records:
        raise problems.header_only(name)
    known: dict[str, None] = {}
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            place = f"record {number + 1}" if lines is None else f"line {lines[number]}"
            raise problems.no_record(f"{name} {place}", type(record).__name__)
        known |= dict.fromkeys(record)
    return JsonTable(name, {key: [record.get(key) for record in records] for key in known}, lines)


def _of_document(name: str, document: Any) -> Table:
    """Columns of lists; what pandas writes by default (columns of cells by row); `columns` beside `data`."""
    if isinstance(document, dict) and document:
        if _is_split(document):
            return _of_records(name, [dict(zip(document["columns"], row, strict=False)) for row in document["data"]])
        cells = list(document.values())
        if all(isinstance(column, list) for column in cells) and len({len(column) for column in cells}) == 1:
            return JsonTable(name, document)
        if all(isinstance(column, dict) for column in cells) and all(set(one) == set(cells[0]) for one in cells):
            return JsonTable(name, {key: [column[row] for row in cells[0]] for key, column in document.items()})
    raise problems.not_a_table(
        name,
        "it is JSON, but neither a list of records nor columns of the same length",
        "`unisono import json` reads any other JSON: say where things are with --records, --item and --annotator.",
    )


def _is_split(document: Mapping[str, Any]) -> bool:
    columns, data = document.get("columns"), document.get("data")
    named = isinstance(columns, list) and all(isinstance(column, str) for column in columns)
    return named and isinstance(data, list) and all(isinstance(row, list) for row in data)


def _whole(text: str) -> str:
    """Text without halves of characters, which JSON can write and nothing else can."""
    return text.encode(errors="replace").decode()


def _are_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _parsed(name: str, text: str, first: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = first + error.lineno - 1
        raise DataError(f"{name} line {line}: this is not JSON ({error.msg}). Is the file whole?") from None
    except (RecursionError, ValueError):
        raise DataError(f"{name} line {first}: JSON nested too deeply, or with numbers too long, to be read.") from None
