"""Models of items from other papers under the interface of all models: annotator types, regions of items.

The maths is in `maths.published`, a file each with `starts`, `step`, `learned`, `truths` and `rows`; here ratings
become standardised answers, dimensions are fitted one by one, and estimates get their labels back.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np

from unisono.fusers import baseline_items, fuser, fusion_results, item_estimation, learned_arrays, standardisation
from unisono.fusers.fuser_settings import ITERATIONS, TOLERANCE, Number
from unisono.maths.em_loop import EmTrace, relative_change, run_em
from unisono.maths.grouped_sums import grouped_correlation
from unisono.maths.items.item_data import empirical_ridge, no_features, prepare
from unisono.maths.items.item_estep import left_out_means
from unisono.maths.items.item_estimates import Predictive, predicted_ratings
from unisono.maths.items.item_params import ItemParams
from unisono.maths.published import annotator_types, curved_annotators, item_regions
from unisono.maths.published.published_answers import Answers, Truths
from unisono.tables import ItemTable, Ratings

SETTLED = 1e-6  # numerical: relative change of the objective at which a climb ends
MOST_STEPS = 500  # numerical: of a climb


class Published(baseline_items.Described):
    """A model of another paper, climbed step by step on each block of dimensions."""

    numbers: ClassVar[dict[str, Number]] = {"tol": TOLERANCE, "max_iter": ITERATIONS}
    learns_predictor: ClassVar[bool] = False  # does the model itself know of features?
    Params: ClassVar[type[Any]]  # a NamedTuple of arrays, what a fit keeps of one block
    maths: ClassVar[ModuleType]  # `starts`, `step`, `learned` (what a fit keeps), `truths` and `rows`

    def __init__(self, *, tol: float = SETTLED, max_iter: int = MOST_STEPS) -> None:
        self.tol = tol
        self.max_iter = max_iter

    # ---- what a model says

    def _blocks(self, D: int) -> list[list[int]]:
        """Dimensions that are fitted together."""
        return [[d] for d in range(D)]

    def _starts(self, answers: Answers) -> Sequence[Any]:
        """Where to climb from; the highest end counts."""
        return self.maths.starts(answers)  # type: ignore[no-any-return]

    # ---- fitting

    def gives_posterior_means(self) -> bool:
        return True

    def _fit(self, given: fuser.Given) -> None:
        ratings = given.ratings
        self.scaling_, self.scale_ = standardisation.pooled_scaling(ratings.value), ratings.truth_scale
        self.dimensions_, self.annotators_ = ratings.dimensions, ratings.annotators
        self.space_, scores = standardisation.learn_space(
            given.features, ratings.items, intercept=True, standardise=True
        )
        answers = self._answers(ratings, given.features)
        climbs = [self._climb(answers.of(dims), given.on_step) for dims in self._blocks(ratings.D)]
        self.params_ = [params for params, _ in climbs]
        self.trace_ = item_estimation.sum_of_traces([trace for _, trace in climbs])
        self.ridge_ = empirical_ridge(scores, self._truths(answers)[0])
        self._ratings, self._fitted = ratings, answers
        if given.on_state is not None:
            given.on_state(self.trace_.iterations - 1, copy(self))

    def _climb(self, answers: Answers, on_step: fuser.Progress | None) -> tuple[Any, EmTrace]:
        told = None if on_step is None else lambda i, _, value: on_step(i, value)
        how: dict[str, Any] = {"stop_when": relative_change(self.tol), "max_iter": self.max_iter, "on_step": told}
        ends = [run_em(lambda s: self.maths.step(answers, s), start, **how) for start in self._starts(answers)]
        state, trace = max(ends, key=lambda end: end[1].objective[-1])
        return self.maths.learned(answers, state), trace

    def _answers(self, ratings: Ratings, features: ItemTable | None) -> Answers:
        y, who = self.scaling_.standardise(ratings.value), standardisation.places_by_label(ratings, self.annotators_)
        Z = self.space_.scores(features, ratings.items).Z if self.learns_predictor else np.zeros((ratings.M, 0))
        return Answers(y, ratings.item_of, who, ratings.M, len(self.annotators_), Z)

    # ---- results

    def _truths(self, answers: Answers) -> tuple[np.ndarray, np.ndarray, float]:
        """Means (M, D), covariances (M, D, D) and the log density of all answers."""
        D, M, density = answers.y.shape[1], answers.M, 0.0
        mean, cov = np.zeros((M, D)), np.zeros((M, D, D))
        for dims, params in zip(self._blocks(D), self.params_, strict=True):
            found: Truths = self.maths.truths(answers.of(dims), params)
            mean[:, dims], density = found.mean, density + float(found.log_density.sum())
            cov[np.ix_(range(M), dims, dims)] = found.cov
        return mean, cov, density

    def _shown(self, ratings: Ratings | None, features: ItemTable | None) -> tuple[Ratings, Answers]:
        shown = self.fitted_ratings() if ratings is None else ratings
        return shown, self._fitted if ratings is None else self._answers(shown, features)

    def _fuse(self, ratings: Ratings | None, features: ItemTable | None) -> fusion_results.Fused:
        shown, answers = self._shown(ratings, features)
        mean, cov, _ = self._truths(answers)
        return self.on_scale(mean, cov, shown)

    def _predict(self, features: ItemTable) -> fusion_results.Fused:
        if not self.learns_predictor:
            return super()._predict(features)
        Z, none = self.space_.scores(features, features.items).Z, np.zeros(0, dtype=np.int64)
        blank = Answers(np.zeros((0, len(self.dimensions_))), none, none, len(Z), len(self.annotators_), Z)
        return self.on_scale(*self._truths(blank)[:2], features)

    def _score(self, ratings: Ratings, features: ItemTable | None) -> float:
        return self.per_number(self._truths(self._answers(ratings, features))[2], ratings)

    def predict_ratings(self, ratings: Ratings) -> Predictive:
        self.require_fitted()
        shown, fitted = self.known_ratings(ratings), self.fitted_ratings()
        places = fuser.fitted_places(shown, fitted), standardisation.places_by_label(shown, self.annotators_)
        return self.restored_prediction(self._expected(self._shown(None, None)[1], *places))

    def _expected(self, answers: Answers, item: np.ndarray, annotator: np.ndarray) -> Predictive:
        """Of these annotators to these items, in standardised units."""
        mean, cov, _ = self._truths(answers)
        return predicted_ratings(self.parameters(), mean, cov, item, annotator)

    def describe(self, on_step: fuser.Progress | None = None) -> fusion_results.Annotators:
        """Bias, gain and noise as the best linear description has them."""
        self.require_fitted()
        ratings, params = self.fitted_ratings(), self.parameters()
        z, K = self.scaling_.standardise(ratings.value), ratings.K
        data = prepare(z, ratings.item_of, ratings.annotator_of, no_features(ratings.M), len(params.B))
        left_out = left_out_means(data, params._replace(theta=np.zeros((0, ratings.D))))
        agreement = grouped_correlation(z, left_out, ratings.annotator_of, K)
        D = np.arange(ratings.D)
        bias = params.b + (params.F[:, D, D] - 1) * params.mu
        return self.described(bias[:K], params.F[:K, D, D], np.sqrt(params.N[:K, D, D]), agreement)

    def parameters(self) -> ItemParams:
        """The best linear description of annotators and truth."""
        self.require_fitted()
        K, D = len(self.annotators_) + 1, len(self.dimensions_)
        B, N = np.zeros((K, D, D + 1)), np.zeros((K, D, D))
        for dims, params in zip(self._blocks(D), self.params_, strict=True):
            slope, offset, noise = self.maths.rows(params)
            n = len(dims)
            B[np.ix_(range(K), dims, dims)] = slope.reshape(K, n, n)
            B[:, dims, D], N[:, dims, dims] = offset.reshape(K, n), noise.reshape(K, n)
        ridge = self.ridge_
        return ItemParams(B, N, np.zeros((0, D)), ridge.mu, ridge.Sigma + ridge.theta.T @ ridge.theta / len(B))

    # ---- saving

    def arrays(self) -> dict[str, np.ndarray]:
        return super().arrays() | learned_arrays.packed(self.params_, "params")

    def restore(self, fit: fusion_results.Fit) -> Self:
        blocks = range(len(self._blocks(len(fit.dimensions))))
        super().restore(fit).params_ = [learned_arrays.unpacked(self.Params, fit.arrays, f"params.{i}") for i in blocks]
        return self


class Types(Published):
    """Annotators are competent, biased, adversaries or spammers (Kara et al. 2015)."""

    kind: ClassVar[str] = "types"
    maths: ClassVar[ModuleType] = annotator_types
    Params = annotator_types.TypeParams

    def notes(self) -> dict[str, Any]:
        """How many annotators of each type are expected, over all dimensions."""
        counted = np.mean([params.share[:-1].sum(axis=0) for params in self.params_], axis=0)
        return {"types": dict(zip(annotator_types.TYPES, counted.tolist(), strict=True))}


class Regions(Published):
    """The noise of annotators depends on the region an item lies in (Audhkhasi and Narayanan 2013)."""

    kind: ClassVar[str] = "regions"
    numbers: ClassVar[dict[str, Number]] = Published.numbers | {
        "regions": Number("give a whole number from 1 on", least=1, whole=True)
    }
    learns_predictor = True
    maths: ClassVar[ModuleType] = item_regions
    Params = item_regions.RegionParams

    def __init__(self, *, regions: int = 2, tol: float = SETTLED, max_iter: int = MOST_STEPS) -> None:
        super().__init__(tol=tol, max_iter=max_iter)
        self.regions = regions

    def _starts(self, answers: Answers) -> Sequence[Any]:
        return item_regions.starts(answers, self.regions)

    def _expected(self, answers: Answers, item: np.ndarray, annotator: np.ndarray) -> Predictive:
        found = super()._expected(answers, item, annotator)
        usual = np.diagonal(self.parameters().N, axis1=1, axis2=2)[annotator]
        own = [item_regions.noise_at(answers.of([d]), p)[item, annotator] for d, p in enumerate(self.params_)]
        return found._replace(variance=found.variance - usual + np.transpose(own))


class Curved(Published):
    """Answers are functions of the truth: squares, products and absolute values beside the truth itself."""

    kind: ClassVar[str] = "curved"
    maths: ClassVar[ModuleType] = curved_annotators
    Params = curved_annotators.CurvedParams

    def _blocks(self, D: int) -> list[list[int]]:
        """All together where they are few; else each bends by itself."""
        return [list(range(D))] if D <= curved_annotators.MOST_TOGETHER else super()._blocks(D)

    def _expected(self, answers: Answers, item: np.ndarray, annotator: np.ndarray) -> Predictive:
        found = np.zeros((2, len(item), answers.y.shape[1]))
        for dims, params in zip(self._blocks(answers.y.shape[1]), self.params_, strict=True):
            found[:, :, dims] = curved_annotators.answers_to(answers.of(dims), params, item, annotator)
        return Predictive(*found)
