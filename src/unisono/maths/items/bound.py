"""The lower bound that variational EM climbs, up to constants that do not depend on any parameter.

bound = E[log p(y*, a | B)] + H[q(a)]  (eq. G6 with expected quadratic forms) + H[q(y*)]
      + E[log p(B | z)] + H[q(B)] + E[log p(z)] + H[q(z)] + E[log p(theta)] + H[q(theta)]
      + log priors of precisions, noise, and Sigma                                                            eq. B8
"""

from __future__ import annotations

import numpy as np

from unisono.maths.items.classes import class_term
from unisono.maths.items.data import ItemData
from unisono.maths.items.estep import Stats
from unisono.maths.items.noise import distance_of_scales, log_pooling_prior
from unisono.maths.items.rows import RowPrior, log_precision
from unisono.maths.items.state import BayesSettings, BayesState
from unisono.maths.items.structure import free_coefficients
from unisono.maths.linalg.small_spd import logdets


def lower_bound(data: ItemData, stats: Stats, state: BayesState, prior: RowPrior, settings: BayesSettings) -> float:
    """The bound at a state whose E-step gave `stats`; `prior` is that of the rows under its hyper-parameters."""
    return (
        stats.loglik
        + state.entropy
        + _rows_term(data, state, prior, settings)
        + _classes_term(data, state, settings)
        + _predictor_term(data, state)
        + _between_annotators(data, state, settings)
        + _noise_prior(data, state, settings)
        + _truth_prior(state, settings)
    )


def coordinates_term(data: ItemData, state: BayesState, prior: RowPrior, settings: BayesSettings) -> float:
    """The part of the bound that a change of the truth's coordinates changes."""
    return _rows_term(data, state, prior, settings) + _truth_prior(state, settings)


def _rows_term(data: ItemData, state: BayesState, prior: RowPrior, settings: BayesSettings) -> float:
    """E[log p(B)] + H[q(B)] over annotators who rated anything."""
    free = free_coefficients(settings.structure, data.D)
    rated = data.answers().sum(axis=1) > 0
    if not free.any() or not rated.any():
        return 0.0
    B, cov = state.params.B, state.params.cov
    assert cov is not None
    away, total = (B - prior.center)[rated], 0.0
    if free[:, -1].all():
        total -= np.einsum("kd,kde,ke->", away[:, :, -1], prior.coupling[rated], away[:, :, -1])
    for d in range(data.D):
        at = np.flatnonzero(free[d])
        if len(at):
            # E[(B - center)' precision (B - center)]; precisions and covariances are symmetric.
            own, precision = (part[:, d, at[:, None], at][rated] for part in (cov, prior.precision))
            off = away[:, d][:, at]
            total -= np.sum(precision * (off[:, :, None] * off[:, None] + own))
            total += np.sum(logdets(own) + len(at))
    return float(0.5 * total) + log_precision(prior, free, rated)


def _classes_term(data: ItemData, state: BayesState, settings: BayesSettings) -> float:
    """E[log p(z)] + H[q(z)], and what E[log p(B | z)] has beyond E[log p(B | E m_kz)], of those who rated anything."""
    if settings.classes is None:
        return 0.0
    rated, hyper = data.answers().sum(axis=1) > 0, state.hyper
    centers = settings.class_centers(hyper.r)
    precision = hyper.gain * hyper.hold[rated]
    return class_term(hyper.classes[rated], settings.classes[rated], centers[rated], precision)


def _predictor_term(data: ItemData, state: BayesState) -> float:
    """E[log p(theta)] + H[q(theta)] - 1/2 D tr(Z Cov Z'), with covariances relative to Sigma."""
    R, D = state.params.theta.shape
    if not R:
        return 0.0
    hyper, theta = state.hyper, state.params.theta
    fitted = np.trace(np.linalg.solve(state.params.Sigma, theta.T @ theta))
    spread = D * hyper.theta_var.sum()
    prior = R * D * np.log(hyper.ridge) - hyper.ridge * (fitted + spread)
    entropy = D * np.log(hyper.theta_var).sum() + R * D
    return float(0.5 * (prior + entropy) - 0.5 * D * data.scores.l @ hyper.theta_var)


def _between_annotators(data: ItemData, state: BayesState, settings: BayesSettings) -> float:
    """Prior of how annotators differ: of the biases' covariance, of who is tied to it and who is held to the rest.

    Integrating over a precision that varies as a gamma does and estimating it under this prior are the same.
    """
    hold, tie, nu = state.hyper.hold, state.hyper.tie, settings.priors.bias_freedom
    freedom, _ = settings.noise_scale_prior(data, np.ones(data.K))
    held = -0.5 * float(freedom @ (hold - np.log(hold) - 1))
    ties = float(-0.5 * nu * np.sum(tie - np.log(tie) - 1))
    return held + ties + _pull(state.hyper.bias, settings.targets.bias, settings.priors.bias_annotators)


def _noise_prior(data: ItemData, state: BayesState, settings: BayesSettings) -> float:
    noise, nu, hyper = settings.structure.noise, settings.priors.noise_numbers, state.hyper
    if noise not in ("scaled", "shared"):
        return log_pooling_prior(noise, state.params.N, nu * data.D if noise == "isotropic" else nu, hyper.pool)
    numbers, center = settings.noise_scale_prior(data, hyper.hold)
    scales = float(-0.5 * numbers @ distance_of_scales(hyper.r, center))
    if noise == "scaled":
        return scales
    return scales + _pull(hyper.pool, settings.targets.noise, settings.noise_judgements(data))


def _truth_prior(state: BayesState, settings: BayesSettings) -> float:
    """Of Sigma around its target, which is smaller the more features explain."""
    left = state.hyper.unexplained
    return _pull(state.params.Sigma, settings.targets.latent * left[:, None] * left, settings.priors.latent_items)


def _pull(covariance: np.ndarray, target: np.ndarray, count: float) -> float:
    """Log prior of a covariance, as if `count` imaginary draws with the target's moments had been seen.

    Relative to its highest value, as all priors here, so that fits with different priors can be compared.
    """
    ratio = np.linalg.solve(covariance, target)
    return float(-0.5 * count * (np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(target)))
