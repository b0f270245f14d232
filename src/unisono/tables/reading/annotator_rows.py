"""What the rows of a table say about annotators: their kind, repeated ratings, repeated blocks, impossible times.

Containers sort their judgements, so that the order of rows and the durations are looked at while a table is read.
Rows that repeat another one are dropped; where two rows about the same thing differ, `error` refuses, `first` and
`last` keep one of them, `mean` averages them dimension by dimension.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unisono.errors import DataError, SettingsError
from unisono.maths.copies.answer_chances import find_repeats
from unisono.tables.annotator_kinds import two_kinds
from unisono.tables.item_table import Hasty, Repeating
from unisono.tables.labels import as_number
from unisono.tables.reading import problems
from unisono.tables.reading.column_roles import KIND, Roles, unit_of_duration
from unisono.tables.reading.label_and_number_columns import Coded
from unisono.tables.reading.raw_table import Table
from unisono.tables.reading.table_rows import Collected, Rows, peek, sorted_claims

NAMED_FROM = 0.9  # probability from which somebody is said to repeat a block
FASTEST = 0.3  # seconds: nobody reads, judges and answers faster than they react
HASTY_SHARE = 0.2  # share of an annotator's answers, and
HASTY_ANSWERS = 3  # number of them, that were impossibly fast before anybody is named
MOST_SECONDS = 300.0  # median duration beyond which numbers without a unit are milliseconds
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # an odd number without pattern, for hashing
_CODES = np.uint64((1 << 20) - 1)


def duration_columns(table: Table, roles: Roles) -> dict[int, float | None]:
    """Columns that say how long an answer took, by position, with the seconds in their unit; None if not known."""
    used = set(roles.place.values())
    found = {index: unit_of_duration(column) for index, column in enumerate(table.columns) if index not in used}
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
        took = peek(found, index)
        known = ~np.isnan(took)
        if not known.any():
            continue
        # Without a unit in the name: medians of minutes are typical of milliseconds, not of seconds.
        seconds = took * (unit or (0.001 if np.median(took[known]) > MOST_SECONDS else 1.0))
        n = np.bincount(annotators.code[known], minlength=K)
        fast = np.bincount(annotators.code[known & (seconds < FASTEST)], minlength=K)
        for k in np.flatnonzero((fast >= HASTY_ANSWERS) & (fast >= HASTY_SHARE * n)):
            named.append(Hasty(annotators.labels[k], found.table.columns[index], int(fast[k]), int(n[k])))
    return tuple(named)


def _codes(found: Collected, columns: list[int]) -> np.ndarray:
    """(rows,) a number for the whole answer of a row; equal answers have equal numbers, others nearly never."""
    mixed = np.zeros(found.rows, dtype=np.uint64)
    for index in columns:
        bits = np.ascontiguousarray(peek(found, index) + 0.0).view(np.uint64)
        mixed = (mixed ^ bits ^ (bits >> np.uint64(29))) * _MULTIPLIER
    return np.asarray(((mixed >> np.uint64(40)) & _CODES).astype(np.int64))


def annotator_kinds(rows: Rows) -> tuple[str, ...] | None:
    """(K,) the kind of every annotator; None without such a column, or where it says something else.

    Numbers are answers to "how kind?". One word for each item, whoever rates it, describes the items: photographs and
    paintings, say. A cell may be empty if the annotator's other rows are not.
    """
    kind, who = rows.found.label.get(KIND), rows.annotators
    if kind is None or who is None or _says_nothing(kind):
        return None
    said = np.flatnonzero(np.array(kind.labels)[kind.code] != "")
    first = np.full(len(who.labels), -1, dtype=np.int64)
    first[who.code[said[::-1]]] = kind.code[said[::-1]]
    differs = said[first[who.code[said]] != kind.code[said]]
    if len(differs):
        if _constant_within(rows.items.code, kind.code):
            return None
        row = int(differs[0])
        both = [kind.labels[code] for code in (first[who.code[row]], kind.code[row])]
        raise two_kinds(rows.found.where(row), who.labels[who.code[row]], both)
    if (first < 0).any():
        row = int(np.argmax(first[who.code] < 0))
        raise problems.empty_kind(rows.found.where(row), who.labels[who.code[row]])
    return tuple(kind.labels[code] for code in first)


def _says_nothing(kind: Coded) -> bool:
    """Whether all cells are empty, or all are numbers."""
    words = [label for label in kind.labels if label]
    return not words or all(as_number(word, comma=True) is not None for word in words)


def _constant_within(group: np.ndarray, code: np.ndarray) -> bool:
    """Whether rows of one group all have the same code."""
    anyone = np.empty(int(group.max()) + 1, dtype=np.int64)
    anyone[group] = code
    return bool((anyone[group] == code).all())


POLICIES = ("error", "first", "last", "mean")


class SettledRows(Rows):
    """Rows of which no two make the same claim any more."""

    def __init__(self, rows: Rows, kept: np.ndarray, numbers: Sequence[np.ndarray]):
        super().__init__(rows.found, rows.dimensions)
        self.left_out, self.given_ends = rows.left_out, rows.given_ends
        self._rows, self._kept, self._value = rows, kept, numbers
        self._claim = rows.claim[kept]
        self.items = rows.items._replace(code=rows.items.code[kept])
        if rows.annotators is not None:
            self.annotators = rows.annotators._replace(code=rows.annotators.code[kept])

    @property
    def claim(self) -> np.ndarray:
        return np.asarray(self._claim)

    @property
    def sources(self) -> dict[str, str]:
        return self._rows.sources

    def look(self, d: int) -> np.ndarray:
        return self._value[d]

    def _numbers(self, d: int) -> np.ndarray:
        return self._value[d]

    def _rated_twice(self, places: tuple[str, str], annotator: str, item: str, row: int) -> DataError:
        raise AssertionError("no two rows claim the same any more")

    def where(self, row: int) -> str:
        return self._rows.where(int(self._kept[row]))


def settle(rows: Rows, time: np.ndarray | None, policy: str | None) -> tuple[Rows, np.ndarray | None, list[str]]:
    """Rows (and their times) without repetitions, and what is to be told; DataError if they contradict each other."""
    if policy is not None and policy not in POLICIES:
        raise SettingsError(f"duplicates must be one of {', '.join(POLICIES)}, not '{policy}'")
    order, twice = rows.by_claim if time is None else sorted_claims(rows.claim, time)
    if twice is None:
        return rows, time, []
    claim = rows.claim
    new = np.diff(claim[order]) != 0
    if time is not None:
        new |= np.diff(time[order]) != 0
    group = np.cumsum(np.concatenate([[False], new]))  # (rows,) in sorted order: which rows claim the same
    begin = np.flatnonzero(np.concatenate([[True], new]))
    size = np.diff(np.append(begin, len(order)))
    numbers = [rows.numbers(d)[order] for d in range(len(rows.dimensions))]
    other = np.zeros(len(order), dtype=bool)  # rows that say something else than the first of their group
    for number in numbers:
        first = number[begin][group]
        other |= ~((number == first) | (np.isnan(number) & np.isnan(first)))
    if other.any() and policy in (None, "error"):
        second = int(np.flatnonzero(other)[np.argmin(order[other])])
        raise _refusal(rows, time, int(order[begin[group[second]]]), int(order[second]))
    differs = np.bincount(group[other], minlength=len(begin)) > 0
    # Rows that claim the same lie in the order of the file, since sorting is stable.
    chosen = begin + size - 1 if policy == "last" else begin
    if policy == "mean":
        numbers = [_means(number, group, len(begin)) for number in numbers]
    else:
        numbers = [number[chosen] for number in numbers]
    kept = order[chosen]
    settled = SettledRows(rows, kept, numbers)
    return settled, None if time is None else time[kept], _said(size, differs, policy)


def _said(size: np.ndarray, differs: np.ndarray, policy: str | None) -> list[str]:
    copies = int((size[~differs] - 1).sum())
    told = []
    if copies:
        told.append(f"{copies} {'row that repeats' if copies == 1 else 'rows that repeat'} another one dropped.")
    if differs.any():
        places = int(differs.sum())
        how = {"first": "the first answer", "last": "the last answer", "mean": "the mean of the answers"}[policy or ""]
        told.append(f"{how.capitalize()} holds where somebody answered more than once ({places}).")
    return told


def _refusal(rows: Rows, time: np.ndarray | None, first: int, second: int) -> Exception:
    """About the first row of the file that contradicts one before it."""
    if time is not None:
        return problems.time_twice(*rows.places(first, second), rows.who(first), float(time[first]))
    return rows.refuse_twice(first, second)


def _means(number: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """(groups,) the mean of what was given; NaN where nothing was."""
    given = ~np.isnan(number)
    count = np.bincount(group[given], minlength=groups)
    total = np.bincount(group[given], weights=number[given], minlength=groups)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
