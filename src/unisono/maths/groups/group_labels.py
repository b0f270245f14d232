"""What labels say about the other groups: how far to believe them, what few labels leave open, what a panel is worth.

With P = Lambda - J_0 and a' = P^-1 (h - q_0), the truth without the reference's own ratings of the item (its labels),
w = 1 - tr(V P)/D the share of its information that these are, x = [a' - mu; 1], X = sum w x x', L as in eq. J9:

    lev = x'(X + L)^-1 x,  e = tr((X + L)^-1 X),  nu = sum w + min(n0, 3 sum w) - e                       eq. J18
    V += (lev + (1 + lev) e / nu) V P V, Student t with nu degrees of freedom

The map from a group's view to the truth is itself an estimate: e coefficients from sum w labelled items. Likewise
1 - w lev is the part of a residual of a label that its own influence on the map has left, so that, with the L of
judges, of whom little is expected, for everybody,

    R^2 = 1 - sum ((ybar - a') / (1 - w lev))^2 / sum ((ybar - mean) n / (n - 1))^2        eq. J21
    belief b = 1 - min(labelled / 15, 1) min(labels / 30, 1) (1 - clip((R^2 / reliable - .1) / (.2 - .1)))

says whether the groups foretell labels at all, of which only the part `reliable` is truth. Where they do not, what is
left is the truth as labels alone give it, with labels ybar of noise 1/Q on n items:

    a ~ N(mu_0, Sigma_0) from labelled items alone;  V_0 = (Sigma_0^-1 + Q)^-1,  m_0 = V_0 (Sigma_0^-1 mu_0 + Q ybar)
    mean of mu_0 unknown: V_0 += V_0 Sigma_0^-1 V_0 / n                                                   eq. J26
    E a = b E_g + (1 - b) m_0,  Cov = b (V + d_g d_g') + (1 - b) (V_0 + d_0 d_0')                         eq. J27

with the distances d of the two means from E a. All these are drawn to what the groups foretell, so that sets of items
on which the groups err in the same way (outputs of one system) are drawn in one direction, further than their averages
may be wrong. Only an estimate that moves by as much as labels do keeps averages over every set. So where the same n
members of the reference rated every item, the truth is what they say, with biases b that average to 0 over them:

    E a = sum (y - b - effects) / n,   var = sum N / n^2                                                   eq. J28

The effect of a covariate on a whole group is seen within items, where
it differs between ratings of one item, and between labelled items; with n ratings of an item, their mean xbar of a
covariate, and N the noise of a typical member:

    1 / var = sum_m sum_n (x - xbar)^2 / N  +  sum_labelled (xbar - mean)^2 / (S + N / n + A V_0 A')      eq. J25
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.groups import group_estep, group_mstep, group_priors
from unisono.maths.groups.group_data import Block, GroupData, GroupParams

MOST_STEPS = 500  # numerical: of an EM over a few labelled items


class LabelsAlone(NamedTuple):
    """Mean and covariance of the truth over items."""

    mu: np.ndarray  # (D,)
    Sigma: np.ndarray  # (D, D)


def labels_alone(
    label: np.ndarray, noise: np.ndarray, mu: np.ndarray, target: np.ndarray, imaginary: float
) -> LabelsAlone:
    """From labels (n, D), NaN where missing, with their noise; `imaginary` items have the covariance `target`.

    mu: where EM starts, and where dimensions without labels stay.                                        eq. J26
    """
    mu = np.where(np.isfinite(label).any(axis=0), np.nanmean(np.vstack([label, mu]), axis=0), mu)
    found, n = LabelsAlone(mu, target), len(label)
    for _ in range(MOST_STEPS):
        mean, cov = told_by_labels(label, noise, found)
        mu = mean.mean(axis=0)
        Sigma = ((mean - mu).T @ (mean - mu) + cov.sum(axis=0) + imaginary * target) / (n + imaginary)
        moved = max(np.abs(mu - found.mu).max(), np.abs(Sigma - found.Sigma).max())
        found = LabelsAlone(mu, (Sigma + Sigma.T) / 2)
        if moved < group_priors.TOLERANCE:
            break
    return found


def told_by_labels(label: np.ndarray, noise: np.ndarray, alone: LabelsAlone) -> tuple[np.ndarray, np.ndarray]:
    """Truths (M, D) and covariances (M, D, D) of items by their labels, of which there may be none."""
    seen = np.isfinite(label)
    Q = np.where(seen, 1 / np.where(seen, noise, 1.0), 0.0)
    prior = np.linalg.inv(alone.Sigma)
    cov = np.linalg.inv(prior + Q[:, :, None] * np.eye(label.shape[1]))
    return np.einsum("mij,mj->mi", cov, prior @ alone.mu + Q * np.where(seen, label, 0.0)), cov


def mixed(
    mean: np.ndarray,
    cov: np.ndarray,
    belief: float,
    label: np.ndarray,
    noise: np.ndarray,
    alone: LabelsAlone,
    labelled: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Truths (M, D) and covariances (M, D, D), `belief` parts as the groups give them, the rest by labels. eq. J27"""
    own_mean, own_cov = told_by_labels(label, noise, alone)
    own_cov = own_cov + own_cov @ np.linalg.inv(alone.Sigma) @ own_cov / labelled
    middle = belief * mean + (1 - belief) * own_mean
    total = np.zeros_like(cov)
    for part, centre, spread in ((belief, mean, cov), (1 - belief, own_mean, own_cov)):
        away = centre - middle
        total += part * (spread + away[:, :, None] * away[:, None, :])
    return middle, total


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
    same_people: np.ndarray  # (D,) whether the same members of the reference rated every item

    @property
    def belief(self) -> float:
        """How much of what the groups say counts: all of it, unless labels show that they foretell nothing. eq. J21"""
        known = np.isfinite(self.foretold)
        if not known.any():
            return 1.0
        share = self.foretold[known].mean() / self.reliable[known].mean()
        doubt = 1 - float(
            np.clip((share - group_priors.NO_R2) / (group_priors.CLEAR_R2 - group_priors.NO_R2), 0.0, 1.0)
        )
        enough = min(self.labelled / group_priors.CLEAR_LABELS, 1.0) * min(
            self.labelled * int(known.sum()) / group_priors.CLEAR_NUMBERS, 1.0
        )
        return 1 - enough * doubt

    def leverage(self, centred: np.ndarray) -> np.ndarray:
        """(M,) of items with a' - mu (M, D)."""
        return _leverage(np.hstack([centred, np.ones((len(centred), 1))]), self.inverse)


