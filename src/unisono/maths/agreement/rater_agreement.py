"""Agreement of single raters: each against the others, every two raters, and severity, infit and outfit.

Each rater against the mean of the others on the same units: Pearson and CCC, equal and neighbouring answers. Every two
raters on the units both rated: CCC, Pearson, and Cohen's kappa with linear weights. Kappa with quadratic weights is the
CCC with divisor n, so it is not computed twice. Linear weights are sums of absolute differences, and an absolute
difference is the sum over the steps of the scale of whether it lies between two answers: kappa with linear weights is
made of the same sums of products, one set for each step.

Severity and fit: under y_ir = mu + unit_i + rater_r + rest, with components of variance s2_i, s2_r, s2_e, effects of
units and raters are their best linear predictions. Each answer is then predicted from the other answers to its unit:

    m = mu + rater_r + unit_i without r         v = s2_e + s2_i s2_e / (s2_e + (n_i - 1) s2_i)
    outfit = mean (y - m)^2 / v                 infit = sum (y - m)^2 / sum v

Both are about 1 for a rater like the others, larger for answers that scatter more, smaller for answers that scatter
less (which a rater who copies also shows). Outfit is moved more by a few answers far off.

Symbols: for raters a and b, n units of both, x and y their sums, xx, yy, xy sums of squares and products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from unisono.maths.agreement import chance_corrected, intraclass_reliability
from unisono.maths.agreement.agreement_bootstrap import Coded, at_least, sums_by
from unisono.maths.rating_values import category_codes

ROUNDING = 1e-24  # numerical: squared deviations per rating that are no variation


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
    found = category_codes(data.y, chance_corrected.MOST_CATEGORIES)
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


MOST_ROUNDS = 200  # numerical: of fitting
TOLERANCE = 1e-8  # numerical: standard deviations of all ratings


class RaterFit(NamedTuple):
    """(R,) each; NaN where undefined."""

    severity: np.ndarray  # rating units above the average rater; drawn to zero where answers are few
    infit: np.ndarray
    outfit: np.ndarray


def rater_fit(data: Coded, components: intraclass_reliability.Components | None = None) -> RaterFit:
    """Severity and fit of the raters of one dimension, given its variance components if they are known already."""
    components = intraclass_reliability.variance_components(data) if components is None else components
    found = [float(part[0]) / data.scale**2 for part in components]
    nothing = np.full(data.R, np.nan)
    if not np.isfinite(found).all() or found[2] <= 0:
        return RaterFit(nothing, nothing, nothing)
    s2_i, s2_r, s2_e = max(found[0], 0.0), max(found[1], 0.0), found[2]
    mu, rater = _effects(data, s2_i, s2_r, s2_e)
    left = data.y - mu - rater[data.rater]
    others = data.per_unit[data.unit] - 1
    shrink = s2_i / (s2_e + others * s2_i)
    error = left - shrink * (sums_by(data.unit, left, data.I)[data.unit] - left)
    variance = s2_e + s2_e * shrink
    paired = others > 0
    who, error, variance = data.rater[paired], error[paired], variance[paired]
    count = np.bincount(who, minlength=data.R)
    some = np.maximum(count, 1)
    outfit = sums_by(who, error**2 / variance, data.R) / some
    infit = sums_by(who, error**2, data.R) / np.where(count > 0, sums_by(who, variance, data.R), 1.0)
    return RaterFit(rater * data.scale, np.where(count > 0, infit, np.nan), np.where(count > 0, outfit, np.nan))


def _effects(data: Coded, s2_i: float, s2_r: float, s2_e: float) -> tuple[float, np.ndarray]:
    """Mean and best linear predictions of the effects of raters (R,), in turn with those of units until they stay.

    At the solution effects of raters, and those of units, sum to zero; moving their mean into mu after each round saves
    most of the rounds.
    """
    mu, rater = 0.0, np.zeros(data.R)
    n_i, n_r = data.per_unit, data.per_rater
    for _ in range(MOST_ROUNDS):
        before = mu + rater
        total = sums_by(data.unit, data.y - before[data.rater], data.I)
        unit = s2_i * total / (s2_e + s2_i * n_i)
        mu += float(unit.mean())
        unit -= unit.mean()
        rest = sums_by(data.rater, data.y - unit[data.unit], data.R)
        rater = s2_r * (rest - mu * n_r) / (s2_e + s2_r * n_r)
        mu = float(np.sum(rest - n_r * rater) / data.n)
        mu, rater = mu + float(rater.mean()), rater - rater.mean()
        if np.abs(mu + rater - before).max(initial=0.0) < TOLERANCE:
            break
    return mu, rater


LEAST_SHARED = 5  # convention: units that two raters must share before their figures count
DENSE_FROM = 0.04  # numerical: share of filled cells of units by raters from which dense products are faster
DENSE_RATERS = 1000  # numerical: memory
CELLS_AT_ONCE = 4_000_000  # numerical: memory
FLAT = 1e-20  # numerical: squared deviations per unit, in squared standard deviations of all ratings, that are rounding


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
    found = category_codes(data.y, chance_corrected.MOST_CATEGORIES)
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
