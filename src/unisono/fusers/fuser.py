"""The spine of every model: `fit` reads the tables once and forgets the past, `_fit` is the model.

Labels go in and labels come out; inside, annotators and items are numbers. Tables of any kind come in through `fit`,
`fuse`, `predict` and `score`, which are concrete; what a model implements (`_fit`, `_fuse`, `_predict`, `_score`)
receives `Ratings` and `ItemTable`. Settings are keyword-only and only stored, `fit` returns self, learned names end in
`_`. A fuser also knows how to write itself down as a `Fit` and how to come back from one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from unisono.errors import ConvergenceWarning, DataError, NotFittedError, warn
from unisono.fusers import fuser_settings, learned_arrays, standardisation
from unisono.fusers.fusion_results import Annotators, Fit, Fused, SharedError
from unisono.maths import em_loop, gold_slope
from unisono.maths.items import item_estimates, item_params
from unisono.tables import ItemTable, Ratings, Scale, listed

Progress = Callable[[int, float], None]  # iteration, objective
NOT_SAVED = ("jobs",)  # settings that say how fast, not what
OnState = Callable[[int, "Fuser"], None]  # iteration, the fuser as it would be if it stopped there


class Given(NamedTuple):
    """What one fit has to go on: tables that have been read, what this fit alone was told, and who watches."""

    ratings: Ratings
    features: ItemTable | None = None
    gold: ItemTable | None = None
    told: Mapping[str, Any] = MappingProxyType({})
    on_step: Progress | None = None
    on_state: OnState | None = None


def as_ratings(source: Any) -> Ratings:
    """Ratings as they are, or read from a path or a data frame."""
    if isinstance(source, Ratings):
        return source
    from unisono.tables.reading.ratings_reader import read_ratings  # whoever has ratings needs no readers

    return read_ratings(source)


def as_item_table(source: Any) -> ItemTable | None:
    """A table of items as it is, or read from a path or a data frame; None stays None."""
    if source is None or isinstance(source, ItemTable):
        return source
    from unisono.tables.reading.ratings_reader import read_item_table

    return read_item_table(source)


class Fuser(fuser_settings.Parameterised, ABC):
    """An estimator of the truth behind ratings."""

    kind: ClassVar[str]

    dimensions_: tuple[str, ...]
    annotators_: tuple[str, ...]
    space_: standardisation.FeatureSpace
    scaling_: standardisation.Scaling
    scale_: Scale  # that answers were given on, and that no truth leaves
    trace_: em_loop.EmTrace
    _ratings: Ratings

    # Dimensions may come out permuted or with the wrong sign: nothing in the model fixes their labels.
    labels_can_switch: bool = False
    # Dimensions are estimated one by one, so that each may be stopped by itself.
    one_by_one: bool = False

    # Known truths that run against the ratings, or are in another unit, are obeyed instead of refused.
    gold_anyway: bool = False
    # What only the next fit is to know: an earlier fit, numbers about single ratings.
    _told: Mapping[str, Any] = MappingProxyType({})

    # ---- what everybody calls: tables of any kind are read here, and nowhere inside

    def fit(
        self,
        ratings: Any,
        features: Any = None,
        gold: Any = None,
        on_step: Progress | None = None,
        on_state: OnState | None = None,
    ) -> Self:
        """Learns from ratings; forgets what it knew, also where it fails. Returns itself.

        Parameters
        ----------
        ratings : Ratings, path or data frame
            Who answered what on which item, or on which frame of a recording.
        features : ItemTable, path or data frame, optional
            Numbers that are known of every item or frame.
        gold : ItemTable, path or data frame, optional
            Known truths of some items or frames.
        on_step : callable, optional
            Called with (iteration, objective) after every iteration.
        on_state : callable, optional
            Called after every iteration with its number and a fuser of its own, fitted as far as that.

        Returns
        -------
        Fuser
            The fuser itself.

        Raises
        ------
        SettingsError
            Settings that make no sense.
        DataError
            Tables that cannot be used, and known truths that cannot mean what ratings mean.
        """
        told = self._told
        self.forget()
        self.check_settings()
        given = Given(as_ratings(ratings), as_item_table(features), as_item_table(gold), told, on_step, on_state)
        if given.gold is not None and (why := self.refuses_gold()):
            raise DataError(why)
        try:
            self._fit(given)
            if given.gold is not None and not self.gold_anyway:
                require_meaning(given.gold.source, given.ratings.dimensions, self._gold_slopes())
        except BaseException:
            self.forget()
            raise
        self._warn_unless_converged()
        return self

    def fuse(self, ratings: Any = None, features: Any = None) -> Fused:
        """The truth of the fitted items, or of other items rated by annotators already known; see `.truth` of it."""
        self.require_fitted()
        shown = None if ratings is None else self.known_ratings(as_ratings(ratings))
        return self._fuse(shown, as_item_table(features))

    def predict(self, features: Any) -> Fused:
        """The truth of items that nobody has rated, from their features."""
        self.require_fitted()
        table, known = as_item_table(features), self.feature_columns
        if not known:
            raise DataError("The model was fitted without features, so features alone cannot predict a truth.")
        if table is None:
            raise DataError(f"The model was fitted with features {listed(known)}: give them to predict from.")
        return self._predict(table)

    def score(self, ratings: Any, features: Any = None) -> float:
        """Log density of held-out ratings by known annotators, per number; higher is better."""
        self.require_fitted()
        return self._score(self.known_ratings(as_ratings(ratings)), as_item_table(features))

    # ---- what a model is

    @abstractmethod
    def _fit(self, given: Given) -> None:
        """Learns from tables that have been read; nothing is left of an earlier fit."""

    @abstractmethod
    def _fuse(self, ratings: Ratings | None, features: ItemTable | None) -> Fused:
        """The truth of the fitted items, or of these, which have the dimensions of the fit."""

    @abstractmethod
    def _predict(self, features: ItemTable) -> Fused:
        """The truth of items from their features."""

    @abstractmethod
    def _score(self, ratings: Ratings, features: ItemTable | None) -> float:
        """Log density of these ratings, per number."""

    def refuses_gold(self) -> str:
        """Why the model, or its settings, cannot use known truths; nothing where they can."""
        return ""

    def _gold_slopes(self) -> Sequence[gold_slope.Slope]:
        """Of known truths on the truth fused without them, by dimension; none where they were not compared."""
        return ()

    @abstractmethod
    def predict_ratings(self, ratings: Ratings) -> item_estimates.Predictive:
        """What the annotators of these judgements are expected to answer, from what was fitted; their values are not
        looked at. Items have to be among the fitted ones."""

    @abstractmethod
    def describe(self, on_step: Progress | None = None) -> Annotators:
        """What is known of each annotator; `on_step` hears of it where it takes a while."""

    @abstractmethod
    def parameters(self) -> item_params.ItemParams:
        """The model of annotators and truth that was learned, in standardised units."""

    def saved_params(self) -> dict[str, Any]:
        """The settings that a saved fit keeps: all but those that decide no number."""
        return {name: value for name, value in self.get_params().items() if name not in NOT_SAVED}

    # What was learned and is kept in a saved fit, and its types.
    saved: ClassVar[dict[str, Any]] = {"scaling_": standardisation.Scaling, "scale_": Scale}

    def arrays(self) -> dict[str, np.ndarray]:
        """All learned numbers."""
        self.require_fitted()
        each = (learned_arrays.packed(getattr(self, name), name.rstrip("_")) for name in self.saved)
        return {name: array for own in each for name, array in own.items()}

    def as_fit(
        self, model: str, items: tuple[str, ...], arrays: dict[str, np.ndarray], provenance: dict[str, Any]
    ) -> Fit:
        """All that brings it back, with further arrays about these items; `model` is the name it was asked for by."""
        learned = self.arrays()
        assert learned.keys().isdisjoint(arrays), "what is said of these items would replace what was learned"
        return Fit(
            model=model,
            kind=self.kind,
            settings=self.saved_params(),
            items=items,
            annotators=self.annotators_,
            dimensions=self.dimensions_,
            features=self.feature_columns,
            arrays=learned | arrays,
            trace=self.trace_,
            provenance=provenance,
        )

    def restore(self, fit: Fit) -> Self:
        """Takes the learned numbers from a saved fit."""
        self.forget()
        for name, kind in self.saved.items():
            setattr(self, name, learned_arrays.unpacked(kind, fit.arrays, name.rstrip("_")))
        self.dimensions_, self.annotators_, self.trace_ = fit.dimensions, fit.annotators, fit.trace
        return self

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """The features it was fitted with."""
        return self.space_.columns

    def candidates(self, ratings: Ratings) -> tuple[Fuser, ...]:
        """What a choice with a reference may choose from: widths and starts of models that have them, else itself."""
        return (self,)

    def notes(self) -> dict[str, Any]:
        """Numbers that the summary has beyond those of every model; words are made of them in `report`."""
        return {}

    def asked(self, given: np.ndarray) -> np.ndarray:
        """(K,) how often annotators would be asked for further ratings: as often as they rated (`given`)."""
        return given

    def who_is_asked(self) -> str:
        """Whose ratings a plan is about, where it is not everybody's; goes on a sentence about ratings per item."""
        return ""

    def known_before(self) -> np.ndarray:
        """(D, D) covariance of a truth before anybody who is asked rates it, in standardised units."""
        return self.parameters().Sigma

    def tables(self) -> dict[str, dict[str, Any]]:
        """Tables that are written beside truth and annotators: columns by name (`groups` becomes groups.csv)."""
        return {}

    def gives_posterior_means(self) -> bool:
        """Whether estimates are drawn to the middle, so that they spread less than the truth; averages are not."""
        settings = self.get_params()
        return settings.get("estimate") == "posterior" or settings.get("inference", "bayes") != "bayes"

    def reliability_draws(self, fused: Fused) -> np.ndarray | None:
        """(B, D) squared correlations of the estimate with the truth that the fit leaves open; None: not known."""
        return None

    def forget(self) -> None:
        """Leaves the settings alone: a fit rests on nothing that was learned before."""
        for name in [name for name in vars(self) if name.startswith("_") or name.endswith("_")]:
            delattr(self, name)

    def _warn_unless_converged(self) -> None:
        """For the end of `fit`, so that the warning points at whoever called it."""
        if not self.trace_.converged:
            warn(
                f"EM stopped after {self.trace_.iterations} iterations, before it converged. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def require_fitted(self) -> None:
        if not hasattr(self, "trace_"):
            raise NotFittedError(f"{type(self).__name__} has not been fitted yet: call fit(ratings) first.")

    def per_number(self, log_density: float, ratings: Ratings) -> float:
        """From the log density of standardised ratings to that of the ratings, per number."""
        numbers = (~np.isnan(ratings.value)).sum(axis=0)
        return float((log_density - numbers @ np.log(self.scaling_.scale)) / max(numbers.sum(), 1))

    def on_scale(
        self,
        mean: np.ndarray,
        cov: np.ndarray,
        shown: Ratings | ItemTable,
        freedom: float = np.inf,
        level: SharedError | None = None,
    ) -> Fused:
        """Truths (S, D) of the items or frames of ratings (or of features), from standardised units to the user's.

        This is where all of them are cut at the scale's ends. Covariances stay as they are: they are those of the error
        of an estimate that knows of no ends. `level` is an error which all of them share.
        """
        uncut, ends = self.scaling_.restore_mean(mean), (self.scale_.low, self.scale_.high)
        labels = shown.items, self.dimensions_, shown.length, shown.clock, freedom
        origin = None if shown.reading is None and isinstance(shown, ItemTable) else shown
        shared = None if level is None else level.mapped(self.scaling_.scale, self.scaling_.loc)
        return Fused(np.clip(uncut, *ends), self.scaling_.restore_cov(cov), *labels, ends, uncut, origin, shared)

    def fitted_ratings(self) -> Ratings:
        """The ratings it was fitted on, which a fit brought back from disk does not hold."""
        if not hasattr(self, "_ratings"):
            raise DataError("A saved fit does not hold the ratings: give them again.")
        return self._ratings

    def known_ratings(self, ratings: Ratings) -> Ratings:
        """Other ratings with this fuser's dimensions, in its order."""
        missing = [name for name in self.dimensions_ if name not in ratings.dimensions]
        if missing:
            raise DataError(f"{ratings.source} has no ratings of {listed(missing)}, which the model was fitted on.")
        return ratings.select_dimensions(self.dimensions_)

    def fitted_recordings(self, ratings: Ratings) -> Ratings:
        """The same of traces, which have to be about the recordings of the fit, frame by frame."""
        shown, fitted = self.known_ratings(ratings), self.fitted_ratings()
        if shown.items != fitted.items or not np.array_equal(shown.length, fitted.length):
            raise DataError(f"{shown.source} is not about the recordings of the fit, frame by frame.")
        return shown

    def restored_prediction(self, predicted: item_estimates.Predictive) -> item_estimates.Predictive:
        """Predicted answers from standardised units to the user's."""
        variance = predicted.variance * self.scaling_.scale**2
        return predicted._replace(mean=self.scaling_.restore_mean(predicted.mean), variance=variance)


def fitted_places(ratings: Ratings, fitted: Ratings) -> np.ndarray:
    """(J,) where the item of each judgement stands among the fitted items."""
    place = {item: m for m, item in enumerate(fitted.items)}
    unknown = [item for item in ratings.items if item not in place]
    if unknown:
        raise DataError(
            f"{ratings.source}: item {listed(unknown)} was not in the fit, so nothing is known about answers to it. "
            "Fit with at least one rating of it, or leave it out."
        )
    index = np.array([place[item] for item in ratings.items], dtype=np.int64)
    return np.asarray(index[ratings.item_of])


def require_meaning(source: str, dimensions: Sequence[str], slopes: Sequence[gold_slope.Slope]) -> None:
    """A DataError with the figures and with what to do, unless known truths may mean what ratings mean."""
    found = zip(dimensions, slopes, strict=True) if slopes else ()
    if lines := [_what(name, slope) for name, slope in found if slope.refuted]:
        raise DataError(f"{source}: {' '.join(lines)} To obey them as they are, say --gold-anyway (gold_anyway=True).")


def interval_words(slope: float, low: float, high: float) -> str:
    """A slope with its interval."""
    return f"{slope:.2g} ({gold_slope.CERTAIN:.0%} interval {low:.2g} to {high:.2g})"


def _what(name: str, slope: gold_slope.Slope) -> str:
    figures = (
        f"their slope on the truth fused without them is {interval_words(slope.value, slope.low, slope.high)} over "
        f"{slope.known} known values, where values of the same meaning have about 1"
    )
    if slope.upside_down and not slope.other_unit:
        return (
            f"The known values of '{name}' run against the ratings: {figures}. Turn them round (lowest + highest - "
            "value) if they are upside down, and obey them if it is most annotators who are."
        )
    against = " and run against the ratings" if slope.upside_down else ""
    factor = f"{1 / slope.spread:.2g}"
    return (
        f"The known values of '{name}' look as if they were in another unit{against}: {figures}. Bring them to the "
        f"unit of the ratings, about {factor} times as large (--scale says where answers end)."
    )
