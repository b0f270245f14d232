"""Calibration by annotators who were left out: how far off courses are, and how far off predicted ratings.

The variance that the model gives a course knows of errors that last, of unequal noise and of unequal gains, but not of
delays that vary, scales that bend, or a truth that moves faster than the smoother allows. Two annotators who are left
out see all of it: where their errors are independent, the product of what they differ by from a course fused without
them is the square of the error of that course, a factor on its variance in the band:
    E r_j r_k = g_j g_k E (x - x_-f)^2,   r_k = w_k - g_k x_-f,   j and k in fold f.
Halves of the annotators that are compared with each other would not show it: both smooth in one way.

Ratings are predicted of two kinds of traces. Who rated other parts of the recording has a level that is known in it;
of anybody else, strangers above all, nothing is known but what annotators are like. Every trace of the fit is predicted
both ways from annotators it was not fused with, and what it is off by has Student's t,
    z = (y - predicted) / predicted sd,   z / scale ~ t(freedom),
as if a few ratings more had been off as the model says. Deviates are counted in classes of their size, so that parts
of the traces add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.special import gammaln, ndtr

from unisono.maths.series.error_bands import no_spread
from unisono.maths.series.trace_data import SeriesData, SeriesParams, Structure, truth_frames
from unisono.maths.series.trace_parts import Part, Parts
from unisono.maths.series.trace_priors import EVIDENCE, INDEPENDENT, USUAL_WIDENING, WIDENING_SD
from unisono.maths.series.trace_truth import Levels, TwoScaleTruth, two_scale_truth

SIZES = np.concatenate([[0.0], np.exp(np.arange(-80, 81) / 20.0), [np.inf]])  # ends of the classes of |z|, 5 % apart
MIDDLES = np.concatenate([SIZES[1:2] / 2.0, SIZES[1:-1] * np.exp(0.025)])
TAILS = np.linspace(1e-4, 0.5, 51)  # one over the freedom: from what looks normal to a variance that just exists
ROUNDS = 50  # numerical: of EM, each of which leaves at most .4 of what is missing


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


Sums = TypeVar("Sums")

FOLDS = 3  # numerical: at most: six annotators are left out in pairs
FEWEST = 3  # convention: annotators of a recording: two who are left out, and one who is not


class Products(NamedTuple):
    """Of residuals of left-out annotators, two at a time, summed over frames and pairs."""

    found: np.ndarray  # (D,)
    expected: np.ndarray  # (D,) if the model's variance of the course is right
    variance: np.ndarray  # (D,) of what is found, if every frame were new


class LeftOut(NamedTuple):
    """What annotators who were left out show."""

    products: Products
    deviates: Deviates


def left_out(
    parts: Parts,
    params: SeriesParams,
    structure: Structure,
    levels: Levels,
    present: np.ndarray,
    order: np.ndarray | None = None,
) -> LeftOut:
    """Of all traces. present: (K, D) bool, who rated what. order: (K,) in which annotators take turns."""
    order = np.arange(len(present)) if order is None else order
    stranger = stranger_to_each(params, levels, present)
    found = parts.map(left_out_part, params, structure, levels, stranger, np.argsort(order))
    return LeftOut(_total(Products, [one.products for one in found]), _total(Deviates, [one.deviates for one in found]))


def course_widening(found: Products, kappa: np.ndarray) -> np.ndarray:
    """(D,) error variance of courses over that of the model, drawn to the usual one.

    kappa: (D,) what a frame counts for.
    """  # eq. S47
    seen = found.variance > 0
    products, expected, variance = (np.where(seen, v, 1.0) for v in found)
    told = np.where(seen, INDEPENDENT / EVIDENCE * kappa * expected**2 / variance, 0.0)
    before = 1.0 / WIDENING_SD**2
    return np.asarray(np.maximum((told * products / expected + before * USUAL_WIDENING) / (told + before), 1.0))


def left_out_part(
    part: Part,
    params: SeriesParams,
    structure: Structure,
    levels: Levels,
    stranger: Stranger,
    place: np.ndarray,
) -> LeftOut:
    """Every annotator of a recording is left out once, together with others."""
    data = part.data
    none, plain = no_spread(data.D), levels._replace(widening=np.ones(data.D))
    judgement = np.repeat(np.arange(len(data.item_of)), data.length[data.item_of])
    level = two_scale_truth(data, params, structure, plain, none).level
    fold = folds(data, ~np.isnan(level).all(axis=1), place)
    products, apart = [no_products(data.D)], [no_deviates(data.K, data.D)]
    for f in range(int(fold.max(initial=-1)) + 1):
        out = fold == f
        others = data._replace(y=np.where(out[judgement][:, None], np.nan, data.y))
        fused = two_scale_truth(others, params, structure, plain, none)
        products.append(left_out_products(data, params, out[judgement], level[judgement], fused))
        apart.append(deviates(data, params, stranger, out, level, fused))
    return LeftOut(_total(Products, products), _total(Deviates, apart))


def no_products(D: int) -> Products:
    """Of nobody."""
    return Products(*np.zeros((3, D)))


def left_out_products(
    data: SeriesData, params: SeriesParams, out: np.ndarray, level: np.ndarray, fused: TwoScaleTruth
) -> Products:
    """Of ratings that were left `out` (S,) of what was fused. level: (S, D) of their traces."""
    at, follows = truth_frames(data, params.lag), params.F.sum(axis=1)
    gain, noise = np.diagonal(follows, axis1=1, axis2=2), np.diagonal(params.N, axis1=1, axis2=2)
    annotator = np.repeat(data.annotator_of, data.length[data.item_of])
    total = no_products(data.D)
    for d in range(data.D):
        V = fused.inside[:, d]
        row = np.flatnonzero(out & (at[:, d] >= 0) & ~np.isnan(data.y[:, d]))
        frame, k = at[row, d], annotator[row]
        g, s2 = gain[k, d], noise[k, d]
        left = data.y[row, d] - level[row, d] - np.sum(follows[k, d] * fused.course[frame], axis=1)
        total.found[d] = _pairs(frame, g / s2 * left, len(V)).sum()
        total.expected[d] = _pairs(frame, g**2 / s2, len(V)) @ V
        total.variance[d] = 2.0 * _pairs(frame, (g / s2) ** 2 * (g**2 * V[frame] + s2), len(V)).sum()
    return total


def folds(data: SeriesData, rated: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(J,) with whom a trace is left out, in turn; -1 where too few rated the recording.

    rated: (J,) bool. place: (K,) of annotators in the order in which they take turns.

    Nothing of what was estimated may decide it: annotators with great weights have errors that are alike by chance, and
    keeping them apart makes courses look better than they are.
    """
    fold = np.full(len(data.item_of), -1)
    for m in range(len(data.length)):
        here = np.flatnonzero((data.item_of == m) & rated)
        if len(here) >= FEWEST:
            here = here[np.argsort(place[data.annotator_of[here]], kind="stable")]
            fold[here] = np.arange(len(here)) % max(min(FOLDS, len(here) // 2), 2)
    return fold


def _pairs(frame: np.ndarray, value: np.ndarray, frames: int) -> np.ndarray:
    """(frames,) sum of v_j v_k over pairs of different annotators who speak of a frame."""
    one = np.bincount(frame, value, minlength=frames)
    return np.asarray(one**2 - np.bincount(frame, value**2, minlength=frames))


def _total(kind: Callable[..., Sums], found: Iterable[Iterable[np.ndarray]]) -> Sums:
    """Sums, field by field."""
    return kind(*(np.sum(field, axis=0) for field in zip(*found, strict=True)))
