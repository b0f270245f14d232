"""The alternative annotator test (Calderon, Reichart, Dror 2025): may a judge replace a person?

For every person j, on items that j, the judge and at least one more person rated: is the judge nearer to the others
than j is?

    W_i = [j is at least as near] - [judge is at least as near],  p_j: t-test of mean W < eps                  eq. K5
    winning rate = share of people for whom that holds (Benjamini-Yekutieli), the judge passes from 1/2 on    eq. K6

`eps` is what a judge may be worse and still be preferred for its price.

    M items and K people
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

EPSILON = 0.2  # the authors' for experts' ratings
FALSE_DISCOVERIES = 0.05
FEWEST_ITEMS = 10  # convention: items shared with a person below which nothing is said about the two


class Alternative(NamedTuple):
    """What came out for one judge and one dimension."""

    winning_rate: float  # NaN where no person shares enough items
    advantage: float  # probability that the judge is at least as near to the others as a person is
    people: int  # compared
    items: float  # shared with a person, on average

    @property
    def passes(self) -> bool:
        return bool(self.winning_rate >= 0.5)


def alternative_test(judge: np.ndarray, people: np.ndarray, epsilon: float = EPSILON) -> Alternative:
    """Ratings of a judge (M,) against those of people (M, K), NaN where missing.                    eq. K5, eq. K6"""
    p, advantage, shared = [], [], []
    for j in range(people.shape[1]):
        others = np.delete(people, j, axis=1)
        count = np.isfinite(others).sum(axis=1)
        use = np.isfinite(judge) & np.isfinite(people[:, j]) & (count > 0)
        if use.sum() < FEWEST_ITEMS:
            continue
        own = _nearness(people[use, j], others[use])
        theirs = _nearness(judge[use], others[use])
        W = (own >= theirs).astype(float) - (theirs >= own)
        p.append(_below(W, epsilon))
        advantage.append(float((theirs >= own).mean()))
        shared.append(int(use.sum()))
    if not p:
        return Alternative(float("nan"), float("nan"), 0, 0.0)
    rejected = benjamini_yekutieli(np.array(p), FALSE_DISCOVERIES)
    return Alternative(float(rejected.mean()), float(np.mean(advantage)), len(p), float(np.mean(shared)))


def benjamini_yekutieli(p: np.ndarray, rate: float) -> np.ndarray:
    """(n,) which hypotheses are rejected, whatever the dependence of the tests."""
    n = len(p)
    order = np.argsort(p, kind="stable")
    harmonic = np.sum(1 / np.arange(1, n + 1))
    below = np.flatnonzero(p[order] <= np.arange(1, n + 1) * rate / (n * harmonic))
    rejected = np.zeros(n, dtype=bool)
    if len(below):
        rejected[order[: below[-1] + 1]] = True
    return rejected


def _nearness(own: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(m,) minus the root mean squared distance to the others."""
    return np.asarray(-np.sqrt(np.nanmean((own[:, None] - others) ** 2, axis=1)))


def _below(W: np.ndarray, epsilon: float) -> float:
    """One-sided p of a t-test that the mean is below epsilon."""
    n, spread = len(W), W.std(ddof=1)
    if spread == 0:
        return 0.0 if W.mean() < epsilon else 1.0
    return float(special.stdtr(n - 1, (W.mean() - epsilon) / (spread / np.sqrt(n))))
