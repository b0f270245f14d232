"""Annotators of traces: what each does to the truth and how late, which answers are expected, whose unit it is.

Expected answers at every frame of fitted recordings, with how far off they may be; bias, gain, noise, agreement and
delay of every annotator; and how far annotators' scales differ.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from unisono.fusers.fusion_results import INTERVAL, Annotators, FigureEnds
from unisono.fusers.standardisation import Scaling
from unisono.fusers.trace_data import Watcher, rated_traces
from unisono.fusers.trace_model import SeriesModel, fused_mean, pooled_noise
from unisono.maths.grouped_sums import PairedSums, add_paired, correlation_of_sums, paired_sums
from unisono.maths.items.item_estimates import Predictive, half_width
from unisono.maths.series import error_bands, trace_parts, trace_truth, tracer_params
from unisono.maths.series.left_out_traces import Errors, RatingErrors
from unisono.maths.series.trace_data import SeriesData, with_recordings
from unisono.maths.series.tracer_diagnosis import KINDS
from unisono.tables.ratings import Ratings

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
    model: SeriesModel, levels: trace_truth.Levels, data: SeriesData, mean: np.ndarray, fitted: SeriesData
) -> Predictive:
    """The level of a trace is known by what the annotator rated of the recording, or by what is known of their bias.

    What all annotators do alike is no error of what one of them will say, so that it is not in the variance; nor is the
    widening of courses, which is in what left-out annotators show of ratings.
    """
    plain = levels._replace(widening=np.ones(data.D))
    truth = trace_truth.two_scale_truth(fitted, model.params, model.structure, plain, error_bands.no_spread(data.D))
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
    model: SeriesModel, levels: trace_truth.Levels, data: SeriesData, mean: np.ndarray, fitted: SeriesData
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


LEVEL = 0.90  # convention: of the intervals of delays


class Described(NamedTuple):
    """One row per annotator and dimension (K, D), in standardised units."""

    bias: np.ndarray
    gain: np.ndarray  # (K, D, D) total gain, row = rated dimension
    noise: np.ndarray  # variance
    signal: np.ndarray  # variance of what the truth makes them answer
    agreement: np.ndarray
    delay: np.ndarray  # frames
    delay_low: np.ndarray
    delay_high: np.ndarray
    doubt: np.ndarray  # (K, D, 4) variances of figures, see FigureDoubt; NaN where there are none
    flipped: np.ndarray  # probabilities from here on, NaN where the model has no diagnosis
    unrelated: np.ndarray
    flat: np.ndarray
    late: np.ndarray
    drifting: np.ndarray


def describe_annotators(
    model: SeriesModel, data: SeriesData, parts: trace_parts.Parts, mean: np.ndarray, watch: Watcher
) -> Described:
    """Bias, gain, noise, agreement and delay of the annotators of these traces. mean: (sum T, D) the truth."""
    K, D = data.K, data.D
    gain = model.params.F.sum(axis=1)
    center = mean.mean(axis=0)
    told = watch.phase("agreement of annotators")
    found = reduce(_added, parts.map(answers_of_part, model, mean, on_part=told))
    signal = np.where(found.signal.n > 0, found.signal.xx / np.maximum(found.signal.n, 1), np.nan)
    delay, low, high = delays(model, data)
    doubt = np.full((K, D, len(tracer_params.FigureDoubt._fields)), np.nan) if model.doubt is None else model.doubt
    unusual = np.full((K, D, len(KINDS)), np.nan) if model.diagnosis is None else model.diagnosis
    return Described(
        bias=model.params.b + np.einsum("kde,e->kd", gain - np.eye(D), center),
        gain=gain,
        noise=model.noise,
        signal=signal,
        agreement=_agreement(model, found.others),
        delay=delay,
        delay_low=low,
        delay_high=high,
        doubt=doubt,
        **dict(zip(KINDS, np.moveaxis(unusual, 2, 0), strict=True)),
    )


def side_by_side(dims: list[tuple[int, ...]], found: list[Described], K: int) -> Described:
    """Tables of single dimensions, or of some, as one."""
    D = sum(map(len, dims))
    rows = {name: np.full((K, D), np.nan) for name in Described._fields if name != "gain"}
    rows["doubt"], gain = np.full((K, D, len(tracer_params.FigureDoubt._fields)), np.nan), np.zeros((K, D, D))
    for part, own in zip(dims, found, strict=True):
        d = np.array(part)
        for name, row in rows.items():
            row[:, d] = getattr(own, name)
        gain[:, d[:, None], d] = own.gain
    return Described(gain=gain, **rows)


class AnswerSums(NamedTuple):
    """Of the answers of each annotator."""

    signal: PairedSums  # what the truth makes them answer
    others: PairedSums  # their answers with what the truth fused without them makes them answer


def answers_of_part(part: trace_parts.Part, model: SeriesModel, mean: np.ndarray) -> AnswerSums:
    """Sums over the frames of some recordings. mean: (sum T, D) the truth of all."""
    data = part.data
    rows = np.repeat(data.annotator_of, data.length[data.item_of])
    here = mean[part.first : part.first + int(data.length.sum())]
    expected, _ = expected_ratings(model, data, here, np.zeros_like(here))
    expected = np.where(np.isnan(data.y), np.nan, expected)
    without = paired_sums(data.y, without_them(model, data), rows, data.K)
    return AnswerSums(paired_sums(expected, expected, rows, data.K), without)


def _added(one: AnswerSums, other: AnswerSums) -> AnswerSums:
    return AnswerSums(*(add_paired(a, b) for a, b in zip(one, other, strict=True)))


def without_them(model: SeriesModel, data: SeriesData) -> np.ndarray:
    """(S, D) what the truth fused without each annotator makes their filter answer; NaN where nobody else rated.

    The delay and smoothing of an annotator are theirs and no disagreement.
    """
    size = data.length[data.item_of]
    rated = rated_traces(data).any(axis=1)  # (J,)
    raters = np.bincount(data.item_of[rated], minlength=len(data.length))
    expected = np.full_like(data.y, np.nan)
    for k in np.unique(data.annotator_of).tolist():
        mine = data.annotator_of == k
        theirs = np.bincount(data.item_of[mine & rated], minlength=len(data.length)) > 0
        shared = theirs & (raters > 1)
        if not shared.any():
            continue
        part = with_recordings(data, shared)
        own = np.repeat(part.annotator_of == k, part.length[part.item_of])
        mean = fused_mean(model, part._replace(y=np.where(own[:, None], np.nan, part.y)))
        here = np.repeat(mine & shared[data.item_of], size)
        expected[here] = expected_ratings(model, part, mean, np.zeros_like(mean))[0][own]
    return expected


def _agreement(model: SeriesModel, found: PairedSums) -> np.ndarray:
    """(K, D) correlation of answers with the others' truth; a negative gain is no agreement."""
    sign = np.sign(np.diagonal(model.params.F.sum(axis=1), axis1=1, axis2=2))
    correlation = correlation_of_sums(found.n, found.xx, found.yy, found.xy)
    return np.asarray(correlation * np.where(sign < 0, -1.0, 1.0))


