"""The truth's own parameters: level mu, feature effects theta, innovation covariance sigma, autocorrelation phi.

Given phi, level and theta are least squares on quasi-differences, whatever sigma is; given these, sigma is a function
of phi, and phi a search on a line. Imports NumPy, SciPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from unisono.maths.linalg.lagged import Lagged
from unisono.maths.series.moments import Moments
from unisono.maths.series.noise import floored
from unisono.maths.series.params import Priors, SeriesParams, Structure
from unisono.maths.series.rows import solve_symmetric
from unisono.words import Latent

PHI_MAX = 0.9999  # the search for phi stays inside +-PHI_MAX


class Dynamics(NamedTuple):
    mu: np.ndarray  # (D,)
    theta: np.ndarray  # (P, D)
    sigma: np.ndarray  # (D, D)
    phi: float


def update_dynamics(
    moments: Moments, features: Lagged, params: SeriesParams, structure: Structure, priors: Priors
) -> Dynamics:
    """M-step of everything that belongs to the truth."""
    mu, theta = _level(moments, features, params, structure, priors)
    around = deviations(moments, features, mu, theta)
    ridge = priors.theta_precision * theta.T @ theta
    extra = len(theta) * (priors.theta_precision > 0)
    phi = params.phi
    if structure.estimate_phi:
        phi = _search_phi(around, moments, structure.latent, ridge, extra)
    sigma = shaped((around.quasi(phi) + ridge) / (moments.frames + extra), structure.latent)  # eq. S18
    return Dynamics(mu, theta, floored(sigma, priors.sigma_floor), phi)


def deviations(moments: Moments, features: Lagged, mu: np.ndarray, theta: np.ndarray) -> Lagged:
    """Lagged moments of e = a - mu - theta'x."""
    B = np.concatenate([mu[None], theta])  # (1 + P, D) of [1, x]
    ax, xx, aa = moments.ax, features, moments.aa
    swapped = ax._replace(cross=ax.swap, swap=ax.cross)  # a transpose exchanges the two
    parts = [a - m @ B - (s @ B).T + B.T @ x @ B for a, m, s, x in zip(aa, ax, swapped, xx, strict=True)]
    return Lagged(*parts)


def shaped(V: np.ndarray, latent: Latent) -> np.ndarray:
    """The nearest covariance of the structure, in likelihood."""
    if latent == "isotropic":
        return np.asarray(np.eye(len(V)) * np.diagonal(V).mean())
    return np.asarray(np.diag(np.diagonal(V)) if latent == "diagonal" else 0.5 * (V + V.T))


def log_theta_prior(params: SeriesParams, priors: Priors) -> float:
    """Log of the normal prior of theta with precision in units of sigma^-1, up to a constant."""
    if priors.theta_precision == 0 or not len(params.theta):
        return 0.0
    inner = np.linalg.solve(params.sigma, params.theta.T @ params.theta)
    logdet = np.linalg.slogdet(params.sigma)[1]
    return float(-0.5 * (priors.theta_precision * np.trace(inner) + len(params.theta) * logdet))


def _level(
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


def _search_phi(around: Lagged, moments: Moments, latent: Latent, ridge: np.ndarray, extra: int) -> float:
    """The phi with the greatest expected log density, sigma following."""  # eq. S19
    D, n = len(ridge), moments.frames + extra

    def loss(phi: float) -> float:
        sigma = shaped((around.quasi(phi) + ridge) / n, latent)
        return float(n * np.linalg.slogdet(sigma)[1] - moments.recordings * D * np.log1p(-(phi**2)))

    return float(minimize_scalar(loss, bounds=(-PHI_MAX, PHI_MAX), method="bounded", options={"xatol": 1e-10}).x)
