"""Delays of annotators and the memory of the truth, by what annotators say of each other.

One delay per annotator, or one per dimension too: with everybody's gain and noise held, the part of the log-likelihood
that depends on a delay is a cross-correlation,
    kappa sum_t V l_k course_k[t + lag] S_-k[t],  l = g / s2,  V = 1 / (1/A + Q),  S_-k = the others' sum of l course,
summed over dimensions, less the prior of the delay. One delay after the other goes to its greatest value, which raises
the same function every time: the search ends when nobody moves.

Memory: how slowly the truth is to be taken to change, as slowly as predicts annotators who were left out best. The
smoother takes errors for new in every frame. Where they last, averaging over the same frames is worth less than it
thinks, and a truth that moves as fast as traces do would follow their errors. What counts is how far to smooth; and
where annotators err independently, the course that is nearest to the truth is the one that is nearest to an annotator
it was fused without,
    sum_t (w_k[t] - c g_k x_-k[t])^2 / s2_k,   x_-k smoothed with this memory, c the best common factor.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from scipy.linalg import solveh_banded

from unisono.maths.series import trace_priors
from unisono.maths.series.trace_frames import Hands, aligned, delay_evidence
from unisono.maths.series.trace_parts import Courses, Part, Parts

ROUNDS = 50  # at most; frames at the edges of recordings can make two delays take turns


class Looks:
    """What frames say of delays, remembered: searches go the same ways, and some take turns to their end.

    hands: gains and noise of the annotators of every dimension, which are held; delays within +-most frames.
    """

    def __init__(self, parts: Parts, hands: tuple[Hands, ...], most: int) -> None:
        self.most, self._parts, self._hands = most, parts, hands
        self._seen: dict[tuple[int, int, bytes], np.ndarray] = {}

    def at(self, k: int, lag: np.ndarray, dimensions: tuple[int, ...]) -> np.ndarray:
        """(n, 2 most + 1) evidence of these dimensions on the delay of annotator k, with the others at lag (K,)."""
        others = np.where(np.arange(len(lag)) == k, 0, lag)
        key = blake2b(others.tobytes(), digest_size=16).digest()  # of many annotators, delays themselves are long
        new = tuple(d for d in dimensions if (k, d, key) not in self._seen)
        if new:
            hands = tuple(self._hands[d]._replace(lag=others) for d in new)
            found = np.sum(self._parts.map(delay_evidence, new, hands, k, self.most), axis=0)
            self._seen |= {(k, d, key): own for d, own in zip(new, found, strict=True)}
        return np.stack([self._seen[k, d, key] for d in dimensions])


class Delays(NamedTuple):
    lag: np.ndarray  # (K,) frames around a median of 0
    grid: np.ndarray  # (n,) delays tried
    profile: np.ndarray  # (K, n) log posterior of each, the others held, up to a constant
    settled: bool


def common_delays(
    looks: Looks,
    kappa: dict[int, float],
    group: np.ndarray,
    rate: float,
    *,
    around: np.ndarray | None = None,
    order: np.ndarray | None = None,
    on_delay: Callable[[int, int], None] | None = None,
) -> Delays:
    """Relative delays. kappa: what a frame counts for on the dimensions that are asked: as much of it as errors are new
    in every frame. group: (K,) who shares recordings, directly or not.

    around: (K,) delays on all dimensions, where those of one of them are looked for. order: (K,) in which annotators
    are looked at.
    """  # eq. S41
    K, most, grid = len(group), looks.most, np.arange(-looks.most, looks.most + 1)
    sd, middle = trace_priors.DIMENSION_DELAY_SD, around
    if middle is None:
        sd, middle = trace_priors.DELAY_SD, np.zeros(K, dtype=np.int64)
    prior = -(((grid - middle[:, None]) / rate) ** 2) / (2.0 * sd**2)
    lag, profile = middle.copy(), np.zeros((K, len(grid)))
    if most == 0:
        return Delays(lag, grid, profile, True)
    dimensions, counts = tuple(kappa), np.array(list(kappa.values()))
    settled = False
    for turn in range(ROUNDS):
        before = lag.copy()
        for i, k in enumerate(range(K) if order is None else order.tolist()):
            profile[k] = counts @ looks.at(k, lag, dimensions) + prior[k]
            lag[k] = int(grid[np.argmax(profile[k])])
            if on_delay is not None:
                on_delay(turn * K + i + 1, (turn + 1) * K)
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


OCTAVES = np.arange(-5, 7)  # of memories that are tried, around the usual one: 2 seconds to an hour


def truth_memory(parts: Parts, hands: tuple[Hands, ...], kappa: np.ndarray, rate: float) -> float:
    """Seconds: the posterior mean of their logarithm, over memories an octave apart.

    kappa: (D,) what a frame counts for, see `counted_frames`.
    """  # eq. S52
    octaves = np.log(2.0) * OCTAVES
    cross, square = np.sum(parts.map(left_out_fits, hands, autocorrelations(rate)), axis=0)
    told = np.where(square > 0, np.maximum(cross, 0.0) ** 2 / np.where(square > 0, square, 1.0), 0.0)
    log = 0.5 * kappa @ told - 0.5 * (octaves / trace_priors.MEMORY_SD) ** 2
    weight = np.exp(log - log.max())
    return float(trace_priors.MEMORY * np.exp(weight @ octaves / weight.sum()))


def autocorrelation(rate: float, memory: float) -> float:
    """phi: of neighbouring frames, at so many a second, of a truth that remembers for so many seconds."""
    return float(np.exp(-1.0 / (rate * memory)))


def autocorrelations(rate: float) -> np.ndarray:
    """(n,) of neighbouring frames of the truth, for every memory that is tried."""
    return np.array([autocorrelation(rate, trace_priors.MEMORY * 2.0**octave) for octave in OCTAVES.tolist()])


def left_out_fits(part: Part, hands: tuple[Hands, ...], phi: np.ndarray) -> np.ndarray:
    """(2, D, n) sums over annotators and frames of l w x_-k and of q x_-k^2, for every autocorrelation of the truth."""
    out = np.zeros((2, len(hands), len(phi)))
    for dims in part.courses:
        for d, hand in enumerate(hands):
            courses = aligned(dims[d], hand)
            if len(courses.who) > 1:
                out[:, d] += _left_out_fit(courses, hand, phi)
    return out


def _left_out_fit(courses: Courses, hand: Hands, phi: np.ndarray) -> np.ndarray:
    """(2, n) of one recording and dimension."""
    q = hand.precision[courses.who][:, None] * courses.seen
    said = hand.weight[courses.who][:, None] * courses.value
    Q, S, out = q.sum(axis=0), said.sum(axis=0), np.zeros((2, len(phi)))
    for i, seen in enumerate(courses.seen):
        others = np.maximum(Q - q[i], 0.0), S - said[i]
        for j, one in enumerate(phi.tolist()):
            x = smoothed(*others, hand.A, one)[seen]
            out[:, j] += said[i, seen] @ x, q[i, seen] @ (x * x)
    return out


def smoothed(Q: np.ndarray, S: np.ndarray, A: float, phi: float) -> np.ndarray:
    """(T,) posterior mean of a truth of variance A, of whose frames S is said with precision Q."""
    own = 1.0 / (A * (1.0 - phi**2))
    band = np.zeros((2, len(Q)))
    band[0] = Q + (1.0 + phi**2) * own
    band[0, [0, -1]] -= phi**2 * own
    band[1, :-1] = -phi * own
    if len(Q) == 1:
        return np.asarray(S / (Q + 1.0 / A))
    return np.asarray(solveh_banded(band, S, lower=True, check_finite=False))
