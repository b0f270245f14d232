"""From moments of the ratings to where variational EM starts: levels, variance components, targets, starting state.

Levels of annotators: how far they lie apart, how much of that is bias, and units that do not depend on them.

    mean_kd = mu_d + b_kd + error,    b_kd ~ t_nu(0, C_d),    error ~ N(0, A_d / n_kd)                           eq. B29

A is the variance of answers within annotators: truths and errors. The best prediction of a bias is the share

    c_k = C / (C + tie_k A / n_k)        tie_k = (nu + 1) / (nu + (mean_k - mu)^2 / (C + A / n_k))

of the distance from the average annotator. A, C and mu need no more than the moments of annotators' answers, which add
up over parts. Variance components of truths, biases and errors by moments, over all dimensions at once:

    y_n = mu + a_m + b_k + e_n,    annotator k on item m                                                     eq. B11
    z_n = (y_n - c_k (mean_k - mu)) / sqrt(1 - c_k (2 - c_k) / n_k)

Two answers z to an item by different annotators share the truth and nothing else: products of z times the gain g that
is expected of its annotator, over those of g^2, are the truth's covariances, whoever answers how much (eq. B20).
Targets of the priors follow, shrunk where there are few ratings: biases towards those on other dimensions, correlations
of truths towards those of ratings, and these towards none. EM then starts from annotators who answer the truth, with
these variances; nothing is random.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from unisono.maths.grouped_sums import segment_sum
from unisono.maths.items.annotator_rows import expected_gain, usual_classes
from unisono.maths.items.bayes_bound import BayesSettings, BayesState, Hyper, Targets, told_apart
from unisono.maths.items.item_data import ItemData
from unisono.maths.items.item_params import ItemParams, Structure, free_coefficients, identity_rows
from unisono.maths.items.item_priors import BIAS_FREEDOM, IMAGINARY_ANNOTATORS, LEAST_SHARE, SPAMMER_GAIN, Priors
from unisono.maths.items.item_variances import scaled_noise, shape_latent
from unisono.maths.items.slider_warp import unbend
from unisono.maths.rating_values import NO_SPREAD

SCORING_STEPS = 30  # numerical: towards the variance of biases
TINY = np.finfo(float).tiny


class AnnotatorMoments(NamedTuple):
    """Of everybody's answers: how many, their means, and sums of squares around these; (K, D) each."""

    n: np.ndarray
    mean: np.ndarray
    squares: np.ndarray

    def __add__(self, other: AnnotatorMoments) -> AnnotatorMoments:  # type: ignore[override]
        """Of the answers of both."""
        n = self.n + other.n
        share = other.n / np.maximum(n, 1)
        apart = other.mean - self.mean
        squares = self.squares + other.squares + self.n * share * apart**2
        return AnnotatorMoments(n, self.mean + share * apart, squares)


class Levels(NamedTuple):
    """Levels of annotators on every dimension, and how much of them is bias."""

    n: np.ndarray  # (K, D) answers
    centre: np.ndarray  # (D,) level of the average annotator
    away: np.ndarray  # (K, D) how far the others lie from it; 0 without answers
    bias: np.ndarray  # (D,) C, the squared scale of biases; 0 where nothing shows it
    within: np.ndarray  # (D,) A; that of all answers where nobody answered twice
    tie: np.ndarray  # (K, D)

    @property
    def believed(self) -> np.ndarray:
        """(K, D) the share c of the distance that is bias."""
        error = self.tie * self.within / np.maximum(self.n, 1)
        return np.asarray(self.bias / np.maximum(self.bias + error, TINY))

    @property
    def offset(self) -> np.ndarray:
        """(K, D) the best prediction of biases."""
        return np.asarray(self.believed * self.away)

    @property
    def factor(self) -> np.ndarray:
        """(K, D) what makes up for the share of truths and errors that goes with the prediction."""
        c = self.believed
        return np.asarray(1 / np.sqrt(np.maximum(1 - c * (2 - c) / np.maximum(self.n, 1), np.finfo(float).eps)))

    def left(self) -> np.ndarray:
        """(D,) what biases still add to the variance of answers that have lost their predictions."""
        spread = self.bias / self.tie * (self.factor * (1 - self.believed)) ** 2
        return np.asarray((self.n * spread).sum(axis=0) / np.maximum(self.n.sum(axis=0), 1))


