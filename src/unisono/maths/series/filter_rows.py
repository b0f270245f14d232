"""M-step of annotators under EM for traces: filters, biases and delays row by row, then their noise, pooled.

Row (k, d) of an annotator's filter, x = [F_k[0, d], ..., F_k[W-1, d], b_kd] of length Z0 = W D + 1, sees the data only
through a quadratic form: expected log density = g'x - x'A x / 2 + const, given the annotator's other rows. A transform
is a list of candidates x = offset + basis theta with a normal prior on theta; the best candidate wins. The delay
transform has one candidate per lag, all others have one.

Noise: residual moments and the M-step of N_k and rho for every structure. Pooling is a scaled inverse chi-square prior
with nu frames around a variance per dimension (fixed in the priors, or the pooled residual of the step; the latter
moves the prior along and is then no exact EM step).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize_scalar

from unisono.maths.series.trace_data import Priors, SeriesParams, Structure, lag_kernel
from unisono.maths.series.trace_layout import FIRST, FOLLOWING, WHITE, Channels
from unisono.maths.series.trace_moments import Moments

SINGULAR = 1e-14  # a system whose reciprocal condition is not above this has many solutions


class RowModel(NamedTuple):
    offset: np.ndarray  # (Z0,) what is not estimated
    basis: np.ndarray  # (Z0, n) directions that are
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


def shift_map(W: int, n: int, D: int, rho: float) -> np.ndarray:
    """(n D + 1, Z0) takes a row x to the row that filters y[t] - rho y[t-1]."""  # eq. S3
    out = np.zeros((n * D + 1, W * D + 1))
    inner = np.arange(W * D)
    out[inner, inner] = 1.0
    if n > W:
        out[inner + D, inner] -= rho
    out[-1, -1] = 1.0 - rho
    return out


def row_system(
    moments: Moments, channels: Channels, params: SeriesParams, structure: Structure, k: int, d: int
) -> tuple[np.ndarray, np.ndarray]:
    """A (Z0, Z0) and g (Z0,) of row (k, d), given the annotator's other rows and noise."""  # eq. S12
    W, D = structure.W, params.F.shape[2]
    A, g = np.zeros((W * D + 1, W * D + 1)), np.zeros(W * D + 1)
    for c, (annotator, dims, role) in enumerate(channels.channel):
        if annotator != k or d not in dims:
            continue
        raws = np.flatnonzero(channels.raw_channel == c)
        S, cross = moments.S[c], moments.c[raws]
        if role == WHITE:
            weight = np.linalg.inv(params.N[k][np.ix_(dims, dims)])[dims.index(d)]
            A += weight[dims.index(d)] * S
            g += weight @ cross
            for other, factor in zip(dims, weight, strict=True):
                if other != d:
                    g -= factor * (S @ row_vector(params, k, other))
        else:
            rho, variance = params.rho[k, d], params.N[k, d, d]
            back = rho if role == FOLLOWING else 0.0
            T = shift_map(W, structure.taps, D, back)
            scale = (1.0 - rho**2 if role == FIRST else 1.0) / variance
            mixed = cross[0] - back * cross[-1] if role == FOLLOWING else cross[0]
            A += scale * (T.T @ S @ T)
            g += scale * (T.T @ mixed)
    return A, g


def candidate_lags(structure: Structure, priors: Priors) -> np.ndarray:
    return np.arange(structure.W, dtype=float) if priors.lags is None else np.asarray(priors.lags, dtype=float)


def row_models(structure: Structure, priors: Priors, d: int, D: int) -> list[RowModel]:
    """Candidates of a row of dimension d."""  # eq. S13
    if structure.transform == "delay":
        lags = candidate_lags(structure, priors)
        weight = np.zeros(len(lags)) if priors.log_lag is None else priors.log_lag
        own = tuple(range(D)) if structure.crosstalk else (d,)
        pairs = zip(lags.tolist(), weight.tolist(), strict=True)
        return [_gains(structure, priors, d, D, own, lag_kernel(lag, structure.W), log, lag) for lag, log in pairs]
    if structure.transform == "taps":
        return [_taps(structure, priors, d, D)]
    free: dict[str, tuple[int, ...]] = {"identity": (), "gain": (d,), "full": tuple(range(D))}
    own = free[structure.transform]
    return [_gains(structure, priors, d, D, own, lag_kernel(0.0, structure.W), 0.0, 0.0)]


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
            theta = np.linalg.lstsq(model.basis, row_vector(params, k, d) - model.offset, rcond=None)[0]
            total += model.log_weight - 0.5 * (theta - model.mean) @ model.precision @ (theta - model.mean)
    return total


def _fit_row(A: np.ndarray, g: np.ndarray, model: RowModel, kappa: float) -> tuple[np.ndarray, float]:
    prior = model.precision / kappa
    left = model.basis.T @ A @ model.basis + prior
    right = model.basis.T @ (g - A @ model.offset) + prior @ model.mean
    theta = solve_symmetric(left, right)
    x = model.offset + model.basis @ theta
    away = theta - model.mean
    return x, float((g - 0.5 * A @ x) @ x - 0.5 * away @ prior @ away + model.log_weight / kappa)


