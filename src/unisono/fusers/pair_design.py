"""Which pairs to compare next: those whose answer is expected to tell most, every item at most once in a batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unisono.fusers.compared_items import Pairwise
from unisono.fusers.fuser_settings import require_asked
from unisono.maths.comparisons.comparison_posterior import answer_information

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
    require_asked(pairs=count)
    fuser.require_fitted()
    rng = np.random.default_rng([seed, count])
    left, right = _candidates(fuser, rng)
    gain = np.zeros(len(left))
    for d in range(len(fuser.dimensions_)):
        mean, variance = fuser.difference(left, right, d)
        if not fuser.is_rated(d):  # what no comparison connects tells most, whatever the population says
            apart = fuser.posterior_.component[left] != fuser.posterior_.component[right]
            mean[apart], variance[apart] = 0.0, 2 * fuser.hyper_.Sigma[d, d]
        gain += answer_information(mean, variance)
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
