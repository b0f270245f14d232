"""How close an estimate comes to a reference: CCC, Pearson, RMSE, Spearman, on 1-d arrays.

Pairs in which either number is missing are left out. Where a figure is not defined (too few pairs, no variation) the
answer is NaN, silently: a table of scores should come out whole.

Symbols: x estimate, y reference, n pairs; s_xy, s_x2, s_y2 covariance and variances, with divisor n.
Imports NumPy and SciPy alone.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata


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
    return pearson(rankdata(x), rankdata(y))


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
