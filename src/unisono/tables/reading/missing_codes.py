"""Codes for missing answers: -99, 999, or 9 on a scale from 1 to 4, as survey tools and SPSS write them.

refuse_codes(rows)        # DataError where a value stands apart as such codes do, and nobody said what it means

A code lies beyond a gap that no answer is in, at one end of the answers. A number that is often a code needs a small
gap, any other a wide one and several annotators. What a scale in use may hold (9 on 1 to 7, -1 on -1 to 1) is no code,
unless several dimensions show the same gap.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.tables.labels import listed
from unisono.tables.reading import label_and_number_columns, table_rows

_SMALL = (-9, -8, -7, -1, 8, 9)
_LARGE = (77, 88, 97, 98, 99, *(int(str(digit) * n) for digit in (7, 8, 9) for n in (3, 4, 5)), 997, 998, 9998)
CODES = frozenset((*_SMALL, *_LARGE, *(-code for code in _LARGE)))
MOST_CODES = 4  # different values at one end: refused, not applicable, do not know, not seen
ENOUGH = 20  # answers that show which numbers a scale has; of fewer, 8 and 9 may be answers that were rare
SLIDER = 10  # the highest answer from which on no scale begins at -1
WIDE = 5.0  # ranges of all other answers that lie between them and a value that is no usual code
REPEATED = 3  # answers of that value, by two annotators: fewer are typing errors


class _Apart(NamedTuple):
    """Values of one dimension that stand apart from all others."""

    codes: list[float]
    number: int
    rest: tuple[float, float]  # from where to where the others reach
    row: int


def refuse_codes(rows: table_rows.Rows) -> None:
    """Raises a DataError where answers look like codes for missing, in dimensions without a scale that was given."""
    free = [d for d in range(len(rows.dimensions)) if d not in rows.given_ends]
    series = rows.time is not None
    found = {d: apart for d in free if (apart := _apart(rows, d, series)) is not None}
    if not found and not series:
        found = _in_several(rows, free)
    if not found:
        return
    first = min(found, key=lambda d: found[d].row)
    row = found[first].row
    cell = label_and_number_columns.as_label(rows.value[first][row])
    raise _looks_missing(rows.where(row), rows.sources[rows.dimensions[first]], cell, first, found, rows.dimensions)


def refuse_tallied_codes(
    source: str, dimensions: Sequence[str], answers: Mapping[int, tuple[np.ndarray, np.ndarray]]
) -> None:
    """The same of items, from the different `answers` of dimensions, in order, and how often each was given."""
    found = {}
    for d, (different, times) in answers.items():
        if codes := _at_either_end(different, times, series=False):
            rest, number = different[~np.isin(different, codes)], int(times[np.isin(different, codes)].sum())
            found[d] = _Apart(sorted(codes), number, (float(rest[0]), float(rest[-1])), 0)
    if found:
        first = next(iter(found))
        cell = label_and_number_columns.as_label(found[first].codes[0])
        raise _looks_missing(source, dimensions[first], cell, first, found, dimensions)


def _looks_missing(
    place: str, column: str, cell: str, first: int, found: Mapping[int, _Apart], dimensions: Sequence[str]
) -> DataError:
    codes = list(dict.fromkeys(label_and_number_columns.as_label(code) for one in found.values() for code in one.codes))
    widened = {d: (min(one.rest[0], *one.codes), max(one.rest[1], *one.codes)) for d, one in found.items()}
    number, (low, high) = found[first].number, found[first].rest
    others = [dimensions[d] for d in found if d != first]
    many = f"{number} answers are" if number > 1 else "it is"
    also = f", and likewise in {listed(others)}" if others else ""
    scale = _scale(widened, dimensions)
    return DataError(
        f"{place}: {column} is {cell}, where all others are from {low:g} to {high:g} ({many} such a number{also}). "
        f"If it means missing, say --missing {','.join(codes)}; if it is an answer, say --scale {scale}."
    )


def _scale(widened: Mapping[int, tuple[float, float]], dimensions: Sequence[str]) -> str:
    said = [f"{low:g}:{high:g}" for low, high in widened.values()]
    if len(dimensions) == 1:
        return said[0]
    return shlex.quote(",".join(f"{dimensions[d]}={ends}" for d, ends in zip(widened, said, strict=True)))


def _apart(rows: table_rows.Rows, d: int, series: bool) -> _Apart | None:
    value = rows.value[d]
    known = value[~np.isnan(value)]
    if not len(known):
        return None
    ends = float(known.min()), float(known.max())
    if not (CODES & {*ends} or _far(known, ends)):
        return None  # nothing to look at closely, which takes sorting
    different, times = np.unique(known, return_counts=True)
    codes = _at_either_end(different, times, series)
    if not codes:
        who = None if rows.annotators is None else rows.annotators.code
        codes = _odd_value(value, different, who)
    return _found(value, codes) if codes else None


def _at_either_end(different: np.ndarray, times: np.ndarray, series: bool) -> list[float]:
    codes: list[float] = []
    for sign in (1, -1):
        rest = ~np.isin(different, codes)
        codes += _beyond(different[rest], times[rest], sign, series)
    return codes


def _far(known: np.ndarray, ends: tuple[float, float]) -> bool:
    """Whether one end lies far from all else."""
    return any(
        len(others := known[known != end]) and abs(others - end).min() >= WIDE * max(np.ptp(others), 1.0)
        for end in ends
    )


def _found(value: np.ndarray, codes: Sequence[float]) -> _Apart:
    is_code = np.isin(value, codes)
    rest = value[~is_code & ~np.isnan(value)]
    return _Apart(sorted(codes), int(is_code.sum()), (float(rest.min()), float(rest.max())), int(np.argmax(is_code)))


def _beyond(different: np.ndarray, times: np.ndarray, sign: int, series: bool) -> list[float]:
    """Usual codes at one end that stand apart from the values further in."""
    order = slice(None, None, sign)
    value, times = different[order], times[order]
    for n in range(min(MOST_CODES, len(value) - 2), 0, -1):
        codes, rest = value[-n:], value[:-n]
        if CODES.issuperset(codes.tolist()) and _stands_apart(float(codes[0]), rest[order], times[:-n].sum(), series):
            return [float(code) for code in codes]
    return []


def _stands_apart(code: float, rest: np.ndarray, answers: int, series: bool) -> bool:
    """Whether a usual code is no answer beside `rest`, all others in order."""
    low, high = float(rest[0]), float(rest[-1])
    width, hole = high - low, float(np.diff(rest).max())
    gap = code - high if code > high else low - code
    outside = code < 0 <= low  # only scales around zero have negative numbers
    if abs(code) > 10:
        far = gap >= 2 * width and abs(code) >= 4 * max(-low, high)
        return far or (outside and gap > hole and 2 * gap >= width)
    if series or answers < ENOUGH or np.any(rest != np.round(rest)):
        return False
    if code > 0:
        return low >= 0 and hole == 1 and gap >= max(4.0, width)
    return outside and (high > -code or gap >= 2 * width) and (gap > hole or high >= SLIDER)


def _odd_value(value: np.ndarray, different: np.ndarray, annotator: np.ndarray | None) -> list[float]:
    """A whole number that is no usual code, far from all others, given again and again by several annotators."""
    for end, rest in ((different[-1], different[:-1]), (different[0], different[1:])):
        if len(rest) < 2 or end != round(end):
            continue
        given = value == end
        several = annotator is None or len(np.unique(annotator[given])) > 1
        if several and given.sum() >= REPEATED and abs(rest - end).min() >= WIDE * np.ptp(rest):
            return [float(end)]
    return []


def _in_several(rows: table_rows.Rows, free: Sequence[int]) -> dict[int, _Apart]:
    """Dimensions on which one and the same small code lies beyond a gap, above a scale of which all else is in use."""
    found: dict[float, dict[int, _Apart]] = {}
    for d in free:
        value = rows.value[d]
        if np.fmax.reduce(value, initial=-np.inf) not in (8.0, 9.0):
            continue
        different, times = np.unique(value[~np.isnan(value)], return_counts=True)
        if len(different) < 4 or times[:-1].sum() < ENOUGH:
            continue
        steps = np.diff(different)
        if steps[-1] >= 2 and (steps[:-1] == 1).all() and different[0] in (0.0, 1.0):
            found.setdefault(float(different[-1]), {})[d] = _found(value, [float(different[-1])])
    return next((dims for dims in found.values() if len(dims) > 1), {})
