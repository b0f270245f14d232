"""Estimators: labels in, labels out, maths inside. Imports data and maths; knows no files.

items     fusers of ratings of items: joint, independent, averages; their names are here too
groups    fusers of ratings of items by several kinds of annotators
series    fusers of traces, under the same names: joint, independent, as published, averages

Beside the rooms: what all fusers share (base), their settings (params, number_settings), models by name (registry),
what they give (results), units (scaling).
"""

from unisono.fusers import series
from unisono.fusers.base import Fuser
from unisono.fusers.groups.grouped import Groups
from unisono.fusers.items.averages import EvaluatorWeighted, Mean, Median, WeightedMean, ZScoreMean
from unisono.fusers.items.independent import Independent
from unisono.fusers.items.joint import Joint
from unisono.fusers.registry import MODELS, SERIES_MODELS, make_fuser, revive
from unisono.fusers.results import Annotators, Fit, Fused

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
    "WeightedMean",
    "ZScoreMean",
    "make_fuser",
    "revive",
    "series",
]
