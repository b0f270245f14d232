"""Fusers of traces, under the names that those of items have: joint, independent, as published, averages."""

from unisono.fusers.series.averages import (
    AlignedMean,
)
from unisono.fusers.series.averages import (
    SeriesEvaluatorWeighted as EvaluatorWeighted,
)
from unisono.fusers.series.averages import (
    SeriesMean as Mean,
)
from unisono.fusers.series.averages import (
    SeriesMedian as Median,
)
from unisono.fusers.series.averages import (
    SeriesWeightedMean as WeightedMean,
)
from unisono.fusers.series.averages import (
    SeriesZScoreMean as ZScoreMean,
)
from unisono.fusers.series.independent import SeriesIndependent as Independent
from unisono.fusers.series.joint import SeriesJoint as Joint
from unisono.fusers.series.paper import SeriesPaperIndependent as PaperIndependent
from unisono.fusers.series.paper import SeriesPaperJoint as PaperJoint

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
