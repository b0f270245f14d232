"""How far off predicted ratings are, by the word of annotators who were left out: spread and tails of their errors.

Ratings are predicted of two kinds of traces. Who rated other parts of the recording has a level that is known in it;
of anybody else, strangers above all, nothing is known but what annotators are like. Every trace of the fit is predicted
both ways from annotators it was not fused with, and what it is off by has Student's t,
    z = (y - predicted) / predicted sd,   z / scale ~ t(freedom),
as if a few ratings more had been off as the model says. Deviates are counted in classes of their size, so that parts
of the traces add up.
Imports NumPy, SciPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtr

from unisono.maths.series.params import SeriesData, SeriesParams
from unisono.maths.series.priors import EVIDENCE, INDEPENDENT, WIDENING_SD
from unisono.maths.series.tracer_truth import Levels, TwoScaleTruth

SIZES = np.concatenate([[0.0], np.exp(np.arange(-80, 81) / 20.0), [np.inf]])  # ends of the classes of |z|, 5 % apart
MIDDLES = np.concatenate([SIZES[1:2] / 2.0, SIZES[1:-1] * np.exp(0.025)])
TAILS = np.linspace(1e-4, 0.5, 51)  # one over the freedom: from what looks normal to a variance that just exists
ROUNDS = 50  # of EM, each of which leaves at most .4 of what is missing


class Errors(NamedTuple):
    """Student's t of errors over the standard deviation that the model gives them."""

    scale: float
    freedom: float


class RatingErrors(NamedTuple):
    """What predicted ratings are off by."""

    seen: Errors  # of traces of which other frames were rated
    unseen: Errors  # of traces of which nothing was


class Stranger(NamedTuple):
    """What is expected of somebody nobody has met: the average of all annotators but k, in row k."""

    follows: np.ndarray  # (K, D, D) gains, and leakage
    lag: np.ndarray  # (K, D) frames
    bias: np.ndarray  # (K, D)
    bias_variance: np.ndarray  # (K, D)
    noise: np.ndarray  # (K, D) variance of the level, of the course, and what gains that differ add to both
    course_noise: np.ndarray  # (K, D) the part of it that does not stay for a recording


class Deviates(NamedTuple):
    """Of left-out ratings."""

    sizes: np.ndarray  # (2, D, n) how many of each class of size: of traces that are seen, and not
    stays: np.ndarray  # (2, D) sums of the shares of the variance that stay for a recording, and with an annotator
    traces: np.ndarray  # (K, D) how many of each annotator


def rating_errors(found: Deviates, kappa: np.ndarray) -> RatingErrors:
    """kappa: (D,) what a frame counts for."""  # eq. S54
    number = np.maximum(found.sizes.sum(axis=2), 1)  # (2, D)
    seen = INDEPENDENT / EVIDENCE * kappa * number[0]
    traces, people = np.maximum(found.traces.sum(axis=0), 1), np.maximum((found.traces > 0).sum(axis=0), 1)
    inside, (recording, person) = seen / traces, found.stays / number[1]
    alike = np.maximum(inside - 1.0, 0.0) * recording**2 + (traces / people - 1.0) * inside * person**2
    shares = found.sizes / number[:, :, None]
    return RatingErrors(student(seen @ shares[0]), student(seen / (1.0 + alike) @ shares[1]))


def student(weight: np.ndarray) -> Errors:
    """The most probable scale and freedom, given how many independent deviates (n,) are of each size.

    Nothing here is decided by last digits: steps of EM for the scale, a parabola through the best of the tails.
    """
    weight = weight - 2.0 / WIDENING_SD**2 * np.diff(2.0 * ndtr(-SIZES))
    density = _log_density(weight, TAILS)
    best = int(np.clip(np.argmax(density), 1, len(TAILS) - 2))
    down, up = density[best] - density[best - 1], density[best] - density[best + 1]
    step = (down - up) / (2.0 * (down + up)) if down + up > 0 else np.sign(down - up)
    tail = np.clip(TAILS[best] + step * (TAILS[1] - TAILS[0]), TAILS[0], TAILS[-1])
    return Errors(float(np.sqrt(_scale2(weight, np.array([tail]))[0])), float(1.0 / tail))


def _scale2(weight: np.ndarray, tail: np.ndarray) -> np.ndarray:
    """(n,) the most probable squared scales, for freedoms of 1 / tail (n,)."""
    nu, square = 1.0 / tail[:, None], MIDDLES**2
    scale2 = np.ones((len(tail), 1))
    for _ in range(ROUNDS):
        scale2 = ((nu + 1.0) / (nu + square / scale2) * square @ weight / weight.sum())[:, None]
    return np.asarray(scale2[:, 0])


def _log_density(weight: np.ndarray, tail: np.ndarray) -> np.ndarray:
    """(n,) of the deviates, each tail (n,) with its best scale."""
    nu, scale2 = 1.0 / tail, _scale2(weight, tail)
    constant = gammaln((nu + 1.0) / 2.0) - gammaln(nu / 2.0) - 0.5 * np.log(nu * scale2)
    square = MIDDLES**2 / (nu * scale2)[:, None]
    return np.asarray(weight.sum() * constant - (nu + 1.0) / 2.0 * (np.log1p(square) @ weight))


