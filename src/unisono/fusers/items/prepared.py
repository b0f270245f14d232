"""What a fit of items works on: standardised ratings, scores of the features, known truths, and an earlier fit."""

from __future__ import annotations

from typing import NamedTuple

from unisono.data import ItemTable, Ratings
from unisono.data.scale import Scale
from unisono.data.scale_inference import for_origins
from unisono.fusers.base import gold_values
from unisono.fusers.features import FeatureSpace, learn_space
from unisono.fusers.items.ends import answer_kinds, earlier_kinds, find_ends
from unisono.fusers.items.response import answer_curve
from unisono.fusers.items.warm_start import PriorFit
from unisono.fusers.scaling import Scaling, annotator_scaling, common_scaling, without_dust
from unisono.maths.items.data import Bounds, ItemData, prepare
from unisono.maths.items.ends import EndAnswers
from unisono.words import Response


class Prepared(NamedTuple):
    """Ratings as given and as the maths wants them."""

    ratings: Ratings
    scaling: Scaling
    space: FeatureSpace
    data: ItemData
    earlier: PriorFit | None
    scale: Scale  # of the truth: that of the answers, made wide enough for known truths
    ends: Bounds  # of the answers, standardised
    end_answers: EndAnswers | None  # of dimensions whose answers there say "here or beyond"


def prepared(
    ratings: Ratings,
    features: ItemTable | None,
    gold: ItemTable | None,
    earlier: PriorFit | None,
    *,
    paper: bool,
    response: Response = "linear",
    censored: bool = False,
) -> Prepared:
    """In common units, or in those of the earlier fit; `paper` has one unit for all dimensions and no intercept.

    `censored`: answers that are kinds, at an end of the scale say "here or beyond".
    """
    if earlier is not None:
        scaling = earlier.scaling
    else:
        curve = answer_curve(ratings.value, ratings.dimensions, ratings.source) if response == "ordinal" else None
        value = ratings.value if curve is None else curve.forward(ratings.value)
        scaling = common_scaling(value) if paper else annotator_scaling(value, ratings.annotator_of, ratings.K)
        scaling = scaling._replace(curve=curve)
    # One ridge for all features makes sense only in common units; the paper takes features as they are.
    space, scores = learn_space(features, ratings.items, intercept=not paper, standardise=not paper)
    value = scaling.standardise(ratings.value)
    value = without_dust(value) if paper else value
    data = prepare(value, ratings.item_of, ratings.annotator_of, scores, ratings.K)
    answers = ratings.scale
    if earlier is not None:
        # A batch that shows less of the scale than the one before was given on the same one.
        answers = answers.joined(earlier.scale).widened(ratings.value, ratings.dimensions, ratings.source)
    at_ends = None
    if censored:
        kinds = answer_kinds(ratings.value, answers) if earlier is None else earlier_kinds(earlier.ends, scaling)
        at_ends = find_ends(kinds, answers, scaling)
    scale = for_origins(answers, ratings.value, ratings.annotator_of)
    if gold is not None:
        known = gold_values(gold, ratings)
        scale = scale.widened(known, ratings.dimensions, gold.source, ratings.items)
        data = data._replace(gold=scaling.standardise(known))
    data = data._replace(cuts=None if at_ends is None else at_ends.cuts)
    return Prepared(ratings, scaling, space, data, earlier, scale, standardised_ends(answers, scaling), at_ends)


def standardised_ends(scale: Scale, scaling: Scaling) -> Bounds:
    """The ends of a scale in standardised units."""
    return Bounds(scaling.standardise(scale.low), scaling.standardise(scale.high))
