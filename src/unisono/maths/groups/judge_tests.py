"""What follows from people and judges on the same items, whatever model made the predictions: two published procedures.

Prediction-powered means of systems: labels on some items, predictions on all, right whatever the predictions are. For a
system with N items, n of them labelled (at random), labels h and predictions f made without the item's own label:

    theta = mean_n h - lambda (mean_n f - mean_N f)                                                       eq. K1
    lambda = cov_n(h, f) / var_n(f), within systems, over all of them; between 0 and 1                    eq. K2
    u_i = lambda (f_i - mean_N f) / N + [labelled] (h_i - lambda f_i - mean_n(h - lambda f)) / n          eq. K3
    Cov(theta) = sum over clusters of U_c U_c',  U_cs = sum of u_i over items of system s in cluster c    eq. K4

The rectifier takes out whatever bias predictions have; useless ones have lambda near 0 and leave the mean of the
labels. Items that answer one prompt are a cluster, so that differences of systems on the same prompts are paired.

The alternative annotator test (Calderon, Reichart, Dror 2025): may a judge replace a person? For every person j, on
items that j, the judge and at least one more person rated: is the judge nearer to the others than j is?

    W_i = [j is at least as near] - [judge is at least as near],  p_j: t-test of mean W < eps                  eq. K5
    winning rate = share of people for whom that holds (Benjamini-Yekutieli), the judge passes from 1/2 on    eq. K6

`eps` is what a judge may be worse and still be preferred for its price.

    n items, S systems, C clusters, M items and K people of the test
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

FEWEST_LABELS = 2  # labelled items of a system below which its mean has no variance


class PoweredMeans(NamedTuple):
    """Means of systems with the covariance of their errors."""

    mean: np.ndarray  # (S,) NaN where a system has no label
    cov: np.ndarray  # (S, S) NaN where a system has fewer than two labels
    freedom: np.ndarray  # (S,) labelled clusters less one
    labels_mean: np.ndarray  # (S,) of the labels alone
    labelled: np.ndarray  # (S,)
    weight: float  # lambda
    together: np.ndarray  # (S, S) clusters with labels of both systems


class Difference(NamedTuple):
    """One system less another."""

    mean: float
    sd: float
    freedom: float


def powered_means(
    label: np.ndarray, prediction: np.ndarray, system: np.ndarray, S: int, cluster: np.ndarray
) -> PoweredMeans:
    """From labels (n,), NaN where there are none, and predictions (n,) of items of systems (n,) in clusters (n,)."""
    known = np.isfinite(label)
    weight = prediction_weight(label, prediction, system, S)
    items = np.bincount(system, minlength=S).astype(float)
    labelled = np.bincount(system[known], minlength=S)
    n = np.maximum(labelled, 1)
    every = np.bincount(system, prediction, minlength=S) / np.maximum(items, 1)
    h = np.where(known, label, 0.0)
    alone = np.bincount(system, h, minlength=S) / n
    theirs = np.bincount(system[known], prediction[known], minlength=S) / n
    mean = alone - weight * (theirs - every)
    away = h - weight * prediction - (alone - weight * theirs)[system]
    correction = np.sqrt(n / np.maximum(n - 1, 1))  # of a variance around an estimated mean
    u = weight * (prediction - every[system]) / items[system] + known * (correction / n)[system] * away
    C = int(cluster.max(initial=-1)) + 1
    U = np.zeros((C, S))
    np.add.at(U, (cluster, system), u)
    cov = U.T @ U
    clusters = np.zeros((C, S), dtype=bool)
    clusters[cluster[known], system[known]] = True
    together = clusters.T.astype(int) @ clusters.astype(int)
    enough = labelled >= FEWEST_LABELS
    cov[~enough], cov[:, ~enough] = np.nan, np.nan
    without = labelled == 0
    mean = np.where(without, np.nan, mean)
    freedom = np.maximum(clusters.sum(axis=0) - 1, 1).astype(float)
    return PoweredMeans(mean, cov, freedom, np.where(without, np.nan, alone), labelled, weight, together)


def prediction_weight(label: np.ndarray, prediction: np.ndarray, system: np.ndarray, S: int) -> float:
    """How far predictions are believed, from labelled items of all systems.                             eq. K2"""
    known = np.isfinite(label)
    h, f, of = label[known], prediction[known], system[known]
    n = np.maximum(np.bincount(of, minlength=S), 1)
    h = h - (np.bincount(of, h, minlength=S) / n)[of]
    f = f - (np.bincount(of, f, minlength=S) / n)[of]
    spread = float(f @ f)
    return float(np.clip(h @ f / spread, 0.0, 1.0)) if spread > 0 else 0.0


def difference(found: PoweredMeans, one: int, other: int) -> Difference:
    """Of two systems, with Satterthwaite's degrees of freedom, or those of pairs where they share labelled clusters."""
    V = found.cov
    a, b = float(V[one, one]), float(V[other, other])
    variance = a + b - 2 * float(V[one, other])
    pairs = found.together[one, other]
    if pairs > 1:
        # As if all labels were paired: never more degrees of freedom than there are.
        freedom = float(max(min(found.freedom[one], found.freedom[other]), pairs - 1))
        return Difference(float(found.mean[one] - found.mean[other]), float(np.sqrt(max(variance, 0.0))), freedom)
    parts = a**2 / found.freedom[one] + b**2 / found.freedom[other]
    freedom = (a + b) ** 2 / parts if parts > 0 else float("inf")
    return Difference(float(found.mean[one] - found.mean[other]), float(np.sqrt(max(variance, 0.0))), freedom)


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
