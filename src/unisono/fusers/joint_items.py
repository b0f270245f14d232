"""The joint model of ratings of items: all dimensions at once, by maximum likelihood or by variational Bayes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from unisono.errors import DataError
from unisono.fusers import crowd, estimate_reliability, item_estimation, item_posteriors, item_preparation, warm_start
from unisono.fusers.fuser import Fuser, Given, Progress, fitted_places
from unisono.fusers.fuser_settings import ITERATIONS, TOLERANCE, Number
from unisono.fusers.fusion_results import Annotators, Fit, Fused, SharedError
from unisono.fusers.gold_items import GoldReport, TurnedFit, restored_turned, turned_arrays
from unisono.fusers.item_estimation import Estimate, OnEstimate, Run
from unisono.fusers.item_posteriors import Calibration, ItemPosteriors
from unisono.fusers.standardisation import FeatureSpace, places
from unisono.maths import gold_slope, structure_words
from unisono.maths.items.censored_answers import Typical
from unisono.maths.items.item_data import ItemData, of_dimensions, prepare
from unisono.maths.items.item_estimates import Predictive
from unisono.maths.items.item_params import ItemParams, Structure, sample_ratings, sample_truths
from unisono.maths.items.item_priors import PANEL, Priors
from unisono.maths.items.likelihood_em import MlSettings
from unisono.maths.raters.rater_diagnosis import Diagnosis
from unisono.maths.structure_words import Anchor, EstimateScale, Inference, IntervalKind, Latent, Noise, Transform
from unisono.tables import ItemTable, Ratings
from unisono.tables.coverage_and_outliers import without_wild


class LearnedJoint(Fuser):
    """What a fit of the joint model has learned."""

    saved = Fuser.saved | {
        "params_": ItemParams,
        "theta_var_": np.ndarray,
        "judgements_": np.ndarray,
        "items_behind_": int,
        "ends_": Typical | None,
        "calibration_": Calibration,
        "space_": FeatureSpace,
    }
    gold_: GoldReport | None = None
    turned_: TurnedFit | None = None
    params_: ItemParams
    theta_var_: np.ndarray
    ends_: Typical | None
    judgements_: np.ndarray
    items_behind_: int
    _items: ItemPosteriors
    _calibrated: Calibration | None
    _continued: bool
    _level: SharedError | None
    _known: np.ndarray | None


@dataclass(kw_only=True, eq=False, repr=False)
class Joint(LearnedJoint):
    """F_k, b_k and the noise of every annotator, jointly over dimensions, with an optional predictor.

    `inference="bayes"`, the default, keeps annotators near "answers the truth"; `inference="ml"` is the paper's EM.
    `estimate="matched"`, the default of `bayes`, has the scale of a panel of `panel` annotators; "posterior" is the
    posterior mean. `censored`: where answers are kinds, one at an end of the scale says "half a step
    inside, or beyond"; False reads all as numbers. `slips`: where the ratings say so, judgements and items differ in
    precision; False takes all errors of an annotator for equally large.
    `gold_anyway`: known truths that run against the ratings, or are in another unit, are obeyed instead of refused.
    `interval="absolute"`, the default, allows for the level of all items, which annotators' biases leave open;
    "relative" does not. `paper=True` follows the paper to the letter: one common unit, no intercept, variances from the
    previous iteration.
    """

    kind: ClassVar[str] = "joint"
    numbers: ClassVar[Mapping[str, Number]] = {
        "panel": Number("give a number of annotators above 0", with_least=False, others=(np.inf,)),
        "tol": TOLERANCE,
        "max_iter": ITERATIONS,
        "variance_floor": Number("give a variance from 0 on"),
    }

    transform: Transform | None = None
    bias: bool = True
    noise: Noise | None = None
    latent: Latent = "full"
    anchor: Anchor = "average"
    inference: Inference = "bayes"
    estimate: EstimateScale | None = None
    panel: float = PANEL
    tol: float | None = None
    max_iter: int | None = None
    variance_floor: float = item_preparation.VARIANCE_FLOOR
    paper: bool = False
    priors: dict[str, Any] | None = None
    censored: bool = True
    slips: bool = True
    gold_anyway: bool = False
    interval: IntervalKind = "absolute"

    # ---- fitting

    def start_from(self, earlier: Joint) -> Self:
        """Takes over what an earlier fit knows of annotators, for the next fit alone; returns itself."""
        if self.anchor != "average":
            raise DataError("Starting from an earlier fit needs anchor='average'.")
        if (structure := self.structure()) != earlier.structure() or structure.noise != "shared" or self.one_by_one:
            raise DataError("Starting from an earlier fit needs the model 'auto' or 'joint', with equal settings.")
        self._told = {**self._told, "earlier": warm_start.prior_fit_of(earlier)}
        return self

    def _fit(self, given: Given) -> None:
        # Maximum likelihood takes ratings as they are.
        meant = without_wild(given.ratings) if self.inference == "bayes" else given.ratings
        tables = meant, given.features, given.gold, given.told.get("earlier")
        # Turned dimensions have no ends.
        censored = self.censored and self.inference == "bayes" and self.anchor != "uncorrelated"
        ready = item_preparation.prepared(*tables, paper=self.paper, censored=censored)

        def snapshot(iteration: int, estimate: Estimate) -> None:
            assert given.on_state is not None
            given.on_state(iteration, item_estimation.learn(self.alike(), estimate, ready))

        self._ratings = ready.ratings
        run = self._run(given.on_step, snapshot if given.on_state is not None else None)
        item_estimation.learn(self, self._estimate(ready, run), ready)

    def refuses_gold(self) -> str:
        if self.inference == "bayes":
            return ""
        return "Gold items need inference 'bayes'; maximum likelihood has no place for known truths."

    def _gold_slopes(self) -> Sequence[gold_slope.Slope]:
        return () if self.gold_ is None else self.gold_.slopes

    def check_settings(self) -> None:
        super().check_settings()
        item_preparation.check_settings(self.structure(), self.inference, self.anchor, self.estimate)
        structure_words.require_word("interval", self.interval, structure_words.ITEM_WORDS["interval"])

    def notes(self) -> dict[str, Any]:
        found = item_preparation.ends_note(self.ends_)
        if self.gold_ is not None:
            found["gold"] = {"items": self.gold_.items, **self.gold_.columns()}
        return found

    @property
    def labels_can_switch(self) -> bool:  # type: ignore[override]
        return self.anchor == "none" and self.structure().transform == "full" and not self.one_by_one

    def structure(self) -> Structure:
        """The words as the maths wants them."""
        noise = self.noise if self.noise is not None else item_preparation.default_noise(self.inference)
        transform = self.transform or item_preparation.default_transform(self.inference, self.anchor)
        return Structure(transform, self.bias, noise, self.latent, intercept=not self.paper).validate()

    def _run(self, on_step: Progress | None, on_estimate: OnEstimate | None) -> Run:
        tol = self.tol if self.tol is not None else item_preparation.DEFAULT_TOL[self.inference]
        max_iter = self.max_iter if self.max_iter is not None else item_preparation.DEFAULT_MAX_ITER[self.inference]
        return Run(tol, max_iter, on_step, on_estimate)

    def _estimate(self, given: item_preparation.Prepared, run: Run) -> Estimate:
        data, structure = given.data, self.structure()
        floor = np.full(data.D, self.variance_floor)
        if self.inference == "ml":
            recentred = self.anchor != "none" and not self.paper
            return item_estimation.estimate_ml(data, MlSettings(structure, floor, recentred, self.paper), run)
        diagnosis = (lambda: self._diagnosis(data)) if given.earlier is None else None
        priors = Priors(**(self.priors or {}))
        settings = item_estimation.anchored_settings(data, structure, priors, floor, self.anchor, diagnosis)
        if given.earlier is not None:
            settings = warm_start.continued(settings, given.earlier, given.ratings.annotators)
        return item_estimation.estimate_bayes(data, settings._replace(slips=self.slips and not self.one_by_one), run)

    def _diagnosis(self, data: ItemData) -> Diagnosis:
        """Who the annotators of these data look like before any model."""
        return crowd.crowd_diagnosis(self._ratings)

    @property
    def calibration_(self) -> Calibration:
        """Scale and honesty of the posterior, learned when first asked for."""
        self.require_fitted()
        if self._calibrated is None:
            self._calibrated = Calibration() if self.inference == "ml" else self._calibrate()
        return self._calibrated

    @calibration_.setter
    def calibration_(self, calibration: Calibration) -> None:
        self._calibrated = calibration

    def _calibrate(self) -> Calibration:
        return item_posteriors.calibrate(
            self._items,
            crowd.item_signal(self.fitted_ratings()),
            # Known truths that are observations have fixed the scale already.
            scale="posterior" if self._items.data.gold is not None else self.estimate or "matched",
            panel=self.panel,
            by_panel=self.anchor == "average",
            continued=self._continued,
        )._replace(level=self._level)

    # ---- results

    def _fuse(self, ratings: Ratings | None, features: ItemTable | None) -> Fused:
        items, shown = self._items_for(ratings, features)
        mean, cov = self._truth(items, ratings, features)
        fused = self.on_scale(mean, cov, shown, self.calibration_.freedom, self._shared_error())
        return replace(fused, unclear=items.unclear)

    def _shared_error(self) -> SharedError | None:
        """That of the level; None where intervals are those of items beside each other."""
        level = self.calibration_.level
        if self.interval == "relative" or level is None or self.turned_ is None:
            return None if self.interval == "relative" else level
        open_ = np.ones(len(self.dimensions_))
        open_[self.turned_.places] = 0.0  # their known truths have the level
        return level.left(open_)

    def _truth(
        self, items: ItemPosteriors, ratings: Ratings | None, features: ItemTable | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Estimates (M, D) and covariances (M, D, D) of their errors; standardised units."""
        known = self._known if ratings is None else None
        mean, cov = item_posteriors.estimated_truth(
            items, self.calibration_, item_preparation.standardised_ends(self.scale_, self.scaling_), known
        )
        if self.turned_ is not None:
            own = self.turned_.fuser
            part = None if ratings is None else own.known_ratings(ratings)
            mean, cov = self.turned_.truths(mean, cov, *own._truth(own._items_for(part, features)[0], part, features))
        return mean, cov

    def reliability_draws(self, fused: Fused) -> np.ndarray | None:
        here = hasattr(self, "_items")  # those of shards lie elsewhere
        if self.inference == "ml" or self.anchor != "average" or self.turned_ is not None or not here:
            return None
        estimate = self.scaling_.standardise(fused.mean)
        return estimate_reliability.reliability_draws(self._items, self.calibration_, estimate, self._known)

    def _predict(self, features: ItemTable) -> Fused:
        foretold = self._foretold(self.space_.scores(features, features.items).Z)
        return self.on_scale(*foretold, features, level=self._shared_error())

    def _foretold(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Truths (S, D) of items with these feature scores (S, R), and their covariances."""
        mean = self.params_.mu + Z @ self.params_.theta
        cov = (1 + (Z**2) @ self.theta_var_)[:, None, None] * self.params_.Sigma
        if self.ends_ is not None:
            variance = np.diagonal(cov, axis1=1, axis2=2)
            mean, cov = self.ends_.answer(mean, variance), self.ends_.narrowed(cov, mean, variance)
        if self.turned_ is None:
            return mean, cov
        return self.turned_.truths(mean, cov, *self.turned_.fuser._foretold(Z))

    def _score(self, ratings: Ratings, features: ItemTable | None) -> float:
        if self.turned_ is not None and self.turned_.everything(len(self.dimensions_)):
            return self.turned_.fuser.score(ratings, features)
        items, shown = self._items_for(ratings, features)
        total = items.log_density() - items.densities() @ np.log(self.scaling_.scale)
        return float(total / max(int((~np.isnan(shown.value)).sum()), 1))

    def predict_ratings(self, ratings: Ratings) -> Predictive:
        items, fitted = self._items_for(None, None)
        shown = self.known_ratings(ratings)
        who = fitted_places(shown, fitted), places(shown, self.annotators_, self.params_)
        return self.restored_prediction(self._answers(items, *who))

    def _answers(self, items: ItemPosteriors, item_of: np.ndarray, annotator_of: np.ndarray) -> Predictive:
        """Of these annotators to these items, in standardised units."""
        found = item_posteriors.predicted_answers(items, self.calibration_, item_of, annotator_of)
        if self.turned_ is None:
            return found
        own = self.turned_.fuser
        return self.turned_.answers(found, own._answers(own._items, item_of, annotator_of))

    def describe(self, on_step: Progress | None = None) -> Annotators:
        self.require_fitted()
        found = item_posteriors.annotator_table(self.fitted_ratings(), self._items, self.scaling_)
        return found if self.turned_ is None else self.turned_.annotators(found, self.turned_.fuser.describe())

    def sample(self, ratings: Ratings, rng: np.random.Generator, features: ItemTable | None = None) -> Ratings:
        """Ratings of the same items by the same annotators, drawn from the model with truths drawn anew."""
        items, shown = self._items_for(self.known_ratings(ratings), features)
        truth = sample_truths(items.params, items.data.scores, rng)
        z = sample_ratings(items.params, truth, shown.item_of, items.data.annotator_of, rng)
        z = z if self.ends_ is None else self.ends_.ends.answer(z)
        return shown.with_value(np.where(np.isnan(shown.value), np.nan, self.scaling_.restore_mean(z)))

    def parameters(self) -> ItemParams:
        self.require_fitted()
        return self.params_ if self.turned_ is None else self.turned_.params(self.params_, self.turned_.fuser.params_)

    # ---- saving

    def arrays(self) -> dict[str, np.ndarray]:
        return super().arrays() | turned_arrays(self.turned_)

    def restore(self, fit: Fit) -> Self:
        super().restore(fit).turned_ = restored_turned(fit, self.alike)
        return self

    # ---- data

    def of_items(self, ratings: Ratings, data: ItemData) -> Self:
        """The fuser of a part of the ratings it was fitted to, in its units, `data.gold` included; returns itself."""
        self._ratings, self._known = ratings, data.gold
        self._items = ItemPosteriors(data._replace(gold=None), self.params_, self.ends_)
        if self.turned_ is not None:
            own, dims = self.turned_.fuser, self.turned_.dims
            whole = len(dims) == data.D
            part = data if whole else of_dimensions(data, dims)
            own._ratings = ratings if whole else ratings.select_dimensions(dims)
            own._items, own._known = ItemPosteriors(part, own.params_, own.ends_), part.gold
        return self

    def _items_for(self, shown: Ratings | None, features: ItemTable | None) -> tuple[ItemPosteriors, Ratings]:
        """Posteriors of the fitted items, or of others by the same annotators, and their ratings."""
        self.require_fitted()
        if shown is None:
            fitted = self.fitted_ratings()
            return self._items, fitted
        scores = self.space_.scores(features, shown.items)
        annotator_of = places(shown, self.annotators_, self.params_)
        value = self.scaling_.standardise(shown.value)
        data = prepare(value, shown.item_of, annotator_of, scores, len(self.params_.B))
        data = data._replace(cuts=None if self.ends_ is None else self.ends_.ends.cuts)
        return ItemPosteriors(data, self.params_, self.ends_), shown
