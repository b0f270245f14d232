"""Which pairs to compare next, and how many comparisons are enough.

Next are those whose answer is expected to tell most, every item at most once in a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from unisono.fusers import fuser_settings, rating_design
from unisono.fusers.compared_items import Pairwise
from unisono.maths.comparisons.comparison_posterior import POINTS, WEIGHTS, answer_information
from unisono.maths.items.item_estimates import rating_information

ALL_PAIRS = 400  # numerical: items up to which all pairs are looked at; beyond, neighbours and some at random
NEIGHBOURS = 10  # numerical: pairs looked at for every item


class NextPairs(NamedTuple):
    """Pairs, the most informative first; sides are drawn."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    information: np.ndarray  # (n,) nats that an answer by a usual annotator is expected to tell, over dimensions

    def columns(self) -> dict[str, Any]:
        """One row per pair."""
        return {"left": list(self.left), "right": list(self.right), "information": self.information}

    def to_dict(self, count: int | None = None) -> dict[str, Any]:
        """Plain values."""
        rows = zip(self.left[:count], self.right[:count], self.information[:count].tolist(), strict=True)
        return {"pairs": [dict(zip(("left", "right", "information"), row, strict=True)) for row in rows]}


def next_pairs(fuser: Pairwise, count: int, seed: int = 0) -> NextPairs:
    """The `count` disjoint pairs to compare next; fewer where items run out."""
    fuser_settings.require_asked(pairs=count)
    fuser.require_fitted()
    rng = np.random.default_rng([seed, count])
    left, right = _candidates(fuser, rng)
    gain = _information(fuser, left, right)
    free = np.ones(len(fuser.items_), dtype=bool)
    chosen: list[int] = []
    for n in np.argsort(-gain, kind="stable"):
        if len(chosen) == count:
            break
        if free[left[n]] and free[right[n]]:
            free[[left[n], right[n]]] = False
            chosen.append(int(n))
    swap = rng.random(len(chosen)) < 0.5
    sides = np.where(swap, right[chosen], left[chosen]), np.where(swap, left[chosen], right[chosen])
    one, two = (tuple(fuser.items_[m] for m in side) for side in sides)
    return NextPairs(one, two, gain[chosen])


