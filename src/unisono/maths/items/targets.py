"""Variance components by moments: shares of items, annotators and errors, the targets of the priors.

Pairs of ratings of one item by different annotators share the truth; pairs by one annotator of different items share
the bias. Ratings are standardised, so that shares are variances.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.grouped import segment_sum
from unisono.maths.items.data import ItemData
from unisono.maths.items.priors import (
    BIAS_SHARE_LIMITS,
    BIAS_SHARE_UNKNOWN,
    FEWEST_PAIRS,
    LEAST_EIGENVALUE,
    LEAST_ERROR_SHARE,
    TRUTH_SHARE_LIMITS,
    TRUTH_SHARE_UNKNOWN,
    Priors,
)
from unisono.maths.items.state import Targets


def variance_targets(data: ItemData, priors: Priors) -> Targets:
    """Shares of truth, error and bias, with correlations like those of the ratings."""
    return targets_from(data, shared_moments(data, data.item_of, data.M), priors)


class SharedMoments(NamedTuple):
    """Of two different ratings of one group, (D,) each; they add up over groups."""

    products: np.ndarray  # sum of their products, both ways round
    pairs: np.ndarray  # how many there are, both ways round

    def mean(self, unknown: float) -> np.ndarray:
        """(D,) mean product; `unknown` where there are no pairs."""
        return np.asarray(np.where(self.pairs > 0, self.products / np.maximum(self.pairs, 1), unknown))


def shared_moments(data: ItemData, of: np.ndarray, groups: int) -> SharedMoments:
    """Of the groups `of` (J,) of ratings, items or annotators."""
    y, answered = data.y, data.answered[data.profile_of].astype(float)
    totals, counts = segment_sum(y, of, groups), segment_sum(answered, of, groups)
    products = (totals**2).sum(axis=0) - (y**2).sum(axis=0)
    return SharedMoments(products, (counts * (counts - 1)).sum(axis=0))


def targets_from(data: ItemData, items: SharedMoments, priors: Priors) -> Targets:
    """The targets from the moments of items and from the sums of the ratings' profiles.                 eq. B11"""
    truth = np.clip(items.mean(TRUTH_SHARE_UNKNOWN), *TRUTH_SHARE_LIMITS)
    totals, counts = data.by_annotator(data.Sy), data.answers()
    products = (totals**2).sum(axis=0) - np.einsum("udd->d", data.Syy)
    annotators = SharedMoments(products, (counts * (counts - 1)).sum(axis=0))
    bias = np.clip(annotators.mean(BIAS_SHARE_UNKNOWN).mean(), *BIAS_SHARE_LIMITS)
    error = np.maximum(1 - truth - bias, LEAST_ERROR_SHARE)
    P = believed_correlation(data, rating_correlation(data), float(truth.mean()))
    return Targets(
        latent=_covariance(truth, correlation_power(P, priors.latent_correlation)),
        noise=np.diag(error),
        bias=_covariance(np.full(data.D, bias), correlation_power(P, priors.bias_correlation)),
    )


def rating_correlation(data: ItemData) -> np.ndarray:
    """(D, D) correlations of the ratings over judgements that answer both dimensions, made positive definite."""
    P = np.eye(data.D)
    for d in range(data.D):
        for e in range(d):
            both = data.answered[:, d] & data.answered[:, e]
            n = data.judgements[both].sum()
            if n <= FEWEST_PAIRS:
                continue
            Sd, Se = data.Sy[both, d].sum() / n, data.Sy[both, e].sum() / n
            moment = data.Syy[both].sum(axis=0) / n
            spread = (moment[d, d] - Sd**2) * (moment[e, e] - Se**2)
            P[d, e] = P[e, d] = (moment[d, e] - Sd * Se) / np.sqrt(spread) if spread > LEAST_EIGENVALUE**2 else 0.0
    values, vectors = np.linalg.eigh(P)
    return np.asarray((vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T)


def believed_correlation(data: ItemData, P: np.ndarray, truth: float) -> np.ndarray:
    """(D, D) correlations of ratings, the less of them the more likely they are chance.                    eq. B21

    Judgements of one item share its truth, which is this share of their variance, so they count for less than their
    number (the design effect of cluster samples); and the more dimensions, the more chances for chance.
    """
    both = data.answered.T @ (data.judgements[:, None] * data.answered) / (1 + (data.per_item - 1) * truth)
    chance = data.D * (1 - P**2) ** 2 / np.maximum(both, 1.0)
    believed = P * P**2 / np.maximum(P**2 + chance, np.finfo(float).tiny)
    np.fill_diagonal(believed, 1.0)
    return np.asarray(believed)


def correlation_power(P: np.ndarray, power: float) -> np.ndarray:
    """P^power as a correlation matrix: between none at 0 and P at 1."""
    values, vectors = np.linalg.eigh(P)
    Q = (vectors * np.maximum(values, LEAST_EIGENVALUE) ** power) @ vectors.T
    root = np.sqrt(np.diagonal(Q))
    return np.asarray(Q / root[:, None] / root)


def _covariance(variance: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    root = np.sqrt(variance)
    return np.asarray(correlation * root[:, None] * root)
