"""Which columns of a table are ratings, and which are left out and why; wide or long, with times or without."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from unisono.errors import DataWarning, LeftOutWarning, warn
from unisono.tables.item_table import LeftOut
from unisono.tables.reading import problems
from unisono.tables.reading.annotator_rows import duration_columns, hasty_annotators, repeating_annotators
from unisono.tables.reading.cell_meanings import Labels, Words
from unisono.tables.reading.column_roles import (
    KIND,
    Roles,
    are_ranks,
    candidates,
    described_by_name,
    described_by_numbers,
    find_column,
    find_kind,
    goes_with,
    plain_name,
)
from unisono.tables.reading.raw_table import Table
from unisono.tables.reading.table_rows import Collected, LongRows, Rows, WideRows, collect, number_column, peek, usable
from unisono.tables.reading.time_cells import TimeColumn, from_their_start

MOSTLY = 0.5  # share of annotators and items with several times, from which times are those of traces


def shaped(
    table: Table,
    roles: Roles,
    wanted: Mapping[str, str],
    *,
    complete: bool = False,
    companions: bool = False,
    meanings: Labels | None = None,
) -> tuple[Rows, np.ndarray | None]:
    """The rows of a table, and their times if it is a series; `wanted` maps names to columns (or to dimensions).

    `complete` refuses empty cells, `companions` takes in errors of other columns, `meanings` are numbers for words.
    """
    names, aside = _number_columns(table, roles, wanted, companions)
    labels = {role: index for role, index in roles.place.items() if role not in ("time", "value")}
    clock = roles.place.get("time")
    asked = [table.columns[index] for index in names.values()] if wanted or roles.is_long else []
    durations = duration_columns(table, roles) if "annotator" in roles.place else {}
    beside = [index for index in durations if index != clock and index not in names.values()]
    found = collect(table, labels | find_kind(table, roles), [*names.values(), *beside], clock, Words(meanings, asked))
    times = _times(found, roles, aside) if clock is not None else None
    rows: Rows
    if roles.is_long:
        rows = LongRows(found, roles.place["value"], dict(wanted))
        if not wanted:
            rows.keep(_levels_that_rate(rows, times, aside))
        if not rows.dimensions:
            raise problems.no_numbers(table.name, aside, {})
    else:
        kept, text = usable(found, list(names.values()), wanted=bool(wanted))
        aside += text
        if not wanted:
            kept = _ratings_among(found, kept, times, aside)
        if not kept:
            raise problems.no_numbers(table.name, aside, _worded(found, names.values()))
        if not wanted and "annotator" in roles.place:
            _refuse_ranks(found, kept)
        rows = WideRows(found, {name: index for name, index in names.items() if index in kept}, complete)
    # Errors and interval ends beside the estimates of a table of items are there to be left alone.
    quiet = "annotator" not in roles.place
    surprising = [one for one in aside if not (quiet and goes_with(one.column, table.columns))]
    if surprising and not wanted:
        _warn_aside(table.name, surprising)
    rows.left_out = tuple(aside)
    if "annotator" in roles.place and times is None:
        rows.hasty = hasty_annotators(found, durations)
        if not roles.is_long:
            rows.repeating = repeating_annotators(found, kept)
    times = _if_series(rows, times, roles)
    if times is not None and clock is not None and getattr(found.number[clock], "form", "") == "moments":
        times, note = from_their_start(times, rows.items.code, rows.pair)
        rows.notes = (note,)
    return rows, times


def _refuse_ranks(found: Collected, kept: Sequence[int]) -> None:
    """One column that is called rank and holds ranks is a ranking of items."""
    names = [found.table.columns[index] for index in kept]
    if len(kept) != 1 or plain_name(names[0]) not in ("rank", "ranking", "ranks"):
        return
    if are_ranks(peek(found, kept[0]), found.label["annotator"].code):
        raise problems.ranks(found.table.name, names[0])


def _worded(found: Collected, columns: Iterable[int]) -> dict[str, list[str]]:
    """The columns that hold a few words, which might be answers."""
    return {column.name: column.words for column in map(found.number.__getitem__, columns) if column.words}


def _ratings_among(found: Collected, kept: list[int], times: np.ndarray | None, aside: list[LeftOut]) -> list[int]:
    """The columns that vary as ratings do; the others are added to those left out."""
    if "annotator" not in found.label:
        return kept  # a table of items holds nothing but numbers that describe items
    item = _moments(found, times)
    ratings = []
    for index in kept:
        why = described_by_numbers(peek(found, index), item, found.label["annotator"].code)
        if why is None:
            ratings.append(index)
        else:
            aside.append(LeftOut(found.table.columns[index], why, numeric=True))
    return ratings


def _levels_that_rate(rows: LongRows, times: np.ndarray | None, aside: list[LeftOut]) -> list[int]:
    """The dimensions of a long table that vary as ratings do; the others are added to those left out."""
    if rows.annotators is None:
        return list(range(len(rows.dimensions)))
    item = _moments(rows.found, times)
    ratings = []
    for d, name in enumerate(rows.dimensions):
        own = rows.numbers(d)
        why = goes_with(name, rows.dimensions) or described_by_name(name)
        why = why or described_by_numbers(own, item, rows.annotators.code)
        if np.isnan(own).all():
            aside.append(LeftOut(name, "empty"))
        elif why is None:
            ratings.append(d)
        else:
            aside.append(LeftOut(name, why, numeric=True))
    return ratings


def _moments(found: Collected, times: np.ndarray | None) -> np.ndarray:
    """(rows,) codes of items; of items at a time where there are times: what all have in common there is no rating."""
    item = found.label["item"].code
    if times is None:
        return item
    return np.unique(np.stack([item, times]), axis=1, return_inverse=True)[1].reshape(-1)


def _warn_aside(name: str, aside: Sequence[LeftOut]) -> None:
    remedy = "To take columns in, name all that count: --dim NAME (dims=... in Python)."
    warn(
        f"{name}: left out {problems.left_out(aside)}. {remedy}",
        LeftOutWarning,
        stacklevel=5,
    )


def _number_columns(
    table: Table, roles: Roles, wanted: Mapping[str, str], companions: bool
) -> tuple[dict[str, int], list[LeftOut]]:
    """The columns to read numbers from, by name, and those that will not be looked at."""
    if roles.is_long:
        return {"value": roles.place["value"]}, []
    if wanted:
        names = {name: find_column(table, column) for name, column in wanted.items()}
        for index in names.values():
            sharing = [name for name, other in names.items() if other == index]
            if len(sharing) > 1:
                raise problems.column_named_twice(table.name, table.columns[index], sharing)
        return names, []
    free, aside = candidates(table, roles, companions=companions)
    return {table.columns[index]: index for index in free}, aside


def _times(found: Collected, roles: Roles, aside: list[LeftOut]) -> np.ndarray | None:
    """The time of every row; None if the column was only guessed and holds text, as a date does."""
    index = roles.place["time"]
    column = found.number[index]
    assert isinstance(column, TimeColumn)
    guessed = "time" not in roles.named
    if guessed and (column.kind in ("text", "empty") or (column.form != "numbers" and not _comes_again(found))):
        aside.append(LeftOut(column.name, "times that are text"))
        return None
    return number_column(found, index, full=True)


def _comes_again(found: Collected) -> bool:
    """Whether most annotators say something of an item more than once."""
    codes = [coded.code for role, coded in found.label.items() if role != KIND]
    again = np.unique(np.stack(codes), axis=1, return_counts=True)[1] > 1
    return bool(again.mean() > MOSTLY)


def _if_series(rows: Rows, times: np.ndarray | None, roles: Roles) -> np.ndarray | None:
    """The times, unless the column was only guessed and most rows are alone: then it says when somebody answered."""
    if times is None or "time" in roles.named:
        return times
    again = np.unique(rows.claim, return_counts=True)[1] > 1
    # A few repetitions are somebody who answered again, not traces.
    if again.mean() > MOSTLY or (rows.annotators is None and again.any()):
        return times
    column = rows.found.table.columns[roles.place["time"]]
    warn(
        f"{rows.source}: column '{column}' left out, since {'hardly anything' if again.any() else 'nothing'} is rated "
        f"at two times. If this is a series, say --time {shlex.quote(column)}.",
        DataWarning,
        stacklevel=5,
    )
    return None
