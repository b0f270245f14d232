"""One EM iteration of the series model, exact or as published: M-step, the truth's parameters, recentring.

The exact step returns (new parameters, log p(y) + log prior of the parameters it was given), so that a loop that knows
no model can watch the objective. Order of the M-step: every annotator's rows given noise, then the noise, then the
truth's own parameters. Each is a conditional maximum, so the expected log density plus log prior never falls. Where
noise is AR(1), annotators are held.

The truth: level mu, feature effects theta, innovation covariance sigma; its autocorrelation phi is given. Level and
theta are least squares on quasi-differences, whatever sigma is; sigma is a function of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unisono.maths.linalg.causal_filters import Lagged
from unisono.maths.series.filter_rows import (
    best_row,
    floored,
    log_noise_prior,
    log_row_prior,
    row_prior,
    row_system,
    solve_symmetric,
    squared_residuals,
    update_noise,
)
from unisono.maths.series.trace_data import Priors, SeriesParams, Structure
from unisono.maths.series.trace_estep import expect, one_thread
from unisono.maths.series.trace_layout import Layout
from unisono.maths.series.trace_moments import Moments, add_moments, group_moments


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
    prior = [row_prior(structure, priors, d, layout.D) for d in range(layout.D)]
    for k, d, _ in layout.channels.channel:
        if k in structure.fixed:
            continue
        A, g = row_system(moments, layout.channels, params, k, d)
        x = best_row(A, g, prior[d], priors.kappa)
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
