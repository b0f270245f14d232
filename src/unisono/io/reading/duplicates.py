"""Somebody rated the same thing twice: copies of a row are dropped, and what differs is settled as the user says.

`error` refuses, `first` and `last` keep one of the rows, `mean` averages what was given, dimension by dimension.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unisono.errors import DataError, SettingsError
from unisono.io.reading import problems
from unisono.io.reading.rows import Rows, sorted_claims

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
    claim = rows.claim
    order, twice = sorted_claims(claim, time)
    if twice is None:
        return rows, time, []
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
