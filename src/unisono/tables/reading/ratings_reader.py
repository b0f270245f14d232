"""Reading ratings, and tables of features, gold or references.

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

from unisono.errors import DataError, InterpretedWarning, warn
from unisono.tables.answer_scale import ScaleWords, said_scale, scale_by_dimension
from unisono.tables.item_table import ItemTable, Reading
from unisono.tables.ratings import Ratings
from unisono.tables.reading.cell_meanings import Labels, Missing, with_missing
from unisono.tables.reading.column_roles import UNIT_OF_NAME, Roles, plain_name
from unisono.tables.reading.column_selection import annotator_kinds, shaped
from unisono.tables.reading.data_frames import identifiers, kind_of, part_identifiers
from unisono.tables.reading.missing_codes import refuse_codes
from unisono.tables.reading.open_table import open_table
from unisono.tables.reading.table_layout import Arranged, Column, Layout, arrange
from unisono.tables.reading.table_rows import Rows, settle
from unisono.tables.reading.time_series import TIME_UNITS, Timing, series_ratings, series_table

Names = Mapping[str, str] | Sequence[str] | str | None  # NAME -> COLUMN, names that are columns, or one of them


def read_ratings(
    source: Any,
    *,
    item: Column = None,
    annotator: Column = None,
    time: str | None = None,
    dims: Names = None,
    scale: ScaleWords = None,
    dimension: str | None = None,
    value: str | None = None,
    annotators_in_columns: str | None = None,
    items_in_columns: str | None = None,
    without: str | Sequence[str] | None = None,
    labels: Labels | str | None = None,
    missing: Missing = None,
    duplicates: str | None = None,
    sheet: str | None = None,
    time_unit: str | None = None,
    rate: float | None = None,
    max_gap: float | None = None,
) -> Ratings:
    """Ratings from a file or a data frame; columns are recognised by their names unless they are given.

    Parameters
    ----------
    source : path or data frame
        Delimited text, XLSX, JSON, Parquet, packed or not; `-` is standard input. See docs/format.md for every shape.
    item, annotator : str or sequence of str, optional
        Their columns; of several, the cells together make the name.
    time : str, optional
        The column of time, which makes traces.
    dims : sequence or mapping, optional
        Dimensions to use, or a mapping from their names to columns (or to names, with one row per number).
    scale : (low, high), str or mapping, optional
        Where answers end: (1, 7), "1:7", "none", or a mapping from dimensions to these; inferred by default.
    dimension, value : str, optional
        Columns of a table with one row per number.
    annotators_in_columns, items_in_columns : str, optional
        Which columns they are where they stand side by side: names or wildcards between commas, or a form such as
        `{dimension}_{annotator}`.
    without : str or sequence of str, optional
        Annotators to set aside: names, between commas in one text.
    labels : mapping or str, optional
        Numbers of words, or of other numbers; None where missing is meant.
    missing : str, number or sequence, optional
        Codes that stand for missing: -99, or "-99,999".
    duplicates : {"error", "first", "last", "mean"}, optional
        What holds where somebody rated something twice.
    sheet : str, optional
        Sheet of a workbook, or file of a zip archive.
    time_unit : {"s", "ms", "us", "ns", "min", "h", "frames"}, optional
        Unit of the time column.
    rate : float, optional
        Frames per second of the common clock; by default the median rate of the traces.
    max_gap : float, optional
        Seconds up to which gaps are bridged; by default one and a half steps of the trace.

    Returns
    -------
    Ratings
        What every call takes.

    Raises
    ------
    DataError
        The table contradicts itself; the message names row, column, value and the way out.

    Examples
    --------
    >>> import pandas as pd, unisono as un
    >>> un.read_ratings(pd.DataFrame({"clip": [1, 1, 2], "rater": ["x", "y", "x"], "joy": [3, 4, 5]})).items
    ('1', '2')
    """
    said = said_scale(scale)  # a mistake here is said before anything is read
    wanted = _wanted(dims)
    layout = Layout(item, annotator, time, dimension, value, annotators_in_columns, items_in_columns, without)
    found = arrange(open_table(source, sheet), layout, wanted, ("item", "annotator"))
    rows = shaped(found.table, found.roles, wanted, meanings=with_missing(labels, missing))
    kinds = annotator_kinds(rows)
    rows.given_ends = scale_by_dimension(said, rows.dimensions)
    if found.table.whole:
        refuse_codes(rows)
    rows, repeated = settle(rows, duplicates)
    timing = _timing(rows, found.roles, time_unit, rate, max_gap)
    ratings = _item_ratings(rows) if timing is None else series_ratings(rows, timing)
    return replace(ratings, frame_kind=kind_of(source), reading=_reading(found, rows, repeated), kinds=kinds)


def read_item_table(
    source: Any,
    *,
    item: Column = None,
    time: str | None = None,
    columns: Names = None,
    complete: bool = False,
    companions: bool = False,
    labels: Labels | str | None = None,
    missing: Missing = None,
    duplicates: str | None = None,
    sheet: str | None = None,
    time_unit: str | None = None,
    rate: float | None = None,
    max_gap: float | None = None,
) -> ItemTable:
    """Numbers that belong to items, or to frames of recordings: features, gold, a reference.

    Parameters
    ----------
    source : path or data frame
        One row per item, or per recording and time; one column per number.
    item, time : str, optional
        Their columns.
    columns : sequence or mapping, optional
        Columns to use, or a mapping from names here to names in the table.
    complete : bool
        Whether empty cells are refused.
    companions : bool
        Whether errors and interval ends (`joy_sd` beside `joy`) are taken in.
    labels, missing, duplicates, sheet, time_unit, rate, max_gap
        As in `read_ratings`.

    Returns
    -------
    ItemTable
        What `features=`, `gold=` and `reference=` take.

    Raises
    ------
    DataError
        The table contradicts itself.

    Examples
    --------
    >>> import pandas as pd, unisono as un
    >>> un.read_item_table(pd.DataFrame({"item": ["a", "b"], "joy": [1.0, 2.0]})).columns
    ('joy',)
    """
    wanted = _wanted(columns)
    found = arrange(open_table(source, sheet), Layout(item=item, time=time), wanted, ("item",))
    meanings = with_missing(labels, missing)
    rows = shaped(found.table, found.roles, wanted, complete=complete, companions=companions, meanings=meanings)
    rows, repeated = settle(rows, duplicates)
    timing = _timing(rows, found.roles, time_unit, rate, max_gap)
    table = _item_numbers(rows) if timing is None else series_table(rows, timing)
    return replace(table, frame_kind=kind_of(source), reading=_reading(found, rows, repeated))


def _item_numbers(rows: Rows) -> ItemTable:
    order, _ = rows.by_claim
    value = np.empty((len(order), len(rows.dimensions)))
    for d in range(len(rows.dimensions)):
        value[:, d] = rows.numbers(d)[order]
    return ItemTable.from_rows(value, items=rows.items.labels, columns=rows.dimensions, source=rows.source)


def _item_ratings(rows: Rows) -> Ratings:
    assert rows.annotators is not None
    order, _ = rows.by_claim
    item_of, annotator_of = rows.items.code[order], rows.annotators.code[order]
    # In order of claims, rows about one judgement lie together.
    first = np.append(True, (item_of[1:] != item_of[:-1]) | (annotator_of[1:] != annotator_of[:-1]))
    judgement = None if first.all() else np.cumsum(first) - 1
    value = np.full((int(first.sum()), len(rows.dimensions)), np.nan, order="F")
    for d in range(len(rows.dimensions)):
        number = rows.numbers(d)[order]
        if judgement is None:
            value[:, d] = number
        else:
            given = ~np.isnan(number)
            value[judgement[given], d] = number[given]
    return Ratings.from_judgements(
        value,
        item_of[first],
        annotator_of[first],
        items=rows.items.labels,
        annotators=rows.annotators.labels,
        dimensions=rows.dimensions,
        scale=rows.given_scale,
        source=rows.source,
    )


def _reading(found: Arranged, rows: Rows, repeated: tuple[str, ...]) -> Reading:
    """Which column became what; warns of what was read otherwise than as plain numbers in plain columns."""
    notes = (*found.table.notes, *found.notes, *rows.all_notes, *repeated)
    if notes:
        warn(f"{rows.source}: {' '.join(notes)}", InterpretedWarning, stacklevel=3)
    column = {role: found.table.columns[index] for role, index in found.roles.place.items()}
    return Reading(
        column["item"],
        column.get("annotator", ""),
        None if rows.time is None else column["time"],
        rows.sources,
        rows.left_out,
        repeating=rows.repeating,
        hasty=rows.hasty,
        notes=notes,
        item_parts=found.item_parts,
        item_ids=identifiers(rows.found, found, "item"),
        annotator_ids=identifiers(rows.found, found, "annotator") if "annotator" in column else None,
        part_ids=part_identifiers(rows.found, found.item_parts),
    )


def _timing(rows: Rows, roles: Roles, unit: str | None, rate: float | None, max_gap: float | None) -> Timing | None:
    """What is known about time; None where there is none."""
    if rows.time is None:
        return None
    if unit is not None and unit not in TIME_UNITS:
        raise ValueError(f"time_unit must be one of {', '.join(TIME_UNITS)}, not '{unit}'")
    for name, number in (("rate", rate), ("max_gap", max_gap)):
        if number is not None and not 0 < number < float("inf"):
            raise ValueError(f"{name} must be a positive number, not {number}")
    index = roles.place["time"]
    column = rows.found.table.columns[index]
    if getattr(rows.found.number[index], "form", "numbers") == "numbers":
        return Timing(unit or UNIT_OF_NAME.get(plain_name(column)), rate, max_gap)
    if unit not in (None, "s"):
        raise DataError(f"{rows.source}: {column} has clock times or dates, so it is not in {unit}. Omit --time-unit.")
    return Timing("s", rate, max_gap)


def _wanted(dims: Names) -> dict[str, str]:
    if dims is None:
        return {}
    if isinstance(dims, str):
        return {dims: dims}
    return dict(dims) if isinstance(dims, Mapping) else {name: name for name in dims}
