"""EM of the model of groups: where it starts, one step, what is recentred after it, and the fit that labels choose.

The start: moments of the ratings, everybody answering the truth. Noise of a group is the variance within items after
the annotators' means are taken out; the variance of the truth an estimate by analysis of variance, that of the
reference and that of all groups together, weighted by labelled items (eq. J15).

The step raises the bound (eq. J14); recentring after it leaves the likelihood as it is and changes the priors alone:
biases average to nothing inside each group, so that t_g holds what a group has in common. Gains are recentred only
where no group is the reference: with one, shrinking directions of the map would be blown up step by step. A group that
is expected to have the level of the reference is recentred at the end alone: between steps its t_g, drawn to 0, would
be pushed out again each time, and S_g with it, without end.

Few labels leave the shared error near where it was expected, which is too wide for groups that share nothing and too
narrow for groups that share most. So EM is run for several expectations, and the labels, each foretold without itself,
choose one. With a', P, lev, e and nu as in `group_labels`, ybar a label and 1/Q its noise:

    score = sum over labelled items of log t_nu((ybar - a') / (1 - w lev);  P^-1 (1 + lev) (1 + e / nu) + 1/Q)   eq. J24
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from unisono.maths import em_loop, grouped_sums
from unisono.maths.groups import group_mstep, group_priors
from unisono.maths.groups.group_data import GroupData, GroupParams, Hyper, Rows, prepare_groups
from unisono.maths.groups.group_estep import expectation
from unisono.maths.groups.group_labels import Learned, Unlabelled, learn_from_labels, without_labels
from unisono.maths.items.item_data import Scores


class GroupState(NamedTuple):
    """Parameters, hyper-parameters, and the truths that the last E-step found."""

    params: GroupParams
    hyper: Hyper
    mean: np.ndarray  # (M, D) NaN before the first step


def group_step(data: GroupData, state: GroupState, settings: group_mstep.GroupSettings) -> tuple[GroupState, float]:
    """The next state, and the bound at this one."""
    mean, stats = expectation(data, state.params)
    bound = group_mstep.lower_bound(data, stats, state.params, state.hyper, settings)
    params, hyper = group_mstep.update_truth(data, stats, state.params, state.hyper, settings)
    params = group_mstep.update_maps(stats, params, settings)
    params = group_mstep.update_rows(data, stats, params, hyper)
    params = group_mstep.update_noise(data, stats, params, settings)
    hyper = group_mstep.update_hyper(data, params, hyper, settings)
    return GroupState(params, hyper, mean), bound


def recentred(
    data: GroupData, params: GroupParams, settings: group_mstep.GroupSettings, groups: Iterable[int] | None = None
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
    data: GroupData,
    params: GroupParams,
    g: int,
    scale: np.ndarray,
    shift: np.ndarray,
    settings: group_mstep.GroupSettings,
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


def with_assumed_error(data: GroupData, params: GroupParams, settings: group_mstep.GroupSettings) -> GroupParams:
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
    settings: group_mstep.GroupSettings,
    *,
    tol: float,
    max_iter: int,
    on_step: Callable[[int, GroupState, float], None] | None = None,
) -> tuple[GroupState, em_loop.EmTrace]:
    """Repeats steps until no truth moves."""

    held = [g for g in settings.learned_groups() if settings.kinds[g].level_items >= group_priors.FIRM_LEVEL]
    others = [g for g in range(data.G) if g not in held]

    def step(state: GroupState) -> tuple[GroupState, float]:
        following, bound = group_step(data, state, settings)
        params = recentred(data, following.params, settings, others)
        return following._replace(params=with_assumed_error(data, params, settings)), bound

    state, trace = em_loop.run_em(step, start, stop_when=settled(tol), max_iter=max_iter, on_step=on_step, keep="next")
    return state._replace(params=recentred(data, state.params, settings, held)), trace


class GroupMomentsAtStart(NamedTuple):
    """Of one group, each (D,)."""

    mean: np.ndarray
    within: np.ndarray  # variance within items, annotators' means taken out; NaN where no item has two ratings
    freedom: np.ndarray  # degrees of freedom of that
    between: np.ndarray  # variance of the truth; NaN where it cannot be seen


def moments(value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray) -> GroupMomentsAtStart:
    """Of the ratings (J, D) of one group, NaN where missing."""
    D = value.shape[1]
    if not len(value):
        return GroupMomentsAtStart(np.zeros(D), np.full(D, np.nan), np.zeros(D), np.full(D, np.nan))
    M, K = int(item_of.max()) + 1, int(annotator_of.max()) + 1
    seen = ~np.isnan(value)
    y = np.nan_to_num(value)
    count = np.maximum(seen.sum(axis=0), 1)
    mean = y.sum(axis=0) / count
    n_item = grouped_sums.segment_sum(seen.astype(float), item_of, M)
    n_who = grouped_sums.segment_sum(seen.astype(float), annotator_of, K)
    offset = grouped_sums.segment_sum(np.where(seen, y - mean, 0.0), annotator_of, K) / np.maximum(n_who, 1)
    # Offsets of annotators with few ratings are mostly the items they happened to rate.
    left = np.where(seen, y - offset[annotator_of] * (n_who / (n_who + 1))[annotator_of], 0.0)
    item = grouped_sums.segment_sum(left, item_of, M) / np.maximum(n_item, 1)
    freedom = np.maximum(n_item - 1, 0).sum(axis=0)
    squares = np.where(seen, (left - item[item_of]) ** 2, 0.0).sum(axis=0)
    within = np.where(freedom > 0, squares / np.maximum(freedom, 1), np.nan)
    items = (n_item > 0).sum(axis=0)
    middle = (item * (n_item > 0)).sum(axis=0) / np.maximum(items, 1)
    spread = np.where(n_item > 0, (item - middle) ** 2, 0.0).sum(axis=0) / np.maximum(items - 1, 1)
    noise = within * (1 / np.where(n_item > 0, n_item, np.inf)).sum(axis=0) / np.maximum(items, 1)
    between = np.where(items > 1, spread - noise, np.nan)
    return GroupMomentsAtStart(mean, within, freedom, between)


def start_noise(found: list[GroupMomentsAtStart]) -> np.ndarray:
    """(G, D) noise variances; where a group shows none, the mean of those that do, else one half."""
    within = np.stack([_drawn_together(part) for part in found])
    counted = np.isfinite(within).sum(axis=0)
    typical = np.where(counted > 0, np.nansum(within, axis=0) / np.maximum(counted, 1), 0.5)
    return np.asarray(np.clip(np.where(np.isfinite(within), within, typical), *group_priors.NOISE_START_LIMITS))


def _drawn_together(part: GroupMomentsAtStart) -> np.ndarray:
    """(D,) variances within items, drawn to their mean over dimensions the more, the fewer answers they rest on."""
    if not part.freedom.any():
        return part.within
    typical = np.sum(part.freedom * np.nan_to_num(part.within)) / part.freedom.sum()
    own = part.freedom * np.nan_to_num(part.within) + group_priors.ALIKE_ANSWERS * typical
    return np.asarray(own / (part.freedom + group_priors.ALIKE_ANSWERS))


def start_latent(found: list[GroupMomentsAtStart], labelled: int) -> np.ndarray:
    """(D, D) where Sigma is expected, from `labelled` items of the reference, from all groups and all dimensions."""
    between = np.stack([part.between for part in found])
    counted = np.isfinite(between).sum(axis=0)
    pooled = np.where(counted > 0, np.nansum(between, axis=0) / np.maximum(counted, 1), 0.5)
    own = np.where(np.isfinite(between[0]), between[0], pooled)
    mixed = (labelled * own + group_priors.POOLED_ITEMS * pooled) / (labelled + group_priors.POOLED_ITEMS)
    mixed = (labelled * mixed + group_priors.ALIKE_ITEMS * mixed.mean()) / (labelled + group_priors.ALIKE_ITEMS)
    return np.diag(np.maximum(mixed, group_priors.LEAST_BETWEEN))


def start_params(
    data: GroupData, hyper: Hyper, target: np.ndarray, level: np.ndarray, S: np.ndarray, noise: np.ndarray
) -> GroupParams:
    """Annotators are what the prior says; groups differ in level (G, D) and shared error (G, D, D)."""
    D, G = data.D, data.G
    variance = 1 / hyper.precision[data.group]
    cov = np.repeat((variance[:, :, None] * np.eye(1 + data.X))[:, None], D, axis=1)
    rows = Rows(hyper.center[data.group], cov)
    eye = np.broadcast_to(np.eye(D), (G, D, D)).copy()
    theta, r = np.zeros((data.scores.R, D)), np.ones(data.K)
    return GroupParams(np.zeros(D), theta, target.copy(), eye, level.copy(), S.copy(), rows, r, noise.copy())


def start_hyper(data: GroupData, priors: group_priors.GroupPriors) -> Hyper:
    """Precisions before anything is seen."""
    precision = np.array([priors.gain, priors.bias, *[priors.effect] * (data.X - 1)])
    center = np.zeros((data.G, data.D, 1 + data.X))
    center[..., 0] = 1.0
    ridge = float(data.scores.l.mean()) if data.scores.R else 1.0
    return Hyper(np.tile(precision, (data.G, 1)), center, ridge, 1 / (data.scores.l + ridge))


class Assembled(NamedTuple):
    """Data, settings and start of a fit."""

    data: GroupData
    settings: group_mstep.GroupSettings
    state: GroupState


def assembled(
    value: np.ndarray,
    item_of: np.ndarray,
    annotator_of: np.ndarray,
    group: np.ndarray,
    scores: Scores,
    *,
    reference: bool,
    kinds: Sequence[group_priors.KindPrior],
    priors: group_priors.GroupPriors,
    covariates: np.ndarray | None = None,
) -> Assembled:
    """From standardised ratings (J, D), sorted by item, to everything that EM needs.

    reference: whether group 0 defines the truth; without it there is one group, whose shared error is assumed.
    """
    G, shared = len(kinds), np.array([kind.shared for kind in kinds])
    data = prepare_groups(value, item_of, annotator_of, group, G, scores, covariates)
    of_group = group[annotator_of]
    found = [moments(value[of_group == g], item_of[of_group == g], annotator_of[of_group == g]) for g in range(G)]
    noise = start_noise(found)
    labelled = len(np.unique(item_of[of_group == 0]))
    learned = np.full(G, reference) & (np.arange(G) > 0)
    shared = np.where(learned, np.maximum(shared, group_priors.LEAST_SHARE), shared)
    S0 = (shared / (1 - shared))[:, None, None] * (noise[:, :, None] * np.eye(data.D))
    target = start_latent(found, labelled)
    settings = group_mstep.GroupSettings(priors, target, learned, tuple(kinds), S0, noise, recentre_gains=not reference)
    level = np.stack([part.mean for part in found]) * learned[:, None]
    hyper = start_hyper(data, priors)
    params = start_params(data, hyper, target, level, S0, noise)
    return Assembled(data, settings, GroupState(params, hyper, np.full((data.M, data.D), np.nan)))


class Chosen(NamedTuple):
    """A fit, and where it started."""

    start: Assembled
    state: GroupState
    trace: em_loop.EmTrace


def fit_best(
    starts: Iterable[Assembled],
    *,
    tol: float,
    max_iter: int,
    on_step: Callable[[Assembled, int, GroupState, float], None],
) -> Chosen:
    """Of the fits from several starts, in an order of expectations, the one whose labels are foretold best.

    The search ends with the first that is worse than the one before: scores rise to one best share, and fall. Fits are
    compared when their truths move by less than COMPARED_AT times `tol`, and the best goes on from there.
    """
    best: tuple[float, Assembled, GroupState] | None = None
    starts = list(starts)
    if not starts:
        raise ValueError("Nothing to start from.")
    for start in starts if len(starts) > 1 else ():
        state, _ = fit_groups(
            *_started(start), tol=group_priors.COMPARED_AT * tol, max_iter=max_iter, on_step=partial(on_step, start)
        )
        learned = learn_from_labels(start.data, state.params, start.settings)
        score = 0.0 if learned is None else label_score(start.data, state.params, learned)
        if best is not None and score <= best[0]:
            break
        best = score, start, state
    start = starts[0] if best is None else best[1]._replace(state=best[2])
    state, trace = fit_groups(*_started(start), tol=tol, max_iter=max_iter, on_step=partial(on_step, start))
    return Chosen(start, state, trace)


def _started(start: Assembled) -> tuple[GroupData, GroupState, group_mstep.GroupSettings]:
    return start.data, start.state, start.settings


def label_score(data: GroupData, params: GroupParams, learned: Learned) -> float:
    """Log density of all labels, each foretold without itself; the higher, the better.                 eq. J24"""
    found = without_labels(data, params)
    leverage = learned.leverage(found.mean - params.mu)
    seen = np.isfinite(found.label)
    total = 0.0
    for pattern in np.unique(seen[seen.any(axis=1)], axis=0):
        at = np.flatnonzero((seen == pattern).all(axis=1))
        total += _log_density(found, leverage, learned, at, np.flatnonzero(pattern))
    return total


def _log_density(found: Unlabelled, leverage: np.ndarray, learned: Learned, at: np.ndarray, dims: np.ndarray) -> float:
    """Of the labels of items `at`, which were labelled on the dimensions `dims`: a multivariate Student t."""
    inside, nu, n = np.ix_(at, dims), learned.freedom, len(dims)
    missed = (found.label - found.mean)[inside] / (1 - found.weight * leverage)[at, None]
    wider = (1 + leverage[at]) * (1 + learned.spent / nu)
    spread = found.cov[np.ix_(at, dims, dims)] * wider[:, None, None]
    spread[:, np.arange(n), np.arange(n)] += found.label_noise[inside]
    away = np.einsum("mi,mi->m", missed, np.linalg.solve(spread, missed[:, :, None])[:, :, 0])
    constant = gammaln((nu + n) / 2) - gammaln(nu / 2) - n / 2 * np.log(nu * np.pi)
    each = constant - 0.5 * np.linalg.slogdet(spread)[1] - (nu + n) / 2 * np.log1p(away / nu)
    return float(each.sum())
