"""Baselines for traces: averages frame by frame, the lag-aligned mean, and the independent model.

Of averages every frame is an item, and the averages of items do the rest. The independent model is one D = 1 model of
traces per dimension, with the joint model's settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from unisono.errors import DataError
from unisono.fusers import baseline_items as of_items
from unisono.fusers.baseline_items import Baseline
from unisono.fusers.fuser import Fuser, Given, OnState, Progress
from unisono.fusers.fuser_settings import Number
from unisono.fusers.fusion_results import Annotators, Fit, Fused
from unisono.fusers.joint_traces import WINDOW, Joint
from unisono.fusers.learned_arrays import inside, packed
from unisono.fusers.standardisation import FeatureSpace, places_by_label
from unisono.fusers.trace_data import Watcher, in_own_units, one_dimension, require_series
from unisono.fusers.trace_model import Estimated, combined
from unisono.maths.em_loop import EmTrace
from unisono.maths.items import item_estimates, item_params
from unisono.maths.series.delay_search import advanced, relative_lags
from unisono.maths.series.trace_averages import informative_lag, known_mean
from unisono.maths.series.trace_data import SeriesData, recordings_of
from unisono.tables import ItemTable, Ratings
from unisono.tables.coverage_and_outliers import frame_index

NOTES: dict[str, Any] = {"mean_delay": None, "delay_convention": "none", "window": 0.0}  # no delay is estimated


class SeriesAverage(Fuser):
    """An average of adjusted answers, frame by frame."""

    namespace = "series."

    saved = Fuser.saved | {"rate_": float, "lag_": np.ndarray}
    average: ClassVar[type[Baseline]]
    rate_: float
    inner_: Baseline

    def refuses_gold(self) -> str:
        return f"The model '{self.average.kind}' cannot use gold frames; 'joint' can."

    def _fit(self, given: Given) -> None:
        ratings = given.ratings
        self.rate_ = require_series(ratings)
        self.dimensions_, self.annotators_ = ratings.dimensions, ratings.annotators
        self.lag_ = self._lags(ratings, given.features)
        self.inner_ = self.average().fit(as_frames(self._moved(ratings)), frame_table(given.features, ratings))
        self.trace_, self._ratings = EmTrace(np.zeros(0), "none"), ratings
        self.scaling_ = self.inner_.scaling_
        # Moving traces may take the answers on an end away, not the end.
        self.scale_ = self.inner_.scale_ = ratings.truth_scale
        if given.on_state is not None:
            given.on_state(0, copy(self))

    def _lags(self, ratings: Ratings, features: ItemTable | None) -> np.ndarray:
        """(K, D) frames by which each annotator's traces are moved towards the past."""
        return np.zeros((ratings.K, ratings.D), dtype=np.int64)

    def _moved(self, ratings: Ratings, back: int = 1) -> Ratings:
        """The traces moved by their annotators' lags (`back` = -1: moved again to where they were)."""
        if not self.lag_.any():
            return ratings
        usual = np.round(np.median(self.lag_, axis=0, keepdims=True)).astype(np.int64)
        lag = np.concatenate([self.lag_, usual])
        place, value = places_by_label(ratings, self.annotators_), ratings.value.copy()
        for j in range(ratings.J):
            rows = slice(ratings.offset[j], ratings.offset[j + 1])
            for d in range(ratings.D):
                value[rows, d] = advanced(ratings.value[rows, d], back * int(lag[place[j], d]))
        return ratings.with_value(value)

    # ---- results

    def _fuse(self, ratings: Ratings | None, features: ItemTable | None) -> Fused:
        shown = self.fitted_ratings() if ratings is None else ratings
        require_series(shown)
        fused = self.inner_.fuse(as_frames(self._moved(shown)))
        return _series(fused, shown)

    def _predict(self, features: ItemTable) -> Fused:
        return _series(self.inner_.predict(of_recordings(features)), features)

    def _score(self, ratings: Ratings, features: ItemTable | None) -> float:
        return self.inner_.score(as_frames(self._moved(ratings)))

    def predict_ratings(self, ratings: Ratings) -> item_estimates.Predictive:
        self.require_fitted()
        shown = self.fitted_recordings(ratings)
        order = frame_order(shown)
        found = self.inner_.predict_ratings(as_frames(shown))

        def at_its_time(of_frame: np.ndarray) -> np.ndarray:
            part = np.empty_like(shown.value)
            part[order] = of_frame
            moved = self._moved(shown.with_value(part), back=-1).value
            # What a moved trace does not reach is as it would be unmoved.
            return np.asarray(np.where(np.isnan(moved), part, moved))

        return found._replace(mean=at_its_time(found.mean), variance=at_its_time(found.variance))

    def describe(self, on_step: Progress | None = None) -> Annotators:
        self.require_fitted()
        ratings = self.fitted_ratings()
        given = np.bincount(ratings.annotator_of, minlength=ratings.K)
        return replace(self.inner_.describe(), ratings=given)

    def notes(self) -> dict[str, Any]:
        return dict(NOTES)

    def parameters(self) -> item_params.ItemParams:
        raise DataError("This is an average of traces, which knows nothing of its annotators: fuse with --model auto.")

    # ---- saving

    @property
    def feature_columns(self) -> tuple[str, ...]:
        return self.inner_.feature_columns

    @property
    def space_(self) -> FeatureSpace:  # type: ignore[override]
        return self.inner_.space_

    def arrays(self) -> dict[str, np.ndarray]:
        return super().arrays() | packed(self.inner_.arrays(), "inner")

    def restore(self, fit: Fit) -> Self:
        inner = self.average().restore(replace(fit, arrays=inside(fit.arrays, "inner")))
        super().restore(fit).inner_ = inner
        return self


