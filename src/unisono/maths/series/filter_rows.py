"""M-step of annotators under EM for traces: free filters and biases row by row, then their noise, pooled.

Row (k, d) of an annotator's filter, x = [F_k[0, d], ..., F_k[W-1, d], b_kd] of length Z0 = W D + 1, sees the data only
through a quadratic form: expected log density = g'x - x'A x / 2 + const, given the noise, and has a normal prior. Noise
is white here; that of structures with AR(1) noise, and one gain and one delay per row, are held.

Pooling of noise is a scaled inverse chi-square prior with nu frames around a variance per dimension (fixed in the
priors, or the pooled residual of the step; the latter moves the prior along and is then no exact EM step).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from unisono.maths.series.trace_data import Priors, SeriesParams, Structure, lag_kernel
from unisono.maths.series.trace_layout import WHITE, Channel, Channels
from unisono.maths.series.trace_moments import Moments

SINGULAR = 1e-14  # numerical: a system whose reciprocal condition is not above this has many solutions


class RowPrior(NamedTuple):
    """Of the n entries of a row that are free, which come first."""

    mean: np.ndarray  # (n,)
    precision: np.ndarray  # (n, n)


def row_vector(params: SeriesParams, k: int, d: int) -> np.ndarray:
    """(Z0,) filter row and bias."""
    return np.append(params.F[k, :, d].ravel(), params.b[k, d])


def row_system(
    moments: Moments, channels: Channels, params: SeriesParams, k: int, d: int
) -> tuple[np.ndarray, np.ndarray]:
    """A (Z0, Z0) and g (Z0,) of row (k, d), given its noise."""  # eq. S12
    c, variance = channels.channel.index(Channel(k, d, WHITE)), params.N[k, d, d]
    return moments.S[c] / variance, moments.c[c] / variance


def row_prior(structure: Structure, priors: Priors, d: int, D: int) -> RowPrior:
    """Every tap of a row of dimension d near the kernel; the sum over the taps of the own dimension near 1."""
    W = structure.W
    own = np.zeros((W, D), dtype=bool)
    own[:, d] = True
    flat = np.append(own.ravel(), False)
    kernel = lag_kernel(0.0, W) if priors.kernel is None else priors.kernel
    mean = np.zeros(W * D + 1)
    mean[flat] = kernel
    sd = np.where(flat, priors.tap_sd, priors.crosstalk_sd)
    sd[-1] = priors.bias_sd
    precision = np.diag(sd**-2.0)
    precision[np.ix_(flat, flat)] += priors.gain_sd**-2.0
    keep = slice(None) if structure.bias else slice(0, W * D)
    return RowPrior(mean[keep], precision[keep, keep])


def best_row(A: np.ndarray, g: np.ndarray, prior: RowPrior, kappa: float) -> np.ndarray:
    """(Z0,) the row with the greatest expected log density plus log prior / kappa."""  # eq. S13
    n, precision = len(prior.mean), prior.precision / kappa
    x = np.zeros(len(g))
    x[:n] = solve_symmetric(A[:n, :n] + precision, g[:n] + precision @ prior.mean)
    return x


def log_row_prior(params: SeriesParams, structure: Structure, priors: Priors) -> float:
    """Log prior of all filters and biases, up to a constant; fixed annotators have none."""
    D, total = params.F.shape[2], 0.0
    for d in range(D):
        mean, precision = row_prior(structure, priors, d, D)
        for k in set(range(len(params.F))) - set(structure.fixed):
            away = row_vector(params, k, d)[: len(mean)] - mean
            total -= 0.5 * away @ precision @ away
    return total


def solve_symmetric(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solution of a positive semidefinite system; the one of least norm where there are many."""
    if not len(left):
        return np.zeros_like(right)
    scale = np.sqrt(np.maximum(np.diagonal(left), np.finfo(float).tiny))
    scaled = left / (scale[:, None] * scale)
    c, info = lapack.dpotrf(scaled, lower=1)
    if info == 0 and lapack.dpocon(c, np.abs(scaled).sum(axis=0).max(), uplo="L")[0] > SINGULAR:
        return np.asarray((lapack.dpotrs(c, (right.T / scale).T, lower=1)[0].T / scale).T)
    return np.asarray(np.linalg.lstsq(left, right, rcond=None)[0])


def squared_residuals(moments: Moments, channels: Channels, params: SeriesParams) -> tuple[np.ndarray, np.ndarray]:
    """(K, D) expected squares of y[t] - b - sum_w F_w a[t-w], and the frames they are summed over."""
    square, count = np.zeros_like(params.b), np.zeros_like(params.b)
    for c, (k, d, _) in enumerate(channels.channel):
        x = row_vector(params, k, d)
        square[k, d] = moments.yy[c, c] - 2.0 * moments.c[c] @ x + x @ moments.S[c] @ x
        count[k, d] = moments.n[c]
    return square, count


def update_noise(
    square: np.ndarray, count: np.ndarray, params: SeriesParams, structure: Structure, priors: Priors
) -> np.ndarray:
    """(K, D, D) noise. square, count: (K, D) squares and frames."""
    K, D = square.shape  # eq. S14
    free = np.array([k not in structure.fixed for k in range(K)])
    nu = priors.noise_nu / priors.kappa
    scale = pooled_scale(square[free], count[free], priors)
    top, bottom = square + nu * scale, count + nu
    if structure.isotropic:
        top, bottom = (np.repeat(v.sum(axis=1, keepdims=True), D, axis=1) for v in (top, bottom))
    current = np.diagonal(params.N, axis1=1, axis2=2)
    variance = np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), current)
    variance = np.maximum(variance, priors.noise_floor)
    return np.where(free[:, None, None], variance[:, :, None] * np.eye(D), params.N)


def pooled_scale(square: np.ndarray, count: np.ndarray, priors: Priors) -> np.ndarray:
    """(D,) variance that the noise is shrunk to."""
    if priors.noise_scale is not None:
        return np.asarray(priors.noise_scale)
    return np.asarray(square.sum(axis=0) / np.maximum(count.sum(axis=0), 1.0))


def floored(V: np.ndarray, floor: float) -> np.ndarray:
    """A symmetric matrix with its eigenvalues held at `floor` or above."""
    V = 0.5 * (V + V.T)
    value, vector = np.linalg.eigh(V)
    return V if value.min() >= floor else np.asarray((vector * np.maximum(value, floor)) @ vector.T)


def log_noise_prior(params: SeriesParams, structure: Structure, priors: Priors) -> float:
    """Log prior of the noise at a fixed scale, up to a constant; 0 where the scale follows the data."""
    if priors.noise_scale is None or priors.noise_nu == 0:
        return 0.0
    N = params.N[[k for k in range(len(params.N)) if k not in structure.fixed]]
    trace = np.linalg.solve(N, np.diag(priors.noise_scale)[None]).trace(axis1=1, axis2=2)
    return float(-0.5 * priors.noise_nu * np.sum(np.linalg.slogdet(N)[1] + trace))
