"""What the driver knows of ratings whose rows lie elsewhere, from sums over shards. None of it grows with items.

Units, profiles and moments of the ratings; the shared signal and the diagnosis of annotators; calibration of the
posteriors and agreement of annotators, from one sweep.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.fusers.item_posteriors import Calibration, variance_without_signal
from unisono.maths.grouped_sums import correlation_of_sums
from unisono.maths.items.annotator_intervals import left_out_variances
from unisono.maths.items.annotator_levels import (
    AnnotatorMoments,
    Levels,
    annotator_levels,
    annotator_moments,
    profile_moments,
    units,
)
from unisono.maths.items.bayes_start import PairSums, pair_sums
from unisono.maths.items.censored_estep import Typical
from unisono.maths.items.item_data import ItemData, rows_elsewhere
from unisono.maths.items.item_estep import Stats, completed_posterior, left_out_truths
from unisono.maths.items.item_estimates import TruthMoments, left_out, panel_rescaling_from, residual_freedom
from unisono.maths.items.item_params import ItemParams
from unisono.maths.raters.rater_diagnosis import (
    Diagnosis,
    FirstLook,
    even_moments,
    kurtosis_from,
    log_sameness,
    settled_diagnosis,
)
from unisono.maths.raters.rater_signal import (
    AnnotatorMeans,
    DimensionProducts,
    SharedSignal,
    SignalSums,
    Sums,
    centred_sums,
    correlation_from,
    dimension_products,
    held_answers,
    joined_sums,
    signal_from,
    signal_sums,
    sums_against,
    without_annotator_means,
)
from unisono.scale.executors import Executor, Shard, add_fields, pairwise_sum
from unisono.scale.shard_parts import ItemShard, Part
from unisono.tables.answer_scale import Ends
from unisono.tables.scale_inference import Phases, phases_of


class Moments(NamedTuple):
    """Numbers, mean and sum of squares around it, (D,) each."""

    n: np.ndarray
    mean: np.ndarray
    squares: np.ndarray


def moments_of(value: np.ndarray) -> Moments:
    """Of the columns of value (J, D), missing numbers aside."""
    seen = ~np.isnan(value)
    n = seen.sum(axis=0)
    mean = np.where(seen, value, 0.0).sum(axis=0) / np.maximum(n, 1)
    away = np.where(seen, value - mean, 0.0)
    return Moments(n, mean, (away**2).sum(axis=0))


def joined_moments(one: Moments, other: Moments) -> Moments:
    n = one.n + other.n
    share = other.n / np.maximum(n, 1)
    away = other.mean - one.mean
    return Moments(n, one.mean + away * share, one.squares + other.squares + away**2 * one.n * share)


def units_of_parts(executor: Executor, parts: list[Shard], largest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Location (D,) and scale (D,) of all ratings; `largest` (D,) absolute answers."""
    found = pairwise_sum(
        executor.map(_part_moments, parts, np.where(largest > 0, largest, 1.0)), AnnotatorMoments.__add__
    )
    return units(found, largest)


def _part_moments(part: Part, unit: np.ndarray) -> AnnotatorMoments:
    return annotator_moments(part.value / unit, part.annotator_of, part.K)


def find_phases(executor: Executor, parts: list[Shard], d: int, ends: Ends, step: float) -> Phases:
    """Of the answers of all parts to one dimension."""
    found: Phases = pairwise_sum(executor.map(_part_phases, parts, d, ends, step), Phases.__add__)
    return found


def _part_phases(part: Part, d: int, ends: Ends, step: float) -> Phases:
    return phases_of(part.value[:, d], part.annotator_of, part.K, ends, step)


class ProfileSums(NamedTuple):
    """Sums over the judgements of profiles, by their keys."""

    keys: np.ndarray  # (U,)
    judgements: np.ndarray  # (U,)
    Sy: np.ndarray  # (U, D)
    Syy: np.ndarray  # (U, D, D)


