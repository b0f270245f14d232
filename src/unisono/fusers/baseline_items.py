"""Baselines for ratings of items, with the interface of the models: averages, and the paper's independent model.

The independent model is one D = 1 model per dimension, fitted one by one and kept as one model whose matrices are
diagonal, so that fusing, predicting and describing are those of the joint model. Averages are what people do today:
mean, median, z-score mean, evaluator-weighted estimator (EWE), and the weighted mean with bias removed. An average maps
each annotator's answers linearly (z = center + factor (y - offset)), weights them and averages. Around that it keeps a
random-effects model by moments, truth plus independent noise, so that held-out ratings have a density.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import ClassVar, NamedTuple

import numpy as np

from unisono.fusers import crowd, item_preparation, joint_items, standardisation
from unisono.fusers.fuser import Fuser, Given, Progress, fitted_places
from unisono.fusers.fusion_results import Annotators, Fused, SharedError
from unisono.fusers.item_estimation import Estimate, Run, sum_of_traces
from unisono.fusers.standardisation import FeatureSpace
from unisono.maths import em_loop, grouped_sums
from unisono.maths.grouped_sums import Average
from unisono.maths.items.item_data import ItemData, Ridge, empirical_ridge, no_features, of_dimensions, prepare
from unisono.maths.items.item_estep import posterior
from unisono.maths.items.item_estimates import Predictive, predicted_ratings
from unisono.maths.items.item_params import ItemParams, identity_rows
from unisono.maths.raters.rater_diagnosis import Diagnosis, diagnose
from unisono.tables import ItemTable, Ratings

NEAR_ZERO = 1e-6  # numerical: in standardised units: less than this is nothing


class Adjustment(NamedTuple):
    """How each annotator's answers enter: z = center + factor (y - offset), with a weight. Standardised units."""

    offset: np.ndarray  # (K, D)
    factor: np.ndarray  # (K, D)
    weight: np.ndarray  # (K, D)
    center: np.ndarray  # (D,)

    def applied(self, z: np.ndarray, annotator_of: np.ndarray) -> np.ndarray:
        """(J, D) adjusted answers."""
        if (self.factor == 1).all() and not self.offset.any() and not self.center.any():
            return z
        return np.asarray(self.center + self.factor[annotator_of] * (z - self.offset[annotator_of]))


class Described(Fuser):
    """A fuser that tells annotators by bias, gain and noise, and relates truths to features by a ridge regression."""

    saved = Fuser.saved | {"ridge_": Ridge, "space_": FeatureSpace}
    ridge_: Ridge

    def refuses_gold(self) -> str:
        return f"The model '{self.kind}' cannot use gold items; 'joint' can."

    def _predict(self, features: ItemTable) -> Fused:
        Z = self.space_.scores(features, features.items).Z
        spread = 1 + (Z**2) @ self.ridge_.theta_var
        mean = self.ridge_.mu + Z @ self.ridge_.theta
        return self.on_scale(mean, spread[:, None, None] * self.ridge_.Sigma, features)

    def density(self, ratings: Ratings, params: ItemParams) -> float:
        """Log density per number of ratings of items, or of frames, under parameters with the newcomer last."""
        z, K = self.scaling_.standardise(ratings.value), len(self.annotators_) + 1
        who = standardisation.places_by_label(ratings, self.annotators_)
        data = prepare(z, ratings.item_of, who, no_features(ratings.M), K)
        return self.per_number(posterior(data, params).loglik.sum(), ratings)

    def beside(self, z: np.ndarray, left_out: np.ndarray, who: np.ndarray) -> Annotators:
        """The table of annotators, from regressing answers z (J, D) on the truth found without their annotator."""
        K = len(self.annotators_)
        bias, gain, noise = grouped_sums.grouped_regression(z, left_out, who, K)
        return self.described(bias, gain, noise, grouped_sums.grouped_correlation(z, left_out, who, K))

    def described(self, bias: np.ndarray, gain: np.ndarray, noise: np.ndarray, agreement: np.ndarray) -> Annotators:
        """The table of annotators, from standardised figures (K, D); agreement is with the truth of the others."""
        ratings = self.fitted_ratings()
        return Annotators(
            annotators=ratings.annotators,
            dimensions=ratings.dimensions,
            ratings=np.bincount(ratings.annotator_of, minlength=ratings.K),
            bias=bias * self.scaling_.scale,
            gain=gain,
            leakage=np.zeros((ratings.K, ratings.D, ratings.D)),
            noise=noise * self.scaling_.scale,
            reliability=np.where(agreement > 0, agreement**2, np.where(np.isnan(agreement), np.nan, 0.0)),
            agreement=agreement,
            diagnosis=None if ratings.is_series else crowd.crowd_diagnosis(ratings),
        )


