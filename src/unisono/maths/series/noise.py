"""Noise of the ratings: residual moments and the M-step of N_k and rho for every structure, pooled with the others.

Pooling is a scaled inverse chi-square prior with nu frames around a variance per dimension (fixed in the priors, or the
pooled residual of the step; the latter moves the prior along and is then no exact EM step).
Imports NumPy, SciPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from unisono.maths.series.channels import FOLLOWING, WHITE, Channels
from unisono.maths.series.moments import Moments
from unisono.maths.series.params import Priors, SeriesParams, Structure
from unisono.maths.series.rows import row_vector, shift_map

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
