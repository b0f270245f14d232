"""How far annotators agree, before any model: Krippendorff's alpha, intraclass correlations, leave-one-out agreement.

All take ratings end to end, one number per (unit, rater) pair with NaN where missing, and cost O(N log N). A unit is
an item, or a frame of a recording.

Symbols: y rating, i unit, j rater, n_i ratings of unit i, N ratings, I units, K raters.
Imports NumPy alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Icc(NamedTuple):
    """Intraclass correlations of the two-way random model, in the notation of McGraw and Wong (1996)."""

    a1: float  # ICC(A,1): absolute agreement of single ratings
    ak: float  # ICC(A,k): absolute agreement of the mean of k ratings
    c1: float  # ICC(C,1): consistency of single ratings
    ck: float  # ICC(C,k): consistency of the mean of k ratings
    k: float  # ratings behind the mean: harmonic mean of the ratings per unit


class Components(NamedTuple):
    """Variance between units, between raters, and what is left."""

    unit: float
    rater: float
    residual: float


class Agreement(NamedTuple):
    """Agreement dimension by dimension."""

    alpha: np.ndarray  # (D,) Krippendorff's alpha, interval data
    icc: tuple[Icc, ...]  # (D,)
    others: np.ndarray  # (K, D) Pearson of each rater with the mean of all others


def agreement(value: np.ndarray, unit: np.ndarray, rater: np.ndarray, raters: int) -> Agreement:
    """All figures for ratings `value` (N, D) of units `unit` (N,) by raters `rater` (N,)."""
    columns = [value[:, d] for d in range(value.shape[1])]
    return Agreement(
        np.array([krippendorff_alpha(y, unit) for y in columns]),
        tuple(icc(y, unit, rater) for y in columns),
        np.stack([leave_one_out(y, unit, rater, raters) for y in columns], axis=1),
    )


def krippendorff_alpha(y: np.ndarray, unit: np.ndarray) -> float:
    """Krippendorff's alpha for interval data: 1 - observed / expected disagreement.

    With squared differences the sum over pairs of values is a sum of squares about the mean, so no pair is ever formed:
    sum over i != j of (y_i - y_j)^2 = 2 n sum_i (y_i - mean)^2. Units with one rating do not count.
    """
    known = ~np.isnan(y)
    y, unit, count = _relabelled(y[known], unit[known])
    paired = count[unit] > 1
    if not paired.any():
        return float("nan")
    y, unit, count = _relabelled(y[paired], unit[paired])
    if y.min() == y.max():
        return float("nan")
    y = y - y.mean()
    within = np.bincount(unit, weights=(y - _group_mean(y, unit, count)) ** 2)
    observed = np.sum(count / (count - 1) * within) / len(y)
    expected = np.sum(y**2) / (len(y) - 1)
    return float(1 - observed / expected)


def icc(y: np.ndarray, unit: np.ndarray, rater: np.ndarray) -> Icc:
    """Intraclass correlations; equal to the analysis of variance where every rater rated every unit.

    Negative variances are kept, as in the analysis of variance: a value below zero says that units differ less than
    chance would have it.
    """
    found = variance_components(y, unit, rater)
    _, _, count = _relabelled(y[~np.isnan(y)], unit[~np.isnan(y)])
    k = float(len(count) / np.sum(1 / count)) if len(count) else float("nan")
    absolute, consistent = found.rater + found.residual, found.residual
    return Icc(
        _share(found.unit, absolute),
        _share(found.unit, absolute / k),
        _share(found.unit, consistent),
        _share(found.unit, consistent / k),
        k,
    )


def variance_components(y: np.ndarray, unit: np.ndarray, rater: np.ndarray) -> Components:
    """Moment estimates for y_ij = mu + unit_i + rater_j + rest, for any pattern of missing ratings.

    Henderson's first method: sums of squares of unit means, rater means and ratings are set equal to what the model
    expects of them. Complete data give the estimates of the analysis of variance.
    """
    known = ~np.isnan(y)
    y, unit, n_i = _relabelled(y[known], unit[known])
    if len(y) < 3:
        return Components(*[float("nan")] * 3)
    _, rater, n_j = _relabelled(y, rater[known])
    y = y - y.mean()  # the sum of squares of the grand mean is then zero
    N, I, K = len(y), len(n_i), len(n_j)
    squares = np.array([np.sum(n_i * _means(y, unit, n_i) ** 2), np.sum(n_j * _means(y, rater, n_j) ** 2), y @ y])
    spread_i, spread_j = np.sum(n_i**2) / N, np.sum(n_j**2) / N
    expected = np.array(
        [
            [N - spread_i, I - spread_j, I - 1],
            [K - spread_i, N - spread_j, K - 1],
            [N - spread_i, N - spread_j, N - 1],
        ]
    )
    if np.linalg.matrix_rank(expected) < 3:
        return Components(*[float("nan")] * 3)
    return Components(*np.linalg.solve(expected, squares).tolist())


def leave_one_out(y: np.ndarray, unit: np.ndarray, rater: np.ndarray, raters: int) -> np.ndarray:
    """(K,) Pearson's correlation of each rater with the mean of the others on the same units; NaN where undefined."""
    known = ~np.isnan(y)
    y, rater = y[known], rater[known]
    _, unit, count = _relabelled(y, unit[known])
    shared = count[unit] > 1
    y, unit, rater = y[shared], unit[shared], rater[shared]
    if not len(y):
        return np.full(raters, np.nan)
    y = y - y.mean()
    total = np.bincount(unit, weights=y, minlength=len(count))
    return _grouped_pearson(y, (total[unit] - y) / (count[unit] - 1), rater, raters)


def _grouped_pearson(x: np.ndarray, y: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """(groups,) Pearson's correlation within each group of pairs."""
    size = np.maximum(np.bincount(group, minlength=groups), 1)
    spread = np.abs(x).max() or 1.0, np.abs(y).max() or 1.0
    x, y = (z / s - _group_mean(z / s, group, size) for z, s in zip((x, y), spread, strict=True))
    xx, yy, xy = (np.bincount(group, weights=w, minlength=groups) for w in (x * x, y * y, x * y))
    # Deviations at the level of rounding are no variation.
    defined = (xx > 1e-24 * size) & (yy > 1e-24 * size)
    return np.asarray(np.where(defined, xy / np.sqrt(np.where(defined, xx * yy, 1.0)), np.nan))


def _relabelled(y: np.ndarray, code: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The numbers, their groups numbered without holes, and the size of each group."""
    _, dense, count = np.unique(code, return_inverse=True, return_counts=True)
    return y, dense, count


def _means(y: np.ndarray, group: np.ndarray, size: np.ndarray) -> np.ndarray:
    return np.asarray(np.bincount(group, weights=y, minlength=len(size)) / size)


def _group_mean(y: np.ndarray, group: np.ndarray, size: np.ndarray) -> np.ndarray:
    """(N,) the mean of each number's own group."""
    return np.asarray(_means(y, group, size)[group])


def _share(part: float, rest: float) -> float:
    whole = part + rest
    return part / whole if whole > 0 else float("nan")
