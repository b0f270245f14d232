"""How slowly the truth is to be taken to change: as slowly as predicts annotators who were left out best.

The smoother takes errors for new in every frame. Where they last, averaging over the same frames is worth less than it
thinks, and a truth that moves as fast as traces do would follow their errors. What counts is neither the memory of the
truth alone nor that of the errors, but how far to smooth; and where annotators err independently, the course that is
nearest to the truth is the one that is nearest to an annotator it was fused without,
    sum_t (w_k[t] - c g_k x_-k[t])^2 / s2_k,   x_-k smoothed with this memory, c the best common factor.
Imports NumPy, SciPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solveh_banded

from unisono.maths.series import priors
from unisono.maths.series.frames import Hands, aligned
from unisono.maths.series.parts import Courses, Part, Parts

OCTAVES = np.arange(-5, 7)  # of memories that are tried, around the usual one: 2 seconds to an hour


def truth_memory(parts: Parts, hands: tuple[Hands, ...], kappa: np.ndarray, rate: float) -> float:
    """Seconds: the posterior mean of their logarithm, over memories an octave apart.

    kappa: (D,) what a frame counts for, see `counted_frames`.
    """  # eq. S52
    octaves = np.log(2.0) * OCTAVES
    cross, square = np.sum(parts.map(left_out_fits, hands, autocorrelations(rate)), axis=0)
    told = np.where(square > 0, np.maximum(cross, 0.0) ** 2 / np.where(square > 0, square, 1.0), 0.0)
    log = 0.5 * kappa @ told - 0.5 * (octaves / priors.MEMORY_SD) ** 2
    weight = np.exp(log - log.max())
    return float(priors.MEMORY * np.exp(weight @ octaves / weight.sum()))


def autocorrelation(rate: float, memory: float) -> float:
    """phi: of neighbouring frames, at so many a second, of a truth that remembers for so many seconds."""
    return float(np.exp(-1.0 / (rate * memory)))


def autocorrelations(rate: float) -> np.ndarray:
    """(n,) of neighbouring frames of the truth, for every memory that is tried."""
    return np.array([autocorrelation(rate, priors.MEMORY * 2.0**octave) for octave in OCTAVES.tolist()])


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
