"""What all models of traces have in common: from a fitted model to truths, densities, descriptions and back from disk.

A fuser holds one model of all dimensions, or one of each: `parts_`. How they are estimated is up to the subclass.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from unisono.errors import DataError
from unisono.fusers import standardisation, trace_annotators
from unisono.fusers.fuser import Fuser, Given, OnState, Progress
from unisono.fusers.fusion_results import Annotators, Fit, Fused
from unisono.fusers.learned_arrays import packed, unpacked
from unisono.fusers.trace_data import (
    FrameSpace,
    Watcher,
    WorksOnParts,
    active_annotators,
    gold_frames,
    learn_frame_space,
    require_rated,
    require_series,
    to_known_series,
    to_series,
)
from unisono.fusers.trace_model import (
    DimensionModel,
    Estimated,
    SeriesModel,
    correlations_with_truth,
    drawn_truth,
    fused_truth,
    kept_model,
    known_stretches,
    log_density,
    predicted_truth,
    with_inactive,
    with_newcomers,
)
from unisono.maths.gold_slope import Slope
from unisono.maths.items import item_estimates, item_params
from unisono.maths.series.trace_data import SeriesData
from unisono.tables import ItemTable, Ratings

SHARED_BY_STATES = ("rate_", "scaling_", "scale_", "dimensions_", "annotators_", "frames_")


class SeriesFuser(WorksOnParts, Fuser):
    """An estimator of the truth behind traces."""

    namespace = "series."

    saved = Fuser.saved | {"rate_": float, "frames_": FrameSpace}
    rate_: float
    frames_: FrameSpace
    parts_: tuple[DimensionModel, ...]
    _slopes: tuple[Slope, ...]
    features_drive: bool = False
    standardise_features: bool = True

    @abstractmethod
    def _estimate(
        self, data: SeriesData, gold: np.ndarray | None, watch: Watcher, on_state: OnState | None
    ) -> Estimated:
        """Models of standardised traces; `rate_`, `scaling_` and labels are known already."""

    def _scaling(self, ratings: Ratings) -> standardisation.Scaling:
        return standardisation.pooled_scaling(ratings.value)

    def _heard(self, ratings: Ratings) -> Ratings:
        """The ratings as the model is to see them."""
        return ratings

    def _require_sense(self, ratings: Ratings, gold: np.ndarray | None) -> None:
        """Raises where settings and data do not go together."""

    def _choose(self, ratings: Ratings, features: ItemTable | None, watch: Watcher) -> None:
        """Settles what the settings leave open, by looking at the ratings."""

    def _tasks(self, ratings: Ratings, features: ItemTable | None, gold: ItemTable | None) -> int:
        """Runs of EM that a fit consists of, those of `_choose` included."""
        return 1

    # ---- fitting

    def _fit(self, given: Given) -> None:
        ratings, features, gold = given.ratings, given.features, given.gold
        self.rate_ = require_series(ratings)
        self.scaling_ = self._scaling(heard := self._heard(ratings))
        self.dimensions_, self.annotators_ = ratings.dimensions, ratings.annotators
        require_rated(ratings)
        known, self.scale_ = None, ratings.truth_scale
        if gold is not None:
            known = gold_frames(gold, ratings)
            self.scale_ = self.scale_.widened(known, ratings.dimensions, gold.source)
        self._require_sense(ratings, known)
        watch = Watcher(given.on_step, self._tasks(ratings, features, gold))
        self._choose(ratings, features, watch)
        self.frames_ = learn_frame_space(
            features, ratings, drive=self.features_drive, standardise=self.standardise_features
        )
        X = self.frames_.frames(features, ratings.items, ratings.length)
        self._ratings, self._data = ratings, to_series(heard, self.scaling_, X)
        standardised = None if known is None else self.scaling_.standardise(known)
        rated, self._active = active_annotators(self._data)
        found = self._estimate(rated, standardised, watch, given.on_state)
        self._learnt(found)._slopes = found.slopes

    def _gold_slopes(self) -> Sequence[Slope]:
        return self._slopes

    def _learnt(self, found: Estimated) -> Self:
        self.parts_ = tuple(DimensionModel(dims, self._everybody(model)) for dims, model in found.parts)
        self.trace_, self._truth, self._knows_gold = found.trace, found.truth, found.gold
        return self

    def _everybody(self, model: SeriesModel) -> SeriesModel:
        return with_inactive(model, self._active)

    def _at(self, found: Estimated) -> Self:
        """An equal fuser, fitted to the same traces, with another estimate: a state on the way."""
        other = self.alike()
        other._adopt(self)
        for name in (*SHARED_BY_STATES, "_ratings", "_data", "_active"):
            setattr(other, name, getattr(self, name))
        return other._learnt(found)

    def _adopt(self, other: Self) -> None:
        """Takes over what `_choose` settled in an equal fuser."""

    # ---- results

    def _fuse(self, ratings: Ratings | None, features: ItemTable | None) -> Fused:
        if ratings is None:
            return self.on_scale(*self._fitted_truth(), self.fitted_ratings())
        return self.on_scale(*self._truths(*self._known(ratings, features)), ratings)

    def _predict(self, features: ItemTable) -> Fused:
        if features.clock is None or not np.isclose(features.clock.rate, self.rate_):
            raise DataError(f"{features.source} must have {self.rate_:g} frames per second, as the fit had: --rate.")
        X = self.frames_.frames(features, features.items, features.length)
        found = [predicted_truth(part.model, X) for part in self.parts_]
        return self.on_scale(*self._combined(found), features)

    def _score(self, ratings: Ratings, features: ItemTable | None) -> float:
        data, models = self._known(ratings, features)
        total = sum(log_density(model, _of(data, part)) for part, model in zip(self.parts_, models, strict=True))
        return self.per_number(total, ratings)

    def predict_ratings(self, ratings: Ratings) -> item_estimates.Predictive:
        """(S, D) what the annotators of these traces are expected to answer at every frame; values are not read."""
        self.require_fitted()
        shown = self.fitted_recordings(ratings)
        mean, cov = self._fitted_truth()
        variance = np.diagonal(cov, axis1=1, axis2=2)
        data, newcomers = to_known_series(shown, self.scaling_, self._data.X, self.annotators_)
        whole = [np.empty_like(data.y) for _ in item_estimates.Predictive._fields]
        for part in self.parts_:
            d, model = list(part.dims), self._with(part.model, newcomers)
            own = trace_annotators.predicted_ratings(
                model, _of(data, part), mean[:, d], variance[:, d], _of(self._data, part)
            )
            for all_dimensions, some in zip(whole, own, strict=True):
                all_dimensions[:, d] = some
        return self.restored_prediction(item_estimates.Predictive(*whole))

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """(count, sum of frames, D) paths of the fitted truth, drawn from the posterior of the model.

        They hold the model's own uncertainty, smooth in time; the bands of `fuse` are wider, since errors last.
        """
        self.require_fitted()
        self.fitted_ratings()
        paths = np.empty((count, int(self._data.length.sum()), len(self.dimensions_)))
        for part in self.parts_:
            paths[:, :, list(part.dims)] = drawn_truth(part.model, _of(self._data, part), count, rng)
        return self.scaling_.restore_mean(paths)

    def reliability_draws(self, fused: Fused) -> np.ndarray | None:
        self.require_fitted()
        if self._knows_gold or any(part.model.levels is None or part.model.priors is None for part in self.parts_):
            return None
        mean, _ = self._fitted_truth()
        columns = [np.empty(0)] * len(self.dimensions_)
        for part in self.parts_:
            data, dims = _of(self._data, part), list(part.dims)
            found = correlations_with_truth(part.model, self._parts(data), mean[:, dims], data.length)
            for d, column in zip(dims, found.T, strict=True):
                columns[d] = column
        return np.stack(columns, axis=1)

    def describe(self, on_step: Progress | None = None) -> Annotators:
        """What is known of each annotator; of long traces that takes a while, and `on_step` may watch it."""
        self.require_fitted()
        ratings, watch = self.fitted_ratings(), Watcher(on_step)
        # Annotators are compared with the truth that ratings show, of fitted and of other recordings alike.
        mean, _ = self._rated_truth() if self._knows_gold else self._fitted_truth()
        found = [
            trace_annotators.describe_annotators(part.model, data, self._parts(data), mean[:, list(part.dims)], watch)
            for part, data in ((part, _of(self._data, part)) for part in self.parts_)
        ]
        whole = trace_annotators.side_by_side([part.dims for part in self.parts_], found, len(self.annotators_))
        return trace_annotators.series_annotators(ratings, whole, self.scaling_, self.rate_)

    def notes(self) -> dict[str, Any]:
        """The annotators' mean delay in seconds, what fixes it, and how far back the filters go, in seconds."""
        self.require_fitted()
        models = [part.model for part in self.parts_]
        window = max(model.params.F.shape[1] - 1 for model in models) / self.rate_
        return {
            "mean_delay": round(float(np.mean([model.mean_lag for model in models])), 3),
            "delay_convention": models[0].convention,
            "window": round(window, 6),
            "direction": "gold" if self._knows_gold else "majority",
            **trace_annotators.unit_notes(models, self._scale_of_parts(), self._knows_gold),
        }

    def _scale_of_parts(self) -> np.ndarray:
        """(D,) the unit of the standardised ratings, dimensions in the order of the parts."""
        return np.asarray(self.scaling_.scale[[d for part in self.parts_ for d in part.dims]])

    def parameters(self) -> item_params.ItemParams:
        raise DataError("This is a model of traces: it has no parameters of ratings of items.")

    # ---- saving

    @property
    def feature_columns(self) -> tuple[str, ...]:
        return self.frames_.columns

    def arrays(self) -> dict[str, np.ndarray]:
        parts = [part._replace(model=kept_model(part.model)) for part in self.parts_]
        found = super().arrays() | packed(parts, "parts")
        for i, part in enumerate(self.parts_ if hasattr(self, "_data") else ()):
            found |= packed(known_stretches(part.model, _of(self._data, part), self.rate_), f"stretches{i}")
        return found

    def restore(self, fit: Fit) -> Self:
        super().restore(fit)
        self.parts_ = unpacked(tuple[DimensionModel, ...], fit.arrays, "parts")
        self._truth, self._knows_gold = None, False
        return self

    # ---- inside

    def _known(self, shown: Ratings, features: ItemTable | None) -> tuple[SeriesData, tuple[SeriesModel, ...]]:
        """Other traces as data, with models that know their annotators."""
        rate = require_series(shown)
        if not np.isclose(rate, self.rate_):
            raise DataError(
                f"{shown.source} has {rate:g} frames per second, the fit had {self.rate_:g}. "
                f"Read it with --rate {self.rate_:g}."
            )
        X = self.frames_.frames(features, shown.items, shown.length)
        data, newcomers = to_known_series(self._heard(shown), self.scaling_, X, self.annotators_)
        return data, tuple(self._with(part.model, newcomers) for part in self.parts_)

    def _with(self, model: SeriesModel, newcomers: tuple[str, ...]) -> SeriesModel:
        return with_newcomers(model, len(newcomers))

    def _fitted_truth(self) -> tuple[np.ndarray, np.ndarray]:
        """What the fit found for its own frames, gold included."""
        if self._truth is None:
            self._truth = self._rated_truth()
        return self._truth

    def _rated_truth(self) -> tuple[np.ndarray, np.ndarray]:
        """The truth of the fitted frames as the ratings alone show it."""
        self.fitted_ratings()
        return self._truths(self._data, tuple(part.model for part in self.parts_))

    def _truths(self, data: SeriesData, models: tuple[SeriesModel, ...]) -> tuple[np.ndarray, np.ndarray]:
        found = [fused_truth(model, _of(data, part)) for part, model in zip(self.parts_, models, strict=True)]
        return self._combined(found)

    def _combined(self, found: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        """Truths of the parts as one; dimensions of different parts are independent."""
        S, D = len(found[0][0]), len(self.dimensions_)
        mean, cov = np.empty((S, D)), np.zeros((S, D, D))
        for part, (own_mean, own_cov) in zip(self.parts_, found, strict=True):
            d = np.array(part.dims)
            mean[:, d], cov[:, d[:, None], d] = own_mean, own_cov
        return mean, cov


def _of(data: SeriesData, part: DimensionModel) -> SeriesData:
    return data if len(part.dims) == data.D else data._replace(y=data.y[:, list(part.dims)])
