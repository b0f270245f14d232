"""Tables written as JSON (records, JSON lines, columns of lists, what pandas writes) and as workbooks (XLSX, XLS, ODS).

JSON that is nested deeper than a cell is for `unisono import json`. Workbooks have titles above the header, headers
over two rows with merged cells, and sheets of notes: the header is the first row that is filled as far as rows below
it are, and a group name above it (`valence` over `A1`, `A2`) becomes part of the name. Rows are counted as the
spreadsheet counts them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables.labels import as_number, listed, nearest
from unisono.tables.reading import problems
from unisono.tables.reading.delimited_text import ROWS, joined_header, with_names
from unisono.tables.reading.label_and_number_columns import as_label
from unisono.tables.reading.raw_table import Table, WholeTable

_UNDER = ("data", "records", "rows", "items", "results", "ratings", "annotations")  # where a document keeps its records


_NO_RECORDS = {list: "a list", str: "a text", type(None): "null", bool: "true or false"}


class JsonTable(WholeTable):
    """Records, and the line on which each of them is if there is one per line."""

    def __init__(self, name: str, columns: Mapping[str, Sequence[Any]], lines: Sequence[int] | None = None):
        if not columns:
            raise problems.empty_file(name)
        self.name, self._lines = name, lines
        cells = [self._series(column, own) for column, own in columns.items()]
        super().__init__(name, tuple(_whole(column).strip() for column in columns), cells)

    def where(self, record: int) -> str:
        return f"{self.name} {f'record {record + 1}' if self._lines is None else f'line {self._lines[record]}'}"

    def _series(self, column: str, cells: Sequence[Any]) -> pl.Series:
        if all(cell is None or isinstance(cell, int | float) for cell in cells):
            try:
                return pl.Series(cells, strict=False)
            except (OverflowError, TypeError, pl.exceptions.PolarsError):
                pass  # whole numbers beyond 64 bits are labels
        for record, cell in enumerate(cells):
            if isinstance(cell, dict | list):
                raise DataError(
                    f"{self.where(record)}: '{column}' holds a list or an object, not a cell. `unisono import json` "
                    "reads nested JSON: say where things are with --records, --item and --annotator."
                )
        return pl.Series([None if cell is None else _whole(as_label(cell)) for cell in cells], dtype=pl.String)


def looks_like_json(data: np.ndarray) -> bool:
    """Whether the first mark opens JSON, which no header begins with."""
    return data[: 1 << 16].tobytes().lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")


def json_table(name: str, text: str) -> Table:
    """The table in a JSON text."""
    text = text.lstrip("\ufeff")
    if text.lstrip()[0] == "{":
        rows = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(rows) > 1 and rows[1][1].lstrip()[:1] == "{" and rows[0][1].rstrip()[-1:] == "}":
            found = [parsed_json(name, line, number) for number, line in rows]
            return _of_records(name, found, [number for number, _ in rows])
    value = parsed_json(name, text, 1)
    if isinstance(value, dict):
        inside = [key for key in _UNDER if isinstance(one := value.get(key), list) and one and isinstance(one[0], dict)]
        if inside and not _is_split(value):
            value = value[inside[0]]
    return _of_records(name, value) if isinstance(value, list) else _of_document(name, value)


def records_table(name: str, found: list[Any] | dict[str, Any]) -> Table:
    """The table of records, or of columns of lists, that are in memory already."""
    return _of_records(name, found) if isinstance(found, list) else _of_document(name, found)


def _of_records(name: str, records: Sequence[Any], lines: Sequence[int] | None = None) -> Table:
    if not records:
        raise problems.header_only(name)
    known: dict[str, None] = {}
    for number, record in enumerate(records):
        if not isinstance(record, dict):
            place = f"record {number + 1}" if lines is None else f"line {lines[number]}"
            what = _NO_RECORDS.get(type(record), "a number")
            raise DataError(
                f'{name} {place} is {what} where a record is expected, as in {{"item": "clip1", "rating": 3}}.'
            )
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


def parsed_json(name: str, text: str, first: int) -> Any:
    """The value of a JSON text that begins on line `first` of a file."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = first + error.lineno - 1
        raise DataError(f"{name} line {line}: this is not JSON ({error.msg}). Is the file whole?") from None
    except (RecursionError, ValueError):
        raise DataError(f"{name} line {first}: JSON nested too deeply, or with numbers too long, to be read.") from None


OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_TOP = 30  # rows among which the header is looked for
_FILLED = 0.8  # a header may have a few cells less than the rows below: comments beside the table


