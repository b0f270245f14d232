"""Times that cannot be what they seem: two units in one table, or the wrong unit for all of it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from unisono.errors import DataWarning
from unisono.io.reading import problems
from unisono.io.reading.rows import Rows

MIXED = 300.0  # steps that differ by so much, whether up or down, are milliseconds among seconds
LEAP = 900.0  # a step of so many ordinary ones is another unit, unless others' traces fill it
SLOW = 10.0  # seconds between frames that hardly any slider has


class Timed(Protocol):
    """A trace, as far as time goes."""

    @property
    def pair(self) -> int: ...
    @property
    def t(self) -> np.ndarray: ...


def refuse_mixed_units(rows: Rows, traces: Sequence[Timed], steps: np.ndarray) -> None:
    """Raises a DataError where one trace, or a part of it, runs a thousand times faster than the rest."""
    known = np.isfinite(steps)
    if not known.any():
        return
    usual = float(np.median(steps[known]))
    for index in np.flatnonzero(known).tolist():
        if not usual / MIXED < steps[index] < usual * MIXED:
            raise problems.mixed_units(rows.source, _who(rows, traces[index].pair), float(steps[index]), usual)
    _refuse_leaps(rows, traces, steps)


def warn_of_slow_clock(source: str, rate: float) -> None:
    """Milliseconds read as seconds make a very slow clock."""
    if 1 / rate >= SLOW:
        warnings.warn(
            f"{source}: {1 / rate:g} seconds lie between frames. If time is in milliseconds, say --time-unit ms.",
            DataWarning,
            stacklevel=7,
        )


def _refuse_leaps(rows: Rows, traces: Sequence[Timed], steps: np.ndarray) -> None:
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
            raise problems.leap(rows.source, _who(rows, traces[i].pair), leap[i], float(steps[i]))


def _who(rows: Rows, pair: int) -> str:
    if rows.annotators is None:
        return f"recording '{rows.items.labels[pair]}'"
    item, annotator = divmod(pair, len(rows.annotators.labels))
    return f"annotator '{rows.annotators.labels[annotator]}' on recording '{rows.items.labels[item]}'"
