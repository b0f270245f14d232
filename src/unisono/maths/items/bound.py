"""The lower bound that variational EM climbs, up to constants that do not depend on any parameter.

bound = E[log p(y, a | B)] + H[q(a)]  (eq. G6 with expected quadratic forms)
      + E[log p(B)] + H[q(B)] + E[log p(theta)] + H[q(theta)] + log priors of precisions, noise and Sigma    eq. B8
"""

from __future__ import annotations

import numpy as np

from unisono.maths.items.data import ItemData
from unisono.maths.items.estep import Stats
from unisono.maths.items.noise import log_pooling_prior
from unisono.maths.items.rows import RowPrior, log_prior
from unisono.maths.items.state import BayesSettings, BayesState
from unisono.maths.items.structure import free_coefficients


def lower_bound(data: ItemData, stats: Stats, state: BayesState, prior: RowPrior, settings: BayesSettings) -> float:
    """The bound at a state whose E-step gave `stats`; `prior` is that of the rows under its hyper-parameters."""
    return (
        stats.loglik
        + _rows_term(data, state, prior, settings)
        + _predictor_term(data, state)
        + _between_annotators(state, settings)
        + _noise_prior(data, state, settings)
        + _pull(state.params.Sigma, settings.targets.latent, settings.priors.latent_items)
    )


def _rows_term(data: ItemData, state: BayesState, prior: RowPrior, settings: BayesSettings) -> float:
    """E[log p(B)] + H[q(B)] over annotators who rated anything."""
    params, D = state.params, data.D
    assert params.cov is not None
    free = free_coefficients(settings.structure, D)
    rated = data.answers().sum(axis=1) > 0
    total = log_prior(params.B, params.cov, prior, free, rated)
    for d in range(D):
        at = np.flatnonzero(free[d])
        if len(at):
            blocks = params.cov[rated, d][:, at[:, None], at]
            total += 0.5 * np.sum(np.linalg.slogdet(blocks)[1] + len(at))
    return float(total)


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


def _between_annotators(state: BayesState, settings: BayesSettings) -> float:
    """Priors of how annotators differ: of the precisions, and of the covariance of biases."""
    hyper, priors = state.hyper, settings.priors
    pairs = ((hyper.gain, priors.gain_guess), (hyper.leak, priors.leak_guess))
    each = priors.guess_coefficients / 2
    precisions = float(sum(each * (np.log(value) - guess * value) for value, guess in pairs))
    return precisions + _pull(hyper.bias, settings.targets.bias, priors.bias_annotators)


def _noise_prior(data: ItemData, state: BayesState, settings: BayesSettings) -> float:
    noise, nu, hyper = settings.structure.noise, settings.priors.noise_numbers, state.hyper
    if noise not in ("scaled", "shared"):
        return log_pooling_prior(noise, state.params.N, nu * data.D if noise == "isotropic" else nu, hyper.pool)
    numbers, center = settings.noise_scale_prior(data.D)
    scales = float(-0.5 * np.sum(numbers * (np.log(hyper.r) + center / hyper.r)))
    if noise == "scaled":
        return scales
    return scales + _pull(hyper.pool, settings.targets.noise, settings.priors.noise_judgements)


def _pull(covariance: np.ndarray, target: np.ndarray, count: float) -> float:
    """Log prior of a covariance, as if `count` imaginary draws with the target's moments had been seen."""
    drawn = np.trace(np.linalg.solve(covariance, target))
    return float(-0.5 * count * (np.linalg.slogdet(covariance)[1] + drawn))
