"""Variational EM of the item model: q(a) q(F, b), closed form, hyper-parameters estimated from the data.

    a_m ~ N(mu + theta'z_m, Sigma)       F_kdd ~ N(g_kd, 1/gain)   F_kde ~ N(0, 1/leak)   b_k ~ N(0, C)        eq. B1
    theta ~ MN(0, I/ridge, Sigma)        Sigma, the noise and C pulled to targets                              eq. B2

Without the guards of `priors.Guards` the bound rises at every step. The guards are not steps uphill: they keep the
meaning of the dimensions, make convergence fast, and protect against what the model gets wrong about people. By how
much the bound may fall with them is in docs/maths.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unisono.maths.items.bound import lower_bound
from unisono.maths.items.data import ItemData
from unisono.maths.items.estep import Stats, expectation
from unisono.maths.items.guards import correlation, limited_borrowing, recentred, tempered
from unisono.maths.items.latent import fit_predictor, latent_moments, shape_latent, truth_covariance
from unisono.maths.items.noise import (
    pooled_noise,
    residual_moments,
    scaled_noise,
    update_noise,
    update_scaled,
    update_shared,
)
from unisono.maths.items.params import ItemParams, noise_precision
from unisono.maths.items.rows import (
    RowPrior,
    Rows,
    common_prior,
    coupled_rows,
    replaced,
    row_moments,
    separate_rows,
)
from unisono.maths.items.state import BayesSettings, BayesState, Hyper
from unisono.maths.items.structure import free_coefficients


def bayes_step(data: ItemData, state: BayesState, settings: BayesSettings) -> tuple[BayesState, float]:
    """One step of variational EM; the bound is that of the state given."""
    mean, stats = expectation(data, state.params)
    prior = row_prior(data, state.hyper, settings)
    bound = lower_bound(data, stats, state, prior, settings)
    params, hyper = _truth(data, stats, state, settings)
    params = _annotators(data, stats, params, prior, settings)
    params, hyper = _noise(data, stats, params, hyper, settings)
    hyper = _between_annotators(data, params, hyper, prior, settings)
    params, hyper = _guarded(data, params, hyper, settings)
    return BayesState(params, hyper, mean), bound


def settled(tol: float) -> Callable[[list[float], BayesState, BayesState], bool]:
    """Stop when no truth moved by more than `tol` standard deviations of the ratings."""

    def rule(objective: list[float], before: BayesState, after: BayesState) -> bool:
        return bool(np.max(np.abs(after.mean - before.mean), initial=0.0) < tol)

    return rule


def row_prior(data: ItemData, hyper: Hyper, settings: BayesSettings) -> RowPrior:
    """Where the rows [F_k, b_k] are expected: near "answers the truth", or where an earlier fit left them."""
    expected = np.ones((data.K, data.D)) if settings.expected_gain is None else settings.expected_gain
    gain = expected * hyper.r[:, None] ** (settings.guards.gain_follows_noise / 2)
    prior = common_prior(gain, hyper.precision(data.D), hyper.bias)
    if settings.mixing is not None:
        prior.center[:, :, : data.D] = settings.mixing
    return prior if settings.earlier is None else replaced(prior, settings.earlier.known, settings.earlier.rows)


def _truth(data: ItemData, stats: Stats, state: BayesState, settings: BayesSettings) -> tuple[ItemParams, Hyper]:
    """theta, mu and Sigma together; theta's covariance is proportional to Sigma, so it drops out of Sigma.  eq. B4"""
    hyper, priors = state.hyper, settings.priors
    theta, mu = fit_predictor(data, stats, settings.structure, hyper.ridge)
    spread = latent_moments(data, stats, theta, mu) + hyper.ridge * theta.T @ theta
    spread = spread + priors.latent_items * unexplained(data, state.params, settings)
    Sigma = shape_latent(settings.structure.latent, spread / (data.M + priors.latent_items), settings.floor)
    hyper = hyper._replace(theta_var=1 / (data.scores.l + hyper.ridge))
    if data.scores.R:
        squares = np.trace(np.linalg.solve(Sigma, theta.T @ theta)) + data.D * hyper.theta_var.sum()
        hyper = hyper._replace(ridge=data.scores.R * data.D / float(squares))
    return state.params._replace(theta=theta, mu=mu, Sigma=Sigma), hyper


def unexplained(data: ItemData, params: ItemParams, settings: BayesSettings) -> np.ndarray:
    """(D, D) where Sigma is expected: the target of the truth's covariance, less what features explain.  eq. B19"""
    target = settings.targets.latent
    if not (settings.guards.features_explain and data.scores.R):
        return target
    root = np.sqrt(np.diagonal(params.Sigma) / np.diagonal(truth_covariance(data, params)))
    return np.asarray(target * root[:, None] * root)


