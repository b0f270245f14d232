"""Features of items: from the user's columns to the orthogonal scores that the maths works with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unisono.data import ItemTable
from unisono.data.labels import listed
from unisono.errors import DataError
from unisono.fusers.scaling import Scaling, identity_scaling, pooled_scaling
from unisono.maths.items.predictor import Scores, no_features, orthogonal_scores
from unisono.reader import as_item_table


class FeatureSpace(NamedTuple):
    """Which columns a model was fitted on, their units, and the directions of their scores."""

    columns: tuple[str, ...]
    scaling: Scaling  # of the P columns
    directions: np.ndarray  # (P, R)
    center: np.ndarray  # (P,)
    squares: np.ndarray  # (R,)

    def scores(self, features: ItemTable | None, items: tuple[str, ...]) -> Scores:
        """Scores of these items, which the table must hold."""
        if not self.columns:
            return no_features(len(items))
        if features is None:
            raise DataError(f"The model was fitted with features {listed(self.columns)}: give them here too.")
        X = feature_values(features.select_columns(self.columns).select_items(items))
        empty = Scores(np.zeros((0, len(self.squares))), self.squares, self.directions, self.center)
        return empty._replace(Z=empty.of(self.scaling.standardise(X)))

    def require_features(self, features: Any) -> ItemTable:
        """The features to predict from, as a table; a model without any cannot."""
        if not self.columns:
            raise DataError("The model was fitted without features, so features alone cannot predict a truth.")
        table = as_item_table(features)
        if table is None:
            raise DataError(f"The model was fitted with features {listed(self.columns)}: give them to predict from.")
        return table

    def arrays(self) -> dict[str, np.ndarray]:
        return {
            "feature_loc": self.scaling.loc,
            "feature_scale": self.scaling.scale,
            "score_directions": self.directions,
            "score_center": self.center,
            "score_squares": self.squares,
        }


def restore_space(columns: tuple[str, ...], arrays: dict[str, np.ndarray]) -> FeatureSpace:
    """The space that `arrays` wrote down."""
    return FeatureSpace(
        columns,
        Scaling(arrays["feature_loc"], arrays["feature_scale"]),
        arrays["score_directions"],
        arrays["score_center"],
        arrays["score_squares"],
    )


def learn_space(
    features: ItemTable | None, items: tuple[str, ...], *, intercept: bool, standardise: bool
) -> tuple[FeatureSpace, Scores]:
    """The space of the items' features, and their scores in it."""
    if features is None:
        none = no_features(len(items))
        return FeatureSpace((), identity_scaling(0), none.V, none.center, none.l), none
    X = feature_values(features.select_items(items))
    scaling = pooled_scaling(X) if standardise else identity_scaling(X.shape[1])
    scores = orthogonal_scores(scaling.standardise(X), intercept=intercept)
    return FeatureSpace(features.columns, scaling, scores.V, scores.center, scores.l), scores


def feature_values(table: ItemTable) -> np.ndarray:
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
