"""Estimators: labels in, labels out, maths inside. Imports ratings and maths; reads no files.

fuser, fusion_results       what all fusers share, and what they give
standardisation, crowd      units, features and places of annotators; what is known of a crowd before any model
model_registry              models by name, and which of them `auto` is
*_items, item_*             ratings of items: joint, independent, averages; known truths, warm start
*_traces, trace_*           traces over time: joint, independent, as published, averages
items, series               namespaces: the fusers of each under their names
grouped_*, group_*          ratings of items by several kinds of annotators who err together
published_items             ratings of items by models of other papers
compared_items              comparisons: pairs of items, left, right or tie
category_models             categories: class probabilities instead of numbers
rating_design, pair_design  from a finished fit: how many ratings are enough, what to rate or compare next
"""

from unisono.fusers import items, series
from unisono.fusers.baseline_items import EvaluatorWeighted, Independent, Mean, Median, WeightedMean, ZScoreMean
from unisono.fusers.compared_items import Pairwise
from unisono.fusers.fuser import Fuser
from unisono.fusers.fusion_results import Annotators, Fit, Fused
from unisono.fusers.grouped_annotators import Groups
from unisono.fusers.joint_items import Joint
from unisono.fusers.model_registry import MODELS, SERIES_MODELS, make_fuser, revive

__all__ = [
    "MODELS",
    "SERIES_MODELS",
    "Annotators",
    "EvaluatorWeighted",
    "Fit",
    "Fused",
    "Fuser",
    "Groups",
    "Independent",
    "Joint",
    "Mean",
    "Median",
    "Pairwise",
    "WeightedMean",
    "ZScoreMean",
    "items",
    "make_fuser",
    "revive",
    "series",
]
