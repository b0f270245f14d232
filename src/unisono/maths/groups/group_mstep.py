"""M-steps of the model of groups, and the bound that each of them raises given the statistics of an E-step.

theta, mu, Sigma    as in the model of items, Sigma shrunk towards a target by imaginary items         eq. J8
[A t] = (sum E c abar' + B0 L)(sum E abar abar' + L)^-1                                              eq. J9
S     = (sum E e e' + ([A t] - B0) L ([A t] - B0)' + n0 S0) / (M_g + n0),  e = c - [A t] abar        eq. J10
rows  : one regression per annotator and dimension on [c_d, x], around the group's center            eq. J11
r_k, s_gd: noise of annotators around their group's, and of the group around its start               eq. J12

    bound = log p(y) with expected rows + E[log p(rows)] + H[q(rows)] + log priors of Sigma, maps, noise, precisions

with the likelihood of eq. J7, up to constants that do not depend on any parameter.                       eq. J14
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.groups.group_data import GroupData, GroupParams, Hyper, Rows, row_seconds
from unisono.maths.groups.group_estep import Stats
from unisono.maths.groups.group_priors import VARIANCE_FLOOR, GroupPriors, KindPrior


class GroupSettings(NamedTuple):
    """What a step needs beside data and state."""

    priors: GroupPriors
    target: np.ndarray  # (D, D) where Sigma is expected
    learned: np.ndarray  # (G,) whether map and shared error are estimated; False: A = I, t = 0, S as below
    kinds: tuple[KindPrior, ...]  # G: what is expected of each group
    S0: np.ndarray  # (G, D, D) where the shared error of a learned group is expected
    s_start: np.ndarray  # (G, D) noise at the start
    recentre_gains: bool = False

    def learned_groups(self) -> list[int]:
        """Groups with a map of their own."""
        return [int(g) for g in np.flatnonzero(self.learned)]

    def map_prior(self, g: int, D: int) -> tuple[np.ndarray, np.ndarray]:
        """B0 (D, D + 1) and the diagonal of L (D + 1,)."""
        kind = self.kinds[g]
        return np.eye(D, D + 1), np.append(np.full(D, kind.map_items), kind.level_items)


def update_truth(
    data: GroupData, stats: Stats, params: GroupParams, hyper: Hyper, settings: GroupSettings
) -> tuple[GroupParams, Hyper]:
    """theta, mu and Sigma, and how sure theta is.                                                      eq. J8"""
    l, ridge = data.scores.l, hyper.ridge
    theta = stats.Sza / (l + ridge)[:, None]
    mu = stats.items[-1, :-1] / data.M
    second = stats.items[:-1, :-1] - data.M * np.outer(mu, mu)
    # Scores are centred, so that mu and theta do not meet.
    cross = stats.Sza.T @ theta
    spread = second - cross - cross.T + theta.T @ (l[:, None] * theta) + ridge * theta.T @ theta
    n0 = settings.priors.latent_items
    Sigma = (spread + n0 * settings.target) / (data.M + n0)
    Sigma = (Sigma + Sigma.T) / 2
    hyper = hyper._replace(theta_var=1 / (l + ridge))
    if data.scores.R:
        squares = np.trace(np.linalg.solve(Sigma, theta.T @ theta)) + data.D * hyper.theta_var.sum()
        hyper = hyper._replace(ridge=data.scores.R * data.D / float(squares))
    return params._replace(theta=theta, mu=mu, Sigma=Sigma), hyper


def update_maps(stats: Stats, params: GroupParams, settings: GroupSettings) -> GroupParams:
    """A_g, t_g and S_g of the groups that are learned, from the items that they rated.             eq. J9, eq. J10"""
    A, t, S = params.A.copy(), params.t.copy(), params.S.copy()
    D, n0 = A.shape[1], settings.priors.shared_items
    for g in settings.learned_groups():
        cc, ca, aa = (part[g] for part in stats.groups)
        B0, weight = settings.map_prior(g, D)
        B = np.linalg.solve(aa + np.diag(weight), (ca + B0 * weight).T).T
        away = B - B0
        spread = cc - B @ ca.T - ca @ B.T + B @ aa @ B.T + (away * weight) @ away.T + n0 * settings.S0[g]
        S[g] = (spread + spread.T) / (2 * (aa[-1, -1] + n0))
        A[g], t[g] = B[:, :D], B[:, D]
    return params._replace(A=A, t=t, S=S)


def update_rows(data: GroupData, stats: Stats, params: GroupParams, hyper: Hyper) -> GroupParams:
    """Posterior of [f_kd, beta_kd].                                                                   eq. J11"""
    weight = 1 / params.noise(data.group)[..., None]
    P = hyper.precision[data.group][:, None, :]
    center = hyper.center[data.group]
    moment = row_moments(data, stats)
    q = moment.shape[-1]
    total = weight[..., None] * moment + P[..., None] * np.eye(q)
    right = weight * np.concatenate([stats.Scy[..., None], data.Sxy], axis=2) + P * center
    cov = np.linalg.inv(total)
    return params._replace(rows=Rows(np.einsum("kdij,kdj->kdi", cov, right), cov))


def row_moments(data: GroupData, stats: Stats) -> np.ndarray:
    """(K, D, 1 + X, 1 + X) sums over ratings of E[z z'], z = [c_d, x]."""
    q = 1 + data.X
    moment = np.empty((data.K, data.D, q, q))
    moment[..., 0, 0] = stats.Scc
    moment[..., 0, 1:] = moment[..., 1:, 0] = stats.Scx
    moment[..., 1:, 1:] = data.Sxx
    return moment


def residuals(data: GroupData, stats: Stats, params: GroupParams) -> np.ndarray:
    """(K, D) sums over ratings of E[(y - f c - beta'x)^2]."""
    both = np.concatenate([stats.Scy[..., None], data.Sxy], axis=2)
    second = row_seconds(params.rows)
    found = data.Syy - 2 * np.einsum("kdi,kdi->kd", params.rows.mean, both)
    return np.asarray(found + np.einsum("kdij,kdij->kd", second, row_moments(data, stats)))


def update_noise(data: GroupData, stats: Stats, params: GroupParams, settings: GroupSettings) -> GroupParams:
    """r_k, then s_gd.                                                                                  eq. J12"""
    priors, R = settings.priors, np.maximum(residuals(data, stats, params), 0.0)
    nu = priors.noise_answers * data.D
    relative = (R / params.s[data.group]).sum(axis=1)
    r = np.clip((nu + relative) / (nu + data.answers.sum(axis=1)), *priors.noise_limits)
    s, n = params.s.copy(), priors.pool_answers
    for g in range(data.G):
        own = data.members(g)
        s[g] = ((R[own] / r[own, None]).sum(axis=0) + n * settings.s_start[g]) / (data.answers[own].sum(axis=0) + n)
    return params._replace(r=r, s=np.maximum(s, VARIANCE_FLOOR))


def update_hyper(data: GroupData, params: GroupParams, hyper: Hyper, settings: GroupSettings) -> Hyper:
    """How far annotators of a group lie apart, and where its effects of covariates lie.                eq. J13"""
    precision, center, priors = hyper.precision.copy(), hyper.center.copy(), settings.priors
    rated = data.answers > 0
    for g in range(data.G):
        own = rated * data.members(g)[:, None]
        n = own.sum(axis=0)
        # What the reference does as a whole is the truth: only its members' own effects can be told from it.
        if data.X > 1 and (g or not settings.learned.any()):
            total = np.einsum("kd,kdx->dx", own, params.rows.mean[..., 2:])
            center[g, :, 2:] = total / (n[:, None] + priors.group_effects)
        away = (params.rows.mean - center[g]) ** 2 + np.diagonal(params.rows.cov, axis1=2, axis2=3)
        squares = np.einsum("kd,kdx->x", own, away)
        # The imaginary annotators without effect lie away from the group's center too.
        squares[2:] += priors.group_effects * (center[g, :, 2:] ** 2).sum(axis=0)
        counts = np.full(1 + data.X, float(n.sum()))
        counts[2:] += priors.group_effects * data.D
        for x, (guess, limits) in enumerate(coefficient_priors(priors, data.X)):
            imaginary = priors.guess_coefficients
            precision[g, x] = np.clip((counts[x] + imaginary) / (squares[x] + imaginary * guess), *limits)
    return hyper._replace(precision=precision, center=center)


def coefficient_priors(priors: GroupPriors, X: int) -> list[tuple[float, tuple[float, float]]]:
    """Guess and limits of gain, bias and each covariate's effect."""
    effects = [(priors.effect_guess, priors.effect_limits)] * (X - 1)
    return [(priors.gain_guess, priors.gain_limits), (priors.bias_guess, priors.bias_limits), *effects]


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