class Crowd(NamedTuple):
    """All that an M-step and the priors need of the ratings."""

    data: ItemData  # its rows are elsewhere
    keys: np.ndarray  # (U,) of its profiles


def find_crowd(executor: Executor, shards: list[Shard], M: int, K: int) -> Crowd:
    """Sums over all shards."""
    sums = pairwise_sum(executor.map(_crowd_sums, shards), _joined_crowds)
    data = rows_elsewhere(sums.keys, sums.judgements, sums.Sy, sums.Syy, M, K)
    return Crowd(data, sums.keys)


def find_pairs(executor: Executor, shards: list[Shard], levels: Levels, gain: np.ndarray | None) -> PairSums:
    """Of all shards, whose annotators have these levels; `gain` (K, D) is expected of them."""
    found: PairSums = pairwise_sum(executor.map(_pair_sums, shards, levels, gain), PairSums.__add__)
    return found


def everywhere(keys: np.ndarray, found: tuple[np.ndarray, Stats]) -> Stats:
    """Statistics of one shard at the places that its profiles have among all (`keys`)."""
    own, stats = found
    place = np.searchsorted(keys, own)
    given = stats.Saa, stats.Sya, stats.Dyy
    Saa, Sya, Dyy = (np.zeros((len(keys), *part.shape[1:])) for part in given)
    Saa[place], Sya[place], Dyy[place] = given
    return Stats(Saa, Sya, stats.items, stats.Sza, stats.loglik, Dyy)


def _crowd_sums(shard: ItemShard) -> ProfileSums:
    data = shard.data
    return ProfileSums(shard.keys, data.judgements, data.Sy, data.Syy)


def _pair_sums(shard: ItemShard, levels: Levels, gain: np.ndarray | None) -> PairSums:
    return pair_sums(shard.data, levels, gain)


def _joined_crowds(one: ProfileSums, other: ProfileSums) -> ProfileSums:
    keys, place = np.unique(np.concatenate([one.keys, other.keys]), return_inverse=True)
    parts = []
    for a, b in zip(one[1:], other[1:], strict=True):
        total = np.zeros((len(keys), *a.shape[1:]))
        total[place[: len(a)]] += a
        total[place[len(a) :]] += b
        parts.append(total)
    return ProfileSums(keys, *parts)


def find_signal(executor: Executor, shards: list[Shard], data: ItemData) -> tuple[SharedSignal, np.ndarray]:
    """What annotators have in common, and its correlations (D, D) between dimensions. `data` of all shards."""
    n = data.answers()
    means = AnnotatorMeans(n, data.by_annotator(data.Sy) / np.maximum(n, 1))
    sums, products = pairwise_sum(executor.map(_signal_sums, shards, means), _added)
    return signal_from(sums), correlation_from(products)


def find_diagnosis(
    executor: Executor,
    shards: list[Shard],
    data: ItemData,
    signal: SharedSignal,
    correlation: np.ndarray,
    ranges: tuple[np.ndarray, np.ndarray],
    equal_pairs: np.ndarray,
) -> Diagnosis:
    """Probabilities of spammers and styles.

    ranges: lowest and highest standardised answers, (K, D) each. equal_pairs: (D,) of answers of the crowd.
    """
    numbers = data.answers()
    offset = annotator_levels(profile_moments(data)).offset
    moments = pairwise_sum(executor.map(_even_moments, shards, offset), np.add)
    first = FirstLook(signal, correlation, log_sameness(*ranges, numbers, equal_pairs), kurtosis_from(*moments))

    def sums_at(params: ItemParams) -> Sums:
        found: Sums = pairwise_sum(executor.map(style_sums, shards, params), joined_sums)
        return found

    return settled_diagnosis(data, first, sums_at)


def style_sums(shard: ItemShard, params: ItemParams) -> Sums:
    """The answers of a shard against the truths that the others give; where there are no others, they are none."""
    data = shard.data
    alone = np.repeat(np.diff(data.item_ptr) < 2, np.diff(data.item_ptr))
    held = held_answers(np.where(alone[:, None], np.nan, data.value), data.annotator_of, data.K)
    return sums_against(held, left_out_truths(data, params))


