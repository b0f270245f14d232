"""Targets of the priors: variances and correlations of truths, biases and errors, as far as moments tell them.

What little there are ratings for stays near what is known otherwise: biases near those on other dimensions,
correlations of truths near those of ratings, and these near none.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.items.components import PairSums, components, pair_sums
from unisono.maths.items.data import ItemData
from unisono.maths.items.levels import TINY, Levels, annotator_levels, profile_moments
from unisono.maths.items.priors import IMAGINARY_ANNOTATORS, LEAST_SHARE
from unisono.maths.items.state import Targets

LEAST_EIGENVALUE = 1e-3  # numerical: least of the eigenvalues of a correlation matrix put together entry by entry


def variance_targets(data: ItemData, *, truths: bool = True, biases: bool = True) -> Targets:
    """Variances of truth, error and bias; truths and biases are correlated as truths are, if at all."""
    levels = annotator_levels(profile_moments(data))
    return targets_from(levels, pair_sums(data, levels), truths=truths, biases=biases)


def targets_from(levels: Levels, sums: PairSums, *, truths: bool = True, biases: bool = True) -> Targets:
    """The targets from the annotators' levels and the sums over items.                                  eq. B11"""
    found, bias, within = components(levels, sums)
    # Shares of what annotators' answers vary by, each around a level of its own: levels may lie anywhere.
    within = np.where(within > 0, within, np.where(bias > 0, bias, 1.0))
    least = LEAST_SHARE * within
    # Where no item has two ratings, half is truth as far as anybody knows.
    truth = np.clip(np.where(np.isnan(found), 0.5 * within, found), least, np.maximum(within - least, least))
    error = np.maximum(within - truth, least)
    P = positive_definite(truth_correlation(levels, sums, truth, error))
    none = np.eye(len(within))
    return Targets(
        latent=_covariance(truth, P if truths else none),
        noise=np.diag(error),
        bias=_covariance(np.maximum(_bias_share(levels, within), LEAST_SHARE) * within, P if biases else none),
        offset=levels.offset,
        tie=levels.tie.min(axis=1),
    )


def _bias_share(levels: Levels, within: np.ndarray) -> np.ndarray:
    """(D,) variance of biases over that within annotators, drawn to its mean over dimensions by a few annotators."""
    share, K = levels.bias / within, (levels.n > 1).sum(axis=0)
    return np.asarray((K * share + IMAGINARY_ANNOTATORS * share.mean()) / (K + IMAGINARY_ANNOTATORS))


def truth_correlation(levels: Levels, sums: PairSums, truth: np.ndarray, error: np.ndarray) -> np.ndarray:
    """(D, D) correlations of truths with variances `truth` (D,), from pairs of annotators.                eq. B21

    Judgements correlate as truths do, and as moods and manners do: known better, and not quite the same. The
    correlation of pairs is drawn to theirs, the more the likelier it is that chance makes the difference.
    """
    D, root = len(truth), np.sqrt(truth)
    per_item = np.diagonal(sums.pairs) / np.maximum(np.diagonal(sums.n), 1) + 1
    unreliable = 1 + error / (truth * per_item)  # (D,) variance of an item's mean over that of its truth
    pairs = sums.products / np.maximum(sums.pairs, 1) / root[:, None] / root
    pairs = np.where(sums.pairs > 0, np.clip(pairs, -1.0, 1.0), 0.0)
    variance = D * correlation_variance(pairs, unreliable)
    chance = np.where(sums.items > 0, variance / np.maximum(sums.items, 1), np.inf)
    ratings = judgement_correlation(sums, per_item, truth / (truth + error + levels.bias))
    found = ratings + drawn(pairs - ratings, chance)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)


def judgement_correlation(sums: PairSums, per_item: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(D, D) correlations of the answers of one judgement, the less of them the more likely they are chance.

    Judgements of one item share its truth, which is this `share` (D,) of their variance, so they count for less than
    their number (the design effect of cluster samples); and the more dimensions, the more chances for chance.
    """
    mean = sums.same / np.maximum(sums.n, 1)
    root = np.sqrt(np.maximum(np.diagonal(mean), TINY))
    P = np.clip(mean / root[:, None] / root, -1.0, 1.0)
    n = sums.n / (1 + (per_item.mean() - 1) * share.mean())
    return drawn(P, np.where(n > 0, len(P) * (1 - P**2) ** 2 / np.where(n > 0, n, 1.0), np.inf))


def correlation_variance(P: np.ndarray, unreliable: np.ndarray) -> np.ndarray:
    """(D, D) variance, times the number of items, of correlations P of truths that are known by pairs of answers.

    `unreliable` (D,) is the variance of items' means over that of their truths; at one, it is (1 - P^2)^2.
    """
    u, v = unreliable[:, None], unreliable
    return np.asarray(u * v + P**2 * (1 + (u**2 + v**2) / 2 - 2 * (u + v)) + P**4)


def drawn(x: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """x drawn to 0 by the share that its variance by chance has in its square: x^3 / (x^2 + chance)."""
    return np.asarray(x**3 / np.maximum(x**2 + chance, TINY))


def positive_definite(P: np.ndarray) -> np.ndarray:
    """P (D, D) as a correlation matrix."""
    values, vectors = np.linalg.eigh(P)
    Q = (vectors * np.maximum(values, LEAST_EIGENVALUE)) @ vectors.T
    root = np.sqrt(np.diagonal(Q))
    return np.asarray(Q / root[:, None] / root)


def _covariance(variance: np.ndarray, correlation: np.ndarray) -> np.ndarray:
    root = np.sqrt(variance)
    return np.asarray(correlation * root[:, None] * root)
