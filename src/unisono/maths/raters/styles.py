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

from unisono.maths.items.priors import IMAGINARY_ANNOTATORS, LARGE_SCALE, LEAK_SD, NOISE_SD, SLOPE_SD, SMALL_SCALE
from unisono.maths.raters.style_sums import Sums

NOISE_NODES = np.linspace(-3.5, 3.5, 11)  # numerical: nodes of log t, in its posterior standard deviations
NOISE_SEARCH = 6  # numerical: Newton steps towards the most probable t
ANNOTATORS_AT_ONCE = 1024  # numerical: their arrays stay in the processor's cache
LEAST_STYLE_NOISE = 1e-3  # numerical: least of the residual sum of squares, in units of the typical variance


class StylePrior(NamedTuple):
    """Prior of slopes and noise under one style. A slope of one is what the typical annotator does."""

    center: float = 0.0  # mean of the slope on the truth that is followed
    width: float = 0.0  # its standard deviation between annotators
    leak: float = 0.0  # standard deviation of the slopes on the other truths, around zero
    noise: float = 1.0  # typical variance of the noise, in units of the crowd's


def _follows(scale: float) -> StylePrior:
    """Answers of the usual kind times `scale`: truth, leakage and noise alike.

    Half the slope with all the noise is not a compressed scale but a poor annotator, whom only the number of ratings
    tells from a spammer.
    """
    return StylePrior(scale, SLOPE_SD * abs(scale), LEAK_SD * abs(scale), scale**2)


STYLE_PRIORS = {
    "usual": _follows(1.0),
    "compressed": _follows(SMALL_SCALE),
    "stretched": _follows(LARGE_SCALE),
    "flipped": _follows(-1.0),
    "swapped": _follows(1.0),  # on another dimension's truth
    "unrelated": StylePrior(),
    "constant": StylePrior(),
}
# The kinds of style; for one annotator and dimension their probabilities add up to one.
KINDS = tuple(STYLE_PRIORS)
USUAL, COMPRESSED, STRETCHED, FLIPPED, SWAPPED, UNRELATED, CONSTANT = range(len(KINDS))
FOLLOWING = (USUAL, COMPRESSED, STRETCHED, FLIPPED, SWAPPED)


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
    kinds, follows = (np.array([[style[i] for style in own] for own in styles]) for i in (0, 1))
    for d in range(D):
        # Where everybody answers every dimension, the truths behind the answers are the same for all of them.
        if d == 0 or not np.array_equal(sums.xx[:, d], sums.xx[:, d - 1]):
            stretch, U = np.linalg.eigh(sums.xx[:, d])
            stretch = np.maximum(stretch, 0.0)
        lean = np.einsum("kei,ke->ki", U, sums.xy[:, d])
        priors = _prior_columns(kinds[d], noise, d)
        for start in range(0, K, ANNOTATORS_AT_ONCE):
            rows = slice(start, start + ANNOTATORS_AT_ONCE)
            axes = _Axes(np.moveaxis(U[rows], 0, 2), stretch[rows].T, lean[rows].T)
            regression = _regression(Sums(*(part[rows] for part in sums)), axes, d, follows[d], priors)
            found = _integrated(regression, axes, d, follows[d], priors)
            for table, part in zip((loglik, slope, square, left), found, strict=True):
                table[rows, d] = part.T
        loglik[:, d] *= effective[d]
        loglik[:, d] += np.where(kinds[d] == CONSTANT, same[:, [d]], 0.0)
    return Evidence(kinds, follows, loglik, slope, square, left)


class _Priors(NamedTuple):
    """The priors of the styles of one dimension, each (H, 1).

    Slopes have the covariance leak^2 I + more e e', e the truth that is followed: what the answers would vary by is a
    matrix that all styles share, and one rank more.
    """

    center: np.ndarray
    weak: np.ndarray  # leak^2
    more: np.ndarray
    typical: np.ndarray  # noise variance


def _prior_columns(kinds: np.ndarray, noise: TypicalNoise, d: int) -> _Priors:
    priors = [STYLE_PRIORS[KINDS[kind]] for kind in kinds]
    usual = [(noise.following if kind in FOLLOWING else noise.idle)[d] for kind in kinds]
    rows = [
        (prior.center, prior.leak**2, prior.width**2 - prior.leak**2, variance * prior.noise)
        for prior, variance in zip(priors, usual, strict=True)
    ]
    return _Priors(*np.array(rows).T[:, :, None])


class _Axes(NamedTuple):
    """The truths' sums of squares on one dimension's answers, X'X = U diag(stretch) U': the same for every style."""

    U: np.ndarray  # (D, i, K)
    stretch: np.ndarray  # (i, K)
    lean: np.ndarray  # (i, K) U'X'y


class _Regression(NamedTuple):
    """Answers away from the slope that a style expects, y - center x_e, along the axes. Annotators come last."""

    own: np.ndarray  # (H, i, K) the truth that is followed
    lean: np.ndarray  # (H, i, K)
    rest: np.ndarray  # (H, K) sum of squares
    freedom: np.ndarray  # (K,) one answer less: it went into the mean
    weights: tuple[np.ndarray, ...]  # three of (H, i, K): own lean, own^2 stretch, lean^2

    def explained(self, t: np.ndarray, axes: _Axes, priors: _Priors) -> np.ndarray:
        """(H, K) what slopes other than the center take off the sum of squares if the noise is t (H, K)."""
        inverse = 1 / (t[:, None] + priors.weak[:, None] * axes.stretch)  # (H, i, K)
        b, a, along = (np.einsum("hik,hik->hk", inverse, weight) for weight in self.weights)
        return np.asarray(priors.weak * along + t * priors.more * b**2 / (1 + priors.more * a))


