"""What a fit of items works on: standardised ratings, scores of the features, known truths, and an earlier fit."""

from __future__ import annotations

from typing import NamedTuple

from unisono.data import ItemTable, Ratings
from unisono.fusers.base import gold_values
from unisono.fusers.features import FeatureSpace, learn_space
from unisono.fusers.items.warm_start import PriorFit
from unisono.fusers.scaling import Scaling, common_scaling, pooled_scaling
from unisono.maths.items.data import ItemData, prepare


class Prepared(NamedTuple):
    """Ratings as given and as the maths wants them."""

    ratings: Ratings
    scaling: Scaling
    space: FeatureSpace
    data: ItemData
    earlier: PriorFit | None


def prepared(
    ratings: Ratings, features: ItemTable | None, gold: ItemTable | None, earlier: PriorFit | None, *, paper: bool
) -> Prepared:
    """In common units, or in those of the earlier fit; `paper` has one unit for all dimensions and no intercept."""
    if earlier is not None:
        scaling = earlier.scaling
    else:
        scaling = common_scaling(ratings.value) if paper else pooled_scaling(ratings.value)
    # One ridge for all features makes sense only in common units; the paper takes features as they are.
    space, scores = learn_space(features, ratings.items, intercept=not paper, standardise=not paper)
    data = prepare(scaling.standardise(ratings.value), ratings.item_of, ratings.annotator_of, scores, ratings.K)
    if gold is not None:
        data = data._replace(gold=scaling.standardise(gold_values(gold, ratings)))
    return Prepared(ratings, scaling, space, data, earlier)
