"""Where the records of a delimited text begin and end, found on bytes, block by block.

Polars pads short rows and cuts long ones without a word; here every record's cells are counted first. Quoting follows
CSV: a separator or a line end between quotation marks belongs to the cell. Blank lines are no records.
Imports NumPy alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

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
    cells = _marks_between(mark, start, end) + 1
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


def _marks_between(mark: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """How many separators each record holds."""
    place = np.flatnonzero(mark)
    return np.asarray(np.searchsorted(place, end) - np.searchsorted(place, start))
