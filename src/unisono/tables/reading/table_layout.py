"""From a table as it was opened to one with a row per answer and a column for each role.

`--item system,prompt` joins the cells of two columns by a bar (`gpt|17`); a bar or a backslash inside a cell is
escaped, so that two different rows never make the same label. Annotators (or items) in columns get rows of their own.
Where a role cannot be found, the first rows are searched for the options that would make sense, for the message alone.
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from unisono.errors import DataError, SettingsError
from unisono.tables.item_table import Reading
from unisono.tables.labels import counted, did_you_mean, listed
from unisono.tables.reading import column_roles, problems
from unisono.tables.reading import side_by_side_columns as side_by_side
from unisono.tables.reading.cell_meanings import families_of, plain_word
from unisono.tables.reading.raw_table import CoveredTable, Table, WithColumn, as_text
from unisono.tables.reading.time_cells import looks_like_times

JOINER = "|"
NO_TIME = "none"  # the user says that no column is a time
RECORDING = "recording"  # of a table with one, which has no name
ONE_RECORDING = f"No column names the recording: all rows are of one, '{RECORDING}'."


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
    without: str | Sequence[str] | None = None  # annotators to set aside


def is_one_recording(table: Table, layout: Layout, *, rated: bool) -> bool:
    """Whether rows are times of a trace and no column names the recording; `rated` where annotators are needed."""
    if layout.item is not None or layout.items_in_columns or column_roles.detect(table, "item", set()) is not None:
        return False
    clock = column_roles.detect(table, "time", set())
    if layout.time is not None:
        clock = column_roles.find_column(table, layout.time)
    if clock is None:
        return False
    part = table.head.without_empty_rows(clock)
    who = layout.annotator if isinstance(layout.annotator, str) and layout.annotator in table.columns else None
    place = column_roles.detect(table, "annotator", {clock}) if who is None else column_roles.find_column(table, who)
    if rated and place is not None and not layout.annotators_in_columns:
        again = part.column(place).n_unique() * 2 < part.frame.height
        return again and looks_like_times(part.column(clock))
    items = side_by_side.by_names(table.columns, side_by_side.free_columns(table.columns, {clock}), "item", None)
    return items is None and looks_like_times(part.column(clock), moments=False)


def join_columns(table: Table, wanted: str | Sequence[str] | None) -> tuple[Table, str | None, tuple[str, ...]]:
    """The table, the column that holds the label, and the columns it is made of if there are several."""
    if wanted is None or (isinstance(wanted, str) and (wanted in table.columns or "," not in wanted)):
        return table, wanted, ()
    given = wanted.split(",") if isinstance(wanted, str) else list(wanted)
    places = [column_roles.find_column(table, name.strip()) for name in given if name.strip()]
    parts = tuple(table.columns[place] for place in places)
    if len(parts) == 1:
        return table, parts[0], ()
    name = ",".join(parts)
    return WithColumn(table, name, lambda part: _joined([part.column(place) for place in places])), name, parts


def split_label(label: str) -> list[str]:
    """The cells that a label was made of."""
    cells = [""]
    for sign in re.findall(r"\\.|.", label, re.DOTALL):
        if sign == JOINER:
            cells.append("")
        else:
            cells[-1] += sign[-1]
    return cells


def with_parts(columns: Mapping[str, Any], reading: Reading | None) -> dict[str, Any]:
    """The columns of a result; where items (the first column) have names of several cells, these are columns too."""
    if reading is None or not reading.item_parts:
        return dict(columns)
    (label, labels), *others = columns.items()
    cells = zip(*map(split_label, labels), strict=True)
    return {label: labels} | dict(zip(reading.item_parts, map(list, cells), strict=True)) | dict(others)


def _joined(columns: Sequence[pl.Series]) -> pl.Series:
    """A label for each row; empty if one of the cells is, so that the row is told like any without a name."""
    cells = (as_text(column).fill_null("").str.strip_chars() for column in columns)
    frame = pl.DataFrame([cell.alias(str(place)) for place, cell in enumerate(cells)])
    escaped = [
        pl.col(name).str.replace_all("\\", "\\\\", literal=True).str.replace_all(JOINER, "\\|", literal=True)
        for name in frame.columns
    ]
    whole = pl.all_horizontal(pl.all() != "")
    return frame.select(pl.when(whole).then(pl.concat_str(escaped, separator=JOINER)).otherwise(pl.lit(""))).to_series()


TRIALS = 50  # columns, and pairs of them, that are tried


def naming_option(table: Table, role: str, known: int, free: Sequence[int]) -> str | None:
    """The option for the columns that, beside the known one, tell all rows apart: `--item system,prompt`."""
    if tells_apart(table, (known,), ()):
        return None  # a row each: what was rated stands side by side, or is not there
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
    rows = table.head.without_empty_rows(known[0]).frame.select(str(index) for index in (*known, *others))
    again = not others or rows.select(str(index) for index in others).n_unique() < rows.height
    return (again or rows.height <= column_roles.FEW_ROWS) and 0 < rows.height == rows.n_unique()


def crossed(table: Table, known: Sequence[int], others: Sequence[int]) -> bool:
    """Whether every name in the known columns has every combination of cells in the others, once each."""
    rows = table.head.without_empty_rows(known[0]).frame.select(str(index) for index in (*known, *others))
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
    cells = table.head.column(index).head(100).drop_nulls()
    if cells.dtype == pl.String:
        cells = cells.filter(cells.str.strip_chars() != "")
    number = cells.cast(pl.Float64, strict=False) if cells.dtype != pl.Boolean else cells
    return bool(len(cells)) and not np.any(number.is_null().to_numpy())


def _holds_answers(table: Table, index: int) -> bool:
    """Whether the first rows of a column hold numbers, or words of a rating scale, and nothing else."""
    if is_numeric(table, index):
        return True
    words = as_text(table.head.column(index)).head(100).drop_nulls().unique().to_list()
    return len(words) > 1 and bool(families_of([plain_word(word) for word in words if word.strip()]))


def _long_options(table: Table, item: int, names: Sequence[int], numeric: Sequence[int]) -> str | None:
    """Somebody, what was rated, and one column of numbers: a table with one row per number."""
    if len(numeric) != 1:
        return None
    part = table.head
    for pair in itertools.islice(itertools.combinations(names, 2), TRIALS):
        if tells_apart(table, (item,), pair):
            annotator, dimension = sorted(pair, key=lambda index: -part.column(index).n_unique())
            roles = {"annotator": annotator, "dimension": dimension, "value": numeric[0]}
            return " ".join(_said(table, role, index) for role, index in roles.items())
    return None


def _said(table: Table, role: str, *columns: int) -> str:
    return f"--{role} {shlex.quote(','.join(table.columns[index] for index in columns))}"


@dataclass(frozen=True)
class Arranged:
    """A table whose roles are known."""

    table: Table
    roles: column_roles.Roles
    item_parts: tuple[str, ...]  # columns that the item's name was made of, if there are several
    wide: str | None = None  # annotator or item, if those were side by side
    notes: tuple[str, ...] = ()
    made: frozenset[str] = frozenset()  # roles whose names are no column of the table as it was opened


def arrange(table: Table, layout: Layout, wanted: Mapping[str, str], needed: Sequence[str]) -> Arranged:
    """Finds every role in `needed`, and brings the table into the form in which each is a column."""
    if (
        "annotator" in needed
        and layout.item is None
        and not wanted
        and (columns := column_roles.compared(table.columns))
    ):
        raise DataError(
            f"{table.name} compares or ranks items ({listed(columns)}) instead of rating one in a row. "
            "Comparisons are no ratings: give them with --comparisons FILE (comparisons=... in Python)."
        )
    timeless = layout.time == NO_TIME and NO_TIME not in table.columns
    alone = not timeless and is_one_recording(table, layout, rated="annotator" in needed)
    if alone:
        table = WithColumn(table, RECORDING, lambda part: pl.lit(RECORDING))
    table, item, item_parts = join_columns(table, layout.item)
    table, annotator, other_parts = join_columns(table, layout.annotator if "annotator" in needed else None)
    given: dict[str, str | None] = {"item": item, "annotator": annotator, "time": None if timeless else layout.time}
    found = None
    if "annotator" in needed:
        found = _side_by_side(table, layout, given, wanted, RECORDING if alone else None)
    notes: tuple[str, ...] = (ONE_RECORDING,) if alone else ()
    if found is not None:
        asked = bool(layout.annotators_in_columns or layout.items_in_columns)
        notes += () if asked else (side_by_side.said(found, table.columns),)
        table = side_by_side.MeltedTable(table, found)
        given[found.role] = side_by_side.LABEL
    taken = [index for index, column in enumerate(table.columns) if column in wanted.values()]
    roles = column_roles.find_roles(table, needed, () if timeless else ("time",), given, taken)
    roles = roles._replace(parts=frozenset((*item_parts, *other_parts)))
    if "annotator" in needed:
        asked_long = layout.dimension is not None or layout.value is not None
        if asked_long or not wanted or not all(column in table.columns for column in wanted.values()):
            roles = column_roles.find_long(table, roles, layout.dimension, layout.value)
    made = {"item": bool(item_parts) or alone, "annotator": bool(other_parts)} | ({found.role: True} if found else {})
    names = frozenset(role for role, is_made in made.items() if is_made)
    table, aside = without_annotators(table, roles.place.get("annotator"), layout.without)
    return Arranged(table, roles, item_parts, found.role if found else None, notes + aside, names)


def without_annotators(
    table: Table, column: int | None, unwanted: str | Sequence[str] | None
) -> tuple[Table, tuple[str, ...]]:
    """The table without the rows of these annotators (one name, or several; between commas in one text), and a note."""
    if column is None or not unwanted:
        return table, ()
    known = {str(name) for part in table.parts() for name in as_text(part.column(column)).str.strip_chars().unique()}
    asked = unwanted
    if isinstance(unwanted, str):
        asked = [unwanted] if unwanted in known else unwanted.split(",")
    names = [str(name).strip() for name in asked]
    for name in names:
        if name not in known:
            raise DataError(f"{table.name}: there is no annotator '{name}' to set aside.{did_you_mean(name, known)}")
    note = f"{counted(len(names), 'annotator')} set aside: {listed(sorted(names))}."
    return CoveredTable(table, of=column, rows=names), (note,)


def _side_by_side(
    table: Table, layout: Layout, given: dict[str, str | None], wanted: Mapping[str, str], made: str | None
) -> side_by_side.Spread | None:
    """Which columns stand for annotators or items, by the user's word or, where that role has no column, by names.

    `made` is a column that the table as it was opened did not have.
    """
    patterns = {"annotator": layout.annotators_in_columns, "item": layout.items_in_columns}
    new = [column for column in wanted.values() if column not in table.columns]
    dimension = new[0] if len(wanted) == len(new) == 1 else None
    if all(patterns.values()):
        raise SettingsError("Either annotators or items are in columns, not both.")
    if table.form and not any(patterns.values()):
        patterns["annotator" if "{annotator}" in table.form else "item"] = table.form
    for role, pattern in patterns.items():
        if pattern is not None:
            return side_by_side.by_pattern(table.name, table.columns, role, pattern, dimension)
    place = {role: column_roles.find_column(table, name) for role, name in given.items() if name is not None}
    for role in given:
        if role not in place and (index := column_roles.detect(table, role, set(place.values()))) is not None:
            place[role] = index
    asked_for = ""
    if "item" not in place and "annotator" not in place and (form := _one_row_each(table)) is not None:
        place["annotator"] = form
        asked_for = _said(table, "annotator", form) + " "
    for role, other in (("annotator", "item"), ("item", "annotator")):
        if role not in place and other in place:
            asked = {index for index, column in enumerate(table.columns) if column in wanted.values()}
            free = side_by_side.free_columns(table.columns, {*place.values(), *asked})
            found = side_by_side.by_names(table.columns, free, role, dimension)
            if found is None:
                numeric = [i for i in free if column_roles.may_rate(table.columns[i]) and _holds_answers(table, i)]
                pattern = side_by_side.likely_pattern(table.columns, numeric, role)
                example = naming_option(table, role, place[other], free)
                columns = [column for column in table.columns if column != made]
                raise problems.no_role_column(
                    table.name, role, columns, example, asked_for + side_by_side.OPTION[role], pattern
                )
            given[other] = table.columns[place[other]]
            return found
    if "item" not in place and "annotator" not in place:
        _refuse_grid(table, [index for index, column in enumerate(table.columns) if column in wanted.values()])
    return None


SMALLEST_GRID = 5  # columns: somebody, and two dimensions of two items


def _refuse_grid(table: Table, asked: Sequence[int]) -> None:
    """Raises the error that takes a row for an annotator, where names of columns cross items and dimensions."""
    if len(table.columns) < SMALLEST_GRID:
        return
    named = [i for i in side_by_side.free_columns(table.columns, asked) if not _holds_answers(table, i)]
    who = next((i for i in named if tells_apart(table, (i,), ())), None)
    if who is None:
        return
    numeric = [
        i for i in side_by_side.free_columns(table.columns, {who, *asked}) if column_roles.may_rate(table.columns[i])
    ]
    pattern = side_by_side.likely_pattern(table.columns, [i for i in numeric if _holds_answers(table, i)], "item")
    if pattern is not None and "{" in pattern:
        option = f"{_said(table, 'annotator', who)} {side_by_side.OPTION['item']}"
        raise problems.no_role_column(table.name, "item", table.columns, None, option, pattern)


def _one_row_each(table: Table) -> int | None:
    """The column that names the response of a form, where each has one row; times that count are a trace's."""
    names = [column_roles.plain_name(column) for column in table.columns]
    found = next((names.index(name) for name in column_roles.RESPONSES if name in names), None)
    if found is None or not tells_apart(table, (found,), ()):
        return None
    return None if looks_like_times(table.head.column(found)) else found
