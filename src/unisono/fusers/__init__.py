"""Estimators: labels in, labels out, maths inside. Imports data and maths; knows no files."""

from unisono.fusers.base import Fuser
from unisono.fusers.baselines import EvaluatorWeighted, Mean, Median, WeightedMean, ZScoreMean
from unisono.fusers.independent import Independent
from unisono.fusers.joint import Joint
from unisono.fusers.registry import MODELS, SERIES_MODELS, make_fuser, revive
from unisono.fusers.results import Annotators, Fit, Fused
from unisono.fusers.series_baselines import AlignedMean
from unisono.fusers.series_independent import SeriesIndependent
from unisono.fusers.series_joint import SeriesJoint
from unisono.fusers.series_paper import SeriesPaperIndependent, SeriesPaperJoint

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
