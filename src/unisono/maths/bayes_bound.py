"""The lower bound that variational EM climbs, up to constants that do not depend on any parameter.

bound = E[log p(y, a | B)] + H[q(a)]  (eq. G6 with expected quadratic forms)
      + E[log p(B)] + H[q(B)] + E[log p(theta)] + H[q(theta)] + log priors of precisions, noise and Sigma    eq. B8
"""

from __future__ import annotations

import numpy as np

from unisono.maths.bayes_state import BayesSettings, BayesState
from unisono.maths.global_data import GlobalData
from unisono.maths.global_estep import Stats
from unisono.maths.noise import log_pooling_prior
from unisono.maths.structure import free_coefficients, identity_rows


def lower_bound(data: GlobalData, stats: Stats, state: BayesState, settings: BayesSettings) -> float:
    """The bound at a state whose E-step gave `stats`."""
    return (
        stats.loglik
        + _rows_term(data, state, settings)
        + _predictor_term(data, state)
        + _precision_prior(state, settings)
        + _noise_prior(data, state, settings)
        + _latent_prior(state, settings)
    )


def _rows_term(data: GlobalData, state: BayesState, settings: BayesSettings) -> float:
    """E[log p(B)] + H[q(B)] over annotators who rated anything."""
    params, D = state.params, data.D
    assert params.cov is not None
    free = free_coefficients(settings.structure, D)
    rated = data.answers().sum(axis=1) > 0
    precision = state.hyper.precision(D)
    squares = (params.B - identity_rows(D)) ** 2 + np.diagonal(params.cov, axis1=2, axis2=3)
    total = 0.5 * rated.sum() * np.log(precision[free]).sum()
    total -= 0.5 * np.sum((precision * squares)[rated][:, free])
    for d in range(D):
        at = np.flatnonzero(free[d])
        if len(at):
            blocks = params.cov[rated, d][:, at[:, None], at]
            total += 0.5 * np.sum(np.linalg.slogdet(blocks)[1] + len(at))
    return float(total)


def _predictor_term(data: GlobalData, state: BayesState) -> float:
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


def _precision_prior(state: BayesState, settings: BayesSettings) -> float:
    hyper, priors = state.hyper, settings.priors
    pairs = ((hyper.gain, priors.gain_guess), (hyper.leak, priors.leak_guess), (hyper.bias, priors.bias_guess))
    return float(sum(np.log(value) - guess * value for value, guess in pairs))


def _noise_prior(data: GlobalData, state: BayesState, settings: BayesSettings) -> float:
    noise, nu = settings.structure.noise, settings.priors.noise_numbers
    if noise == "scaled":
        r = state.hyper.r
        return float(-0.5 * nu * data.D * np.sum(np.log(r) + 1 / r))
    return log_pooling_prior(noise, state.params.N, nu * data.D if noise == "isotropic" else nu, state.hyper.pool)


def _latent_prior(state: BayesState, settings: BayesSettings) -> float:
    Sigma, items = state.params.Sigma, settings.priors.latent_items
    pull = np.trace(np.linalg.solve(Sigma, np.diag(state.hyper.target)))
    return float(-0.5 * items * (np.linalg.slogdet(Sigma)[1] + pull))
