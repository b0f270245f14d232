"""Intervals of what is said about annotators: bias, gain, noise, reliability.

The fit knows the row [F, b] of an annotator as if the truths of his items were known from the others for sure; they
are known with the variance v, which adds to his own noise N:

    Cov = (inflated^-1 (Cov_k^-1 - P) + wider^-1 P)^-1,    inflated_kd = 1 + F^2 v / N                          eq. A1

P the precision of the prior; that of gains is wider by `GAINS_WIDER`. Level and unit of the crowd are uncertain too, by
the variances of biases and gains between annotators over their number, and these variances are known from so many
annotators: ends are those of Student's t. The noise is a scaled inverse chi-squared variable:

    nu = (R - 2) / R (n - 1) / inflated^2 + NOISE_BEHIND                                            eq. A2

of R annotators, since of two who differ nothing says who errs. Reliability is F^2 S / (F^2 S + N). The ends of its
log odds are put together from those of its parts (Zou and Donner):

    low = log odds - sqrt(sum of squares of how far each part reaches towards less)                            eq. A3

with S known as the variance of M items is.   K annotators, D dimensions, all in standardised units.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtri, expit, ndtri, stdtrit

from unisono.maths.items.item_data import ItemData
from unisono.maths.items.item_params import ItemParams

# Measured: 90 % intervals hold .86 to .97 in crowds of 3 to 40 with gains of sd .1 and .2 (docs/annotators.md).
GAINS_WIDER = 2.5  # variance of gains between annotators over the prior's, which is narrow for the sake of the truth
NOISE_BEHIND = 2.0  # degrees of freedom that the pool adds to what is known of somebody's noise
LEAST_FREEDOM = 2.0  # floor: of two annotators a variance has one
TINY = 1e-12  # numerical: of variances that something is divided by
FAR = 50.0  # numerical: of log odds that are as good as infinite


class Ends(NamedTuple):
    """Of the central interval of each figure; (K, D) each, in standardised units."""

    bias: tuple[np.ndarray, np.ndarray]
    gain: tuple[np.ndarray, np.ndarray]
    noise: tuple[np.ndarray, np.ndarray]  # standard deviations
    reliability: tuple[np.ndarray, np.ndarray]


class Known(NamedTuple):
    """Figures of annotators, and what they rest on."""

    bias: np.ndarray  # (K, D)
    noise: np.ndarray  # (K, D) variances
    reliability: np.ndarray  # (K, D)
    answers: np.ndarray  # (K, D)
    left_out: np.ndarray  # (K, D) mean variance of the truths of their items without their own answers
    center: np.ndarray  # (D,) average truth
    items: int


def annotator_ends(params: ItemParams, known: Known, level: float) -> Ends:
    """Ends of the `level` intervals; the last annotator of `params` is the newcomer."""
    assert params.cov is not None
    K, D = known.bias.shape
    dims = np.arange(D)
    gain = params.F[:K][:, dims, dims]
    inflated = 1 + gain**2 * known.left_out / np.maximum(known.noise, TINY)
    crowd = max(int((known.answers.sum(axis=1) > 0).sum()), 1)
    reach = float(stdtrit(max(crowd - 1.0, LEAST_FREEDOM), (1 + level) / 2))
    var_bias, var_gain = _row_variances(params, known.center, inflated, crowd)
    bias = _around(known.bias, reach * np.sqrt(var_bias))
    gains = _around(gain, reach * np.sqrt(var_gain))
    noise = _noise_ends(known, inflated, max(crowd - 2, 0) / crowd, level)
    return Ends(bias, gains, noise, _reliability_ends(known, gain, gains, noise, level))


def left_out_variances(data: ItemData, params: ItemParams, variance: np.ndarray) -> np.ndarray:
    """(K, D) sums over everybody's answers of their item's variance (M, D) as the others alone give it."""
    who, dims = data.annotator_of.astype(np.intp), np.arange(data.D)
    told = params.F[:, dims, dims] ** 2 / params.N[:, dims, dims]
    precision = np.maximum(1 / variance[data.item_of] - told[who], 1 / np.diagonal(params.Sigma))
    left = np.where(data.answered[data.profile_of], 1 / precision, 0.0)
    return np.stack([np.bincount(who, column, minlength=data.K) for column in left.T], axis=1)


def _around(value: np.ndarray, away: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return value - away, value + away


def _row_variances(
    params: ItemParams, center: np.ndarray, inflated: np.ndarray, crowd: int
) -> tuple[np.ndarray, np.ndarray]:
    """(K, D) of the bias at the average truth, and of the gain.                                              eq. A1"""
    assert params.cov is not None
    K, D = inflated.shape
    bias, gain = np.empty((K, D)), np.empty((K, D))
    for d in range(D):
        prior = np.array([params.cov[-1, d, D, D], params.cov[-1, d, d, d]])
        wider = prior * [1.0, GAINS_WIDER]
        free = np.flatnonzero(prior > TINY)
        at = np.array([D, d])[free]
        found = np.zeros((K, 2, 2))
        own = np.linalg.inv(params.cov[:K, d][:, at[:, None], at] + TINY * np.eye(len(at)))
        told = (own - np.diag(1 / prior[free])) / inflated[:, d, None, None]
        found[:, free[:, None], free] = np.linalg.inv(told + np.diag(1 / wider[free]))
        edge = np.array([1.0, center[d]])
        bias[:, d] = np.einsum("i,kij,j->k", edge, found, edge) + wider[0] / crowd
        gain[:, d] = found[:, 1, 1] + wider[1] / crowd
    return np.maximum(bias, 0.0), np.maximum(gain, 0.0)


def _noise_ends(known: Known, inflated: np.ndarray, apart: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    """eq. A2"""
    nu = apart * np.maximum(known.answers - 1, 0) / inflated**2 + NOISE_BEHIND
    outside = (1 - level) / 2
    squares = known.noise * nu
    return np.sqrt(squares / chdtri(nu, outside)), np.sqrt(squares / np.maximum(chdtri(nu, 1 - outside), TINY))


def _reliability_ends(
    known: Known,
    gain: np.ndarray,
    gains: tuple[np.ndarray, np.ndarray],
    noise: tuple[np.ndarray, np.ndarray],
    level: float,
) -> tuple[np.ndarray, np.ndarray]:
    """eq. A3"""
    odds = np.clip(np.log(np.maximum(known.reliability, TINY) / np.maximum(1 - known.reliability, TINY)), -FAR, FAR)
    size = np.log(np.maximum(gain**2, TINY))
    least = np.where(gains[0] * gains[1] > 0, np.minimum(*np.abs(gains)), 0.0) ** 2
    most = np.maximum(*np.abs(gains)) ** 2
    smaller, larger = size - np.log(np.maximum(least, TINY)), np.log(np.maximum(most, TINY)) - size
    middle = np.log(np.maximum(known.noise, TINY))
    less, more = (np.log(np.maximum(end**2, TINY)) for end in noise)
    items = float(ndtri((1 + level) / 2)) * np.sqrt(2 / max(known.items, 2))
    low = odds - np.sqrt(smaller**2 + (more - middle) ** 2 + items**2)
    high = odds + np.sqrt(larger**2 + (middle - less) ** 2 + items**2)
    return expit(low), expit(high)
