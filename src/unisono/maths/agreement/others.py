"""Each rater against the others on the same units: correlation and CCC with their mean, equal and neighbouring answers.

Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.agreement.chance_corrected import MOST_CATEGORIES
from unisono.maths.agreement.coded import Coded, at_least, sums_by
from unisono.maths.distinct import category_codes

ROUNDING = 1e-24  # squared deviations per rating that are no variation


class AgainstOthers(NamedTuple):
    """(R,) each; NaN where undefined."""

    pearson: np.ndarray
    ccc: np.ndarray
    exact: np.ndarray  # share of pairs with another rater's answer to the same unit that are equal; discrete scales
    adjacent: np.ndarray  # equal, or neighbours on the scale


def against_others(data: Coded) -> AgainstOthers:
    """All figures of the raters of `data`, in their order."""
    pearson, ccc = leave_one_out(data)
    exact, adjacent = equal_answers(data)
    return AgainstOthers(pearson, ccc, exact, adjacent)


def leave_one_out(data: Coded) -> tuple[np.ndarray, np.ndarray]:
    """(R,) Pearson and (R,) CCC of each rater with the mean of the others on the same units."""
    paired = at_least(data, 2)
    figures = np.full((2, data.R), np.nan)
    if paired.n:
        total = sums_by(paired.unit, paired.y, paired.I)
        mean = (total[paired.unit] - paired.y) / (paired.per_unit[paired.unit] - 1)
        place = np.searchsorted(data.raters, paired.raters)
        figures[:, place] = _grouped(paired.y, mean, paired.rater, paired.R)
    return figures[0], figures[1]


def equal_answers(data: Coded) -> tuple[np.ndarray, np.ndarray]:
    """(R,) shares of equal and (R,) of equal or neighbouring answers; NaN for continuous scales."""
    found = category_codes(data.y, MOST_CATEGORIES)
    if found is None:
        return np.full(data.R, np.nan), np.full(data.R, np.nan)
    values, code = found
    C = len(values) + 2  # a place below and above, so that every answer has two neighbours
    cell = data.unit.astype(np.int64) * C + code + 1
    count = np.bincount(cell, minlength=data.I * C)
    same, near = count[cell] - 1, count[cell - 1] + count[cell + 1]
    pairs = sums_by(data.rater, data.per_unit[data.unit] - 1.0, data.R)
    exact, adjacent = (sums_by(data.rater, hits, data.R) for hits in (same, same + near))
    some = np.where(pairs > 0, pairs, np.nan)
    return exact / some, adjacent / some


def _grouped(x: np.ndarray, y: np.ndarray, group: np.ndarray, groups: int) -> np.ndarray:
    """(2, groups) Pearson's correlation and CCC within each group of pairs of numbers."""
    size = np.maximum(np.bincount(group, minlength=groups), 1)
    mx, my = sums_by(group, x, groups) / size, sums_by(group, y, groups) / size
    x, y = x - mx[group], y - my[group]
    xx, yy, xy = (sums_by(group, w, groups) for w in (x * x, y * y, x * y))
    some = (xx > ROUNDING * size) & (yy > ROUNDING * size)
    pearson = np.where(some, xy / np.sqrt(np.where(some, xx * yy, 1.0)), np.nan)
    any_ = (xx + yy > ROUNDING * size) & (size > 1)
    ccc = np.where(any_, 2 * xy / np.where(any_, xx + yy + size * (mx - my) ** 2, 1.0), np.nan)
    return np.stack([np.clip(pearson, -1.0, 1.0), ccc])
