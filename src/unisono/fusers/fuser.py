"""What all fusers share: keyword-only settings, `fit` returns self, learned names end in `_`.

Labels go in and labels come out; inside, annotators and items are numbers. A fuser also knows how to write itself down
as a `Fit` and how to come back from one. Settings are read from the signature of `__init__` (`get_params`,
`set_params`, `repr`, as scikit-learn's, so that `sklearn.base.clone` works without scikit-learn being needed here);
each is stored under its own name. Settings that are numbers are declared in `numbers`: what is no number, not a
finite one or out of its range is a SettingsError before anything is read.
"""

from __future__ import annotations

import inspect
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from unisono.errors import ConvergenceWarning, DataError, NotFittedError, SettingsError
from unisono.fusers.fusion_results import Annotators, Fit, Fused
from unisono.fusers.standardisation import FeatureSpace, Scaling
from unisono.maths.em_loop import EmTrace
from unisono.maths.items.item_estimates import Predictive
from unisono.maths.items.item_params import ItemParams
from unisono.tables.answer_scale import Scale
from unisono.tables.item_table import ItemTable
from unisono.tables.labels import Introduction, listed, nearest
from unisono.tables.rating_checks import require_known_items
from unisono.tables.ratings import Ratings
from unisono.tables.reading.conversion import as_ratings


class Number(NamedTuple):
    """Values that a setting takes: finite ones from `least` on, below `below`, and some others."""

    give: str  # the way out: goes on "lag=-1: give"
    least: float = 0.0
    below: float = np.inf
    with_least: bool = True  # is least itself a value?
    whole: bool = False
    others: tuple[object, ...] = ()  # values beside them: words, or -1 for one per core

    def fits(self, value: object) -> bool:
        if isinstance(value, bool | np.bool_) or not isinstance(value, str | Integral if self.whole else str | Real):
            return False
        if isinstance(value, str) or value in self.others:
            return value in self.others
        number = float(value)
        above = number >= self.least if self.with_least else number > self.least
        return above and number < self.below  # NaN is neither, infinity not below


TOLERANCE = Number("give a relative change from 0 on, or leave it out")
ITERATIONS = Number("give a whole number from 1 on, or leave it out", least=1, whole=True)
SEED = Number("give a whole number from 0 on", whole=True)
JOBS = Number("give the number of processes, or -1 for one per core", least=1, whole=True, others=(-1,))


def require_numbers(
    settings: Mapping[str, object], defaults: Mapping[str, object], numbers: Mapping[str, Number]
) -> None:
    """Raises a SettingsError for the first setting that is none of the values it takes."""
    for name, number in numbers.items():
        value = settings[name]
        left_out = value is None and defaults[name] is None
        if not left_out and not number.fits(value):
            shown = value.item() if isinstance(value, np.generic) else value
            raise SettingsError(f"{name}={shown!r}: {number.give}.")


class Parameterised:
    """What every estimator can say about its settings."""

    namespace: ClassVar[str] = ""  # where its name is to be found, if not at the top

    @classmethod
    def default_params(cls) -> dict[str, Any]:
        """The settings by name, as they are if nobody changes them."""
        taken = inspect.signature(cls).parameters.values()
        return {p.name: p.default for p in taken if p.kind is inspect.Parameter.KEYWORD_ONLY}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Keyword arguments that make an equal, unfitted estimator; `deep` is there for scikit-learn's sake."""
        return {name: getattr(self, name) for name in self.default_params()}

    def set_params(self, **params: Any) -> Self:
        """Changes settings and returns itself; what was fitted stays until the next `fit`."""
        for name, value in params.items():
            self.require_param(name)
            setattr(self, name, value)
        return self

    def alike(self, **changes: Any) -> Self:
        """An unfitted estimator with the same settings, but for these."""
        return type(self)(**(self.get_params() | changes))

    @classmethod
    def require_param(cls, name: str) -> None:
        """An error that says which settings there are, unless this is one."""
        known = cls.default_params()
        if name not in known:
            close = nearest(name, known)
            hint = f" Did you mean '{close}'?" if close else ""
            settings = f"Its settings are {', '.join(known)}." if known else "It has none."
            raise SettingsError(f"{cls._name()} has no setting '{name}'.{hint} {settings}")

    def changed_params(self) -> dict[str, Any]:
        """The settings that differ from their defaults."""
        default = self.default_params()
        return {name: value for name, value in self.get_params().items() if not _same(value, default[name])}

    def __repr__(self) -> str:
        changed = ", ".join(f"{name}={value!r}" for name, value in self.changed_params().items())
        return f"{self._name()}({changed})"

    @classmethod
    def _name(cls) -> str:
        return cls.namespace + cls.__name__

    def _repr_html_(self) -> str:
        fitted = "fitted" if hasattr(self, "trace_") else "not fitted yet"
        rows = [(name, repr(value)) for name, value in self.changed_params().items()]
        about = "settings that are not the defaults" if rows else "all settings are the defaults"
        return Introduction.of(f"{self._name()}, {fitted}", ("setting", "value"), rows, about).html()


def _same(value: Any, default: Any) -> bool:
    # NaN-safe, and safe for settings that are arrays or mappings.
    return value is default or bool(repr(value) == repr(default))


Progress = Callable[[int, float], None]  # iteration, objective
NOT_SAVED = ("jobs",)  # settings that say how fast, not what
OnState = Callable[[int, "Fuser"], None]  # iteration, the fuser as it would be if it stopped there


