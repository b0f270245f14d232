"""Calibration of posteriors: the estimate on its scale, and errors as large as left-out answers show them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.fusers.items.posteriors import ItemPosteriors
from unisono.fusers.results import INTERVAL
from unisono.maths.items.data import Bounds, ItemData
from unisono.maths.items.ends import expected_answer
from unisono.maths.items.estep import Posterior
from unisono.maths.items.predictive import (
    Predictive,
    half_width,
    mixture_half_width,
    predicted_ratings,
    residual_freedom,
)
from unisono.maths.items.rescale import Rescaling, panel_rescaling, truth_rescaling
from unisono.maths.raters.signal import SharedSignal
from unisono.words import EstimateScale


class Calibration(NamedTuple):
    """What fitted items and answers say about scale and honesty of the posterior."""

    ratio: float = 1.0  # squared errors of left-out answers over the variance claimed for them, at least 1
    freedom: float = np.inf  # degrees of freedom behind the variances
    rescaling: Rescaling | None = None  # None: the posterior mean is the estimate
    least_variance: np.ndarray | float = 0.0  # (D,) of an error if annotators share nothing: as wide as the scale
    shared: np.ndarray | float = 1.0  # (D,) probability that they share anything

    def arrays(self) -> dict[str, np.ndarray]:
        table = {
            "interval_ratio": np.array(self.ratio),
            "interval_freedom": np.array(self.freedom),
            "interval_least_variance": np.asarray(self.least_variance),
            "interval_shared": np.asarray(self.shared),
        }
        if self.rescaling is not None:
            table |= {f"matched_{name}": value for name, value in self.rescaling._asdict().items()}
        return table


def restore_calibration(arrays: dict[str, np.ndarray]) -> Calibration:
    """The calibration of a saved fit; none in fits of older versions."""
    if "interval_ratio" not in arrays:
        return Calibration()
    rescaling = None
    if "matched_stretch" in arrays:
        rescaling = Rescaling(*(arrays[f"matched_{name}"] for name in Rescaling._fields))
    honesty = float(arrays["interval_ratio"]), float(arrays["interval_freedom"])
    least = arrays["interval_least_variance"]
    # Fits of older versions had such a variance where they were sure that nothing is shared.
    return Calibration(*honesty, rescaling, least, arrays.get("interval_shared", np.where(least > 0, 0.0, 1.0)))


def calibrate(
    items: ItemPosteriors,
    signal: SharedSignal,
    *,
    scale: EstimateScale,
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
    items: ItemPosteriors, calibration: Calibration, item_of: np.ndarray, annotator_of: np.ndarray
) -> Predictive:
    """Answers of annotators to items; where the scale ends, as many of them lie at an end as numbers beyond it.

    Variances are those of the numbers in mind: an end hides how far off an answer is.
    """
    params, found = items.params, honest_posterior(items, calibration)
    if params.cov is not None:
        # The posterior's covariance is corrected already; the annotators' part of the variance is corrected here.
        params = params._replace(N=calibration.ratio * params.N, cov=calibration.ratio * params.cov)
    predicted = predicted_ratings(params, found.mean, found.cov, item_of, annotator_of)
    if items.ends is not None:
        predicted = predicted._replace(mean=expected_answer(predicted.mean, predicted.variance, items.ends.ends))
    return predicted._replace(freedom=calibration.freedom)


def estimated_truth(
    items: ItemPosteriors, calibration: Calibration, ends: Bounds, known: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The estimate (M, D) and the covariance (M, D, D) of its error, posterior variance and stretching together.

    Stretching ends at the `ends` of the scale. Where the truth is `known` (M, D), it is the estimate, without error.
    """
    found = honest_posterior(items, calibration)
    estimate, cov = items.answer, found.cov
    if calibration.rescaling is not None:
        estimate = np.clip(calibration.rescaling.apply(items.answer), *ends)
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
