"""What labels say about the other groups: how far to believe them, and what few labels leave open.

With P = Lambda - J_0 and a' = P^-1 (h - q_0), the truth without the reference's own ratings of the item (its labels),
w = 1 - tr(V P)/D the share of its information that these are, x = [a' - mu; 1], X = sum w x x', L as in eq. J9:

    lev = x'(X + L)^-1 x,  e = tr((X + L)^-1 X),  nu = sum w + min(n0, 3 sum w) - e                       eq. J18
    V += (lev + (1 + lev) e / nu) V P V, Student t with nu degrees of freedom

The map from a group's view to the truth is itself an estimate: e coefficients from sum w labelled items. Likewise
1 - w lev is the part of a residual of a label that its own influence on the map has left, so that, with the L of
judges, of whom little is expected, for everybody,

    R^2 = 1 - sum ((ybar - a') / (1 - w lev))^2 / sum ((ybar - mean) n / (n - 1))^2        eq. J21
    belief = 1 - min(labelled / 15, 1) min(labels / 30, 1) (1 - clip((R^2 / reliable - .1) / (.2 - .1)))

says whether the groups foretell labels at all, of which only the part `reliable` is truth. Groups that do not are not
believed: what is left are the labels (`alone`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.groups.alone import LabelsAlone, labels_alone, mixed
from unisono.maths.groups.data import GroupData
from unisono.maths.groups.estep import posteriors
from unisono.maths.groups.mstep import GroupSettings
from unisono.maths.groups.params import GroupParams
from unisono.maths.groups.priors import (
    CLEAR_LABELS,
    CLEAR_NUMBERS,
    CLEAR_R2,
    EXPECTED_EVIDENCE,
    JUDGES,
    LEAST_FREEDOM,
    NO_R2,
)


class Unlabelled(NamedTuple):
    """The truths without the reference's ratings of the same items."""

    mean: np.ndarray  # (M, D) a'
    cov: np.ndarray  # (M, D, D) P^-1
    weight: np.ndarray  # (M,) w
    inside: np.ndarray  # (M, D, D) V P V
    label: np.ndarray  # (M, D) mean of the item's labels, biases taken out; NaN where there are none
    label_noise: np.ndarray  # (M, D) its variance around the truth; NaN likewise


class Learned(NamedTuple):
    """What labels taught about the other groups; leverages can be had for other items too."""

    inverse: np.ndarray  # (D + 1, D + 1) (X + L)^-1
    spent: float  # e
    freedom: float  # nu
    foretold: np.ndarray  # (D,) R^2 of each dimension's labels; NaN where fewer than three items have any
    reliable: np.ndarray  # (D,) share of the labels' variance that is truth; NaN where there are none
    labelled: int
    mu: np.ndarray  # (D,) mean of the truth as labels alone give it
    Sigma: np.ndarray  # (D, D) its covariance over items, likewise

    @property
    def belief(self) -> float:
        """How much of what the groups say counts: all of it, unless labels show that they foretell nothing. eq. J21"""
        known = np.isfinite(self.foretold)
        if not known.any():
            return 1.0
        share = self.foretold[known].mean() / self.reliable[known].mean()
        doubt = 1 - float(np.clip((share - NO_R2) / (CLEAR_R2 - NO_R2), 0.0, 1.0))
        enough = min(self.labelled / CLEAR_LABELS, 1.0) * min(self.labelled * int(known.sum()) / CLEAR_NUMBERS, 1.0)
        return 1 - enough * doubt

    def leverage(self, centred: np.ndarray) -> np.ndarray:
        """(M,) of items with a' - mu (M, D)."""
        return _leverage(np.hstack([centred, np.ones((len(centred), 1))]), self.inverse)


