"""From a table as it was opened to one with a row per answer and a column for each role.

Names made of several columns are joined, and annotators (or items) that stand side by side get rows of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unisono.errors import SettingsError
from unisono.io.reading import problems
from unisono.io.reading.columns import Roles, detect, find_column, find_long, find_roles
from unisono.io.reading.hints import is_numeric, naming_option
from unisono.io.reading.ids import join_columns
from unisono.io.reading.melted import LABEL, MeltedTable
from unisono.io.reading.spread import OPTION, Spread, by_names, by_pattern, free_columns, likely_pattern, said
from unisono.io.reading.table import Table

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
    made: frozenset[str] = frozenset()  # roles whose names are no column of the table as it was opened


def arrange(table: Table, layout: Layout, wanted: Mapping[str, str], needed: Sequence[str]) -> Arranged:
    """Finds every role in `needed`, and brings the table into the form in which each is a column."""
    table, item, item_parts = join_columns(table, layout.item)
    table, annotator, other_parts = join_columns(table, layout.annotator if "annotator" in needed else None)
    given = {"item": item, "annotator": annotator, "time": layout.time}
    found = _side_by_side(table, layout, given, wanted) if "annotator" in needed else None
    notes: tuple[str, ...] = ()
    if found is not None:
        asked = bool(layout.annotators_in_columns or layout.items_in_columns)
        notes = () if asked else (said(found, table.columns),)
        table = MeltedTable(table, found)
        given[found.role] = LABEL
    taken = [index for index, column in enumerate(table.columns) if column in wanted.values()]
    roles = find_roles(table, needed, ("time",), given, taken)
    roles = roles._replace(parts=frozenset((*item_parts, *other_parts)))
    if "annotator" in needed:
        asked_long = layout.dimension is not None or layout.value is not None
        if asked_long or not wanted or not all(column in table.columns for column in wanted.values()):
            roles = find_long(table, roles, layout.dimension, layout.value)
    made = {"item": bool(item_parts), "annotator": bool(other_parts)} | ({found.role: True} if found else {})
    names = frozenset(role for role, is_made in made.items() if is_made)
    return Arranged(table, roles, item_parts, found.role if found else None, notes, names)


def _side_by_side(
    table: Table, layout: Layout, given: Mapping[str, str | None], wanted: Mapping[str, str]
) -> Spread | None:
    """Which columns stand for annotators or items, by the user's word or, where that role has no column, by names."""
    patterns = {"annotator": layout.annotators_in_columns, "item": layout.items_in_columns}
    new = [column for column in wanted.values() if column not in table.columns]
    dimension = new[0] if len(wanted) == len(new) == 1 else None
    if all(patterns.values()):
        raise SettingsError("Either annotators or items are in columns, not both.")
    for role, pattern in patterns.items():
        if pattern is not None:
            return by_pattern(table.name, table.columns, role, pattern, dimension)
    place = {role: find_column(table, name) for role, name in given.items() if name is not None}
    for role in given:
        if role not in place and (index := detect(table, role, set(place.values()))) is not None:
            place[role] = index
    for role, other in (("annotator", "item"), ("item", "annotator")):
        if role not in place and other in place:
            asked = {index for index, column in enumerate(table.columns) if column in wanted.values()}
            free = free_columns(table.columns, {*place.values(), *asked})
            found = by_names(table.columns, free, role, dimension)
            if found is None:
                pattern = likely_pattern(table.columns, [i for i in free if is_numeric(table, i)], role)
                example = naming_option(table, role, place[other], free)
                raise problems.no_role_column(table.name, role, table.columns, example, OPTION[role], pattern)
            return found
    return None
