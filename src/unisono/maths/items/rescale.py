"""Variance matching of posterior means: shrinkage is undone, so that estimates have the spread of a panel's mean.

The best guess for each item, a posterior mean has too little variance over items, and measures of agreement that look
at the scale punish that. The matched estimate is stretched to the variance that the mean answer of a panel of
annotators would have; with an infinite panel, that of the truth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items.data import ItemData
from unisono.maths.items.estep import Posterior
from unisono.maths.items.latent import truth_covariance
from unisono.maths.items.params import ItemParams
from unisono.maths.items.priors import IMAGINARY_ITEMS, SPAMMER_GAIN

NO_SPREAD = 1e-9  # numerical: variances below it are none


class Rescaling(NamedTuple):
    """From expected answers to the matched estimate; all (D,), standardised units."""

    middle: np.ndarray  # where stretching starts from
    stretch: np.ndarray
    center: np.ndarray  # where that point comes to lie

    def apply(self, answer: np.ndarray) -> np.ndarray:
        """(M, D) the matched estimate of items with these expected answers.                             eq. B15"""
        return np.asarray(self.center + self.stretch * (answer - self.middle))

    def mapped(self, scale: np.ndarray, offset: np.ndarray) -> Rescaling:
        """The rescaling of truths and answers that are `scale` times these plus `offset`."""
        return self._replace(middle=scale * self.middle + offset, center=scale * self.center + offset)


def panel_rescaling(
    data: ItemData,
    params: ItemParams,
    found: Posterior,
    answer: np.ndarray,
    panel: float,
    *,
    continued: bool = False,
) -> Rescaling:
    """Learns the rescaling from the fitted items; the last annotator of `params` is the newcomer.

    `continued`: the parameters come from earlier batches too, so that what they expect says more than these items do. A
    batch whose truths happen to spread more or less than usual must not be brought to the usual spread.
    """
    moments, means = truth_moments(found, answer), item_means(data)
    return panel_rescaling_from(data, params, moments, means, panel, continued=continued)


def panel_rescaling_from(
    data: ItemData,
    params: ItemParams,
    moments: TruthMoments,
    means: ItemMeans,
    panel: float,
    *,
    continued: bool = False,
) -> Rescaling:
    """The same from sums over items; of the ratings the sums of their profiles are enough."""
    truth = np.diagonal(truth_covariance(data, params)) * _crowd_scale(data, params, panel)
    noise = np.diagonal(params.N[-1]) / panel
    # The level is that of the crowd; in a later batch its biases are known, and the answers expected say more.
    center = moments.middle if continued else means.average()
    return _rescaling(data, params, moments, truth, center, noise, continued=continued)


def _crowd_scale(data: ItemData, params: ItemParams, panel: float) -> np.ndarray:
    """(D,) between the scale of the competent, which is the truth's, and that of a crowd with spammers in it.

    Where an item has many more ratings than the panel would give it, its plain mean is known to everybody, and a scale
    that differs from the crowd's would only surprise; where it has fewer, nothing is known but the model's truth. Who
    uses a scale the other way round still uses it.
    """
    gain = np.abs(np.diagonal(params.F[: data.K], axis1=1, axis2=2))
    average = np.clip(data.shares() @ gain, SPAMMER_GAIN, 1.0)
    crowd = 1 / (1 + (panel / data.per_item) ** 2)
    return np.asarray(average ** (2 * crowd))


def truth_rescaling(data: ItemData, params: ItemParams, found: Posterior) -> Rescaling:
    """Where known truths or a convention fix the scale, only the variance of the truth makes sense."""
    target = np.diagonal(truth_covariance(data, params))
    moments = truth_moments(found, found.mean)
    return _rescaling(data, params, moments, target, moments.middle)


class TruthMoments(NamedTuple):
    """Of posteriors and expected answers over items; all (D,)."""

    middle: np.ndarray  # mean answer
    answer_sd: np.ndarray  # of the answers
    truth_sd: np.ndarray  # of the posterior means
    variance: np.ndarray  # mean posterior variance


def truth_moments(found: Posterior, answer: np.ndarray) -> TruthMoments:
    """Of these items with these expected answers (M, D)."""
    variance = np.diagonal(found.cov, axis1=1, axis2=2).mean(axis=0)
    return TruthMoments(answer.mean(axis=0), answer.std(axis=0), found.mean.std(axis=0), variance)


class ItemMeans(NamedTuple):
    """Sums over items that were rated on a dimension, (D,) each; they add up over items."""

    total: np.ndarray  # of their mean ratings
    rated: np.ndarray  # how many there are

    def average(self) -> np.ndarray:
        """(D,) the average over items of their mean rating; 0 where nobody rated any."""
        return np.asarray(self.total / np.maximum(self.rated, 1))


def _rescaling(
    data: ItemData,
    params: ItemParams,
    moments: TruthMoments,
    target: np.ndarray,
    center: np.ndarray,
    noise: np.ndarray | float = 0.0,
    *,
    continued: bool = False,
) -> Rescaling:
    """Answers with the variance `target` (D,), as much of it as a scale that ends leaves, and that of `noise` (D,)."""
    middle, answer_sd, spread, variance = moments
    # A scale that ends holds less of the variance than the truth has.
    held = np.where(spread > NO_SPREAD, answer_sd / np.maximum(spread, NO_SPREAD), 1.0) ** 2
    expected = np.maximum(np.diagonal(truth_covariance(data, params)) - variance, 0.0) * held
    seen = (data.M * answer_sd**2 + IMAGINARY_ITEMS * expected) / (data.M + IMAGINARY_ITEMS)
    own = expected if continued else seen
    stretch = np.where(own > NO_SPREAD, np.sqrt((target * held + noise) / np.maximum(own, NO_SPREAD)), 1.0)
    return Rescaling(middle, stretch, center)


def item_means(data: ItemData) -> ItemMeans:
    """Sums of the mean ratings of items."""
    item_of = data.item_of
    answered = data.answered[data.profile_of]
    totals, rated_items = np.zeros(data.D), np.zeros(data.D)
    for d in range(data.D):
        count = np.bincount(item_of, weights=answered[:, d], minlength=data.M)
        total = np.bincount(item_of, weights=data.y[:, d], minlength=data.M)
        rated = count > 0
        totals[d], rated_items[d] = (total[rated] / count[rated]).sum(), rated.sum()
    return ItemMeans(totals, rated_items)
