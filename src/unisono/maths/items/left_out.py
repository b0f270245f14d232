"""Leave-one-out residuals: the ratio of their squares to the variance claimed, which corrects the intervals.

Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.items.data import ItemData
from unisono.maths.items.estep import left_out_blocks
from unisono.maths.items.params import ItemParams
from unisono.maths.items.predictive import predicted_ratings
from unisono.maths.items.priors import LEAST_FREEDOM


def left_out_ratio(data: ItemData, params: ItemParams) -> float:
    """Mean squared error of left-out predictions over the variance they claim; 1 if the model is honest.  eq. B16"""
    total, numbers = 0.0, 0
    for judgements, mean, cov in left_out_blocks(data, params):
        profile = data.profile_of[judgements]
        own = np.arange(len(mean))
        predicted = predicted_ratings(params, mean, cov, own, data.annotator[profile])
        seen = data.answered[profile]
        ratio = (data.y[judgements] - predicted.mean) ** 2 / predicted.variance
        total += float(ratio[seen].sum())
        numbers += int(seen.sum())
    return total / numbers if numbers else 1.0


def residual_freedom(data: ItemData) -> float:
    """Degrees of freedom that judgements leave after one truth per item and one bias per annotator."""
    raters = int((data.by_annotator(data.judgements) > 0).sum())
    return max(float(data.judgements.sum()) - data.M - raters, LEAST_FREEDOM)
