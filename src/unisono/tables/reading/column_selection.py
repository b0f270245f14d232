"""Which columns of a table are ratings, which are left out and why; and what rows say about annotators.

Wide or long, with times or without. Containers sort their judgements, so that the order of rows and the durations
(repeated blocks of answers, impossible times) are looked at while a table is read.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

import numpy as np

from unisono.errors import DataError, DataWarning, LeftOutWarning, warn
from unisono.maths.copies.answer_chances import find_repeats
from unisono.tables.annotator_kinds import two_kinds
from unisono.tables.item_table import Hasty, LeftOut, Repeating
from unisono.tables.labels import as_number, listed
from unisono.tables.reading import column_roles, problems
from unisono.tables.reading.cell_meanings import Labels, Words
from unisono.tables.reading.raw_table import Table
from unisono.tables.reading.table_rows import Collected, Rows, collect, long_rows, usable, wide_rows
from unisono.tables.reading.time_cells import TimeColumn, from_their_start
from unisono.tables.response_times import FASTEST, too_fast

NAMED_FROM = 0.9  # probability from which somebody is said to repeat a block
MOST_SECONDS = 300.0  # median duration beyond which numbers without a unit are milliseconds
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # an odd number without pattern, for hashing
_CODES = np.uint64((1 << 20) - 1)
MOSTLY = 0.5  # share of annotators and items with several times, from which times are those of traces


def shaped(
    table: Table,
    roles: column_roles.Roles,
    wanted: Mapping[str, str],
    *,
    complete: bool = False,
    companions: bool = False,
    meanings: Labels | None = None,
) -> Rows:
    """The rows of a table, with their times if it is a series; `wanted` maps names to columns (or to dimensions).

    `complete` refuses empty cells, `companions` takes in errors of other columns, `meanings` are numbers for words.
    """
    names, aside = _number_columns(table, roles, wanted, companions)
    labels = {role: index for role, index in roles.place.items() if role not in ("time", "value")}
    rated, clock = "annotator" in roles.place, roles.place.get("time")
    asked = [table.columns[index] for index in names.values()] if wanted or roles.is_long else []
    durations = duration_columns(table, roles) if rated else {}
    beside = [index for index in durations if index != clock and index not in names.values()]
    found = collect(
        table, labels | column_roles.find_kind(table, roles), [*names.values(), *beside], clock, Words(meanings, asked)
    )
    times = _times(found, roles, aside) if clock is not None else None
    if roles.is_long:
        rows = long_rows(found, roles.place["value"], wanted)
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
            # Columns that hold a few words might be answers.
            words = {one.name: one.words() for one in map(found.number.__getitem__, names.values()) if one.words()}
            raise problems.no_numbers(table.name, aside, words)
        if not wanted and rated:
            _refuse_ranks(found, kept)
        rows = wide_rows(found, {name: index for name, index in names.items() if index in kept}, complete=complete)
    # Errors and interval ends beside the estimates of a table of items are there to be left alone.
    surprising = [one for one in aside if rated or not column_roles.goes_with(one.column, table.columns)]
    if surprising and not wanted:
        _warn_aside(table.name, surprising)
    rows.left_out = tuple(aside)
    if rated and times is None:
        rows.hasty = hasty_annotators(found, durations)
        if not roles.is_long:
            rows.repeating = repeating_annotators(found, kept)
    rows.time = _if_series(rows, times, roles)
    if rows.time is not None and clock is not None and getattr(found.number[clock], "form", "") == "moments":
        rows.time, note = from_their_start(rows.time, rows.items.code, rows.pair)
        rows.notes = (note,)
    return rows


def _refuse_ranks(found: Collected, kept: Sequence[int]) -> None:
    """One column that is called rank and holds ranks is a ranking of items."""
    names = [found.table.columns[index] for index in kept]
    if len(kept) != 1 or column_roles.plain_name(names[0]) not in ("rank", "ranking", "ranks"):
        return
    if column_roles.are_ranks(found.look(kept[0]), found.label["annotator"].code):
        raise DataError(
            f"{found.table.name}: '{names[0]}' holds ranks, every number once for each annotator, which say more and "
            f"less than ratings. To take them for ratings nevertheless, say --dim {shlex.quote(names[0])}."
        )


def _ratings_among(found: Collected, kept: list[int], times: np.ndarray | None, aside: list[LeftOut]) -> list[int]:
    """The columns that vary as ratings do; the others are added to those left out."""
    if "annotator" not in found.label:
        return kept  # a table of items holds nothing but numbers that describe items
    item = _moments(found, times)
    ratings = []
    for index in kept:
        why = column_roles.described_by_numbers(found.look(index), item, found.label["annotator"].code)
        if why is None:
            ratings.append(index)
        else:
            aside.append(LeftOut(found.table.columns[index], why, numeric=True))
    return ratings


def _levels_that_rate(rows: Rows, times: np.ndarray | None, aside: list[LeftOut]) -> list[int]:
    """The dimensions of a long table that vary as ratings do; the others are added to those left out."""
    if rows.annotators is None:
        return list(range(len(rows.dimensions)))
    item = _moments(rows.found, times)
    ratings = []
    for d, name in enumerate(rows.dimensions):
        own = rows.value[d]
        why = column_roles.goes_with(name, rows.dimensions) or column_roles.described_by_name(name)
        why = why or column_roles.described_by_numbers(own, item, rows.annotators.code)
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
    warn(f"{name}: left out {problems.left_out(aside)}. {remedy}", LeftOutWarning, stacklevel=5)


def _number_columns(
    table: Table, roles: column_roles.Roles, wanted: Mapping[str, str], companions: bool
) -> tuple[dict[str, int], list[LeftOut]]:
    """The columns to read numbers from, by name, and those that will not be looked at."""
    if roles.is_long:
        return {"value": roles.place["value"]}, []
    if wanted:
        names = {name: column_roles.find_column(table, column) for name, column in wanted.items()}
        for index in names.values():
            sharing = [name for name, other in names.items() if other == index]
            if len(sharing) > 1:
                raise DataError(
                    f"{table.name}: column '{table.columns[index]}' cannot be {listed(sharing)} at once. "
                    "Name one for each."
                )
        return names, []
    free, aside = column_roles.candidates(table, roles, companions=companions)
    return {table.columns[index]: index for index in free}, aside


def _times(found: Collected, roles: column_roles.Roles, aside: list[LeftOut]) -> np.ndarray | None:
    """The time of every row; None if the column was only guessed and holds text, as a date does."""
    index = roles.place["time"]
    column = found.number[index]
    assert isinstance(column, TimeColumn)
    guessed = "time" not in roles.named
    if guessed and (column.kind in ("text", "empty") or (column.form != "numbers" and not _comes_again(found))):
        aside.append(LeftOut(column.name, "times that are text"))
        return None
    return found.numbers(index, full=True)


def _comes_again(found: Collected) -> bool:
    """Whether most annotators say something of an item more than once."""
    codes = [coded.code for role, coded in found.label.items() if role != column_roles.KIND]
    again = np.unique(np.stack(codes), axis=1, return_counts=True)[1] > 1
    return bool(again.mean() > MOSTLY)


def _if_series(rows: Rows, times: np.ndarray | None, roles: column_roles.Roles) -> np.ndarray | None:
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


def duration_columns(table: Table, roles: column_roles.Roles) -> dict[int, float | None]:
    """Columns that say how long an answer took, by position, with the seconds in their unit; None if not known."""
    used = set(roles.place.values())
    free = [index for index in range(len(table.columns)) if index not in used]
    found = {index: column_roles.unit_of_duration(table.columns[index]) for index in free}
    return {index: unit or None for index, unit in found.items() if unit is not None}


def repeating_annotators(found: Collected, columns: list[int]) -> tuple[Repeating, ...]:
    """Who gives the same sequence of answers again and again, in the order of the rows."""
    annotators = found.label["annotator"]
    K = len(annotators.labels)
    blocks = find_repeats(_codes(found, columns), annotators.code, K)
    count = np.bincount(annotators.code, minlength=K)
    return tuple(
        Repeating(annotators.labels[k], int(blocks.period[k]), int(count[k]), round(float(blocks.probability[k]), 3))
        for k in np.flatnonzero(blocks.probability >= NAMED_FROM)
    )


def hasty_annotators(found: Collected, durations: dict[int, float | None]) -> tuple[Hasty, ...]:
    """Whose answers came faster than anybody can answer, or before the question."""
    annotators = found.label["annotator"]
    K = len(annotators.labels)
    named = []
    for index, unit in durations.items():
        if found.number[index].kind != "numbers":
            continue
        took = found.look(index)
        known = ~np.isnan(took)
        if not known.any():
            continue
        # Without a unit in the name: medians of minutes are typical of milliseconds, not of seconds.
        seconds = took * (unit or (0.001 if np.median(took[known]) > MOST_SECONDS else 1.0))
        n, fast = (np.bincount(annotators.code[known & of], minlength=K) for of in (known, seconds < FASTEST))
        for k in np.flatnonzero(too_fast(fast, n)):
            named.append(Hasty(annotators.labels[k], found.table.columns[index], int(fast[k]), int(n[k])))
    return tuple(named)


def _codes(found: Collected, columns: list[int]) -> np.ndarray:
    """(rows,) a number for the whole answer of a row; equal answers have equal numbers, others nearly never."""
    mixed = np.zeros(len(found.label["annotator"].code), dtype=np.uint64)
    for index in columns:
        bits = np.ascontiguousarray(found.look(index) + 0.0).view(np.uint64)
        mixed = (mixed ^ bits ^ (bits >> np.uint64(29))) * _MULTIPLIER
    return np.asarray(((mixed >> np.uint64(40)) & _CODES).astype(np.int64))


def annotator_kinds(rows: Rows) -> tuple[str, ...] | None:
    """(K,) the kind of every annotator; None without such a column, or where it says something else.

    Numbers are answers to "how kind?". One word for each item, whoever rates it, describes the items: photographs and
    paintings, say. A cell may be empty if the annotator's other rows are not.
    """
    kind, who = rows.found.label.get(column_roles.KIND), rows.annotators
    words = [] if kind is None else [label for label in kind.labels if label]
    if kind is None or who is None or all(as_number(word, comma=True) is not None for word in words):
        return None
    said = np.flatnonzero(np.array(kind.labels)[kind.code] != "")
    first = np.full(len(who.labels), -1, dtype=np.int64)
    first[who.code[said[::-1]]] = kind.code[said[::-1]]
    differs = said[first[who.code[said]] != kind.code[said]]
    if len(differs):
        if not column_roles.varies_within(kind.code, rows.items.code):
            return None
        row = int(differs[0])
        both = [kind.labels[code] for code in (first[who.code[row]], kind.code[row])]
        raise two_kinds(rows.found.where(row), who.labels[who.code[row]], both)
    if (first < 0).any():
        row = int(np.argmax(first[who.code] < 0))
        raise DataError(
            f"{rows.found.where(row)}: kind is empty, in all rows of annotator '{who.labels[who.code[row]]}'. "
            "Say what the annotator is, as in other rows, or leave the column out."
        )
    return tuple(kind.labels[code] for code in first)
