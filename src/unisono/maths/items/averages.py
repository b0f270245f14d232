"""Weighted means and medians of each item's ratings, with and without each judgement, in segmented sums.

Ratings are (J, D) with NaN where missing, sorted by item; `item_of` (J,). Nothing here is iterative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.grouped import segment_sum


class Average(NamedTuple):
    """One number per item and dimension, the effective number of ratings behind it, and leave-one-out versions."""

    mean: np.ndarray  # (M, D) NaN where there is no rating
    n_eff: np.ndarray  # (M, D) (sum w)^2 / sum w^2
    left_out: np.ndarray  # (J, D) without the judgement itself, NaN where nothing is left


def weighted_mean(value: np.ndarray, weight: np.ndarray, item_of: np.ndarray, M: int) -> Average:
    """Means with weights (J, D); where all weights of an item are zero, its ratings count equally."""
    seen = ~np.isnan(value)
    w = np.where(seen, weight, 0.0)
    empty = segment_sum(w, item_of, M) <= 0
    w = np.where(empty[item_of] & seen, 1.0, w)
    y = np.where(seen, value, 0.0)
    total, squares = segment_sum(w, item_of, M), segment_sum(w * w, item_of, M)
    weighted = segment_sum(w * y, item_of, M)
    rest = total[item_of] - w
    # What is left after subtracting the only rating is rounding, not weight.
    others = (segment_sum(seen.astype(float), item_of, M)[item_of] - seen > 0) & (rest > 1e-12 * total[item_of])
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(total > 0, weighted / total, np.nan)
        n_eff = np.where(total > 0, total**2 / squares, 0.0)
        left_out = np.where(others, (weighted[item_of] - w * y) / rest, np.nan)
    return Average(mean, n_eff, left_out)


def median(value: np.ndarray, item_of: np.ndarray, M: int) -> Average:
    """Medians; the effective number of ratings accounts for the median's larger variance under normal noise (pi/2)."""
    D = value.shape[1]
    mean, n_eff, left_out = np.full((M, D), np.nan), np.zeros((M, D)), np.full(value.shape, np.nan)
    for d in range(D):
        seen = np.flatnonzero(~np.isnan(value[:, d]))
        order = seen[np.lexsort((value[seen, d], item_of[seen]))]
        items = item_of[order]
        n = np.bincount(items, minlength=M)
        first = np.cumsum(n) - n
        sorted_values = value[order, d]
        rank = np.arange(len(order)) - first[items]
        rated = np.flatnonzero(n)
        mean[rated, d] = _middle(sorted_values, first[rated], n[rated], n[rated])
        n_eff[:, d] = np.where(n > 2, n * 2 / np.pi, n)
        several = n[items] > 1
        who = order[several]
        left_out[who, d] = _middle(sorted_values, first[items[several]], n[items[several]] - 1, rank[several])
    return Average(mean, n_eff, left_out)


def _middle(values: np.ndarray, first: np.ndarray, n: np.ndarray, skipped: np.ndarray) -> np.ndarray:
    """Medians of n sorted values from `first` on, jumping over the one of rank `skipped` (n or more: none)."""

    def at(position: np.ndarray) -> np.ndarray:
        return np.asarray(values[first + position + (position >= skipped)])

    return np.asarray((at((n - 1) // 2) + at(n // 2)) / 2)
