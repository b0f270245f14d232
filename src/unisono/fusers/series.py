"""Fusers of traces: those of items under the same names, and the methods of others."""

from unisono.fusers.baseline_traces import (
    AlignedMean,
    EvaluatorWeighted,
    Independent,
    LagByInformation,
    Mean,
    Median,
    WeightedMean,
    ZScoreMean,
)
from unisono.fusers.course_traces import (
    Barycentre,
    FunctionalPCA,
    RankMean,
    SharedDynamics,
    WarpedDynamics,
    WindowedEWE,
)
from unisono.fusers.joint_traces import Joint
from unisono.fusers.published_traces import PaperIndependent, PaperJoint

__all__ = [
    "AlignedMean",
    "Barycentre",
    "EvaluatorWeighted",
    "FunctionalPCA",
    "Independent",
    "Joint",
    "LagByInformation",
    "Mean",
    "Median",
    "PaperIndependent",
    "PaperJoint",
    "RankMean",
    "SharedDynamics",
    "WarpedDynamics",
    "WeightedMean",
    "WindowedEWE",
    "ZScoreMean",
]
