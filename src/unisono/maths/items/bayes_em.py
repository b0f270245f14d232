"""Variational EM of the item model, the default: every step raises one bound.

    a_m ~ N(mu + theta'z_m, Sigma)       F_kdd ~ N(g_kd, 1/(gain h_k))   F_kde ~ N(0, 1/leak)   b_k ~ N(0, C)  eq. B1
    theta ~ MN(0, I/ridge, Sigma)        Sigma, the noise and C shrunk towards targets                         eq. B2

q(a) q(theta) q(y*) prod_kd q(B_kd) p(z_kd); everything else is a point estimate under a prior. g_kd = E[m_kz], what is
expected of the latent classes of annotators (`annotator_rows`). A step is a sweep of updates, each the maximum while
the rest is held: truths, their mean and covariance, annotators row by row, noise, how annotators differ, coordinates
(`bayes_bound`). Latent ratings behind answers at the ends of the scale (`censored_estep`) belong to the truths' update.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unisono.maths.items.annotator_rows import (
    CLASS_GAINS,
    NOISE_EXPONENTS,
    RowPrior,
    common_prior,
    coupled_rows,
    expected_gain,
    gain_variance,
    replaced,
    row_by_row,
)
from unisono.maths.items.bayes_bound import BayesSettings, BayesState, Hyper, best_coordinates, highest, lower_bound
from unisono.maths.items.item_data import ItemData
from unisono.maths.items.item_estep import Stats, expectation
from unisono.maths.items.item_params import ItemParams, free_coefficients, noise_precision
from unisono.maths.items.item_variances import (
    GainPull,
    distance_of_scales,
    fit_predictor,
    latent_moments,
    pooled_noise,
    residual_moments,
    scaled_noise,
    shape_latent,
    update_noise,
    update_scaled,
    update_shared,
)
from unisono.maths.items.judgement_weights import reweighed

MOST_MIXED = 6  # numerical: dimensions up to which rows that mix all of them are found together


def bayes_step(given: ItemData, state: BayesState, settings: BayesSettings) -> tuple[BayesState, float]:
    """One step of variational EM; the bound is that of the state given."""
    data = state.seen(given)
    mean, stats = expectation(data, state.params)
    after, bound = maximised(data, stats, mean, state, settings)
    if state.weights is not None:
        weights = reweighed(given, after.params, state.weights)
        after = after._replace(weights=weights, params=after.params._replace(tails=weights.tails))
    return after, bound


def maximised(
    data: ItemData, stats: Stats, mean: np.ndarray, state: BayesState, settings: BayesSettings
) -> tuple[BayesState, float]:
    """All of a step after its E-step, which found `stats` and the truths `mean` (M, D); the bound of the state given.

    Of the ratings it needs the sums of their profiles alone, and truths are only moved with the coordinates.
    """
    prior = row_prior(data, state.hyper, settings)
    bound = lower_bound(data, stats, state, prior, settings)
    params, hyper = _truth(data, stats, state, settings)
    params = _annotators(data, stats, params, prior, settings)
    params, hyper = _noise(data, stats, params, hyper, settings)
    hyper = _between_annotators(data, params, hyper, settings)
    hyper = _biases(data, params, hyper, settings)
    after = BayesState(params, hyper, mean, state.weights)
    if settings.anchored:
        after = best_coordinates(data, after, row_prior(data, hyper, settings), settings)
    return after, bound


def settled(tol: float) -> Callable[[list[float], BayesState, BayesState], bool]:
    """Stop when no truth moved by more than `tol` standard deviations of the ratings."""

    def rule(objective: list[float], before: BayesState, after: BayesState) -> bool:
        return bool(np.max(np.abs(after.mean - before.mean), initial=0.0) < tol)

    return rule


def row_prior(data: ItemData, hyper: Hyper, settings: BayesSettings) -> RowPrior:
    """Where the rows [F_k, b_k] are expected: near "answers the truth", or where an earlier fit left them.

    Annotators who use little of the scale have small gains and small errors alike, so the gain goes with the noise.
    """
    gain = expected_gain(hyper.classes, settings.class_centers(hyper.r))
    prior = common_prior(gain, hyper.precisions(data.D), hyper.bias, hyper.tie)
    if settings.mixing is not None:
        prior.center[:, :, : data.D] = settings.mixing
    return prior if settings.earlier is None else replaced(prior, settings.earlier.known, settings.earlier.rows)


def _truth(data: ItemData, stats: Stats, state: BayesState, settings: BayesSettings) -> tuple[ItemParams, Hyper]:
    """theta, mu and Sigma together; theta's covariance is proportional to Sigma, so it drops out of Sigma.  eq. B4"""
    hyper, priors, target = state.hyper, settings.priors, settings.targets.latent
    theta, mu = fit_predictor(data, stats, settings.structure, hyper.ridge)
    spread = latent_moments(data, stats, theta, mu) + hyper.ridge * theta.T @ theta
    expected = target * hyper.unexplained[:, None] * hyper.unexplained
    spread = (spread + priors.latent_items * expected) / (data.M + priors.latent_items)
    Sigma = shape_latent(settings.structure.latent, spread, settings.floor)
    hyper = hyper._replace(theta_var=1 / (data.scores.l + hyper.ridge))
    if data.scores.R:
        squares = np.trace(np.linalg.solve(Sigma, theta.T @ theta)) + data.D * hyper.theta_var.sum()
        # What features explain is not expected of the rest.                                               eq. B19
        left = highest(np.zeros(data.D), np.linalg.inv(Sigma) * target, np.ones(data.D), hyper.unexplained, most=1.0)
        hyper = hyper._replace(ridge=data.scores.R * data.D / float(squares), unexplained=left)
    return state.params._replace(theta=theta, mu=mu, Sigma=Sigma), hyper


