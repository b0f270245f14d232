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

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import ndtr, stdtr

from unisono.maths.series.params import SeriesData, SeriesParams
from unisono.maths.series.priors import EVIDENCE, INDEPENDENT, WIDENING_SD
from unisono.maths.series.tracer_truth import Levels, TwoScaleTruth

SIZES = np.concatenate([[0.0], np.exp(np.arange(-80, 41) / 20.0), [np.inf]])  # ends of the classes of |z|, 5 % apart
LOG_SCALES = -2.5, 2.5  # that are looked at
TAILS = 1e-4, 0.5  # one over the freedom: from what nobody can tell from a normal one to a variance that just exists
TINY = float(np.finfo(float).tiny)  # a probability whose logarithm exists


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
    """The most probable scale and freedom, given how many independent deviates (n,) are of each size."""
    weight = weight - 2.0 / WIDENING_SD**2 * np.diff(2.0 * ndtr(-SIZES))

    def best(tail: float) -> tuple[float, float]:
        """The scale that costs least with a freedom of 1 / tail, and what it costs."""
        return _least(lambda log: _cost(weight, np.exp(log), 1.0 / tail), LOG_SCALES)

    tail, _ = _least(lambda tail: best(tail)[1], TAILS)
    return Errors(float(np.exp(best(tail)[0])), 1.0 / tail)


def _least(cost: Callable[[float], float], between: tuple[float, float]) -> tuple[float, float]:
    """Where the cost is least, and that cost."""
    found = minimize_scalar(cost, bounds=between, method="bounded", options={"xatol": 1e-7})
    return float(found.x), float(found.fun)


def _cost(weight: np.ndarray, scale: float, freedom: float) -> float:
    """Minus the logarithm of the probability of deviates of these sizes."""
    return -float(weight @ np.log(np.maximum(-np.diff(2.0 * stdtr(freedom, -SIZES / scale)), TINY)))


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