def annotator_moments(value: np.ndarray, of: np.ndarray, K: int) -> AnnotatorMoments:
    """Of answers (J, D), NaN where missing, by annotators `of` (J,)."""
    seen = ~np.isnan(value)
    n = segment_sum(seen.astype(float), of, K)
    mean = segment_sum(np.where(seen, value, 0.0), of, K) / np.maximum(n, 1)
    return AnnotatorMoments(n, mean, segment_sum(np.where(seen, value - mean[of], 0.0) ** 2, of, K))


def profile_moments(data: ItemData) -> AnnotatorMoments:
    """The same from the sums of the ratings' profiles."""
    n = data.answers()
    mean = data.by_annotator(data.Sy) / np.maximum(n, 1)
    squares = data.by_annotator(np.einsum("udd->ud", data.Syy))
    return AnnotatorMoments(n, mean, np.maximum(squares - n * mean**2, 0.0))


def annotator_levels(moments: AnnotatorMoments) -> Levels:
    """The levels that these moments show."""
    n, mean, squares = moments
    free = np.maximum(n - 1, 0).sum(axis=0)
    all_ = (squares + n * (mean - (n * mean).sum(axis=0) / np.maximum(n.sum(axis=0), 1)) ** 2).sum(axis=0)
    within = np.where(free > 0, squares.sum(axis=0) / np.maximum(free, 1), all_ / np.maximum(n.sum(axis=0), 1))
    centre, bias, tie = np.zeros(n.shape[1]), np.zeros(n.shape[1]), np.ones(n.shape)
    for d in range(n.shape[1]):
        rated = n[:, d] > 0
        known = free[d] > 0  # else nothing tells biases from errors
        centre[d], bias[d], tie[rated, d] = between(mean[rated, d], within[d] / n[rated, d], apart=bool(known))
    return Levels(n, centre, np.where(n > 0, mean - centre, 0.0), bias, within, tie)


def between(mean: np.ndarray, error: np.ndarray, *, apart: bool = True) -> tuple[float, float, np.ndarray]:
    """mu, C and ties of annotators whose means (K,) have error variances (K,); without `apart`, C is zero.

    Restricted maximum likelihood by scoring. Who lies far off says little about how far the others are apart.
    """
    if len(mean) < 2:
        return float(mean.sum()), 0.0, np.ones(len(mean))
    centre, spread = float(np.median(mean)), 0.0
    if apart:
        square = (mean - centre) ** 2
        spread = float(np.median(square)) or float(square.mean())  # of one among equals as well
    for _ in range(SCORING_STEPS):
        w = 1 / np.maximum(spread + error, NO_SPREAD**2)
        tie = (BIAS_FREEDOM + 1) / (BIAS_FREEDOM + w * (mean - centre) ** 2)
        centre = float((tie * w) @ mean / (tie @ w))
        if apart:
            seen = w**2 @ (tie * (mean - centre) ** 2 - error) / (w**2).sum() + 1 / w.sum()
            spread = max(float(seen), 0.0)
    return centre, spread if spread > NO_SPREAD**2 else 0.0, tie


def tails(freedom: float) -> float:
    """Variance of Student's t over its squared scale."""
    return freedom / (freedom - 2)