def _annotators(
    data: ItemData, stats: Stats, params: ItemParams, prior: RowPrior, settings: BayesSettings
) -> ItemParams:
    """Posterior of the rows [F_k, b_k]: means together, so that the order of dimensions does not matter.

    Where everybody may mix many dimensions, that would cost D^6, and rows take turns.
    """
    W, _ = noise_precision(params.N, data.annotator, data.answered)
    free = free_coefficients(settings.structure, data.D)
    if settings.structure.transform == "full" and data.D > MOST_MIXED:
        rows = row_by_row(data, stats, W, params.B, prior, free)
    else:
        rows = coupled_rows(data, stats, W, free, prior)
    return params._replace(B=rows.B, cov=rows.cov)


def _noise(
    data: ItemData, stats: Stats, params: ItemParams, hyper: Hyper, settings: BayesSettings
) -> tuple[ItemParams, Hyper]:
    """Noise shrunk to the pool of annotators.                                                          eq. B5"""
    R = residual_moments(data, stats, params.B, params.cov)
    noise, priors, floor = settings.structure.noise, settings.priors, settings.floor
    if noise in ("scaled", "shared"):
        gains = _gain_pull(data, params, hyper, settings)
        nu, center = settings.noise_scale_prior(data, hyper.hold)
        if noise == "scaled":
            squares = data.by_annotator(np.diagonal(R, axis1=1, axis2=2))
            r, s = update_scaled(squares, data.answers(), np.diagonal(hyper.pool), floor, nu, hyper.r, gains)
            pool = np.diag(s)
        else:
            target, count = settings.targets.noise, settings.noise_judgements(data)
            r, pool = update_shared(data, R, hyper.pool, floor, nu, center, hyper.r, gains, target, count)
        return params._replace(N=scaled_noise(r, pool)), hyper._replace(r=r, pool=pool)
    numbers = priors.noise_numbers * (data.D if noise == "isotropic" else 1)
    N = update_noise(noise, data, R, params.N, floor=floor, nu=numbers, pool=hyper.pool)
    rated = data.answers().sum(axis=1) > 0
    pool = pooled_noise(N[rated])
    return params._replace(N=np.where(rated[:, None, None], N, pool)), hyper._replace(pool=pool)


def _gain_pull(data: ItemData, params: ItemParams, hyper: Hyper, settings: BayesSettings) -> GainPull | None:
    """What gains say about the noise of their annotators; None where they are fixed or do not go with it."""
    if not settings.gains_follow_noise or settings.mixing is not None:
        return None
    weight = hyper.classes * (hyper.gain * hyper.hold * _newly_rated(data, settings))[:, None, None]
    product = CLASS_GAINS * np.einsum("kdz,kdd->kz", weight, params.F)
    return GainPull(product, CLASS_GAINS**2 * weight.sum(axis=1), settings.gains_exponent * NOISE_EXPONENTS)


