"""Slow and obvious agreement: loops over pairs of ratings, matrices written out, resampled tables."""

from __future__ import annotations

import numpy as np


def ordinal_distance(values, counts, a, b):
    low, high = sorted((values.index(a), values.index(b)))
    return (sum(counts[low : high + 1]) - (counts[low] + counts[high]) / 2) ** 2


def alpha(table, level="interval"):
    """Krippendorff's alpha of a table (units, raters) from all pairs of values."""
    units = [row[~np.isnan(row)].tolist() for row in table]
    units = [row for row in units if len(row) > 1]
    pooled = [v for row in units for v in row]
    values = sorted(set(pooled))
    counts = [pooled.count(v) for v in values]

    def distance(a, b):
        return (a - b) ** 2 if level == "interval" else ordinal_distance(values, counts, a, b)

    n = len(pooled)
    observed = sum(
        distance(a, b) / (len(row) - 1) for row in units for i, a in enumerate(row) for j, b in enumerate(row) if i != j
    )
    expected = sum(distance(a, b) for i, a in enumerate(pooled) for j, b in enumerate(pooled) if i != j)
    return 1 - (observed / n) / (expected / (n * (n - 1)))


def ac2(table, weights="quadratic"):
    """Gwet's coefficient of a table (units, raters) from counts of answers, as in Gwet (2014)."""
    values = np.unique(table[~np.isnan(table)])
    C = len(values)
    apart = np.abs(values[:, None] - values)
    w = np.eye(C) if weights == "identity" else 1 - apart**2 / apart.max() ** 2
    count = np.array([[np.sum(row == v) for v in values] for row in table])
    count = count[count.sum(axis=1) > 0]
    r = count.sum(axis=1)
    agreeing = [
        sum(c[k] * ((w[k] @ c) - 1) for k in range(C)) / (m * (m - 1)) for c, m in zip(count, r, strict=True) if m > 1
    ]
    share = (count / r[:, None]).mean(axis=0)
    chance = w.sum() / (C * (C - 1)) * np.sum(share * (1 - share))
    return (np.mean(agreeing) - chance) / (1 - chance)


def linear_kappa(x, y):
    """Cohen's kappa with linear weights in the values of the answers."""
    observed = np.mean(np.abs(x - y))
    expected = np.mean(np.abs(x[:, None] - y))
    return 1 - observed / expected


def components(y, unit, rater):
    """Henderson's first method with projections as dense matrices."""
    y = y - y.mean()
    one = np.ones((len(y), 1))
    Z = [(code[:, None] == np.unique(code)).astype(float) for code in (unit, rater)] + [np.eye(len(y))]
    forms = [A @ np.linalg.pinv(A) - one @ np.linalg.pinv(one) for A in Z]
    expected = np.array([[np.trace(Q @ A @ A.T) for A in Z] for Q in forms])
    return np.linalg.solve(expected, [y @ Q @ y for Q in forms])


def overlap_weight(unit, rater):
    """q of Putka et al. (2008): from every pair of units and the raters they share."""
    units = np.unique(unit)
    who = [set(rater[unit == u].tolist()) for u in units]
    size = [len(one) for one in who]
    kh = len(units) / sum(1 / n for n in size)
    pairs = [(i, j) for i in range(len(units)) for j in range(len(units)) if i != j]
    shared = sum(len(who[i] & who[j]) / (size[i] * size[j]) for i, j in pairs) / len(pairs)
    return kh, 1 / kh - shared


def rater_fit(y, unit, rater, s2_i, s2_r, s2_e):
    """Severity, infit and outfit with the covariance of all ratings written out."""
    Zi, Zr = ((code[:, None] == np.unique(code)).astype(float) for code in (unit, rater))
    V = s2_i * Zi @ Zi.T + s2_r * Zr @ Zr.T + s2_e * np.eye(len(y))
    one = np.ones(len(y))
    mu = (one @ np.linalg.solve(V, y)) / (one @ np.linalg.solve(V, one))
    severity = s2_r * Zr.T @ np.linalg.solve(V, y - mu)
    error, variance = np.full(len(y), np.nan), np.full(len(y), np.nan)
    for j in range(len(y)):
        others = (unit == unit[j]) & (np.arange(len(y)) != j)
        if others.any():
            n = others.sum()
            S = s2_i * np.ones((n, n)) + s2_e * np.eye(n)
            left = (y - mu - Zr @ severity)[others]
            error[j] = y[j] - mu - Zr[j] @ severity - s2_i * np.ones(n) @ np.linalg.solve(S, left)
            variance[j] = s2_e + s2_i - s2_i**2 * np.ones(n) @ np.linalg.solve(S, np.ones(n))
    mine = [(rater == r) & ~np.isnan(error) for r in np.unique(rater)]
    infit = [np.sum(error[m] ** 2) / np.sum(variance[m]) for m in mine]
    return severity, np.array(infit), np.array([np.mean(error[m] ** 2 / variance[m]) for m in mine])
