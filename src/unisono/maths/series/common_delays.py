"""One delay per annotator, or one per dimension too, against what the others say: a search that settles, and intervals.

With everybody's gain and noise held, the part of the log-likelihood that depends on a delay is a cross-correlation,
    kappa sum_t V l_k course_k[t + lag] S_-k[t],  l = g / s2,  V = 1 / (1/A + Q),  S_-k = the others' sum of l course,
summed over dimensions, less the prior of the delay. One delay after the other goes to its greatest value, which raises
the same function every time: the search ends when nobody moves.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unisono.maths.series.frames import delay_evidence
from unisono.maths.series.parts import Parts
from unisono.maths.series.priors import DELAY_SD, DIMENSION_DELAY_SD
from unisono.maths.series.tracers import Tracers, hands_of
from unisono.maths.series.two_scales import TwoScales

ROUNDS = 50  # at most; frames at the edges of recordings can make two delays take turns


class Known(NamedTuple):
    """One dimension, with what is known of its annotators."""

    dimension: int

    scales: TwoScales
    tracers: Tracers
    kappa: float  # what a frame counts for: as much of it as errors are new in every frame


class Delays(NamedTuple):
    lag: np.ndarray  # (K,) frames around a median of 0
    grid: np.ndarray  # (n,) delays tried
    profile: np.ndarray  # (K, n) log posterior of each, the others held, up to a constant
    settled: bool


def common_delays(
    parts: Parts,
    known: list[Known],
    group: np.ndarray,
    rate: float,
    most: int,
    *,
    around: np.ndarray | None = None,
    on_delay: Callable[[int, int], None] | None = None,
) -> Delays:
    """Relative delays within +-most frames. group: (K,) who shares recordings, directly or not.

    around: (K,) delays on all dimensions, where those of one of them are looked for.
    """  # eq. S41
    K, grid = len(group), np.arange(-most, most + 1)
    sd, middle = (DELAY_SD, np.zeros(K, dtype=np.int64)) if around is None else (DIMENSION_DELAY_SD, around)
    prior = -(((grid - middle[:, None]) / rate) ** 2) / (2.0 * sd**2)
    lag, profile = middle.copy(), np.zeros((K, len(grid)))
    if most == 0:
        return Delays(lag, grid, profile, True)
    dimensions, kappa = tuple(one.dimension for one in known), tuple(one.kappa for one in known)
    settled = False
    for turn in range(ROUNDS):
        before = lag.copy()
        for k in range(K):
            hands = tuple(hands_of(one.scales, one.tracers, lag) for one in known)
            found = parts.map(delay_evidence, dimensions, hands, kappa, k, most)
            profile[k] = np.sum(found, axis=0) + prior[k]
            lag[k] = int(grid[np.argmax(profile[k])])
            if on_delay is not None:
                on_delay(turn * K + k + 1, (turn + 1) * K)
        for g in np.unique(group) if around is None else ():
            lag[group == g] -= int(np.round(np.median(lag[group == g])))
        lag = np.clip(lag, -most, most)
        settled = bool(np.array_equal(lag, before))
        if settled:
            break
    return Delays(lag, grid, profile, settled)


def delay_interval(delays: Delays, level: float) -> np.ndarray:
    """(K, 2) ends of the central interval of each delay's posterior over the grid, in frames."""
    weight = np.exp(delays.profile - delays.profile.max(axis=1, keepdims=True))
    cumulative = np.cumsum(weight, axis=1) / weight.sum(axis=1, keepdims=True)
    tail = 0.5 * (1.0 - level)
    ends = [[np.searchsorted(row, [tail, 1.0 - tail])] for row in cumulative]
    return np.asarray(delays.grid[np.minimum(np.concatenate(ends), len(delays.grid) - 1)], dtype=float)


def delay_variance(delays: Delays) -> np.ndarray:
    """(K,) of each delay's posterior, in frames^2."""
    weight = np.exp(delays.profile - delays.profile.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    mean = weight @ delays.grid
    return np.asarray(weight @ (delays.grid.astype(float) ** 2) - mean**2)
