"""Fusers of ratings of items: joint, independent, of groups who err together, averages."""

from unisono.fusers.baseline_items import EvaluatorWeighted, Independent, Mean, Median, WeightedMean, ZScoreMean
from unisono.fusers.grouped_annotators import Groups
from unisono.fusers.joint_items import Joint

__all__ = ["EvaluatorWeighted", "Groups", "Independent", "Joint", "Mean", "Median", "WeightedMean", "ZScoreMean"]
