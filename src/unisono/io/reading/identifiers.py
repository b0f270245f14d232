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

from unisono.data import ItemTable, Ratings
from unisono.data.categories import Categories
from unisono.data.reading import Identifiers, Reading
from unisono.io.reading.arrange import Arranged
from unisono.io.reading.collecting import Collected
from unisono.io.reading.frames import frame_like
from unisono.io.reading.ids import split_label
from unisono.io.reading.naming import Coded

_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


def identifiers(found: Collected, arranged: Arranged, role: str) -> Identifiers | None:
    """The ids of items or annotators; None where their names are no column of the table."""
    if role in arranged.made:
        return None
    coded = found.label[role]
    return _column_ids(found, arranged.roles.place[role], coded, coded.labels)


def part_identifiers(found: Collected, parts: Sequence[str]) -> tuple[Identifiers, ...]:
    """The ids of items whose names are made of several columns, one column each."""
    coded = found.label["item"]
    cells = [split_label(label) for label in coded.labels] if parts else []
    return tuple(
        _column_ids(found, found.table.columns.index(part), coded, [own[i] for own in cells])
        for i, part in enumerate(parts)
    )


def frame_with_ids(columns: Mapping[str, Any], ratings: Ratings | Categories | ItemTable) -> Any:
    """Columns of a result as a frame of the kind that the ratings came in, with its ids under its names.

    `item` or `recording`, and `annotator`, are the names where no column of a table was read as such, or where its name
    is that of a dimension.
    """
    how = ratings.reading
    table: dict[str, Any] = {}
    for name, column in columns.items():
        ids = None if how is None else _ids_of(how, name)
        if ids is None:
            table[name] = column
        else:
            table[ids.column if ids.column not in columns else name] = _typed(ids, column)
        if how is not None and name in ("item", "recording"):
            table |= {part.column: _typed(part, column) for part in how.part_ids if part.column not in columns}
    return frame_like(ratings.frame_kind, table)


def _ids_of(how: Reading, name: str) -> Identifiers | None:
    return {"item": how.item_ids, "recording": how.item_ids, "annotator": how.annotator_ids}.get(name)


def _column_ids(found: Collected, column: int, coded: Coded, cells: Sequence[str]) -> Identifiers:
    """The ids behind labels; `cells` is what the column says of each as text."""
    first = np.empty(len(coded.labels), dtype=np.int64)
    first[coded.code[::-1]] = np.arange(len(coded.code))[::-1]
    values = found.table.original(column, first if found.kept is None else found.kept[first])
    if values is None:
        values = nw.from_native(_as_a_reader_takes(pl.Series(cells, dtype=pl.String)), series_only=True)
    place = {label: index for index, label in enumerate(coded.labels)}
    return Identifiers(found.table.columns[column], place, values)


def _as_a_reader_takes(cells: pl.Series) -> pl.Series:
    return cells.cast(pl.Int64) if bool(cells.str.contains(_WHOLE).all()) else cells


def _typed(ids: Identifiers, labels: Sequence[str]) -> Any:
    """The ids behind labels; the labels themselves where one is not from the table."""
    if any(label not in ids.place for label in labels):
        return labels
    return ids.values[[ids.place[label] for label in labels]]
