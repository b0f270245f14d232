"""How annotators went about it, which only the table itself shows: the order of their rows, and how long they took.

The containers of ratings sort their judgements, so that both are looked at while a table is read.
"""

from __future__ import annotations

import numpy as np

from unisono.data.reading import Hasty, Repeating
from unisono.io.reading.collecting import Collected, peek
from unisono.io.reading.columns import Roles
from unisono.io.reading.descriptors import unit_of_duration
from unisono.io.reading.table import Table
from unisono.maths.copies.repeats import find_repeats

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
