"""Whether the kind of annotators that defines the truth rates against all others: one of the two is upside down."""

from __future__ import annotations

import numpy as np

from unisono.maths.gold_slope import Slope, slope_on


def reference_slopes(value: np.ndarray, item_of: np.ndarray, of_group: np.ndarray, M: int) -> tuple[Slope, ...]:
    """Of the items' mean ratings by group 0 on those by all others, dimension by dimension; ratings (J, D) with NaN."""
    own, others = (_means(value[chosen], item_of[chosen], M) for chosen in (of_group == 0, of_group != 0))
    return tuple(slope_on(others[:, d], own[:, d]) for d in range(value.shape[1]))


def _means(value: np.ndarray, item_of: np.ndarray, M: int) -> np.ndarray:
    """(M, D) means of the ratings of every item, NaN where there are none."""
    seen = ~np.isnan(value)
    count = np.stack([np.bincount(item_of, column, M) for column in seen.T.astype(float)], axis=1)
    total = np.stack([np.bincount(item_of, column, M) for column in np.where(seen, value, 0.0).T], axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