def _annotators(
    data: ItemData, stats: Stats, params: ItemParams, prior: RowPrior, settings: BayesSettings
) -> ItemParams:
    """Posterior of the rows [F_k, b_k].                                                                eq. B3"""
    free = free_coefficients(settings.structure, data.D)
    rows: Rows
    if settings.structure.couples_dimensions:
        W, _ = noise_precision(params.N, data.annotator, data.answered)
        rows = coupled_rows(data, stats, W, free, prior)
    else:
        S, C = row_moments(data, stats)
        weight = 1 / np.diagonal(params.N, axis1=1, axis2=2)
        rows = separate_rows(S, C, free, weight, prior)
    return params._replace(B=rows.B, cov=rows.cov)


def _noise(
    data: ItemData, stats: Stats, params: ItemParams, hyper: Hyper, settings: BayesSettings
) -> tuple[ItemParams, Hyper]:
    """Noise shrunk to the pool of annotators.                                                          eq. B5"""
    R = residual_moments(data, stats, params.B, params.cov)
    noise, priors, floor = settings.structure.noise, settings.priors, settings.floor
    nu = priors.noise_numbers * data.D
    if noise == "scaled":
        squares = data.by_annotator(np.diagonal(R, axis1=1, axis2=2))
        r, s = update_scaled(squares, data.answers(), np.diagonal(hyper.pool), floor, nu, priors.noise_limits)
        pool = np.diag(s)
    elif noise == "shared":
        r, pool = update_shared(
            data,
            R,
            hyper.pool,
            floor,
            *settings.noise_scale_prior(data.D),
            priors.noise_limits,
            settings.targets.noise,
            priors.noise_judgements,
        )
    else:
        nu = nu if noise == "isotropic" else priors.noise_numbers
        N = update_noise(noise, data, R, params.N, floor=floor, nu=nu, pool=hyper.pool)
        return params._replace(N=N), hyper._replace(pool=pooled_noise(N))
    return params._replace(N=scaled_noise(r, pool)), hyper._replace(r=r, pool=pool)


def _between_annotators(
    data: ItemData, params: ItemParams, hyper: Hyper, prior: RowPrior, settings: BayesSettings
) -> Hyper:
    """How annotators differ: lambda = (n + 2) / (sum E[delta^2] + 2 guess) inside limits, C pulled to its target.

    eq. B6
    """
    assert params.cov is not None
    D, priors = data.D, settings.priors
    free = free_coefficients(settings.structure, D)
    new = data.answers().sum(axis=1) > 0
    if settings.earlier is not None:
        new &= ~settings.earlier.known
    away, n = (params.B - prior.center)[new], int(new.sum())
    total = (away**2 + np.diagonal(params.cov[new], axis1=2, axis2=3)).sum(axis=0)
    own = np.eye(D, D + 1, dtype=bool)
    others = ~own
    others[:, D] = False

    def estimate(kind: np.ndarray, guess: float, limits: tuple[float, float]) -> float:
        count, imaginary = n * (free & kind).sum(), priors.guess_coefficients
        value = (count + imaginary) / (total[free & kind].sum() + imaginary * guess)
        return float(np.clip(value, *limits))

    spread = away[:, :, D].T @ away[:, :, D] + np.diag(params.cov[new][:, :, D, D].sum(axis=0))
    count = n if settings.structure.bias else 0
    C = (spread * bool(count) + priors.bias_annotators * settings.targets.bias) / (count + priors.bias_annotators)
    return hyper._replace(
        gain=estimate(own, priors.gain_guess, priors.gain_limits),
        leak=estimate(others, priors.leak_guess, priors.leak_limits),
        bias=C if settings.structure.couples_dimensions else np.diag(np.diagonal(C)),
    )


def _guarded(data: ItemData, params: ItemParams, hyper: Hyper, settings: BayesSettings) -> tuple[ItemParams, Hyper]:
    """What is done beside climbing, and why, is in `guards`."""
    guards = settings.guards
    if settings.structure.noise == "shared":
        hyper = hyper._replace(pool=tempered(hyper.pool, guards.kept_error_correlation))
        params = params._replace(N=scaled_noise(hyper.r, hyper.pool))
    # Part of the way at a time: a limit that jumps can make Sigma and the noise alternate for ever.
    step = guards.borrowing_step
    average = (1 - step) * hyper.error_correlation + step * correlation(hyper.pool)
    hyper = hyper._replace(latent=params.Sigma, error_correlation=average)
    if settings.structure.noise == "shared" and settings.structure.latent == "full":
        params = params._replace(Sigma=limited_borrowing(params.Sigma, hyper.error_correlation, guards.borrowing))
    if guards.recentred:
        params, hyper = recentred(data, params, hyper, settings.structure, settings.expected_gain)
    return params, hyper
