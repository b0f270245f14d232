"""Agreement over all dimensions together: variance components as matrices.

The components of a sum of two dimensions less those of each are twice their covariance, so that the algebra of one
dimension does for matrices. With S_i for units and S_t for everything, each dimension in units of its own standard
deviation, tr(S_i) / tr(S_t) is the share of all variance that lies between units; the eigenvalues of S_t^-1 S_i are the
reliabilities of the least and the most reliable weighted sum of dimensions, and do not depend on units of measurement.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.agreement.agreement_bootstrap import Blocks, Coded, Draws, coded
from unisono.maths.agreement.intraclass_reliability import other_raters, variance_components

SINGULAR = 1e-9  # numerical: eigenvalue, as a share of the largest, below which dimensions repeat each other


def standardised(value: np.ndarray, unit: np.ndarray, rater: np.ndarray) -> list[Coded]:
    """Each dimension by itself, from the ratings in which none is missing, in its own standard units. value: (n, D)."""
    whole = ~np.isnan(value).any(axis=1)
    columns = (value[whole, d] for d in range(value.shape[1]))
    return [coded(y, unit[whole], rater[whole])._replace(center=0.0, scale=1.0) for y in columns]


class CovarianceComponents(NamedTuple):
    """Covariances, (B, D, D) each; estimates need not be positive definite."""

    unit: np.ndarray
    rater: np.ndarray
    residual: np.ndarray


def covariance_components(data: list[Coded], blocks: Blocks, W: np.ndarray) -> CovarianceComponents:
    """Between units, between raters, and of the rest, for weights W (B, G)."""
    D = len(data)
    found = CovarianceComponents(*(np.empty((len(W), D, D)) for _ in CovarianceComponents._fields))
    for d in range(D):
        for S, variance in zip(found, variance_components(data[d], blocks, W), strict=True):
            S[:, d, d] = variance
    for d in range(D):
        for e in range(d):
            both = variance_components(data[d]._replace(y=data[d].y + data[e].y), blocks, W)
            for S, total in zip(found, both, strict=True):
                S[:, d, e] = S[:, e, d] = (total - S[:, d, d] - S[:, e, e]) / 2
    return found


def multivariate_agreement(
    data: list[Coded], blocks: Blocks, W: np.ndarray, chance: np.ndarray | None = None
) -> np.ndarray | Draws:
    """(B, 3) share of variance between units, reliability of the least and of the most reliable composite.

    With `chance` (B,) of drawing other raters, for these raters and for others.
    """
    unit, rater, residual = covariance_components(data, blocks, W)
    same = _composites(_not_negative(unit), _not_negative(rater + residual))
    if chance is None:
        return same
    other = other_raters(data[0], rater, residual, chance)
    return Draws(same, _composites(_not_negative(unit), _not_negative(other + residual)))


def _composites(unit: np.ndarray, error: np.ndarray) -> np.ndarray:
    total = unit + error
    value, vector = np.linalg.eigh(_finite(total))
    defined = np.isfinite(total).all(axis=(1, 2)) & (value[:, 0] > SINGULAR * value[:, -1]) & (value[:, -1] > 0)
    whiten = vector / np.sqrt(np.where(defined[:, None], value, 1.0))[:, None, :]
    reliability = np.clip(np.linalg.eigvalsh(whiten.transpose(0, 2, 1) @ _finite(unit) @ whiten), 0.0, 1.0)
    reliability[reliability < SINGULAR] = 0.0
    between, all_ = np.trace(unit, axis1=1, axis2=2), np.trace(total, axis1=1, axis2=2)
    found = np.stack([between / np.where(all_ > 0, all_, 1.0), reliability[:, 0], reliability[:, -1]], axis=1)
    return np.where(defined[:, None], found, np.nan)


def _not_negative(S: np.ndarray) -> np.ndarray:
    """The nearest covariance: negative eigenvalues, which estimates may have, become zero; NaN stays."""
    value, vector = np.linalg.eigh(_finite(S))
    nearest = (vector * np.maximum(value, 0.0)[:, None, :]) @ vector.transpose(0, 2, 1)
    return np.where(np.isfinite(S).all(axis=(1, 2))[:, None, None], nearest, np.nan)


def _finite(S: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(S), S, 0.0)
