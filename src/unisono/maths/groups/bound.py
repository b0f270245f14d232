"""The objective that a step raises: the expected likelihood of eq. J7, the annotators' rows, and the priors.

    bound = log p(y) with expected rows + E[log p(rows)] + H[q(rows)] + log priors of Sigma, maps, noise, precisions

up to constants that do not depend on any parameter.                                                      eq. J14
"""

from __future__ import annotations

import numpy as np

from unisono.maths.groups.data import GroupData
from unisono.maths.groups.estep import Stats
from unisono.maths.groups.mstep import GroupSettings, coefficient_priors
from unisono.maths.groups.params import GroupParams, Hyper


def lower_bound(data: GroupData, stats: Stats, params: GroupParams, hyper: Hyper, settings: GroupSettings) -> float:
    """The bound at a state whose E-step gave `stats`."""
    return float(
        stats.loglik
        + _rows(data, params, hyper)
        + _hyper(data, hyper, settings)
        + _noise(data, params, settings)
        + _maps(params, settings)
        + _truth(data, params, hyper, settings)
    )


def _rows(data: GroupData, params: GroupParams, hyper: Hyper) -> float:
    """E[log p] + H[q] of the rows of annotators and dimensions with ratings."""
    P, center = hyper.precision[data.group][:, None, :], hyper.center[data.group]
    away = (params.rows.mean - center) ** 2 + np.diagonal(params.rows.cov, axis1=2, axis2=3)
    each = np.log(P).sum(axis=2) - (P * away).sum(axis=2) + np.linalg.slogdet(params.rows.cov)[1]
    return float(0.5 * each[data.answers > 0].sum())


def _hyper(data: GroupData, hyper: Hyper, settings: GroupSettings) -> float:
    priors, total = settings.priors, 0.0
    for x, (guess, _) in enumerate(coefficient_priors(priors, data.X)):
        P = hyper.precision[:, x]
        total += 0.5 * priors.guess_coefficients * float(np.sum(np.log(P) - guess * P))
        if x >= 2:
            squares = (hyper.center[:, :, x] ** 2).sum(axis=1)
            total += 0.5 * priors.group_effects * float(np.sum(data.D * np.log(P) - P * squares))
    return total


def _noise(data: GroupData, params: GroupParams, settings: GroupSettings) -> float:
    nu, n = settings.priors.noise_answers * data.D, settings.priors.pool_answers
    own = nu * np.sum(np.log(params.r) + 1 / params.r)
    return float(-0.5 * (own + n * np.sum(np.log(params.s) + settings.s_start / params.s)))


def _maps(params: GroupParams, settings: GroupSettings) -> float:
    """Log priors of [A_g t_g] and S_g where they are learned."""
    total, D, n0 = 0.0, params.A.shape[1], settings.priors.shared_items
    for g in settings.learned_groups():
        B0, weight = settings.map_prior(g, D)
        away = params.B[g] - B0
        pull = np.linalg.solve(params.S[g], (away * weight) @ away.T + n0 * settings.S0[g])
        total -= 0.5 * (n0 * np.linalg.slogdet(params.S[g])[1] + np.trace(pull))
    return float(total)


def _truth(data: GroupData, params: GroupParams, hyper: Hyper, settings: GroupSettings) -> float:
    """Log prior of Sigma, and E[log p] + H[q] of theta, whose covariances are relative to Sigma."""
    n0, (R, D) = settings.priors.latent_items, params.theta.shape
    pull = n0 * np.trace(np.linalg.solve(params.Sigma, settings.target))
    total = -0.5 * (n0 * np.linalg.slogdet(params.Sigma)[1] + pull)
    if R:
        fitted = np.trace(np.linalg.solve(params.Sigma, params.theta.T @ params.theta))
        prior = R * D * np.log(hyper.ridge) - hyper.ridge * (fitted + D * hyper.theta_var.sum())
        total += 0.5 * (prior + D * (np.log(hyper.theta_var).sum() + R - data.scores.l @ hyper.theta_var))
    return float(total)