def next_sets(fuser: Pairwise, sets: Sequence[Sequence[str]], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Which `count` of these sets of items to compare next, in that order, and what each is expected to tell, in nats.

    A set tells what its pairs do, in sum. No item comes again before all others that some set has left have come.
    """
    fuser.require_fitted()
    place = {item: at for at, item in enumerate(fuser.items_)}
    at = [np.array([place.get(item, -1) for item in one]) for one in sets]
    pairs = [np.triu_indices(len(one), 1) for one in at]
    left, right = (np.concatenate([one[ends[side]] for one, ends in zip(at, pairs, strict=True)]) for side in (0, 1))
    of = np.repeat(np.arange(len(sets)), [len(ends[0]) for ends in pairs])
    told = np.bincount(of, _information(fuser, left, right), len(sets))
    rest, chosen = np.argsort(-told, kind="stable").tolist(), list[int]()
    while rest and len(chosen) < count:
        met, later = set[str](), list[int]()
        for n in rest:
            if met.isdisjoint(sets[n]):
                met.update(sets[n])
                chosen.append(n)
            else:
                later.append(n)
        rest = later
    return np.array(chosen[:count], dtype=np.int64), told[chosen[:count]]


def _information(fuser: Pairwise, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(n,) nats that answers about these pairs are expected to tell, over dimensions; -1: an unknown item."""
    gain, component = np.zeros(len(left)), np.append(fuser.posterior_.component, -1)
    apart = (component[left] != component[right]) | (left < 0)
    for d in range(len(fuser.dimensions_)):
        mean, variance = fuser.difference(left, right, d)
        if not fuser.is_rated(d):  # what no comparison connects tells most, whatever the population says
            mean[apart], variance[apart] = 0.0, 2 * fuser.hyper_.Sigma[d, d]
        gain += answer_information(mean, variance)
    return gain


def _candidates(fuser: Pairwise, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of items to look at."""
    mean = fuser.posterior_.mean
    M = len(mean)
    if M <= ALL_PAIRS:
        left, right = np.triu_indices(M, 1)
        return left.astype(np.int64), right.astype(np.int64)
    orders = [*(np.argsort(column, kind="stable") for column in mean.T), *(rng.permutation(M) for _ in mean.T)]
    found = [np.stack([order[:-k], order[k:]]) for order in orders for k in range(1, NEIGHBOURS + 1)]
    pairs = np.unique(np.sort(np.concatenate(found, axis=1), axis=0), axis=1)
    return pairs[0], pairs[1]


PLANNED_ITEMS = 120  # numerical: items of the designs that a plan looks at; more are as sparse
DESIGNS = 3  # numerical: random designs whose errors are averaged


def plan_comparisons(fuser: Pairwise, *, most: int = 20, seed: int = 0) -> rating_design.Plan:
    """The error to expect for 1 to `most` comparisons per item, at random pairs, by annotators like those of the fit.

    Where there are ratings too, how many comparisons a rating is worth: how many remove as much variance from what is
    known of the items now (eq. V13).
    """
    fuser.require_fitted()
    D, M = len(fuser.dimensions_), min(len(fuser.items_), PLANNED_ITEMS)
    rng, count = np.random.default_rng(seed), np.arange(1, most + 1)
    Sigma = np.diagonal(fuser.hyper_.Sigma)[:D] * fuser.hyper_.unit[:D] ** 2  # in logits
    found, worth = np.zeros((most, D)), {}
    for d in range(D):
        told = _told_by_one(fuser, 2 * Sigma[d])
        left = np.mean([_left(M, most, told * Sigma[d], rng) for _ in range(DESIGNS)], axis=0)
        found[:, d] = np.minimum(left * _widening(fuser, count, left, told, 2 * Sigma[d]), 1.0)
        if fuser.rater_ is not None and d < len(fuser.rater_.dimensions_):
            worth[fuser.dimensions_[d]] = _worth(fuser, d)
    scale = fuser.scaling_.scale[:D] / np.abs(fuser.hyper_.unit[:D])
    sd, r = np.sqrt(found * Sigma) * scale, np.sqrt(1 - found)
    return rating_design.Plan(count, sd, r, fuser.dimensions_, what="comparisons", worth=worth)


def _told_by_one(fuser: Pairwise, variance: float) -> float:
    """Fisher information of an answer on a difference in logits, of typical annotators; differences have a variance."""
    crowd, weight = fuser.crowd_, fuser.counts_ / max(fuser.counts_.sum(), 1)
    tau = np.where(np.isfinite(fuser.hyper_.tie) & (fuser.hyper_.steps[0] > 0), crowd.tau, 0.0)
    total = 0.0
    for z in range(crowd.at.shape[1]):
        g, o = crowd.at[:, z].T
        delta = g[:, None] * np.sqrt(variance) * POINTS + o[:, None]
        above, below = expit(delta - tau[:, None]), expit(-delta - tau[:, None])
        up, down = above * (1 - above), below * (1 - below)
        tie = np.maximum(1 - above - below, 1e-12)
        each = up * (1 - above) + down * (1 - below) + np.where(tie > 1e-9, (up - down) ** 2 / tie, 0.0)
        square = g**2 + crowd.cov[:, z, 0, 0]
        seen = weight * crowd.prob[:, z] * expit(-crowd.slip)  # what is answered at random tells nothing
        total += float((seen * square) @ each @ WEIGHTS)
    return total


def _widening(fuser: Pairwise, count: np.ndarray, left: np.ndarray, told: float, variance: float) -> np.ndarray:
    """N / (N - p) as of intervals (eq. V8): p the parameters of items and annotators that comparisons determine."""
    M, K, hyper = len(fuser.items_), len(fuser.judges_), fuser.hyper_
    N = count * M / 2
    each = N / K * told
    open_ = 1 / (1 + hyper.gain_var * variance * each) + 1 / (1 + hyper.order_var * each)
    p = M * (1 - left) + K * (1 - hyper.shares[1]) * (2 - open_)
    return np.asarray(N / np.maximum(N - p, N / 2))


def _left(M: int, most: int, told: float, rng: np.random.Generator) -> np.ndarray:
    """(most,) share of the variance of truths that 1, 2, ... comparisons of every item leave, on average."""
    P, centred, found = np.eye(M), np.eye(M) - 1 / M, []
    for _ in range(most):
        order = rng.permutation(M)
        i, j = order[: M // 2], order[M // 2 : 2 * (M // 2)]
        P[i, i] += told
        P[j, j] += told
        np.add.at(P, (i, j), -told)
        np.add.at(P, (j, i), -told)
        found.append(np.trace(centred @ np.linalg.inv(P) @ centred) / (M - 1))
    return np.array(found)


def _worth(fuser: Pairwise, d: int) -> float:
    """Comparisons that remove as much variance as one rating: v^2 t / (1 + v t) beside twice v^2 w / (1 + 2 v w)."""
    assert fuser.rater_ is not None
    unit = fuser.hyper_.unit[d]
    v = float(fuser.posterior_.block[:, d, d].mean())
    w = _told_by_one(fuser, 2 * fuser.hyper_.Sigma[d, d] * unit**2) * unit**2
    params, given = fuser.rater_.params_, fuser.rater_.judgements_
    t = float(given @ rating_information(params)[: len(given), d, d] / given.sum())
    return float((t / (1 + v * t)) / (2 * w / (1 + 2 * v * w)))
