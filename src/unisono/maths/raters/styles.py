"""Response styles: regressions of an annotator's answers on the truth that the others give, and their evidence.

A style says which dimension's truth the answers follow, and how steeply. With X the truths fused without the annotator
(means of posteriors, so their errors do not bias slopes) and y the answers, both minus their means over the annotator's
items,

    y = X s + noise,   s ~ N(center, diag(width^2)),   noise ~ N(0, t I),   log t ~ N(log typical, spread^2)   eq. Q3

is closed form for every t; t is integrated out numerically around its most probable value. All of it follows from a few
sums per annotator. Truths of other dimensions than the one that is followed may always colour an answer a little;
without that, dimensions that are nearly the same would look mistaken for each other.

    K annotators, D dimensions, H styles of one dimension, T values of t
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from unisono.maths.items.priors import (
    LEAST_STYLE_NOISE,
    NOISE_ANNOTATORS,
    NOISE_NODES,
    NOISE_SEARCH,
    STYLE_PRIORS,
    StylePrior,
)

# The kinds of style; for one annotator and dimension their probabilities add up to one.
KINDS = tuple(STYLE_PRIORS)
USUAL, COMPRESSED, STRETCHED, FLIPPED, SWAPPED, UNRELATED, CONSTANT = range(len(KINDS))
FOLLOWING = (USUAL, COMPRESSED, STRETCHED, FLIPPED, SWAPPED)


class Sums(NamedTuple):
    """Centred sums over the answers of each annotator on each dimension d; e and f are dimensions of the truth."""

    n: np.ndarray  # (K, D) answers
    yy: np.ndarray  # (K, D)
    xx: np.ndarray  # (K, D, e, f)
    xy: np.ndarray  # (K, D, e)
    y: np.ndarray  # (K, D) mean answer
    x: np.ndarray  # (K, D, e) mean truth over these answers


class TypicalNoise(NamedTuple):
    """Typical variance of what the truth does not explain, in the answers of one annotator; each (D,)."""

    following: np.ndarray  # of those who follow a truth
    idle: np.ndarray  # of those who follow none: all the variance their answers have


class Evidence(NamedTuple):
    """What the answers say about each style of each annotator. A style is a kind and the truth that it follows."""

    kind: np.ndarray  # (D, H) the kind of each style
    follows: np.ndarray  # (D, H) the dimension whose truth it follows; the own one where it follows none
    loglik: np.ndarray  # (K, D, H) log density of the answers
    slope: np.ndarray  # (K, D, H) posterior mean of the slope on the own dimension's truth
    square: np.ndarray  # (K, D, H) posterior mean of its square
    noise: np.ndarray  # (K, D, H) most probable noise variance


def centred_sums(answers: np.ndarray, truth: np.ndarray, of: np.ndarray, K: int) -> Sums:
    """Sums of answers (J, D), NaN where they do not count, and truths (J, D), by annotator `of` (J,)."""
    D = answers.shape[1]
    n, yy, y = np.zeros((K, D)), np.zeros((K, D)), np.zeros((K, D))
    xx, xy, x = np.zeros((K, D, D, D)), np.zeros((K, D, D)), np.zeros((K, D, D))
    for d in range(D):
        rows = np.flatnonzero(~np.isnan(answers[:, d]))
        who = of[rows]
        n[:, d] = np.bincount(who, minlength=K)

        def total(values: np.ndarray, who: np.ndarray = who) -> np.ndarray:
            return np.bincount(who, weights=values, minlength=K)

        safe = np.maximum(n[:, d], 1)
        y[:, d] = total(answers[rows, d]) / safe
        own = answers[rows, d] - y[who, d]
        yy[:, d] = total(own * own)
        x[:, d] = np.stack([total(truth[rows, e]) for e in range(D)], axis=1) / safe[:, None]
        others = truth[rows] - x[who, d]
        for e in range(D):
            xy[:, d, e] = total(others[:, e] * own)
            for f in range(e + 1):
                xx[:, d, e, f] = xx[:, d, f, e] = total(others[:, e] * others[:, f])
    return Sums(n, yy, xx, xy, y, x)


def styles_of(d: int, D: int) -> list[tuple[int, int]]:
    """The styles an annotator may have on dimension d: (kind, dimension of the truth that is followed)."""
    own = [(kind, d) for kind in (USUAL, COMPRESSED, STRETCHED, FLIPPED)]
    return [*own, *((SWAPPED, e) for e in range(D) if e != d), (UNRELATED, d), (CONSTANT, d)]


def style_evidence(sums: Sums, noise: TypicalNoise, same: np.ndarray, effective: np.ndarray) -> Evidence:
    """Evidence of every style; one answer on a dimension counts as `effective` (D,) answers with normal noise.

    `same` (K, D) is the log of how much likelier answers without any variation are from somebody who never varies
    than from somebody who does, -inf where they vary. Apart from that, a constant annotator is an unrelated one.
    """
    K, D = sums.n.shape
    styles = [styles_of(d, D) for d in range(D)]
    shape = (K, D, len(styles[0]))
    loglik, slope, square, left = np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for d, own in enumerate(styles):
        for h, (kind, e) in enumerate(own):
            typical = (noise.following if kind in FOLLOWING else noise.idle)[d]
            loglik[:, d, h], slope[:, d, h], square[:, d, h], left[:, d, h] = _one_style(
                sums, d, e, STYLE_PRIORS[KINDS[kind]], typical
            )
            loglik[:, d, h] *= effective[d]
            if kind == CONSTANT:
                loglik[:, d, h] += same[:, d]
    kinds, follows = (np.array([[style[i] for style in own] for own in styles]) for i in (0, 1))
    return Evidence(kinds, follows, loglik, slope, square, left)


def _one_style(
    sums: Sums, d: int, e: int, prior: StylePrior, typical: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Log evidence, mean and mean square of the slope on truth d, noise variance, each (K,), of one style.  eq. Q3"""
    D = sums.n.shape[1]
    center, width = np.zeros(D), np.full(D, prior.leak)
    center[e], width[e] = prior.center, prior.width
    lean = sums.xy[:, d] - sums.xx[:, d] @ center
    rest = np.maximum(sums.yy[:, d] - (2 * sums.xy[:, d] - sums.xx[:, d] @ center) @ center, 0.0)
    freedom = np.maximum(sums.n[:, d] - 1, 0)  # one went into the mean
    # In the eigenvectors of W S W, W = diag(width), slopes are independent whatever t is.
    stretch, vectors = np.linalg.eigh(width[:, None] * sums.xx[:, d] * width)
    stretch = np.maximum(stretch, 0.0)
    pull = np.einsum("kef,ke->kf", vectors, width * lean)  # (K, D)

    def explained(t: np.ndarray) -> np.ndarray:
        """What slopes other than the center take off the sum of squares, for noise variances (K, T)."""
        return np.asarray((pull[:, None] ** 2 / (t[:, :, None] + stretch[:, None])).sum(axis=2))

    middle, precision = np.log(typical * prior.noise), 1 / prior.spread**2
    log_t, least = np.full(len(rest), middle), typical * prior.noise * LEAST_STYLE_NOISE
    for _ in range(NOISE_SEARCH):
        left = np.maximum(rest - explained(np.exp(log_t)[:, None])[:, 0], 0.0) + least
        # The most probable log t, to first order around the last one.
        step = 0.5 * (left * np.exp(-log_t) - freedom) + precision * (middle - log_t)
        log_t = log_t + np.clip(step / (0.5 * left * np.exp(-log_t) + precision), -1.0, 1.0)
    scale = 1 / np.sqrt(freedom / 2 + precision)
    grid = log_t[:, None] + scale[:, None] * NOISE_NODES  # (K, T)
    t = np.exp(grid)
    log_density = -0.5 * (freedom[:, None] * (np.log(2 * np.pi) + grid) + (rest[:, None] - explained(t)) / t)
    log_density -= 0.5 * np.log1p(stretch[:, None] / t[:, :, None]).sum(axis=2)
    log_prior = -0.5 * precision * (grid - middle) ** 2 + 0.5 * np.log(precision / (2 * np.pi))
    log_weight = log_density + log_prior + np.log(scale * (NOISE_NODES[1] - NOISE_NODES[0]))[:, None]
    total = logsumexp(log_weight, axis=1)
    weight = np.exp(log_weight - total[:, None])
    # Slope on truth d: width_d (vectors row d) times independent parts.
    row = width[d] * vectors[:, d]  # (K, D)
    mean = center[d] + np.einsum("ki,ki,kti->kt", row, pull, 1 / (t[:, :, None] + stretch[:, None]))
    variance = np.einsum("ki,kti->kt", row**2, 1 / (1 + stretch[:, None] / t[:, :, None]))
    return total, (weight * mean).sum(axis=1), (weight * (mean**2 + variance)).sum(axis=1), np.exp(log_t)


def typical_noise(
    evidence: Evidence, probability: np.ndarray, answered: np.ndarray, start: TypicalNoise
) -> TypicalNoise:
    """The geometric mean noise of those who follow a truth and of those who do not; `start` counts as a few of each."""
    weight = probability * answered[:, :, None]
    scale = np.array([prior.noise for prior in STYLE_PRIORS.values()])[evidence.kind]
    log_noise = np.log(evidence.noise / scale)

    def mean(kinds: tuple[int, ...], before: np.ndarray) -> np.ndarray:
        own = weight * np.isin(evidence.kind, kinds)
        total = (own * log_noise).sum(axis=(0, 2)) + NOISE_ANNOTATORS * np.log(before)
        return np.asarray(np.exp(total / (own.sum(axis=(0, 2)) + NOISE_ANNOTATORS)))

    return TypicalNoise(mean(FOLLOWING, start.following), mean((UNRELATED,), start.idle))
