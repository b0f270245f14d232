"""Posteriors of a set of items under fitted parameters, each computed once and when first asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from unisono.maths.items.data import ItemData
from unisono.maths.items.ends import Typical
from unisono.maths.items.estep import Posterior, annotator_uncertainty, completed_posterior, expectation
from unisono.maths.items.gauge import change_of_truth
from unisono.maths.items.noise import own_noise
from unisono.maths.items.params import ItemParams
from unisono.maths.items.predictive import LeftOut, left_out
from unisono.maths.items.priors import Priors
from unisono.maths.items.readings import FittedReading, read_posterior


class ItemPosteriors:
    """What calibration, fusion and description need of the same items."""

    def __init__(
        self, data: ItemData, params: ItemParams, ends: Typical | None, reading: FittedReading | None = None
    ) -> None:
        self.data = data
        self.params = params
        self.ends = ends
        self.reading = reading

    @cached_property
    def _completed(self) -> tuple[Posterior, ItemData]:
        if self.reading is not None:
            return read_posterior(self.data, self.reading, self.params)
        return completed_posterior(self.data, self.params)

    @cached_property
    def posterior(self) -> Posterior:
        """Truths, with what ratings at the ends of the scale leave open."""
        return self._completed[0]

    @cached_property
    def uncertainty(self) -> np.ndarray:
        """(M, D, D) what not knowing the annotators exactly adds to the covariance of the truth."""
        return annotator_uncertainty(self.data, self.params, self.posterior)

    @cached_property
    def answer(self) -> np.ndarray:
        """(M, D) what a typical annotator would answer, on the scale with its ends."""
        found = self.posterior
        if self.ends is None:
            return found.mean
        return self.ends.answer(found.mean, np.diagonal(found.cov, axis1=1, axis2=2))

    @cached_property
    def left_out(self) -> LeftOut:
        """Every judgement against the others."""
        ends = None if self.ends is None else self.ends.ends
        read, answers = self._completed[1], self.data.y
        if self.reading is not None and self.reading.reading.exact:
            answers = read.y
        return left_out(read, self.params, answers, ends)

    @cached_property
    def noise(self) -> np.ndarray:
        """(K, D) error variances of annotators, to describe them; under `ml` those of the model."""
        if self.params.cov is None:
            return np.diagonal(self.params.N, axis1=1, axis2=2)[: self.data.K]
        read = self._completed[1]
        return own_noise(read, expectation(read, self.params)[1], self.params, Priors().noise_numbers)

    def densities(self) -> np.ndarray:
        """(D,) answers whose log density is part of the posterior's; those at an end have a probability."""
        data = self.data
        seen = data.answered[data.profile_of]
        total = seen.sum(axis=0)
        if data.cuts is not None:
            at_low, at_high = data.cuts.at_end(data.y)
            total = total - data.cuts.weight * (seen & (at_low | at_high)).sum(axis=0)
        return np.asarray(total)

    def mapped(self, scale: np.ndarray, offset: np.ndarray) -> ItemPosteriors:
        """The same items with truths `scale` (D,) times these plus `offset` (D,); what is known is taken along."""
        params = change_of_truth(self.params, np.diag(scale), offset)
        ends = None if self.ends is None else self.ends.mapped(scale, offset)
        moved = ItemPosteriors(self.data, params, ends, self.reading)
        known = vars(self)
        if "_completed" in known:
            own, answers = self._completed  # answers, and what they leave open, do not move
            cov = own.cov * scale[:, None] * scale
            vars(moved)["_completed"] = own._replace(mean=scale * own.mean + offset, cov=cov), answers
        if "uncertainty" in known:
            vars(moved)["uncertainty"] = self.uncertainty * scale[:, None] * scale
        if "noise" in known:
            vars(moved)["noise"] = self.noise
        if "answer" in known:
            vars(moved)["answer"] = scale * self.answer + offset
        if "left_out" in known:
            vars(moved)["left_out"] = self.left_out._replace(mean=scale * self.left_out.mean + offset)
        return moved
