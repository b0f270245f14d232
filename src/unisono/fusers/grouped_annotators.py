"""The model of annotators in groups: people and judges, crowd and experts, or one group that errs together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from unisono.fusers.fuser import Fuser, Given, Progress, fitted_places
from unisono.fusers.fuser_settings import ITERATIONS, SHARED, Number
from unisono.fusers.fuser_settings import TOLERANCE as RELATIVE
from unisono.fusers.fusion_results import Annotators, Fused
from unisono.fusers.group_fit import (
    GroupFit,
    GroupTable,
    annotator_places,
    annotator_table,
    effect_columns,
    expectations,
    group_table,
    group_units,
    reference_slopes,
    standardised,
)
from unisono.fusers.standardisation import FeatureSpace, learn_space
from unisono.maths.groups.group_data import GroupData, GroupParams, prepare_groups
from unisono.maths.groups.group_estep import left_out_means, posteriors, predicted_answers, ratings_part
from unisono.maths.groups.group_fit import Assembled, GroupState, assembled, fit_best
from unisono.maths.groups.group_labels import common_effect_variance, learn_from_labels, told
from unisono.maths.groups.group_priors import MAX_ITERATIONS, TOLERANCE, GroupPriors
from unisono.maths.items.item_estimates import Predictive
from unisono.maths.items.item_params import ItemParams
from unisono.maths.structure_words import ITEM_WORDS, EstimateScale, require_word
from unisono.tables import ItemTable, RatingNumbers, Ratings, annotator_kinds, answer_scale, listed


class LearnedGroups(Fuser):
    """What a fit of the model of groups has learned."""

    saved = Fuser.saved | {"fit_": GroupFit, "before_": np.ndarray, "space_": FeatureSpace}
    fit_: GroupFit
    before_: np.ndarray
    covariates_: RatingNumbers | None = None
    _x: np.ndarray
    _data: GroupData


@dataclass(kw_only=True, eq=False, repr=False)
class Groups(LearnedGroups):
    """Groups of annotators who err together; one of them, the reference, defines what a dimension means.

    `reference_kind` names it (by default people); `shared` is the share of an annotator's error variance that a group
    is expected to have in common: assumed where there is no reference, estimated from there where labels tell. Where
    it is None, labels choose what to expect.
    Estimates are posterior means, on the scale of the reference; but where the same people rated every item, what they
    say, unless `estimate="posterior"`.
    """

    kind: ClassVar[str] = "groups"
    numbers: ClassVar[Mapping[str, Number]] = {"shared": SHARED, "tol": RELATIVE, "max_iter": ITERATIONS}

    reference_kind: str | None = None
    shared: float | None = None
    estimate: EstimateScale | None = None
    tol: float = TOLERANCE
    max_iter: int = MAX_ITERATIONS

    # ---- fitting

    def explain(self, covariates: RatingNumbers | None) -> Self:
        """Takes numbers about single ratings into account, in the next fit alone; returns itself."""
        self._told = {**self._told, "covariates": covariates}
        return self

    def expecting(self, shares: np.ndarray) -> Self:
        """Expects these shares (G,) of common error in the next fit, in which labels choose nothing; returns itself."""
        self._told = {**self._told, "shares": shares}
        return self

    def refuses_gold(self) -> str:
        return (
            "The model of groups has no place for known truths: "
            "give them as ratings by an annotator of the reference kind, or choose the model 'joint'."
        )

    def check_settings(self) -> None:
        super().check_settings()
        if self.estimate is not None:
            require_word("estimate", self.estimate, ITEM_WORDS["estimate"])

    def _fit(self, given: Given) -> None:
        ratings, on_step, on_state = given.ratings, given.on_step, given.on_state
        numbers, shares = given.told.get("covariates"), given.told.get("shares")
        division = annotator_kinds.divide(ratings, self.reference_kind)
        covariates, x = standardised(numbers, ratings)
        of_group = division.group[ratings.annotator_of]
        units = group_units(ratings.value, of_group, len(division.names))
        self.space_, scores = learn_space(given.features, ratings.items, intercept=True, standardise=True)
        z = units.standardise(ratings.value, of_group)
        # One more annotator per group, who rates nothing: what is known of newcomers.
        group = np.concatenate([division.group, np.arange(len(division.names))])
        ready = z, ratings.item_of, ratings.annotator_of, group, scores
        labelled = len(np.unique(ratings.item_of[of_group == 0]))

        def learnt(fuser: Groups, start: Assembled, state: GroupState) -> Groups:
            fuser.dimensions_, fuser.annotators_, fuser.space_ = ratings.dimensions, ratings.annotators, self.space_
            fuser._ratings, fuser._data, fuser.scaling_ = ratings, start.data, units.truth
            fuser.covariates_, fuser._x = numbers, x
            # Where groups answer on different scales, the ends of all answers are not those of the truth.
            fuser.scale_ = answer_scale.Scale.none(ratings.D) if any(units.own) else ratings.truth_scale
            fuser.fit_ = GroupFit(
                names=division.names,
                judges=division.machines,
                group=group,
                reference=division.reference,
                shared=np.array([kind.shared for kind in start.settings.kinds]),
                params=state.params,
                theta_var=state.hyper.theta_var,
                units=units,
                learned=learn_from_labels(start.data, state.params, start.settings),
                covariates=covariates,
                effect_var=common_effect_variance(start.data, state.params, start.settings.learned),
            )
            return fuser

        def watched(start: Assembled, iteration: int, state: GroupState, bound: float) -> None:
            if on_step is not None:
                on_step(iteration, bound)
            if on_state is not None:
                on_state(iteration, learnt(self.alike(), start, state))

        starts = (
            assembled(*ready, reference=division.reference, kinds=kinds, priors=GroupPriors(), covariates=x)
            for kinds in expectations(division, units, self.shared, shares, labelled)
        )
        found = fit_best(starts, tol=self.tol, max_iter=self.max_iter, on_step=watched)
        learnt(self, found.start, found.state).trace_ = found.trace

    # ---- results

    def _fuse(self, ratings: Ratings | None, features: ItemTable | None) -> Fused:
        data, params, shown = self._shown(ratings, features)
        learned = self.fit_.learned
        mean, cov = told(data, params, learned, drawn=self.estimate == "posterior")
        return self.on_scale(mean, cov, shown, np.inf if learned is None else learned.freedom)

    def _predict(self, features: ItemTable) -> Fused:
        Z = self.space_.scores(features, features.items).Z
        params = self.fit_.params
        spread = 1 + (Z**2) @ self.fit_.theta_var
        return self.on_scale(params.mu + Z @ params.theta, spread[:, None, None] * params.Sigma, features)

    def _score(self, ratings: Ratings, features: ItemTable | None) -> float:
        data, params, _ = self._shown(ratings, features)
        numbers = int(data.answers.sum())
        total = ratings_part(data, params) + sum(found.loglik.sum() for _, found in posteriors(data, params))
        total -= float(np.sum(data.answers * np.log(self.fit_.units.scale[data.group])))
        return float(total / max(numbers, 1))

    def predict_ratings(self, ratings: Ratings) -> Predictive:
        data, params, fitted = self._shown(None, None)
        shown = self.known_ratings(ratings)
        who = annotator_places(shown, self.annotators_, self.fit_)
        x = np.zeros((shown.J, len(self.fit_.covariates.names)))  # of ratings that are not there: as usual
        found = predicted_answers(data, params, fitted_places(shown, fitted), who, x)
        units, group = self.fit_.units, self.fit_.group[who]
        return Predictive(units.loc[group] + units.scale[group] * found.mean, units.scale[group] ** 2 * found.variance)

    def describe(self, on_step: Progress | None = None) -> Annotators:
        data, params, ratings = self._shown(None, None)
        units, of_group = self.fit_.units, data.group[ratings.annotator_of]
        z = units.standardise(ratings.value, of_group)
        left_out = left_out_means(data, params, z, ratings.item_of, ratings.annotator_of, self._x)
        return annotator_table(ratings, ratings.kinds, data, params, units, left_out)

    def groups(self) -> GroupTable:
        """What the annotators of every kind do in common."""
        data, params, ratings = self._shown(None, None)
        fit = self.fit_
        return group_table(fit.names, ratings.dimensions, fit.reference, data, params, fit.units)

    def asked(self, given: np.ndarray) -> np.ndarray:
        """People are asked; judges have rated already."""
        reference = self.fit_.group[: len(given)] == 0
        return given * reference if self.fit_.reference else given

    def who_is_asked(self) -> str:
        first, *others = self.fit_.names
        return f" by '{first}', beside those of {listed(others)}" if self.fit_.reference else ""

    def known_before(self) -> np.ndarray:
        """What judges leave open of items that nobody else rated."""
        if hasattr(self, "before_"):
            return self.before_
        data, _, ratings = self._shown(None, None)
        scale, cov = self.scaling_.scale, self.fuse().cov
        labelled = np.zeros(ratings.M, dtype=bool)
        labelled[ratings.item_of[data.group[ratings.annotator_of] == 0]] = True
        if not self.fit_.reference or labelled.all():
            return self.fit_.params.Sigma
        self.before_ = np.asarray(cov[~labelled].mean(axis=0) / scale[:, None] / scale)
        return self.before_

    def tables(self) -> dict[str, dict[str, Any]]:
        found = {"groups": self.groups().columns()}
        if self.fit_.covariates.names:
            found["covariates"] = self.effects()
        return found

    def effects(self) -> dict[str, Any]:
        """What covariates of a rating do to every annotator's answers, with intervals."""
        self.require_fitted()
        fit = self.fit_
        labels = self.annotators_, fit.names, self.dimensions_
        return effect_columns(*labels, fit.params.rows, fit.group, fit.units, fit.covariates, fit.effect_var)

    def notes(self) -> dict[str, Any]:
        table, fit = self.groups(), self.fit_
        learned = fit.learned
        each = [
            {
                "kind": name,
                "judges": fit.judges[g],
                "annotators": int(table.annotators[g]),
                "items": int(table.items[g]),
                "expected_share": float(fit.shared[g]),
                "own_units": fit.units.own[g],
                **{
                    what: dict(zip(table.dimensions, getattr(table, what)[g].tolist(), strict=True))
                    for what in ("leniency", "gain", "shared_error", "share", "effective")
                },
            }
            for g, name in enumerate(table.kinds)
        ]
        found: dict[str, Any] = {"reference": fit.names[0] if fit.reference else None, "groups": each}
        if learned is not None:
            found |= {
                "labelled_items": learned.labelled,
                "foretold": dict(zip(table.dimensions, learned.foretold.tolist(), strict=True)),
                "reliable": dict(zip(table.dimensions, learned.reliable.tolist(), strict=True)),
                "belief": learned.belief,
                "as_people_say": self._as_people_say(),
                "against": self._against(),
            }
        return {"kinds": found}

    def _as_people_say(self) -> list[str]:
        """Dimensions on which truths are the reference's means."""
        learned = self.fit_.learned
        if learned is None or self.estimate == "posterior":
            return []
        return [name for name, kept in zip(self.dimensions_, learned.same_people, strict=True) if kept]

    def _against(self) -> dict[str, float]:
        """Slopes of what the reference rates on what the others do, of dimensions on which they run against them."""
        data, _, ratings = self._shown(None, None)
        of_group = data.group[ratings.annotator_of]
        found = reference_slopes(ratings.value, ratings.item_of, of_group, ratings.M)
        return {name: own.value for name, own in zip(self.dimensions_, found, strict=True) if own.upside_down}

    def gives_posterior_means(self) -> bool:
        return len(self._as_people_say()) < len(self.dimensions_)

    def parameters(self) -> ItemParams:
        """Annotators as if their errors were their own: rows f A and f t + b, shared error among the noise."""
        self.require_fitted()
        params, group = self.fit_.params, self.fit_.group
        f, b = params.rows.mean[..., 0], params.rows.mean[..., 1]
        F = f[:, :, None] * params.A[group]
        B = np.concatenate([F, (f * params.t[group] + b)[:, :, None]], axis=2)
        N = f[:, :, None] * params.S[group] * f[:, None, :]
        N = N + params.noise(group)[:, :, None] * np.eye(len(params.mu))
        return ItemParams(B, N, params.theta, params.mu, params.Sigma)

    # ---- saving

    def arrays(self) -> dict[str, np.ndarray]:
        self.before_ = self.known_before()
        return super().arrays()

    # ---- data

    def _shown(self, shown: Ratings | None, features: ItemTable | None) -> tuple[GroupData, GroupParams, Ratings]:
        """The fitted items, or others by the same annotators, with the parameters of whoever rated them."""
        self.require_fitted()
        fit = self.fit_
        if shown is None:
            fitted = self.fitted_ratings()
            return self._data, fit.params, fitted
        who = annotator_places(shown, self.annotators_, self.fit_)
        z = fit.units.standardise(shown.value, fit.group[who])
        scores = self.space_.scores(features, shown.items)
        x = np.zeros((shown.J, len(fit.covariates.names)))  # as usual
        data = prepare_groups(z, shown.item_of, who, fit.group, len(fit.names), scores, x)
        return data, fit.params, shown