def without_labels(data: GroupData, params: GroupParams) -> Unlabelled:
    """Truths of all items as the other groups alone give them."""
    M, D = data.M, data.D
    mean, label, noise = np.empty((M, D)), np.full((M, D), np.nan), np.full((M, D), np.nan)
    weight, alone, inside = np.empty(M), np.empty((M, D, D)), np.empty((M, D, D))
    for block, found in group_estep.posteriors(data, params):
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


def learn_from_labels(data: GroupData, params: GroupParams, settings: group_mstep.GroupSettings) -> Learned | None:
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
    expected = min(settings.priors.shared_items, group_priors.EXPECTED_EVIDENCE * evidence)
    freedom = max(evidence + expected - spent, group_priors.LEAST_FREEDOM)
    labelled = np.isfinite(found.label).any(axis=1)
    open_minded = np.linalg.inv(
        X + np.diag([group_priors.JUDGES.map_items] * data.D + [group_priors.JUDGES.level_items])
    )
    foretold = _foretold(found, found.weight * _leverage(x, open_minded))
    own = found.label[labelled], found.label_noise[labelled]
    alone = labels_alone(*own, params.mu, settings.target, settings.priors.latent_items)
    known = foretold, _reliable(found, params), int(labelled.sum())
    return Learned(inverse, spent, freedom, *known, *alone, rated_by_the_same(data))


