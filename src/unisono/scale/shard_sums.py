"""What the driver knows of ratings whose rows lie elsewhere, from sums over shards. None of it grows with items.

Units, profiles and moments of the ratings; the shared signal and the diagnosis of annotators; calibration of the
posteriors and agreement of annotators, from one sweep.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from unisono.fusers.gold_items import Blind
from unisono.fusers.item_posteriors import Calibration, ItemPosteriors, estimated_truth, variance_without_signal
from unisono.fusers.standardisation import FeatureSpace, Scaling, identity_scaling
from unisono.maths import grouped_sums, rating_values
from unisono.maths.items.annotator_intervals import left_out_variances
from unisono.maths.items.annotator_levels import (
    AnnotatorMoments,
    annotator_levels,
    annotator_moments,
    profile_moments,
    units,
)
from unisono.maths.items.censored_answers import Typical
from unisono.maths.items.item_data import Bounds, ItemData, Scores, no_features, rows_elsewhere, scores_elsewhere
from unisono.maths.items.item_estep import Stats, expectation, left_out_truths, posterior
from unisono.maths.items.item_estimates import TruthMoments, panel_rescaling_from, residual_freedom
from unisono.maths.items.item_params import ItemParams
from unisono.maths.raters import rater_diagnosis, rater_signal
from unisono.maths.raters.rater_signal import AnnotatorMeans, DimensionProducts, SharedSignal, SignalSums, Sums
from unisono.scale.executors import Executor, Shard, Task, add_fields, pairwise_sum
from unisono.scale.shard_parts import ItemShard, Part, Source, Units, make_item_shard
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
    found = executor.total(_part_moments, parts, np.where(largest > 0, largest, 1.0), add=AnnotatorMoments.__add__)
    return units(found, largest)


def _part_moments(part: Part, unit: np.ndarray) -> AnnotatorMoments:
    return annotator_moments(part.value / unit, part.annotator_of, part.K)


def find_phases(executor: Executor, parts: list[Shard], d: int, ends: Ends, step: float) -> Phases:
    """Of the answers of all parts to one dimension."""
    found: Phases = executor.total(_part_phases, parts, d, ends, step, add=Phases.__add__)
    return found


def _part_phases(part: Part, d: int, ends: Ends, step: float) -> Phases:
    return phases_of(part.value[:, d], part.annotator_of, part.K, ends, step)


class ProfileSums(NamedTuple):
    """Sums over the judgements of profiles, by their keys."""

    keys: np.ndarray  # (U,)
    judgements: np.ndarray  # (U,)
    Sy: np.ndarray  # (U, D)
    Syy: np.ndarray  # (U, D, D)
    own: float = 0.0  # what weights add to the bound


class ShardRows:
    """Ratings whose rows lie in shards, as `ItemData.elsewhere` has them."""

    def __init__(self, executor: Executor, sources: list[Source], units: Units, scores: Scores, K: int) -> None:
        self.executor = executor
        self.shards = executor.load([Task(make_item_shard, (source, units)) for source in sources])
        self.known = sum(len(source.known.item) for source in sources if source.known is not None)
        self._made_of = sources, units, scores, K
        self._parts: list[ShardRows] = []
        sums = executor.total(_crowd_sums, self.shards, add=joined_profiles)
        self.keys = sums.keys
        data = rows_elsewhere(sums.keys, sums.judgements, sums.Sy, sums.Syy, scores, K)
        self.data = data._replace(usual=units.usual, elsewhere=self)

    def total(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The sum over shards of `function(data, *arguments)`."""
        return self.executor.total(_of_data, self.shards, function, arguments, add=operator.add)

    def of_dimensions(self, dims: Sequence[int] | np.ndarray) -> ItemData:
        """The same ratings on some of the dimensions, in shards of their own."""
        sources, units, scores, K = self._made_of
        self._parts.append(ShardRows(self.executor, sources, units._replace(dims=tuple(dims)), scores, K))
        return self._parts[-1].data

    def truths(self, params: ItemParams, gold: np.ndarray | None) -> np.ndarray:
        """(G, D) posterior means of the known items, with `gold` (G, D) known."""
        found = np.full((self.known, len(params.mu)), np.nan)
        for place, mean in self.executor.map(_known_truths, self.shards, params, gold):
            found[place] = mean
        return found

    def forget(self) -> None:
        for rows in (self, *self._parts):
            self.executor.forget(rows.shards)


