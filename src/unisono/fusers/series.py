"""Fusers of traces, under the names that those of items have: joint, independent, as published, averages."""

from unisono.fusers.baseline_traces import (
    AlignedMean,
    EvaluatorWeighted,
    Independent,
    Mean,
    Median,
    WeightedMean,
    ZScoreMean,
)
from unisono.fusers.joint_traces import Joint
from unisono.fusers.published_traces import PaperIndependent, PaperJoint

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
