"""Neighbours of the default for traces: the course of every recording by a published method, annotators beside it.

Functional PCA on splines, averages that laboratories use (evaluators weighted by windows, DTW barycentres, ranks), and
dynamic probabilistic CCA without and with time warping (Nicolaou, Pavlovic and Pantic 2014), whose state space and EM
are in `maths.series.shared_dynamics`: a fit and a fused recording warp alike, from the traces as they are, given what
is known of annotators. A method says what the course of a recording is, from its traces
and from what was learned of annotators. How annotators relate to the course (bias, gain, noise) is the same for all:
regression of their answers on it, so that held-out ratings have a density and averages an interval.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.fusers import baseline_items, baseline_traces, standardisation
from unisono.fusers.fuser import Given, Progress
from unisono.fusers.fuser_settings import ITERATIONS, TOLERANCE, Number
from unisono.fusers.fusion_results import Annotators, Fused
from unisono.fusers.trace_data import require_rated, require_series, to_known_series
from unisono.maths.em_loop import EmTrace, relative_change, run_em
from unisono.maths.grouped_sums import grouped_regression, segment_sum
from unisono.maths.items.item_data import empirical_ridge
from unisono.maths.items.item_estimates import Predictive, predicted_ratings
from unisono.maths.items.item_params import ItemParams
from unisono.maths.series import shared_dynamics as dynamics
from unisono.maths.series import trace_averages as averages
from unisono.maths.series.trace_data import SeriesData, recordings_of
from unisono.maths.series.trace_warping import barycentre
from unisono.tables import ItemTable, Ratings

WINDOW_SECONDS = 10.0  # choice: of weights by windows: what a rater needs to be followed or not
REACH_SECONDS = 1.5  # choice: that a trace is warped at most: half the window of delays
LEAST_NOISE = 1e-6  # numerical: variance, in squared standard deviations of the ratings


class Courses(NamedTuple):
    """Of all frames, recordings end to end."""

    mean: np.ndarray  # (sum T, D) NaN where nothing is known
    cov: np.ndarray  # (sum T, D, D) of its error; of averages over the variance of one annotator's error


class CourseFuser(baseline_items.Described):
    """A course of every recording, and what annotators make of it."""

    namespace = "series."

    saved = baseline_items.Described.saved | {
        "rate_": float,
        "learnt_": dict[str, np.ndarray],
        "noise_": np.ndarray,
        "prior_": ItemParams,
    }
    rate_: float
    learnt_: dict[str, np.ndarray]  # of annotators, by the method
    noise_: np.ndarray  # (D,) unit of the courses' errors
    prior_: ItemParams  # bias, gain and noise of annotators, newcomers last; mean and spread of frames

    @abstractmethod
    def _learn(self, data: SeriesData, given: Given) -> tuple[dict[str, np.ndarray], EmTrace]:
        """What the method learns of annotators, who are numbered as in the ratings."""

    @abstractmethod
    def _courses(self, data: SeriesData) -> Courses:
        """Every recording by itself; annotators beyond those of the fit are newcomers."""

    def refuses_gold(self) -> str:
        return f"The model '{self.kind}' cannot use gold frames; 'joint' can."

    # ---- fitting

    def _fit(self, given: Given) -> None:
        ratings = given.ratings
        self.rate_ = require_series(ratings)
        require_rated(ratings)
        self.scaling_, self.scale_ = standardisation.pooled_scaling(ratings.value), ratings.truth_scale
        self.dimensions_, self.annotators_, self._ratings = ratings.dimensions, ratings.annotators, ratings
        features = baseline_traces.frame_table(given.features, ratings)
        items = tuple(str(t) for t in range(int(ratings.length.sum())))
        self.space_, self._scores = standardisation.learn_space(features, items, intercept=True, standardise=True)
        self._data = self._known(ratings, given.features)
        self.learnt_, trace = self._learn(self._data, given)
        self._settle()
        self.trace_ = trace
        if given.on_state is not None and not trace.iterations:
            given.on_state(0, copy(self))

    def _settle(self) -> None:
        """From what was learned to the courses of the fitted recordings, and to how annotators relate to them."""
        found, frames = self._courses(self._data), baseline_traces.as_frames(self._ratings)
        z, x = self.scaling_.standardise(frames.value), found.mean[frames.item_of]
        self.noise_ = self._unit_of_error(z - x, found)
        known = np.isfinite(found.mean)
        center = np.where(known, found.mean, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, found.mean, center)
        self.prior_ = _related(z, x, frames.annotator_of, len(self.annotators_), mean)
        self.ridge_ = empirical_ridge(self._scores, mean)
        self._fitted = self._finished(found)

    def _unit_of_error(self, residual: np.ndarray, found: Courses) -> np.ndarray:
        """(D,) variance of one annotator's answers around the courses."""
        squares = np.nansum(residual**2, axis=0)
        freedom = (~np.isnan(residual)).sum(axis=0) - np.isfinite(found.mean).sum(axis=0)
        return np.maximum(np.where(freedom > 0, squares / np.maximum(freedom, 1), 0.5), LEAST_NOISE)

    def _finished(self, found: Courses) -> Courses:
        """Frames that nobody rated are anywhere that frames are; errors in units of the ratings."""
        known, sd = np.isfinite(found.mean), np.sqrt(self.noise_)
        anywhere = (self.noise_ + np.diagonal(self.prior_.Sigma))[:, None] * np.eye(len(sd))
        cov = np.where(known.all(axis=1)[:, None, None], found.cov * sd[:, None] * sd, anywhere)
        for d in np.flatnonzero(~known.all(axis=0)).tolist():
            some = known[:, d] & ~known.all(axis=1)
            cov[some, d, d] = found.cov[some, d, d] * self.noise_[d]
        return Courses(np.where(known, found.mean, self.prior_.mu), cov)

    def _known(self, shown: Ratings, features: ItemTable | None) -> SeriesData:
        """Traces in standardised units, annotators by their place in the fit, newcomers behind them."""
        X = np.zeros((int(shown.length.sum()), 0))
        if self.space_.columns:
            table = baseline_traces.frame_table(features, shown)
            if table is None:
                raise DataError("The model was fitted with features: give those of these recordings too.")
            X = self.space_.scores(table, table.items).Z
        return to_known_series(shown, self.scaling_, X, self.annotators_)[0]

    # ---- results

    def _fuse(self, ratings: Ratings | None, features: ItemTable | None) -> Fused:
        if ratings is None:
            return self.on_scale(*self._fitted_courses(), self.fitted_ratings())
        require_series(ratings)
        return self.on_scale(*self._finished(self._courses(self._known(ratings, features))), ratings)

    def _fitted_courses(self) -> Courses:
        self.fitted_ratings()
        return self._fitted

    def _score(self, ratings: Ratings, features: ItemTable | None) -> float:
        return self.density(baseline_traces.as_frames(ratings), self.prior_)

    def predict_ratings(self, ratings: Ratings) -> Predictive:
        self.require_fitted()
        shown = self.fitted_recordings(ratings)
        frames, order = baseline_traces.as_frames(shown), baseline_traces.frame_order(shown)
        places = frames.item_of, standardisation.places_by_label(frames, self.annotators_)
        found = self.restored_prediction(predicted_ratings(self.prior_, *self._fitted_courses(), *places))
        mean, variance = np.empty_like(shown.value), np.empty_like(shown.value)
        mean[order], variance[order] = found.mean, found.variance
        return found._replace(mean=mean, variance=variance)

    def describe(self, on_step: Progress | None = None) -> Annotators:
        """Bias, gain and noise from regressing each annotator's answers on the course found without them."""
        self.require_fitted()
        frames = baseline_traces.as_frames(self.fitted_ratings())
        z = self.scaling_.standardise(frames.value)
        left_out = np.full_like(z, np.nan)
        for k in np.unique(frames.annotator_of).tolist():
            own = frames.annotator_of == k
            left_out[own] = self._courses(_without(self._data, k)).mean[frames.item_of[own]]
        return self.beside(z, left_out, frames.annotator_of)

    def notes(self) -> dict[str, Any]:
        return dict(baseline_traces.NOTES)

    def parameters(self) -> ItemParams:
        raise DataError("This model of traces has no parameters of ratings of items.")