class Baseline(Described):
    """An average of adjusted answers."""

    saved = Described.saved | {"adjustment_": Adjustment, "noise_": np.ndarray, "spread_": np.ndarray}

    @abstractmethod
    def _adjust(self, z: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, M: int, K: int) -> Adjustment:
        """How to treat each annotator, from standardised ratings (J, D)."""

    def _average(self, z: np.ndarray, weight: np.ndarray | None, item_of: np.ndarray, M: int) -> Average:
        return grouped_sums.weighted_mean(z, weight, item_of, M)

    def _average_of_others(self, z: np.ndarray, weight: np.ndarray | None, item_of: np.ndarray, M: int) -> np.ndarray:
        return grouped_sums.weighted_mean_of_others(z, weight, item_of, M)

    def _fit(self, given: Given) -> None:
        ratings = given.ratings
        self.scaling_, self.scale_ = standardisation.pooled_scaling(ratings.value), ratings.truth_scale
        self.dimensions_, self.annotators_ = ratings.dimensions, ratings.annotators
        z = self.scaling_.standardise(ratings.value)
        known = self._adjust(z, ratings.item_of, ratings.annotator_of, ratings.M, ratings.K)
        self.adjustment_ = _with_newcomer(known)
        average = self._average(*self._weighed(z, ratings.annotator_of), ratings.item_of, ratings.M)
        self.noise_, self.spread_ = self._variances(z, average, ratings)
        mean = np.where(average.n_eff > 0, average.mean, known.center)
        self.space_, scores = standardisation.learn_space(
            given.features, ratings.items, intercept=True, standardise=True
        )
        self.ridge_ = empirical_ridge(scores, mean)
        self.trace_ = em_loop.EmTrace(np.zeros(0), "none")
        self._ratings = ratings
        self._fitted = ratings, average.mean, average.n_eff
        if given.on_state is not None:
            given.on_state(0, copy(self))

    def _fuse(self, ratings: Ratings | None, features: ItemTable | None) -> Fused:
        shown = self.fitted_ratings() if ratings is None else ratings
        return self.on_scale(*self._truths(shown), shown)

    def _score(self, ratings: Ratings, features: ItemTable | None) -> float:
        return self.density(ratings, self.parameters())

    def predict_ratings(self, ratings: Ratings) -> Predictive:
        self.require_fitted()
        shown, fitted = self.known_ratings(ratings), self.fitted_ratings()
        places = fitted_places(shown, fitted), standardisation.places_by_label(shown, self.annotators_)
        return self.restored_prediction(predicted_ratings(self.parameters(), *self._truths(fitted), *places))

    def describe(self, on_step: Progress | None = None) -> Annotators:
        """Bias, gain and noise from regressing each annotator's answers on the truth found without them."""
        self.require_fitted()
        ratings = self.fitted_ratings()
        z = self.scaling_.standardise(ratings.value)
        weighed = self._weighed(z, ratings.annotator_of)
        left_out = self._average_of_others(*weighed, ratings.item_of, ratings.M)
        return self.beside(z, left_out, ratings.annotator_of)

    def _truths(self, ratings: Ratings) -> tuple[np.ndarray, np.ndarray]:
        """Means (M, D) and covariances (M, D, D) of the items, standardised."""
        mean, n_eff = self._means(ratings)
        # An item nobody rated on a dimension is anywhere that dimension goes.
        rated = n_eff > 0
        variance = np.where(rated, self.noise_ / np.where(rated, n_eff, 1.0), self.noise_ + self.spread_)
        mean = np.where(rated, mean, self.adjustment_.center)
        return mean, variance[:, :, None] * np.eye(ratings.D)

    def _means(self, ratings: Ratings) -> tuple[np.ndarray, np.ndarray]:
        """Averages and effective numbers of ratings (M, D); those of the fit are known."""
        fitted, *known = getattr(self, "_fitted", (None,))
        if ratings is fitted:
            return known[0], known[1]
        z = self.scaling_.standardise(ratings.value)
        weighed = self._weighed(z, standardisation.places_by_label(ratings, self.annotators_))
        average = self._average(*weighed, ratings.item_of, ratings.M)
        return average.mean, average.n_eff

    def _weighed(self, z: np.ndarray, annotator_of: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Adjusted answers and their weights (J, D); None where all are one."""
        how = self.adjustment_
        weight = None if (how.weight == 1).all() else how.weight[annotator_of]
        return how.applied(z, annotator_of), weight

    def _variances(self, z: np.ndarray, average: Average, ratings: Ratings) -> tuple[np.ndarray, np.ndarray]:
        """Noise of one adjusted answer and variance of the truth, each (D,), by moments."""
        adjusted = self.adjustment_.applied(z, ratings.annotator_of)
        squares = np.nansum((adjusted - average.mean[ratings.item_of]) ** 2, axis=0)
        freedom = (~np.isnan(z)).sum(axis=0) - (average.n_eff > 0).sum(axis=0)
        noise = np.where(freedom > 0, squares / np.maximum(freedom, 1), 0.5)
        rated = average.n_eff > 0
        share = np.where(rated, 1 / np.where(rated, average.n_eff, 1.0), 0.0).sum(axis=0) / np.maximum(
            rated.sum(axis=0), 1
        )
        total = np.array([average.mean[rated[:, d], d].var() if rated[:, d].any() else 1.0 for d in range(ratings.D)])
        return np.maximum(noise, NEAR_ZERO), np.maximum(total - noise * share, NEAR_ZERO)

    def parameters(self) -> ItemParams:
        """Truth plus independent noise, seen through the adjustments: y = offset + (a - center) / factor."""
        self.require_fitted()
        how = self.adjustment_
        K, D = how.factor.shape
        usable = how.factor > NEAR_ZERO
        slope = np.where(usable, 1 / np.where(usable, how.factor, 1.0), 0.0)
        B = np.tile(identity_rows(D), (K, 1, 1)) * slope[:, :, None]
        B[:, :, -1] = how.offset - slope * how.center
        N = self.noise_ * np.where(usable, slope, 1.0) ** 2
        eye = np.eye(D)
        return ItemParams(B, N[:, :, None] * eye, np.zeros((0, D)), how.center, self.spread_ * eye)


def as_they_are(K: int, D: int) -> Adjustment:
    """Every answer taken as given, all with the same weight."""
    return Adjustment(np.zeros((K, D)), np.ones((K, D)), np.ones((K, D)), np.zeros(D))


def _with_newcomer(how: Adjustment) -> Adjustment:
    """One more place, for annotators who were not in the fit: answers as given, average weight."""
    extra = as_they_are(1, len(how.center))._replace(weight=how.weight.mean(axis=0, keepdims=True))
    return Adjustment(
        offset=np.concatenate([how.offset, extra.offset]),
        factor=np.concatenate([how.factor, extra.factor]),
        weight=np.concatenate([how.weight, extra.weight]),
        center=how.center,
    )


class Mean(Baseline):
    """The plain mean of the ratings."""

    kind: ClassVar[str] = "mean"

    def _adjust(self, z: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, M: int, K: int) -> Adjustment:
        return as_they_are(K, z.shape[1])


class Median(Mean):
    """The median of the ratings."""

    kind: ClassVar[str] = "median"

    def _average(self, z: np.ndarray, weight: np.ndarray | None, item_of: np.ndarray, M: int) -> Average:
        return grouped_sums.median(z, item_of, M)

    def _average_of_others(self, z: np.ndarray, weight: np.ndarray | None, item_of: np.ndarray, M: int) -> np.ndarray:
        return grouped_sums.median_of_others(z, item_of, M)


class ZScoreMean(Baseline):
    """The mean after giving every annotator the same mean and spread; who never varies says nothing."""

    kind: ClassVar[str] = "zscore-mean"

    def _adjust(self, z: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, M: int, K: int) -> Adjustment:
        seen = ~np.isnan(z)
        n = np.maximum(grouped_sums.segment_sum(seen.astype(float), annotator_of, K), 1)
        mean = grouped_sums.segment_sum(np.where(seen, z, 0.0), annotator_of, K) / n
        squares = grouped_sums.segment_sum(np.where(seen, z - mean[annotator_of], 0.0) ** 2, annotator_of, K)
        sd = np.sqrt(squares / n)
        varies = sd > NEAR_ZERO
        factor = np.where(varies, 1 / np.where(varies, sd, 1.0), 0.0)
        return Adjustment(mean, factor, varies.astype(float), np.zeros(z.shape[1]))


class EvaluatorWeighted(Baseline):
    """EWE: annotators weigh as much as their answers correlate with the mean of the others; never less than nothing."""

    kind: ClassVar[str] = "ewe"

    def _adjust(self, z: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, M: int, K: int) -> Adjustment:
        left_out = grouped_sums.weighted_mean_of_others(z, None, item_of, M)
        weight = np.nan_to_num(grouped_sums.grouped_correlation(z, left_out, annotator_of, K), nan=0.0)
        return as_they_are(K, z.shape[1])._replace(weight=np.maximum(weight, 0.0))


class WeightedMean(Baseline):
    """Bias removed, then weights of one over the annotator's noise variance; repeated until it settles."""

    kind: ClassVar[str] = "weighted-mean"

    def _adjust(self, z: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, M: int, K: int) -> Adjustment:
        how = as_they_are(K, z.shape[1])
        n = grouped_sums.segment_sum((~np.isnan(z)).astype(float), annotator_of, K)
        for _ in range(50):
            truth = grouped_sums.weighted_mean(z - how.offset[annotator_of], how.weight[annotator_of], item_of, M).mean
            residual = np.nan_to_num(z - truth[item_of])
            offset = grouped_sums.segment_sum(residual, annotator_of, K) / np.maximum(n, 1)
            offset -= (n * offset).sum(axis=0) / np.maximum(n.sum(axis=0), 1)
            squares = grouped_sums.segment_sum(
                np.where(np.isnan(z), 0.0, residual - offset[annotator_of]) ** 2, annotator_of, K
            )
            # Ten imaginary answers with the pooled variance: nobody becomes certain by a few lucky hits.
            pooled = squares.sum(axis=0) / np.maximum(n.sum(axis=0), 1)
            weight = (n + 10) / np.maximum(squares + 10 * pooled, NEAR_ZERO)
            change = np.max(np.abs(offset - how.offset), initial=0.0)
            how = how._replace(offset=offset, weight=weight)
            if change < 1e-6:
                break
        return how


class Independent(joint_items.Joint):
    """The joint model's settings, applied to each dimension by itself."""

    kind: ClassVar[str] = "independent"
    one_by_one = True

    def _estimate(self, given: item_preparation.Prepared, run: Run) -> Estimate:
        data = given.data
        seen: list[list[Estimate]] = [[] for _ in range(data.D)]
        parts = []
        for d, own in enumerate(seen):
            keep = None if run.on_estimate is None else lambda _, estimate, own=own: own.append(estimate)
            part = given._replace(data=of_dimensions(data, [d]), ends=given.ends.of([d]))
            parts.append(super()._estimate(part, run._replace(on_estimate=keep)))
        if run.on_estimate is not None:
            # The dimensions went one after the other; told as if they had gone side by side.
            for i in range(max(map(len, seen))):
                run.on_estimate(i, _combine([states[min(i, len(states) - 1)] for states in seen]))
        return _combine(parts)

    def _diagnosis(self, data: ItemData) -> Diagnosis:
        return diagnose(data.value, data.item_of, data.annotator_of, data.K)


def _combine(parts: list[Estimate]) -> Estimate:
    levels = [part.level or SharedError(np.zeros((1, 1)), 1.0) for part in parts]
    return Estimate(
        params=_side_by_side([part.params for part in parts]),
        trace=sum_of_traces([part.trace for part in parts]),
        theta_var=np.mean([part.theta_var for part in parts], axis=0),
        level=SharedError(
            np.diag([own.cov[0, 0] for own in levels]),
            min(own.freedom for own in levels),
            np.array([np.max(own.unit) for own in levels]),
            np.array([np.max(own.center) for own in levels]),
        ),
    )


def _side_by_side(parts: list[ItemParams]) -> ItemParams:
    """Models of one dimension each as one model with diagonal matrices."""
    D, K = len(parts), len(parts[0].B)
    B = np.zeros((K, D, D + 1))
    N, Sigma = np.zeros((K, D, D)), np.zeros((D, D))
    cov = None if parts[0].cov is None else np.zeros((K, D, D + 1, D + 1))
    for d, part in enumerate(parts):
        own = np.array([d, D])
        B[:, d, own] = part.B[:, 0]
        N[:, d, d], Sigma[d, d] = part.N[:, 0, 0], part.Sigma[0, 0]
        if cov is not None and part.cov is not None:
            cov[:, d, own[:, None], own] = part.cov[:, 0]
    theta = np.hstack([part.theta for part in parts])
    return ItemParams(B, N, theta, np.concatenate([part.mu for part in parts]), Sigma, cov)
