"""unisono: many raters, one truth.

    import unisono as un
    ratings = un.read_ratings("ratings.csv")
    result = un.fuse(ratings)
    result.truth, result.annotators

Fusers of ratings of items are here (`un.Joint`, `un.Mean`, ...), those of traces in `un.series` (`un.series.Joint`,
`un.series.AlignedMean`, ...); `un.make_fuser` makes either by the name of a model. Names are loaded when first used, so
that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from unisono.version import __version__

if TYPE_CHECKING:
    from unisono.api import (
        Fusion,
        agreement,
        check,
        compare,
        cross_validate,
        fuse,
        judges,
        load,
        next_ratings,
        plan,
        score,
    )
    from unisono.api.category_fusion import CategoryFusion
    from unisono.api.comparison_fusion import ComparisonFusion
    from unisono.errors import ConvergenceWarning, DataError, DataWarning, NotFittedError, SettingsError
    from unisono.fusers import (
        MODELS,
        SERIES_MODELS,
        EvaluatorWeighted,
        Fit,
        Fused,
        Groups,
        Independent,
        Joint,
        Mean,
        Median,
        Pairwise,
        WeightedMean,
        ZScoreMean,
        make_fuser,
        series,
    )
    from unisono.fusers.category_models import CATEGORY_MODELS
    from unisono.paper.simulation import simulate_items, simulate_series
    from unisono.report import plots as plot
    from unisono.tables.categories import Categories
    from unisono.tables.comparisons import Comparisons
    from unisono.tables.datasets import load_dataset, load_dataset_table
    from unisono.tables.item_table import ItemTable
    from unisono.tables.rating_checks import Alert, check_ratings
    from unisono.tables.ratings import Ratings
    from unisono.tables.reading.categories_reader import read_categories
    from unisono.tables.reading.clock_alignment import align_to
    from unisono.tables.reading.comparisons_reader import read_comparisons
    from unisono.tables.reading.ratings_reader import read_item_table, read_ratings


_HOME = {
    "unisono.api": (
        *("Fusion", "agreement", "check", "compare", "cross_validate", "fuse", "load", "next_ratings", "plan"),
        *("judges", "score"),
    ),
    "unisono.tables": ("ItemTable", "Ratings"),
    "unisono.api.category_fusion": ("CategoryFusion",),
    "unisono.api.comparison_fusion": ("ComparisonFusion",),
    "unisono.tables.comparisons": ("Comparisons",),
    "unisono.tables.reading.comparisons_reader": ("read_comparisons",),
    "unisono.tables.categories": ("Categories",),
    "unisono.tables.rating_checks": ("Alert", "check_ratings"),
    "unisono.errors": ("ConvergenceWarning", "DataError", "DataWarning", "NotFittedError", "SettingsError"),
    "unisono.fusers": (
        *("MODELS", "SERIES_MODELS", "Fit", "Fused", "Groups", "Joint", "Independent", "Pairwise", "make_fuser"),
        "series",
        *("Mean", "Median", "ZScoreMean", "EvaluatorWeighted", "WeightedMean"),
    ),
    "unisono.fusers.category_models": ("CATEGORY_MODELS",),
    "unisono.tables.reading.clock_alignment": ("align_to",),
    "unisono.tables.reading.categories_reader": ("read_categories",),
    "unisono.tables.reading.ratings_reader": ("read_item_table", "read_ratings"),
    "unisono.tables.datasets": ("load_dataset", "load_dataset_table"),
    "unisono.paper.simulation": ("simulate_items", "simulate_series"),
}
# Names of earlier versions, and what they are called now.
_DEPRECATED = {
    "simulate_global": "simulate_items",
    "AlignedMean": "series.AlignedMean",
    "SeriesJoint": "series.Joint",
    "SeriesIndependent": "series.Independent",
    "SeriesPaperJoint": "series.PaperJoint",
    "SeriesPaperIndependent": "series.PaperIndependent",
}

__all__ = [
    "CATEGORY_MODELS",
    "MODELS",
    "SERIES_MODELS",
    "Alert",
    "Categories",
    "CategoryFusion",
    "ComparisonFusion",
    "Comparisons",
    "ConvergenceWarning",
    "DataError",
    "DataWarning",
    "EvaluatorWeighted",
    "Fit",
    "Fused",
    "Fusion",
    "Groups",
    "Independent",
    "ItemTable",
    "Joint",
    "Mean",
    "Median",
    "NotFittedError",
    "Pairwise",
    "Ratings",
    "SettingsError",
    "WeightedMean",
    "ZScoreMean",
    "__version__",
    "agreement",
    "align_to",
    "check",
    "check_ratings",
    "compare",
    "cross_validate",
    "fuse",
    "judges",
    "load",
    "load_dataset",
    "load_dataset_table",
    "make_fuser",
    "next_ratings",
    "plan",
    "plot",
    "read_categories",
    "read_comparisons",
    "read_item_table",
    "read_ratings",
    "score",
    "series",
    "simulate_items",
    "simulate_series",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    if name in _DEPRECATED:
        first, *rest = _DEPRECATED[name].split(".")
        warnings.warn(f"unisono.{name} is now unisono.{_DEPRECATED[name]}.", DeprecationWarning, stacklevel=2)
        found = __getattr__(first)
        for step in rest:
            found = getattr(found, step)
        return found
    if name == "plot":
        return importlib.import_module("unisono.report.plots")
    raise AttributeError(f"module 'unisono' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
