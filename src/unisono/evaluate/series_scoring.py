"""Scores of a fused series beyond those of its frames end to end: recording by recording, and at the best lag.

Where the truth lies in time is partly a convention: a figure at the best common lag says what the shape is worth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unisono.data import ItemTable
from unisono.maths.metrics import ccc, pearson
from unisono.maths.series.align import advanced

REACH = 5.0  # seconds either way
STEPS = 100  # lags tried either way, at most


@dataclass(frozen=True)
class RecordingScore:
    """One dimension of one recording."""

    recording: str
    name: str
    n: int
    ccc: float
    pearson: float


@dataclass(frozen=True)
class LagScore:
    """One dimension at the lag that suits it best, the same in every recording."""

    name: str
    lag: float  # seconds by which the estimate is late behind the reference; negative: early
    ccc: float
    pearson: float


def recording_scores(estimate: ItemTable, reference: ItemTable) -> tuple[RecordingScore, ...]:
    """Every recording and dimension by itself; both tables have the same recordings, frames and columns."""
    first = np.concatenate([[0], np.cumsum(estimate.length)])
    found = []
    for m, item in enumerate(estimate.items):
        rows = slice(first[m], first[m + 1])
        for d, name in enumerate(estimate.columns):
            x, y = estimate.value[rows, d], reference.value[rows, d]
            n = int(np.count_nonzero(~(np.isnan(x) | np.isnan(y))))
            found.append(RecordingScore(item, name, n, ccc(x, y), pearson(x, y)))
    return tuple(found)


def best_lags(estimate: ItemTable, reference: ItemTable) -> tuple[LagScore, ...]:
    """The lag within 5 seconds with the highest Pearson, dimension by dimension, all recordings end to end."""
    assert estimate.clock is not None
    rate, longest = estimate.clock.rate, int(estimate.length.max())
    reach = min(round(REACH * rate), longest // 4)
    stride = max(-(-reach // STEPS), 1)
    steps = np.arange(-(reach // stride), reach // stride + 1) * stride
    found = []
    for d, name in enumerate(estimate.columns):
        moved = [_advanced(estimate.value[:, d], estimate.length, int(step)) for step in steps]
        score = np.array([pearson(x, reference.value[:, d]) for x in moved])
        # Of equal figures the smallest shift counts; without any, none.
        order = np.argsort(np.abs(steps), kind="stable")
        best = order[int(np.argmax(np.nan_to_num(score[order], nan=-2.0)))]
        figures = ccc(moved[best], reference.value[:, d]), float(score[best])
        found.append(LagScore(name, float(steps[best] / rate), *figures))
    return tuple(found)


def _advanced(x: np.ndarray, length: np.ndarray, step: int) -> np.ndarray:
    """Every recording moved `step` frames towards the past."""
    return np.concatenate([advanced(part, step) for part in np.split(x, np.cumsum(length)[:-1])])
