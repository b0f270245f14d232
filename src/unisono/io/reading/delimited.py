"""Delimited text (CSV, TSV, semicolons, pipes), in UTF-8, as a table of text cells, read stretch by stretch.

Every cell is read as text, so that what is wrong with it can be said in the user's own words; the numbers are made
elsewhere. Imports Polars, and the record scanner beside it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import NoReturn

import numpy as np
import polars as pl

from unisono.io.reading import problems
from unisono.io.reading.encoding import refuse_binary
from unisono.io.reading.records import BLOCK, Records, line_of, scan
from unisono.io.reading.table import Chunk, Table

SEPARATORS = (",", "\t", ";", "|")
_ANNOUNCED = re.compile(rb"\"?sep=([,;|\t])\"?\r?\n")  # the first line that Excel heeds
_TITLES, _NARROWEST = 10, 3  # lines above a header that are looked past, if it has at least so many columns
_BOM = b"\xef\xbb\xbf"


class TextTable(Table):
    """A checked header over a body that is parsed when asked for."""

    def __init__(self, name: str, data: np.ndarray, block: int = BLOCK):
        if not len(data) or not data[: 1 << 16].tobytes().removeprefix(_BOM).strip():
            raise problems.empty_file(name)
        self._data = _unix_line_ends(data)
        self._block = block
        refuse_binary(name, self._data[:BLOCK])
        begin = len(_BOM) if self._data[:3].tobytes() == _BOM else 0
        announced = _ANNOUNCED.match(self._data[begin : begin + 16].tobytes())
        if announced:
            begin += announced.end()
        header, self._body = self._record(begin) or self._nothing(name)
        self.separator = announced[1].decode() if announced else self._separator(name, header)
        columns = _cells(name, header, self.separator)
        if len(columns) == 1:
            columns = self._below_titles(name, columns)
        super().__init__(name, tuple(cell.strip() for cell in columns))
        # Semicolons separate cells where the comma is the decimal mark.
        self.decimal_comma = self.separator == ";"

    def parts(self) -> Iterator[Chunk]:
        first = 0
        for records in scan(self._data, self._body, self.separator, self._block):
            self._check(records)
            if len(records.start):
                yield Chunk(self._parse(records), first)
            first += len(records.start)

    def where(self, record: int) -> str:
        return f"{self.name} row {self._row(record)}"

    def _row(self, record: int) -> int:
        for records in scan(self._data, self._body, self.separator, self._block):
            if record < len(records.start):
                return line_of(self._data, int(records.start[record]))
            record -= len(records.start)
        raise IndexError(record)

    def _record(self, begin: int) -> tuple[str, int] | None:
        """The first record from a byte on, and the byte behind it."""
        for records in scan(self._data, begin, SEPARATORS[0], 1 << 16):
            if len(records.start):
                start = int(records.start[0])
                stop = int(records.start[1]) if len(records.start) > 1 else records.stop
                return self._data[start:stop].tobytes().decode().strip("\r\n"), stop
        return None

    def _nothing(self, name: str) -> NoReturn:
        raise problems.empty_file(name)

    def _separator(self, name: str, header: str) -> str:
        """The mark that splits the header into most cells; bars also occur in names, so they have to go on below."""
        count = {mark: len(_cells(name, header, mark)) for mark in SEPARATORS}
        below = self._record(self._body) if count["|"] > 1 else None
        if below is not None and len(_cells(name, below[0], "|")) != count["|"]:
            del count["|"]
        return max(count, key=lambda mark: count[mark])

    def _below_titles(self, name: str, first: list[str]) -> list[str]:
        """The header below lines of prose, if there is one: a single cell cannot be the header of ratings."""
        stop = self._body
        for _ in range(_TITLES):
            below = self._record(stop)
            if below is None:
                break
            stop, before = below[1], stop
            mark = self._separator(name, below[0])
            cells = _cells(name, below[0], mark)
            if len(cells) >= _NARROWEST:
                self._body, self.separator = stop, mark
                self.notes = (f"The header is row {self._line_of_record(before)}.",)
                return cells
        return first

    def _line_of_record(self, begin: int) -> int:
        (records, *_) = scan(self._data, begin, SEPARATORS[0], 1 << 16)
        return line_of(self._data, int(records.start[0]))

    def _check(self, records: Records) -> None:
        refuse_binary(self.name, self._data[records.begin : records.stop])
        wrong = np.flatnonzero(records.cells != len(self.columns))
        if records.open_at >= 0:
            raise problems.open_quote(self.name, line_of(self._data, records.open_at))
        if len(wrong):
            row = line_of(self._data, int(records.start[wrong[0]]))
            raise problems.wrong_cell_count(self.name, row, int(records.cells[wrong[0]]), len(self.columns))

    def _parse(self, records: Records) -> pl.DataFrame:
        part = self._data[records.begin : records.stop]
        text = part.tobytes() if not records.blank else _without_blanks(self._data, records)
        try:
            frame = pl.read_csv(
                text,
                has_header=False,
                separator=self.separator,
                schema={str(index): pl.String for index in range(len(self.columns))},
                truncate_ragged_lines=True,
            )
        except pl.exceptions.PolarsError:
            frame = pl.DataFrame()
        if frame.height != len(records.start):  # two readings of the same text: somewhere quotes are out of place
            place = line_of(self._data, int(records.start[0]))
            raise problems.stray_quotes(self.name, place)
        return frame


def _unix_line_ends(data: np.ndarray) -> np.ndarray:
    # Lines that end in a carriage return alone are rare (old spreadsheets); they are worth a copy.
    head = data[: 1 << 16]
    if np.any(head == 13) and not np.any(head == 10) and not np.any(data == 10):
        return np.where(data == 13, np.uint8(10), data)
    return data


def _cells(name: str, header: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([header], delimiter=separator), [])
    except csv.Error as error:
        raise problems.not_a_table(name, f"its first row makes no header ({error})") from None


def _without_blanks(data: np.ndarray, records: Records) -> bytes:
    stop = np.append(records.start[1:], records.stop)
    rows = zip(records.start.tolist(), stop.tolist(), strict=True)
    return b"\n".join(data[low:high].tobytes().rstrip(b"\r\n") for low, high in rows)
