"""Posteriors of a set of items under fitted parameters, each computed once and when first asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from unisono.fusers.items.estimate import Censored
from unisono.maths.items.data import ItemData
from unisono.maths.items.ends import censored_posterior, expected_answer
from unisono.maths.items.estep import Posterior, posterior
from unisono.maths.items.gauge import change_of_truth
from unisono.maths.items.params import ItemParams
from unisono.maths.items.predictive import LeftOut, left_out


class ItemPosteriors:
    """What calibration, fusion and description need of the same items."""

    def __init__(self, data: ItemData, params: ItemParams, censored: Censored | None) -> None:
        self.data = data
        self.params = params
        self.censored = censored

    @cached_property
    def posterior(self) -> Posterior:
        """Truths with ratings as they are."""
        return posterior(self.data, self.params)

    @cached_property
    def second_reading(self) -> np.ndarray | None:
        """(M, D) what a typical annotator would answer, with ratings at the ends of the scale as censored."""
        if self.censored is None:
            return None
        bounds = self.censored.bounds
        found = censored_posterior(self.data, bounds, self.censored.params)
        variance = np.diagonal(found.cov, axis1=1, axis2=2) + self.censored.spread
        return expected_answer(found.mean, variance, bounds)

    @cached_property
    def left_out(self) -> LeftOut:
        """Every judgement against the others."""
        return left_out(self.data, self.params)

    def mapped(self, scale: np.ndarray, offset: np.ndarray) -> ItemPosteriors:
        """The same items with truths `scale` (D,) times these plus `offset` (D,); what is known is taken along."""
        moved = ItemPosteriors(self.data, change_of_truth(self.params, np.diag(scale), offset), self.censored)
        known = vars(self)
        if "posterior" in known:
            cov = self.posterior.cov * scale[:, None] * scale
            vars(moved)["posterior"] = self.posterior._replace(mean=scale * self.posterior.mean + offset, cov=cov)
        if "second_reading" in known:
            vars(moved)["second_reading"] = self.second_reading
        if "left_out" in known:
            vars(moved)["left_out"] = self.left_out._replace(mean=scale * self.left_out.mean + offset)
        return moved