class Fuser(Parameterised, ABC):
    """An estimator of the truth behind ratings."""

    kind: ClassVar[str]
    numbers: ClassVar[Mapping[str, Number]] = {}  # settings that are numbers, and which of them

    dimensions_: tuple[str, ...]
    annotators_: tuple[str, ...]
    space_: FeatureSpace
    scaling_: Scaling
    scale_: Scale  # that answers were given on, and that no truth leaves
    trace_: EmTrace
    _ratings: Ratings

    # Dimensions may come out permuted or with the wrong sign: nothing in the model fixes their labels.
    labels_can_switch: bool = False
    # Dimensions are estimated one by one, so that each may be stopped by itself.
    one_by_one: bool = False

    @abstractmethod
    def fit(
        self,
        ratings: Any,
        features: Any = None,
        gold: Any = None,
        on_step: Progress | None = None,
        on_state: OnState | None = None,
    ) -> Self:
        """Learns from ratings; forgets what it knew. Returns itself.

        `ratings` are `Ratings`, a path or a data frame, `features` and `gold` an `ItemTable`, a path or a data frame.
        `on_state` receives a fuser of its own after every iteration, fitted as far as that; it may be kept.
        """

    @abstractmethod
    def fuse(self, ratings: Any = None, features: Any = None) -> Fused:
        """The truth of the fitted items, or of other items rated by annotators already known; see `.truth` of it."""

    @abstractmethod
    def predict(self, features: Any) -> Fused:
        """The truth of items that nobody has rated, from their features."""

    @abstractmethod
    def score(self, ratings: Any, features: Any = None) -> float:
        """Log density of held-out ratings by known annotators, per number; higher is better."""

    @abstractmethod
    def predict_ratings(self, ratings: Ratings) -> Predictive:
        """What the annotators of these judgements are expected to answer, from what was fitted; their values are not
        looked at. Items have to be among the fitted ones."""

    @abstractmethod
    def describe(self, on_step: Progress | None = None) -> Annotators:
        """What is known of each annotator; `on_step` hears of it where it takes a while."""

    @abstractmethod
    def parameters(self) -> ItemParams:
        """The model of annotators and truth that was learned, in standardised units."""

    def saved_params(self) -> dict[str, Any]:
        """The settings that a saved fit keeps: all but those that decide no number."""
        return {name: value for name, value in self.get_params().items() if name not in NOT_SAVED}

    @abstractmethod
    def arrays(self) -> dict[str, np.ndarray]:
        """All learned numbers."""

    @abstractmethod
    def restore(self, fit: Fit) -> Self:
        """Takes the learned numbers from a saved fit."""

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """The features it was fitted with."""
        return self.space_.columns

    def candidates(self, ratings: Ratings) -> tuple[Fuser, ...]:
        """What a choice with a reference may choose from: widths and starts of models that have them, else itself."""
        return (self,)

    def check_settings(self) -> None:
        """Raises a SettingsError for settings that make no sense, whatever the ratings are. Default: `numbers`."""
        require_numbers(self.get_params(), self.default_params(), self.numbers)

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

    def forget(self) -> None:
        """Leaves the settings alone: a fit rests on nothing that was learned before."""
        for name in [name for name in vars(self) if name.startswith("_") or name.endswith("_")]:
            delattr(self, name)

    def warn_unless_converged(self) -> None:
        """For the end of `fit`, so that the warning points at whoever called it."""
        if not self.trace_.converged:
            warnings.warn(
                f"EM stopped after {self.trace_.iterations} iterations, before it converged. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def require_fitted(self) -> None:
        if not hasattr(self, "trace_"):
            raise NotFittedError(f"{type(self).__name__} has not been fitted yet: call fit(ratings) first.")

    def on_scale(self, mean: np.ndarray, cov: np.ndarray, shown: Ratings | ItemTable, freedom: float = np.inf) -> Fused:
        """Truths (S, D) of the items or frames of ratings (or of features), from standardised units to the user's.

        This is where all of them are cut at the scale's ends. Covariances stay as they are: they are those of the error
        of an estimate that knows of no ends.
        """
        uncut, ends = self.scaling_.restore_mean(mean), (self.scale_.low, self.scale_.high)
        labels = shown.items, self.dimensions_, shown.length, shown.clock, freedom
        origin = None if shown.reading is None and isinstance(shown, ItemTable) else shown
        return Fused(np.clip(uncut, *ends), self.scaling_.restore_cov(cov), *labels, ends, uncut, origin)

    def fitted_ratings(self) -> Ratings:
        """The ratings it was fitted on, which a fit brought back from disk does not hold."""
        if not hasattr(self, "_ratings"):
            raise DataError("A saved fit does not hold the ratings: give them again.")
        return self._ratings

    def known_ratings(self, source: Any) -> Ratings:
        """Other ratings (a path, a data frame or `Ratings`) with this fuser's dimensions, in its order."""
        ratings = as_ratings(source)
        missing = [name for name in self.dimensions_ if name not in ratings.dimensions]
        if missing:
            raise DataError(f"{ratings.source} has no ratings of {listed(missing)}, which the model was fitted on.")
        return ratings.select_dimensions(self.dimensions_)

    def restored_prediction(self, predicted: Predictive) -> Predictive:
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


def gold_values(gold: ItemTable, ratings: Ratings) -> np.ndarray:
    """(M, D) known truths in the order of the ratings' items and dimensions, NaN where not known."""
    require_known_items(gold, ratings)
    place = {item: m for m, item in enumerate(ratings.items)}
    dims = [name for name in ratings.dimensions if name in gold.columns]
    if not dims:
        raise DataError(
            f"{gold.source} has the columns {listed(gold.columns)}, none of which was rated: "
            f"the dimensions are {listed(ratings.dimensions)}."
        )
    known = np.full((ratings.M, ratings.D), np.nan)
    rows = np.array([place[item] for item in gold.items], dtype=np.int64)
    for name in dims:
        known[rows, ratings.dimensions.index(name)] = gold.value[:, gold.columns.index(name)]
    return known
