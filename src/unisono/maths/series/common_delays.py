"""One delay per annotator, or one per dimension too, against what the others say: a search that settles, and intervals.

With everybody's gain and noise held, the part of the log-likelihood that depends on a delay is a cross-correlation,
    kappa sum_t V l_k course_k[t + lag] S_-k[t],  l = g / s2,  V = 1 / (1/A + Q),  S_-k = the others' sum of l course,
summed over dimensions, less the prior of the delay. One delay after the other goes to its greatest value, which raises
the same function every time: the search ends when nobody moves.
Imports NumPy, SciPy and the sibling modules alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import fft

from unisono.maths.series.priors import DELAY_SD, DIMENSION_DELAY_SD
from unisono.maths.series.tracers import Sums, Tracers
from unisono.maths.series.two_scales import TwoScales, placed, stretches

ROUNDS = 50  # at most; frames at the edges of recordings can make two delays take turns


class Part(NamedTuple):
    """One dimension, with what is known of its annotators."""

    scales: TwoScales
    tracers: Tracers
    kappa: float  # what a frame counts for: as much of it as errors are new in every frame


class Delays(NamedTuple):
    lag: np.ndarray  # (K,) frames around a median of 0
    grid: np.ndarray  # (n,) delays tried
    profile: np.ndarray  # (K, n) log posterior of each, the others held, up to a constant
    settled: bool


def common_delays(
    parts: list[Part],
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
    courses = [_spectra(part.scales, K) for part in parts]
    settled = False
    for turn in range(ROUNDS):
        before = lag.copy()
        sums = [Sums(part.scales, placed(part.scales, lag), part.tracers) for part in parts]
        for k in range(K):
            found = sum(
                (_evidence(part, own, k, course, most) for part, own, course in zip(parts, sums, courses, strict=True)),
                np.zeros(len(grid)),
            )
            profile[k] = found + prior[k]
            there = int(grid[np.argmax(profile[k])])
            if there != lag[k]:
                lag[k] = there
                sums = [Sums(part.scales, placed(part.scales, lag), part.tracers) for part in parts]
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


def _spectra(scales: TwoScales, K: int) -> list[list[tuple[int, int, np.ndarray]]]:
    """For every annotator and recording: number of the recording, length of the transform, transform of the course."""
    out: list[list[tuple[int, int, np.ndarray]]] = [[] for _ in range(K)]
    length, recording = np.diff(scales.first), scales.recording
    for k, own in enumerate(scales.of_annotator):
        if scales.flat[k]:
            continue
        for run in stretches(recording[own]):
            here = own[run]
            m = int(recording[here[0]])
            course = np.zeros(int(length[m]))
            course[scales.frame[here]] = scales.course[here]
            n = fft.next_fast_len(2 * len(course), real=True)
            out[k].append((m, n, fft.rfft(course, n)))
    return out


def _evidence(
    part: Part, sums: Sums, k: int, spectra: list[list[tuple[int, int, np.ndarray]]], most: int
) -> np.ndarray:
    """(2 most + 1,) what one dimension says of the delay of annotator k, by delay."""
    scales, now = part.scales, part.tracers
    total = np.zeros(2 * most + 1)
    weight = now.gain[k] / now.noise[k]
    own = np.zeros(int(scales.first[-1]))
    own[sums.place.frame[k]] = scales.course[sums.place.row[k]]
    q = now.gain[k] ** 2 / now.noise[k]
    Q = sums.Q.copy()
    Q[sums.place.frame[k]] -= q
    others = (sums.S - weight * own) / (1.0 / now.A + Q + q)
    for m, n, spectrum in spectra[k]:
        there = others[scales.first[m] : scales.first[m + 1]]
        cross = fft.irfft(spectrum * np.conj(fft.rfft(there, n)), n)
        reach = min(most, len(there) - 1)
        total[most : most + reach + 1] += cross[: reach + 1]
        total[most - reach : most] += cross[n - reach : n]
    return np.asarray(part.kappa * weight * total)
