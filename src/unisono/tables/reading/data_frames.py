"""Data frames in (pandas, Polars, whatever narwhals knows), and results out as the same kind with the ids of the input.

pandas is converted column by column, because its own way to Polars needs pyarrow. Labels are text everywhere inside.
The ids of a data frame come back with the frame's own type (whole numbers, categories, dates), so that results join
onto the frame; ids of a text file that are all whole numbers come back as whole numbers, while `007` stays text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from unisono.errors import DataError
from unisono.tables.categories import Categories
from unisono.tables.item_table import Identifiers, ItemTable, Reading
from unisono.tables.ratings import Ratings
from unisono.tables.reading import problems, raw_table, table_layout, table_rows
from unisono.tables.reading.label_and_number_columns import Coded, as_label


class FrameTable(raw_table.WholeTable):
    """A table whose columns already have types."""

    def __init__(self, name: str, frame: pl.DataFrame, counted_from: int, native: Any = None):
        if not frame.width:
            raise problems.empty_file(name)
        self._native = nw.from_native(frame if native is None else native, eager_only=True)
        super().__init__(name, tuple(column.strip() for column in frame.columns), frame.get_columns())
        self._from = counted_from

    def original(self, index: int, records: np.ndarray) -> Any:
        return self._native.get_column(self._native.columns[index])[records.tolist()]

    def where(self, record: int) -> str:
        return f"{self.name} row {record + self._from} (counted from {self._from})"


def to_polars(source: Any) -> pl.DataFrame:
    """A Polars frame of the same columns, whatever kind of frame came in."""
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, pl.DataFrame):
        return source
    try:
        frame = nw.from_native(source, eager_only=True)
        return pl.DataFrame([_series(str(name), frame.get_column(name)) for name in frame.columns])
    except TypeError:
        kind = type(source).__name__
        raise DataError(f"Cannot read ratings from a {kind}. Give a path, a data frame or a list of records.") from None
    except (nw.exceptions.NarwhalsError, ValueError, pl.exceptions.PolarsError) as error:
        raise DataError(f"data frame: {error}") from None


def kind_of(source: Any) -> str | None:
    """The library a frame belongs to, for `frame_like`; None for anything that is not a frame."""
    if isinstance(source, pl.DataFrame | pl.LazyFrame):
        return "polars"
    try:
        return str(nw.from_native(with_index(source), eager_only=True).implementation.value)
    except TypeError:
        return None


def frame_like(kind: str | None, columns: Mapping[str, Any]) -> Any:
    """A frame of the given kind (Polars when there is none) from columns of numbers, labels and ids of that kind."""
    if kind in (None, "polars"):
        return pl.DataFrame({name: nw.to_native(column, pass_through=True) for name, column in columns.items()})
    ids = {name: column for name, column in columns.items() if isinstance(column, nw.Series)}
    plain = {name: np.asarray(column) for name, column in columns.items() if name not in ids}
    backend: Any = kind  # narwhals lists the names it knows; which one it is shows only when running
    frame = nw.from_dict(plain, backend=backend).with_columns(*(column.alias(name) for name, column in ids.items()))
    return frame.select(list(columns)).to_native()


def with_index(source: Any) -> Any:
    """A pandas frame with the named levels of its index as columns, names of columns as text; a series as a frame."""
    if hasattr(source, "to_frame") and hasattr(source, "index") and not hasattr(source, "columns"):
        source = source.to_frame("rating" if source.name is None else source.name)
    if not hasattr(source, "reset_index") or not hasattr(source, "columns"):
        return source
    levels = [name for name in source.index.names if name is not None and name not in source.columns]
    if levels:
        source = source.reset_index(level=levels)
    if source.columns.nlevels > 1:  # what pivot_table leaves: valence over A1, A2
        source = source.set_axis(["_".join(str(one) for one in name if str(one)) for name in source.columns], axis=1)
    return source


def _series(name: str, column: nw.Series[Any]) -> pl.Series:
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return _numeric(name, column)
    if column.dtype.is_temporal():
        return pl.Series(name, [None if value is None else str(value) for value in column.to_list()], dtype=pl.String)
    cells = np.asarray(column.is_null().to_numpy(), dtype=bool)
    values = column.to_list()
    missing = set(np.flatnonzero(cells).tolist())
    # An object column may mix numbers and text; what is a number is told from its text, as in a file.
    text = [None if row in missing else as_label(value) for row, value in enumerate(values)]
    return pl.Series(name, text, dtype=pl.String)


def _numeric(name: str, column: nw.Series[Any]) -> pl.Series:
    missing = column.is_null().to_numpy()
    if not np.any(missing):
        return pl.Series(name, np.ascontiguousarray(column.to_numpy()))
    values = np.array(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    values[np.asarray(missing, dtype=bool)] = np.nan
    return pl.Series(name, values)


WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"


def identifiers(found: table_rows.Collected, arranged: table_layout.Arranged, role: str) -> Identifiers | None:
    """The ids of items or annotators; None where their names are no column of the table."""
    if role in arranged.made:
        return None
    coded = found.label[role]
    return _column_ids(found, arranged.roles.place[role], coded, coded.labels)


def part_identifiers(found: table_rows.Collected, parts: Sequence[str]) -> tuple[Identifiers, ...]:
    """The ids of items whose names are made of several columns, one column each."""
    coded = found.label["item"]
    cells = [table_layout.split_label(label) for label in coded.labels] if parts else []
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


def _column_ids(found: table_rows.Collected, column: int, coded: Coded, cells: Sequence[str]) -> Identifiers:
    """The ids behind labels; `cells` is what the column says of each as text."""
    first = np.empty(len(coded.labels), dtype=np.int64)
    first[coded.code[::-1]] = np.arange(len(coded.code))[::-1]
    values = found.table.original(column, first if found.kept is None else found.kept[first])
    if values is None:
        ids = pl.Series(cells, dtype=pl.String)
        whole = bool(ids.str.contains(WHOLE).all())
        values = nw.from_native(ids.cast(pl.Int64) if whole else ids, series_only=True)
    return Identifiers(found.table.columns[column], coded.labels, values)


def _typed(ids: Identifiers, labels: Sequence[str]) -> Any:
    """The ids behind labels; the labels themselves where one is not from the table."""
    if ids.labels == tuple(labels):
        return ids.values
    if any(label not in ids.place for label in labels):
        return labels
    return ids.values[[ids.place[label] for label in labels]]