def _regression(sums: Sums, axes: _Axes, d: int, follows: np.ndarray, priors: _Priors) -> _Regression:
    own = axes.U[follows]
    lean = axes.lean - priors.center[:, None] * axes.stretch * own
    weights = own * lean, own**2 * axes.stretch, lean**2
    rest = sums.yy[:, d] - priors.center * (2 * sums.xy[:, d, follows].T - priors.center * weights[1].sum(axis=1))
    return _Regression(own, lean, np.maximum(rest, 0.0), np.maximum(sums.n[:, d] - 1, 0), weights)


def _likeliest_noise(regression: _Regression, axes: _Axes, priors: _Priors) -> np.ndarray:
    """(H, K) the most probable log t, by Newton steps."""
    middle, precision = np.log(priors.typical), 1 / NOISE_SD**2
    least = priors.typical * LEAST_STYLE_NOISE
    log_t = np.broadcast_to(middle, regression.rest.shape)
    for _ in range(NOISE_SEARCH):
        t = np.exp(log_t)
        left = np.maximum(regression.rest - regression.explained(t, axes, priors), 0.0) + least
        # The most probable log t, to first order around the last one.
        step = 0.5 * (left / t - regression.freedom) + precision * (middle - log_t)
        log_t = log_t + np.clip(step / (0.5 * left / t + precision), -1.0, 1.0)
    return log_t


def _integrated(
    regression: _Regression, axes: _Axes, d: int, follows: np.ndarray, priors: _Priors
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Log evidence, mean and mean square of the slope on truth d, noise variance, each (H, K).  eq. Q3"""
    own, lean, rest, freedom, weights = regression
    log_t, precision = _likeliest_noise(regression, axes, priors), 1 / NOISE_SD**2
    center, weak, more = (column[:, None] for column in priors[:3])  # (H, 1, 1)
    scale = 1 / np.sqrt(freedom / 2 + precision)  # (K,)
    grid = log_t[:, None] + scale * NOISE_NODES[:, None]  # (H, T, K)
    t = np.exp(grid)
    # Along one axis after the other: without the rank, b = x_e'M^-1 r, a = x_e'M^-1 x_e, r'XX'M^-1 r, and what the
    # slope on truth d shares with them.
    b, a, along, pull, cross, known = (np.zeros(t.shape) for _ in range(6))
    ratio = np.ones(t.shape)
    for i, (stretch, row) in enumerate(zip(axes.stretch, axes.U[d], strict=True)):
        inverse = 1 / (t + weak * stretch)
        e, r = own[:, None, i], lean[:, None, i]
        for part, weight in zip((b, a, along), weights, strict=True):
            part += inverse * weight[:, None, i]
        pull += inverse * (row * r)
        cross += inverse * (row * stretch * e)
        known += inverse * (row**2 * stretch)
        ratio *= t * inverse
    rank = more / (1 + more * a)
    log_density = (rest[:, None] - weak * along - t * rank * b**2) / t + freedom * (np.log(2 * np.pi) + grid)
    log_density = -0.5 * (log_density + np.log1p(more * a) - np.log(ratio))
    middle = np.log(priors.typical)[:, None]
    log_prior = -0.5 * precision * (grid - middle) ** 2 + 0.5 * np.log(precision / (2 * np.pi))
    log_weight = log_density + log_prior + np.log(scale * (NOISE_NODES[1] - NOISE_NODES[0]))
    peak = log_weight.max(axis=1, keepdims=True)
    weight = np.exp(log_weight - peak)
    mass = weight.sum(axis=1, keepdims=True)
    total, weight = (peak + np.log(mass))[:, 0], weight / mass
    # The slope on truth d: prior mean and covariance times what pulls at it.
    itself = (follows == d)[:, None, None]
    variance = weak + more * itself
    mean = center * itself + variance * (pull - rank * b * cross)
    spread = variance - variance**2 * (known - rank * cross**2)
    return total, (weight * mean).sum(axis=1), (weight * (mean**2 + spread)).sum(axis=1), np.exp(log_t)


def typical_noise(
    evidence: Evidence, probability: np.ndarray, answered: np.ndarray, start: TypicalNoise
) -> TypicalNoise:
    """The geometric mean noise of those who follow a truth and of those who do not; `start` counts as a few of each."""
    weight = probability * answered[:, :, None]
    scale = np.array([prior.noise for prior in STYLE_PRIORS.values()])[evidence.kind]
    log_noise = np.log(evidence.noise / scale)

    def mean(kinds: tuple[int, ...], before: np.ndarray) -> np.ndarray:
        own = weight * np.isin(evidence.kind, kinds)
        total = (own * log_noise).sum(axis=(0, 2)) + IMAGINARY_ANNOTATORS * np.log(before)
        return np.asarray(np.exp(total / (own.sum(axis=(0, 2)) + IMAGINARY_ANNOTATORS)))

    return TypicalNoise(mean(FOLLOWING, start.following), mean((UNRELATED,), start.idle))
