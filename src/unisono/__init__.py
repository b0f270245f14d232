"""unisono: many raters, one truth.

    import unisono as un
    ratings = un.read_ratings("ratings.csv")
    result = un.fuse(ratings)
    result.truth, result.annotators

Fusers of ratings of items are in `un.items` (`un.items.Joint`, `un.items.Mean`, ...), those of traces in `un.series`;
`un.make_fuser` makes either by the name of a model. Names are loaded when first used, so that importing the package
costs nothing.
"""

from __future__ import annotations

import importlib
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
        leaderboard,
        load,
        next_ratings,
        plan,
        score,
    )
    from unisono.api.category_fusion import CategoryFusion
    from unisono.errors import ConvergenceWarning, DataError, DataWarning, NotFittedError, SettingsError
    from unisono.fusers import MODELS, items, make_fuser, series
    from unisono.paper.simulation import simulate_items, simulate_series
    from unisono.report import plots as plot
    from unisono.tables.datasets import load_dataset, load_dataset_table
    from unisono.tables.item_table import ItemTable
    from unisono.tables.ratings import Ratings
    from unisono.tables.reading.categories_reader import read_categories
    from unisono.tables.reading.clock_alignment import align_to
    from unisono.tables.reading.comparisons_reader import read_comparisons
    from unisono.tables.reading.ratings_reader import read_item_table, read_ratings


_HOME = {
    "unisono.api": (
        *("Fusion", "agreement", "check", "compare", "cross_validate", "fuse", "load", "next_ratings", "plan"),
        *("judges", "leaderboard", "score"),
    ),
    "unisono.tables.item_table": ("ItemTable",),
    "unisono.tables.ratings": ("Ratings",),
    "unisono.api.category_fusion": ("CategoryFusion",),
    "unisono.tables.reading.comparisons_reader": ("read_comparisons",),
    "unisono.errors": ("ConvergenceWarning", "DataError", "DataWarning", "NotFittedError", "SettingsError"),
    "unisono.fusers": ("MODELS", "items", "make_fuser", "series"),
    "unisono.tables.reading.clock_alignment": ("align_to",),
    "unisono.tables.reading.categories_reader": ("read_categories",),
    "unisono.tables.reading.ratings_reader": ("read_item_table", "read_ratings"),
    "unisono.tables.datasets": ("load_dataset", "load_dataset_table"),
    "unisono.paper.simulation": ("simulate_items", "simulate_series"),
}

__all__ = [
    "MODELS",
    "CategoryFusion",
    "ConvergenceWarning",
    "DataError",
    "DataWarning",
    "Fusion",
    "ItemTable",
    "NotFittedError",
    "Ratings",
    "SettingsError",
    "__version__",
    "agreement",
    "align_to",
    "check",
    "compare",
    "cross_validate",
    "fuse",
    "items",
    "judges",
    "leaderboard",
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
    if name == "plot":
        return importlib.import_module("unisono.report.plots")
    raise AttributeError(f"module 'unisono' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
