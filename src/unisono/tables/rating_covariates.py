"""Covariates of single ratings: length, position, whether judge and system belong to one family of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unisono.errors import DataError
from unisono.tables.ratings import Ratings


@dataclass(frozen=True, eq=False)
class RatingNumbers:
    """Covariates of ratings, by item and annotator."""

    names: tuple[str, ...]
    of_pair: Mapping[tuple[str, str], int]  # (item, annotator) -> row
    value: np.ndarray  # (rows, P)
    source: str = "ratings"

    def of(self, ratings: Ratings) -> np.ndarray:
        """(J, P) the numbers of every judgement, all of which must be known and finite."""
        labels = zip(ratings.item_of.tolist(), ratings.annotator_of.tolist(), strict=True)
        rows = [self.of_pair.get((ratings.items[m], ratings.annotators[k]), -1) for m, k in labels]
        found = np.where(np.array(rows)[:, None] < 0, np.nan, self.value[rows])
        missing = np.argwhere(~np.isfinite(found))
        if len(missing):
            j, p = missing[0]
            who, item = ratings.annotators[ratings.annotator_of[j]], ratings.items[ratings.item_of[j]]
            raise DataError(
                f"{self.source}: {self.names[p]} is not known for the rating of '{item}' by '{who}'. "
                "Fill it in, or leave the covariate out."
            )
        return found


def rating_numbers(
    names: Sequence[str], items: Sequence[str], annotators: Sequence[str], value: np.ndarray, source: str
) -> RatingNumbers:
    """From one row per rating: labels, and numbers (rows, P); of rows about the same rating the last one holds."""
    return RatingNumbers(
        tuple(names), {pair: row for row, pair in enumerate(zip(items, annotators, strict=True))}, value, source
    )
