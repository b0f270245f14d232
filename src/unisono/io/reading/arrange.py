"""From a table as it was opened to one with a row per answer and a column for each role.

Names made of several columns are joined, and annotators (or items) that stand side by side get rows of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from unisono.errors import SettingsError
from unisono.io.reading import problems, spread
from unisono.io.reading.columns import Roles, detect, find_column, find_long, find_roles
from unisono.io.reading.descriptors import FEW_ROWS
from unisono.io.reading.ids import join_columns
from unisono.io.reading.melted import LABEL, MeltedTable
from unisono.io.reading.table import Table

_TRIALS = 50  # columns, and pairs of them, that are looked at for a hint
Column = str | Sequence[str] | None  # a column, or several (also between commas) that make one name


@dataclass(frozen=True)
class Layout:
    """What the user says about where things are."""

    item: Column = None
    annotator: Column = None
    time: str | None = None
    dimension: str | None = None
    value: str | None = None
    annotators_in_columns: str | None = None
    items_in_columns: str | None = None


@dataclass(frozen=True)
class Arranged:
    """A table whose roles are known."""

    table: Table
    roles: Roles
    item_parts: tuple[str, ...]  # columns that the item's name was made of, if there are several
    wide: str | None = None  # annotator or item, if those were side by side
    notes: tuple[str, ...] = ()


def arrange(table: Table, layout: Layout, wanted: Mapping[str, str], needed: Sequence[str]) -> Arranged:
    """Finds every role in `needed`, and brings the table into the form in which each is a column."""
    table, item, item_parts = join_columns(table, layout.item)
    table, annotator, other_parts = join_columns(table, layout.annotator if "annotator" in needed else None)
    given = {"item": item, "annotator": annotator, "time": layout.time}
    found = _side_by_side(table, layout, given, wanted) if "annotator" in needed else None
    notes: tuple[str, ...] = ()
    if found is not None:
        asked = bool(layout.annotators_in_columns or layout.items_in_columns)
        notes = () if asked else (spread.said(found, table.columns),)
        table = MeltedTable(table, found)
        given[found.role] = LABEL
    taken = [index for index, column in enumerate(table.columns) if column in wanted.values()]
    roles = find_roles(table, needed, ("time",), given, taken)
    roles = roles._replace(parts=frozenset((*item_parts, *other_parts)))
    if "annotator" in needed:
        asked_long = layout.dimension is not None or layout.value is not None
        if asked_long or not wanted or not all(column in table.columns for column in wanted.values()):
            roles = find_long(table, roles, layout.dimension, layout.value)
    return Arranged(table, roles, item_parts, found.role if found else None, notes)


def _side_by_side(
    table: Table, layout: Layout, given: Mapping[str, str | None], wanted: Mapping[str, str]
) -> spread.Spread | None:
    """Which columns stand for annotators or items, by the user's word or, where that role has no column, by names."""
    patterns = {"annotator": layout.annotators_in_columns, "item": layout.items_in_columns}
    new = [column for column in wanted.values() if column not in table.columns]
    dimension = new[0] if len(wanted) == len(new) == 1 else None
    if all(patterns.values()):
        raise SettingsError("Either annotators or items are in columns, not both.")
    for role, pattern in patterns.items():
        if pattern is not None:
            return spread.by_pattern(table.name, table.columns, role, pattern, dimension)
    place = {
        role: find_column(table, name) if name is not None else detect(table, role, set())
        for role, name in given.items()
    }
    for role, other in (("annotator", "item"), ("item", "annotator")):
        if place[role] is None and place[other] is not None:
            used = {index for index in place.values() if index is not None}
            used |= {index for index, column in enumerate(table.columns) if column in wanted.values()}
            free = spread.free_columns(table.columns, used)
            found = spread.by_names(table.columns, free, role, dimension)
            if found is None:
                pattern = spread.likely_pattern(table.columns, [i for i in free if _is_numeric(table, i)], role)
                likely = _likely(table, place[other], free)
                raise problems.no_role_column(table.name, role, table.columns, likely, spread.OPTION[role], pattern)
            return found
    return None


def _likely(table: Table, known: int | None, free: Sequence[int]) -> str | None:
    """Columns of names that, beside the one that is known, tell all rows apart: one, or two together."""
    part = next(iter(table.parts()), None)
    if part is None or known is None:
        return None
    names = [index for index in free if not _is_numeric(table, index)]
    pairs = [pair for pair in itertools.combinations(free, 2) if set(pair) & set(names)]
    for chosen in [*((index,) for index in names), *pairs][:_TRIALS]:
        rows = part.frame.select(str(index) for index in (known, *chosen))
        again = rows.select(str(index) for index in chosen).n_unique() < rows.height
        # A name occurs again, unlike a comment, but in tables of a few rows.
        if (again or rows.height <= FEW_ROWS) and rows.n_unique() == rows.height:
            return ",".join(table.columns[index] for index in chosen)
    return None


def _is_numeric(table: Table, index: int) -> bool:
    """Whether the first rows of a column hold numbers and nothing else."""
    for part in table.parts():
        cells = part.column(index).head(100).drop_nulls()
        if cells.dtype == pl.String:
            cells = cells.filter(cells.str.strip_chars() != "")
        number = cells.cast(pl.Float64, strict=False) if cells.dtype != pl.Boolean else cells
        return bool(len(cells)) and not np.any(number.is_null().to_numpy())
    return False
