"""Sums, means, medians, correlations and regressions over the rows of each group, without loops over groups.

A group is an item or an annotator. Values are (J, D) with NaN where missing, `of` (J,) says which group a row belongs
to. Spread below `tiny` (standardised units) counts as none. Nothing is iterative.
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
    """One number per item and dimension, and the effective number of ratings behind it."""

    mean: np.ndarray  # (M, D) NaN where there is no rating
    n_eff: np.ndarray  # (M, D) (sum w)^2 / sum w^2


def weighted_mean(value: np.ndarray, weight: np.ndarray | None, item_of: np.ndarray, M: int) -> Average:
    """Means with weights (J, D), or equal ones; where all weights of an item are zero, its ratings count equally."""
    sums = _weighted_sums(value, weight, item_of, M)
    squares = sums.total if sums.equal else segment_sum(sums.w * sums.w, item_of, M)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(sums.total > 0, sums.weighted / sums.total, np.nan)
        return Average(mean, np.where(sums.total > 0, sums.total**2 / squares, 0.0))


def weighted_mean_of_others(value: np.ndarray, weight: np.ndarray | None, item_of: np.ndarray, M: int) -> np.ndarray:
    """(J, D) the same without the judgement itself, NaN where nothing is left; ratings are sorted by item."""
    sums, seen = _weighted_sums(value, weight, item_of, M), ~np.isnan(value)
    rows = np.bincount(item_of, minlength=M)
    given, all_weight, weighted = (
        np.repeat(of_items, rows, axis=0)
        for of_items in (segment_sum(seen.astype(float), item_of, M), sums.total, sums.weighted)
    )
    rest = all_weight - sums.w
    # What is left after subtracting the only rating is rounding, not weight.
    others = (given - seen > 0) & (rest > 1e-12 * all_weight)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(others, (weighted - sums.w * np.where(seen, value, 0.0)) / rest, np.nan)


class _WeightedSums(NamedTuple):
    w: np.ndarray  # (J, D) weights, zero where missing
    total: np.ndarray  # (M, D) of weights
    weighted: np.ndarray  # (M, D) of answers times weights
    equal: bool  # whether all weights are 1 or 0


def _weighted_sums(value: np.ndarray, weight: np.ndarray | None, item_of: np.ndarray, M: int) -> _WeightedSums:
    seen = ~np.isnan(value)
    if weight is None and seen.all():
        n = np.bincount(item_of, minlength=M).astype(float)
        w = np.broadcast_to(1.0, value.shape)
        return _WeightedSums(w, np.broadcast_to(n[:, None], (M, value.shape[1])), segment_sum(value, item_of, M), True)
    w = np.where(seen, 1.0 if weight is None else weight, 0.0)
    total = segment_sum(w, item_of, M)
    if (empty := total <= 0).any():
        w = np.where(empty[item_of] & seen, 1.0, w)
        total = segment_sum(w, item_of, M)
    return _WeightedSums(w, total, segment_sum(w * np.where(seen, value, 0.0), item_of, M), weight is None)


def median(value: np.ndarray, item_of: np.ndarray, M: int) -> Average:
    """Medians; the effective number of ratings accounts for the median's larger variance under normal noise (pi/2)."""
    D = value.shape[1]
    mean, n_eff = np.full((M, D), np.nan), np.zeros((M, D))
    for d in range(D):
        own = _sorted_answers(value[:, d], item_of, M)
        rated = np.flatnonzero(own.n)
        mean[rated, d] = _middle(own.value, own.first[rated], own.n[rated], own.n[rated])
        n_eff[:, d] = np.where(own.n > 2, own.n * 2 / np.pi, own.n)
    return Average(mean, n_eff)


def median_of_others(value: np.ndarray, item_of: np.ndarray, M: int) -> np.ndarray:
    """(J, D) medians without the judgement itself, NaN where nothing is left."""
    left_out = np.full(value.shape, np.nan)
    for d in range(value.shape[1]):
        own = _sorted_answers(value[:, d], item_of, M)
        items = item_of[own.order]
        rank = np.arange(len(items)) - own.first[items]
        several = own.n[items] > 1
        rows, items = own.order[several], items[several]
        left_out[rows, d] = _middle(own.value, own.first[items], own.n[items] - 1, rank[several])
    return left_out


class _SortedAnswers(NamedTuple):
    order: np.ndarray  # rows that are known, by item and then by value
    value: np.ndarray  # their values
    n: np.ndarray  # (M,) how many of each item
    first: np.ndarray  # (M,) where those of an item begin


def _sorted_answers(column: np.ndarray, item_of: np.ndarray, M: int) -> _SortedAnswers:
    seen = np.flatnonzero(~np.isnan(column))
    order = seen[np.lexsort((column[seen], item_of[seen]))]
    n = np.bincount(item_of[order], minlength=M)
    return _SortedAnswers(order, column[order], n, np.cumsum(n) - n)


def _middle(values: np.ndarray, first: np.ndarray, n: np.ndarray, skipped: np.ndarray) -> np.ndarray:
    """Medians of n sorted values from `first` on, jumping over the one of rank `skipped` (n or more: none)."""

    def at(position: np.ndarray) -> np.ndarray:
        return np.asarray(values[first + position + (position >= skipped)])

    return np.asarray((at((n - 1) // 2) + at(n // 2)) / 2)
