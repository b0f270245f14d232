"""A column of labels, made from cells part by part: each row gets the number of its label in canonical order.

Distinct labels are handled in Python, rows never are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from unisono.data.labels import sort_labels
from unisono.io.reading.table import Chunk


class Coded(NamedTuple):
    """Labels in canonical order, and which of them each row carries."""

    code: np.ndarray  # (rows,) int32
    labels: tuple[str, ...]
    column: str = ""  # that the labels come from


class LabelColumn:
    """Collects one column of labels; surrounding blanks do not count."""

    def __init__(self, role: str, name: str, index: int):
        self.role = role
        self.name = name
        self.index = index
        self._parts: list[pl.Series] = []
        self._runs: list[np.ndarray] = []

    def add(self, part: Chunk) -> None:
        """Takes the column of a part. Rows about one item mostly lie together, so runs of a label are kept as one."""
        rows = as_text(part.column(self.index)).fill_null("").alias("label")
        first = np.flatnonzero((rows != rows.shift()).fill_null(True).to_numpy())
        self._runs.append(np.diff(first, append=len(rows)).astype(np.int32))
        self._parts.append(rows if len(first) == len(rows) else rows.gather(first))

    def finish(self) -> Coded:
        """The distinct labels sorted, and the number of each row's label among them; an empty label comes first."""
        rows = pl.concat(self._parts).to_frame()
        self._parts = []
        raw = rows.unique().with_columns(pl.col("label").str.strip_chars().alias("name"))
        names = _sorted(raw.get_column("name").unique())
        place = names.to_frame("name").with_row_index("code")
        code = raw.join(place, on="name").select("label", pl.col("code").cast(pl.Int32))
        found = rows.lazy().join(code.lazy(), on="label", how="left", maintain_order="left").select("code").collect()
        run = np.concatenate(self._runs)
        return Coded(np.repeat(found.get_column("code").to_numpy(), run), tuple(names.to_list()), self.name)


def _sorted(names: pl.Series) -> pl.Series:
    """Distinct labels in canonical order; those that are one word and a number are sorted without Python.

    Numbers may be filled up with zeros if all of them have the same width: `01` and `1` are two labels.
    """
    split = names.str.extract_groups(r"^(.*?)([0-9]{1,18})$").struct
    word, number = split[0], split[1]
    if number.null_count() == 0 and word.n_unique() == 1:
        padded = number.str.starts_with("0") & (number.str.len_bytes() > 1)
        if not padded.any() or number.str.len_bytes().n_unique() == 1:
            return names.gather(number.cast(pl.Int64).arg_sort())
    return pl.Series(sort_labels(names.to_list()), dtype=pl.String)


def as_text(column: pl.Series) -> pl.Series:
    """Labels as text: 7 is '7', and so is the 7.0 that a frame makes of it when a neighbour is missing."""
    if column.dtype.is_float():
        whole = column.drop_nulls().drop_nans()
        if (whole == whole.round()).all() and (whole.abs() < 2.0**53).all():
            return column.fill_nan(None).cast(pl.Int64).cast(pl.String)
        return column.fill_nan(None).cast(pl.String)
    return column if column.dtype == pl.String else column.cast(pl.String)
