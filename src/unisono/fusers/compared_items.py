"""The model of comparisons: pairs of items, left, right or tie, and the annotators who said so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, NoReturn, Self

import numpy as np
from scipy.special import expit

from unisono.errors import DataError, SettingsError
from unisono.fusers import comparison_knowledge
from unisono.fusers.fuser import Fuser, Given, Progress
from unisono.fusers.fuser_settings import ITERATIONS, Number
from unisono.fusers.fusion_results import Annotators, Fit, Fused
from unisono.fusers.item_posteriors import predicted_answers
from unisono.fusers.joint_items import Joint
from unisono.fusers.learned_arrays import inside, packed
from unisono.fusers.standardisation import FeatureSpace, identity_scaling, learn_space, places
from unisono.maths.comparisons import comparison_posterior, comparison_priors, comparison_state
from unisono.maths.comparisons.comparison_data import ComparisonData, comparison_data, ranking_weights
from unisono.maths.comparisons.comparison_em import MAX_ITER, TOL, fit
from unisono.maths.comparisons.comparison_posterior import Answering, Posterior
from unisono.maths.comparisons.comparison_state import Crowd, Earlier, Hyper, Prior, State
from unisono.maths.gold_slope import Slope
from unisono.maths.items import item_estimates, item_params
from unisono.tables import Ratings, annotator_kinds, answer_scale, did_you_mean, item_table, listed
from unisono.tables.comparisons import Comparisons, place_of

RATED = "rated"  # the model of ratings in a saved fit


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
    saved = Fuser.saved | {
        "posterior_": Posterior,
        "crowd_": Crowd,
        "hyper_": Hyper,
        "counts_": np.ndarray,
        "levels_": np.ndarray,
        "judges_": tuple[str, ...],
        "kinds_": tuple[str, ...],
        "kind_of_": np.ndarray,
        "prior_mean_": np.ndarray,
        "space_": FeatureSpace,
    }
    items_: tuple[str, ...]
    prior_: Prior
    prior_mean_: np.ndarray  # (D,) of the population
    levels_: np.ndarray  # (D,) bool, dimensions whose level is known, from ratings or known truths
    kinds_: tuple[str, ...] = ("",)  # of those who compared, the first defines the truth
    kind_of_: np.ndarray  # (K,)
    slopes_: tuple[Slope, ...] = ()  # of known truths on the truth without them
    posterior_: Posterior
    crowd_: Crowd
    hyper_: Hyper
    judges_: tuple[str, ...]  # who compared
    counts_: np.ndarray  # (K,) how often
    rater_: Joint | None = None  # the model of ratings beside
    _state: State
    _blind: State | None = None  # without known truths

    def __init__(self, *, tol: float = TOL, max_iter: int = MAX_ITER, gold_anyway: bool = False) -> None:
        self.tol = tol
        self.max_iter = max_iter
        self.gold_anyway = gold_anyway

    def compare(self, comparisons: Comparisons, division: annotator_kinds.Division | None = None) -> Self:
        """Takes these comparisons into the next fit; returns itself. `division` has annotators by kinds."""
        self._told = {**self._told, "comparisons": comparisons, "division": division}
        return self

    def start_from(self, earlier: Pairwise) -> Self:
        """Has the next fit begin with what an earlier one knows of annotators; returns itself."""
        earlier.require_fitted()
        if earlier.rater_ is not None or len(earlier.kinds_) > 1:
            raise DataError("Starting from an earlier fit works for comparisons alone, by annotators of one kind.")
        self._told = {**self._told, "earlier": earlier}
        return self

    def _fit(self, given: Given) -> None:
        compared, earlier = given.told.get("comparisons"), given.told.get("earlier")
        if compared is None:
            raise SettingsError(
                "The model 'pairwise' is for comparisons: give them (comparisons=..., --comparisons FILE)."
            )
        rated, division = given.ratings if given.ratings.J else None, given.told.get("division")
        self.items_, self.dimensions_ = comparison_knowledge.union_of(rated, compared)
        self.judges_ = (
            compared.annotators if earlier is None else comparison_knowledge.with_earlier_people(compared, earlier)
        )
        self.kinds_, self.kind_of_ = ("",), np.zeros(len(self.judges_), dtype=np.int64)
        if division is not None:
            self.kinds_, self.kind_of_ = division.names, division.group
        self._ratings, D = given.ratings, len(self.dimensions_) * len(self.kinds_)
        if rated is None:
            self._begin(given, compared, earlier, D)
        else:
            self.prior_ = self._rate(rated, given, D)
        people = None if earlier is None else comparison_knowledge.earlier_people(self.judges_, earlier)
        data = self._prepared(compared, comparison_knowledge.dimensions_of(rated, compared), people)
        if people is not None and people.population.steps is not None and len(people.population.steps) < data.steps:
            people = people._replace(population=people.population._replace(steps=None))
        at, listener = comparison_state.problem(data, self.prior_, earlier=people), given.on_step
        watcher = None if listener is None else lambda i, state, bound: listener(i, bound)
        first = None if self._blind is None else comparison_state.in_units_of(at, self._blind)
        state, self.trace_ = fit(at, tol=self.tol, max_iter=self.max_iter, on_step=watcher, first=first)
        self.posterior_, state = comparison_posterior.posterior(at, state)
        self._state = state
        self.crowd_, self.hyper_, self.levels_ = state.crowd, state.hyper, self.prior_.rated
        self.counts_ = np.bincount(compared.annotator_of, minlength=len(self.judges_))
        if earlier is not None:
            self.counts_[comparison_knowledge.places_in(self.judges_, earlier.judges_)] += earlier.counts_
        self.prior_mean_ = self.prior_.mean.mean(axis=0)

    def _prepared(
        self, compared: Comparisons, dimensions: Sequence[str], people: Earlier | None = None
    ) -> ComparisonData:
        item, dim = (
            comparison_knowledge.places_in(self.items_, compared.items),
            comparison_knowledge.places_in(self.dimensions_, dimensions),
        )
        who, left, right = compared.annotator_of, item[compared.left], item[compared.right]
        own = dim[compared.dimension_of] + self.kind_of_[who] * len(self.dimensions_)
        steps = None if people is None else people.population.steps
        return comparison_data(
            (left, right),
            own,
            who,
            compared.answer,
            (len(self.items_), len(self.dimensions_) * len(self.kinds_), len(self.judges_)),
            sided=compared.sided,
            strength=compared.strength,
            weight=ranking_weights(compared.ranking * (own.max() + 1) + own, left, right),
            steps=1 if steps is None else len(steps),
            ties=steps is not None and bool(steps[0] > 0),
        )

    def _begin(self, given: Given, compared: Comparisons, earlier: Pairwise | None, D: int) -> None:
        """Without ratings: the population of truths, by features, by an earlier fit, and by known truths."""
        self.annotators_, M = compared.annotators, len(self.items_)
        self.space_, scores = learn_space(given.features, self.items_, intercept=True, standardise=True)
        self.scaling_, self.scale_ = identity_scaling(D), answer_scale.Scale.none(len(self.dimensions_))
        self.prior_ = comparison_state.unrated(M, D)._replace(scores=scores.Z)
        if earlier is not None:
            self.prior_ = self.prior_._replace(
                mean=np.tile(earlier.prior_mean_, (M, 1)),
                Sigma=earlier.hyper_.Sigma,
                items=comparison_priors.TRUTH_ITEMS + len(earlier.items_),
                unit=earlier.hyper_.unit,
                rated=earlier.levels_,
            )
            self.scaling_ = earlier.scaling_
        if given.gold is None:
            return
        known_truths = comparison_knowledge.known_values(given.gold, self.items_, self.dimensions_)
        if self.prior_.rated.any():  # the earlier fit has a unit
            known_truths[:, ~self.prior_.rated] = np.nan  # comparisons of these keep the earlier unit, logits
            self.prior_ = self.prior_._replace(gold=self.scaling_.standardise(known_truths))
            return
        blind = self.alike()
        blind._told = given.told
        found = comparison_knowledge.with_known_truths(
            known_truths, blind.fit(given.ratings, given.features), given.gold.source
        )
        self._blind = blind._state
        self.prior_, self.scaling_ = found.prior, found.scaling
        self.slopes_ = found.slopes

    def _gold_slopes(self) -> Sequence[Slope]:
        return self.slopes_

    def _rate(self, rated: Ratings, given: Given, D: int) -> Prior:
        """The model of ratings, fitted: what it says of the items, and its units."""
        self.rater_ = Joint(gold_anyway=self.gold_anyway).fit(rated, given.features, given.gold)
        self.annotators_, self.space_ = self.rater_.annotators_, self.rater_.space_
        self.scaling_, self.scale_ = comparison_knowledge.units_of_all(self.rater_, D)
        return comparison_knowledge.rating_prior(self.rater_, rated, self.items_, D)

    # ---- results

    def _fuse(self, ratings: Ratings | None, features: item_table.ItemTable | None) -> Fused:
        if ratings is not None:
            self._not_of_ratings()
        return self._fused(self.posterior_.mean, self.posterior_.block, self.items_)

    def _fused(self, mean: np.ndarray, block: np.ndarray, items: tuple[str, ...]) -> Fused:
        """Of all kinds of annotators the first one's truths, in the user's units."""
        own, ones = len(self.dimensions_), np.ones(len(items), dtype=np.int64)
        mean = self.scaling_.restore_mean(mean)[:, :own]
        cov, ends = self.scaling_.restore_cov(block)[:, :own, :own], (self.scale_.low[:own], self.scale_.high[:own])
        return Fused(np.clip(mean, *ends), cov, items, self.dimensions_, ones, ends=ends, uncut=mean)

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
        u, v = (np.array([item * self.posterior_.D + d]) for item in at)
        mean, variance = self.posterior_.differences(u, v)
        unit = float(self.hyper_.unit[d])
        return Preference(
            *comparison_posterior.preference_probability(unit * float(mean[0]), unit**2 * float(variance[0]))
        )

    def is_rated(self, d: int) -> bool:
        """Whether ratings or known truths have the dimension, so that differences between components are known."""
        return bool(self.levels_[d])

    def answer_chances(self, annotators: Sequence[str], left: Sequence[str], right: Sequence[str]) -> np.ndarray:
        """(n, D, 3) probabilities of left, tie and right; who or what was not in the fit is like a newcomer."""
        self.require_fitted()
        people, items = place_of(self.judges_), place_of(self.items_)
        who = np.array([people.get(name, -1) for name in annotators], dtype=np.int64)
        one, other = (np.array([items.get(name, -1) for name in side], dtype=np.int64) for side in (left, right))
        ways, D = self._ways(who), len(self.dimensions_)
        kind, found = np.append(self.kind_of_, 0)[who], np.empty((len(who), D, 3))  # newcomers are of the first
        for z in range(len(self.kinds_)):
            at = np.flatnonzero(kind == z)
            these = Answering(*(part[at] for part in ways))
            for d in range(D):
                found[at, d] = comparison_posterior.answer_probabilities(
                    *self.difference(one[at], other[at], z * D + d), these
                )
        return found

    def difference(self, left: np.ndarray, right: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances in logits; of items that nobody compared, those of the population.

        `d` goes through the dimensions of the first kind of annotators, then through those of the next.
        """
        D, unit = self.posterior_.D, self.hyper_.unit[d]
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
        crowd, new = self.crowd_, comparison_posterior.newcomer(self.hyper_)
        with np.errstate(divide="ignore"):
            tie = comparison_posterior.tie_of(self.hyper_, np.log(crowd.tau))
        known = Answering(
            *(crowd.prob, crowd.at, crowd.cov, tie, crowd.tau_sd),
            comparison_posterior.at_random(self.hyper_, crowd.slip, crowd.slip_sd),
        )
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
        if np.isfinite(self.hyper_.tie) and self.hyper_.steps[0] > 0:
            table["tie_threshold"] = crowd.tau
        classes = {"comparison_spammer": crowd.prob[:, 1], "comparison_flipped": crowd.prob[:, 2]}
        return table | {"comparison_slips": expit(crowd.slip)} | classes

    def _not_of_ratings(self) -> NoReturn:
        raise DataError("This fit is of comparisons alone, so it knows nothing of ratings. See predict_comparisons.")

    def _predict(self, features: item_table.ItemTable) -> Fused:
        if self.rater_ is not None:
            raise DataError("Predict from features with a fit of the ratings alone.")
        items = features.items
        mean = self.space_.scores(features, items).Z @ self.hyper_.theta + self.prior_mean_
        return self._fused(mean, np.tile(self.hyper_.Sigma, (len(items), 1, 1)), items)

    def notes(self) -> dict[str, Any]:
        """What known truths did, and how far kinds of annotators see the same."""
        error = np.sqrt(self.hyper_.gold_var) * self.scaling_.scale
        gold = {
            name: {"known": slope.known, "slope": round(slope.value, 4), "error": round(float(error[d]), 4)}
            for d, (name, slope) in enumerate(zip(self.dimensions_, self.slopes_, strict=False))
            if slope.known
        }
        found: dict[str, Any] = {"gold": gold} if gold else {}
        if len(self.kinds_) < 2:
            return found
        D, Sigma = len(self.dimensions_), self.hyper_.Sigma
        sd = np.sqrt(np.diagonal(Sigma))
        rows = [
            {
                "dimension": name,
                "kind": kind,
                "correlation": round(float(Sigma[d, z * D + d] / sd[d] / sd[z * D + d]), 4),
                "annotators": int((self.kind_of_ == z).sum()),
            }
            for z, kind in enumerate(self.kinds_)
            for d, name in enumerate(self.dimensions_)
            if z
        ]
        return found | {"kinds": {"reference": self.kinds_[0], "others": rows}}

    def _score(self, ratings: Ratings, features: item_table.ItemTable | None) -> float:
        self._not_of_ratings()

    def predict_ratings(self, ratings: Ratings) -> item_estimates.Predictive:
        if self.rater_ is None:
            self._not_of_ratings()
        rater, own, truths = self.rater_, len(self.rater_.dimensions_), self.posterior_
        shown = rater.known_ratings(ratings)
        who = places(shown, rater.annotators_, rater.params_)
        told = truths.mean[:, :own], truths.block[:, :own, :own]
        at = comparison_knowledge.places_in(self.items_, shown.items)[shown.item_of]
        found = predicted_answers(rater._items, rater.calibration_, at, who, told)
        return rater.restored_prediction(found)

    def describe(self, on_step: Progress | None = None) -> Annotators:
        if self.rater_ is None:
            self._not_of_ratings()
        return self.rater_.describe(on_step)

    def parameters(self) -> item_params.ItemParams:
        self._not_of_ratings()

    # ---- saving

    def arrays(self) -> dict[str, np.ndarray]:
        if self.rater_ is None:
            return super().arrays()
        rated = {"dimensions": np.array(len(self.rater_.dimensions_)), "fuser": self.rater_.arrays()}
        return super().arrays() | packed(rated, RATED)

    def restore(self, fit: Fit) -> Self:
        super().restore(fit).items_ = fit.items
        if own := inside(fit.arrays, RATED):
            names = fit.dimensions[: int(own["dimensions"])]
            self.rater_ = Joint().restore(replace(fit, dimensions=names, arrays=inside(own, "fuser")))
        return self
