"""Sums, correlations and regressions over the rows of each group (item or annotator), without loops over groups.

Values are (J, D) with NaN where missing, `of` (J,) says which group a row belongs to. Spread below `tiny` (standardised
units) counts as none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

TINY = 1e-6


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
