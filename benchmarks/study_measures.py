"""How close an estimate comes to the target of a study, the target's noise taken out.

pearson   with the target as it is
ccc       with the truth behind the target: the target's noise is taken out of its variance
error     squared error to that truth, over the variance of the target
cover     share of targets inside the 90 % interval, widened by the target's own noise
"""

from __future__ import annotations

import numpy as np

from benchmarks.study_cases import Target
from unisono.maths.items.item_estimates import half_width
from unisono.maths.metrics import pearson

NAMES = ("pearson", "ccc", "error", "cover")
LEAST_SIGNAL = 0.02  # of a target's variance that is taken for signal, however noisy it is
FEWEST_ITEMS = 3


def measures(mean: np.ndarray, low: np.ndarray, high: np.ndarray, target: Target) -> dict[str, float | None]:
    """Means over dimensions; None where a reference is not on the scale of the ratings."""
    rows = []
    for d in range(mean.shape[1]):
        at = np.flatnonzero(~np.isnan(target.value[:, d]) & ~np.isnan(mean[:, d]))
        if len(at) >= FEWEST_ITEMS and np.ptp(target.value[at, d]) > 0:
            columns = (part[at, d] for part in (mean, low, high, target.value, target.noise))
            rows.append(_one_dimension(*columns))
    found = np.mean(rows, axis=0) if rows else np.full(len(NAMES), np.nan)
    shown = {name: float(value) if np.isfinite(value) else None for name, value in zip(NAMES, found, strict=True)}
    return shown if target.comparable else dict.fromkeys(NAMES) | {"pearson": shown["pearson"]}


def _one_dimension(
    mean: np.ndarray, low: np.ndarray, high: np.ndarray, value: np.ndarray, noise: np.ndarray
) -> tuple[float, float, float, float]:
    total, blur = value.var(), noise.mean()
    truth = max(total - blur, LEAST_SIGNAL * total)
    together = ((mean - mean.mean()) * (value - value.mean())).mean()
    ccc = 2 * together / (mean.var() + truth + (mean.mean() - value.mean()) ** 2)
    error = max(((mean - value) ** 2).mean() - blur, 0.0) / total
    reach = np.sqrt(((high - low) / 2) ** 2 + half_width(0.9, np.inf) ** 2 * noise)
    cover = (np.abs((low + high) / 2 - value) <= reach).mean()
    order = float(pearson(mean, value)) if np.ptp(mean) > 0 else 0.0
    return order, float(ccc), float(error), float(cover)
