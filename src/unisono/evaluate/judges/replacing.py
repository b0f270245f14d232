"""Whether single judges may replace people: the alternative annotator test on every dimension."""

from __future__ import annotations

import numpy as np

from unisono.data import Ratings
from unisono.maths.judges.alternative import EPSILON, Alternative, alternative_test


def alternatives(
    ratings: Ratings, judges: np.ndarray, people: np.ndarray, epsilon: float = EPSILON
) -> dict[tuple[str, str], Alternative]:
    """By judge and dimension; `judges` and `people` are places among the annotators."""
    found = {}
    for d, dimension in enumerate(ratings.dimensions):
        table = np.full((ratings.M, ratings.K), np.nan)
        table[ratings.item_of, ratings.annotator_of] = ratings.value[:, d]
        for k in judges:
            found[ratings.annotators[k], dimension] = alternative_test(table[:, k], table[:, people], epsilon)
    return found