class WorkbookTable(WholeTable):
    """One sheet. Every cell is text, as in a CSV file."""

    def __init__(self, name: str, frame: pl.DataFrame, notes: tuple[str, ...] = ()):
        rows = [[cell or "" for cell in row] for row in frame.head(_TOP).rows()]
        header = _header_row(rows)
        columns, begin = _column_names(rows, header)
        said = _said(begin, header)
        pivot = joined_header(rows[header - 1 : header + 2]) if header else None
        if pivot is not None and pivot.rows == ROWS:
            columns, header, said = list(pivot.columns), header + 1, (_rows_joined(header - 1, header + 1),)
            self.form = pivot.form
        else:
            columns = with_names(columns, rows[header + 1 : header + ROWS])
        kept = [index for index, column in enumerate(columns) if column or frame[:, index].null_count() < frame.height]
        body = frame[header + 1 :, kept].get_columns()
        super().__init__(name, tuple(columns[index].strip() for index in kept), body)
        self._first = header + 2  # rows are counted from 1
        self.notes = notes + said

    def where(self, record: int) -> str:
        return f"{self.name} row {record + self._first}"


def workbook_table(name: str, data: np.ndarray, wanted: str | None = None) -> Table:
    """The sheet that was asked for, else the only one with a table, else the first one."""
    try:
        import fastexcel
    except ImportError:
        raise problems.needs_extra(name, "is a workbook", "excel", "save it as CSV") from None
    try:
        book = fastexcel.read_excel(data.tobytes())
        sheets = {title: _cells(book, title) for title in book.sheet_names}
    except fastexcel.FastExcelError:
        raise problems.not_a_table(name, "the workbook is damaged, or has a password") from None
    if wanted is not None and wanted not in sheets:
        close = nearest(wanted, sheets)
        hint = f" Did you mean --sheet '{close}'?" if close else ""
        raise DataError(f"{name} has no sheet '{wanted}'; it has {listed(list(sheets), 12)}.{hint}")
    filled = [title for title, frame in sheets.items() if frame.height]
    if not filled:
        raise problems.empty_file(name)
    # A sheet of notes has a column or two; a table of ratings needs three.
    tables = [title for title in filled if sheets[title].width > 2] or filled
    chosen = wanted or tables[0]
    notes: tuple[str, ...] = ()
    if wanted is None and len(tables) > 1:
        others = ", ".join(f"'{title}'" for title in tables[1:])
        notes = (f"The table is sheet '{chosen}'; for {others} say --sheet.",)
    if not sheets[chosen].height:
        raise problems.empty_file(f"{name}, sheet '{chosen}',")
    return WorkbookTable(name, sheets[chosen], notes)


def _cells(book: Any, title: str) -> pl.DataFrame:
    sheet = book.load_sheet(title, header_row=None, skip_rows=0, dtypes="string")
    return sheet.to_polars() if sheet.width else pl.DataFrame()


def _header_row(rows: Sequence[Sequence[str]]) -> int:
    """The first row that is filled as far as the fullest one, or the row of names right above it."""
    filled = [sum(1 for cell in row if cell.strip()) for row in rows]
    full = next(number for number, count in enumerate(filled) if count >= _FILLED * max(filled))
    # Merged cells leave gaps in a header, so that the first full row may be one of answers.
    below, above = (any(as_number(cell) is not None for cell in rows[n]) for n in (full, full - 1))
    if full and filled[full - 1] > 1 and below and not above:
        return full - 1
    return full


def _column_names(rows: Sequence[Sequence[str]], header: int) -> tuple[list[str], int]:
    """Names from the header, with group names of the row above where the header needs them; the first row used."""
    names = [cell.strip() for cell in rows[header]]
    above = [cell.strip() for cell in rows[header - 1]] if header else []
    given = [name for name in names if name]
    alone = len(set(given)) == len(given) and not any(
        over and not name for over, name in zip(above, names, strict=False)
    )
    if alone or sum(map(bool, above)) < 2:
        return names, header  # what is above is a title
    joined, group = [], ""
    for over, name in zip(above, names, strict=True):
        group = over or (group if name else "")
        joined.append(f"{group}_{name}" if group and name else group or name)
    return joined, header - 1


def _said(begin: int, header: int) -> tuple[str, ...]:
    if header == 0:
        return ()
    return (f"The header is row {header + 1}." if begin == header else _rows_joined(begin, header),)


def _rows_joined(begin: int, end: int) -> str:
    return f"The header is rows {begin + 1} {'and' if end == begin + 1 else 'to'} {end + 1}, joined."
