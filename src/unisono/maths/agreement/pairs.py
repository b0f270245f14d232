"""Agreement of every two raters on the units both rated: CCC, Pearson, and Cohen's kappa with linear weights.

Cohen's kappa with quadratic weights is the CCC with divisor n, so it is not computed twice. Linear weights are sums of
absolute differences, and an absolute difference is the sum over the steps of the scale of whether it lies between two
answers: kappa with linear weights is made of the same sums of products, one set for each step.

Symbols: for raters a and b, n units of both, x and y their sums, xx, yy, xy sums of squares and products.
Imports NumPy, SciPy and the sibling modules alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from unisono.maths.agreement.chance_corrected import MOST_CATEGORIES
from unisono.maths.agreement.coded import Coded, sums_by
from unisono.maths.distinct import category_codes

LEAST_SHARED = 5  # units that two raters must share before their figures count
DENSE_FROM = 0.04  # share of filled cells of the table of units and raters from which dense products are faster
DENSE_RATERS = 1000
CELLS_AT_ONCE = 4_000_000
FLAT = 1e-20  # squared deviations per unit, in squared standard deviations of all ratings, that are rounding


class PairFigures(NamedTuple):
    """Figures of pairs of raters, in no particular shape; NaN where undefined."""

    shared: np.ndarray  # units that both rated
    ccc: np.ndarray
    pearson: np.ndarray
    kappa: np.ndarray  # linear weights; NaN for continuous scales


class Spread(NamedTuple):
    """How a figure varies over pairs."""

    mean: float
    median: float
    least: float
    most: float
    pairs: int


class Sums(NamedTuple):
    n: np.ndarray
    x: np.ndarray
    y: np.ndarray
    xx: np.ndarray
    yy: np.ndarray
    xy: np.ndarray


class PairMeetings(NamedTuple):
    """Where raters meet who share units enough."""

    key: np.ndarray  # (P,) pairs a < b as a R + b, in order
    one: np.ndarray  # (N,) row of a's rating in each meeting
    other: np.ndarray  # (N,) of b's
    pair: np.ndarray  # (N,) which pair it is


def pair_meetings(data: Coded) -> PairMeetings | None:
    """The meetings of frequent pairs, the same for dimensions with the same units and raters; None: not needed."""
    if _is_dense(data):
        return None
    key = _frequent_pairs(data)
    return PairMeetings(key, *_meetings(data, key))


def pair_figures(data: Coded, met: PairMeetings | None = None, *, matrix: bool = False) -> PairFigures:
    """Every pair of raters once, (P,) each, or matrices (R, R) with NaN on the diagonal; `met` if known already."""
    if _is_dense(data) or matrix:
        every = _figures(data, lambda y: _dense_sums(data, y))
        if matrix:
            return _without_diagonal(every)
        upper = np.triu_indices(data.R, 1)
        shared = every.shared[upper] > 0
        return PairFigures(*(figure[upper][shared] for figure in every))
    met = pair_meetings(data) if met is None else met
    assert met is not None
    return _sparse_figures(data, met)


def spread_over_pairs(figure: np.ndarray) -> Spread:
    """Mean, median and ends over the pairs that have this figure."""
    known = figure[np.isfinite(figure)]
    if not len(known):
        nothing = float("nan")
        return Spread(nothing, nothing, nothing, nothing, 0)
    return Spread(float(known.mean()), float(np.median(known)), float(known.min()), float(known.max()), len(known))


def _is_dense(data: Coded) -> bool:
    return data.R <= DENSE_RATERS and data.n > DENSE_FROM * data.I * data.R


def _figures(data: Coded, sums_of: Callable[[np.ndarray], Sums]) -> PairFigures:
    """Figures from a function that gives the sums of any numbers attached to the ratings."""
    sums = sums_of(data.y)
    enough = sums.n >= LEAST_SHARED
    n = np.where(enough, sums.n, 1.0)
    cov = sums.xy - sums.x * sums.y / n
    vx, vy = sums.xx - sums.x**2 / n, sums.yy - sums.y**2 / n
    apart = vx + vy + (sums.x - sums.y) ** 2 / n
    return PairFigures(
        sums.n,
        _ratio(2 * cov, apart, enough & (vx + vy > FLAT * n)),
        np.clip(_ratio(cov, np.sqrt(np.maximum(vx * vy, 0.0)), enough & (vx > FLAT * n) & (vy > FLAT * n)), -1, 1),
        _linear_kappa(data, sums_of, n, enough),
    )


def _linear_kappa(data: Coded, sums_of: Callable[[np.ndarray], Sums], n: np.ndarray, enough: np.ndarray) -> np.ndarray:
    found = category_codes(data.y, MOST_CATEGORIES)
    if found is None:
        return np.full(n.shape, np.nan)
    values, code = found
    beyond_chance, by_chance = np.zeros(n.shape), np.zeros(n.shape)
    for c, step in enumerate(np.diff(values)):
        sums = sums_of(code <= c)
        x, y = sums.x / n, sums.y / n
        beyond_chance += step * 2 * (sums.xy / n - x * y)
        by_chance += step * (x + y - 2 * x * y)
    return _ratio(beyond_chance, by_chance, enough & (by_chance > 0))


def _dense_sums(data: Coded, y: np.ndarray) -> Sums:
    """(R, R) sums by products of tables of units and raters, some units at a time. Truth values are counted."""
    # Counts below 2^24 are exact in single precision, which is twice as fast.
    counting = y.dtype == bool
    kind = np.float32 if counting else np.float64
    n, x, xx, xy = (np.zeros((data.R, data.R)) for _ in range(4))
    order = np.arange(data.n) if _in_order(data) else np.lexsort((data.rater, data.unit))
    end = np.cumsum(data.per_unit)
    step = max(CELLS_AT_ONCE // max(data.R, 1), 1)
    for first in range(0, data.I, step):
        last = min(first + step, data.I)
        rows = order[(end[first - 1] if first else 0) : end[last - 1]]
        cell = data.unit[rows] - first, data.rater[rows]
        given, table = np.zeros((last - first, data.R), dtype=kind), np.zeros((last - first, data.R), dtype=kind)
        given[cell], table[cell] = 1.0, y[rows]
        x += table.T @ given
        xy += table.T @ table
        if not counting:  # truth values are their own squares, and how many there are is known by then
            n += given.T @ given
            xx += (table**2).T @ given
    return Sums(n, x, x.T, xx, xx.T, xy)


def _sparse_figures(data: Coded, met: PairMeetings) -> PairFigures:
    """Pairs that share units enough, from the ratings in which they meet."""
    P = len(met.key)
    n = np.bincount(met.pair, minlength=P).astype(np.float64)

    def sums_of(y: np.ndarray) -> Sums:
        x, z = y[met.one].astype(np.float64), y[met.other].astype(np.float64)
        one, other, both = (sums_by(met.pair, product, P) for product in (x, z, x * z))
        if y.dtype == bool:  # truth values are their own squares
            return Sums(n, one, other, one, other, both)
        return Sums(n, one, other, sums_by(met.pair, x * x, P), sums_by(met.pair, z * z, P), both)

    return _figures(data, sums_of)


def _frequent_pairs(data: Coded) -> np.ndarray:
    """Pairs a < b of raters who share units enough, as a R + b, in order; counted a few raters at a time."""
    given = csr_array((np.ones(data.n, dtype=np.int32), (data.unit, data.rater)), shape=(data.I, data.R))
    meetings = sums_by(data.rater, data.per_unit[data.unit].astype(np.float64), data.R)
    part = (np.cumsum(meetings) // CELLS_AT_ONCE).astype(np.int64)
    by_rater = given.T.tocsr()
    found = []
    for p in np.unique(part):
        some = np.flatnonzero(part == p)
        met = (by_rater[some] @ given).tocoo()
        a, b = some[met.row], met.col.astype(np.int64)
        found.append((a * data.R + b)[(met.data >= LEAST_SHARED) & (a < b)])
    return np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)


def _meetings(data: Coded, key: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every meeting of the pairs `key` in a unit: the rows of the two ratings, and which pair it is."""
    order = np.arange(data.n) if _in_order(data) else np.lexsort((data.rater, data.unit))
    last = np.repeat(np.cumsum(data.per_unit), data.per_unit)
    first = np.arange(data.n)
    found = []
    for step in range(1, int(data.per_unit.max(initial=0))):
        first = first[first + step < last[first]]
        one, other = order[first], order[first + step]
        met = data.rater[one].astype(np.int64) * data.R + data.rater[other]
        pair = np.minimum(np.searchsorted(key, met), max(len(key) - 1, 0))
        keep = key[pair] == met if len(key) else np.zeros(len(met), dtype=bool)
        found.append((one[keep], other[keep], pair[keep]))
    nothing = np.zeros(0, dtype=np.int64)
    one, other, pair = (np.concatenate(each) for each in zip(*found, strict=True)) if found else (nothing,) * 3
    return one, other, pair


def _in_order(data: Coded) -> bool:
    step = np.diff(data.unit)
    return bool(np.all((step > 0) | ((step == 0) & (np.diff(data.rater) > 0))))


def _ratio(above: np.ndarray, below: np.ndarray, defined: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(defined, above / np.where(defined, below, 1.0), np.nan))


def _without_diagonal(every: PairFigures) -> PairFigures:
    off = np.where(np.eye(len(every.shared), dtype=bool), np.nan, 1.0)
    return PairFigures(every.shared, *(figure * off for figure in every[1:]))
