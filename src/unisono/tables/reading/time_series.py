"""Traces from rows with a time column: units, order and overlaps are checked, and all traces brought to one clock.

    recording,time,annotator,valence,arousal

Rates, start times and jitter may differ between annotators and between dimensions; recordings may differ in length.
Missing stretches stay missing, except for gaps short enough to be interpolated. Two units of time in one table, or
the wrong unit for all of it, are told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError, DataWarning, warn
from unisono.tables.item_table import Clock, ItemTable
from unisono.tables.ratings import Ratings
from unisono.tables.reading.clock_alignment import Grid, common_rate, default_gap, grid_of, on_grid, ordinary_step
from unisono.tables.reading.table_rows import Rows, sorted_claims

MIXED = 300.0  # steps that differ by so much, whether up or down, are milliseconds among seconds
LEAP = 900.0  # a step of so many ordinary ones is another unit, unless others' traces fill it
SLOW = 10.0  # seconds between frames that hardly any slider has


def refuse_mixed_units(rows: Rows, traces: Sequence[SampledTrace], steps: np.ndarray) -> None:
    """Raises a DataError where one trace, or a part of it, runs a thousand times faster than the rest."""
    known = np.isfinite(steps)
    if not known.any():
        return
    usual = float(np.median(steps[known]))
    for index in np.flatnonzero(known).tolist():
        if not usual / MIXED < steps[index] < usual * MIXED:
            raise DataError(
                f"{rows.source}: {rows.who(traces[index].pair)} has steps of {steps[index]:g} s where {usual:g} s are "
                "usual. Put all times into one unit (--time-unit)."
            )
    _refuse_leaps(rows, traces, steps)


def warn_of_slow_clock(source: str, rate: float) -> None:
    """Milliseconds read as seconds make a very slow clock."""
    if 1 / rate >= SLOW:
        said = f"{source}: {1 / rate:g} seconds lie between frames. If time is in milliseconds: --time-unit ms."
        warn(said, DataWarning, stacklevel=7)


def _refuse_leaps(rows: Rows, traces: Sequence[SampledTrace], steps: np.ndarray) -> None:
    if rows.annotators is None:  # gold may well be known for a few stretches alone
        return
    leap = {i: float(np.diff(s.t).max()) for i, s in enumerate(traces) if len(s.t) > 1}
    suspects = [i for i, longest in leap.items() if longest >= LEAP * steps[i]]
    raters = len(rows.annotators.labels)
    for i in suspects:
        # Somebody who paused for long leaves the same leap, but others' traces reach as far as his does.
        others = [
            s.t[-1] for j, s in enumerate(traces) if j not in suspects and s.pair // raters == traces[i].pair // raters
        ]
        after = traces[i].t[int(np.argmax(np.diff(traces[i].t))) + 1]
        if not others or after > max(others) + SLOW:
            raise DataError(
                f"{rows.source}: in the trace of {rows.who(traces[i].pair)} time leaps by {leap[i]:g} s among steps "
                f"of {steps[i]:g} s, as if units were mixed. Put all times into one unit, or give the parts different "
                "names."
            )


# How many of each unit make a second; frames are counted at the rate that the user gives.
PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9, "min": 1 / 60, "h": 1 / 3600}
TIME_UNITS = (*PER_SECOND, "frames")


@dataclass(frozen=True)
class Timing:
    """What the user says about time."""

    unit: str | None = None  # one of TIME_UNITS; None: as the column's name says, else seconds
    rate: float | None = None  # frames per second of the common clock; None: the median rate of the traces
    max_gap: float | None = None  # seconds; None: one and a half ordinary steps of the trace


class SampledTrace(NamedTuple):
    """The samples of one annotator on one recording, for dimensions that were sampled together."""

    pair: int  # which (item, annotator)
    dimensions: list[int]
    t: np.ndarray  # (n,) seconds, increasing
    y: np.ndarray  # (n, len(dimensions))


def series_ratings(rows: Rows, timing: Timing) -> Ratings:
    """Ratings from rows of samples at times in the user's unit."""
    assert rows.annotators is not None
    value, pairs, clocked = _series(rows, timing, len(rows.annotators.labels))
    return Ratings.from_judgements(
        value,
        *np.divmod(pairs, len(rows.annotators.labels)),
        annotators=rows.annotators.labels,
        dimensions=rows.dimensions,
        scale=rows.given_scale,
        **clocked,
    )