def without_labels(data: GroupData, params: GroupParams) -> Unlabelled:
    """Truths of all items as the other groups alone give them."""
    M, D = data.M, data.D
    mean, label, noise = np.empty((M, D)), np.full((M, D), np.nan), np.full((M, D), np.nan)
    weight, alone, inside = np.empty(M), np.empty((M, D, D)), np.empty((M, D, D))
    for block, found in posteriors(data, params):
        own, at = found.views[0], slice(block.start, block.stop)
        P, h = found.total.copy(), found.h.copy()
        P[own.items] -= own.J
        h[own.items] -= own.Hq
        VP = found.cov @ P
        weight[at] = 1 - np.trace(VP, axis1=1, axis2=2) / D
        inside[at] = VP @ found.cov
        alone[at] = np.linalg.inv(P)
        mean[at] = np.einsum("mij,mj->mi", alone[at], h)
        known = np.where(own.Q > 0, own.Q, np.nan)
        label[block.start + own.items], noise[block.start + own.items] = own.q / known, 1 / known
    return Unlabelled(mean, alone, weight, inside, label, noise)


def learn_from_labels(data: GroupData, params: GroupParams, settings: GroupSettings) -> Learned | None:
    """What labels taught; None where no group has a map of its own."""
    if not settings.learned.any():
        return None
    found = without_labels(data, params)
    x = np.hstack([found.mean - params.mu, np.ones((data.M, 1))])
    X = (found.weight[:, None] * x).T @ x
    L = np.min([settings.map_prior(g, data.D)[1] for g in settings.learned_groups()], axis=0)
    inverse = np.linalg.inv(X + np.diag(L))
    spent = float(np.trace(inverse @ X))
    evidence = float(found.weight.sum())
    expected = min(settings.priors.shared_items, EXPECTED_EVIDENCE * evidence)
    freedom = max(evidence + expected - spent, LEAST_FREEDOM)
    labelled = np.isfinite(found.label).any(axis=1)
    open_minded = np.linalg.inv(X + np.diag([JUDGES.map_items] * data.D + [JUDGES.level_items]))
    foretold = _foretold(found, found.weight * _leverage(x, open_minded))
    own = found.label[labelled], found.label_noise[labelled]
    alone = labels_alone(*own, params.mu, settings.target, settings.priors.latent_items)
    return Learned(inverse, spent, freedom, foretold, _reliable(found, params), int(labelled.sum()), *alone)


def told(data: GroupData, params: GroupParams, learned: Learned | None) -> tuple[np.ndarray, np.ndarray]:
    """Truths (M, D) and covariances (M, D, D), with all that labels say about the groups."""
    each = [(found.mean, found.cov) for _, found in posteriors(data, params)]
    mean, cov = (np.concatenate(parts) for parts in zip(*each, strict=True))
    if learned is None:
        return mean, cov
    found = without_labels(data, params)
    cov = cov + widened(found, params, learned)
    if learned.belief == 1:
        return mean, cov
    alone = LabelsAlone(learned.mu, learned.Sigma)
    return mixed(mean, cov, learned.belief, found.label, found.label_noise, alone, learned.labelled)


def widened(found: Unlabelled, params: GroupParams, learned: Learned) -> np.ndarray:
    """(M, D, D) what not knowing the maps and the shared errors exactly adds to the covariance.        eq. J18"""
    leverage = learned.leverage(found.mean - params.mu)
    leverage += (1 + leverage) * learned.spent / learned.freedom
    return np.asarray(leverage[:, None, None] * found.inside)


def _leverage(x: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("mi,ij,mj->m", x, inverse, x, optimize=True))


def _reliable(found: Unlabelled, params: GroupParams) -> np.ndarray:
    """(D,) share of the labels' variance that is truth, not the noise of whoever gave them."""
    seen = np.isfinite(found.label_noise)
    noise = np.where(seen, found.label_noise, 0.0).sum(axis=0) / np.where(seen.any(axis=0), seen.sum(axis=0), np.nan)
    spread = np.diagonal(params.Sigma)
    return np.asarray(spread / (spread + noise))


def _foretold(found: Unlabelled, influence: np.ndarray) -> np.ndarray:
    """(D,) share of the labels' variance that is foretold without them."""
    share = np.full(found.label.shape[1], np.nan)
    for d in range(len(share)):
        at = np.flatnonzero(np.isfinite(found.label[:, d]))
        if len(at) < 3:
            continue
        label = found.label[at, d]
        alone = np.sum((label - label.mean()) ** 2) * (len(at) / (len(at) - 1)) ** 2
        missed = np.sum(((label - found.mean[at, d]) / (1 - influence[at])) ** 2)
        share[d] = 1 - missed / alone if alone > 0 else np.nan
    return share
