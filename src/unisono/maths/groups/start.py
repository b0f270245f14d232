"""Where EM of the model of groups starts: moments of the ratings, everybody answering the truth.

Noise of a group: variance within items after the annotators' means are taken out. Variance of the truth: an estimate by
analysis of variance, that of the reference and that of all groups together, weighed by labelled items.     eq. J15
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unisono.maths.grouped import segment_sum
from unisono.maths.groups.data import GroupData, prepare_groups
from unisono.maths.groups.fit import GroupState
from unisono.maths.groups.mstep import GroupSettings
from unisono.maths.groups.params import GroupParams, Hyper, Rows
from unisono.maths.groups.priors import (
    ALIKE_ANSWERS,
    ALIKE_ITEMS,
    LEAST_BETWEEN,
    LEAST_SHARE,
    NOISE_START_LIMITS,
    POOLED_ITEMS,
    GroupPriors,
    KindPrior,
)
from unisono.maths.items.predictor import Scores


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
    n_item = segment_sum(seen.astype(float), item_of, M)
    n_who = segment_sum(seen.astype(float), annotator_of, K)
    offset = segment_sum(np.where(seen, y - mean, 0.0), annotator_of, K) / np.maximum(n_who, 1)
    # Offsets of annotators with few ratings are mostly the items they happened to rate.
    left = np.where(seen, y - offset[annotator_of] * (n_who / (n_who + 1))[annotator_of], 0.0)
    item = segment_sum(left, item_of, M) / np.maximum(n_item, 1)
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
    return np.asarray(np.clip(np.where(np.isfinite(within), within, typical), *NOISE_START_LIMITS))


def _drawn_together(part: GroupMomentsAtStart) -> np.ndarray:
    """(D,) variances within items, drawn to their mean over dimensions the more, the fewer answers they rest on."""
    if not part.freedom.any():
        return part.within
    typical = np.sum(part.freedom * np.nan_to_num(part.within)) / part.freedom.sum()
    own = part.freedom * np.nan_to_num(part.within) + ALIKE_ANSWERS * typical
    return np.asarray(own / (part.freedom + ALIKE_ANSWERS))


def start_latent(found: list[GroupMomentsAtStart], labelled: int) -> np.ndarray:
    """(D, D) where Sigma is expected, from `labelled` items of the reference, from all groups and all dimensions."""
    between = np.stack([part.between for part in found])
    counted = np.isfinite(between).sum(axis=0)
    pooled = np.where(counted > 0, np.nansum(between, axis=0) / np.maximum(counted, 1), 0.5)
    own = np.where(np.isfinite(between[0]), between[0], pooled)
    mixed = (labelled * own + POOLED_ITEMS * pooled) / (labelled + POOLED_ITEMS)
    mixed = (labelled * mixed + ALIKE_ITEMS * mixed.mean()) / (labelled + ALIKE_ITEMS)
    return np.diag(np.maximum(mixed, LEAST_BETWEEN))


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


def start_hyper(data: GroupData, priors: GroupPriors) -> Hyper:
    """Precisions before anything is seen."""
    precision = np.array([priors.gain, priors.bias, *[priors.effect] * (data.X - 1)])
    center = np.zeros((data.G, data.D, 1 + data.X))
    center[..., 0] = 1.0
    ridge = float(data.scores.l.mean()) if data.scores.R else 1.0
    return Hyper(np.tile(precision, (data.G, 1)), center, ridge, 1 / (data.scores.l + ridge))


class Assembled(NamedTuple):
    """Data, settings and start of a fit."""

    data: GroupData
    settings: GroupSettings
    state: GroupState


def assembled(
    value: np.ndarray,
    item_of: np.ndarray,
    annotator_of: np.ndarray,
    group: np.ndarray,
    scores: Scores,
    *,
    reference: bool,
    kinds: Sequence[KindPrior],
    priors: GroupPriors,
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
    shared = np.where(learned, np.maximum(shared, LEAST_SHARE), shared)
    S0 = (shared / (1 - shared))[:, None, None] * (noise[:, :, None] * np.eye(data.D))
    target = start_latent(found, labelled)
    settings = GroupSettings(priors, target, learned, tuple(kinds), S0, noise, recentre_gains=not reference)
    level = np.stack([part.mean for part in found]) * learned[:, None]
    hyper = start_hyper(data, priors)
    params = start_params(data, hyper, target, level, S0, noise)
    return Assembled(data, settings, GroupState(params, hyper, np.full((data.M, data.D), np.nan)))
