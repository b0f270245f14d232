"""Reliability of an estimate that states the variance of its own error.

    1 - mean V / Sigma       V error variances of the estimates, Sigma the variance of the truth over units

For a posterior mean, which is drawn to the middle, Sigma is the variance of the estimates plus the mean of V. For other
estimates it is their variance, which is right on the scale of the truth. For a plain mean, whose own error adds to its
variance, 1 - V / variance is the squared correlation with the truth.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.agreement.bootstrap import Blocks
from unisono.maths.agreement.coded import sums_by


def estimate_reliability(
    mean: np.ndarray, variance: np.ndarray, blocks: Blocks, W: np.ndarray, *, shrunk: bool
) -> np.ndarray:
    """(B,) between 0 and 1, for estimates (S,) with error variances (S,) and weights W (B, G) of blocks of units."""
    away = mean - mean.mean() if len(mean) else mean
    by_unit = (np.ones(len(mean)), away, away**2, variance)
    n, total, square, error = (W @ np.stack([sums_by(blocks.of, v, blocks.G) for v in by_unit], axis=1)).T
    size = np.maximum(n, 1)
    error = error / size
    spread = (square - total**2 / size) / np.maximum(n - 1, 1)
    truth = spread + error if shrunk else spread
    defined = (n > 1) & (truth > 0)
    return np.where(defined, np.clip(1 - error / np.where(defined, truth, 1.0), 0.0, 1.0), np.nan)