def _related(z: np.ndarray, x: np.ndarray, annotator_of: np.ndarray, K: int, mean: np.ndarray) -> ItemParams:
    """Annotators' answers z as bias + gain * course + noise, newcomers last; mean: (sum T, D) of all frames."""
    D = z.shape[1]
    _, gain, noise = grouped_regression(z, x, annotator_of, K)
    gain = np.where(np.isnan(gain), 1.0, gain)
    left = z - gain[annotator_of] * x
    count = segment_sum((~np.isnan(left)).astype(float), annotator_of, K)
    bias = segment_sum(np.nan_to_num(left), annotator_of, K) / np.maximum(count, 1)
    known = ~np.isnan(noise)
    usual = np.where(known, np.nan_to_num(noise) ** 2, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    variance = np.maximum(np.where(known, np.nan_to_num(noise) ** 2, usual), LEAST_NOISE)
    gain, bias = np.vstack([gain, np.ones(D)]), np.vstack([bias, np.zeros(D)])
    variance = np.vstack([variance, np.maximum(usual, LEAST_NOISE)])
    B = np.concatenate([gain[:, :, None] * np.eye(D), bias[:, :, None]], axis=2)
    spread = np.maximum(mean.var(axis=0), LEAST_NOISE) * np.eye(D)
    return ItemParams(B, variance[:, :, None] * np.eye(D), np.zeros((0, D)), mean.mean(axis=0), spread)


def _without(data: SeriesData, k: int) -> SeriesData:
    """The traces without those of one annotator."""
    own = np.repeat(data.annotator_of == k, data.length[data.item_of])
    return data._replace(y=np.where(own[:, None], np.nan, data.y))


class _Average(CourseFuser):
    """The mean over annotators of each recording's traces, changed and weighted by the method."""

    def _learn(self, data: SeriesData, given: Given) -> tuple[dict[str, np.ndarray], EmTrace]:
        return {}, EmTrace(np.zeros(0), "none")

    @abstractmethod
    def _changed(self, y: np.ndarray, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Traces of one recording, and weights that are not all 0 where something was rated. y: (p, T, D)."""

    def _courses(self, data: SeriesData) -> Courses:
        means, shares = [], []
        for y in recordings_of(data):
            who = np.flatnonzero(~np.isnan(y).all(axis=(1, 2)))
            value, weight = (y, np.zeros_like(y)) if not len(who) else self._changed(y[who], who)
            weight = np.where(np.isnan(value), 0.0, weight)
            total = weight.sum(axis=0)
            rated = total > 0
            safe = np.where(rated, total, 1.0)
            means.append(np.where(rated, (weight * np.nan_to_num(value)).sum(axis=0) / safe, np.nan))
            shares.append((weight**2).sum(axis=0) / safe**2)
        share = np.concatenate(shares)
        return Courses(np.concatenate(means), share[:, :, None] * np.eye(data.D))


class WindowedEWE(_Average):
    """Evaluator-weighted estimator with weights that change over time.

    Annotators weigh as much as they correlate with the mean of the others in windows of ten seconds.
    """

    kind: ClassVar[str] = "windowed-ewe"

    def _changed(self, y: np.ndarray, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weight = averages.window_weights(y, max(round(WINDOW_SECONDS * self.rate_), 2))
        nobody = np.where(np.isnan(y), 0.0, weight).sum(axis=0) <= 0
        return y, np.where(nobody, 1.0, weight)


class Barycentre(_Average):
    """The mean of traces warped onto it in time (DTW barycentre), by at most 1.5 seconds."""

    kind: ClassVar[str] = "dtw-mean"

    def _changed(self, y: np.ndarray, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        moved = barycentre(y, round(REACH_SECONDS * self.rate_))
        return np.where(np.isnan(y).all(axis=1, keepdims=True), np.nan, moved), np.ones_like(y)

    def notes(self) -> dict[str, Any]:
        return baseline_traces.NOTES | {"delay_convention": "aligned"}


class RankMean(_Average):
    """The mean of annotators' ranks instead of their values, in units in which ranks have the ratings' spread."""

    kind: ClassVar[str] = "rank-mean"

    def _learn(self, data: SeriesData, given: Given) -> tuple[dict[str, np.ndarray], EmTrace]:
        who = np.repeat(data.annotator_of, data.length[data.item_of])
        return {"quantiles": averages.quantiles_of(data.y, who, data.K)}, EmTrace(np.zeros(0), "none")

    def _courses(self, data: SeriesData) -> Courses:
        quantiles = self.learnt_["quantiles"]
        if len(quantiles) < data.K:  # newcomers: by what they answered here
            who = np.repeat(data.annotator_of, data.length[data.item_of])
            own = averages.quantiles_of(data.y, who, data.K)
            quantiles = np.concatenate([quantiles, own[len(quantiles) :]])
        y, first = data.y.copy(), 0
        for k, T in zip(data.annotator_of.tolist(), data.length[data.item_of].tolist(), strict=True):
            for d in range(data.D):
                y[first : first + T, d] = averages.ranks(data.y[first : first + T, d], quantiles[k, :, d])
            first += T
        return super()._courses(data._replace(y=y))

    def _changed(self, y: np.ndarray, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return y, np.ones_like(y)


class FunctionalPCA(_Average):
    """The mean of traces as splines, over annotators whose principal component scores are not far from the others'.

    Curves of all dimensions together, recording by recording.
    """

    kind: ClassVar[str] = "fpca"

    def _changed(self, y: np.ndarray, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        curve = averages.smooth_curves(y, averages.CURVE_SECONDS * self.rate_)
        usual = averages.usual_curves(curve)[:, None, None]
        counted = (usual & ~np.isnan(y)).astype(float)  # curves go over gaps, but say nothing there
        return np.where(np.isnan(y), np.nan, curve), np.where(counted.sum(axis=0) > 0, counted, 1.0)


WARP_EVERY = 5  # numerical: iterations of EM between warps
WARPS = 3  # numerical: of a recording, at most, once annotators are known


class SharedDynamics(CourseFuser):
    """Dynamic probabilistic CCA (Nicolaou, Pavlovic and Pantic 2014): annotators share one course beside their own.

    A linear Gaussian state space of all dimensions together, by EM; features drive what is shared.
    """

    kind: ClassVar[str] = "dpcca"
    numbers: ClassVar[Mapping[str, Number]] = {"tol": TOLERANCE, "max_iter": ITERATIONS}
    reach: ClassVar[float] = 0.0  # seconds that traces are warped at most

    def __init__(self, *, tol: float = 1e-4, max_iter: int = 100) -> None:
        self.tol = tol
        self.max_iter = max_iter

    def _learn(self, data: SeriesData, given: Given) -> tuple[dict[str, np.ndarray], EmTrace]:
        origin, reach = dynamics.recordings(data), round(self.reach * self.rate_)
        rated = np.isin(np.arange(data.K), np.concatenate([part.who for part in origin]))
        State = tuple[dynamics.SharedDynamics, list[dynamics.Recording], int]

        def step(state: State) -> tuple[State, float]:
            params, parts, i = state
            following, loglik = dynamics.em_step(parts, params)
            if reach and i % WARP_EVERY == WARP_EVERY - 1:
                both = zip(parts, origin, strict=True)
                parts = [dynamics.warped_onto_shared(part, own, following, reach) for part, own in both]
            return (following, parts, i + 1), loglik

        def watch(iteration: int, state: State, loglik: float) -> None:
            if given.on_step is not None:
                given.on_step(iteration, loglik)
            if given.on_state is not None:
                other = copy(self)
                other.learnt_ = dynamics.everybody(state[0], rated)._asdict()
                other.trace_ = EmTrace(np.array([loglik]), "max_iter")
                other._settle()
                given.on_state(iteration, other)

        start = dynamics.starting_point(origin, data.K, data.D, data.P), origin, 0
        found, trace = run_em(step, start, stop_when=relative_change(self.tol), max_iter=self.max_iter, on_step=watch)
        return dynamics.everybody(found[0], rated)._asdict(), trace

    def _courses(self, data: SeriesData) -> Courses:
        params, reach = dynamics.SharedDynamics(**self.learnt_), round(self.reach * self.rate_)
        newcomer, means, covs = len(params.W) - 1, [], []
        for part in dynamics.recordings(data):
            part = origin = part._replace(who=np.minimum(part.who, newcomer))
            for _ in range(WARPS):
                before, part = part, dynamics.warped_onto_shared(part, origin, params, reach)
                if part is before:
                    break
            mean, cov = dynamics.shown_course(part, params)
            rated = (~np.isnan(part.y)).any(axis=(0, 1))
            means.append(np.where(rated, mean, np.nan))
            covs.append(cov)
        return Courses(np.concatenate(means), np.concatenate(covs))

    def _unit_of_error(self, residual: np.ndarray, found: Courses) -> np.ndarray:
        return np.ones(residual.shape[1])  # posterior variances are in the ratings' units


class WarpedDynamics(SharedDynamics):
    """The same with time warping: every trace is warped onto what is shared, by at most 1.5 seconds."""

    kind: ClassVar[str] = "dpctw"
    reach = REACH_SECONDS

    def notes(self) -> dict[str, Any]:
        return baseline_traces.NOTES | {"delay_convention": "aligned"}