def told(
    data: GroupData, params: GroupParams, learned: Learned | None, drawn: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Truths (M, D) and covariances (M, D, D), with all that labels say about the groups.

    drawn: to what the groups foretell, even where the same people rated every item.
    """
    each = [(found.mean, found.cov) for _, found in group_estep.posteriors(data, params)]
    mean, cov = (np.concatenate(parts) for parts in zip(*each, strict=True))
    if learned is None:
        return mean, cov
    found = without_labels(data, params)
    cov = cov + widened(found, params, learned)
    if learned.belief < 1:
        alone = LabelsAlone(learned.mu, learned.Sigma)
        mean, cov = mixed(mean, cov, learned.belief, found.label, found.label_noise, alone, learned.labelled)
    if drawn or not learned.same_people.any():
        return mean, cov
    return as_people_say(data, params, learned.same_people, mean, cov)


def rated_by_the_same(data: GroupData) -> np.ndarray:
    """(D,) whether the same members of the reference rated every item, but for a few answers."""
    answers = data.answers * data.members(0)[:, None]
    always = answers * _always(data)
    return np.asarray((always.sum(axis=0) > 0) & (always.sum(axis=0) >= group_priors.SAME_PEOPLE * answers.sum(axis=0)))


def _always(data: GroupData) -> np.ndarray:
    """(K, D) whether an annotator is of the reference, and rated every item but for a few."""
    return np.asarray(data.members(0)[:, None] & (data.answers >= group_priors.SAME_PEOPLE * data.M))


def as_people_say(
    data: GroupData, params: GroupParams, kept: np.ndarray, mean: np.ndarray, cov: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Truths (M, D) and covariances, which on the dimensions `kept` (D,) are the reference's means.      eq. J28"""
    mean, cov, always = mean.copy(), cov.copy(), _always(data)
    beta, noise = params.rows.mean[..., 1:].copy(), params.noise(data.group)
    beta[..., 0] -= (beta[..., 0] * always).sum(axis=0) / np.maximum(always.sum(axis=0), 1)
    for block in data.blocks:
        panel = block.panels[0]
        n, spread = panel.counted(np.stack([np.ones_like(noise), noise], axis=2)).transpose(2, 1, 0)
        for d in np.flatnonzero(kept):
            left = panel.rated[d].sum(axis=1) - sum(x @ beta[:, d, p] for p, x in enumerate(panel.known[d]))
            rated = n[:, d] > 0
            at = block.start + panel.items[rated]
            mean[at, d] = left[rated] / n[rated, d]
            cov[at, d] = cov[at, :, d] = 0.0
            cov[at, d, d] = spread[rated, d] / n[rated, d] ** 2
    return mean, cov


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


def common_effect_variance(data: GroupData, params: GroupParams, learned: np.ndarray) -> np.ndarray:
    """(G, D, X - 1) variances of effects that groups have in common; 0 for groups (G,) that are not learned."""
    variance = np.zeros((data.G, data.D, data.X - 1))
    if data.X == 1:
        return variance
    truth = [_labelled_spread(data, params, block) for block in data.blocks]
    for g in np.flatnonzero(learned):
        member = data.members(int(g)) & (data.answers.sum(axis=1) > 0)
        noise = params.noise(data.group)[member].mean(axis=0)
        for d in range(data.D):
            for p in range(1, data.X):
                parts = [
                    _seen_in(block, cov, params, int(g), d, p, noise[d])
                    for block, cov in zip(data.blocks, truth, strict=True)
                ]
                within = sum(part[0] for part in parts)
                mean, weight = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
                middle = np.sum(weight * mean) / max(weight.sum(), group_priors.VARIANCE_FLOOR)
                known = within + np.sum(weight * (mean - middle) ** 2)
                variance[g, d, p - 1] = 1 / max(known, group_priors.VARIANCE_FLOOR)
    return variance


def _labelled_spread(data: GroupData, params: GroupParams, block: Block) -> dict[int, np.ndarray]:
    """Covariance (D, D) of the truth that labels leave, by place of the labelled items of a block."""
    panel = block.panels[0]
    given = group_estep.coefficients(data, params).ff
    Q = panel.counted(given[:, :, None])[:, :, 0].T
    V = np.linalg.inv(np.linalg.inv(params.Sigma) + Q[:, :, None] * np.eye(data.D))
    return dict(zip(panel.items.tolist(), V, strict=True))


def _seen_in(
    block: Block, truth: dict[int, np.ndarray], params: GroupParams, g: int, d: int, p: int, noise: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Of a block of items: information within items, and means of the covariate with weights of labelled items."""
    panel = block.panels[g]
    x = panel.known[d][p]
    n = np.asarray(panel.known[d][0].sum(axis=1)).reshape(-1)
    total, square = (np.asarray(part.sum(axis=1)).reshape(-1) for part in (x, x.power(2)))
    mean = total / np.maximum(n, 1)
    within = float(np.sum(square - n * mean**2)) / noise
    at = [row for row, m in enumerate(panel.items.tolist()) if m in truth and n[row]]
    row = params.A[g, d]
    left = np.array([row @ truth[int(panel.items[i])] @ row for i in at])
    return within, mean[at], 1 / (params.S[g, d, d] + noise / n[at] + left) if at else np.zeros(0)


def shared_share(S: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """(D,) rho: shared error over all error, for S (D, D) and the noise variances (K, D) of a group's members.

    eq. J19
    """
    own = noise.mean(axis=0)
    shared = np.diagonal(S)
    return np.asarray(shared / (shared + own))


def effective_number(members: int, rho: np.ndarray) -> np.ndarray:
    """(D,) how many independent annotators are worth as much as this panel: K / (1 + (K - 1) rho).    eq. J20"""
    return np.asarray(members / (1 + (members - 1) * rho))
