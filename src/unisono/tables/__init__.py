"""Tables: ratings and what belongs to them, read from files and data frames, and written to the files of other tools.

    ratings         Ratings: who answered what on which item (or frame of a recording)
    item_table      ItemTable: numbers of items or frames; Clock; how a table was read
    categories      Categories: answers that are classes instead of numbers
    answer_scale    where the scale of answers begins and ends, given or inferred (`scale_inference`)
    rating_checks   alerts: what deserves a look before ratings are fused

    reading         from a file or a data frame to these containers
    importing       files of annotation, evaluation and tracing tools as tables of ratings
    exporting       results as CSV and JSON, and in the formats of other tools
    datasets        data sets that are bundled or fetched
    media           features measured in texts, images, sounds and films

The files beside the sub-rooms are the containers: they import NumPy and SciPy alone, and know neither files nor models.
Names are loaded when first used, so that help and messages wait for no numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unisono.tables.answer_scale import Ends, Scale
    from unisono.tables.item_table import Clock, ItemTable
    from unisono.tables.labels import (
        Introduced,
        Introduction,
        counted,
        did_you_mean,
        listed,
        nearest,
        rows_of,
        sort_labels,
    )
    from unisono.tables.ratings import RatingNumbers, Ratings

__all__ = [
    "Clock",
    "Ends",
    "Introduced",
    "Introduction",
    "ItemTable",
    "RatingNumbers",
    "Ratings",
    "Scale",
    "counted",
    "did_you_mean",
    "listed",
    "nearest",
    "rows_of",
    "sort_labels",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from unisono.tables import answer_scale, item_table, labels, ratings

        return next(getattr(home, name) for home in (labels, answer_scale, item_table, ratings) if hasattr(home, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
