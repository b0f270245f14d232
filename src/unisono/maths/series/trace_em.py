"""One EM iteration of the series model, exact or as published: M-step of annotators, the truth's parameters.

The exact step returns (new parameters, log p(y) + log prior of the parameters it was given), so that a loop that knows
no model can watch the objective. Order of the M-step: every annotator's rows given noise, then the noise, then the
truth's own parameters. Each is a conditional maximum, so the expected log density plus log prior never falls. Where
noise is AR(1), annotators are held.

Row (k, d) of an annotator's filter, x = [F_k[0, d], ..., F_k[W-1, d], b_kd] of length Z0 = W D + 1, sees the data only
through a quadratic form: expected log density = g'x - x'A x / 2 + const, given the noise, and has a normal prior. One
gain and one delay per row are held. Pooling of noise is a scaled inverse chi-square prior with nu frames around a
variance per dimension (fixed in the priors, or the pooled residual of the step; the latter moves the prior along and is
then no exact EM step).

The truth: level mu, feature effects theta, innovation covariance sigma; its autocorrelation phi is given. Level and
theta are least squares on quasi-differences, whatever sigma is; sigma is a function of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from unisono.maths.linalg.causal_filters import Lagged
from unisono.maths.series.trace_data import Priors, SeriesParams, Structure
from unisono.maths.series.trace_estep import expect, one_thread
from unisono.maths.series.trace_layout import WHITE, Channel, Channels, Layout
from unisono.maths.series.trace_moments import Moments, add_moments, group_moments

SINGULAR = 1e-14  # numerical: a system whose reciprocal condition is not above this has many solutions


def row_vector(params: SeriesParams, k: int, d: int) -> np.ndarray:
    """(Z0,) filter row and bias."""
    return np.append(params.F[k, :, d].ravel(), params.b[k, d])


def row_system(
    moments: Moments, channels: Channels, params: SeriesParams, k: int, d: int
) -> tuple[np.ndarray, np.ndarray]:
    """A (Z0, Z0) and g (Z0,) of row (k, d), given its noise."""  # eq. S12
    c, variance = channels.channel.index(Channel(k, d, WHITE)), params.N[k, d, d]
    return moments.S[c] / variance, moments.c[c] / variance


def row_precision(structure: Structure, priors: Priors, D: int) -> np.ndarray:
    """(n,) of the prior, around 0, of the n entries of a row that are free, which come first."""
    n = structure.W * D
    return np.append(np.full(n, priors.filter_sd**-2.0), priors.bias_sd**-2.0)[: n + structure.bias]


def best_row(A: np.ndarray, g: np.ndarray, precision: np.ndarray, kappa: float) -> np.ndarray:
    """(Z0,) the row with the greatest expected log density plus log prior / kappa."""  # eq. S13
    n, x = len(precision), np.zeros(len(g))
    x[:n] = solve_symmetric(A[:n, :n] + np.diag(precision / kappa), g[:n])
    return x


def log_row_prior(params: SeriesParams, structure: Structure, priors: Priors) -> float:
    """Log prior of all filters and biases, up to a constant; fixed annotators have none."""
    K, _, D, _ = params.F.shape
    precision, free = row_precision(structure, priors, D), set(range(K)) - set(structure.fixed)
    squares = [row_vector(params, k, d)[: len(precision)] ** 2 for k in sorted(free) for d in range(D)]
    return float(-0.5 * sum(square @ precision for square in squares))


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


def rescale(params: SeriesParams, gain: np.ndarray) -> SeriesParams:
    """a <- gain a. gain: (D, D)."""
    return params._replace(
        F=np.linalg.solve(gain.T, np.swapaxes(params.F, 2, 3)).swapaxes(2, 3),
        mu=gain @ params.mu,
        theta=params.theta @ gain.T,
        sigma=gain @ params.sigma @ gain.T,
    )


def shift(params: SeriesParams, by: np.ndarray) -> SeriesParams:
    """a <- a + by, exact where the truth goes on before the first frame."""
    return params._replace(mu=params.mu + by, b=params.b - np.einsum("kwdp,p->kd", params.F, by))


class Dynamics(NamedTuple):
    mu: np.ndarray  # (D,)
    theta: np.ndarray  # (P, D)
    sigma: np.ndarray  # (D, D)


def update_dynamics(
    moments: Moments, features: Lagged, params: SeriesParams, structure: Structure, priors: Priors
) -> Dynamics:
    """M-step of everything that belongs to the truth."""
    mu, theta = _level_and_effects(moments, features, params, structure, priors)
    around = deviations(moments, features, mu, theta)
    ridge = priors.theta_precision * theta.T @ theta
    extra = len(theta) * (priors.theta_precision > 0)
    sigma = shaped((around.quasi(params.phi) + ridge) / (moments.frames + extra), structure)  # eq. S18
    return Dynamics(mu, theta, floored(sigma, priors.sigma_floor))


def deviations(moments: Moments, features: Lagged, mu: np.ndarray, theta: np.ndarray) -> Lagged:
    """Lagged moments of e = a - mu - theta'x."""
    B = np.concatenate([mu[None], theta])  # (1 + P, D) of [1, x]
    ax, xx, aa = moments.ax, features, moments.aa
    swapped = ax._replace(cross=ax.swap, swap=ax.cross)  # a transpose exchanges the two
    parts = [a - m @ B - (s @ B).T + B.T @ x @ B for a, m, s, x in zip(aa, ax, swapped, xx, strict=True)]
    return Lagged(*parts)


