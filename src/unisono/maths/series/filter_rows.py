"""M-step of annotators under EM for traces: filters, biases and delays row by row, then their noise, pooled.

Row (k, d) of an annotator's filter, x = [F_k[0, d], ..., F_k[W-1, d], b_kd] of length Z0 = W D + 1, sees the data only
through a quadratic form: expected log density = g'x - x'A x / 2 + const, given the noise. A transform is a list of
candidates x = basis theta with a normal prior on theta; the best candidate wins. The delay transform has one candidate
per lag, free taps have one. Noise is white here; that of structures with AR(1) noise is held.

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


class RowModel(NamedTuple):
    basis: np.ndarray  # (Z0, n) directions that are estimated
    mean: np.ndarray  # (n,) prior mean of theta
    precision: np.ndarray  # (n, n) its prior precision
    log_weight: float  # log prior of the candidate
    lag: float  # delay in frames the candidate stands for


class RowFit(NamedTuple):
    x: np.ndarray  # (Z0,)
    lag: float
    value: np.ndarray  # (n_candidates,) log density of each candidate at its best theta, up to a constant


def row_vector(params: SeriesParams, k: int, d: int) -> np.ndarray:
    """(Z0,) filter row and bias."""
    return np.append(params.F[k, :, d].ravel(), params.b[k, d])


def row_system(
    moments: Moments, channels: Channels, params: SeriesParams, k: int, d: int
) -> tuple[np.ndarray, np.ndarray]:
    """A (Z0, Z0) and g (Z0,) of row (k, d), given its noise."""  # eq. S12
    c, variance = channels.channel.index(Channel(k, d, WHITE)), params.N[k, d, d]
    return moments.S[c] / variance, moments.c[c] / variance


def candidate_lags(structure: Structure, priors: Priors) -> np.ndarray:
    return np.arange(structure.W, dtype=float) if priors.lags is None else np.asarray(priors.lags, dtype=float)


def row_models(structure: Structure, priors: Priors, d: int, D: int) -> list[RowModel]:
    """Candidates of a row of dimension d."""  # eq. S13
    if structure.transform == "delay":
        lags = candidate_lags(structure, priors)
        weight = np.zeros(len(lags)) if priors.log_lag is None else priors.log_lag
        own = tuple(range(D)) if structure.crosstalk else (d,)
        pairs = zip(lags.tolist(), weight.tolist(), strict=True)
        return [_gains(structure, priors, d, D, own, log, lag) for lag, log in pairs]
    return [_taps(structure, priors, d, D)]


def best_row(A: np.ndarray, g: np.ndarray, models: list[RowModel], kappa: float) -> RowFit:
    """The candidate and its theta with the greatest expected log density plus log prior / kappa."""  # eq. S13
    if len(models) == 1:
        x, value = _fit_row(A, g, models[0], kappa)
        return RowFit(x, models[0].lag, np.array([value]))
    x, values = _fit_rows(A, g, models, kappa)
    best = int(np.argmax(values))
    return RowFit(x[best], models[best].lag, values)


def log_row_prior(params: SeriesParams, structure: Structure, priors: Priors) -> float:
    """Log prior of all filters and biases, up to a constant; fixed annotators have none."""
    D, total = params.F.shape[2], 0.0
    for d in range(D):
        models = row_models(structure, priors, d, D)
        for k in set(range(len(params.F))) - set(structure.fixed):
            model = next((m for m in models if m.lag == params.lag[k, d]), models[0])
            theta = np.linalg.lstsq(model.basis, row_vector(params, k, d), rcond=None)[0]
            total += model.log_weight - 0.5 * (theta - model.mean) @ model.precision @ (theta - model.mean)
    return total


def _fit_row(A: np.ndarray, g: np.ndarray, model: RowModel, kappa: float) -> tuple[np.ndarray, float]:
    prior = model.precision / kappa
    left = model.basis.T @ A @ model.basis + prior
    right = model.basis.T @ g + prior @ model.mean
    theta = solve_symmetric(left, right)
    x = model.basis @ theta
    away = theta - model.mean
    return x, float((g - 0.5 * A @ x) @ x - 0.5 * away @ prior @ away + model.log_weight / kappa)


def _fit_rows(A: np.ndarray, g: np.ndarray, models: list[RowModel], kappa: float) -> tuple[np.ndarray, np.ndarray]:
    """(n_models, Z0) and (n_models,): the same for candidates with equally many unknowns, all at once."""
    basis = np.stack([model.basis for model in models], axis=1)  # (Z0, n_models, n)
    mean = np.stack([model.mean for model in models])
    prior = np.stack([model.precision for model in models]) / kappa
    projected = np.tensordot(A, basis, axes=1)
    left = np.einsum("zmi,zmj->mij", basis, projected) + prior
    right = np.einsum("zmi,z->mi", basis, g) + np.einsum("mij,mj->mi", prior, mean)
    theta = _solve_each(left, right)
    x = np.einsum("zmi,mi->mz", basis, theta)
    away = theta - mean
    value = np.einsum("mz,mz->m", g - 0.5 * x @ A, x) - 0.5 * np.einsum("mi,mij,mj->m", away, prior, away)
    return x, value + np.array([model.log_weight for model in models]) / kappa


def _solve_each(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(m, n) `solve_symmetric` of many small systems, all at once unless one of them is singular."""
    scale = np.sqrt(np.maximum(np.diagonal(left, axis1=1, axis2=2), np.finfo(float).tiny))
    scaled = left / (scale[:, :, None] * scale[:, None, :])
    value = np.linalg.eigvalsh(scaled)
    if np.all(value[:, 0] > SINGULAR * value[:, -1]):
        return np.asarray(np.linalg.solve(scaled, (right / scale)[:, :, None])[:, :, 0] / scale)
    return np.stack([solve_symmetric(one, rhs) for one, rhs in zip(left, right, strict=True)])


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


def _gains(
    structure: Structure, priors: Priors, d: int, D: int, own: tuple[int, ...], log_weight: float, lag: float
) -> RowModel:
    """One delay for the whole row, free gains on the dimensions `own`, and the bias."""
    W = structure.W
    basis = np.zeros((W * D + 1, len(own) + structure.bias))
    for i, p in enumerate(own):
        basis[p : W * D : D, i] = lag_kernel(lag, W)
    sd = [priors.gain_sd if p == d else priors.crosstalk_sd for p in own] + [priors.bias_sd] * structure.bias
    if structure.bias:
        basis[-1, -1] = 1.0
    mean = np.array([float(p == d) for p in own] + [0.0] * structure.bias)
    return RowModel(basis, mean, np.diag(np.array(sd, dtype=float) ** -2.0), log_weight, lag)


def _taps(structure: Structure, priors: Priors, d: int, D: int) -> RowModel:
    """Every tap free, near the kernel; the sum over the taps of the own dimension near 1."""
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
    basis = np.eye(W * D + 1)[:, keep]
    return RowModel(basis, mean[keep], precision[keep, keep], 0.0, 0.0)


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
