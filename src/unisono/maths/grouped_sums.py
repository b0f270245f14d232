"""Sums, means, medians, correlations and regressions over the rows of each group, without loops over groups.

A group is an item or an annotator. Values are (J, D) with NaN where missing, `of` (J,) says which group a row belongs
to. Spread below `tiny` (standardised units) counts as none. Averages of items come with leave-one-out versions; their
ratings are sorted by item, and nothing is iterative.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

TINY = 1e-6  # numerical: next to nothing


def rows_by_group(of: np.ndarray) -> np.ndarray:
    """Rows sorted by group (J,), numbered from 0, in their own order within each.

    Numbers of 16 bits are sorted by counting, larger ones half by half.
    """
    order = np.argsort((of & 0xFFFF).astype(np.uint16), kind="stable")
    upper = of >> 16
    return order[rows_by_group(upper[order])] if upper.any() else order


def segment_sum(values: np.ndarray, of: np.ndarray, size: int) -> np.ndarray:
    """(size, D) sums of the rows of values (J, D) by `of` (J,)."""
    columns = [np.bincount(of, weights=values[:, d], minlength=size) for d in range(values.shape[1])]
    return np.stack(columns, axis=1) if columns else np.zeros((size, 0))


def grouped_correlation(x: np.ndarray, y: np.ndarray, of: np.ndarray, K: int, tiny: float = TINY) -> np.ndarray:
    """(K, D) correlation of x and y (J, D) over the rows of each annotator, NaN where undefined."""
    found = paired_sums(x, y, of, K)
    return correlation_of_sums(found.n, found.xx, found.yy, found.xy, tiny)


class PairedSums(NamedTuple):
    """Of pairs (x, y) of each group: how many, their means, and sums of squares and products around these; (K, D)."""

    n: np.ndarray
    x: np.ndarray
    y: np.ndarray
    xx: np.ndarray
    yy: np.ndarray
    xy: np.ndarray


def paired_sums(x: np.ndarray, y: np.ndarray, of: np.ndarray, K: int) -> PairedSums:
    """Of the rows of x and y (J, D) where both are known."""
    D, of = x.shape[1], of.astype(np.intp)
    found = np.empty((len(PairedSums._fields), K, D))
    for d in range(D):
        who, pair = of, [np.ascontiguousarray(values[:, d]) for values in (x, y)]
        seen = ~np.isnan(pair[0] + pair[1])
        if not seen.all():
            who, pair = of[seen], [values[seen] for values in pair]
        n = np.bincount(who, minlength=K)
        means = [np.bincount(who, values, minlength=K) / np.maximum(n, 1) for values in pair]
        a, b = (values - mean[who] for values, mean in zip(pair, means, strict=True))
        products = (np.bincount(who, product, minlength=K) for product in (a * a, b * b, a * b))
        found[:, :, d] = n, *means, *products
    return PairedSums(*found)


def add_paired(one: PairedSums, other: PairedSums) -> PairedSums:
    """Of the rows of both."""
    n = one.n + other.n
    share = other.n / np.maximum(n, 1)
    dx, dy, between = other.x - one.x, other.y - one.y, one.n * share
    return PairedSums(
        n,
        one.x + share * dx,
        one.y + share * dy,
        one.xx + other.xx + between * dx * dx,
        one.yy + other.yy + between * dy * dy,
        one.xy + other.xy + between * dx * dy,
    )


def correlation_of_sums(
    n: np.ndarray, sxx: np.ndarray, syy: np.ndarray, sxy: np.ndarray, tiny: float = TINY
) -> np.ndarray:
    """Correlations from numbers of rows and centred sums of squares and products; NaN where undefined."""
    defined = (n >= 3) & (sxx > tiny**2) & (syy > tiny**2)
    scale = np.sqrt(np.where(defined, sxx * syy, 1.0))
    return np.asarray(np.where(defined, np.clip(sxy / scale, -1.0, 1.0), np.nan))


def grouped_regression(
    z: np.ndarray, truth: np.ndarray, of: np.ndarray, K: int, tiny: float = TINY
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean difference, slope and residual sd, each (K, D), of answers on truth (J, D); NaN where undefined."""
    seen = ~np.isnan(z) & ~np.isnan(truth)
    n = segment_sum(seen.astype(float), of, K)
    safe = np.maximum(n, 1)
    x, y = np.where(seen, truth, 0.0), np.where(seen, z, 0.0)
    bias = segment_sum(y - x, of, K) / safe
    xc = np.where(seen, x - (segment_sum(x, of, K) / safe)[of], 0.0)
    yc = np.where(seen, y - (segment_sum(y, of, K) / safe)[of], 0.0)
    sxx, sxy, syy = segment_sum(xc * xc, of, K), segment_sum(xc * yc, of, K), segment_sum(yc * yc, of, K)
    defined = (n >= 3) & (sxx > tiny**2)
    slope = sxy / np.where(defined, sxx, 1.0)
    left = np.maximum(syy - slope * sxy, 0.0) / np.maximum(n - 2, 1)
    return (
        np.where(n > 0, bias, np.nan),
        np.where(defined, slope, np.nan),
        np.where(defined, np.sqrt(left), np.nan),
    )


class Average(NamedTuple):
    """One number per item and dimension, the effective number of ratings behind it, and leave-one-out versions."""

    mean: np.ndarray  # (M, D) NaN where there is no rating
    n_eff: np.ndarray  # (M, D) (sum w)^2 / sum w^2
    left_out: np.ndarray  # (J, D) without the judgement itself, NaN where nothing is left


def weighted_mean(value: np.ndarray, weight: np.ndarray, item_of: np.ndarray, M: int) -> Average:
    """Means with weights (J, D); where all weights of an item are zero, its ratings count equally."""
    seen = ~np.isnan(value)
    rows = np.bincount(item_of, minlength=M)

    def of_items(sums: np.ndarray) -> np.ndarray:
        return np.repeat(sums, rows, axis=0)  # ratings are sorted by item

    w = np.where(seen, weight, 0.0)
    total = segment_sum(w, item_of, M)
    empty = total <= 0
    if empty.any():
        w = np.where(of_items(empty) & seen, 1.0, w)
        total = segment_sum(w, item_of, M)
    wy = w * np.where(seen, value, 0.0)
    squares, weighted = segment_sum(w * w, item_of, M), segment_sum(wy, item_of, M)
    all_weight = of_items(total)
    rest = all_weight - w
    given = rows[:, None] if seen.all() else segment_sum(seen.astype(float), item_of, M)
    # What is left after subtracting the only rating is rounding, not weight.
    others = (of_items(given) - seen > 0) & (rest > 1e-12 * all_weight)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(total > 0, weighted / total, np.nan)
        n_eff = np.where(total > 0, total**2 / squares, 0.0)
        left_out = np.where(others, (of_items(weighted) - wy) / rest, np.nan)
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
