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
import scipy
from scipy.linalg import solveh_banded

from unisono.maths.series import trace_priors
from unisono.maths.series.trace_frames import Hands, aligned, delay_evidence, delay_scores
from unisono.maths.series.trace_parts import Courses, Part, Parts

ROUNDS = 50  # numerical: at most; frames at the edges of recordings can make two delays take turns
FINE = 20.0  # numerical: delays a second that are told apart, or so
BETWEEN_FRAMES = 12  # numerical: steps of half the way
BLOCK = 20.0  # choice: seconds: what neighbouring blocks say of a delay is hardly alike


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
    lag = middle.copy()
    if most == 0:
        return Delays(lag, True)
    dimensions, counts = tuple(kappa), np.array(list(kappa.values()))
    settled = False
    for turn in range(ROUNDS):
        before = lag.copy()
        for i, k in enumerate(range(K) if order is None else order.tolist()):
            lag[k] = int(grid[np.argmax(counts @ looks.at(k, lag, dimensions) + prior[k])])
            if on_delay is not None:
                on_delay(turn * K + i + 1, (turn + 1) * K)
        for g in np.unique(group) if around is None else ():
            lag[group == g] -= int(np.round(np.median(lag[group == g])))
        lag = np.clip(lag, -most, most)
        settled = bool(np.array_equal(lag, before))
        if settled:
            break
    return Delays(lag, settled)


class DelayPosterior(NamedTuple):
    """What is known of the delay of every annotator on every dimension, beside the average annotator's."""

    grid: np.ndarray  # (n,) delays in frames
    weight: np.ndarray  # (K, D, n) probabilities

    @property
    def mean(self) -> np.ndarray:
        """(K, D) frames."""
        return np.asarray(self.weight @ self.grid)

    @property
    def variance(self) -> np.ndarray:
        """(K, D) frames^2."""
        return np.asarray(self.weight @ self.grid**2 - self.mean**2)

    def interval(self, level: float) -> np.ndarray:
        """(K, D, 2) ends of the central interval, in frames."""
        passed = np.cumsum(self.weight, axis=2) - 0.5 * self.weight
        tails = 0.5 * (1.0 + level * np.array([-1.0, 1.0]))
        return np.array([[np.interp(tails, one, self.grid) for one in row] for row in passed])


def delay_posterior(
    looks: Looks, kappa: dict[int, float], lags: list[np.ndarray], group: np.ndarray, rate: float
) -> DelayPosterior:
    """Of delays finer than frames: evidence that is sampled once a frame is a smooth curve between them.

    kappa: what a frame counts for. lags: (K,) of every dimension, whole frames, where the others were held; that they
    belong between frames moves the curve as far. group: as above. Delays on single dimensions lie around a common one,
    of which every dimension passes on what it says.
    """  # eq. S56
    K, D, most = len(group), len(kappa), looks.most
    if most == 0:
        return DelayPosterior(np.zeros(1), np.ones((K, D, 1)))
    fine = max(int(np.ceil(FINE / rate)), 1)
    frames, grid = np.arange(-most, most + 1), np.arange(-most * fine, most * fine + 1) / fine
    curves = [
        [scipy.interpolate.CubicSpline(frames, share * looks.at(k, lags[d], (d,))[0]) for d, share in kappa.items()]
        for k in range(K)
    ]
    others, whole, off = _others_in(group), np.stack(lags, axis=1), np.zeros((K, D))
    for _ in range(BETWEEN_FRAMES):
        at = np.clip(grid + off[:, :, None], -most, most)
        said = np.array([[curve(x) for curve, x in zip(*own, strict=True)] for own in zip(curves, at, strict=True)])
        known = DelayPosterior(grid, _shares(_with_prior(said, grid / rate)))
        told = _precision_told(known.variance / rate**2)
        beside = others @ told
        off += 0.5 * ((others @ (told * (whole - known.mean))) / np.where(beside > 0, beside, 1.0) - off)
    among = np.ones((K, D))
    for g in np.unique(group):
        among[group == g] = precision_among_all(known.variance[group == g] / rate**2)
    return known._replace(weight=_shares(_with_prior(said, grid / rate) * among[:, :, None]))