def _fit_rows(A: np.ndarray, g: np.ndarray, models: list[RowModel], kappa: float) -> tuple[np.ndarray, np.ndarray]:
    """(n_models, Z0) and (n_models,): the same for candidates with equally many unknowns, all at once."""
    basis = np.stack([model.basis for model in models], axis=1)  # (Z0, n_models, n)
    offset, mean = (np.stack([getattr(model, name) for model in models]) for name in ("offset", "mean"))
    prior = np.stack([model.precision for model in models]) / kappa
    projected = np.tensordot(A, basis, axes=1)
    left = np.einsum("zmi,zmj->mij", basis, projected) + prior
    right = np.einsum("zmi,mz->mi", basis, g - offset @ A) + np.einsum("mij,mj->mi", prior, mean)
    theta = _solve_each(left, right)
    x = offset + np.einsum("zmi,mi->mz", basis, theta)
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
    structure: Structure,
    priors: Priors,
    d: int,
    D: int,
    own: tuple[int, ...],
    kernel: np.ndarray,
    log_weight: float,
    lag: float,
) -> RowModel:
    """One kernel for the whole row, free gains on the dimensions `own`, and the bias."""
    W = structure.W
    n = len(own) + structure.bias
    offset, basis = np.zeros(W * D + 1), np.zeros((W * D + 1, n))
    if d not in own:
        offset[d : W * D : D] = kernel
    for i, p in enumerate(own):
        basis[p : W * D : D, i] = kernel
    sd = [priors.gain_sd if p == d else priors.crosstalk_sd for p in own] + [priors.bias_sd] * structure.bias
    if structure.bias:
        basis[-1, -1] = 1.0
    mean = np.array([float(p == d) for p in own] + [0.0] * structure.bias)
    return RowModel(offset, basis, mean, np.diag(np.array(sd, dtype=float) ** -2.0).reshape(n, n), log_weight, lag)


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
    return RowModel(np.zeros(W * D + 1), basis, mean[keep], precision[keep, keep], 0.0, 0.0)


RHO_MAX = 0.999  # the search for rho stays inside +-RHO_MAX


class Residuals(NamedTuple):
    """Sums of expected products of residuals r[t] = y[t] - b - sum_w F_w a[t-w], by annotator and dimension."""

    now: np.ndarray  # (K, D) r[t]^2, over white frames and frames with a predecessor
    cross: np.ndarray  # (K, D) r[t] r[t-1]
    back: np.ndarray  # (K, D) r[t-1]^2
    first: np.ndarray  # (K, D) r[t]^2 over first frames of runs
    n: np.ndarray  # (K, D) frames of both sorts
    firsts: np.ndarray  # (K, D) first frames alone

    def quadratic(self, rho: np.ndarray) -> np.ndarray:
        """(K, D) sum of whitened squares."""  # eq. S15
        return np.asarray(self.now - 2.0 * rho * self.cross + rho**2 * self.back + (1.0 - rho**2) * self.first)


def residual_matrix(moments: Moments, raws: np.ndarray, c: int, rows: list[np.ndarray]) -> np.ndarray:
    """(len(raws), len(raws)) expected products of residuals of channel c; rows: what predicts each raw row."""
    x = np.stack(rows)
    crossed = x @ moments.c[raws].T
    return np.asarray(moments.yy[np.ix_(raws, raws)] - crossed - crossed.T + x @ moments.S[c] @ x.T)


def residuals(moments: Moments, channels: Channels, params: SeriesParams, structure: Structure) -> Residuals:
    """Residual sums of noise without correlation between dimensions."""
    K, D = params.b.shape
    out = Residuals(*(np.zeros((K, D)) for _ in range(6)))
    now, before = (_embed(structure, D, back) for back in (0, 1))
    for c, (k, dims, role) in enumerate(channels.channel):
        d, raws = dims[0], np.flatnonzero(channels.raw_channel == c)
        x = row_vector(params, k, d)
        if role == FOLLOWING:
            r = residual_matrix(moments, raws, c, [now @ x, before @ x])
            out.cross[k, d] += r[0, 1]
            out.back[k, d] += r[1, 1]
        else:
            r = residual_matrix(moments, raws, c, [now @ x])
        (out.now if role in (WHITE, FOLLOWING) else out.first)[k, d] += r[0, 0]
        out.n[k, d] += moments.n[c]
        out.firsts[k, d] += moments.n[c] * (role not in (WHITE, FOLLOWING))
    return out


def update_rho(res: Residuals, params: SeriesParams, structure: Structure) -> np.ndarray:
    """(K, D) rho given filters and innovation variances: per dimension, or per annotator and dimension."""  # eq. S15
    rho = params.rho.copy()
    free = np.array([k not in structure.fixed for k in range(len(rho))])
    variance = np.diagonal(params.N, axis1=1, axis2=2)
    for d in range(rho.shape[1]):
        members = (
            [free]
            if structure.autocorrelation == "shared"
            else [np.arange(len(rho)) == k for k in np.flatnonzero(free)]
        )
        for who in members:
            if res.n[who, d].sum() > res.firsts[who, d].sum():
                rho[who, d] = _best_rho(res, variance, who, d)
    return rho


