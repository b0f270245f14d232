"""Posteriors of items under fitted parameters: computed once, calibrated, and compared with every annotator's answers.

Calibration puts the estimate on its scale and makes errors as large as left-out answers show them. The description of
annotators (bias, gain, leakage, noise, reliability, agreement) is in the units they rated in.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from unisono.fusers import crowd, standardisation
from unisono.fusers.fusion_results import INTERVAL, Annotators, FigureEnds, SharedError
from unisono.maths import grouped_sums, structure_words
from unisono.maths.items.annotator_intervals import Ends, Known, annotator_ends, left_out_variances
from unisono.maths.items.censored_answers import Typical, expected_answer
from unisono.maths.items.item_data import Bounds, ItemData
from unisono.maths.items.item_estep import Posterior, annotator_uncertainty, completed_posterior, expectation
from unisono.maths.items.item_estimates import (
    LeftOut,
    Predictive,
    Rescaling,
    half_width,
    left_out,
    mixture_half_width,
    panel_rescaling,
    predicted_ratings,
    residual_freedom,
    squeezed,
    truth_rescaling,
)
from unisono.maths.items.item_params import ItemParams, change_of_truth
from unisono.maths.items.item_priors import Priors
from unisono.maths.items.item_variances import own_noise, truth_covariance
from unisono.maths.items.judgement_weights import Weights, cautious, settled, unclear
from unisono.maths.raters import rater_diagnosis, rater_signal
from unisono.tables.ratings import Ratings


class ItemPosteriors:
    """What calibration, fusion and description need of the same items."""

    def __init__(self, data: ItemData, params: ItemParams, ends: Typical | None) -> None:
        self.data = data
        self.params = params
        self.ends = ends

    @cached_property
    def weights(self) -> Weights | None:
        """Precisions of judgements and items; None where errors are normal."""
        return settled(self.data, self.params)

    @property
    def unclear(self) -> np.ndarray | None:
        """(M,) probability that answers about an item lie further from its truth than usual; None: all are alike."""
        if self.weights is None or np.isinf(self.weights.tails[1]):
            return None
        return unclear(self.data, self.weights)

    @cached_property
    def _completed(self) -> tuple[Posterior, ItemData]:
        data = self.data
        if self.weights is not None:
            data = cautious(data, self.params, self.weights).of(data)
        return completed_posterior(data, self.params)

    @property
    def read(self) -> ItemData:
        """The ratings as they are read: weighed, and with what is expected of numbers behind those at the ends."""
        return self._completed[1]

    @cached_property
    def posterior(self) -> Posterior:
        """Truths, with what ratings at the ends of the scale leave open."""
        return self._completed[0]

    @cached_property
    def uncertainty(self) -> np.ndarray:
        """(M, D, D) what not knowing the annotators exactly adds to the covariance of the truth."""
        return annotator_uncertainty(self._completed[1], self.params, self.posterior)

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
        return left_out(self._completed[1], self.params, self.data.y, ends)

    @cached_property
    def noise(self) -> np.ndarray:
        """(K, D) error variances of annotators, to describe them; under `ml` those of the model."""
        if self.params.cov is None:
            return np.diagonal(self.params.N, axis1=1, axis2=2)[: self.data.K]
        read = self._completed[1]
        return own_noise(read, expectation(read, self.params)[1], self.params, Priors().noise_numbers)

    @cached_property
    def left_out_variance(self) -> np.ndarray:
        """(K, D) mean variance of the truths of everybody's items as the others alone give them."""
        variance = np.diagonal(self.posterior.cov, axis1=1, axis2=2)
        return np.asarray(
            left_out_variances(self._completed[1], self.params, variance) / np.maximum(self.data.answers(), 1)
        )

    def log_density(self) -> float:
        """Of all ratings, or a bound of it where judgements are weighed."""
        return float(self.posterior.loglik.sum()) + (0.0 if self.weights is None else self.weights.log_density)

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
        moved = ItemPosteriors(self.data, params, ends)
        known = vars(self)
        if "weights" in known:
            moved.weights = self.weights
        if "_completed" in known:
            own, answers = self._completed  # answers, and what they leave open, do not move
            cov = own.cov * scale[:, None] * scale
            moved._completed = own._replace(mean=scale * own.mean + offset, cov=cov), answers
        if "uncertainty" in known:
            moved.uncertainty = self.uncertainty * scale[:, None] * scale
        if "noise" in known:
            moved.noise = self.noise
        if "answer" in known:
            moved.answer = scale * self.answer + offset
        if "left_out" in known:
            moved.left_out = self.left_out._replace(mean=scale * self.left_out.mean + offset)
        return moved