def stranger_to_each(params: SeriesParams, levels: Levels, present: np.ndarray) -> Stranger:
    """present: (K, D) bool, who rated what."""
    N = np.diagonal(params.N, axis1=1, axis2=2)
    anyone = np.tile(np.any(present, axis=1, keepdims=True), present.shape[1])
    gains = _spread_of_one_more(levels.gain, anyone)
    course, level = (_mean_of_others(v, present) for v in (N, levels.noise))
    moves = np.diagonal(params.sigma) / (1.0 - params.phi**2)
    return Stranger(
        follows=_mean_of_others(params.F.sum(axis=1), anyone[:, :, None]),
        lag=np.round(_mean_of_others(params.lag, anyone)),
        bias=_mean_of_others(levels.bias, anyone),
        bias_variance=_spread_of_one_more(levels.bias, anyone) + _mean_of_others(levels.bias_variance, anyone),
        noise=course + level + gains * (moves + np.diagonal(levels.prior)),
        course_noise=course + gains * moves,
    )


def _mean_of_others(rows: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """(K, ...) mean of the counted rows without each."""
    own = np.where(counted, rows, 0.0)
    return np.asarray((own.sum(axis=0) - own) / np.maximum(counted.sum(axis=0) - counted, 1))


def _spread_of_one_more(rows: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """(K, ...) squared distance to expect between the mean of the n others and one more of their kind."""
    n = counted.sum(axis=0) - counted
    square = _mean_of_others((rows - rows.mean(axis=0)) ** 2, counted)
    around = np.maximum(square - _mean_of_others(rows - rows.mean(axis=0), counted) ** 2, 0.0)
    return np.where(n > 1, around * (n + 1) / np.maximum(n - 1, 1), 0.0)


def no_deviates(K: int, D: int) -> Deviates:
    """Of nobody."""
    return Deviates(np.zeros((2, D, len(SIZES) - 1)), np.zeros((2, D)), np.zeros((K, D)))


def deviates(
    data: SeriesData,
    params: SeriesParams,
    stranger: Stranger,
    out: np.ndarray,
    level: np.ndarray,
    fused: TwoScaleTruth,
) -> Deviates:
    """Of traces that were left `out` (J,) of what was fused. level: (J, D) of every trace."""
    D, length = data.D, data.length[data.item_of]
    judgement = np.repeat(np.arange(len(length)), length)
    begin = np.repeat((np.cumsum(data.length) - data.length)[data.item_of], length)
    frame = np.arange(len(judgement)) - np.repeat(np.cumsum(length) - length, length)
    follows, N = params.F.sum(axis=1), np.diagonal(params.N, axis1=1, axis2=2)
    inside, whole = np.sqrt(fused.inside), np.sqrt(np.diagonal(fused.cov, axis1=1, axis2=2))
    found = no_deviates(data.K, D)
    for d in range(D):
        row = np.flatnonzero(out[judgement] & ~np.isnan(data.y[:, d]))
        k, y = data.annotator_of[judgement[row]], data.y[row, d]

        def at(lag: np.ndarray, k: np.ndarray = k, row: np.ndarray = row, d: int = d) -> np.ndarray:
            """The frame of the truth that each rating is about; before the first the truth is held."""
            return np.asarray(begin[row] + np.maximum(frame[row] - np.round(lag[k, d]).astype(np.int64), 0))

        own, there = follows[k, d], at(params.lag)
        variance = np.sum(np.abs(own) * inside[there], axis=1) ** 2 + N[k, d]
        left = y - level[judgement[row], d] - np.sum(own * fused.course[there], axis=1)
        found.sizes[0, d] = _classes(left / np.sqrt(variance))
        own, there = stranger.follows[k, d], at(stranger.lag)
        variance = np.sum(np.abs(own) * whole[there], axis=1) ** 2 + stranger.noise[k, d] + stranger.bias_variance[k, d]
        left = y - stranger.bias[k, d] - np.sum(own * (fused.mean[there] - params.mu), axis=1)
        found.sizes[1, d] = _classes(left / np.sqrt(variance))
        course = np.sum(np.abs(own) * inside[there], axis=1) ** 2 + stranger.course_noise[k, d]
        found.stays[:, d] = np.sum(1.0 - course / variance), np.sum(stranger.bias_variance[k, d] / variance)
        traces = np.flatnonzero(out & ~np.isnan(level[:, d]))
        found.traces[:, d] = np.bincount(data.annotator_of[traces], minlength=data.K)
    return found


def _classes(z: np.ndarray) -> np.ndarray:
    """(n,) how many deviates there are of each size."""
    return np.bincount(np.searchsorted(SIZES, np.abs(z), side="right") - 1, minlength=len(SIZES) - 1)
