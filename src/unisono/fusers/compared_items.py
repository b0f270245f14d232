"""The model of comparisons: pairs of items, left, right or tie, and the annotators who said so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np

from unisono.errors import DataError, SettingsError
from unisono.fusers.fuser import Fuser, Given, Progress
from unisono.fusers.fuser_settings import ITERATIONS, Number
from unisono.fusers.fusion_results import Annotators, Fit, Fused
from unisono.fusers.item_posteriors import predicted_answers
from unisono.fusers.joint_items import Joint
from unisono.fusers.rated_and_compared import dimensions_of, places_in, rating_prior, union_of, units_of_all
from unisono.fusers.standardisation import identity_scaling, learn_space, places, restore_space
from unisono.maths.comparisons.comparison_data import ComparisonData, comparison_data
from unisono.maths.comparisons.comparison_em import MAX_ITER, TOL, Crowd, Hyper, Prior, fit, problem
from unisono.maths.comparisons.comparison_posterior import (
    Answering,
    Posterior,
    answer_probabilities,
    newcomer,
    posterior,
    preference_probability,
)
from unisono.maths.items.item_estimates import Predictive
from unisono.maths.items.item_params import ItemParams
from unisono.tables.answer_scale import Scale
from unisono.tables.comparisons import Comparisons, place_of
from unisono.tables.item_table import ItemTable
from unisono.tables.labels import did_you_mean, listed
from unisono.tables.ratings import Ratings

RATED = "rating_fit_"  # before names of arrays of the model of ratings


class Preference(NamedTuple):
    """How probable it is that the average annotator finds more in the left item, ties and order effects aside."""

    probability: float
    low: float  # ends of the 90 % interval
    high: float


class Pairwise(Fuser):
    """Truths behind comparisons, in logits of the average usual annotator; gains, order effects, thresholds of ties.

    `tol` is in nats per comparison. Give the comparisons with `compare` before `fit`, or as `un.fuse(comparisons=...)`.
    """

    kind: ClassVar[str] = "pairwise"
    numbers: ClassVar[Mapping[str, Number]] = {
        "tol": Number("give nats above 0", with_least=False),
        "max_iter": ITERATIONS,
    }
    items_: tuple[str, ...]
    posterior_: Posterior
    crowd_: Crowd
    hyper_: Hyper
    judges_: tuple[str, ...]  # who compared
    counts_: np.ndarray  # (K,) how often
    rater_: Joint | None = None  # the model of ratings beside

    def __init__(self, *, tol: float = TOL, max_iter: int = MAX_ITER) -> None:
        self.tol = tol
        self.max_iter = max_iter

    def compare(self, comparisons: Comparisons) -> Self:
        """Takes these comparisons into the next fit; returns itself."""
        self._told = {**self._told, "comparisons": comparisons}
        return self

    def refuses_gold(self) -> str:
        return "Comparisons have no place for known truths yet."

    def _fit(self, given: Given) -> None:
        compared = given.told.get("comparisons")
        if compared is None:
            raise SettingsError(
                "The model 'pairwise' is for comparisons: give them (comparisons=..., --comparisons FILE)."
            )
        rated = given.ratings if given.ratings.J else None
        self.items_, self.dimensions_ = union_of(rated, compared)
        self._ratings, D = given.ratings, len(self.dimensions_)
        prior = None if rated is None else self._rate(rated, given.features)
        at = problem(self._prepared(compared, dimensions_of(rated, compared)), prior)
        listener, self.judges_ = given.on_step, compared.annotators
        watcher = None if listener is None else lambda i, state, bound: listener(i, bound)
        state, self.trace_ = fit(at, tol=self.tol, max_iter=self.max_iter, on_step=watcher)
        self.posterior_, state = posterior(at, state)
        self.crowd_, self.hyper_ = state.crowd, state.hyper
        self.counts_ = np.bincount(compared.annotator_of, minlength=len(compared.annotators))
        if rated is None:
            self.annotators_ = compared.annotators
            self.space_, _ = learn_space(None, self.items_, intercept=False, standardise=False)
            self.scaling_, self.scale_ = identity_scaling(D), Scale.none(D)

    def _prepared(self, compared: Comparisons, dimensions: Sequence[str]) -> ComparisonData:
        item, dim = places_in(self.items_, compared.items), places_in(self.dimensions_, dimensions)
        sizes = len(self.items_), len(self.dimensions_), len(compared.annotators)
        sides = item[compared.left], item[compared.right]
        who, answer = compared.annotator_of, compared.answer
        return comparison_data(sides, dim[compared.dimension_of], who, answer, sizes, sided=compared.sided)

    def _rate(self, rated: Ratings, features: ItemTable | None) -> Prior:
        """The model of ratings, fitted: what it says of the items, and its units."""
        self.rater_ = Joint().fit(rated, features)
        self.annotators_, self.space_ = self.rater_.annotators_, self.rater_.space_
        self.scaling_, self.scale_ = units_of_all(self.rater_, len(self.dimensions_))
        return rating_prior(self.rater_, rated, self.items_, len(self.dimensions_))

    # ---- results

    def _fuse(self, ratings: Ratings | None, features: ItemTable | None) -> Fused:
        if ratings is not None:
            self._not_of_ratings()
        found, ones = self.posterior_, np.ones(len(self.items_), dtype=np.int64)
        mean, cov = self.scaling_.restore_mean(found.mean), self.scaling_.restore_cov(found.block)
        ends = self.scale_.low, self.scale_.high
        return Fused(np.clip(mean, *ends), cov, self.items_, self.dimensions_, ones, ends=ends, uncut=mean)

    def probability(self, left: str, right: str, dimension: str | None = None) -> Preference:
        """How probable it is that the average annotator finds more in `left` than in `right`, with a 90 % interval."""
        self.require_fitted()
        if dimension is None and len(self.dimensions_) > 1:
            raise DataError(f"Say which dimension: {listed(self.dimensions_)}.")
        d = 0 if dimension is None else self._place(dimension, self.dimensions_, "dimension")
        at = [self._place(str(item), self.items_, "item") for item in (left, right)]
        apart = self.posterior_.component[at[0]] != self.posterior_.component[at[1]]
        if apart and not self.is_rated(d):
            raise DataError(
                f"'{left}' and '{right}' are in different components: no chain of comparisons connects them, so "
                "nothing is known of their difference."
            )
        u, v = (np.array([item * len(self.dimensions_) + d]) for item in at)
        mean, variance = self.posterior_.differences(u, v)
        unit = float(self.hyper_.unit[d])
        return Preference(*preference_probability(unit * float(mean[0]), unit**2 * float(variance[0])))

    def is_rated(self, d: int) -> bool:
        """Whether ratings have the dimension, so that differences between components are known."""
        return self.rater_ is not None and d < len(self.rater_.dimensions_)

    def answer_chances(self, annotators: Sequence[str], left: Sequence[str], right: Sequence[str]) -> np.ndarray:
        """(n, D, 3) probabilities of left, tie and right; who or what was not in the fit is like a newcomer."""
        self.require_fitted()
        people, items = place_of(self.judges_), place_of(self.items_)
        who = np.array([people.get(name, -1) for name in annotators], dtype=np.int64)
        one, other = (np.array([items.get(name, -1) for name in side], dtype=np.int64) for side in (left, right))
        ways, D = self._ways(who), len(self.dimensions_)
        return np.stack([answer_probabilities(*self.difference(one, other, d), ways) for d in range(D)], axis=1)

    def difference(self, left: np.ndarray, right: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances in logits; of items that nobody compared, those of the population."""
        D, unit = len(self.dimensions_), self.hyper_.unit[d]
        known = (left >= 0) & (right >= 0)
        component = self.posterior_.component
        if not self.is_rated(d):
            known[known] = component[left[known]] == component[right[known]]
        mean, variance = np.zeros(len(left)), np.full(len(left), 2 * self.hyper_.Sigma[d, d])
        for at, sign in ((left, 1.0), (right, -1.0)):  # what is known of one of them by itself
            seen = ~known & (at >= 0)
            mean[seen] += sign * self.posterior_.mean[at[seen], d]
            level = 0.0 if self.is_rated(d) else 1 / np.bincount(component)[component[at[seen]]]
            variance[seen] += self.posterior_.block[at[seen], d, d] - (1 - level) * self.hyper_.Sigma[d, d]
        both = self.posterior_.differences(left[known] * D + d, right[known] * D + d)
        mean[known], variance[known] = both
        return mean * unit, variance * unit**2

    def _ways(self, who: np.ndarray) -> Answering:
        """Of annotators by place, -1 for a newcomer."""
        crowd, new = self.crowd_, newcomer(self.hyper_)
        with np.errstate(divide="ignore"):
            tie = np.log(crowd.tau)
        known = Answering(crowd.prob, crowd.at, crowd.cov, tie, np.zeros(len(tie)))
        return Answering(*(np.concatenate([one, other])[who] for one, other in zip(known, new, strict=True)))

    def _place(self, label: str, labels: Sequence[str], what: str) -> int:
        found = place_of(labels).get(label)
        if found is None:
            raise DataError(f"There is no {what} '{label}'.{did_you_mean(label, labels)}")
        return found

    def comparison_columns(self) -> dict[str, Any]:
        """One row per annotator: how often and how they compared."""
        crowd = self.crowd_
        mean = np.einsum("kz,kzi->ki", crowd.prob, crowd.at)
        table: dict[str, Any] = {
            "annotator": list(self.judges_),
            "comparisons": self.counts_,
            "comparison_gain": mean[:, 0],
            "order": mean[:, 1],
        }
        if np.isfinite(self.hyper_.tie):
            table["tie_threshold"] = crowd.tau
        return table | {"comparison_spammer": crowd.prob[:, 1], "comparison_flipped": crowd.prob[:, 2]}

    def _not_of_ratings(self) -> NoReturn:
        raise DataError("This fit is of comparisons alone, so it knows nothing of ratings. See predict_comparisons.")

    def _predict(self, features: ItemTable) -> Fused:
        self._not_of_ratings()

    def _score(self, ratings: Ratings, features: ItemTable | None) -> float:
        self._not_of_ratings()

    def predict_ratings(self, ratings: Ratings) -> Predictive:
        if self.rater_ is None:
            self._not_of_ratings()
        rater, own, truths = self.rater_, len(self.rater_.dimensions_), self.posterior_
        shown = rater.known_ratings(ratings)
        who = places(shown, rater.annotators_, rater.params_)
        told = truths.mean[:, :own], truths.block[:, :own, :own]
        at = places_in(self.items_, shown.items)[shown.item_of]
        found = predicted_answers(rater._items, rater.calibration_, at, who, told)
        return rater.restored_prediction(found)

    def describe(self, on_step: Progress | None = None) -> Annotators:
        if self.rater_ is None:
            self._not_of_ratings()
        return self.rater_.describe(on_step)

    def parameters(self) -> ItemParams:
        self._not_of_ratings()

    # ---- saving

    def arrays(self) -> dict[str, np.ndarray]:
        self.require_fitted()
        parts: dict[str, Any] = {"posterior": self.posterior_, "crowd": self.crowd_, "hyper": self.hyper_}
        found = {
            f"{name}_{field}": np.asarray(value)
            for name, part in parts.items()
            for field, value in part._asdict().items()
            if value is not None
        }
        found |= {"comparison_counts": self.counts_, "comparison_judges": np.array(self.judges_)}
        if self.rater_ is None:
            return found | self.space_.arrays()
        found |= {"rated_dimensions": np.array(len(self.rater_.dimensions_))}
        return found | {f"{RATED}{name}": value for name, value in self.rater_.arrays().items()}

    def restore(self, fit: Fit) -> Self:
        self.forget()
        arrays = fit.arrays
        self.posterior_ = Posterior(*(arrays.get(f"posterior_{name}") for name in Posterior._fields))  # type: ignore[arg-type]
        self.crowd_ = Crowd(*(arrays[f"crowd_{name}"] for name in Crowd._fields))
        self.hyper_ = Hyper(*(_plain(arrays[f"hyper_{name}"]) for name in Hyper._fields))
        self.counts_ = arrays["comparison_counts"]
        self.items_, self.dimensions_, self.annotators_ = fit.items, fit.dimensions, fit.annotators
        self.judges_, self.trace_ = tuple(arrays["comparison_judges"].tolist()), fit.trace
        D = len(fit.dimensions)
        if "rated_dimensions" in arrays:
            own = fit.dimensions[: int(arrays["rated_dimensions"])]
            inner = {name.removeprefix(RATED): value for name, value in arrays.items() if name.startswith(RATED)}
            kept = replace(fit, dimensions=own, arrays=inner, settings={}, kind=Joint.kind)
            self.rater_ = Joint().restore(kept)
            self.space_ = self.rater_.space_
            self.scaling_, self.scale_ = units_of_all(self.rater_, D)
        else:
            self.space_ = restore_space(fit.features, arrays)
            self.scaling_, self.scale_ = identity_scaling(D), Scale.none(D)
        return self


def _plain(value: np.ndarray) -> Any:
    return value if value.ndim else float(value)


def unrated(compared: Comparisons) -> Ratings:
    """Ratings that nobody gave, of the items that were compared."""
    empty = np.zeros(0, dtype=np.int64)
    D = len(compared.dimensions)
    return Ratings.from_judgements(
        np.zeros((0, D)),
        empty,
        empty,
        items=compared.items,
        annotators=compared.annotators,
        dimensions=compared.dimensions,
        scale=Scale.none(D),
        source=compared.source,
        frame_kind=compared.frame_kind,
    )
