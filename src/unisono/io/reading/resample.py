"""Clock work: from samples at any times to the ticks of one clock. Arrays in, arrays out.

A trace is what one annotator drew on one dimension of one recording. Between two samples it is taken to be a straight
line, unless they lie too far apart; outside its samples nothing is known. A sample that all but coincides with a tick
is copied, so that data already on the clock come out as they went in.

Symbols: t times of samples (n,), y their values (n, C), rate ticks per second. Imports NumPy alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
