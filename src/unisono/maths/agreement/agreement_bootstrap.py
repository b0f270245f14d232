"""Ratings of one dimension in standard units, and intervals by drawing units again: sums over units are weighted.

Ratings are known numbers alone, with codes without holes. Units that belong together (the frames of a stretch of a
recording) are drawn together, as blocks. Where there are more than `MOST_BLOCKS` units they are dealt out to so many
blocks at random: the sum over drawn blocks varies as the sum over drawn units would, and the cost no longer grows with
the number of units.

Raters are few, and drawing them again would draw the same ones: what other raters would have given is known from how
far these differ (`intraclass_reliability.other_raters`). A figure then has two sets of draws: with the same raters,
from which bias and skewness are told, and with other raters, of which the ends are quantiles. Ends are widened as
Student's t is for so many blocks: the spread of few drawn blocks is too small.

Symbols: y rating, i unit, r rater, n_i and n_r their ratings, n ratings, I units, R raters, G blocks of units, B rows
of weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit


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


MOST_BLOCKS = 500  # numerical: of the bootstrap
LEAST_BLOCKS = 5  # convention: below, draws repeat each other and an interval would pretend
LEAST_DEFINED = 0.5  # convention: share of draws in which a figure must be defined


class Blocks(NamedTuple):
    """What is drawn together."""

    of: np.ndarray  # (I,) block of each unit
    G: int


class Draws(NamedTuple):
    """P figures for every row of weights, (B, P) each."""

    same: np.ndarray  # of the raters at hand
    other: np.ndarray  # of other raters, where a row is a draw


class Interval(NamedTuple):
    """A figure with its interval; NaN where undefined."""

    value: float
    low: float
    high: float


def make_blocks(cluster: np.ndarray, rng: np.random.Generator) -> Blocks:
    """Blocks of units that are drawn together, cluster (I,) any integers; many clusters are dealt out at random."""
    used, of = np.unique(cluster, return_inverse=True)
    if len(used) <= MOST_BLOCKS:
        return Blocks(of, len(used))
    deal = rng.permutation(len(used)) % MOST_BLOCKS
    return Blocks(deal[of], MOST_BLOCKS)


def bootstrap_weights(G: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """(1 + draws + G, G) weights of blocks: as they are, drawn with replacement, and each block left out once.

    Without draws only the first row.
    """
    if not draws:
        return np.ones((1, G))
    drawn = rng.multinomial(G, np.full(G, 1 / G), size=draws).astype(np.float64)
    return np.concatenate([np.ones((1, G)), drawn, 1.0 - np.eye(G)])


def bootstrap(
    figures: Callable[[np.ndarray], np.ndarray | Draws], G: int, draws: int, level: float, rng: np.random.Generator
) -> list[Interval]:
    """Intervals of P figures. `figures` takes weights (B, G) and gives (B, P), or both kinds of draws."""
    enough = draws > 0 and G >= LEAST_BLOCKS
    W = bootstrap_weights(G, draws if enough else 0, rng)
    found = figures(W)
    same, other = found if isinstance(found, Draws) else (found, found)
    if not enough:
        return [Interval(float(value), float("nan"), float("nan")) for value in same[0]]
    columns = ((same[:, p], other[1 : 1 + draws, p]) for p in range(same.shape[1]))
    return [
        bca_interval(float(one[0]), one[1 : 1 + draws], one[1 + draws :], level, quantiles_of=them)
        for one, them in columns
    ]


def bca_interval(
    value: float, drawn: np.ndarray, left_out: np.ndarray, level: float, *, quantiles_of: np.ndarray | None = None
) -> Interval:
    """Efron's interval, corrected for bias and acceleration, from figures (B,) of draws and (G,) with one left out.

    Ends are quantiles of the draws, or of others (B,) that spread more for what these leave out.
    """
    draws, other = len(drawn), drawn if quantiles_of is None else quantiles_of
    defined = np.isfinite(drawn) & np.isfinite(other)
    drawn, other = drawn[defined], other[defined]
    if not np.isfinite(value) or len(drawn) < max(LEAST_DEFINED * draws, 2):
        return Interval(value, float("nan"), float("nan"))
    below = np.mean(drawn < value) + np.mean(drawn == value) / 2
    z0 = ndtri(np.clip(below, 1 / (len(drawn) + 1), 1 - 1 / (len(drawn) + 1)))
    z = z0 + np.array([-1.0, 1.0]) * reach(level, len(left_out))
    share = ndtr(z0 + z / np.maximum(1 - acceleration(left_out) * z, 0.1))
    low, high = np.quantile(other, share)
    # Draws are of these units, so the interval may miss the value by a hair where all draws are alike.
    return Interval(value, float(min(low, value)), float(max(high, value)))


def reach(level: float, G: int) -> float:
    """Standard deviations to the ends of an interval from G blocks: Student's t on the spread that n - 1 would give."""
    if G < LEAST_BLOCKS:
        return float(ndtri((1 + level) / 2))
    return float(np.sqrt(G / (G - 1)) * stdtrit(G - 1, (1 + level) / 2))


def acceleration(left_out: np.ndarray) -> float:
    """Skewness of the influence of single blocks, over six."""
    away = np.nanmean(left_out) - left_out if np.isfinite(left_out).any() else np.zeros(1)
    away = away[np.isfinite(away)]
    spread = np.sum(away**2)
    return float(np.sum(away**3) / (6 * spread**1.5)) if spread > 0 else 0.0
