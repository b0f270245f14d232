"""Delimited text (CSV, TSV, semicolons, pipes) in any usual encoding as a table of text cells, read block by block.

Every cell is read as text, so that messages can quote it; numbers are made elsewhere. Polars pads short rows and cuts
long ones silently, so the cells of every record are counted first, on bytes; a separator or a line end between
quotation marks belongs to the cell, and blank lines are no records. UTF-16 and UTF-32 are known by their byte order
mark or by their zero bytes. What is not UTF-8 is read as Windows-1252 (of which Latin-1 is a part), unless most of it
is UTF-8: then a byte is damaged, and guessing would garble the rest.

Headers may take several rows: what pandas writes of a pivot table, groups over names as in spreadsheets, and Qualtrics.

    dim,valence,valence,arousal,arousal         item,valence,,arousal,
    annotator,A,B,A,B                           ,A1,A2,A1,A2
    item,,,,                                    clip1,3,4,2,2

Both become item, valence_A, valence_B, ...; where pandas says what the levels are, so does `form`. Qualtrics writes the
questions and then its own names for them (as JSON) below the header.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables.reading import column_roles, problems, raw_table

BLOCK = 1 << 24  # bytes looked at in one go: large enough for Polars to be quick, small enough to forget
_QUOTE, _NEWLINE, _RETURN = 34, 10, 13


class Records(NamedTuple):
    """The complete records of one stretch of bytes."""

    start: np.ndarray  # (R,) byte at which each record begins
    cells: np.ndarray  # (R,) cells in each record
    begin: int  # first byte of the stretch
    stop: int  # byte behind the last complete record
    blank: bool  # whether blank lines lie between the records
    open_at: int  # byte of a quotation mark that is never closed, or -1


def scan(data: np.ndarray, begin: int, separator: str, block: int = BLOCK) -> Iterator[Records]:
    """Walks over `data` (bytes as uint8) from `begin`; every stretch starts at the start of a record."""
    size = block
    while begin < len(data):
        stop = min(begin + size, len(data))
        found = _records(data, begin, stop, ord(separator), last=stop == len(data))
        if found.stop == begin:  # not one whole record in the block
            size *= 2
            continue
        size = block
        yield found
        begin = found.stop


def line_of(data: np.ndarray, offset: int) -> int:
    """The line on which a byte lies, counted from 1."""
    return 1 + sum(
        int(np.count_nonzero(data[low : min(low + BLOCK, offset)] == _NEWLINE)) for low in range(0, offset, BLOCK)
    )


def _records(data: np.ndarray, begin: int, stop: int, separator: int, last: bool) -> Records:
    part = np.asarray(data[begin:stop])
    newline, mark = part == _NEWLINE, part == separator
    quotes = np.flatnonzero(part == _QUOTE)
    is_open = bool(len(quotes) % 2)
    if len(quotes):
        outside = _outside(quotes, len(part))
        newline &= outside
        mark &= outside
    end = np.flatnonzero(newline)
    if last and (not len(end) or end[-1] != len(part) - 1):
        end = np.append(end, len(part))
    start = np.concatenate([[0], end[:-1] + 1]) if len(end) else end
    place = np.flatnonzero(mark)
    cells = np.asarray(np.searchsorted(place, end) - np.searchsorted(place, start)) + 1
    width = end - start
    blank = (width == 0) | ((width == 1) & (part[np.minimum(start, len(part) - 1)] == _RETURN))
    keep = ~blank
    behind = begin + (min(int(end[-1]) + 1, len(part)) if len(end) else 0)
    open_at = begin + int(quotes[-1]) if last and is_open else -1
    return Records(begin + start[keep], cells[keep], begin, behind, bool(blank.any()), open_at)


def _outside(quotes: np.ndarray, size: int) -> np.ndarray:
    """True for bytes that lie outside quotation marks."""
    flips = np.zeros(size, dtype=np.uint8)
    flips[quotes] = 1
    inside = np.bitwise_xor.accumulate(flips)
    return np.asarray(inside == 0)


_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_HEAD = 1 << 16
_MOSTLY = 0.4  # share of zero bytes on one side of the pairs that gives UTF-16 away; there are none in other text
# Bytes below 32 that do not occur in text, beside tab, line ends and form feed.
_CONTROL = np.array([byte < 32 and byte not in (9, 10, 12, 13) for byte in range(256)])


def as_utf8(name: str, data: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """The same text as UTF-8 bytes, and a sentence if it was anything else."""
    wide = _wide_encoding(data[:_HEAD])
    if wide is not None:
        try:
            text = data.tobytes().decode(wide)
        except UnicodeDecodeError:
            what = wide.upper().removesuffix("-LE").removesuffix("-BE")
            raise problems.not_a_table(name, f"its {what} text is damaged or cut short") from None
        return _bytes(text), (f"It is {wide[:6].upper()} text.",)
    refuse_binary(name, data[:BLOCK])
    if all(int(data[low : low + BLOCK].max()) < 128 for low in range(0, len(data), BLOCK)):
        return data, ()
    raw = data.tobytes()
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        return _bytes(_windows_text(name, data, raw, error)), (
            "It is no UTF-8 text and was read as Windows-1252 (Latin-1). If letters look wrong, save it as UTF-8.",
        )
    return data, ()


def refuse_binary(name: str, part: np.ndarray) -> None:
    """Zero bytes never occur in text, and soon occur in everything else."""
    if not np.all(part):
        raise problems.not_a_table(name, "it holds binary data")


def _wide_encoding(head: np.ndarray) -> str | None:
    start = head[:4].tobytes()
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return encoding
    if len(head) < 4 or np.all(head):
        return None
    even, odd = (float(np.mean(head[side : len(head) // 2 * 2 : 2] == 0)) for side in (0, 1))
    if even == 0 and odd > _MOSTLY:
        return "utf-16-le"
    return "utf-16-be" if odd == 0 and even > _MOSTLY else None


def _windows_text(name: str, data: np.ndarray, raw: bytes, error: UnicodeDecodeError) -> str:
    broken = raw.decode("utf-8", errors="replace")
    whole = sum(ord(letter) > 127 for letter in broken if letter != "\ufffd")
    if whole > broken.count("\ufffd"):
        raise problems.not_utf8(name, line_of(data, error.start), raw[error.start]) from None
    if _CONTROL[data[:BLOCK]].any():
        raise problems.not_a_table(name, "it holds binary data")
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError as other:
        raise problems.not_utf8(name, line_of(data, other.start), raw[other.start]) from None


def _bytes(text: str) -> np.ndarray:
    return np.frombuffer(text.removeprefix("\ufeff").encode(), dtype=np.uint8)


SEPARATORS = (",", "\t", ";", "|")
_ANNOUNCED = re.compile(rb"\"?sep=([,;|\t])\"?\r?\n")  # the first line that Excel heeds
_TITLES, _NARROWEST = 10, 3  # lines above a header that are looked past, if it has at least so many columns
_BOM = b"\xef\xbb\xbf"


class TextTable(raw_table.Table):
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
        first = self._record(begin)
        if first is None:
            raise problems.empty_file(name)
        header, self._body = first
        self.separator = announced[1].decode() if announced else self._separator(name, header)
        columns = _cells(name, header, self.separator)
        if len(columns) == 1:
            columns = self._below_titles(name, columns)
        super().__init__(name, tuple(cell.strip() for cell in self._below_header(name, columns)))
        # Semicolons separate cells where the comma is the decimal mark.
        self.decimal_comma = self.separator == ";"

    def parts(self) -> Iterator[raw_table.Chunk]:
        first = 0
        for records in scan(self._data, self._body, self.separator, self._block):
            self._check(records)
            if len(records.start):
                yield raw_table.Chunk(self._parse(records), first)
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

    def _below_header(self, name: str, columns: list[str]) -> Sequence[str]:
        """The names of columns; of a header over several rows joined, and the body begins below."""
        rows, behind = [columns], [self._body]
        while len(rows) < ROWS and (below := self._record(behind[-1])) is not None:
            rows.append(_cells(name, below[0], self.separator))
            behind.append(below[1])
        header = joined_header(rows)
        if header is None:
            return with_names(columns, rows[1:])
        self._body, self.form, self.notes = behind[header.rows - 1], header.form, (*self.notes, header.note)
        return header.columns

    def _line_of_record(self, begin: int) -> int:
        (records, *_) = scan(self._data, begin, SEPARATORS[0], 1 << 16)
        return line_of(self._data, int(records.start[0]))

    def _check(self, records: Records) -> None:
        refuse_binary(self.name, self._data[records.begin : records.stop])
        wrong = np.flatnonzero(records.cells != len(self.columns))
        if records.open_at >= 0:
            row = line_of(self._data, records.open_at)
            raise DataError(f"{self.name} row {row}: a quotation mark is opened and never closed.")
        if len(wrong):
            row = line_of(self._data, int(records.start[wrong[0]]))
            cells, expected = int(records.cells[wrong[0]]), len(self.columns)
            few, hint = "many", "Quote text that holds the separator"
            if cells < expected:
                few, hint = "few", "Leave a cell empty to mark a missing value"
            raise DataError(
                f"{self.name} row {row} has too {few} cells: {cells} where the header has {expected}. {hint}, "
                "and look for an unmatched quotation mark."
            )

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
            raise DataError(
                f"{self.name}: from row {place} on the quotation marks do not match. "
                "Quote whole cells, and double the quotation marks inside them."
            )
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


MARK = "_"
ROWS = 3  # that a header may have
_QUALTRICS = '{"ImportId"'


class Header(NamedTuple):
    """Names of columns, how many rows they took, and what their parts mean, as `--annotators-in-columns` has it."""

    columns: tuple[str, ...]
    rows: int
    form: str | None = None
    note: str = ""


def joined_header(rows: Sequence[Sequence[str]]) -> Header | None:
    """The header in the first rows of a table; None if one row is all there is of it."""
    cells = [[cell.strip() for cell in row] for row in rows[:ROWS]]
    first = cells[0]
    if len(cells) < 2 or any(len(row) != len(first) for row in cells):
        return None
    if len(cells) == ROWS and any(cell.startswith(_QUALTRICS) for cell in cells[2]):
        return Header(tuple(first), ROWS, None, "Rows 2 and 3 repeat the header in other words (Qualtrics).")
    if len(set(filter(None, first))) == len(first):
        return None
    return _of_pivot(cells) or _of_groups(cells)


def with_names(columns: Sequence[str], below: Sequence[Sequence[str]]) -> list[str]:
    """Names by number for columns of cells that have none; an index, unnamed and first, needs none."""
    filled = {at for row in below for at, cell in enumerate(row) if cell.strip()}
    bare = [at for at, name in enumerate(columns) if not name.strip() and at in filled]
    return [f"column {at + 1}" if at in bare and bare != [0] else name for at, name in enumerate(columns)]


def _of_pivot(cells: Sequence[Sequence[str]]) -> Header | None:
    """Two levels of names, and below them a row with the names of the index alone."""
    if len(cells) < ROWS:
        return None
    over, names, index = cells
    labels = [cell for cell in index if cell]
    k = len(labels)
    if not 0 < k < len(index) or any(index[k:]) or not all(names[k:]):
        return None
    columns = (*labels, *_joined(over[k:], names[k:]))
    form = MARK.join(f"{{{role}}}" for level in (over[0], names[0]) if (role := _role(level)))
    told = form if form.count("{") == 2 and "{dimension}" in form and form.count("{dimension}") == 1 else None
    return Header(columns, ROWS, told, "The header is rows 1 to 3, joined.")


def _of_groups(cells: Sequence[Sequence[str]]) -> Header | None:
    """Groups over names; columns that label rows have a name in the first row alone."""
    over, names = cells[0], cells[1]
    k = next((place for place, name in enumerate(names) if name), 0)
    if not k or not all(names[k:]) or not all(over[:k]) or not over[k]:
        return None
    return Header((*over[:k], *_joined(over[k:], names[k:])), 2, None, "The header is rows 1 and 2, joined.")


def _joined(over: Sequence[str], names: Sequence[str]) -> list[str]:
    found, group = [], ""
    for above, name in zip(over, names, strict=True):
        group = above or group
        found.append(f"{group}{MARK}{name}")
    return found


def _role(level: str) -> str | None:
    """What a level of a pivot table holds, by the name of the column that it was."""
    plain = column_roles.plain_name(level)
    return next((role for role in ("annotator", "item", "dimension") if plain in column_roles.SYNONYMS[role]), None)
