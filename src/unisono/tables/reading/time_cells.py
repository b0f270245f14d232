"""Times in cells: seconds, clock times (`1:23`, `00:01:23.5`, `0 days 00:01:23`) and moments (ISO 8601 with a date).

Clock times are seconds from the start. Moments are seconds since the first one of their recording; where annotators
came one after the other, since the first one of their trace.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables.reading import label_and_number_columns, raw_table

_CLOCK = r"^(?:(\d+) days?,? )?(?:(\d+):)?(\d{1,3}):(\d{1,2}(?:[.,]\d+)?)$"
_MOMENT = (
    r"^(\d{4})-(\d{2})-(\d{2})[T ](\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?"
    r" ?(?:Z|UTC|([+-])(\d{2}):?(\d{2})?)?$"
)
_SECONDS = (86400.0, 3600.0, 60.0, 1.0)
APART = 2.0  # lengths of the longest trace that the traces of a recording fill, if annotators came one after the other


class TimeColumn(label_and_number_columns.NumberColumn):
    """Collects a column of times in seconds; `form` says what its cells are: numbers, clock or moments."""

    form = "numbers"

    def trouble(self, table: raw_table.Table, *, wanted: bool) -> DataError | None:
        cell = self._first.get("text")
        return super().trouble(table, wanted=wanted) if cell is None else self.no_time(table)

    def no_time(self, table: raw_table.Table) -> DataError:
        """What is wrong with the first cell that is no time."""
        place, cell = self._at(table, "text")
        return DataError(
            f"{place}'{cell}', which is no time. Write seconds, h:mm:ss as in 0:01:23.5, or moments as in "
            "2024-05-01T10:00:00. If the column is no time, call it otherwise."
        )

    def _second_reading(
        self, part: raw_table.Chunk, column: pl.Series, rows: np.ndarray, cells: pl.Series, decimal_comma: bool
    ) -> np.ndarray:
        value = super()._second_reading(part, column, rows, cells, decimal_comma)
        for form, read in (("clock", clock_seconds), ("moments", moment_seconds)):
            seconds = read(cells)
            found = np.isnan(value) & ~np.isnan(seconds)
            if found.any():
                self.form = form
                value[found] = seconds[found]
        return value


def clock_seconds(cells: pl.Series) -> np.ndarray:
    """Seconds of clock times; NaN of other cells."""
    parts = _groups(cells, _CLOCK)
    return np.asarray(
        sum(second * np.nan_to_num(part) for second, part in zip(_SECONDS, parts[:3], strict=False)) + parts[3]
    )


def moment_seconds(cells: pl.Series) -> np.ndarray:
    """Seconds since 1970 of moments; NaN of other cells, and of days that there are not."""
    groups = cells.str.extract_groups(_MOMENT).struct
    day = (groups[0] + "-" + groups[1] + "-" + groups[2]).str.to_date("%Y-%m-%d", strict=False)
    parts = _groups(cells, _MOMENT)
    east = np.where((groups[6] == "-").fill_null(False).to_numpy(), -1.0, 1.0)
    offset = east * (3600 * np.nan_to_num(parts[7]) + 60 * np.nan_to_num(parts[8]))
    days = np.array(day.cast(pl.Int32).cast(pl.Float64).to_numpy(), dtype=np.float64)
    return np.asarray(86400 * days + 3600 * parts[3] + 60 * parts[4] + np.nan_to_num(parts[5]) - offset)


def _groups(cells: pl.Series, pattern: str) -> list[np.ndarray]:
    """The groups of a pattern as numbers, NaN where there is none."""
    found = cells.str.extract_groups(pattern).struct
    texts = [found[name].str.replace(",", ".", literal=True) for name in found.fields]
    return [np.array(text.cast(pl.Float64, strict=False).to_numpy(), dtype=np.float64) for text in texts]


def looks_like_times(cells: pl.Series, *, moments: bool = True) -> bool:
    """Whether all cells are times that rise or fall somewhere."""
    if cells.dtype.is_numeric():
        return cells.n_unique() > 1
    if cells.dtype != pl.String:
        return False
    text = cells.drop_nulls().str.strip_chars()
    text = text.filter(text != "")
    value = np.array(text.cast(pl.Float64, strict=False).to_numpy(), dtype=np.float64)
    for read in (clock_seconds, moment_seconds) if moments else (clock_seconds,):
        value = np.where(np.isnan(value), read(text), value)
    return len(value) > 1 and not np.isnan(value).any() and bool(np.ptp(value) > 0)


def from_their_start(time: np.ndarray, item: np.ndarray, pair: np.ndarray) -> tuple[np.ndarray, str]:
    """Moments (rows,) as seconds since the first of their recording (or trace), and the sentence that says so."""
    own = time - _first(time, pair)
    together = time - _first(time, item)
    longest = -_first(-own, item)
    span = -_first(-together, item)
    if np.median(span / np.maximum(longest, 1e-9)) > APART:
        return np.round(own, 6), "Times are counted from the first moment of every trace."
    return np.round(together, 6), "Times are counted from the first moment of every recording."


def _first(time: np.ndarray, code: np.ndarray) -> np.ndarray:
    """(rows,) the first time of each row's group."""
    first = np.full(int(code.max()) + 1, np.inf)
    np.fmin.at(first, code, time)
    return np.asarray(first[code])
