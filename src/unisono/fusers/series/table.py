"""The description of every annotator of traces: what they do to the truth, and how late they are."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from unisono.data import Ratings
from unisono.fusers.results import Annotators
from unisono.fusers.scaling import Scaling
from unisono.fusers.series.data import rated_traces
from unisono.fusers.series.model import SeriesModel, fused_mean
from unisono.fusers.series.predicted import expected_ratings
from unisono.fusers.series.progress import Watcher
from unisono.maths.grouped import PairedSums, add_paired, correlation_of_sums, paired_sums
from unisono.maths.series.delays import DelayTrials, lag_interval, lag_profile
from unisono.maths.series.layout import make_layout
from unisono.maths.series.params import SeriesData
from unisono.maths.series.parts import Part, Parts
from unisono.maths.series.recordings import with_recordings
from unisono.maths.series.tracer_diagnosis import KINDS

LEVEL = 0.90  # of the intervals of delays


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
    flipped: np.ndarray  # probabilities from here on, NaN where the model has no diagnosis
    unrelated: np.ndarray
    flat: np.ndarray
    late: np.ndarray
    drifting: np.ndarray


def describe_annotators(
    model: SeriesModel, data: SeriesData, parts: Parts, mean: np.ndarray, watch: Watcher
) -> Described:
    """Bias, gain, noise, agreement and delay of the annotators of these traces. mean: (sum T, D) the truth."""
    K, D = data.K, data.D
    gain = model.params.F.sum(axis=1)
    center = mean.mean(axis=0)
    told = watch.phase("agreement of annotators")
    found = reduce(_added, parts.map(answers_of_part, model, mean, on_part=told))
    signal = np.where(found.signal.n > 0, found.signal.xx / np.maximum(found.signal.n, 1), np.nan)
    delay, low, high = delays(model, data, watch)
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
        **dict(zip(KINDS, np.moveaxis(unusual, 2, 0), strict=True)),
    )


def side_by_side(dims: list[tuple[int, ...]], found: list[Described], K: int) -> Described:
    """Tables of single dimensions, or of some, as one."""
    D = sum(map(len, dims))
    rows = {name: np.full((K, D), np.nan) for name in Described._fields if name != "gain"}
    gain = np.zeros((K, D, D))
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


def answers_of_part(part: Part, model: SeriesModel, mean: np.ndarray) -> AnswerSums:
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


def delays(model: SeriesModel, data: SeriesData, watch: Watcher) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    elif model.priors is not None:
        trials = DelayTrials(make_layout(data, model.structure), model.params, model.structure)
        tell = watch.phase("intervals of delays")
        for i, (k, d) in enumerate(np.argwhere(given).tolist()):
            tell(i, int(given.sum()))
            lags, profile = lag_profile(trials, model.structure, model.priors, k, d)
            low[k, d], high[k, d] = lag_interval(lags, profile, model.priors.kappa, LEVEL)
    return np.where(given, model.params.lag, np.nan), low, high


def series_annotators(ratings: Ratings, found: Described, scaling: Scaling, rate: float) -> Annotators:
    """The table in the units of the ratings, delays in seconds."""
    gain = found.gain
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
    )
