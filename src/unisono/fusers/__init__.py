"""Estimators: labels in, labels out, maths inside. Imports data and maths; knows no files.

items     fusers of ratings of items: joint, independent, averages
series    fusers of traces: joint, independent, as published, averages

Beside the rooms: what all fusers share (base), models by name (registry), what they give (results), units (scaling).
"""

from unisono.fusers.base import Fuser
from unisono.fusers.items.averages import EvaluatorWeighted, Mean, Median, WeightedMean, ZScoreMean
from unisono.fusers.items.independent import Independent
from unisono.fusers.items.joint import Joint
from unisono.fusers.registry import MODELS, SERIES_MODELS, make_fuser, revive
from unisono.fusers.results import Annotators, Fit, Fused
from unisono.fusers.series.averages import AlignedMean
from unisono.fusers.series.independent import SeriesIndependent
from unisono.fusers.series.joint import SeriesJoint
from unisono.fusers.series.paper import SeriesPaperIndependent, SeriesPaperJoint

__all__ = [
    "MODELS",
    "SERIES_MODELS",
    "AlignedMean",
    "Annotators",
    "EvaluatorWeighted",
    "Fit",
    "Fused",
    "Fuser",
    "Independent",
    "Joint",
    "Mean",
    "Median",
    "SeriesIndependent",
    "SeriesJoint",
    "SeriesPaperIndependent",
    "SeriesPaperJoint",
    "WeightedMean",
    "ZScoreMean",
    "make_fuser",
    "revive",
]
