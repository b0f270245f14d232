"""What the driver knows of ratings whose rows lie elsewhere: units, profiles, moments. None of it grows with items."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.engines.protocol import Executor, Shard
from unisono.engines.sums import pairwise_sum
from unisono.maths.items.components import PairSums, pair_sums
from unisono.maths.items.data import ItemData, rows_elsewhere
from unisono.maths.items.estep import Stats
from unisono.maths.items.levels import (
    AnnotatorMoments,
    Levels,
    annotator_levels,
    annotator_moments,
    profile_moments,
    units,
)
from unisono.maths.items.rescale import ItemMeans, item_means
from unisono.sharded.parts import ItemShard, Part


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
    moments: tuple[Levels, PairSums]
    means: ItemMeans


def find_crowd(executor: Executor, shards: list[Shard], M: int, K: int) -> Crowd:
    """Sums over all shards."""
    sums, means = pairwise_sum(executor.map(_crowd_sums, shards), _joined)
    data = rows_elsewhere(sums.keys, sums.judgements, sums.Sy, sums.Syy, M, K)
    levels = annotator_levels(profile_moments(data))
    pairs = pairwise_sum(executor.map(_pair_sums, shards, levels), PairSums.__add__)
    return Crowd(data, sums.keys, (levels, pairs), means)


def everywhere(keys: np.ndarray, found: tuple[np.ndarray, Stats]) -> Stats:
    """Statistics of one shard at the places that its profiles have among all (`keys`)."""
    own, stats = found
    place = np.searchsorted(keys, own)
    given = stats.Saa, stats.Sya, stats.Dyy
    Saa, Sya, Dyy = (np.zeros((len(keys), *part.shape[1:])) for part in given)
    Saa[place], Sya[place], Dyy[place] = given
    return Stats(Saa, Sya, stats.items, stats.Sza, stats.loglik, Dyy)


def _crowd_sums(shard: ItemShard) -> tuple[ProfileSums, ItemMeans]:
    data = shard.data
    return ProfileSums(shard.keys, data.judgements, data.Sy, data.Syy), item_means(data)


def _pair_sums(shard: ItemShard, levels: Levels) -> PairSums:
    return pair_sums(shard.data, levels)


def _joined(one: tuple[ProfileSums, ItemMeans], other: tuple[ProfileSums, ItemMeans]) -> tuple[ProfileSums, ItemMeans]:
    keys, place = np.unique(np.concatenate([one[0].keys, other[0].keys]), return_inverse=True)
    parts = []
    for a, b in zip(one[0][1:], other[0][1:], strict=True):
        total = np.zeros((len(keys), *a.shape[1:]))
        total[place[: len(a)]] += a
        total[place[len(a) :]] += b
        parts.append(total)
    return ProfileSums(keys, *parts), ItemMeans(*(a + b for a, b in zip(one[1], other[1], strict=True)))
