"""Variance components of truths, biases and errors by moments, over all dimensions at once.

    y_n = mu + a_m + b_k + e_n,    annotator k on item m                                                     eq. B11

What can be told of biases comes out first: answers lose the best predictions c_k (mean_k - mu) that `levels` has. Two
answers to an item by different annotators then share the truth and nothing else, so that

    z_n = (y_n - c_k (mean_k - mu)) / sqrt(1 - c_k (2 - c_k) / n_k)

has the truth's covariances as mean products of such pairs, over dimensions as well. The prediction takes a part of
truths and errors along, which the root gives back. Sums add up over items; one pass over the ratings makes them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.grouped import segment_sum
from unisono.maths.items.data import ItemData
from unisono.maths.items.levels import Levels


class PairSums(NamedTuple):
    """Sums over items, (D, D) each: they add up."""

    products: np.ndarray  # of answers by different annotators to one item, both ways round
    pairs: np.ndarray  # how many of these there are
    items: np.ndarray  # on how many items, with two answers on both dimensions
    same: np.ndarray  # products of the answers of one judgement
    n: np.ndarray  # how many judgements answer both

    def __add__(self, other: PairSums) -> PairSums:  # type: ignore[override]
        return PairSums(*(a + b for a, b in zip(self, other, strict=True)))


class Components(NamedTuple):
    """Variances (D,), as they are estimated; not bounded in any way."""

    truth: np.ndarray  # NaN where no item has two answers
    bias: np.ndarray
    within: np.ndarray  # truth and error


def pair_sums(data: ItemData, levels: Levels) -> PairSums:
    """One pass over the ratings, whose annotators' levels are known."""
    answered, of = data.answered[data.profile_of], data.annotator_of
    z = np.where(answered, (data.y - (levels.centre + levels.offset)[of]) * levels.factor[of], 0.0)
    seen, item_of = answered.astype(float), data.item_of
    total, n = segment_sum(z, item_of, data.M), segment_sum(seen, item_of, data.M)
    same, both, shared = z.T @ z, seen.T @ seen, (n > 1).astype(float)
    return PairSums(total.T @ total - same, n.T @ n - both, shared.T @ shared, same, both)


def components(levels: Levels, sums: PairSums) -> Components:
    """Variances from the annotators' levels and the sums over items."""
    n, pairs = np.diagonal(sums.n), np.diagonal(sums.pairs)
    within = np.maximum(np.diagonal(sums.same) / np.maximum(n, 1) - levels.left(), 0.0)
    truth = np.where(pairs > 0, np.diagonal(sums.products) / np.maximum(pairs, 1), np.nan)
    return Components(truth, levels.bias, within)
