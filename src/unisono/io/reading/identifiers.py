"""Ids that keep their type: from the labels of ratings back to what the table had.

Labels are text everywhere inside. A data frame's ids come back with the frame's own type (whole numbers, categories,
dates), so that results join onto the frame; ids of a text file that are all whole numbers come back as whole numbers,
as every reader of CSV takes them, while `007` stays text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from unisono.data import Ratings
from unisono.data.reading import Identifiers
from unisono.io.reading.collecting import Collected
from unisono.io.reading.frames import frame_like
from unisono.io.reading.naming import Coded

_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


def identifiers(found: Collected, column: int, coded: Coded) -> Identifiers | None:
    """The ids behind the labels of a column; None where the labels are all there is."""
    place = {label: index for index, label in enumerate(coded.labels)}
    original = found.table.original(column)
    if original is None:
        labels = pl.Series(coded.labels, dtype=pl.String)
        return Identifiers(place, nw.from_native(labels.cast(pl.Int64), series_only=True)) if _whole(labels) else None
    first = np.empty(len(coded.labels), dtype=np.int64)
    first[coded.code[::-1]] = np.arange(len(coded.code))[::-1]
    return Identifiers(place, original[(first if found.kept is None else found.kept[first]).tolist()])


def frame_with_ids(columns: Mapping[str, Any], ratings: Ratings) -> Any:
    """Columns of a result as a frame of the kind that the ratings came in, with its ids under its names.

    `item` or `recording`, and `annotator`, are the names where no table was read, or where it uses the name otherwise.
    """
    how = ratings.reading
    if how is None:
        return frame_like(ratings.frame_kind, columns)
    known = {"item": (how.item, how.item_ids), "recording": (how.item, how.item_ids)}
    known |= {"annotator": (how.annotator, how.annotator_ids)}
    table: dict[str, Any] = {}
    for name, column in columns.items():
        own, ids = known.get(name, (name, None))
        table[own if own not in columns else name] = column if ids is None else _typed(ids, column)
    return frame_like(ratings.frame_kind, table)


def _typed(ids: Identifiers, labels: Sequence[str]) -> Any:
    """The ids behind labels; the labels themselves where one is not from the table."""
    if any(label not in ids.place for label in labels):
        return labels
    return ids.values[[ids.place[label] for label in labels]]


def _whole(labels: pl.Series) -> bool:
    return bool(labels.str.contains(_WHOLE).all())