def frame_by_frame(average: type[Baseline]) -> type[SeriesAverage]:
    """The model of traces that applies an average of items to every frame; saved fits know it as `series-<kind>`."""
    about = {"kind": f"series-{average.kind}", "average": average, "__doc__": average.__doc__, "__module__": __name__}
    return type(average.__name__, (SeriesAverage,), about)


Mean = frame_by_frame(of_items.Mean)
Median = frame_by_frame(of_items.Median)
ZScoreMean = frame_by_frame(of_items.ZScoreMean)
EvaluatorWeighted = frame_by_frame(of_items.EvaluatorWeighted)
WeightedMean = frame_by_frame(of_items.WeightedMean)


class AlignedMean(SeriesAverage):
    """The mean of traces moved so that each agrees best with the others; `lag` seconds earlier if that is known."""

    kind: ClassVar[str] = "aligned-mean"
    average = of_items.Mean
    numbers: ClassVar[Mapping[str, Number]] = {
        name: Number("give seconds from 0 on, or leave it out") for name in ("window", "lag")
    }

    def __init__(self, *, window: float | None = None, lag: float | None = None) -> None:
        self.window = window
        self.lag = lag

    def _lags(self, ratings: Ratings, features: ItemTable | None) -> np.ndarray:
        window = WINDOW if self.window is None else self.window
        max_lag = min(round(window * self.rate_ / 2), max(int(ratings.length.max()) - 1, 0))
        data = in_own_units(ratings)
        relative = relative_lags(data, max_lag) if max_lag else np.zeros((ratings.K, ratings.D), dtype=np.int64)
        return relative + round((self.lag or 0.0) * self.rate_)

    def describe(self, on_step: Progress | None = None) -> Annotators:
        moved = copy(self)
        moved._ratings = self._moved(self.fitted_ratings())
        return replace(SeriesAverage.describe(moved), delay=self.lag_ / self.rate_)

    def notes(self) -> dict[str, Any]:
        given = {"delay_given": self.lag} if self.lag else {}
        return NOTES | {"delay_convention": "aligned"} | given


INFORMED_WINDOW = 6.0  # published: seconds: the longest delays that Mariooryad and Busso (2015) found


