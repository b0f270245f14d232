"""Conjugate gradients for several right-hand sides at once: positive definite systems known by their products alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def conjugate_gradients(
    times: Callable[[np.ndarray], np.ndarray], rhs: np.ndarray, scale: np.ndarray, tolerance: float
) -> np.ndarray:
    """x with times(x) = rhs, a column each, preconditioned by the diagonal `scale`."""
    b = rhs[:, None] if rhs.ndim == 1 else rhs
    scale = scale[:, None]
    x, r = np.zeros_like(b), b.copy()
    z = r / scale
    p, rz = z, np.sum(r * z, axis=0)
    enough = tolerance**2 * np.maximum(rz, np.finfo(float).tiny)
    for _ in range(len(b)):
        if (rz <= enough).all():
            break
        Ap = times(p)
        along = rz / np.maximum(np.sum(p * Ap, axis=0), np.finfo(float).tiny)
        x, r = x + along * p, r - along * Ap
        z = r / scale
        new = np.sum(r * z, axis=0)
        p, rz = z + new / np.maximum(rz, np.finfo(float).tiny) * p, new
    return np.asarray(x.reshape(rhs.shape))
