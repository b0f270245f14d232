"""From labels and units to the numbers that the maths works with, and back.

Units: ratings as people gave them, and ratings with pooled mean 0 and standard deviation 1 per dimension. Truth and
ratings share their units, so one location and one scale per dimension carry everything there and back. Features: from
the user's columns to orthogonal scores. Annotators: their rows among the fitted parameters. Under `bayes` these have
one more row than there are annotators: the newcomer, of whom only the population is known, who answers like the average
annotator, as surely as the priors say, with the pool's noise. Under `ml` nothing is known of a newcomer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.maths.items import annotator_levels, item_data
from unisono.maths.items.item_params import ItemParams
from unisono.maths.rating_values import pooled_moments
from unisono.tables import Ratings, item_table, labels

DUST = 1e-12  # numerical: of the common unit: nothing that anybody answered


class Scaling(NamedTuple):
    """y = loc + scale * z."""

    loc: np.ndarray  # (D,)
    scale: np.ndarray  # (D,)

    def of(self, dims: list[int]) -> Scaling:
        """That of some of the dimensions."""
        return Scaling(self.loc[dims], self.scale[dims])

    def standardise(self, value: np.ndarray) -> np.ndarray:
        found = np.asarray(value - self.loc)
        found /= self.scale
        return found

    def restore_mean(self, mean: np.ndarray) -> np.ndarray:
        return np.asarray(self.loc + self.scale * mean)

    def restore_cov(self, cov: np.ndarray) -> np.ndarray:
        """Covariances (S, D, D) of errors."""
        return np.asarray(cov * self.scale[:, None] * self.scale)

    def restore_matrix(self, F: np.ndarray) -> np.ndarray:
        """F (..., D, D) between standardised units as a matrix between the original ones."""
        return np.asarray(F * self.scale[:, None] / self.scale)


def identity_scaling(D: int) -> Scaling:
    return Scaling(np.zeros(D), np.ones(D))


def pooled_scaling(value: np.ndarray) -> Scaling:
    """Mean and standard deviation of all ratings (J, D) of each dimension."""
    return Scaling(*pooled_moments(value))


def annotator_scaling(value: np.ndarray, annotator_of: np.ndarray, K: int) -> Scaling:
    """The level of the average annotator and the spread of answers (J, D) around everybody's own."""
    return Scaling(*annotator_levels.units_of(value, annotator_of, K))


def common_scaling(value: np.ndarray) -> Scaling:
    """One scale for all dimensions and no shift: the only change of units that the paper's model is invariant to."""
    D = value.shape[1]
    seen = value[~np.isnan(value)]
    largest = float(np.abs(seen).max()) if len(seen) else 0.0
    scale = largest * float(np.sqrt(np.mean((seen / largest) ** 2))) if largest > 0 else 1.0
    return Scaling(np.zeros(D), np.full(D, scale))


def without_dust(standardised: np.ndarray) -> np.ndarray:
    """Ratings in a common unit, where those of a dimension may be so small that their squares vanish: they are zero."""
    return np.asarray(np.where(np.abs(standardised) < DUST, 0.0, standardised))


class FeatureSpace(NamedTuple):
    """Which columns a model was fitted on, their units, and the directions of their scores."""

    columns: tuple[str, ...]
    scaling: Scaling  # of the P columns
    directions: np.ndarray  # (P, R)
    center: np.ndarray  # (P,)
    squares: np.ndarray  # (R,)

    def scores(self, features: item_table.ItemTable | None, items: tuple[str, ...]) -> item_data.Scores:
        """Scores of these items, which the table must hold."""
        if not self.columns:
            return item_data.no_features(len(items))
        if features is None:
            raise DataError(f"The model was fitted with features {labels.listed(self.columns)}: give them here too.")
        X = feature_values(features.select_columns(self.columns).select_items(items))
        empty = item_data.Scores(np.zeros((0, len(self.squares))), self.squares, self.directions, self.center)
        return empty._replace(Z=empty.of(self.scaling.standardise(X)))


def learn_space(
    features: item_table.ItemTable | None, items: tuple[str, ...], *, intercept: bool, standardise: bool
) -> tuple[FeatureSpace, item_data.Scores]:
    """The space of the items' features, and their scores in it."""
    if features is None:
        none = item_data.no_features(len(items))
        return FeatureSpace((), identity_scaling(0), none.V, none.center, none.l), none
    X = feature_values(features.select_items(items))
    scaling = pooled_scaling(X) if standardise else identity_scaling(X.shape[1])
    scores = item_data.orthogonal_scores(scaling.standardise(X), intercept=intercept)
    return FeatureSpace(features.columns, scaling, scores.V, scores.center, scores.l), scores


def feature_values(table: item_table.ItemTable) -> np.ndarray:
    """The numbers of a feature table, every one of which must be known."""
    unknown = np.argwhere(np.isnan(table.value))
    if len(unknown):
        row, column = unknown[0]
        item = table.items[int(np.searchsorted(np.cumsum(table.length), row, side="right"))]
        raise DataError(
            f"{table.source}: feature '{table.columns[column]}' of item '{item}' is missing. "
            "Fill it in, or leave the column or the item out."
        )
    return table.value


def with_newcomer(params: ItemParams, given: np.ndarray, variance: np.ndarray, pool: np.ndarray) -> ItemParams:
    """Parameters with the newcomer as their last annotator.

    `given` (K,) judgements of each annotator, `variance` (D, q) of the rows between annotators, `pool` (D, D) noise.
    """
    assert params.cov is not None
    share = given / given.sum()
    mean = np.einsum("k,kdi->di", share, params.B)
    spread = variance[:, :, None] * np.eye(variance.shape[1])
    return params._replace(
        B=np.concatenate([params.B, mean[None]]),
        N=np.concatenate([params.N, pool[None]]),
        cov=np.concatenate([params.cov, spread[None]]),
    )


def places(ratings: Ratings, known: tuple[str, ...], params: ItemParams) -> np.ndarray:
    """(J,) the annotator of each judgement as a row of the parameters."""
    annotator_of = places_by_label(ratings, known)
    if len(params.B) == len(known) and (annotator_of == len(known)).any():
        unknown = [label for label in ratings.annotators if label not in known]
        raise DataError(
            f"{ratings.source}: annotator {labels.listed(unknown)} was not in the fit. "
            "Fit all ratings together, or use a model with inference 'bayes'."
        )
    return annotator_of


def places_by_label(ratings: Ratings, known: tuple[str, ...]) -> np.ndarray:
    """(J,) the place of each judgement's annotator among the known ones; newcomers share the place after the last."""
    place = {label: k for k, label in enumerate(known)}
    index = np.array([place.get(label, len(known)) for label in ratings.annotators], dtype=np.int32)
    return np.asarray(index[ratings.annotator_of])
