"""M-step of the annotator rows B_k = [F_k, b_k]: regressions of ratings on the expected truth.

Everything is solved for the deviation from [I, 0], so that what the data do not determine stays at "answers the truth".
Under `ml` the prior precision is zero; under `bayes` it pulls every free coefficient towards [I, 0], and the rows have
covariances.

    S (K, D, q, q) sums of E[abar abar'] over the answers of annotator k on dimension d;  C (K, D, q) sums of y E[abar]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.global_data import GlobalData
from unisono.maths.global_estep import Stats
from unisono.maths.structure import identity_rows

PSEUDO_INVERSE_RCOND = 1e-12  # directions of an annotator's normal equations below this share count as undetermined


class Rows(NamedTuple):
    """Estimated rows and, under `bayes`, their covariances."""

    B: np.ndarray  # (K, D, q)
    cov: np.ndarray  # (K, D, q, q) zero where a coefficient is not free


def row_moments(data: GlobalData, stats: Stats) -> tuple[np.ndarray, np.ndarray]:
    """S and C of every annotator and dimension, over the profiles that answer it."""
    S = data.by_annotator(data.answered[:, :, None, None] * stats.Saa[:, None])
    return S, data.by_annotator(stats.Sya)


def separate_rows(S: np.ndarray, C: np.ndarray, free: np.ndarray, weight: np.ndarray, precision: np.ndarray) -> Rows:
    """Rows one by one, for noise without correlations. `weight` (K, D) 1/variance, `precision` (D, q) of the prior.

    eq. G9 (ml), eq. B3 (bayes)
    """
    K, D, q = C.shape
    B0 = identity_rows(D)
    B, cov = np.tile(B0, (K, 1, 1)), np.zeros((K, D, q, q))
    for d in range(D):
        at = np.flatnonzero(free[d])
        if not len(at):
            continue
        w = weight[:, d, None]
        A = w[:, :, None] * S[:, d][:, at[:, None], at] + np.diag(precision[d, at])
        rhs = w * (C[:, d, at] - S[:, d][:, at] @ B0[d])
        B[:, d, at] += solve_or_least_norm(A, rhs)
        if precision[d, at].all():
            cov[:, d, at[:, None], at] = np.linalg.inv(A)
    return Rows(B, cov)


def coupled_rows(data: GlobalData, stats: Stats, W: np.ndarray, free: np.ndarray, precision: np.ndarray) -> Rows:
    """All rows of an annotator at once, for noise with correlations: W (U, D, D) ties the dimensions together.

    Under `bayes` the rows are independent in q; their means are then those of the coupled system, and each row's
    covariance is the inverse of its own block.                                                      eq. G10
    """
    D, q = free.shape
    B0 = identity_rows(D)
    d_of, i_of = np.nonzero(free)
    B, cov = np.tile(B0, (data.K, 1, 1)), np.zeros((data.K, D, q, q))
    if not len(d_of):
        return Rows(B, cov)
    A = data.by_annotator(W[:, d_of[:, None], d_of] * stats.Saa[:, i_of[:, None], i_of])
    A = A + np.diag(precision[d_of, i_of])
    rhs = data.by_annotator((W @ (stats.Sya - B0 @ stats.Saa))[:, d_of, i_of])
    B[:, d_of, i_of] += solve_or_least_norm(A, rhs)
    if precision[free].all():
        for d in range(D):
            at = np.flatnonzero(d_of == d)
            cols = i_of[at]
            cov[:, d, cols[:, None], cols] = np.linalg.inv(A[:, at[:, None], at])
    return Rows(B, cov)


def solve_or_least_norm(A: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Solutions of A x = rhs, (K, n, n) and (K, n); of least norm where an annotator's A is singular."""
    try:
        x = np.linalg.solve(A, rhs[:, :, None])[:, :, 0]
        # A nearly singular system can be "solved" with an enormous answer; a residual that large gives it away.
        good = np.isfinite(x).all(axis=1)
        if good.all() and _residuals_small(A, x, rhs):
            return np.asarray(x)
    except np.linalg.LinAlgError:
        pass
    pinv = np.linalg.pinv(A, rcond=PSEUDO_INVERSE_RCOND, hermitian=True)
    return np.asarray((pinv @ rhs[:, :, None])[:, :, 0])


def _residuals_small(A: np.ndarray, x: np.ndarray, rhs: np.ndarray) -> bool:
    residual = np.abs((A @ x[:, :, None])[:, :, 0] - rhs).max(initial=0.0)
    return bool(residual <= 1e-6 * max(np.abs(rhs).max(initial=0.0), np.finfo(float).tiny))
