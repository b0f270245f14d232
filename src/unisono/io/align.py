"""Features, gold and references brought onto the clock of the ratings (or of a fused truth) they belong to.

features = align_to(read_item_table("features.csv"), ratings, hold=1.0, complete=True)
"""

from __future__ import annotations

import numpy as np

from unisono.data import Clock, ItemTable, Ratings
from unisono.errors import DataError
from unisono.io.reading.resample import SNAP, Grid, default_gap, on_grid

APART = 100.0  # clocks whose rates differ by more do not count the same time


def align_to(table: ItemTable, target: Ratings | ItemTable, *, hold: float = 0.0, complete: bool = False) -> ItemTable:
    """The table's numbers for every item, and every frame, of the target, in its order.

    Items that the table does not know are NaN, as are frames outside its times; for up to `hold` seconds before its
    first and after its last frame the nearest number holds. With `complete`, what is missing raises a DataError.
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
        value,
        items=target.items,
        columns=table.columns,
        length=target.length,
        clock=target.clock,
        source=table.source,
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
