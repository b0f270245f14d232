"""unisono: many raters, one truth.

    import unisono as un
    ratings = un.read_ratings("ratings.csv")
    result = un.fuse(ratings)
    result.truth, result.annotators

Names are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from unisono.version import __version__

if TYPE_CHECKING:
    from unisono.api import Fusion, compare, cross_validate, fuse, load
    from unisono.data import ItemTable, Ratings
    from unisono.data.checks import Alert, check_ratings
    from unisono.datasets import load_dataset, load_dataset_table
    from unisono.errors import ConvergenceWarning, DataError, DataWarning, NotFittedError
    from unisono.fusers import (
        MODELS,
        SERIES_MODELS,
        AlignedMean,
        EvaluatorWeighted,
        Fit,
        Fused,
        Independent,
        Joint,
        Mean,
        Median,
        SeriesIndependent,
        SeriesJoint,
        SeriesPaperIndependent,
        SeriesPaperJoint,
        WeightedMean,
        ZScoreMean,
    )
    from unisono.io.align import align_to
    from unisono.io.tables import read_item_table, read_ratings
    from unisono.simulate import simulate_items, simulate_series

_HOME = {
    "unisono.api": ("Fusion", "compare", "cross_validate", "fuse", "load"),
    "unisono.data": ("ItemTable", "Ratings"),
    "unisono.data.checks": ("Alert", "check_ratings"),
    "unisono.errors": ("ConvergenceWarning", "DataError", "DataWarning", "NotFittedError"),
    "unisono.fusers": (
        *("MODELS", "SERIES_MODELS", "Fit", "Fused", "Joint", "Independent"),
        *("Mean", "Median", "ZScoreMean", "EvaluatorWeighted", "WeightedMean", "AlignedMean"),
        *("SeriesJoint", "SeriesIndependent", "SeriesPaperJoint", "SeriesPaperIndependent"),
    ),
    "unisono.io.align": ("align_to",),
    "unisono.io.tables": ("read_item_table", "read_ratings"),
    "unisono.datasets": ("load_dataset", "load_dataset_table"),
    "unisono.simulate": ("simulate_items", "simulate_series"),
}

__all__ = [
    "MODELS",
    "SERIES_MODELS",
    "Alert",
    "AlignedMean",
    "ConvergenceWarning",
    "DataError",
    "DataWarning",
    "EvaluatorWeighted",
    "Fit",
    "Fused",
    "Fusion",
    "Independent",
    "ItemTable",
    "Joint",
    "Mean",
    "Median",
    "NotFittedError",
    "Ratings",
    "SeriesIndependent",
    "SeriesJoint",
    "SeriesPaperIndependent",
    "SeriesPaperJoint",
    "WeightedMean",
    "ZScoreMean",
    "__version__",
    "align_to",
    "check_ratings",
    "compare",
    "cross_validate",
    "fuse",
    "load",
    "load_dataset",
    "load_dataset_table",
    "read_item_table",
    "read_ratings",
    "simulate_items",
    "simulate_series",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'unisono' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