class Calibration(NamedTuple):
    """What fitted items and answers say about scale and honesty of the posterior."""

    ratio: float = 1.0  # squared errors of left-out answers over the variance claimed for them, at least 1
    freedom: float = np.inf  # degrees of freedom behind the variances
    rescaling: Rescaling | None = None  # None: the posterior mean is the estimate
    least_variance: np.ndarray | float = 0.0  # (D,) of an error if annotators share nothing: as wide as the scale
    shared: np.ndarray | float = 1.0  # (D,) probability that they share anything
    level: SharedError | None = None  # error of the level, which all items share


def calibrate(
    items: ItemPosteriors,
    signal: rater_signal.SharedSignal,
    *,
    scale: structure_words.EstimateScale,
    panel: float,
    by_panel: bool,
    continued: bool = False,
) -> Calibration:
    """Learns the calibration from the fitted ratings. Without `by_panel` the truth's own variance sets the scale."""
    data, params = items.data, items.params
    freedom = residual_freedom(data)
    honest = Calibration(
        max(items.left_out.ratio, 1.0),  # left-out errors widen intervals and never narrow them
        freedom,
        least_variance=variance_without_signal(_spans(data), freedom),
        shared=signal.probability,
    )
    if scale == "posterior":
        return honest
    found = items.posterior
    if not by_panel:
        return honest._replace(rescaling=truth_rescaling(data, params, found))
    return honest._replace(rescaling=panel_rescaling(data, params, found, items.answer, panel, continued=continued))


def _spans(data: ItemData) -> np.ndarray:
    """(D,) from the lowest to the highest answer; 0 where there is none."""
    value = data.y if data.answered.all() else data.value
    return np.array([np.ptp(seen) if len(seen := column[~np.isnan(column)]) else 0.0 for column in value.T])


def variance_without_signal(span: np.ndarray, freedom: float) -> np.ndarray:
    """(D,) the error variance whose interval spans the scale: all that is known where annotators share nothing.

    A model that finds no signal concludes that all truths are equal, and is sure of it. All it knows is that it does
    not know.
    """
    # Twice the scale: wherever the estimate lies, the interval then holds all of it.
    return np.asarray((span / half_width(INTERVAL, freedom)) ** 2)


def doubted_variance(variance: np.ndarray, calibration: Calibration) -> np.ndarray:
    """(M, D) variances of errors, for posterior ones, that allow for annotators who may share nothing.

    An error comes from the posterior with the probability that they share anything, and is as wide as the scale
    otherwise. Of the mixture the interval counts, whose half-width x has

        shared P(|t| < x / sd) + (1 - shared) P(|t| < x / least sd) = INTERVAL                          eq. Q14
    """
    shape = variance.shape
    least = np.maximum(np.broadcast_to(calibration.least_variance, shape), variance)
    shared = np.broadcast_to(calibration.shared, shape)
    found, open_ = variance.copy(), (shared < 1) & (least > variance)
    if open_.any():
        p, narrow, wide = shared[open_], np.sqrt(variance[open_]), np.sqrt(least[open_])
        found[open_] = (mixture_half_width(INTERVAL, calibration.freedom, p, narrow, wide)) ** 2
        found[open_] /= half_width(INTERVAL, calibration.freedom) ** 2
    return found


def honest_posterior(items: ItemPosteriors, calibration: Calibration) -> Posterior:
    """Posteriors whose covariances allow for annotators not known exactly and for what the model misses."""
    found = items.posterior
    return found._replace(cov=calibration.ratio * (found.cov + items.uncertainty))


def predicted_answers(
    items: ItemPosteriors,
    calibration: Calibration,
    item_of: np.ndarray,
    annotator_of: np.ndarray,
    truths: tuple[np.ndarray, np.ndarray] | None = None,
) -> Predictive:
    """Answers of annotators to items; where the scale ends, as many of them lie at an end as numbers beyond it.

    Variances are those of the numbers in mind: an end hides how far off an answer is. `truths` are means (M, D) and
    covariances (M, D, D) that more than the ratings have told.
    """
    params = items.params
    mean, cov = honest_posterior(items, calibration)[:2] if truths is None else truths
    if params.cov is not None:
        # The posterior's covariance is corrected already; the annotators' part of the variance is corrected here.
        params = params._replace(N=calibration.ratio * params.N, cov=calibration.ratio * params.cov)
    predicted = predicted_ratings(params, mean, cov, item_of, annotator_of)
    if items.ends is not None:
        predicted = predicted._replace(mean=expected_answer(predicted.mean, predicted.variance, items.ends.ends))
    return predicted._replace(freedom=calibration.freedom)


