"""What annotators are expected to answer at every frame of fitted recordings, and how far off that may be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.fusers.series.model import SeriesModel, pooled_noise
from unisono.maths.items.predictive import Predictive
from unisono.maths.series.bands import no_spread
from unisono.maths.series.left_out_ratings import Errors, RatingErrors
from unisono.maths.series.params import SeriesData
from unisono.maths.series.tracer_truth import Levels, two_scale_truth

AS_THE_MODEL_SAYS = RatingErrors(Errors(1.0, np.inf), Errors(1.0, np.inf))


def expected_ratings(
    model: SeriesModel, data: SeriesData, mean: np.ndarray, variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What the annotators of the traces are expected to answer at every frame, and its variance, each (S, D).

    mean, variance: (sum T, D) of the truth; before the first frame it is held. The frames in a filter's window are
    taken to err alike, which is close for a slow truth and exact for delays.
    """
    first = np.concatenate([[0], np.cumsum(data.length)])
    held = 1.0 if model.structure.start == "preroll" else 0.0
    p, W = model.params, model.params.F.shape[1]
    noise = np.where(np.isnan(model.noise), pooled_noise(model), model.noise)
    expected, uncertain = [], []
    for m, k in zip(data.item_of.tolist(), data.annotator_of.tolist(), strict=True):
        a, sd = mean[first[m] : first[m + 1]], np.sqrt(variance[first[m] : first[m + 1]])
        expected.append(p.b[k] + _filtered(p.F[k], a, W, held))
        uncertain.append(_filtered(np.abs(p.F[k]), sd, W, held) ** 2 + noise[k])
    return np.concatenate(expected), np.concatenate(uncertain)


def predicted_ratings(
    model: SeriesModel, data: SeriesData, mean: np.ndarray, variance: np.ndarray, fitted: SeriesData
) -> Predictive:
    """The same for traces of the fitted recordings. fitted: what is known of them."""
    if model.levels is None:
        return Predictive(*expected_ratings(model, data, mean, variance))
    return _around_levels(model, model.levels, data, mean, fitted)


def _around_levels(
    model: SeriesModel, levels: Levels, data: SeriesData, mean: np.ndarray, fitted: SeriesData
) -> Predictive:
    """The level of a trace is known by what the annotator rated of the recording, or by what is known of their bias.

    What all annotators do alike is no error of what one of them will say, so that it is not in the variance; nor is the
    widening of courses, which is in what left-out annotators show of ratings.
    """
    plain = levels._replace(widening=np.ones(data.D))
    truth = two_scale_truth(fitted, model.params, model.structure, plain, no_spread(data.D))
    expected, unseen = expected_ratings(model, data, mean, np.diagonal(truth.cov, axis1=1, axis2=2))
    unseen = unseen + np.repeat(levels.bias_variance[data.annotator_of], data.length[data.item_of], axis=0)
    _, around = expected_ratings(model, data, mean, truth.inside)
    trace = _trace_levels(model, levels, data, mean, fitted)
    errors = AS_THE_MODEL_SAYS if model.rating_errors is None else model.rating_errors
    variance = np.where(trace.seen, errors.seen.scale**2 * (around - trace.known), errors.unseen.scale**2 * unseen)
    return Predictive(
        expected + trace.offset, variance, np.where(trace.seen, errors.seen.freedom, errors.unseen.freedom)
    )


class TraceLevel(NamedTuple):
    """Of the level of every trace, frame by frame, each (S, D)."""

    seen: np.ndarray  # bool, anything was rated of it
    offset: np.ndarray  # from the level that is expected of the annotator
    known: np.ndarray  # variance of levels that is known no longer to be in it


def _trace_levels(
    model: SeriesModel, levels: Levels, data: SeriesData, mean: np.ndarray, fitted: SeriesData
) -> TraceLevel:
    """What the rated frames of a trace show of its level.

    Courses have mean 0 over the recording: that of the frames that were rated is off by what the others, few of them
    independent, make up for.
    """
    own, _ = expected_ratings(model, fitted, mean, np.zeros_like(mean))
    kappa = 1.0 if model.priors is None else model.priors.kappa
    found: dict[tuple[int, int], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    row = 0
    for m, k in zip(fitted.item_of.tolist(), fitted.annotator_of.tolist(), strict=True):
        T = int(fitted.length[m])
        left = fitted.y[row : row + T] - own[row : row + T]
        count = (~np.isnan(left)).sum(axis=0)
        missing = T - count
        off = np.diagonal(model.params.N[k]) * (missing / np.maximum(count, 1)) ** 2 / np.maximum(kappa * missing, 1.0)
        shown = np.where(count > 0, levels.noise[k] / (levels.noise[k] + off), 0.0)
        found[m, k] = count > 0, shown * np.nansum(left, axis=0) / np.maximum(count, 1), shown * levels.noise[k]
        row += T
    nothing = np.zeros(data.D, dtype=bool), np.zeros(data.D), np.zeros(data.D)
    traces = zip(data.item_of.tolist(), data.annotator_of.tolist(), strict=True)
    columns = zip(*(found.get(trace, nothing) for trace in traces), strict=True)
    return TraceLevel(*(np.repeat(np.array(one), data.length[data.item_of], axis=0) for one in columns))


def _filtered(F: np.ndarray, a: np.ndarray, W: int, held: float) -> np.ndarray:
    """(T, D) sum over w of F[w] a[t-w]. F: (W, D, D), a: (T, D)."""
    padded = np.concatenate([np.repeat(held * a[:1], W - 1, axis=0), a])
    out = np.zeros_like(a)
    for w in np.flatnonzero(np.any(F != 0, axis=(1, 2))).tolist():
        out += padded[W - 1 - w : len(padded) - w] @ F[w].T
    return out
