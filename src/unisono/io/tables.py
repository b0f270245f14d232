"""Reading ratings, and tables of features, gold or references. The public door of this package.

ratings = read_ratings("ratings.csv")
ratings = read_ratings(frame, item="clip", annotator="WorkerId", dims={"valence": "Answer.val"})
traces = read_ratings("traces.csv", time_unit="ms", rate=10)
features = read_item_table("features.parquet")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unisono.data import ItemTable, Ratings
from unisono.data.reading import Reading
from unisono.data.scale_words import ScaleWords, said_scale, scale_by_dimension
from unisono.io.reading.columns import UNIT_OF_NAME, Roles, find_long, find_roles, plain_name
from unisono.io.reading.frames import kind_of
from unisono.io.reading.rows import Rows, sorted_claims
from unisono.io.reading.series import TIME_UNITS, Timing, series_ratings, series_table
from unisono.io.reading.shape import shaped
from unisono.io.reading.source import open_table
from unisono.io.reading.table import Table

Names = Mapping[str, str] | Sequence[str] | str | None  # NAME -> COLUMN, names that are columns, or one of them


def read_ratings(
    source: Any,
    *,
    item: str | None = None,
    annotator: str | None = None,
    time: str | None = None,
    dims: Names = None,
    scale: ScaleWords = None,
    time_unit: str | None = None,
    rate: float | None = None,
    max_gap: float | None = None,
) -> Ratings:
    """Ratings from a path (CSV, TSV, Parquet, gzipped or not), `-` for standard input, or a data frame.

    Columns are recognised by their names unless they are given; `dims` maps the name of a dimension to its column (or,
    in a table with one row per number, to its name there). `scale` is where answers end: (1, 7), "1:7", "none", or a
    mapping from dimensions to these; it is inferred where nothing is said. A time column makes a series: `time_unit`
    (s, ms, us, ns, min, h, frames), `rate` of the common clock in frames per second (default: the median rate of the
    traces), and `max_gap`, the seconds up to which gaps are bridged (default: one and a half steps of the trace).
    Raises DataError where the table contradicts itself.
    """
    said = said_scale(scale)  # a mistake here is said before anything is read
    table = open_table(source)
    wanted = _wanted(dims)
    given = {"item": item, "annotator": annotator, "time": time}
    roles = find_roles(table, ("item", "annotator"), ("time",), given, _taken(table, wanted))
    if not wanted or not all(column in table.columns for column in wanted.values()):
        roles = find_long(table, roles)
    rows, times = shaped(table, roles, wanted)
    rows.given_ends = scale_by_dimension(said, rows.dimensions)
    if times is None:
        ratings = _item_ratings(rows)
    else:
        ratings = series_ratings(rows, times, _timing(table, roles, time_unit, rate, max_gap))
    return replace(ratings, frame_kind=kind_of(source), reading=_reading(table, roles, rows, times is not None))


def read_item_table(
    source: Any,
    *,
    item: str | None = None,
    time: str | None = None,
    columns: Names = None,
    complete: bool = False,
    companions: bool = False,
    time_unit: str | None = None,
    rate: float | None = None,
    max_gap: float | None = None,
) -> ItemTable:
    """Numbers that belong to items, or to frames of recordings: features, gold, a reference.

    One row per item, or per recording and time; one column per number. `columns` maps the name of a column here to its
    name in the table; `complete` refuses empty cells; `companions` takes in errors and interval ends (`joy_sd` beside
    `joy`), which are left out otherwise; the other words are those of `read_ratings`.
    """
    table = open_table(source)
    wanted = _wanted(columns)
    roles = find_roles(table, ("item",), ("time",), {"item": item, "time": time}, _taken(table, wanted))
    rows, times = shaped(table, roles, wanted, complete=complete, companions=companions)
    if times is not None:
        return series_table(rows, times, _timing(table, roles, time_unit, rate, max_gap))
    order = _order(rows)
    value = np.empty((len(order), len(rows.dimensions)))
    for d in range(len(rows.dimensions)):
        value[:, d] = rows.numbers(d)[order]
    return ItemTable.from_rows(value, items=rows.items.labels, columns=rows.dimensions, source=table.name)


def _item_ratings(rows: Rows) -> Ratings:
    assert rows.annotators is not None
    order = _order(rows)
    pair = rows.pair[order]
    # In order of claims, rows about one judgement lie together.
    first = np.concatenate([[True], np.diff(pair) > 0])
    judgement = np.cumsum(first) - 1
    value = np.full((int(judgement[-1]) + 1, len(rows.dimensions)), np.nan)
    for d in range(len(rows.dimensions)):
        number = rows.numbers(d)[order]
        given = ~np.isnan(number)
        value[judgement[given], d] = number[given]
    return Ratings.from_judgements(
        value,
        pair[first] // len(rows.annotators.labels),
        pair[first] % len(rows.annotators.labels),
        items=rows.items.labels,
        annotators=rows.annotators.labels,
        dimensions=rows.dimensions,
        scale=rows.given_scale,
        source=rows.source,
    )


def _reading(table: Table, roles: Roles, rows: Rows, series: bool) -> Reading:
    """Which column became what."""
    column = {role: table.columns[index] for role, index in roles.place.items()}
    time = column["time"] if series else None
    return Reading(column["item"], column["annotator"], time, rows.sources, rows.left_out, rows.repeating, rows.hasty)


def _order(rows: Rows) -> np.ndarray:
    order, twice = sorted_claims(rows.claim)
    if twice is not None:
        raise rows.refuse_twice(*twice)
    return order


def _timing(table: Table, roles: Roles, unit: str | None, rate: float | None, max_gap: float | None) -> Timing:
    if unit is not None and unit not in TIME_UNITS:
        raise ValueError(f"time_unit must be one of {', '.join(TIME_UNITS)}, not '{unit}'")
    for name, number in (("rate", rate), ("max_gap", max_gap)):
        if number is not None and not 0 < number < float("inf"):
            raise ValueError(f"{name} must be a positive number, not {number}")
    return Timing(unit or UNIT_OF_NAME.get(plain_name(table.columns[roles.place["time"]])), rate, max_gap)


def _wanted(dims: Names) -> dict[str, str]:
    if dims is None:
        return {}
    if isinstance(dims, str):
        return {dims: dims}
    return dict(dims) if isinstance(dims, Mapping) else {name: name for name in dims}


def _taken(table: Table, wanted: Mapping[str, str]) -> list[int]:
    return [index for index, column in enumerate(table.columns) if column in wanted.values()]
