"""Pooled location and scale of ratings: of traces, features, and everything whose rows are alike."""

from __future__ import annotations

import numpy as np

NO_SPREAD = 1e-12  # share of the largest value: a smaller standard deviation is the rounding of a constant


def pooled_moments(value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean (D,) and standard deviation (D,) of all ratings (J, D) of each dimension."""
    D = value.shape[1]
    loc, scale = np.zeros(D), np.ones(D)
    for d in range(D):
        seen = value[~np.isnan(value[:, d]), d]
        if len(seen):
            loc[d], scale[d] = _mean_and_sd(seen)
    return loc, scale


def _mean_and_sd(seen: np.ndarray) -> tuple[float, float]:
    """Of values without spread, the largest takes the place of the standard deviation; of zeros, 1."""
    # Divided by the largest first, so that squares of very large or very small ratings neither overflow nor vanish.
    largest = float(np.abs(seen).max())
    if largest == 0:
        return 0.0, 1.0
    part = seen / largest
    mean = float(part.mean())
    sd = float(np.sqrt(np.mean((part - mean) ** 2)))
    return mean * largest, sd * largest if sd > NO_SPREAD else largest