def _others_in(group: np.ndarray) -> np.ndarray:
    """(K, K) 1 for everybody else in the group of each."""
    return np.asarray((group[:, None] == group) - np.eye(len(group)))


def _with_prior(said: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """(K, D, n) log posterior of delays, with everybody else held, given what every dimension says."""
    before = -0.5 * (seconds / trace_priors.DELAY_SD) ** 2
    if said.shape[1] == 1:
        return np.asarray(said + before)
    around = np.exp(-0.5 * ((seconds[:, None] - seconds) / trace_priors.DIMENSION_DELAY_SD) ** 2)
    passed = _passed_on(said, around)
    return np.asarray(said + _passed_on(passed.sum(axis=1, keepdims=True) - passed + before, around))


EXACT = 1e-12  # numerical: seconds^2, a microsecond: traces without any noise tell delays no more exactly than that


def _precision_told(variance: np.ndarray) -> np.ndarray:
    """(K, D) of what the traces tell, beyond the prior, of delays with this variance in seconds^2."""
    told = 1.0 / np.maximum(variance, EXACT) - 1.0 / trace_priors.DELAY_SD**2
    return np.asarray(np.maximum(told, 0.0))


def _shares(log: np.ndarray) -> np.ndarray:
    """Probabilities, over the last axis."""
    weight = np.exp(log - log.max(axis=-1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=-1, keepdims=True))


def _passed_on(log: np.ndarray, around: np.ndarray) -> np.ndarray:
    """Log of the probabilities of a delay, over the last axis, as far as they tell one that lies `around` (n, n)."""
    return np.asarray(np.log(np.maximum(_shares(log) @ around, np.finfo(float).tiny)))


def precision_among_all(variance: np.ndarray) -> np.ndarray:
    """(K, D) precision of a delay beside the average annotator's, over its precision with everybody else held.

    variance: (K, D) seconds^2 with everybody else held. Pairs of annotators, j and k, tell a_j a_k of what their delays
    differ by, so that k is told a_k (sum a - a_k) by all others; the average, though, includes k.
    """
    K, before, told = len(variance), 1.0 / trace_priors.DELAY_SD**2, _precision_told(variance)
    out, middle = np.ones(variance.shape), np.eye(K) - 1.0 / K
    for d, i in enumerate(told.T):
        pairs = i.sum() ** 2 - i @ i
        if pairs > 0:
            a = i * np.sqrt(i.sum() / pairs)
            P = np.diag(before + a * a.sum()) - np.outer(a, a)
            out[:, d] = 1.0 / np.diagonal(P) / np.diagonal(middle @ np.linalg.inv(P) @ middle)
    return np.asarray(np.maximum(out, 1.0))


def delay_shares(parts: Parts, hands: tuple[Hands, ...], usual: np.ndarray, rate: float) -> np.ndarray:
    """(D,) what a frame counts for as evidence on delays: the variance of slopes of the evidence if every frame were
    new, which is its curvature, over that which blocks of frames show.

    usual: (D,) what is expected, as if PRIOR_BLOCKS had been seen.
    """  # eq. S55
    found = np.sum(parts.map(delay_scores, hands, max(round(BLOCK * rate), 1)), axis=0)  # (D, K, 6)
    n, a, c, aa, ac, cc = np.moveaxis(found, 2, 0)
    off = np.where((n > 1) & (c > 0), a / np.where(c > 0, c, 1.0), 0.0)  # from the greatest evidence
    square = ((aa - 2.0 * off * ac + off**2 * cc) * np.where(n > 1, n / np.maximum(n - 1, 1), 1.0)).sum(axis=1)
    n, curve = n.sum(axis=1), c.sum(axis=1)
    each = curve / np.maximum(n, 1)  # of a block
    told = each > 0
    more = trace_priors.PRIOR_BLOCKS * each
    return np.where(told, (curve + more) / np.where(told, square + more / usual, 1.0), usual)


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