def _signal_sums(shard: ItemShard, means: AnnotatorMeans) -> tuple[SignalSums, DimensionProducts]:
    data = shard.data
    y, seen = without_annotator_means(data.value, data.annotator_of, means)
    return signal_sums(y, seen, data.item_of, data.M), dimension_products(y, seen, data.item_of, data.M)


def _even_moments(shard: ItemShard, offset: np.ndarray) -> np.ndarray:
    return np.array(even_moments(shard.data.value - offset[shard.data.annotator_of]))


def _added(
    one: tuple[SignalSums, DimensionProducts], other: tuple[SignalSums, DimensionProducts]
) -> tuple[SignalSums, DimensionProducts]:
    return add_fields(one[0], other[0]), add_fields(one[1], other[1])


class Sweep(NamedTuple):
    """What the shards show under fitted parameters."""

    errors: float  # squared errors of left-out answers over the variance claimed for them, summed
    numbers: int
    truths: Moments  # of posterior means over items
    expected: Moments  # of what typical annotators answer
    variance: np.ndarray  # (D,) sum of posterior variances
    answers: Sums  # of annotators, against the truths of the others
    left_out: np.ndarray  # (K, D) sums of the variances of these truths


def sweep(executor: Executor, shards: list[Shard], params: ItemParams, typical: Typical | None) -> Sweep:
    """One sweep over all shards; `typical` annotators on a scale that ends."""
    found: Sweep = pairwise_sum(executor.map(_sweep, shards, params, typical), _joined_sweeps)
    return found


def calibrated(
    found: Sweep,
    crowd: Crowd,
    params: ItemParams,
    signal: SharedSignal,
    span: np.ndarray,
    panel: float,
    *,
    continued: bool = False,
) -> Calibration:
    """Scale and honesty of the posterior; `span` (D,) of the standardised answers, `continued` from an earlier fit."""
    freedom = residual_freedom(crowd.data)
    n = np.maximum(found.truths.n, 1)
    expected, truths = found.expected, found.truths
    moments = TruthMoments(
        expected.mean, np.sqrt(expected.squares / n), np.sqrt(truths.squares / n), found.variance / n
    )
    return Calibration(
        max(found.errors / found.numbers if found.numbers else 1.0, 1.0),  # intervals are never narrowed
        freedom,
        panel_rescaling_from(crowd.data, params, moments, panel, continued=continued),
        variance_without_signal(span, freedom),
        signal.probability,
    )


def agreement_of(answers: Sums) -> np.ndarray:
    """(K, D) correlation of an annotator's answers with the truth fused from the others."""
    own = np.einsum("kddd->kd", answers.xx)
    return correlation_of_sums(answers.n, answers.yy, own, np.einsum("kdd->kd", answers.xy))


def _sweep(shard: ItemShard, params: ItemParams, typical: Typical | None) -> Sweep:
    data = shard.data
    found, read = completed_posterior(data, params)
    others = left_out(read, params, data.y, None if typical is None else typical.ends)
    variance = np.diagonal(found.cov, axis1=1, axis2=2)
    return Sweep(
        others.ratio * others.numbers,
        others.numbers,
        moments_of(found.mean),
        moments_of(found.mean if typical is None else typical.answer(found.mean, variance)),
        np.einsum("mdd->d", found.cov),
        centred_sums(data.value, others.mean, data.annotator_of, data.K),
        left_out_variances(data, params, variance),
    )


def _joined_sweeps(one: Sweep, other: Sweep) -> Sweep:
    return Sweep(
        one.errors + other.errors,
        one.numbers + other.numbers,
        joined_moments(one.truths, other.truths),
        joined_moments(one.expected, other.expected),
        one.variance + other.variance,
        joined_sums(one.answers, other.answers),
        one.left_out + other.left_out,
    )
