"""Workbooks (XLSX, XLS, XLSB, ODS) as tables of text cells, through calamine.

Spreadsheets have titles above the header, headers over two rows with merged cells, and sheets of notes. The header is
the first row that is filled as far as rows below it are; a group name above it (`valence` over `A1`, `A2`) becomes
part of the name. Rows are counted as the spreadsheet counts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from unisono.io.reading import problems
from unisono.io.reading.table import Chunk, Table

OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_TOP = 30  # rows among which the header is looked for
_FILLED = 0.8  # a header may have a few cells less than the rows below: comments beside the table


class WorkbookTable(Table):
    """One sheet. Every cell is text, as in a CSV file."""

    def __init__(self, name: str, frame: pl.DataFrame, notes: tuple[str, ...] = ()):
        rows = [[cell or "" for cell in row] for row in frame.head(_TOP).rows()]
        header = _header_row(rows)
        columns, begin = _column_names(rows, header)
        kept = [index for index, column in enumerate(columns) if column or frame[:, index].null_count() < frame.height]
        super().__init__(name, tuple(columns[index].strip() for index in kept))
        self._body = frame[header + 1 :, kept].rename(
            {frame.columns[index]: str(place) for place, index in enumerate(kept)}
        )
        self._first = header + 2  # rows are counted from 1
        self.notes = notes + _said(begin, header)

    def parts(self) -> Iterator[Chunk]:
        if self._body.height:
            yield Chunk(self._body, 0)

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
        raise problems.no_such_sheet(name, wanted, list(sheets))
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
    if full and filled[full - 1] > 1 and any(map(_is_number, rows[full])) and not any(map(_is_number, rows[full - 1])):
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


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _said(begin: int, header: int) -> tuple[str, ...]:
    if header == 0:
        return ()
    where = f"row {header + 1}" if begin == header else f"rows {begin + 1} and {header + 1}, joined"
    return (f"The header is {where}.",)
