"""Variational EM of the global model: q(a) q(F, b), closed form, precisions estimated from the data.

    a_m ~ N(mu + theta'z_m, Sigma)       F_kdd ~ N(1, 1/gain)   F_kde ~ N(0, 1/leak)   b_kd ~ N(0, 1/bias)      eq. B1
    theta ~ MN(0, I/ridge, Sigma)        Sigma pulled to a diagonal target, noise pulled to the pool            eq. B2

The bound rises at every step except recentring and the matching normalisation of the noise scales, which leave the
likelihood as it is but not the priors; they keep the meaning of the dimensions and make convergence fast.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unisono.maths.annotator_rows import Rows, coupled_rows, row_moments, separate_rows
from unisono.maths.bayes_bound import lower_bound
from unisono.maths.bayes_state import BayesSettings, BayesState, Hyper
from unisono.maths.gauge import recentre
from unisono.maths.global_data import GlobalData
from unisono.maths.global_estep import Stats, expectation
from unisono.maths.global_params import GlobalParams, noise_precision
from unisono.maths.latent import fit_predictor, latent_moments, shape_latent
from unisono.maths.noise import pooled_noise, residual_moments, update_noise, update_scaled
from unisono.maths.structure import free_coefficients, identity_rows


def bayes_step(data: GlobalData, state: BayesState, settings: BayesSettings) -> tuple[BayesState, float]:
    """One step of variational EM; the bound is that of the state given."""
    mean, stats = expectation(data, state.params)
    bound = lower_bound(data, stats, state, settings)
    params, hyper = _truth(data, stats, state, settings)
    params = _annotators(data, stats, params, hyper, settings)
    params, hyper = _noise(data, stats, params, hyper, settings)
    hyper = _precisions(data, params, hyper, settings)
    if settings.recentred:
        params, hyper = _recentred(data, params, hyper, settings)
    return BayesState(params, hyper, mean), bound


def settled(tol: float) -> Callable[[list[float], BayesState, BayesState], bool]:
    """Stop when no truth moved by more than `tol` standard deviations of the ratings."""

    def rule(objective: list[float], before: BayesState, after: BayesState) -> bool:
        return bool(np.max(np.abs(after.mean - before.mean), initial=0.0) < tol)

    return rule


def _truth(data: GlobalData, stats: Stats, state: BayesState, settings: BayesSettings) -> tuple[GlobalParams, Hyper]:
    """theta, mu and Sigma together; theta's covariance is proportional to Sigma, so it drops out of Sigma.  eq. B4"""
    hyper, priors = state.hyper, settings.priors
    theta, mu = fit_predictor(data, stats, settings.structure, hyper.ridge)
    spread = latent_moments(data, stats, theta, mu) + hyper.ridge * theta.T @ theta
    spread = spread + priors.latent_items * np.diag(hyper.target)
    Sigma = shape_latent(settings.structure.latent, spread / (data.M + priors.latent_items), settings.floor)
    hyper = hyper._replace(theta_var=1 / (data.scores.l + hyper.ridge))
    if data.scores.R:
        squares = np.trace(np.linalg.solve(Sigma, theta.T @ theta)) + data.D * hyper.theta_var.sum()
        hyper = hyper._replace(ridge=data.scores.R * data.D / float(squares))
    return state.params._replace(theta=theta, mu=mu, Sigma=Sigma), hyper


def _annotators(
    data: GlobalData, stats: Stats, params: GlobalParams, hyper: Hyper, settings: BayesSettings
) -> GlobalParams:
    """Posterior of the rows [F_k, b_k].                                                                eq. B3"""
    free = free_coefficients(settings.structure, data.D)
    precision = hyper.precision(data.D)
    rows: Rows
    if settings.structure.noise == "full":
        W, _ = noise_precision(params.N, data.annotator, data.answered)
        rows = coupled_rows(data, stats, W, free, precision)
    else:
        S, C = row_moments(data, stats)
        weight = 1 / np.diagonal(params.N, axis1=1, axis2=2)
        rows = separate_rows(S, C, free, weight, precision)
    return params._replace(B=rows.B, cov=rows.cov)


def _noise(
    data: GlobalData, stats: Stats, params: GlobalParams, hyper: Hyper, settings: BayesSettings
) -> tuple[GlobalParams, Hyper]:
    """Noise shrunk to the pool of annotators.                                                          eq. B5"""
    R = residual_moments(data, stats, params.B, params.cov)
    noise, priors, floor = settings.structure.noise, settings.priors, settings.floor
    nu = priors.noise_numbers * data.D
    if noise == "scaled":
        squares = data.by_annotator(np.diagonal(R, axis1=1, axis2=2))
        r, s = update_scaled(squares, data.answers(), hyper.s, floor, nu, priors.noise_limits)
        return params._replace(N=scaled_noise(r, s)), hyper._replace(r=r, s=s)
    nu = nu if noise == "isotropic" else priors.noise_numbers
    N = update_noise(noise, data, R, params.N, floor=floor, nu=nu, pool=hyper.pool)
    return params._replace(N=N), hyper._replace(pool=pooled_noise(N))


def scaled_noise(r: np.ndarray, s: np.ndarray) -> np.ndarray:
    """(K, D, D) diagonal covariances r_k s_d."""
    return np.asarray((r[:, None] * s)[:, :, None] * np.eye(len(s)))


def _precisions(data: GlobalData, params: GlobalParams, hyper: Hyper, settings: BayesSettings) -> Hyper:
    """Empirical Bayes inside limits: lambda = (n + 2) / (sum E[delta^2] + 2 guess).                     eq. B6"""
    assert params.cov is not None
    D, priors = data.D, settings.priors
    free = free_coefficients(settings.structure, D)
    rated = data.answers().sum(axis=1) > 0
    squares = (params.B - identity_rows(D)) ** 2 + np.diagonal(params.cov, axis1=2, axis2=3)
    total, n = squares[rated].sum(axis=0), int(rated.sum())
    kinds = coefficient_kinds(D)

    def estimate(kind: str, guess: float, limits: tuple[float, float]) -> float:
        at = free & (kinds == kind)
        value = (n * at.sum() + 2) / (total[at].sum() + 2 * guess)
        return float(np.clip(value, *limits))

    return hyper._replace(
        gain=estimate("gain", priors.gain_guess, priors.gain_limits),
        leak=estimate("leak", priors.leak_guess, priors.leak_limits),
        bias=estimate("bias", priors.bias_guess, priors.bias_limits),
    )


def coefficient_kinds(D: int) -> np.ndarray:
    """(D, q) which of gain, leak and bias each coefficient is."""
    kinds = np.full((D, D + 1), "leak")
    kinds[np.arange(D), np.arange(D)] = "gain"
    kinds[:, D] = "bias"
    return kinds


def _recentred(
    data: GlobalData, params: GlobalParams, hyper: Hyper, settings: BayesSettings
) -> tuple[GlobalParams, Hyper]:
    """The average competent annotator becomes the identity, and the average noise scale one.           eq. B7"""
    given = data.by_annotator(data.judgements)
    competence = np.clip(np.einsum("kdd->k", params.F) / data.D, 0.0, 1.0)
    weight = given * competence
    if weight.sum() > 0:
        params = recentre(params, settings.structure, weight)
    if settings.structure.noise == "scaled":
        level = float(np.exp(given @ np.log(hyper.r) / given.sum()))
        hyper = hyper._replace(r=hyper.r / level, s=hyper.s * level)
    return params, hyper
