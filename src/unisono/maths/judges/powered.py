"""Prediction-powered means of systems: labels on some items, predictions on all, right whatever the predictions are.

For a system with N items, n of them labelled (at random), labels h and predictions f made without the item's own label:

    theta = mean_n h - lambda (mean_n f - mean_N f)                                                       eq. K1
    lambda = cov_n(h, f) / var_n(f), within systems, over all of them; between 0 and 1                    eq. K2
    u_i = lambda (f_i - mean_N f) / N + [labelled] (h_i - lambda f_i - mean_n(h - lambda f)) / n          eq. K3
    Cov(theta) = sum over clusters of U_c U_c',  U_cs = sum of u_i over items of system s in cluster c    eq. K4

The rectifier takes out whatever bias predictions have; useless ones have lambda near 0 and leave the mean of the
labels. Items that answer one prompt are a cluster, so that differences of systems on the same prompts are paired.

    n items, S systems, C clusters
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
