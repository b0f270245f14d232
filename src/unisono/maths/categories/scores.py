"""Class probabilities against a reference: accuracy, macro F1, log loss, and how far stated probabilities are off.

Symbols: n items compared, C classes. Imports NumPy alone.
"""

from __future__ import annotations

import numpy as np

SMALLEST = 1e-6  # a class that was thought impossible costs log(1e6) nats, not infinitely many
BINS = 10


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
