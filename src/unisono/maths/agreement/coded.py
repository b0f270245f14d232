"""Ratings of one dimension as the other modules want them: known numbers alone, codes without holes, standard units.

Symbols: y rating, i unit, r rater, n_i and n_r their ratings, n ratings, I units, R raters.
Imports NumPy alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Coded(NamedTuple):
    """Known ratings end to end."""

    y: np.ndarray  # (n,) less `center`, divided by `scale`
    unit: np.ndarray  # (n,) codes 0..I-1
    rater: np.ndarray  # (n,) codes 0..R-1
    per_unit: np.ndarray  # (I,) ratings of each unit, at least one
    per_rater: np.ndarray  # (R,)
    units: np.ndarray  # (I,) the code each unit came with
    raters: np.ndarray  # (R,)
    center: float
    scale: float  # standard deviation; 1 if all ratings are equal

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def I(self) -> int:  # noqa: E743
        return len(self.per_unit)

    @property
    def R(self) -> int:
        return len(self.per_rater)

    @property
    def flat(self) -> bool:
        """Whether all ratings are equal."""
        return not self.y.any()


def coded(y: np.ndarray, unit: np.ndarray, rater: np.ndarray) -> Coded:
    """Ratings y (n,) with NaN where missing, of units (n,) by raters (n,), both coded by integers from zero on."""
    known = ~np.isnan(y)
    if not known.all():
        y, unit, rater = y[known], unit[known], rater[known]
    unit, per_unit, units = dense(unit)
    rater, per_rater, raters = dense(rater)
    center, scale = (float(y.mean()), float(y.std())) if len(y) and y.min() < y.max() else (float(y[:1].sum()), 1.0)
    return Coded((y - center) / scale, unit, rater, per_unit, per_rater, units, raters, center, scale)


def at_least(data: Coded, least: int) -> Coded:
    """The ratings of units that have so many; numbers stay in the same units of measurement."""
    enough = data.per_unit >= least
    if enough.all():
        return data
    keep = enough[data.unit]
    unit, per_unit, units = dense(data.unit[keep])
    rater, per_rater, raters = dense(data.rater[keep])
    named = data.units[units], data.raters[raters]
    return Coded(data.y[keep], unit, rater, per_unit, per_rater, *named, data.center, data.scale)


def dense(code: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes without holes, the size of each group, and the code each group had."""
    if not len(code):
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, nothing
    count = np.bincount(code)
    used = np.flatnonzero(count)
    if len(used) == len(count):
        return code, count, used
    place = np.zeros(len(count), dtype=np.int32)
    place[used] = np.arange(len(used))
    return place[code], count[used], used


def sums_by(group: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """(size,) sums of the values of each group."""
    return np.bincount(group, weights=values, minlength=size)
