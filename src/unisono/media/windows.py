"""Sliding windows over measured frames, at the frames of a clock. A window looks back: a rater has not seen what comes.

At the beginning a window holds what there is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

FUNCTIONALS = ("mean", "max", "min", "std", "range", "kurtosis", "skewness", "iqr")


def window_ends(frames: int, measured_rate: float, rate: float) -> np.ndarray:
    """(T,) for every frame of the clock how many measured frames lie at or before it; at least one."""
    T = max(int(np.floor((frames - 1) / measured_rate * rate + 1e-9)) + 1, 1)
    seen = np.floor(np.arange(T) / rate * measured_rate + 1e-9).astype(int) + 1
    return np.asarray(np.clip(seen, 1, frames))


def windowed_mean(value: np.ndarray, measured_rate: float, rate: float, window: float) -> np.ndarray:
    """(T, P) mean of the measured frames (S, P) of the last `window` seconds, at every frame of the clock."""
    end = window_ends(len(value), measured_rate, rate)
    start = np.maximum(end - max(round(window * measured_rate), 1), 0)
    total = np.concatenate([np.zeros((1, value.shape[1])), np.cumsum(value, axis=0)])
    return np.asarray((total[end] - total[start]) / (end - start)[:, None])


def windowed_functionals(value: np.ndarray, measured_rate: float, rate: float, window: float) -> np.ndarray:
    """(T, 8 P) the eight functionals of every column over the last `window` seconds, functional by functional."""
    end = window_ends(len(value), measured_rate, rate)
    start = np.maximum(end - max(round(window * measured_rate), 1), 0)
    return np.stack([_functionals(value[a:b]).ravel() for a, b in zip(start.tolist(), end.tolist(), strict=True)])


def _functionals(x: np.ndarray) -> np.ndarray:
    """(8, P) in the order of FUNCTIONALS; moments are those of the frames at hand, kurtosis of a normal is 0."""
    mean, low, high = x.mean(axis=0), x.min(axis=0), x.max(axis=0)
    away = x - mean
    std = np.sqrt((away**2).mean(axis=0))
    flat = std <= 1e-12 * np.maximum(np.abs(mean), 1.0)
    unit = np.where(flat, 1.0, std)
    upper, lower = np.percentile(x, (75, 25), axis=0)
    kurtosis = np.where(flat, 0.0, ((away / unit) ** 4).mean(axis=0) - 3.0)
    skewness = np.where(flat, 0.0, ((away / unit) ** 3).mean(axis=0))
    return np.stack([mean, high, low, std, high - low, kurtosis, skewness, upper - lower])


OnFrame = Callable[[int, int], None]  # frames done, frames in all
