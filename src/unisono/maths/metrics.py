"""How close an estimate comes to a reference, and whether one is better than another or it was luck.

Scores: CCC, Pearson, RMSE, Spearman; for classes accuracy, macro F1, log loss and calibration. Pairs in which either
number is missing are left out. Where a figure is not defined (too few pairs, no variation) the answer is NaN, silently:
a table of scores should come out whole. Significance: bootstrap over items, t-test over folds.

Nothing in the published joint model ties latent dimension 1 to rated dimension 1, nor fixes its sign; the paper
resolves this label switching by hand. Here the best assignment of estimated to known dimensions is computed
(`best_switch`).

Symbols: x estimate, y reference, n pairs; s_xy, s_x2, s_y2 covariance and variances, with divisor n; C classes and
p (n, C) their probabilities; of significance, N items (or frames), D dimensions, R resamples, C folds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from scipy.special import stdtr


def ccc(x: np.ndarray, y: np.ndarray) -> float:
    """Concordance correlation coefficient: 2 s_xy / (s_x2 + s_y2 + (mean x - mean y)^2).

    As in the paper, and as Lin (1989) estimates it: moments have divisor n. The divisor n - 1 would
    count the difference in means for less and give a value slightly further from zero.
    """
    x, y = complete_pairs(x, y)
    if len(x) < 2 or (_is_flat(x) and _is_flat(y)):
        return float("nan")
    dx, dy = x - x.mean(), y - y.mean()
    return float(2 * np.mean(dx * dy) / (np.mean(dx**2) + np.mean(dy**2) + (x.mean() - y.mean()) ** 2))


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson's correlation coefficient."""
    x, y = complete_pairs(x, y)
    if len(x) < 2 or _is_flat(x) or _is_flat(y):
        return float("nan")
    dx, dy = x - x.mean(), y - y.mean()
    # Scaled before they are multiplied, so that very small deviations do not vanish.
    dx, dy = dx / np.abs(dx).max(), dy / np.abs(dy).max()
    return float(np.clip(dx @ dy / np.sqrt((dx @ dx) * (dy @ dy)), -1.0, 1.0))


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's rank correlation: Pearson's of the ranks, equal numbers sharing their mean rank."""
    x, y = complete_pairs(x, y)
    return pearson(scipy.stats.rankdata(x), scipy.stats.rankdata(y))


def rmse(x: np.ndarray, y: np.ndarray) -> float:
    """Root of the mean squared difference."""
    x, y = complete_pairs(x, y)
    return float(np.sqrt(np.mean((x - y) ** 2))) if len(x) else float("nan")


def complete_pairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of which both numbers are known."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"two 1-d arrays of one length are needed, not {x.shape} and {y.shape}")
    known = ~(np.isnan(x) | np.isnan(y))
    return x[known], y[known]


def _is_flat(x: np.ndarray) -> bool:
    # Compared, not computed: the variance of three times 0.1 is not exactly zero.
    return bool(x.min() == x.max())


class Switch(NamedTuple):
    """Dimension d of the truth is sign[d] times dimension order[d] of the estimate."""

    order: np.ndarray  # (D,)
    sign: np.ndarray  # (D,) +1 or -1

    def apply(self, estimate: np.ndarray) -> np.ndarray:
        """The estimate (N, E) as (N, D), in units in which zero is the middle."""
        return np.asarray(self.sign * estimate[:, self.order])


def best_switch(estimate: np.ndarray, known: np.ndarray) -> Switch:
    """The one-to-one assignment of estimated (N, E) to known dimensions (N, D), D <= E, with the highest sum of CCC.

    max over permutations and signs of sum_d ccc(sign_d a_order(d), known_d)                             eq. H5
    """
    D, E = known.shape[1], estimate.shape[1]
    score, sign = np.zeros((D, E)), np.ones((D, E))
    for d in range(D):
        for e in range(E):
            plus, minus = (np.nan_to_num(ccc(s * estimate[:, e], known[:, d]), nan=-1.0) for s in (1, -1))
            score[d, e], sign[d, e] = max(plus, minus), 1 if plus >= minus else -1
    rows, order = scipy.optimize.linear_sum_assignment(score, maximize=True)
    return Switch(order, sign[rows, order])


SMALLEST = 1e-6  # convention: a class that was thought impossible costs log(1e6) nats, not infinitely many
BINS = 10  # convention: of the calibration error


def accuracy(best: np.ndarray, truth: np.ndarray) -> float:
    """Share of items whose class (n,) is the true one (n,)."""
    return float(np.mean(best == truth)) if len(truth) else float("nan")


def macro_f1(best: np.ndarray, truth: np.ndarray, C: int) -> float:
    """Mean over classes that occur on either side of 2 hits / (chosen + true): rare classes count as much as others."""
    hits = np.bincount(truth[best == truth], minlength=C)
    total = np.bincount(best, minlength=C) + np.bincount(truth, minlength=C)
    return float(np.mean(2 * hits[total > 0] / total[total > 0])) if total.any() else float("nan")


def log_loss(p: np.ndarray, truth: np.ndarray) -> float:
    """Mean negative log probability (n, C) of the true class, in nats."""
    if not len(truth):
        return float("nan")
    return float(-np.log(np.maximum(p[np.arange(len(truth)), truth], SMALLEST)).mean())


def calibration_error(sure: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error: stated probability (n,) against whether it is right (n,), in bins of equal size."""
    if not len(sure):
        return float("nan")
    bins = [part for part in np.array_split(np.argsort(sure, kind="stable"), BINS) if len(part)]
    return float(sum(len(part) * abs(sure[part].mean() - right[part].mean()) for part in bins) / len(sure))


SIGNIFICANT = 0.95  # published: share of resamples in which the better one has to be better; the paper's
RESAMPLES = 1000  # published: the paper's
BLOCK = 100  # numerical: resamples at a time, so that memory stays at this many times the data


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
