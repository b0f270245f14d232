"""Variance components by moments: shares of items, annotators and errors, the targets of the priors.

Pairs of ratings of one item by different annotators share the truth; pairs by one annotator of different items share
the bias. Ratings are standardised, so that shares are variances.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.grouped import segment_sum
from unisono.maths.items.data import ItemData
from unisono.maths.items.priors import LEAST_SHARE
from unisono.maths.items.state import Targets

FEWEST_PAIRS = 3  # numerical: judgements of both dimensions below which they have no correlation
LEAST_EIGENVALUE = 1e-3  # numerical: least of the eigenvalues of a correlation matrix put together entry by entry


def variance_targets(data: ItemData, *, truths: bool = True, biases: bool = True) -> Targets:
    """Shares of truth, error and bias; truths and biases are correlated as the ratings are, if at all."""
    return targets_from(data, shared_moments(data, data.item_of, data.M), truths=truths, biases=biases)


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


def targets_from(data: ItemData, items: SharedMoments, *, truths: bool = True, biases: bool = True) -> Targets:
    """The targets from the moments of items and from the sums of the ratings' profiles.                 eq. B11"""
    # Where no item has two ratings, half is truth as far as anybody knows; biases that nothing shows are small.
    truth = _believable(items.mean(0.5))
    totals, counts = data.by_annotator(data.Sy), data.answers()
    products = (totals**2).sum(axis=0) - np.einsum("udd->d", data.Syy)
    annotators = SharedMoments(products, (counts * (counts - 1)).sum(axis=0))
    bias = _believable(annotators.mean(0.0).mean())
    error = np.maximum(1 - truth - bias, LEAST_SHARE)
    P = positive_definite(believed_correlation(data, rating_correlation(data), float(truth.mean())))
    none = np.eye(data.D)
    return Targets(
        latent=_covariance(truth, P if truths else none),
        noise=np.diag(error),
        bias=_covariance(np.full(data.D, bias), P if biases else none),
    )


def _believable(share: np.ndarray) -> np.ndarray:
    return np.asarray(np.clip(share, LEAST_SHARE, 1 - LEAST_SHARE))


def rating_correlation(data: ItemData) -> np.ndarray:
    """(D, D) correlations of the ratings over judgements that answer both dimensions, made positive definite."""
    P = np.eye(data.D)
    for d in range(data.D):
        for e in range(d):
            both = data.answered[:, d] & data.answered[:, e]
            n = data.judgements[both].sum()
            if n < FEWEST_PAIRS:
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


def positive_definite(P: np.ndarray) -> np.ndarray:
    """P (D, D) as a correlation matrix."""
    values, vectors = np.linalg.eigh(P)
    Q = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    root = np.sqrt(np.diagonal(Q))
    return np.asarray(Q / root[:, None] / root)


def _covariance(variance: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    root = np.sqrt(variance)
    return np.asarray(correlation * root[:, None] * root)
