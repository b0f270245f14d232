"""Estimators: labels in, labels out, maths inside. Imports data and maths; knows no files."""

from unisono.fusers.base import Fuser
from unisono.fusers.baselines import EvaluatorWeighted, Mean, Median, WeightedMean, ZScoreMean
from unisono.fusers.independent import Independent
from unisono.fusers.joint import Joint
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
    "Independent",
    "Joint",
    "Mean",
    "Median",
    "WeightedMean",
    "ZScoreMean",
    "make_fuser",
    "revive",
]