def shaped(V: np.ndarray, structure: Structure) -> np.ndarray:
    """The nearest covariance of the structure, in likelihood."""
    return np.asarray(np.eye(len(V)) * np.diagonal(V).mean() if structure.isotropic else 0.5 * (V + V.T))


def log_theta_prior(params: SeriesParams, priors: Priors) -> float:
    """Log of the normal prior of theta with precision in units of sigma^-1, up to a constant."""
    if priors.theta_precision == 0 or not len(params.theta):
        return 0.0
    inner = np.linalg.solve(params.sigma, params.theta.T @ params.theta)
    logdet = np.linalg.slogdet(params.sigma)[1]
    return float(-0.5 * (priors.theta_precision * np.trace(inner) + len(params.theta) * logdet))


def _level_and_effects(
    moments: Moments, features: Lagged, params: SeriesParams, structure: Structure, priors: Priors
) -> tuple[np.ndarray, np.ndarray]:
    """mu (kept unless the structure estimates it) and theta."""  # eq. S17
    P = len(params.theta)
    use = np.arange(0 if structure.level else 1, 1 + P)
    xx = features.quasi(params.phi)
    right = moments.ax.quasi(params.phi).T[use]
    if not structure.level:
        right = right - np.outer(xx[use, 0], params.mu)
    left = xx[np.ix_(use, use)] + priors.theta_precision * np.diag((use > 0).astype(float))
    B = solve_symmetric(left, right)
    return (B[0], B[1:]) if structure.level else (params.mu, B)


def maximise(
    layout: Layout, moments: Moments, params: SeriesParams, structure: Structure, priors: Priors
) -> SeriesParams:
    """New parameters from the moments."""
    if not structure.autocorrelated:
        params = update_rows(layout, moments, params, structure, priors)
        squares = squared_residuals(moments, layout.channels, params)
        params = params._replace(N=update_noise(*squares, params, structure, priors))
    return params._replace(**update_dynamics(moments, layout.features, params, structure, priors)._asdict())


def update_rows(
    layout: Layout, moments: Moments, params: SeriesParams, structure: Structure, priors: Priors
) -> SeriesParams:
    """Filters and biases, annotator by annotator and dimension by dimension."""
    F, b = params.F.copy(), params.b.copy()
    params = params._replace(F=F, b=b)  # rows already updated are seen by those after them
    precision = row_precision(structure, priors, layout.D)
    for k, d, _ in layout.channels.channel:
        if k in structure.fixed:
            continue
        A, g = row_system(moments, layout.channels, params, k, d)
        x = best_row(A, g, precision, priors.kappa)
        F[k, :, d], b[k, d] = x[:-1].reshape(structure.W, layout.D), x[-1]
    return params


def log_prior(params: SeriesParams, structure: Structure, priors: Priors) -> float:
    """Log prior as the M-step weighs it: annotators' part over kappa, up to a constant."""
    annotators = log_row_prior(params, structure, priors) + log_noise_prior(params, structure, priors)
    return annotators / priors.kappa + log_theta_prior(params, priors)


Step = Callable[[SeriesParams], tuple[SeriesParams, float]]


def soft_step(layout: Layout, params: SeriesParams, structure: Structure, priors: Priors) -> tuple[SeriesParams, float]:
    """An exact EM step (the objective rises) unless a moving noise pool changes the prior."""
    with one_thread():  # the M-step's matrices are small as well
        found = expect(layout, params, structure)
        objective = found.loglik + log_prior(params, structure, priors)
        return maximise(layout, found.moments, params, structure, priors), objective


def paper_step(layout: Layout, params: SeriesParams, structure: Structure, priors: Priors) -> SeriesParams:
    """The paper's hard EM: the mode of an E-step without weights for the posterior. It climbs nothing."""  # eq. S22
    with one_thread():
        moments = expect(layout, unweighted(params), structure, covariances=False).moments
        return maximise(layout, moments, params, structure, priors)


def unweighted(params: SeriesParams) -> SeriesParams:
    """The paper's E-step forgets the variances: noise and innovations count as one, and nothing is autocorrelated."""
    D = len(params.mu)
    return params._replace(
        N=np.tile(np.eye(D), (len(params.N), 1, 1)), rho=np.zeros_like(params.rho), sigma=np.eye(D), phi=0.0
    )


def make_step(layout: Layout, structure: Structure, priors: Priors) -> Step:
    """The exact step as a function of the parameters alone."""
    return lambda params: soft_step(layout, params, structure, priors)


def start_from_truth(
    layout: Layout, a: np.ndarray, params: SeriesParams, structure: Structure, priors: Priors
) -> SeriesParams:
    """Parameters that a guess of the truth implies, e.g. random numbers as in the paper. a: (sum T, D)."""
    return maximise(layout, point_moments(layout, a), params, structure, priors)


def point_moments(layout: Layout, a: np.ndarray) -> Moments:
    """Moments of a truth known exactly; before the first frame its first value is held. a: (sum T, D)."""
    parts = []
    for group in layout.groups:
        paths = [a[layout.first_row[m] : layout.first_row[m + 1]] for m in group.recording]
        clock = [np.pad(p, ((group.pre, group.L - group.stop), (0, 0)), mode="edge") for p in paths]
        parts.append(group_moments(group, layout, np.stack(clock), None))
    return add_moments(parts)
