"""Fusers of traces, under the names that those of items have: joint, independent, as published, averages."""

from unisono.fusers.series.averages import (
    AlignedMean,
    EvaluatorWeighted,
    Mean,
    Median,
    WeightedMean,
    ZScoreMean,
)
from unisono.fusers.series.independent import Independent
from unisono.fusers.series.joint import Joint
from unisono.fusers.series.paper import PaperIndependent, PaperJoint

__all__ = [
    "AlignedMean",
    "EvaluatorWeighted",
    "Independent",
    "Joint",
    "Mean",
    "Median",
    "PaperIndependent",
    "PaperJoint",
    "WeightedMean",
    "ZScoreMean",
]