class LagByInformation(AlignedMean):
    """The mean of traces moved to where they have the greatest mutual information with the features.

    One delay per annotator and dimension, within 6 s (`window`). Without features the mean of the other annotators
    takes their place, and delays are relative to it.
    """

    kind: ClassVar[str] = "lag-mi"
    numbers: ClassVar[Mapping[str, Number]] = {"window": AlignedMean.numbers["window"]}

    lag = None  # known from nowhere: information tells it

    def __init__(self, *, window: float | None = None) -> None:
        self.window = window

    def _lags(self, ratings: Ratings, features: ItemTable | None) -> np.ndarray:
        most = round((INFORMED_WINDOW if self.window is None else self.window) * self.rate_)
        most = min(most, max(int(ratings.length.max()) - 1, 0))
        table, traces = frame_table(features, ratings), recordings_of(in_own_units(ratings))
        ends, lag = np.cumsum(ratings.length)[:-1], np.zeros((ratings.K, ratings.D), dtype=np.int64)
        for d in range(ratings.D):
            for k in range(ratings.K):
                own = [trace[k, :, d] for trace in traces]
                if np.isnan(np.concatenate(own)).all():
                    continue
                if table is not None:
                    lag[k, d] = informative_lag(own, np.split(table.value, ends), 0, most)
                else:
                    others = [known_mean(np.delete(trace[:, :, d], k, axis=0))[:, None] for trace in traces]
                    lag[k, d] = informative_lag(own, others, -(most // 2), most // 2)
        return lag

    def notes(self) -> dict[str, Any]:
        told = {"delay_convention": "features", "mean_delay": float(self.lag_.mean() / self.rate_)}
        return NOTES | (told if self.feature_columns else {"delay_convention": "aligned"})


def frame_order(ratings: Ratings) -> np.ndarray:
    """(S,) the rows of the traces by frame, then annotator: the order that `as_frames` brings them into."""
    who = np.repeat(ratings.annotator_of, ratings.length[ratings.item_of])
    return np.asarray(np.lexsort((who, frame_index(ratings))))


def as_frames(ratings: Ratings) -> Ratings:
    """Every frame an item of its own."""
    total = int(ratings.length.sum())
    return Ratings.from_judgements(
        ratings.value,
        frame_index(ratings),
        np.repeat(ratings.annotator_of, ratings.length[ratings.item_of]),
        items=[str(t) for t in range(total)],
        annotators=ratings.annotators,
        dimensions=ratings.dimensions,
        scale=ratings.scale,
        source=ratings.source,
    )


def frame_table(features: ItemTable | None, ratings: Ratings) -> ItemTable | None:
    """Features on the clock of the ratings, every frame an item of its own."""
    if features is None:
        return None
    table = features.select_items(ratings.items)
    if not np.array_equal(table.length, ratings.length):
        raise DataError(f"{table.source} is not on the clock of the ratings. Use unisono.align_to.")
    return of_recordings(table)


def of_recordings(features: ItemTable) -> ItemTable:
    names = [str(t) for t in range(len(features.value))]
    return ItemTable.from_rows(features.value, items=names, columns=features.columns, source=features.source)


def _series(fused: Fused, shown: Ratings | ItemTable) -> Fused:
    origin = None if shown.reading is None and isinstance(shown, ItemTable) else shown
    return replace(fused, items=shown.items, length=shown.length, clock=shown.clock, origin=origin)


class Independent(Joint):
    """Each dimension by itself."""

    kind: ClassVar[str] = "series-independent"
    one_by_one = True

    def _estimate(
        self, data: SeriesData, gold: np.ndarray | None, watch: Watcher, on_state: OnState | None
    ) -> Estimated:
        found = combined(
            [
                super(Independent, self)._estimate(
                    one_dimension(data, d), None if gold is None else gold[:, [d]], watch, None
                )
                for d in range(data.D)
            ]
        )
        if on_state is not None:
            on_state(max(found.trace.iterations - 1, 0), self._at(found))
        return found
