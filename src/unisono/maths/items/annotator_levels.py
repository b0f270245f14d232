"""Levels of annotators, and how far they lie apart: what of the distance between annotators' answers is bias.

    mean_kd = mu_d + b_kd + error,    b_kd ~ t_nu(0, C_d),    error ~ N(0, A_d / n_kd)                           eq. B29

A is the variance of answers within annotators: truths and errors. The best prediction of a bias is the share

    c_k = C / (C + tie_k A / n_k)        tie_k = (nu + 1) / (nu + (mean_k - mu)^2 / (C + A / n_k))

of the distance from the average annotator. A, C and mu need no more than the moments of annotators' answers, which add
up over parts. Where annotators answer other items than others do, their means differ without any bias; how far they
lie above the others on the same items does not.                                                                eq. B38

    K annotators, D dimensions, J judgements, M items
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.grouped_sums import segment_sum
from unisono.maths.items import item_data, item_priors
from unisono.maths.rating_values import NO_SPREAD

SCORING_STEPS = 30  # numerical: towards the variance of biases, at most ...
SCORED = 1e-13  # numerical: ... while it moves by more than this share
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


def profile_moments(data: item_data.ItemData) -> AnnotatorMoments:
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
        tie = (item_priors.BIAS_FREEDOM + 1) / (item_priors.BIAS_FREEDOM + w * (mean - centre) ** 2)
        before, centre, moved = centre, float((tie * w) @ mean / (tie @ w)), 0.0
        if apart:
            seen = w**2 @ (tie * (mean - centre) ** 2 - error) / (w**2).sum() + 1 / w.sum()
            moved, spread = abs(max(float(seen), 0.0) - spread), max(float(seen), 0.0)
        if moved <= SCORED * spread and (centre - before) ** 2 * w.max() <= SCORED**2:
            break
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


class ItemLevels(NamedTuple):
    """Annotators beside the others who answer the same items; (K, D) each, they add up.

    Who rates other items than others do has another mean without any bias; these differences have none of that.
    """

    n: np.ndarray  # answers to items with others'
    away: np.ndarray  # sums of their distances from the mean answer of the others
    spread: np.ndarray  # sums of the variances of these, in units of that of errors

    def __add__(self, other: ItemLevels) -> ItemLevels:  # type: ignore[override]
        return ItemLevels(*(a + b for a, b in zip(self, other, strict=True)))

    def bias(self, error: np.ndarray, levels: Levels) -> np.ndarray:
        """(D,) C, from whichever is known better: these distances, or the means of everybody's answers.   eq. B38"""
        found = levels.bias.copy()
        for d in range(len(found)):
            at = self.n[:, d] > 0
            K = int(at.sum())
            if K < 2:
                continue
            n = self.n[at, d]
            spread = error[d] * self.spread[at, d] / n**2
            # The others on an item are some of K - 1, whose mean bias has that share of the variance.
            C = between(self.away[at, d] / n, spread)[1] * (K - 1) / K
            seen = levels.n[:, d] > 0
            apart = levels.within[d] / levels.n[seen, d]
            if _told(C + spread) > _told(C + apart):
                found[d] = C
        return found


def _told(variance: np.ndarray) -> float:
    """What distances with these variances tell of their own variance."""
    return float((1 / np.maximum(variance, NO_SPREAD**2) ** 2).sum())


def item_levels(data: item_data.ItemData, answered: np.ndarray, n: np.ndarray, levels: Levels) -> ItemLevels:
    """Of answers `answered` (J, D), of which items have n (M, D).                                          eq. B38"""
    item_of, of, rows = data.item_of, data.annotator_of, np.diff(data.item_ptr)
    found = np.empty((3, data.K, data.D))
    for d in range(data.D):
        y = np.where(answered[:, d], data.y[:, d] - levels.centre[d], 0.0)
        own = n[:, d]
        mean = np.bincount(item_of, y, minlength=data.M) / np.maximum(own, 1)
        ratio = np.repeat(np.where(own > 1, own / np.maximum(own - 1, 1), 0.0), rows) * answered[:, d]
        for part, weight in enumerate((ratio > 0, ratio * (y - np.repeat(mean, rows)), ratio)):
            found[part, :, d] = np.bincount(of, weight, minlength=data.K)
    return ItemLevels(*found)
