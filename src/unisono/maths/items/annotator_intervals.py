"""Intervals of what is said about annotators: bias, gain, noise, reliability.

The fit knows the row [F, b] of an annotator as if the truths of his items were known from the others for sure; they
are known with the variance v, which adds to his own noise N:

    Cov = ((inflated N)^-1 sum_j [a; 1][a; 1]' + wider^-1 P)^-1,    inflated_kd = 1 + F^2 v / N                 eq. A1

the sum that of n answers to truths of mean c and variance S, P the precision of the prior of somebody of whom nothing
is known; that of gains is wider by `GAINS_WIDER`. (Whoever lies far from what is expected is held to it less in the
fit, so that what answers tell cannot be had by taking one prior from all posterior precisions.) Level and unit of the
crowd are uncertain too, by the variances of biases and gains between annotators over their number, and these variances
are known from so many annotators: ends are those of Student's t. The noise is a scaled inverse chi-squared variable:

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

from unisono.maths.items import item_data, item_priors
from unisono.maths.items.item_params import ItemParams

LEAST_FREEDOM = 2.0  # numerical: floor; of two annotators a variance has one
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
    spread: np.ndarray  # (D,) variance of the truths
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
    var_bias, var_gain = _row_variances(params, known, inflated, crowd)
    bias = _around(known.bias, reach * np.sqrt(var_bias))
    gains = _around(gain, reach * np.sqrt(var_gain))
    noise = _noise_ends(known, inflated, max(crowd - 2, 0) / crowd, level)
    return Ends(bias, gains, noise, _reliability_ends(known, gain, gains, noise, level))


def left_out_variances(data: item_data.ItemData, params: ItemParams, variance: np.ndarray) -> np.ndarray:
    """(K, D) sums over everybody's answers of their item's variance (M, D) as the others alone give it."""
    who, dims = data.annotator_of.astype(np.intp), np.arange(data.D)
    told = params.F[:, dims, dims] ** 2 / params.N[:, dims, dims]
    own = told[who] if data.weight is None else data.weight[:, None] * told[who]
    precision = np.maximum(1 / variance[data.item_of] - own, 1 / np.diagonal(params.Sigma))
    left = np.where(data.answered[data.profile_of], 1 / precision, 0.0)
    return np.stack([np.bincount(who, column, minlength=data.K) for column in left.T], axis=1)


def _around(value: np.ndarray, away: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return value - away, value + away


def _row_variances(params: ItemParams, known: Known, inflated: np.ndarray, crowd: int) -> tuple[np.ndarray, np.ndarray]:
    """(K, D) of the bias at the average truth, and of the gain.                                              eq. A1"""
    assert params.cov is not None
    K, D = inflated.shape
    bias, gain = np.empty((K, D)), np.empty((K, D))
    for d in range(D):
        prior = np.array([params.cov[-1, d, D, D], params.cov[-1, d, d, d]])
        wider = prior * [1.0, item_priors.GAINS_WIDER]
        free = np.flatnonzero(prior > TINY)
        found, edge = np.zeros((K, 2, 2)), np.array([1.0, known.center[d]])
        each = np.outer(edge, edge) + np.diag([0.0, known.spread[d]])  # of one answer, times its noise
        told = (known.answers[:, d] / np.maximum(inflated * known.noise, TINY)[:, d])[:, None, None] * each
        found[:, free[:, None], free] = np.linalg.inv(told[:, free[:, None], free] + np.diag(1 / wider[free]))
        bias[:, d] = np.einsum("i,kij,j->k", edge, found, edge) + wider[0] / crowd
        gain[:, d] = found[:, 1, 1] + wider[1] / crowd
    return np.maximum(bias, 0.0), np.maximum(gain, 0.0)


def _noise_ends(known: Known, inflated: np.ndarray, apart: float, level: float) -> tuple[np.ndarray, np.ndarray]:
    """eq. A2"""
    nu = apart * np.maximum(known.answers - 1, 0) / inflated**2 + item_priors.NOISE_BEHIND
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