def units(moments: AnnotatorMoments, largest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Location (D,) and scale (D,) of answers: the average annotator's level, and their spread without biases.

    `largest` (D,) absolute answers; the moments are those of answers over them, so that squares of very large or very
    small ones neither overflow nor vanish. Answers without spread have their largest as scale, zeros 1.
    """
    levels, unit = annotator_levels(moments), np.where(largest > 0, largest, 1.0)
    n, _, squares = moments
    held = squares + n * ((1 - levels.believed) * levels.away) ** 2
    spread = (levels.factor**2 * held).sum(axis=0) / np.maximum(n.sum(axis=0), 1) - levels.left()
    spread = np.where(spread > NO_SPREAD**2, spread, levels.bias)  # everybody gives one answer, of his own
    scale = np.where(spread > NO_SPREAD**2, np.sqrt(np.maximum(spread, 0.0)), 1.0)
    return levels.centre * unit, np.where(largest > 0, scale * unit, 1.0)


def standardised(value: np.ndarray, of: np.ndarray, K: int) -> np.ndarray:
    """(J, D) ratings in these units; a constant dimension is zero."""
    loc, scale = units_of(value, of, K)
    return np.asarray((value - loc) / scale)


def units_of(value: np.ndarray, of: np.ndarray, K: int) -> tuple[np.ndarray, np.ndarray]:
    """The units of answers (J, D), NaN where missing, by annotators `of` (J,)."""
    largest = np.fmax.reduce(np.abs(value), axis=0, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    return units(annotator_moments(value / unit, of, K), largest)


class PairSums(NamedTuple):
    """Sums over items, (D, D) each: they add up."""

    products: np.ndarray  # of answers by different annotators to one item, both ways round, times their gains
    pairs: np.ndarray  # how many of these there are: sums of squares of both gains
    items: np.ndarray  # on how many items, with two answers on both dimensions
    same: np.ndarray  # products of the answers of one judgement
    n: np.ndarray  # how many judgements answer both

    def __add__(self, other: PairSums) -> PairSums:  # type: ignore[override]
        return PairSums(*(a + b for a, b in zip(self, other, strict=True)))


PairsAt = Callable[[Levels, np.ndarray | None], PairSums]  # levels, and gains (K, D) expected of annotators


class Components(NamedTuple):
    """Variances (D,), as they are estimated; not bounded in any way."""

    truth: np.ndarray  # NaN where no item has two answers
    bias: np.ndarray
    within: np.ndarray  # truth and error


def pair_sums(data: ItemData, levels: Levels, gain: np.ndarray | None = None) -> PairSums:
    """One pass over the ratings, whose annotators' levels are known, and what gains (K, D) are expected of them."""
    answered, of = data.answered[data.profile_of], data.annotator_of
    z = np.where(answered, (data.y - (levels.centre + levels.offset)[of]) * levels.factor[of], 0.0)
    seen, item_of = answered.astype(float), data.item_of
    n, same, both = segment_sum(seen, item_of, data.M), z.T @ z, seen.T @ seen
    shared = (n > 1).astype(float)
    if gain is None or (gain == 1).all():
        own, told, own_same, told_same = segment_sum(z, item_of, data.M), n, same, both
    else:
        weighted, square = z * gain[of], seen * gain[of] ** 2
        own, told = segment_sum(weighted, item_of, data.M), segment_sum(square, item_of, data.M)
        own_same, told_same = weighted.T @ weighted, square.T @ square
    return PairSums(own.T @ own - own_same, told.T @ told - told_same, shared.T @ shared, same, both)


def components(levels: Levels, sums: PairSums) -> Components:
    """Variances from the annotators' levels and the sums over items."""
    n, pairs = np.diagonal(sums.n), np.diagonal(sums.pairs)
    within = np.maximum(np.diagonal(sums.same) / np.maximum(n, 1) - levels.left(), 0.0)
    truth = np.where(pairs > 0, np.diagonal(sums.products) / np.maximum(pairs, 1), np.nan)
    return Components(truth, levels.bias, within)


LEAST_EIGENVALUE = 1e-3  # numerical: least of the eigenvalues of a correlation matrix put together entry by entry


def variance_targets(
    data: ItemData,
    gain: np.ndarray | None = None,
    pairs: PairsAt | None = None,
    *,
    truths: bool = True,
    biases: bool = True,
) -> Targets:
    """Variances of truth, error and bias; truths and biases are correlated as truths are, if at all.

    `gain` (K, D) is expected of annotators, `pairs` sums over items where the rows of the ratings lie elsewhere.
    """
    levels = annotator_levels(profile_moments(data))
    sums = pair_sums(data, levels, gain) if pairs is None else pairs(levels, gain)
    return targets_from(levels, sums, gain, truths=truths, biases=biases)


def targets_from(
    levels: Levels, sums: PairSums, gain: np.ndarray | None = None, *, truths: bool = True, biases: bool = True
) -> Targets:
    """The targets from the annotators' levels and the sums over items.                             eq. B11, B20"""
    found, bias, within = components(levels, sums)
    # Shares of what annotators' answers vary by, each around a level of its own: levels may lie anywhere.
    within = np.where(within > 0, within, np.where(bias > 0, bias, 1.0))
    least = LEAST_SHARE * within
    # Where no item has two ratings, half is truth as far as anybody knows.
    heard = _mean_square(levels, gain)
    truth = np.clip(np.where(np.isnan(found), 0.5 * within, found), least, np.maximum(within - least, least) / heard)
    error = np.maximum(within - heard * truth, least)
    P = positive_definite(truth_correlation(levels, sums, truth, error))
    none = np.eye(len(within))
    return Targets(
        latent=_covariance(truth, P if truths else none),
        noise=np.diag(error),
        bias=_covariance(np.maximum(_bias_share(levels, within), LEAST_SHARE) * within, P if biases else none),
        offset=levels.offset,
        tie=levels.tie.min(axis=1),
    )


def _mean_square(levels: Levels, gain: np.ndarray | None) -> np.ndarray | float:
    """(D,) the share of the truth's variance that answers have, by the gains (K, D) expected of annotators."""
    if gain is None:
        return 1.0
    answers = np.maximum(levels.n.sum(axis=0), 1)
    return np.asarray(np.maximum((levels.n * gain**2).sum(axis=0) / answers, SPAMMER_GAIN**2))


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


def bayes_settings(
    data: ItemData,
    structure: Structure,
    priors: Priors,
    floor: np.ndarray,
    *,
    correlated: bool = True,
    classes: np.ndarray | None = None,
    pairs: PairsAt | None = None,
    **changes: Any,
) -> BayesSettings:
    """Settings with targets from the ratings; only what the structure lets be correlated is, or nothing.

    `classes` (K, D, Z): what annotators are thought to be; `pairs`: as `variance_targets` has it.
    """
    alike = {
        "truths": correlated and structure.latent == "full",
        "biases": correlated and structure.couples_dimensions,
    }
    targets = variance_targets(data, None if classes is None else expected_gain(classes), pairs, **alike)
    # Where gains are estimated, known truths tell who is right.
    told = 1.0 if priors.estimated else told_apart(data)
    return BayesSettings(structure, priors, floor, targets, told_apart=told, classes=classes)._replace(**changes)


def bayes_start(data: ItemData, settings: BayesSettings) -> BayesState:
    """A deterministic start; there is nothing random about the default model."""
    D, priors, targets = data.D, settings.priors, settings.targets
    ridge = float(data.scores.l.mean()) if data.scores.R else 1.0
    hyper = Hyper(
        gain=1 / (priors.gain_variance * settings.told_apart),
        leak=1 / priors.leak_variance,
        hold=np.ones(data.K),
        bias=targets.bias,
        tie=np.ones(data.K) if targets.tie is None or not settings.structure.bias else targets.tie,
        ridge=ridge,
        theta_var=1 / (data.scores.l + ridge),
        r=np.ones(data.K),
        pool=targets.noise,
        unexplained=np.ones(D),
        classes=usual_classes(data.K, D) if settings.classes is None else settings.classes,
    )
    params = ItemParams(
        B=_starting_rows(data, settings),
        N=scaled_noise(hyper.r, targets.noise),
        theta=np.zeros((data.scores.R, D)),
        mu=np.zeros(D),
        Sigma=shape_latent(settings.structure.latent, targets.latent, settings.floor),
        cov=_row_covariances(data, hyper, settings),
    )
    start = BayesState(params, hyper, np.broadcast_to(np.nan, (data.M, D)))
    return start if settings.warp is None else start._replace(unbent=unbend(data, start.fitted(settings.warp)))


def _starting_rows(data: ItemData, settings: BayesSettings) -> np.ndarray:
    """(K, D, q) "answers the truth", but for levels: they may lie so far apart that no truth is told with them."""
    B = np.tile(identity_rows(data.D), (data.K, 1, 1))
    if settings.structure.bias and settings.targets.offset is not None:
        B[:, :, -1] = settings.targets.offset
    return B


def _row_covariances(data: ItemData, hyper: Hyper, settings: BayesSettings) -> np.ndarray:
    """(K, D, q, q) about as uncertain as that many answers would leave each coefficient."""
    D = data.D
    weight = data.answers() / np.diagonal(hyper.pool)
    variances = free_coefficients(settings.structure, D) / (hyper.precision(D) + weight[:, :, None])
    return np.asarray(variances[:, :, :, None] * np.eye(D + 1))
