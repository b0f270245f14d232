"""Guesses for messages alone: which options would make sense of a table that could not be read.

Nothing is decided here; looking at the first rows is enough.
"""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Sequence

import numpy as np
import polars as pl

from unisono.io.reading.descriptors import FEW_ROWS
from unisono.io.reading.table import Table

TRIALS = 50  # columns, and pairs of them, that are tried


def naming_option(table: Table, role: str, known: int, free: Sequence[int]) -> str | None:
    """The option for the columns that, beside the known one, tell all rows apart: `--item system,prompt`."""
    numeric = [index for index in free if is_numeric(table, index)]
    names = [index for index in free if index not in numeric]
    for index in names[:TRIALS]:
        if tells_apart(table, (known,), (index,)):
            return _said(table, role, index)
    if role == "annotator":
        return _long_options(table, known, names, numeric)
    for pair in [pair for pair in itertools.combinations(free, 2) if set(pair) & set(names)][:TRIALS]:
        if tells_apart(table, (known,), pair):
            return _said(table, role, *pair)
    return None


def tells_apart(table: Table, known: Sequence[int], others: Sequence[int]) -> bool:
    """Whether no two of the first rows have the same cells in these columns; names occur again, unlike comments."""
    part = next(iter(table.parts()), None)
    if part is None:
        return False
    part = part.without_empty_rows(known[0])
    rows = part.frame.select(str(index) for index in (*known, *others))
    again = rows.select(str(index) for index in others).n_unique() < rows.height
    return (again or rows.height <= FEW_ROWS) and rows.n_unique() == rows.height


def crossed(table: Table, known: Sequence[int], others: Sequence[int]) -> bool:
    """Whether every name in the known columns has every combination of cells in the others, once each."""
    part = next(iter(table.parts()), None)
    if part is None:
        return False
    rows = part.without_empty_rows(known[0]).frame.select(str(index) for index in (*known, *others))
    names, cells = (rows.select(str(index) for index in own).n_unique() for own in (known, others))
    return cells > 1 and names * cells == rows.height == rows.n_unique()


def parts_of_items(table: Table, known: Sequence[int], left: Sequence[int], numbers: Sequence[int]) -> tuple[int, ...]:
    """Columns that, beside the known ones, tell all rows apart: one that was left out, or codes that are crossed."""
    for index in left:
        if tells_apart(table, known, (index,)):
            return (index,)
    free = [*left, *numbers]
    for size in (1, 2, 3):
        for found in itertools.islice(itertools.combinations(free, size), TRIALS):
            if crossed(table, known, found):
                return found
    return ()


def is_numeric(table: Table, index: int) -> bool:
    """Whether the first rows of a column hold numbers and nothing else."""
    for part in table.parts():
        cells = part.column(index).head(100).drop_nulls()
        if cells.dtype == pl.String:
            cells = cells.filter(cells.str.strip_chars() != "")
        number = cells.cast(pl.Float64, strict=False) if cells.dtype != pl.Boolean else cells
        return bool(len(cells)) and not np.any(number.is_null().to_numpy())
    return False


def _long_options(table: Table, item: int, names: Sequence[int], numeric: Sequence[int]) -> str | None:
    """Somebody, what was rated, and one column of numbers: a table with one row per number."""
    if len(numeric) != 1:
        return None
    part = next(iter(table.parts()))
    for pair in itertools.islice(itertools.combinations(names, 2), TRIALS):
        if tells_apart(table, (item,), pair):
            annotator, dimension = sorted(pair, key=lambda index: -part.column(index).n_unique())
            roles = {"annotator": annotator, "dimension": dimension, "value": numeric[0]}
            return " ".join(_said(table, role, index) for role, index in roles.items())
    return None


def _said(table: Table, role: str, *columns: int) -> str:
    return f"--{role} {shlex.quote(','.join(table.columns[index] for index in columns))}"
