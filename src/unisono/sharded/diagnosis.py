"""Shared signal and diagnosis of annotators from sums over shards."""

from __future__ import annotations

import numpy as np

from unisono.engines.protocol import Executor, Shard
from unisono.engines.sums import add_fields, pairwise_sum
from unisono.maths.items.data import ItemData
from unisono.maths.items.leave_out import left_out_truths
from unisono.maths.items.levels import annotator_levels, profile_moments
from unisono.maths.items.params import ItemParams
from unisono.maths.raters.diagnosis import (
    Diagnosis,
    FirstLook,
    even_moments,
    kurtosis_from,
    log_sameness,
    settled_diagnosis,
)
from unisono.maths.raters.signal import (
    AnnotatorMeans,
    DimensionProducts,
    SharedSignal,
    SignalSums,
    correlation_from,
    dimension_products,
    signal_from,
    signal_sums,
    without_annotator_means,
)
from unisono.maths.raters.style_sums import Sums, held_answers, joined_sums, sums_against
from unisono.sharded.parts import ItemShard


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