def estimated_truth(
    items: ItemPosteriors, calibration: Calibration, ends: Bounds, known: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The estimate (M, D) and the covariance (M, D, D) of its error, posterior variance and stretching together.

    Stretching ends inside the `ends` of the scale. Where the truth is `known` (M, D), it is the estimate, for sure.
    """
    found = items.posterior
    estimate, cov = items.answer, honest_posterior(items, calibration).cov
    if items.ends is not None:
        cov = items.ends.narrowed(cov, found.mean, np.diagonal(found.cov, axis1=1, axis2=2))
    if calibration.rescaling is not None:
        estimate = squeezed(calibration.rescaling.apply(items.answer), ends)
        away = estimate - items.answer
        cov = cov + away[:, :, None] * away[:, None, :]
    variance = np.diagonal(cov, axis1=1, axis2=2)
    added = doubted_variance(variance, calibration) - variance
    if added.any():
        cov = cov + added[:, :, None] * np.eye(items.data.D)
    if known is None:
        return estimate, cov
    open_ = np.isnan(known)
    return np.where(open_, estimate, known), cov * (open_[:, :, None] & open_[:, None, :])


def annotator_table(ratings: Ratings, items: ItemPosteriors, scaling: standardisation.Scaling) -> Annotators:
    """Bias, gain, leakage, noise, reliability and agreement from fitted parameters, with intervals."""
    data, params, answers = items.data, items.params, scaling.standardise(ratings.value)
    return described(
        ratings.annotators,
        ratings.dimensions,
        np.bincount(ratings.annotator_of, minlength=ratings.K),
        data=data,
        params=params,
        scaling=scaling,
        center=params.mean_truth(data.scores),
        noise=items.noise,
        agreement=grouped_sums.grouped_correlation(answers, items.left_out.mean, ratings.annotator_of, ratings.K),
        diagnosis=crowd.crowd_diagnosis(ratings),
        left_out=None if params.cov is None else items.left_out_variance,
    )


def described(
    annotators: tuple[str, ...],
    dimensions: tuple[str, ...],
    given: np.ndarray,
    *,
    data: ItemData,
    params: ItemParams,
    scaling: standardisation.Scaling,
    center: np.ndarray,
    noise: np.ndarray,
    agreement: np.ndarray,
    diagnosis: rater_diagnosis.Diagnosis,
    left_out: np.ndarray | None,
) -> Annotators:
    """The table of annotators with `given` (K,) judgements each.

    `center` (D,) is the average truth, `noise` (K, D) are variances, and `left_out` (K, D) those of truths that others
    leave; without these nothing has an interval. Of the ratings the sums of their profiles are enough.
    """
    K, D = len(annotators), data.D
    F, b = params.F[:K], params.b[:K]
    covariance = truth_covariance(data, params)
    signal = np.einsum("kdi,ij,kdj->kd", F, covariance, F)
    leakage = scaling.restore_matrix(F) * (1 - np.eye(D))
    bias, reliability = b + (F - np.eye(D)) @ center, signal / (signal + noise)
    ends = None
    if left_out is not None:
        known = Known(bias, noise, reliability, data.answers(), left_out, center, np.diagonal(covariance), data.M)
        ends = _restored(annotator_ends(params, known, INTERVAL), scaling)
    return Annotators(
        annotators=annotators,
        dimensions=dimensions,
        ratings=given,
        bias=bias * scaling.scale,
        gain=np.diagonal(F, axis1=1, axis2=2).copy(),
        leakage=leakage,
        noise=np.sqrt(noise) * scaling.scale,
        reliability=reliability,
        agreement=agreement,
        diagnosis=diagnosis,
        ends=ends,
    )


def _restored(ends: Ends, scaling: standardisation.Scaling) -> FigureEnds:
    """In the units of the ratings."""
    unit = {"bias": scaling.scale, "noise": scaling.scale}
    return {
        name: (low * unit.get(name, 1.0), high * unit.get(name, 1.0)) for name, (low, high) in ends._asdict().items()
    }
