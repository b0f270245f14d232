"""From moments of the ratings to where variational EM starts: levels, variance components, targets, starting state.

Variance components of truths, biases and errors by moments, over all dimensions at once:

    y_n = mu + a_m + b_k + e_n,    annotator k on item m                                                     eq. B11
    z_n = (y_n - c_k (mean_k - mu)) / sqrt(1 - c_k (2 - c_k) / n_k)

Two answers z to an item by different annotators share the truth and nothing else: products of z times the gain g that
is expected of its annotator, over those of g^2, are the truth's covariances, whoever answers how much (eq. B20).
Targets of the priors follow, shrunk where there are few ratings: biases towards those on other dimensions, correlations
of truths towards those of ratings, and these towards none. EM then starts from annotators who answer the truth, with
these variances; nothing is random.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unisono.maths.grouped_sums import segment_sum
from unisono.maths.items.annotator_levels import (
    TINY,
    AnnotatorMoments,
    ItemLevels,
    Levels,
    annotator_levels,
    item_levels,
    profile_moments,
)
from unisono.maths.items.annotator_rows import expected_gain, usual_classes
from unisono.maths.items.bayes_bound import SINGLE_OUT, BayesSettings, BayesState, Hyper, Targets, told_apart
from unisono.maths.items.item_data import ItemData
from unisono.maths.items.item_params import ItemParams, Structure, free_coefficients, identity_rows
from unisono.maths.items.item_priors import IMAGINARY_ANNOTATORS, LEAST_SHARE, SPAMMER_GAIN, Priors
from unisono.maths.items.item_variances import scaled_noise, shape_latent
from unisono.maths.rating_values import NO_SPREAD


class PairSums(NamedTuple):
    """Sums over items, (D, D) each: they add up."""

    products: np.ndarray  # of answers by different annotators to one item, both ways round, times their gains
    pairs: np.ndarray  # how many of these there are: sums of squares of both gains
    items: np.ndarray  # on how many items, with two answers on both dimensions
    same: np.ndarray  # products of the answers of one judgement
    n: np.ndarray  # how many judgements answer both
    above: ItemLevels  # how far annotators lie above the others on the same items

    def __add__(self, other: PairSums) -> PairSums:  # type: ignore[override]
        return PairSums(*(a + b for a, b in zip(self, other, strict=True)))  # type: ignore[operator]


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
    shared, above = (n > 1).astype(float), item_levels(data, answered, n, levels)
    if gain is None or (gain == 1).all():
        own, told, own_same, told_same = segment_sum(z, item_of, data.M), n, same, both
    else:
        weighted, square = z * gain[of], seen * gain[of] ** 2
        own, told = segment_sum(weighted, item_of, data.M), segment_sum(square, item_of, data.M)
        own_same, told_same = weighted.T @ weighted, square.T @ square
    return PairSums(own.T @ own - own_same, told.T @ told - told_same, shared.T @ shared, same, both, above)


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
    *,
    truths: bool = True,
    biases: bool = True,
) -> Targets:
    """Variances of truth, error and bias; truths and biases are correlated as truths are, if at all.

    `gain` (K, D) is expected of annotators.
    """
    levels = annotator_levels(profile_moments(data))
    sums = data.total(pair_sums, levels, gain)
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
    none, bias = np.eye(len(within)), sums.above.bias(error, levels)
    compared, items = sums.above.n.sum(axis=0).max(initial=0.0), np.diagonal(sums.items).max(initial=0.0)
    return Targets(
        latent=_covariance(truth, P if truths else none),
        noise=np.diag(error),
        bias=_covariance(np.maximum(_bias_share(bias / within, levels), LEAST_SHARE) * within, P if biases else none),
        offset=levels.offset,
        tie=levels.tie.min(axis=1),
        compared=float(compared),
        free=1 - float(items / compared) if compared > 0 else 1.0,
    )


def _mean_square(levels: Levels, gain: np.ndarray | None) -> np.ndarray | float:
    """(D,) the share of the truth's variance that answers have, by the gains (K, D) expected of annotators."""
    if gain is None:
        return 1.0
    answers = np.maximum(levels.n.sum(axis=0), 1)
    return np.asarray(np.maximum((levels.n * gain**2).sum(axis=0) / answers, SPAMMER_GAIN**2))


def _bias_share(share: np.ndarray, levels: Levels) -> np.ndarray:
    """(D,) variance of biases over that within annotators, drawn to its mean over dimensions by a few annotators."""
    K = (levels.n > 1).sum(axis=0)
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
    **changes: Any,
) -> BayesSettings:
    """Settings with targets from the ratings; only what the structure lets be correlated is, or nothing.

    `classes` (K, D, Z): what annotators are thought to be.
    """
    alike = {
        "truths": correlated and structure.latent == "full",
        "biases": correlated and structure.couples_dimensions,
    }
    # Where gains are estimated, known truths tell who is right.
    told, scales = (1.0, None) if priors.estimated else (told_apart(data), None)
    gain = None if classes is None else expected_gain(classes)
    if told <= SINGLE_OUT and structure.transform != "identity" and structure.noise == "shared":
        scales = scales_of_two(profile_moments(data), priors.noise_numbers)
        gain = np.sqrt(scales)[:, None] * np.ones(data.D)
    targets = variance_targets(data, gain, **alike)
    settings = BayesSettings(structure, priors, floor, targets, told_apart=told, scales=scales, classes=classes)
    return settings._replace(**changes)


def scales_of_two(moments: AnnotatorMoments, numbers: float) -> np.ndarray:
    """(K,) variances of everybody's answers, their geometric mean 1, drawn to one by so many imaginary answers.

    Where one of two has answers that spread more, nothing says whether by a larger unit or by larger errors. Both are
    taken to go with the spread, so that they are equally reliable, each in units of their own.                 eq. B37
    """
    free, squares = np.maximum(moments.n - 1, 0), moments.squares
    of_all = squares.sum(axis=0) / np.maximum(free.sum(axis=0), 1)
    share = squares / np.maximum(free, 1) / np.where(of_all > NO_SPREAD**2, of_all, 1.0)
    scale = (free / (free + numbers) * np.log(np.maximum(share, LEAST_SHARE))).mean(axis=1)
    rated = moments.n.sum(axis=1) > 0
    return np.where(rated, np.exp(scale - scale[rated].mean()), 1.0)


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
        r=np.ones(data.K) if settings.scales is None else settings.scales,
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
    return BayesState(params, hyper, np.broadcast_to(np.nan, (data.M, D)))


def _starting_rows(data: ItemData, settings: BayesSettings) -> np.ndarray:
    """(K, D, q) "answers the truth", but for levels: they may lie so far apart that no truth is told with them."""
    B = np.tile(identity_rows(data.D), (data.K, 1, 1))
    if settings.scales is not None:
        B[:, :, : data.D] *= np.sqrt(settings.scales)[:, None, None]
    if settings.structure.bias and settings.targets.offset is not None:
        B[:, :, -1] = settings.targets.offset
    return B


def _row_covariances(data: ItemData, hyper: Hyper, settings: BayesSettings) -> np.ndarray:
    """(K, D, q, q) about as uncertain as that many answers would leave each coefficient."""
    D = data.D
    weight = data.answers() / np.diagonal(hyper.pool)
    variances = free_coefficients(settings.structure, D) / (hyper.precision(D) + weight[:, :, None])
    return np.asarray(variances[:, :, :, None] * np.eye(D + 1))
