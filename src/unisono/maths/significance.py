"""Is one estimate better than another, or was it luck? Bootstrap over items, t-test over folds.

Symbols: N items (or frames), D dimensions, R resamples, C folds.
Imports NumPy and SciPy alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

SIGNIFICANT = 0.95  # share of resamples in which the better one has to be better; the paper's
RESAMPLES = 1000  # the paper's
BLOCK = 100  # resamples at a time, so that memory stays at this many times the data


class PairedT(NamedTuple):
    """A mean difference with its standard error; `p` is two-sided."""

    mean: float
    se: float
    p: float
    wins: int  # folds in which the difference is positive
    folds: int


class Resampled(NamedTuple):
    """Scores in every resample."""

    ccc: np.ndarray  # (R, D)
    pearson: np.ndarray  # (R, D)


def paired_t(difference: np.ndarray, overlap: float = 0.0) -> PairedT:
    """The paired t-test over folds; NaN differences are left out.

    t = mean / sqrt((1/C + overlap) s^2), C - 1 degrees of freedom                                       eq. H3

    `overlap` 0 is the classical test, which the paper uses. Folds share most of their training data, so their
    differences are not independent and the classical standard error is too small; the size of a test fold divided by
    that of its training data (Nadeau and Bengio 2003) makes up for it.
    """
    d = difference[~np.isnan(difference)]
    C = len(d)
    if C < 2:
        return PairedT(float(d.mean()) if C else float("nan"), float("nan"), float("nan"), int((d > 0).sum()), C)
    mean, se = float(d.mean()), float(np.sqrt((1 / C + overlap) * d.var(ddof=1)))
    # Differences that are all zero are no evidence; all equal and not zero are as much as there can be.
    p = float(2 * stdtr(C - 1, -abs(mean) / se)) if se > 0 else float(mean == 0)
    return PairedT(mean, se, p, int((d > 0).sum()), C)


def standard_error(values: np.ndarray) -> float:
    """Of the mean of independent values; NaN ones are left out."""
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else float("nan")


def resample_counts(N: int, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """(R, N) how often each item is in each resample of N items with replacement."""
    return rng.multinomial(N, np.full(N, 1 / N), size=resamples)


def resampled_scores(estimate: np.ndarray, reference: np.ndarray, counts: np.ndarray) -> Resampled:
    """CCC and Pearson of (N, D) against (N, D) in every resample; pairs with a missing number are left out.

    The moments of a resample are weighted moments with its counts as weights, so no resample is ever copied.   eq. H4
    """
    known = ~(np.isnan(estimate) | np.isnan(reference))
    blocks = [
        _weighted_scores(estimate, reference, known, counts[start : start + BLOCK].astype(np.float64))
        for start in range(0, len(counts), BLOCK)
    ]
    return Resampled(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


def better_share(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(D,) the share of resamples (R, D) in which the first scores higher; NaN where scores are not defined."""
    known = ~(np.isnan(first) | np.isnan(second))
    with np.errstate(invalid="ignore"):
        return np.asarray((known & (first > second)).sum(axis=0) / known.sum(axis=0))


def _weighted_scores(
    x: np.ndarray, y: np.ndarray, known: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    # Both centred on the same point first, so that subtracting squares of means loses no digits.
    n = np.maximum(known.sum(axis=0), 1)
    center = np.where(known, y, 0.0).sum(axis=0) / n
    x, y = (np.where(known, z - center, 0.0) for z in (x, y))
    total = weight @ known
    with np.errstate(invalid="ignore", divide="ignore"):
        mx, my, xx, yy, xy = (weight @ z / total for z in (x, y, x * x, y * y, x * y))
        sxx, syy, sxy = np.maximum(xx - mx**2, 0.0), np.maximum(yy - my**2, 0.0), xy - mx * my
        return 2 * sxy / (sxx + syy + (mx - my) ** 2), sxy / np.sqrt(sxx * syy)