def delays(model: SeriesModel, data: SeriesData) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(K, D) delays in frames with the ends of their 90 % intervals; NaN where there is none.

    A delay has an interval where it is a parameter of the model; of free filters it is the centre of their weights.
    """
    given = np.zeros((data.K, data.D), dtype=bool)
    np.logical_or.at(given, data.annotator_of, rated_traces(data))
    low, high = np.full(given.shape, np.nan), np.full(given.shape, np.nan)
    if model.structure.transform != "delay":
        own = np.abs(np.diagonal(model.params.F, axis1=2, axis2=3))  # (K, W, D)
        centre = np.einsum("w,kwd->kd", np.arange(own.shape[1]), own) / np.maximum(own.sum(axis=1), 1e-300)
        return np.where(given, centre, np.nan), low, high
    if model.lag_range is not None:
        low, high = (np.where(given, model.lag_range[:, :, end], np.nan) for end in (0, 1))
    return np.where(given, model.params.lag, np.nan), low, high


SURE = 0.9  # convention: probability from which somebody counts as following the truth, or as upright
TINY = 1e-300  # numerical: of variances in an odds


def series_annotators(ratings: Ratings, found: Described, scaling: Scaling, rate: float) -> Annotators:
    """The table in the units of the ratings, delays in seconds."""
    gain, ends = found.gain, None if np.isnan(found.doubt).all() else figure_ends(found, scaling.scale)
    return Annotators(
        annotators=ratings.annotators,
        dimensions=ratings.dimensions,
        ratings=np.bincount(ratings.annotator_of, minlength=ratings.K),
        bias=np.where(np.isnan(found.signal), np.nan, found.bias * scaling.scale),
        gain=np.where(np.isnan(found.signal), np.nan, np.diagonal(gain, axis1=1, axis2=2)),
        leakage=scaling.restore_matrix(gain) * (1 - np.eye(ratings.D)),
        noise=np.sqrt(found.noise) * scaling.scale,
        reliability=found.signal / (found.signal + found.noise),
        agreement=found.agreement,
        delay=found.delay / rate,
        delay_low=found.delay_low / rate,
        delay_high=found.delay_high / rate,
        tracing=None if np.isnan(found.flipped).all() else {kind: getattr(found, kind) for kind in KINDS},
        ends=ends,
    )


def figure_ends(found: Described, scale: np.ndarray) -> FigureEnds:
    """Ends of the 90 % intervals of bias, gain, noise and reliability, in units of which `scale` (D,) is one.

    Gain, noise and the odds of reliability are log normal. Whose sign is not sure may have the gain with either, and
    who may follow nothing may have none; levels are known from as many annotators as there are.
    """
    doubt = tracer_params.FigureDoubt(*np.sqrt(np.moveaxis(found.doubt, 2, 0)))
    annotators = int(np.isfinite(found.bias).any(axis=1).sum())
    far, away = half_width(INTERVAL, np.inf), half_width(INTERVAL, max(annotators - 1.0, 2.0))
    gain = np.diagonal(found.gain, axis1=1, axis2=2)
    follows = (1 - found.unrelated) * (1 - 2 * found.flipped)  # what the gain that is shown is held back by
    follows = np.where(np.isnan(follows), 1.0, follows)
    size = np.abs(gain) / np.maximum(np.abs(follows), SURE / 10)
    odds = np.log(np.maximum(found.signal, TINY) / np.maximum(found.noise, TINY))
    most, least = size * np.exp(far * doubt.gain), size * np.exp(-far * doubt.gain)
    sure = np.abs(follows) > SURE
    unsigned = (found.flipped > 1 - SURE) & (found.flipped < SURE)
    low = np.where(sure, least, np.where(unsigned, -most, 0.0))
    turned = gain < 0
    low, high = np.where(turned, -most, low), np.where(turned, -low, most)
    noise = scale * np.sqrt(found.noise)
    return {
        "bias": (scale * (found.bias - away * doubt.bias), scale * (found.bias + away * doubt.bias)),
        "gain": (low, high),
        "noise": (noise * np.exp(-far * doubt.noise), noise * np.exp(far * doubt.noise)),
        "reliability": (np.where(sure, expit(odds - far * doubt.odds), 0.0), expit(odds + far * doubt.odds)),
    }


PRIVATE = 1.5  # convention: factor between the gains of typical annotators from which there is no common scale


def unit_notes(models: list[SeriesModel], scale: np.ndarray, by_gold: bool) -> dict[str, Any]:
    """`unit`: gold, annotators (the typical one's) or private (the same, but annotators' scales differ).

    `gain_factor` is one standard deviation of the gains as a factor, and `truth_sd` that of the truth by dimension,
    in the units of the ratings; scale (D,): of the standardised ratings. Nothing for models with a common scale.
    """
    if any(model.levels is None for model in models):
        return {}
    spread, sd = [], []
    for model in models:
        assert model.levels is not None
        gain = np.abs(np.diagonal(model.params.F.sum(axis=1), axis1=1, axis2=2))
        moving = (gain > 0) & ~np.isnan(model.noise)
        spread += [float(np.log(gain[moving[:, d], d]).std()) for d in range(gain.shape[1]) if moving[:, d].any()]
        A = np.diagonal(model.params.sigma) / (1.0 - model.params.phi**2)
        sd += np.sqrt(A + np.diagonal(model.levels.prior)).tolist()
    factor = float(np.exp(max(spread, default=0.0)))
    unit = "gold" if by_gold else "private" if factor >= PRIVATE else "annotators"
    return {
        "unit": unit,
        "gain_factor": round(factor, 2),
        "truth_sd": [float(f"{v:.4g}") for v in np.array(sd) * scale],
    }
