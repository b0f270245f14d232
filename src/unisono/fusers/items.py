"""Fusers of ratings of items: joint, independent, of groups who err together, of other papers, averages."""

from unisono.fusers.baseline_items import EvaluatorWeighted, Independent, Mean, Median, WeightedMean, ZScoreMean
from unisono.fusers.grouped_annotators import Groups
from unisono.fusers.joint_items import Joint
from unisono.fusers.published_items import Curved, Regions, Types

__all__ = [
    "Curved",
    "EvaluatorWeighted",
    "Groups",
    "Independent",
    "Joint",
    "Mean",
    "Median",
    "Regions",
    "Types",
    "WeightedMean",
    "ZScoreMean",
]
