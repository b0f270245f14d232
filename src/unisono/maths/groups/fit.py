"""EM of the model of groups: one step, what is recentred after it, and the whole fit.

The step raises the bound (eq. J14); recentring after it leaves the likelihood as it is and changes the priors alone:
biases average to nothing inside each group, so that t_g holds what a group has in common. Gains are recentred only
where no group is the reference: with one, shrinking directions of the map would be blown up step by step. A group that
is expected to have the level of the reference is recentred at the end alone: between steps its t_g, drawn to 0, would
be pushed out again each time, and S_g with it, without end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from unisono.maths.em import EmTrace, run_em
from unisono.maths.groups.bound import lower_bound
from unisono.maths.groups.data import GroupData
from unisono.maths.groups.estep import expectation
from unisono.maths.groups.mstep import (
    GroupSettings,
    update_hyper,
    update_maps,
    update_noise,
    update_rows,
    update_truth,
)
from unisono.maths.groups.params import GroupParams, Hyper, Rows
from unisono.maths.groups.priors import FIRM_LEVEL


class GroupState(NamedTuple):
    """Parameters, hyper-parameters, and the truths that the last E-step found."""

    params: GroupParams
    hyper: Hyper
    mean: np.ndarray  # (M, D) NaN before the first step


def group_step(data: GroupData, state: GroupState, settings: GroupSettings) -> tuple[GroupState, float]:
    """The next state, and the bound at this one."""
    mean, stats = expectation(data, state.params)
    bound = lower_bound(data, stats, state.params, state.hyper, settings)
    params, hyper = update_truth(data, stats, state.params, state.hyper, settings)
    params = update_maps(stats, params, settings)
    params = update_rows(data, stats, params, hyper)
    params = update_noise(data, stats, params, settings)
    hyper = update_hyper(data, params, hyper, settings)
    return GroupState(params, hyper, mean), bound


def recentred(
    data: GroupData, params: GroupParams, settings: GroupSettings, groups: Iterable[int] | None = None
) -> GroupParams:
    """The same likelihood with biases that average to nothing inside each of the groups; by default all. eq. J16"""
    for g in range(data.G) if groups is None else groups:
        own = data.members(g)
        gain, bias = params.rows.mean[own, :, 0], params.rows.mean[own, :, 1]
        weight = data.answers[own] * np.clip(gain, 0.0, 1.0)
        if not (weight.sum(axis=0) > 0).all():
            continue
        scale = np.ones(data.D)
        if settings.recentre_gains:
            scale = np.maximum((weight * gain).sum(axis=0) / weight.sum(axis=0), 0.1)
        shift = (weight * bias).sum(axis=0) / (weight * gain).sum(axis=0)
        params = _moved(data, params, g, scale, shift, settings)
    return params


def _moved(
    data: GroupData, params: GroupParams, g: int, scale: np.ndarray, shift: np.ndarray, settings: GroupSettings
) -> GroupParams:
    """The view of group g becomes scale (c + shift), and nobody's ratings change."""
    own, q = data.members(g), 1 + data.X
    change = np.tile(np.eye(q), (data.D, 1, 1))  # [f, b]' = change [f, b]
    change[:, 0, 0] = 1 / scale
    change[:, 1, 0] = -shift
    mean, cov = params.rows.mean.copy(), params.rows.cov.copy()
    mean[own] = np.einsum("dij,kdj->kdi", change, mean[own])
    cov[own] = change @ cov[own] @ np.swapaxes(change, 1, 2)
    params = params._replace(rows=Rows(mean, cov))
    A, t, S = params.A.copy(), params.t.copy(), params.S.copy()
    if settings.learned[g]:
        A[g], t[g] = scale[:, None] * A[g], scale * (t[g] + shift)
        S[g] = scale[:, None] * S[g] * scale
        return params._replace(A=A, t=t, S=S)
    # Who has no map of its own moves the truth, and what others see of it stays.
    t = t - A @ shift
    A = A / scale
    A[g], t[g], S[g] = np.eye(data.D), 0.0, scale[:, None] * S[g] * scale
    Sigma = scale[:, None] * params.Sigma * scale
    return params._replace(A=A, t=t, S=S, mu=scale * (params.mu + shift), theta=scale * params.theta, Sigma=Sigma)


def with_assumed_error(data: GroupData, params: GroupParams, settings: GroupSettings) -> GroupParams:
    """S_g of groups that are not learned: the assumed share of what is an annotator's error.            eq. J17"""
    S = params.S.copy()
    for g in set(range(data.G)) - set(settings.learned_groups()):
        own = data.members(g) & (data.answers.sum(axis=1) > 0)
        share = settings.kinds[g].shared
        noise = params.r[own].mean() * params.s[g] if own.any() else params.s[g]
        S[g] = np.diag(share / (1 - share) * noise)
    return params._replace(S=S)


def settled(tol: float) -> Callable[[list[float], GroupState, GroupState], bool]:
    """Stop when no truth moved by more than `tol` standard deviations of the ratings."""

    def rule(objective: list[float], before: GroupState, after: GroupState) -> bool:
        return bool(np.max(np.abs(after.mean - before.mean), initial=0.0) < tol)

    return rule


def fit_groups(
    data: GroupData,
    start: GroupState,
    settings: GroupSettings,
    *,
    tol: float,
    max_iter: int,
    on_step: Callable[[int, GroupState, float], None] | None = None,
) -> tuple[GroupState, EmTrace]:
    """Repeats steps until no truth moves."""

    held = [g for g in settings.learned_groups() if settings.kinds[g].level_items >= FIRM_LEVEL]
    others = [g for g in range(data.G) if g not in held]

    def step(state: GroupState) -> tuple[GroupState, float]:
        following, bound = group_step(data, state, settings)
        params = recentred(data, following.params, settings, others)
        return following._replace(params=with_assumed_error(data, params, settings)), bound

    state, trace = run_em(step, start, stop_when=settled(tol), max_iter=max_iter, on_step=on_step, keep="next")
    return state._replace(params=recentred(data, state.params, settings, held)), trace
