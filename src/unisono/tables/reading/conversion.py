"""Tables of any kind where ratings are wanted, and results as tables of the same kind.

Readers and data frame libraries are loaded when a path or a data frame comes, so that fusing `Ratings` needs neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unisono.tables.item_table import ItemTable
    from unisono.tables.ratings import Ratings


def as_ratings(source: Any) -> Ratings:
    """Ratings as they are, or read from a path or a data frame."""
    from unisono.tables.ratings import Ratings

    if isinstance(source, Ratings):
        return source
    from unisono.tables.reading.ratings_reader import read_ratings

    return read_ratings(source)


def as_item_table(source: Any) -> ItemTable | None:
    """A table of items as it is, or read from a path or a data frame; None stays None."""
    from unisono.tables.item_table import ItemTable

    if source is None or isinstance(source, ItemTable):
        return source
    from unisono.tables.reading.ratings_reader import read_item_table

    return read_item_table(source)


def as_frame(columns: Mapping[str, Any], origin: Ratings | ItemTable | None) -> Any:
    """Columns as a frame of the kind that the ratings came in, with its ids under its names; Polars by default."""
    if origin is None:
        from unisono.tables.reading.data_frames import frame_like

        return frame_like(None, columns)
    from unisono.tables.reading.data_frames import frame_with_ids

    return frame_with_ids(columns, origin)