def _best_rho(res: Residuals, variance: np.ndarray, who: np.ndarray, d: int) -> float:
    weight = 1.0 / variance[who, d]
    cross, back = weight @ res.cross[who, d], weight @ (res.back[who, d] - res.first[who, d])
    firsts = res.firsts[who, d].sum()

    def loss(rho: float) -> float:
        return float(-2.0 * rho * cross + rho**2 * back - firsts * np.log1p(-(rho**2)))

    return float(minimize_scalar(loss, bounds=(-RHO_MAX, RHO_MAX), method="bounded", options={"xatol": 1e-10}).x)


def update_diagonal(
    square: np.ndarray, count: np.ndarray, params: SeriesParams, structure: Structure, priors: Priors
) -> np.ndarray:
    """(K, D, D) noise of the structures without correlation. square, count: (K, D) whitened squares and frames."""
    K, D = square.shape  # eq. S14
    free = np.array([k not in structure.fixed for k in range(K)])
    if not free.any():
        return params.N
    nu = priors.noise_nu / priors.kappa
    scale = pooled_scale(square[free], count[free], priors)
    top, bottom = square + nu * scale, count + nu
    current = np.diagonal(params.N, axis1=1, axis2=2)
    if structure.noise == "isotropic":
        top, bottom = (np.repeat(v.sum(axis=1, keepdims=True), D, axis=1) for v in (top, bottom))
    if structure.noise == "scaled":
        variance = _rank_one(top, bottom, current, free)
    else:
        variance = np.where(bottom > 0, top / np.where(bottom > 0, bottom, 1.0), current)
    variance = np.maximum(variance, priors.noise_floor)
    return np.where(free[:, None, None], variance[:, :, None] * np.eye(D), params.N)


def pooled_scale(square: np.ndarray, count: np.ndarray, priors: Priors) -> np.ndarray:
    """(D,) variance that the noise is shrunk to."""
    if priors.noise_scale is not None:
        return np.asarray(priors.noise_scale)
    return np.asarray(square.sum(axis=0) / np.maximum(count.sum(axis=0), 1.0))


def _rank_one(top: np.ndarray, bottom: np.ndarray, current: np.ndarray, free: np.ndarray) -> np.ndarray:
    """(K, D) r_k s_d: one conditional maximum for r, one for s."""
    s = np.exp(np.log(current[free]).mean(axis=0))
    r = np.exp((np.log(current) - np.log(s)).mean(axis=1))
    held = bottom.sum(axis=1) > 0
    r = np.where(held, (top / s).sum(axis=1) / np.where(held, bottom.sum(axis=1), 1.0), r)
    total = bottom[free].sum(axis=0)
    s = np.where(total > 0, (top[free] / r[free, None]).sum(axis=0) / np.where(total > 0, total, 1.0), s)
    return np.outer(r, s)


def update_full(
    moments: Moments, channels: Channels, params: SeriesParams, structure: Structure, priors: Priors
) -> np.ndarray:
    """(K, D, D) full noise covariances; noise of dimensions not given is filled in by its expectation."""  # eq. S16
    K, D = params.b.shape
    total, frames = np.zeros((K, D, D)), np.zeros(K)
    for c, (k, dims, _) in enumerate(channels.channel):
        raws = np.flatnonzero(channels.raw_channel == c)
        r = residual_matrix(moments, raws, c, [row_vector(params, k, d) for d in dims])
        N = params.N[k]
        gain = np.linalg.solve(N[np.ix_(dims, dims)], N[list(dims)]).T  # (D, |dims|)
        total[k] += gain @ r @ gain.T + moments.n[c] * (N - gain @ N[list(dims)])
        frames[k] += moments.n[c]
    free = np.array([k not in structure.fixed for k in range(K)])
    nu = priors.noise_nu / priors.kappa
    squares = np.diagonal(total, axis1=1, axis2=2)
    scale = pooled_scale(squares[free], np.repeat(frames[free, None], D, axis=1), priors)
    N = params.N.copy()
    for k in np.flatnonzero(free & (frames + nu > 0)).tolist():
        N[k] = floored((total[k] + nu * np.diag(scale)) / (frames[k] + nu), priors.noise_floor)
    return N


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


def _embed(structure: Structure, D: int, back: int) -> np.ndarray:
    """(Z, Z0) places a row's taps `back` frames later in the window."""
    W, n = structure.W, structure.taps
    if back == 0 or n == W:
        return shift_map(W, n, D, 0.0)
    out = np.zeros((n * D + 1, W * D + 1))
    inner = np.arange(W * D)
    out[inner + D, inner] = 1.0
    out[-1, -1] = 1.0
    return out
