"""Traces, features, gold and references on a common clock.

    features = align_to(read_item_table("features.csv"), ratings, hold=1.0, complete=True)

Between two samples a trace is interpolated linearly, unless they lie too far apart; outside its samples nothing is
known. A sample that all but coincides with a tick is copied, so that data already on the clock do not change.

Symbols: t times of samples (n,), y their values (n, C), rate ticks per second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.tables.item_table import Clock, ItemTable
from unisono.tables.ratings import Ratings

SNAP = 0.05  # of a tick: covers times rounded to milliseconds up to 100 Hz
SLACK = 1.5  # a gap of up to so many ordinary steps is jitter, not a gap
_ROUND = 2e-4  # a rate this close to a whole number, or to a whole number of seconds, is meant to be it


class Grid(NamedTuple):
    """The ticks of one recording: start + i / rate for i below length."""

    start: float
    length: int


def ordinary_step(t: np.ndarray) -> float:
    """The mean of the steps that are about as long as the median: neither gaps nor rounding move it."""
    if len(t) < 2:
        return float("nan")
    step = np.diff(t)
    usual = step[np.abs(step - np.median(step)) <= 0.5 * np.median(step)]
    return float(usual.mean())


def common_rate(steps: np.ndarray) -> float:
    """Ticks per second: the median of the traces' own rates, the lower of two in the middle. 1 if there is none."""
    known = np.sort(steps[np.isfinite(steps)])
    if not len(known):
        return 1.0
    return _rounded(1.0 / float(known[len(known) // 2]))


def grid_of(first: np.ndarray, last: np.ndarray, rate: float) -> Grid:
    """Ticks from the first to the last sample of a recording, in step with as many of its traces as possible.

    `first` and `last` are the times (traces,) at which each trace begins and ends.
    """
    phase = _common_phase(np.sort(first), rate)
    low = int(np.ceil(first.min() * rate - phase - SNAP))
    high = int(np.floor(last.max() * rate - phase + SNAP))
    return Grid((low + phase) / rate, max(high - low + 1, 1))


def on_grid(t: np.ndarray, y: np.ndarray, grid: Grid, rate: float, max_gap: float) -> np.ndarray:
    """(length, C) the trace at the ticks; NaN outside its samples and in gaps longer than `max_gap` seconds."""
    out = np.full((grid.length, y.shape[1]), np.nan)
    if not len(t):
        return out
    where = (t - grid.start) * rate  # samples, counted in ticks
    low = max(int(np.ceil(where[0] - SNAP)), 0)
    high = min(int(np.floor(where[-1] + SNAP)), grid.length - 1)
    tick = np.arange(low, high + 1)
    right = np.clip(np.searchsorted(where, tick), 1, max(len(t) - 1, 1))
    left = np.minimum(right - 1, len(t) - 1)
    right = np.minimum(right, len(t) - 1)
    out[low : high + 1] = _between(where, y, tick, left, right, max_gap * rate)
    return out


def default_gap(step: float, rate: float) -> float:
    """The longest gap in seconds to draw a line across: jitter of the trace, or less than the clock can see."""
    return SLACK * max(step if np.isfinite(step) else 0.0, 1.0 / rate)


def _between(
    where: np.ndarray, y: np.ndarray, tick: np.ndarray, left: np.ndarray, right: np.ndarray, most: float
) -> np.ndarray:
    """Values at the ticks from the samples on either side, which lie at most `most` ticks apart."""
    gap = where[right] - where[left]
    weight = np.clip((tick - where[left]) / np.where(gap > 0, gap, 1.0), 0.0, 1.0)[:, None]
    value: np.ndarray = (1 - weight) * y[left] + weight * y[right]
    value[gap > most * (1 + 1e-9)] = np.nan
    nearest = np.where(weight[:, 0] < 0.5, left, right)
    close = np.abs(where[nearest] - tick) <= SNAP
    value[close] = y[nearest[close]]
    return value


def _common_phase(first: np.ndarray, rate: float) -> float:
    """Where within a tick most traces begin, between 0 and 1; `first` is sorted."""
    phase = np.mod(first * rate, 1.0)
    bins = np.round(phase * 100).astype(np.int64) % 100
    counts = np.bincount(bins, minlength=100)
    # Of equally common phases the one of the earliest trace.
    chosen = bins[np.argmax(counts[bins])]
    found = float(phase[np.argmax(bins == chosen)])
    return 0.0 if min(found, 1.0 - found) < 1e-6 else found


def _rounded(rate: float) -> float:
    for whole in (float(round(rate)), 1.0 / max(round(1.0 / rate), 1)):
        if whole > 0 and abs(rate - whole) <= _ROUND * whole:
            return whole
    return float(f"{rate:.9g}")


APART = 100.0  # clocks whose rates differ by more do not count the same time


def align_to(table: ItemTable, target: Ratings | ItemTable, *, hold: float = 0.0, complete: bool = False) -> ItemTable:
    """The table's numbers for every item, and every frame, of the target, in its order.

    Parameters
    ----------
    table : ItemTable
        Features, gold or a reference on a clock of their own.
    target : Ratings or ItemTable
        Whose items and frames are wanted.
    hold : float
        Seconds before its first and after its last frame for which the nearest number holds.
    complete : bool
        Whether what is missing is refused.

    Returns
    -------
    ItemTable
        NaN for items that the table does not know and frames outside its times.

    Raises
    ------
    DataError
        One is of items and the other of traces; or, with `complete`, something is missing.

    Examples
    --------
    >>> import unisono as un
    >>> ratings = un.load_dataset("green_intensity")
    >>> known = un.align_to(un.load_dataset_table("green_intensity", "reference"), ratings)
    >>> len(known.value) == int(ratings.length.sum())
    True
    """
    _refuse_other_kind(table, target)
    if complete:
        table.select_items(target.items)  # raises, naming the items that are missing
    place = table.place()
    value = np.full((int(target.length.sum()), table.P), np.nan)
    begin, first = _starts(target.length), _starts(table.length)
    for m, item in enumerate(target.items):
        if item in place:
            i = place[item]
            rows = table.value[first[i] : first[i] + table.length[i]]
            value[begin[m] : begin[m] + target.length[m]] = _frames(rows, table, i, target, m, hold)
    if complete:
        _refuse_missing(value, table, target)
    return ItemTable.from_rows(
        value, items=target.items, columns=table.columns, length=target.length, clock=target.clock, source=table.source
    )


def _frames(rows: np.ndarray, table: ItemTable, i: int, target: Ratings | ItemTable, m: int, hold: float) -> np.ndarray:
    """(T_m, P) the rows of one item at the frames of the target."""
    if table.clock is None or target.clock is None:
        return rows
    rate = target.clock.rate
    t = table.clock.start[i] + np.arange(len(rows)) / table.clock.rate
    grid = Grid(float(target.clock.start[m]), int(target.length[m]))
    gap = default_gap(1 / table.clock.rate, rate)
    out = np.full((grid.length, rows.shape[1]), np.nan)
    for column in range(rows.shape[1]):
        known = ~np.isnan(rows[:, column])
        if known.any():
            y = rows[known, column]
            out[:, column] = on_grid(t[known], y[:, None], grid, rate, gap)[:, 0]
            _hold(out[:, column], t[known], y, grid, rate, hold)
    return out


def _hold(out: np.ndarray, t: np.ndarray, y: np.ndarray, grid: Grid, rate: float, hold: float) -> None:
    """Carries the first number back and the last one on, for at most `hold` seconds."""
    ticks = grid.start + np.arange(grid.length) / rate
    slack = hold + SNAP / rate
    out[np.isnan(out) & (ticks < t[0]) & (ticks >= t[0] - slack)] = y[0]
    out[np.isnan(out) & (ticks > t[-1]) & (ticks <= t[-1] + slack)] = y[-1]


def _refuse_other_kind(table: ItemTable, target: Ratings | ItemTable) -> None:
    if (table.clock is None) != (target.clock is None):
        timed, plain = (target.source, table.source) if table.clock is None else (table.source, target.source)
        raise DataError(f"{timed} has a time column but {plain} has none. Both must be series, or neither.")
    if table.clock is not None and target.clock is not None:
        ratio = table.clock.rate / target.clock.rate
        if not 1 / APART < ratio < APART:
            raise DataError(
                f"{table.source} has {table.clock.rate:g} frames per second, {target.source} {target.clock.rate:g}: "
                "they are on different clocks. Put their times into one unit."
            )


def _refuse_missing(value: np.ndarray, table: ItemTable, target: Ratings | ItemTable) -> None:
    missing = np.isnan(value)
    if not missing.any():
        return
    row, column = (int(index) for index in np.argwhere(missing)[0])
    begin = _starts(target.length)
    m = int(np.searchsorted(begin, row, side="right")) - 1
    item, name = target.items[m], table.columns[column]
    if target.clock is None or table.clock is None:
        raise DataError(f"{table.source}: item '{item}' has no {name}. Fill the cell, or leave the column out.")
    i = table.place()[item]
    raise DataError(
        f"{table.source}: recording '{item}' has no {name} at {_seconds(target.clock, m, row - int(begin[m])):g} s. "
        f"It covers {_extent(table.clock, table.length, i)}, while {target.source} covers "
        f"{_extent(target.clock, target.length, m)}. Look whether both count time from the same moment."
    )


def _extent(clock: Clock, length: np.ndarray, m: int) -> str:
    return f"{_seconds(clock, m, 0):g} to {_seconds(clock, m, int(length[m]) - 1):g} s"


def _seconds(clock: Clock, m: int, frame: int) -> float:
    return float(clock.start[m] + frame / clock.rate)


def _starts(length: np.ndarray) -> np.ndarray:
    return np.asarray(np.cumsum(length) - length)