def _between_annotators(data: ItemData, params: ItemParams, hyper: Hyper, settings: BayesSettings) -> Hyper:
    """How annotators differ: lambda = n / sum E[delta^2], unless it is fixed; C pulled to its target.      eq. B6"""
    D, priors = data.D, settings.priors
    free = free_coefficients(settings.structure, D)
    new = _newly_rated(data, settings)
    assert params.cov is not None
    squares, n = _squares_away(data, params, hyper, settings), int(new.sum())
    total = squares[new].sum(axis=0)
    own = np.eye(D, D + 1, dtype=bool)
    others = ~own
    others[:, D] = False

    def estimate(kind: np.ndarray, before: float) -> float:
        coefficients = n * int((free & kind).sum())
        return coefficients / float(total[free & kind].sum()) if priors.estimated and coefficients else before

    return hyper._replace(
        gain=estimate(own, hyper.gain),
        leak=estimate(others, hyper.leak),
        hold=hyper.hold if priors.estimated else np.where(new, _holds(data, squares, hyper, settings), 1.0),
    )


def _biases(data: ItemData, params: ItemParams, hyper: Hyper, settings: BayesSettings) -> Hyper:
    """C, pulled to its target, given how far everybody's biases are tied to it; then the ties.           eq. B28

    b_k ~ N(0, C / tie_k), tie_k ~ Gamma(nu/2, nu/2): Student's t, so that who lies far off is let go, and moves nobody
    else's prior.
    """
    D, priors, tie = data.D, settings.priors, hyper.tie.copy()
    new = _newly_rated(data, settings)
    if not settings.structure.bias:
        new[:] = False
    assert params.cov is not None
    bias, cov, target = params.b[new], params.cov[new][:, :, D, D], settings.targets.bias
    spread = (tie[new, None] * bias).T @ bias + np.diag(tie[new] @ cov)
    C = (spread + priors.bias_annotators * target) / (len(bias) + priors.bias_annotators)
    C = C if settings.structure.couples_dimensions else np.diag(np.diagonal(C))
    precision = np.linalg.inv(C)
    away = np.einsum("kd,de,ke->k", bias, precision, bias) + cov @ np.diagonal(precision)
    tie[new] = (priors.bias_freedom + D) / (priors.bias_freedom + away)
    return hyper._replace(bias=C, tie=tie)


def _newly_rated(data: ItemData, settings: BayesSettings) -> np.ndarray:
    """(K,) who rated anything and is not known from an earlier fit."""
    rated = np.asarray(data.answers().sum(axis=1) > 0)
    return rated if settings.earlier is None else rated & ~settings.earlier.known


def _squares_away(data: ItemData, params: ItemParams, hyper: Hyper, settings: BayesSettings) -> np.ndarray:
    """(K, D, q) E[delta^2] of coefficients from where they are expected, whatever the class."""
    assert params.cov is not None
    squares = (params.B - row_prior(data, hyper, settings).center) ** 2 + np.einsum("kdii->kdi", params.cov)
    dims = np.arange(data.D)
    squares[:, dims, dims] += gain_variance(hyper.classes, settings.class_centers(hyper.r))
    return np.asarray(squares)


def _holds(data: ItemData, squares: np.ndarray, hyper: Hyper, settings: BayesSettings) -> np.ndarray:
    """(K,) h_k: who is far from what is expected of gains and noise, beyond doubt, is held to it less.

    Normals whose precisions vary around one as a gamma does are Student's t, with nu degrees of freedom: of the gains
    (n of them free) and of the distance of r_k together, h_k = (nu + n) / (nu + gain sum E[delta^2] + nu distance).

    eq. B27
    """
    own = np.flatnonzero(np.diagonal(free_coefficients(settings.structure, data.D)))
    evidence = hyper.gain * squares[:, own, own].sum(axis=1)
    nu, center = settings.noise_scale_prior(data, np.ones(data.K))
    if settings.structure.noise in ("scaled", "shared"):
        evidence += nu * distance_of_scales(hyper.r, center)
    return np.asarray((nu + len(own)) / (nu + evidence))
