"""Reading ratings, and tables of features, gold or references. The public door of this package.

ratings = read_ratings("ratings.csv")
ratings = read_ratings(frame, item="clip", annotator="WorkerId", dims={"valence": "Answer.val"})
features = read_item_table("features.parquet")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unisono.data import ItemTable, Ratings
from unisono.io import problems
from unisono.io.collecting import Collected, collect, number_column, usable
from unisono.io.columns import Roles, candidates, find_column, find_long, find_roles
from unisono.io.frames import kind_of
from unisono.io.source import open_table
from unisono.io.table import Table

Names = Mapping[str, str] | Sequence[str] | None  # NAME -> COLUMN, or names that are columns


def read_ratings(
    source: Any,
    *,
    item: str | None = None,
    annotator: str | None = None,
    dims: Names = None,
) -> Ratings:
    """Ratings from a path (CSV, TSV, Parquet, gzipped or not), `-` for standard input, or a data frame.

    Columns are recognised by their names unless they are given; `dims` maps the name of a dimension to its column (or,
    in a table with one row per number, to its name there). Raises DataError where the table contradicts itself.
    """
    table = open_table(source)
    wanted = _wanted(dims)
    roles = find_roles(table, ("item", "annotator"), (), {"item": item, "annotator": annotator}, _taken(table, wanted))
    if not all(column in table.columns for column in wanted.values()) or not wanted:
        roles = find_long(table, roles)
    ratings = _long_ratings(table, roles, wanted) if roles.is_long else _wide_ratings(table, roles, wanted)
    return replace(ratings, frame_kind=kind_of(source))


def read_item_table(
    source: Any,
    *,
    item: str | None = None,
    columns: Names = None,
    complete: bool = False,
) -> ItemTable:
    """Numbers that belong to items: features, gold, a reference. One row per item, one column per number.

    `columns` maps the name of a column here to its name in the table; `complete` refuses empty cells.
    """
    table = open_table(source)
    wanted = _wanted(columns)
    roles = find_roles(table, ("item",), (), {"item": item}, _taken(table, wanted))
    found, names = _dimensions(table, roles, wanted)
    code, labels = found.label["item"]
    order = np.argsort(code, kind="stable")
    twice = np.flatnonzero(np.diff(code[order]) == 0)
    if len(twice):
        first, second = found.places(order[twice[0]], order[twice[0] + 1])
        raise problems.item_twice(first, second, labels[code[order[twice[0]]]])
    value = _stacked(found, list(names.values()), order, full=complete)
    return ItemTable.from_rows(value, items=labels, columns=tuple(names), source=table.name)


def _wide_ratings(table: Table, roles: Roles, wanted: Mapping[str, str]) -> Ratings:
    found, names = _dimensions(table, roles, wanted)
    items, annotators = found.label["item"], found.label["annotator"]
    order, twice = _sorted_pairs(items.code, annotators.code, len(annotators.labels))
    if twice is not None:
        rows = found.places(order[twice], order[twice + 1])
        row = order[twice]
        raise problems.rated_twice(*rows, annotators.labels[annotators.code[row]], items.labels[items.code[row]])
    return Ratings.from_judgements(
        _stacked(found, list(names.values()), order),
        items.code[order],
        annotators.code[order],
        items=items.labels,
        annotators=annotators.labels,
        dimensions=tuple(names),
        source=table.name,
    )


def _long_ratings(table: Table, roles: Roles, wanted: Mapping[str, str]) -> Ratings:
    labels = {role: index for role, index in roles.place.items() if role != "value"}
    found = collect(table, labels, [roles.place["value"]])
    value = number_column(found, roles.place["value"])
    items, annotators, dimensions = (found.label[role] for role in ("item", "annotator", "dimension"))
    pair = items.code.astype(np.int64) * len(annotators.labels) + annotators.code
    order, twice = _sorted_pairs(pair, dimensions.code, len(dimensions.labels))
    if twice is not None:
        rows = found.places(order[twice], order[twice + 1])
        named = [column.labels[column.code[order[twice]]] for column in (annotators, items, dimensions)]
        raise problems.answered_twice(*rows, *named)
    judged, row = np.unique(pair, return_inverse=True)
    table_of = np.full((len(judged), len(dimensions.labels)), np.nan)
    table_of[row, dimensions.code] = value
    ratings = Ratings.from_judgements(
        table_of,
        judged // len(annotators.labels),
        judged % len(annotators.labels),
        items=items.labels,
        annotators=annotators.labels,
        dimensions=dimensions.labels,
        source=table.name,
    )
    return _renamed(ratings, wanted) if wanted else ratings


def _renamed(ratings: Ratings, wanted: Mapping[str, str]) -> Ratings:
    for level in wanted.values():
        if level not in ratings.dimensions:
            raise problems.no_such_column(ratings.source, level, ratings.dimensions)
    return ratings.select_dimensions(list(wanted.values())).with_dimensions(tuple(wanted))


def _dimensions(table: Table, roles: Roles, wanted: Mapping[str, str]) -> tuple[Collected, dict[str, int]]:
    """The columns read, and the position of each one to use by its name."""
    labels = {role: index for role, index in roles.place.items() if role in ("item", "annotator")}
    if wanted:
        names = {name: find_column(table, column) for name, column in wanted.items()}
        for column in {column for column in names.values() if list(names.values()).count(column) > 1}:
            twice = [name for name, index in names.items() if index == column]
            raise problems.column_named_twice(table.name, table.columns[column], twice)
        found = collect(table, labels, list(names.values()))
        usable(found, wanted=True)
        return found, names
    free, aside = candidates(table, roles)
    found = collect(table, labels, free)
    return found, {table.columns[index]: index for index in usable(found, wanted=False, set_aside=aside)}


def _stacked(found: Collected, columns: Sequence[int], order: np.ndarray, *, full: bool = False) -> np.ndarray:
    """(rows, D) the numbers of some columns, rows in another order."""
    value = np.empty((len(order), len(columns)))
    for d, index in enumerate(columns):
        value[:, d] = number_column(found, index, full=full)[order]
    return value


def _sorted_pairs(major: np.ndarray, minor: np.ndarray, minors: int) -> tuple[np.ndarray, int | None]:
    """The order by two codes, and the place in it of the first pair that occurs twice."""
    key = major.astype(np.int64) * minors + minor
    step = np.diff(key)
    order = np.arange(len(key)) if np.all(step > 0) else np.argsort(key, kind="stable")
    same = np.flatnonzero(np.diff(key[order]) == 0)
    if not len(same):
        return order, None
    # Of all repetitions, the one that comes first in the file.
    return order, int(same[np.argmin(order[same + 1])])


def _wanted(dims: Names) -> dict[str, str]:
    if dims is None:
        return {}
    return dict(dims) if isinstance(dims, Mapping) else {name: name for name in dims}


def _taken(table: Table, wanted: Mapping[str, str]) -> list[int]:
    return [index for index, column in enumerate(table.columns) if column in wanted.values()]