def series_table(rows: Rows, timing: Timing) -> ItemTable:
    """Numbers per frame (features, gold, a reference) from rows of samples."""
    value, _, clocked = _series(rows, timing, 1)
    return ItemTable.from_rows(value, columns=rows.dimensions, **clocked)


def _series(rows: Rows, timing: Timing, raters: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Traces on their common clock, a block of frames (S, D) per pair; the pairs (J,), increasing; the recordings."""
    seconds = _seconds(rows, timing)
    order, _ = sorted_claims(rows.claim, seconds)
    _warn_of_disorder(rows, seconds)
    traces = list(_traces(rows, seconds, order))
    steps = np.array([ordinary_step(trace.t) for trace in traces])
    refuse_mixed_units(rows, traces, steps)
    rate = timing.rate or common_rate(steps)
    if timing.rate is None:
        warn_of_slow_clock(rows.source, rate)
    grids = _grids(traces, rate, len(rows.items.labels), raters)
    pairs = np.unique(rows.pair)
    length, clock = np.array([grid.length for grid in grids]), Clock(rate, np.array([grid.start for grid in grids]))
    frames = length[pairs // raters]
    begin = dict(zip(pairs.tolist(), (np.cumsum(frames) - frames).tolist(), strict=True))
    value = np.full((int(frames.sum()), len(rows.dimensions)), np.nan)
    for trace, step in zip(traces, steps, strict=True):
        grid, low = grids[trace.pair // raters], begin[trace.pair]
        gap = default_gap(step, rate) if timing.max_gap is None else timing.max_gap
        value[low : low + grid.length, trace.dimensions] = on_grid(trace.t, trace.y, grid, rate, gap)
    return value, pairs, {"items": rows.items.labels, "length": length, "clock": clock, "source": rows.source}


def _seconds(rows: Rows, timing: Timing) -> np.ndarray:
    assert rows.time is not None
    if timing.unit == "frames":
        if timing.rate is None:
            raise DataError(f"{rows.source}: time is counted in frames. Say how many make a second with --rate HZ.")
        return rows.time / timing.rate
    return rows.time / PER_SECOND[timing.unit or "s"]


def _warn_of_disorder(rows: Rows, seconds: np.ndarray) -> None:
    order = np.argsort(rows.claim, kind="stable")
    back = np.flatnonzero((np.diff(rows.claim[order]) == 0) & (np.diff(seconds[order]) < 0))
    if len(back):
        row = int(order[back + 1].min())
        warn(f"{rows.where(row)}: time goes back within a trace. Rows were sorted by time.", DataWarning, stacklevel=6)


def _traces(rows: Rows, seconds: np.ndarray, order: np.ndarray) -> Iterator[SampledTrace]:
    """The samples of every (item, annotator), dimensions together where they were sampled together.

    `order` sorts the rows by claim and time, and so by pair and time within a dimension.
    """
    pair = rows.pair
    together: dict[int, list[tuple[int, np.ndarray, np.ndarray]]] = {}
    for d in range(len(rows.dimensions)):
        number = rows.numbers(d)[order]
        index, number = order[~np.isnan(number)], number[~np.isnan(number)]
        cut = np.flatnonzero(np.diff(pair[index])) + 1
        for where, y in zip(np.split(index, cut), np.split(number, cut), strict=True):
            if len(where):
                together.setdefault(int(pair[where[0]]), []).append((d, seconds[where], y))
    for key in sorted(together):
        yield from _joined(key, together[key])


def _joined(pair: int, parts: list[tuple[int, np.ndarray, np.ndarray]]) -> Iterator[SampledTrace]:
    """Dimensions with the very same times as one trace, which is resampled in one go."""
    groups: list[tuple[np.ndarray, list[int], list[np.ndarray]]] = []
    for d, t, y in parts:
        for times, dimensions, columns in groups:
            if np.array_equal(times, t):
                dimensions.append(d)
                columns.append(y)
                break
        else:
            groups.append((t, [d], [y]))
    for times, dimensions, columns in groups:
        yield SampledTrace(pair, dimensions, times, np.stack(columns, axis=1))


def _grids(traces: list[SampledTrace], rate: float, items: int, raters: int) -> list[Grid]:
    """The ticks of every item; one tick for an item without a single number."""
    of_item: list[list[SampledTrace]] = [[] for _ in range(items)]
    for trace in traces:
        of_item[trace.pair // raters].append(trace)
    return [
        grid_of(np.array([s.t[0] for s in group]), np.array([s.t[-1] for s in group]), rate) if group else Grid(0.0, 1)
        for group in of_item
    ]
