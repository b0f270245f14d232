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

if TYPE_CHECKING:
    from unisono.data import ItemTable, Ratings
    from unisono.data.checks import Alert, check_ratings
    from unisono.errors import ConvergenceWarning, DataError, DataWarning, NotFittedError
    from unisono.io.align import align_to
    from unisono.io.tables import read_item_table, read_ratings

__version__ = "0.1.0"

_HOME = {
    "Alert": "unisono.data.checks",
    "ConvergenceWarning": "unisono.errors",
    "DataError": "unisono.errors",
    "DataWarning": "unisono.errors",
    "ItemTable": "unisono.data",
    "NotFittedError": "unisono.errors",
    "Ratings": "unisono.data",
    "align_to": "unisono.io.align",
    "check_ratings": "unisono.data.checks",
    "read_item_table": "unisono.io.tables",
    "read_ratings": "unisono.io.tables",
}

__all__ = [
    "Alert",
    "ConvergenceWarning",
    "DataError",
    "DataWarning",
    "ItemTable",
    "NotFittedError",
    "Ratings",
    "__version__",
    "align_to",
    "check_ratings",
    "read_item_table",
    "read_ratings",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'unisono' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