def _of_data(shard: ItemShard, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(shard.data, *arguments)


def _known_truths(shard: ItemShard, params: ItemParams, gold: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    if not len(shard.place):
        return shard.place, np.zeros((0, shard.data.D))
    known = shard.known._replace(gold=None if gold is None else gold[shard.place])
    return shard.place, posterior(known, params).mean


def _crowd_sums(shard: ItemShard) -> ProfileSums:
    data = shard.data
    return ProfileSums(shard.keys, data.judgements, data.Sy, data.Syy)


class KeyedStats(NamedTuple):
    """Sufficient statistics by profile, and the keys of the profiles (U,)."""

    keys: np.ndarray
    stats: Stats


def joined_profiles(one: ProfileSums, other: ProfileSums) -> ProfileSums:
    keys, (judgements, Sy, Syy) = _added_by_key(one.keys, one[1:4], other.keys, other[1:4])
    return ProfileSums(keys, judgements, Sy, Syy, one.own + other.own)


def joined_stats(one: KeyedStats, other: KeyedStats) -> KeyedStats:
    pair = one.stats, other.stats
    a, b = ((stats.Saa, stats.Sya, stats.Dyy) for stats in pair)
    keys, (Saa, Sya, Dyy) = _added_by_key(one.keys, a, other.keys, b)
    items, Sza = (getattr(pair[0], name) + getattr(pair[1], name) for name in ("items", "Sza"))
    return KeyedStats(keys, Stats(Saa, Sya, items, Sza, pair[0].loglik + pair[1].loglik, Dyy))


def _added_by_key(
    one: np.ndarray, parts: Sequence[np.ndarray], other: np.ndarray, more: Sequence[np.ndarray]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Arrays of profiles with these keys, added; profiles that one side alone has stay."""
    if np.array_equal(one, other):  # as is usual where shards are large
        return one, [a + b for a, b in zip(parts, more, strict=True)]
    keys, place = np.unique(np.concatenate([one, other]), return_inverse=True)
    found = []
    for a, b in zip(parts, more, strict=True):
        total = np.zeros((len(keys), *a.shape[1:]))
        total[place[: len(a)]] += a
        total[place[len(a) :]] += b
        found.append(total)
    return keys, found


def find_signal(rows: ShardRows) -> tuple[SharedSignal, np.ndarray]:
    """What annotators have in common, and its correlations (D, D) between dimensions."""
    data = rows.data
    n = data.answers()
    means = AnnotatorMeans(n, data.by_annotator(data.Sy) / np.maximum(n, 1))
    sums, products = rows.executor.total(_signal_sums, rows.shards, means, add=_added)
    return rater_signal.signal_from(sums), rater_signal.correlation_from(products)


def find_diagnosis(
    rows: ShardRows,
    signal: SharedSignal,
    correlation: np.ndarray,
    ranges: tuple[np.ndarray, np.ndarray],
    equal_pairs: np.ndarray,
) -> rater_diagnosis.Diagnosis:
    """Probabilities of spammers and styles.

    ranges: lowest and highest standardised answers, (K, D) each. equal_pairs: (D,) of answers of the crowd.
    """
    data, executor, shards = rows.data, rows.executor, rows.shards
    numbers = data.answers()
    offset = annotator_levels(profile_moments(data)).offset
    moments = executor.total(_even_moments, shards, offset, add=np.add)
    first = rater_diagnosis.FirstLook(
        signal,
        correlation,
        rater_diagnosis.log_sameness(*ranges, numbers, equal_pairs),
        rater_diagnosis.kurtosis_from(*moments),
    )

    def sums_at(params: ItemParams) -> Sums:
        found: Sums = executor.total(style_sums, shards, params, add=rater_signal.joined_sums)
        return found

    return rater_diagnosis.settled_diagnosis(data, first, sums_at)


def style_sums(shard: ItemShard, params: ItemParams) -> Sums:
    """The answers of a shard against the truths that the others give; where there are no others, they are none."""
    data = shard.data._replace(scores=no_features(shard.data.M))
    alone = np.repeat(np.diff(data.item_ptr) < 2, np.diff(data.item_ptr))
    held = rater_signal.held_answers(np.where(alone[:, None], np.nan, data.value), data.annotator_of, data.K)
    return rater_signal.sums_against(held, left_out_truths(data, params))


def _signal_sums(shard: ItemShard, means: AnnotatorMeans) -> tuple[SignalSums, DimensionProducts]:
    data = shard.data
    y, seen = rater_signal.without_annotator_means(data.value, data.annotator_of, means)
    return rater_signal.signal_sums(y, seen, data.item_of, data.M), rater_signal.dimension_products(
        y, seen, data.item_of, data.M
    )


def _even_moments(shard: ItemShard, offset: np.ndarray) -> np.ndarray:
    return np.array(rater_diagnosis.even_moments(shard.data.value - offset[shard.data.annotator_of]))


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
    ratings: ProfileSums  # as they are read and weighed
    stats: KeyedStats


def read_by(rows: ShardRows, seen: Sweep) -> ItemData:
    """The sums of the ratings' profiles as they are read and weighed."""
    return rows.data._replace(Sy=seen.ratings.Sy, Syy=seen.ratings.Syy)


def sweep(rows: ShardRows, params: ItemParams, typical: Typical | None, gold: np.ndarray | None = None) -> Sweep:
    """One sweep over all shards; `typical` annotators on a scale that ends, `gold` (G, D) among the observations."""
    total: Sweep = rows.executor.total(_sweep, rows.shards, params, typical, gold, add=_joined_sweeps)
    return total


def calibrated(
    found: Sweep,
    data: ItemData,
    params: ItemParams,
    signal: SharedSignal,
    span: np.ndarray,
    panel: float,
    *,
    continued: bool = False,
) -> Calibration:
    """Scale and honesty of the posterior; `span` (D,) of the standardised answers, `continued` from an earlier fit."""
    freedom = residual_freedom(data)
    n = np.maximum(found.truths.n, 1)
    expected, truths = found.expected, found.truths
    moments = TruthMoments(
        expected.mean, np.sqrt(expected.squares / n), np.sqrt(truths.squares / n), found.variance / n
    )
    return Calibration(
        max(found.errors / found.numbers if found.numbers else 1.0, 1.0),  # intervals are never narrowed
        freedom,
        panel_rescaling_from(data, params, moments, panel, continued=continued),
        variance_without_signal(span, freedom),
        signal.probability,
    )


def agreement_of(answers: Sums) -> np.ndarray:
    """(K, D) correlation of an annotator's answers with the truth fused from the others."""
    own = np.einsum("kddd->kd", answers.xx)
    return grouped_sums.correlation_of_sums(answers.n, answers.yy, own, np.einsum("kdd->kd", answers.xy))


def _sweep(shard: ItemShard, params: ItemParams, typical: Typical | None, gold: np.ndarray | None) -> Sweep:
    data = shard.with_known(gold)
    items = ItemPosteriors(data, params, typical)
    found, others, read = items.posterior, items.left_out, items.read
    variance = np.diagonal(found.cov, axis1=1, axis2=2)
    return Sweep(
        others.ratio * others.numbers,
        others.numbers,
        moments_of(found.mean),
        moments_of(items.answer),
        np.einsum("mdd->d", found.cov),
        rater_signal.centred_sums(data.value, others.mean, data.annotator_of, data.K),
        left_out_variances(read, params, variance),
        ProfileSums(shard.keys, read.judgements, read.Sy, read.Syy),
        KeyedStats(shard.keys, expectation(read, params)[1]),
    )


def _joined_sweeps(one: Sweep, other: Sweep) -> Sweep:
    return Sweep(
        one.errors + other.errors,
        one.numbers + other.numbers,
        joined_moments(one.truths, other.truths),
        joined_moments(one.expected, other.expected),
        one.variance + other.variance,
        rater_signal.joined_sums(one.answers, other.answers),
        one.left_out + other.left_out,
        joined_profiles(one.ratings, other.ratings),
        joined_stats(one.stats, other.stats),
    )


class Estimates(NamedTuple):
    """Estimates without known truths."""

    moments: Moments  # over all items
    place: np.ndarray  # (g,) of the known items
    known: np.ndarray  # (g, D)


def estimates(
    rows: ShardRows, params: ItemParams, typical: Typical | None, calibration: Calibration, ends: Bounds
) -> Blind:
    """Those of all known items, with mean and variance over all items."""
    parts = list(rows.executor.map(_estimates, rows.shards, params, typical, calibration, ends))
    moments = pairwise_sum((part.moments for part in parts), joined_moments)
    known = np.full((rows.known, len(params.mu)), np.nan)
    for part in parts:
        known[part.place] = part.known
    return Blind(known, moments.mean, moments.squares / moments.n)


def _estimates(
    shard: ItemShard, params: ItemParams, typical: Typical | None, calibration: Calibration, ends: Bounds
) -> Estimates:
    estimate, _ = estimated_truth(ItemPosteriors(shard.data, params, typical), calibration, ends)
    return Estimates(moments_of(estimate), shard.place, estimate[shard.item])


def find_space(executor: Executor, parts: list[Shard], columns: tuple[str, ...], M: int) -> tuple[FeatureSpace, Scores]:
    """The space of the items' features, and their scores, whose rows stand for the mean."""
    if not columns:
        none = no_features(M)
        return FeatureSpace((), identity_scaling(0), none.V, none.center, none.l), none
    largest = executor.total(_largest_features, parts, add=np.maximum)
    unit = np.where(largest > 0, largest, 1.0)
    found = executor.total(_feature_moments, parts, unit, add=joined_moments)
    sd = np.sqrt(found.squares / found.n)
    scale = np.where(largest > 0, np.where(sd > rating_values.NO_SPREAD, sd, 1.0) * unit, 1.0)
    scaling = Scaling(found.mean * unit, scale)
    center = np.zeros(len(columns))
    products = executor.total(_feature_products, parts, scaling, add=np.add)
    scores = scores_elsewhere(products, center, M)
    return FeatureSpace(columns, scaling, scores.V, scores.center, scores.l), scores


def _largest_features(part: Part) -> np.ndarray:
    return np.asarray(np.abs(part.X).max(axis=0, initial=0.0))


def _feature_moments(part: Part, unit: np.ndarray) -> Moments:
    return moments_of(part.X / unit)


def _feature_products(part: Part, scaling: Scaling) -> np.ndarray:
    X = scaling.standardise(part.X)
    return np.asarray(X.T @ X)
