"""The truth as labels alone give it, and how it is mixed with what the other groups say where these are not believed.

With labels ybar of noise 1/Q on n items, and imaginary items behind the target of the variance:

    a ~ N(mu_0, Sigma_0) from labelled items alone;  V_0 = (Sigma_0^-1 + Q)^-1,  m_0 = V_0 (Sigma_0^-1 mu_0 + Q ybar)
    mean of mu_0 unknown: V_0 += V_0 Sigma_0^-1 V_0 / n                                                   eq. J26
    E a = b E_g + (1 - b) m_0,  Cov = b (V + d_g d_g') + (1 - b) (V_0 + d_0 d_0')                         eq. J27

with the belief b of eq. J21 and the distances d of the two means from E a: b is the probability that groups follow the
truth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.groups.priors import TOLERANCE

MOST_STEPS = 500  # of an EM over a few labelled items


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
        if moved < TOLERANCE:
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
