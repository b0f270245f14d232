"""Moments of neighbouring frames: all that the truth's level, features, phi and sigma need to know.

For two series u, v of frames 0..n-1 the quasi-differences u[t] - phi u[t-1] (the first frame times sqrt(1 - phi^2))
have a cross-product that is a polynomial in phi; its coefficients are kept, so that phi can be searched for free.
Imports NumPy alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Lagged(NamedTuple):
    """Sums over recordings; u has A columns, v has B."""

    now: np.ndarray  # (A, B) sum over t >= 1 of u[t] v[t]'
    cross: np.ndarray  # (A, B) sum over t >= 1 of u[t] v[t-1]'
    swap: np.ndarray  # (A, B) sum over t >= 1 of u[t-1] v[t]'
    back: np.ndarray  # (A, B) sum over t >= 1 of u[t-1] v[t-1]'
    first: np.ndarray  # (A, B) sum over recordings of u[0] v[0]'

    def quasi(self, phi: float) -> np.ndarray:
        """(A, B) cross-product of the quasi-differences."""  # eq. S17
        inner = self.now - phi * (self.cross + self.swap) + phi**2 * self.back
        return np.asarray(inner + (1.0 - phi**2) * self.first)


def lagged_moments(u: np.ndarray, v: np.ndarray) -> Lagged:
    """u: (R, n, A), v: (R, n, B)."""
    return Lagged(
        now=_product(u[:, 1:], v[:, 1:]),
        cross=_product(u[:, 1:], v[:, :-1]),
        swap=_product(u[:, :-1], v[:, 1:]),
        back=_product(u[:, :-1], v[:, :-1]),
        first=_product(u[:, :1], v[:, :1]),
    )


def add_lagged(parts: Sequence[Lagged]) -> Lagged:
    return Lagged(*(np.sum(np.stack(terms), axis=0) for terms in zip(*parts, strict=True)))


def with_one(X: np.ndarray) -> np.ndarray:
    """(R, n, 1 + P) a column of ones before the features."""
    return np.concatenate([np.ones((*X.shape[:2], 1)), X], axis=2)


def _product(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.asarray(u.reshape(-1, u.shape[2]).T @ v.reshape(-1, v.shape[2]))
