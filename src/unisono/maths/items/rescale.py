"""Variance matching of posterior means: shrinkage is undone, so that estimates have the spread of a panel's mean.

The best guess for each item, a posterior mean has too little variance over items, and measures of agreement that look
at the scale punish that. The matched estimate is stretched to the variance that the mean answer of a panel of
annotators would have; with an infinite panel, that of the truth. It also averages two readings of ratings at the end of
the scale: as they are, and as "at least this much" (`censored`).
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
    truth = np.diagonal(truth_covariance(data, params)) * _crowd_scale(data, params, panel)
    target = truth + np.diagonal(params.N[-1]) / panel
    # The level is that of the crowd; in a later batch its biases are known, and the answers expected say more.
    center = answer.mean(axis=0) if continued else _mean_of_item_means(data)
    return _rescaling(data, params, found, answer, target, center, continued=continued)


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
    return _rescaling(data, params, found, found.mean, target, found.mean.mean(axis=0))


def _rescaling(
    data: ItemData,
    params: ItemParams,
    found: Posterior,
    answer: np.ndarray,
    target: np.ndarray,
    center: np.ndarray,
    *,
    continued: bool = False,
) -> Rescaling:
    middle, spread = answer.mean(axis=0), found.mean.std(axis=0)
    # A scale that ends holds less of the variance than the truth has.
    held = np.where(spread > NO_SPREAD, answer.std(axis=0) / np.maximum(spread, NO_SPREAD), 1.0) ** 2
    expected = np.maximum(np.diagonal(truth_covariance(data, params) - found.cov.mean(axis=0)), 0.0) * held
    seen = (np.sum((answer - middle) ** 2, axis=0) + IMAGINARY_ITEMS * expected) / (data.M + IMAGINARY_ITEMS)
    own = expected if continued else seen
    stretch = np.where(own > NO_SPREAD, np.sqrt(target * held / np.maximum(own, NO_SPREAD)), 1.0)
    return Rescaling(middle, stretch, center)


def _mean_of_item_means(data: ItemData) -> np.ndarray:
    """(D,) the average over items of their mean rating."""
    item_of = data.item_of
    answered = data.answered[data.profile_of]
    means = np.zeros(data.D)
    for d in range(data.D):
        count = np.bincount(item_of, weights=answered[:, d], minlength=data.M)
        total = np.bincount(item_of, weights=data.y[:, d], minlength=data.M)
        rated = count > 0
        means[d] = (total[rated] / count[rated]).mean() if rated.any() else 0.0
    return means
