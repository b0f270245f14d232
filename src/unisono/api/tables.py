"""What every question takes: ratings and tables of items as objects, paths or data frames."""

from __future__ import annotations

from typing import Any

from unisono.data import ItemTable, Ratings
from unisono.data.checks import require_known_items
from unisono.errors import SettingsError
from unisono.io.align import align_to
from unisono.io.tables import read_item_table, read_ratings

# Keyword arguments that say how to read a table of ratings, wherever one may be given.
READING = (
    *("item", "annotator", "time", "dims", "dimension", "value", "annotators_in_columns", "items_in_columns"),
    *("labels", "duplicates", "sheet", "time_unit", "rate", "max_gap"),
)


def rating_table(source: Any, scale: Any = None, **reading: Any) -> Ratings:
    """Ratings from an object, a path or a data frame; `reading` are keyword arguments of `read_ratings`."""
    if not isinstance(source, Ratings):
        return read_ratings(source, scale=scale, **reading)
    if reading:
        raise SettingsError(f"These are ratings already: {', '.join(reading)} would say how to read a table.")
    return source.with_scale(scale)


def item_table(source: Any, **reading: Any) -> ItemTable | None:
    """Features, gold or a reference from an object, a path or a data frame (read with `reading`); None stays None."""
    return source if source is None or isinstance(source, ItemTable) else read_item_table(source, **reading)


def on_clock(table: ItemTable | None, ratings: Ratings, *, complete: bool = False) -> ItemTable | None:
    """Features, gold or a reference at the frames of traces; tables of items, and of other recordings, as they are."""
    if table is None or not ratings.is_series:
        return table
    if complete:
        # The last frames of a recording often have no features any more: the last ones hold for a moment.
        return align_to(table, ratings, hold=1.0, complete=True)
    require_known_items(table, ratings)
    return align_to(table, ratings)
