"""Variance components, intraclass correlations and reliability of means, for complete and incomplete ratings.

    y_ir = mu + unit_i + rater_r + rest_ir

Henderson's first method: sums of squares of unit means, rater means and ratings are set equal to what the model expects
of them. Complete ratings give the estimates of the analysis of variance. Units may carry weights w_i; the expectations
are those of the weighted sums, so that components stay unbiased whatever the weights:

    N = sum w_i n_i        n_r = sum over the units of r of w_i       v_r = the same of w_i^2
    T_0 = sum w_i y^2      T_i = sum w_i (sum_r y)^2 / n_i            T_r = sum (sum_i w_i y)^2 / n_r
    T_m = (sum w_i y)^2 / N

    ICC(A,1) = s2_i / (s2_i + s2_r + s2_e)                 ICC(C,1) = s2_i / (s2_i + s2_e)
    ICC(A,k) = s2_i / (s2_i + (s2_r + s2_e) / k)           ICC(C,k) = s2_i / (s2_i + s2_e / k)
    G(q,k)   = s2_i / (s2_i + q s2_r + s2_e / k)           k = I / sum 1/n_i
    q = 1/k - [sum_r (sum over its units of 1/n_i)^2 - sum_i 1/n_i] / (I (I - 1))

q is 0 where all units share their raters and 1/k where none do (Putka et al. 2008). A negative variance of units is
kept, as in the analysis of variance; a negative variance of error counts as none, so that nothing exceeds 1. Raters are
a sample of those who might have rated. Their mean ratings vary by M_r = s2_r + s2_e / n_r, and nu M_r over its
expectation is a chi-squared variable, so that what s2_r may be is drawn from (Weerahandi's generalised intervals)

    s2_r* = M_r nu / chi2(nu) - s2_e / n_r        R' = n^2 / sum n_r^2,  nu = R' - 1,  n_r = n / R'

How many raters the mean needs to follow the truth (Spearman and Brown):

    rho_k = k rho_1 / (1 + (k - 1) rho_1)        cor(mean of k, truth)^2 = rho_k

Reliability of an estimate that states the variance V of its own error: 1 - mean V / Sigma, Sigma the variance of the
truth over units. For a posterior mean, which is shrunk, Sigma is the variance of the estimates plus the mean of V; for
other estimates it is their variance.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from unisono.maths.agreement.agreement_bootstrap import Blocks, Coded, sums_by

RATERS_AT_ONCE = 256  # numerical: memory
MOST_SPARSE = 0.15  # numerical: share of pairs of rater and block with ratings up to which only those are multiplied
SINGULAR = 1e-9  # numerical: smallest singular value, as a share of the largest, of equations that have a solution


class Components(NamedTuple):
    """Variances, (B,) each or plain numbers; estimates may be negative."""

    unit: np.ndarray
    rater: np.ndarray
    residual: np.ndarray


class OneWay(NamedTuple):
    """Variance between units and within them, raters not told apart; (B,) each."""

    unit: np.ndarray
    within: np.ndarray


class WeightedSums(NamedTuple):
    """What both models need to know of weighted ratings; all (B,)."""

    N: np.ndarray
    units: np.ndarray  # sum of weights
    T0: np.ndarray
    Ti: np.ndarray
    Tm: np.ndarray
    k1: np.ndarray  # what T_m holds of the variance of units
    k3: np.ndarray  # and of the rest


def variance_components(data: Coded, blocks: Blocks | None = None, W: np.ndarray | None = None) -> Components:
    """Components in squared rating units for weights W (B, G) of blocks; by default one row, every weight one."""
    blocks, W = _all_alike(data, blocks, W)
    sums = weighted_sums(data, blocks, W)
    Tr, of_raters, of_units = _rater_sums(data, blocks, W)
    N = np.maximum(sums.N, 1)
    k1, k2, k3 = sums.k1, of_raters / N, sums.k3
    left = np.stack(
        [
            np.stack([sums.N - k1, sums.units - k2, sums.units - k3], axis=-1),
            np.stack([of_units - k1, sums.N - k2, of_units - k3], axis=-1),
            np.stack([sums.N - k1, sums.N - k2, sums.N - k3], axis=-1),
        ],
        axis=-2,
    )
    right = np.stack([sums.Ti - sums.Tm, Tr - sums.Tm, sums.T0 - sums.Tm], axis=-1)
    found = _solved(left / N[:, None, None], right / N[:, None]) * data.scale**2
    return Components(found[:, 0], found[:, 1], found[:, 2])


def one_way_components(data: Coded, blocks: Blocks | None = None, W: np.ndarray | None = None) -> OneWay:
    """Components of y = mu + unit + rest, where raters of one unit are strangers to those of another."""
    blocks, W = _all_alike(data, blocks, W)
    sums = weighted_sums(data, blocks, W)
    freedom = sums.N - sums.units
    within = np.where(freedom > 0, (sums.T0 - sums.Ti) / np.maximum(freedom, 1), np.nan)
    between = sums.N - sums.k1
    defined = between > SINGULAR * np.maximum(sums.N, 1)
    unit = (sums.Ti - sums.Tm - (sums.units - sums.k3) * within) / np.where(defined, between, 1.0)
    return OneWay(np.where(defined, unit, np.nan) * data.scale**2, within * data.scale**2)


def weighted_sums(data: Coded, blocks: Blocks, W: np.ndarray) -> WeightedSums:
    """Sums over units, weighed block by block."""
    n_i = data.per_unit.astype(np.float64)
    total = sums_by(data.unit, data.y, data.I)
    square = sums_by(data.unit, data.y**2, data.I)
    by_unit = (np.ones(data.I), n_i, total, total**2 / np.maximum(n_i, 1), square, n_i**2)
    by_block = np.stack([sums_by(blocks.of, values, blocks.G) for values in by_unit], axis=1)
    units, N, all_, Ti, T0, _ = (W @ by_block).T
    # Weights multiply the effect of a unit, so variances take their squares.
    of_units, of_rest = (W**2 @ by_block[:, [5, 1]]).T
    size = np.maximum(N, 1)
    return WeightedSums(N, units, T0, Ti, all_**2 / size, of_units / size, of_rest / size)


def _rater_sums(data: Coded, blocks: Blocks, W: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T_r, the sum of n_r^2, and the sum of v_r / n_r, (B,) each; a few hundred raters at a time."""
    # Sixteen bits are sorted much faster than thirty-two.
    code = data.rater.astype(np.uint16) if data.R <= 2**16 else data.rater
    order = np.argsort(code, kind="stable") if data.R > RATERS_AT_ONCE else np.arange(data.n)
    end = np.cumsum(data.per_rater)
    weights = np.ascontiguousarray(W.T)  # (G, B)
    squares = weights**2
    Tr, counts, spread = (np.zeros(len(W)) for _ in range(3))
    for first in range(0, data.R, RATERS_AT_ONCE):
        last = min(first + RATERS_AT_ONCE, data.R)
        rows = order[(end[first - 1] if first else 0) : end[last - 1]]
        cell = (data.rater[rows] - first).astype(np.int64) * blocks.G + blocks.of[data.unit[rows]]
        given, total = _by_rater(cell, data.y[rows], last - first, blocks.G)
        n_r = given @ weights
        some = np.where(n_r > 0, n_r, 1.0)
        Tr += np.sum((total @ weights) ** 2 / some, axis=0)
        counts += np.sum(n_r**2, axis=0)
        spread += np.sum((given @ squares) / some, axis=0)
    return Tr, counts, spread


def _by_rater(cell: np.ndarray, y: np.ndarray, R: int, G: int) -> tuple[Any, Any]:
    """Number and sum of the ratings (R, G) of each rater in each block; sparse where most raters know few blocks."""
    if len(cell) > MOST_SPARSE * R * G:
        given = np.bincount(cell, minlength=R * G).astype(np.float64)
        return given.reshape(R, G), sums_by(cell, y, R * G).reshape(R, G)
    where = np.divmod(cell, G)
    return csr_array((np.ones(len(cell)), where), shape=(R, G)), csr_array((y, where), shape=(R, G))


def _solved(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(B, 3) solutions, NaN where the ratings do not tell the components apart."""
    size = np.linalg.svd(left, compute_uv=False)
    defined = size[:, -1] > SINGULAR * np.maximum(size[:, 0], SINGULAR)
    safe = np.where(defined[:, None, None], left, np.eye(3))
    return np.where(defined[:, None], np.linalg.solve(safe, right[:, :, None])[:, :, 0], np.nan)


def _all_alike(data: Coded, blocks: Blocks | None, W: np.ndarray | None) -> tuple[Blocks, np.ndarray]:
    blocks = Blocks(np.zeros(data.I, dtype=np.int64), 1) if blocks is None else blocks
    return blocks, np.ones((1, blocks.G)) if W is None else W


# Names of McGraw and Wong (1996), and of Shrout and Fleiss (1979) for the same figure.
NAMES = {
    "ICC(1)": "ICC(1,1)",
    "ICC(k)": "ICC(1,k)",
    "ICC(A,1)": "ICC(2,1)",
    "ICC(A,k)": "ICC(2,k)",
    "ICC(C,1)": "ICC(3,1)",
    "ICC(C,k)": "ICC(3,k)",
    "G(q,k)": "",
}


LEAST_CHI2 = 1e-9  # numerical: of a chi-squared variable that something is divided by


class Design(NamedTuple):
    """How ratings are spread over units and raters."""

    k: float  # harmonic mean of the ratings per unit
    q: float  # weight of the variance of raters in the error of a unit's mean


class IccDraws(NamedTuple):
    """Figures for every row of weights, (B,) each."""

    icc: dict[str, np.ndarray]  # by the names above
    components: Components
    one_way: OneWay
    absolute: np.ndarray  # error variance of a single rating
    mean_error: np.ndarray  # and of the mean of a unit's ratings
    sem: np.ndarray  # standard error of measurement of a single rating, in rating units
    sem_mean: np.ndarray  # of the mean of a unit's ratings

    def with_raters(self, rater: np.ndarray, design: Design) -> IccDraws:
        """The same for raters of another variance (B,)."""
        more = rater - self.components.rater
        absolute = self.absolute + more
        mean_error = self.mean_error + design.q * more
        return _icc_draws(
            self.components._replace(rater=rater),
            self.one_way._replace(within=self.one_way.within + more),
            absolute,
            mean_error,
            design,
        )

    @property
    def truncated(self) -> np.ndarray:
        """(B,) whether a variance of error was estimated below zero, beyond rounding, and counts as none."""
        least = np.minimum(self.components.residual, self.components.rater + self.components.residual)
        return np.asarray(least < -1e-9 * np.abs(self.components.unit))


def design_of(data: Coded) -> Design:
    """The design of the ratings at hand."""
    if not data.I:
        return Design(float("nan"), float("nan"))
    share = 1 / data.per_unit
    k = data.I / float(share.sum())
    shared = float(np.sum(sums_by(data.rater, share[data.unit], data.R) ** 2) - share.sum())
    q = 1 / k - (shared / (data.I * (data.I - 1)) if data.I > 1 else 0.0)
    return Design(k, max(q, 0.0))


def icc_draws(data: Coded, design: Design, blocks: Blocks | None = None, W: np.ndarray | None = None) -> IccDraws:
    """All intraclass correlations for weights W (B, G) of blocks; by default for the ratings as they are."""
    found, one_way = variance_components(data, blocks, W), one_way_components(data, blocks, W)
    absolute = found.rater + found.residual
    mean_error = design.q * found.rater + found.residual / design.k
    if data.R == data.n > data.I:
        # Nobody rated twice: raters and the rest cannot be told apart, but their sum can.
        found = Components(one_way.unit, found.rater, found.residual)
        absolute, mean_error = one_way.within, one_way.within / design.k
    return _icc_draws(found, one_way, absolute, mean_error, design)


def _icc_draws(
    found: Components, one_way: OneWay, absolute: np.ndarray, mean_error: np.ndarray, design: Design
) -> IccDraws:
    return IccDraws(
        _correlations(found, one_way, absolute, found.residual, mean_error, design.k),
        found,
        one_way,
        absolute,
        mean_error,
        np.sqrt(np.maximum(absolute, 0.0)),
        np.sqrt(np.maximum(mean_error, 0.0)),
    )


def other_raters(data: Coded, rater: np.ndarray, residual: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Variances (B, ...) of raters as other raters may show them; `chance` (B,) is from `chance_of_raters`.

    Where raters and the rest cannot be told apart, or there is one rater, the variance stays as it is.
    """
    effective = _effective_raters(data)
    if effective <= 1 or data.n == data.R:
        return rater
    noise = residual * (effective / data.n)
    factor = chance.reshape(-1, *[1] * (rater.ndim - 1))
    return np.asarray((rater + noise) * factor - noise)


def chance_of_raters(data: Coded, rows: int, drawn: slice, rng: np.random.Generator) -> np.ndarray:
    """(rows,) nu / chi2(nu) for the rows that are draws, 1 for the others."""
    chance, freedom = np.ones(rows), _effective_raters(data) - 1
    count = len(chance[drawn])
    if freedom > 0 and count:
        # Tiny values would only make infinite what is enormous already.
        chance[drawn] = freedom / np.maximum(rng.chisquare(freedom, size=count), LEAST_CHI2)
    return chance


def _effective_raters(data: Coded) -> float:
    """As many equally busy ones would know as much of the variance between raters."""
    return float(data.n**2 / np.sum(data.per_rater.astype(float) ** 2)) if data.n else 0.0


def _correlations(
    found: Components,
    one_way: OneWay,
    absolute: np.ndarray,
    consistent: np.ndarray,
    mean_error: np.ndarray,
    k: float,
) -> dict[str, np.ndarray]:
    return {
        "ICC(1)": share_of(one_way.unit, one_way.within),
        "ICC(k)": share_of(one_way.unit, one_way.within / k),
        "ICC(A,1)": share_of(found.unit, absolute),
        "ICC(A,k)": share_of(found.unit, absolute / k),
        "ICC(C,1)": share_of(found.unit, consistent),
        "ICC(C,k)": share_of(found.unit, consistent / k),
        "G(q,k)": share_of(found.unit, mean_error),
    }


def share_of(part: np.ndarray, error: np.ndarray) -> np.ndarray:
    """part / (part + error), never above 1; NaN where nothing varies."""
    whole = part + np.maximum(error, 0.0)
    return np.asarray(np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan))


def raters_for(single: float, correlation: float) -> int | None:
    """The fewest raters whose mean correlates so far with the truth; None where a single one tells nothing of it."""
    if not np.isfinite(single) or single <= 0 or not 0 <= correlation < 1:
        return None
    wanted = correlation**2
    needed = wanted * (1 - single) / (single * (1 - wanted))
    # A whole number that is missed by rounding alone is reached.
    return max(1, math.ceil(needed - 1e-9))


def estimate_reliability(
    mean: np.ndarray, variance: np.ndarray, blocks: Blocks, W: np.ndarray, *, shrunk: bool
) -> np.ndarray:
    """(B,) between 0 and 1, for estimates (S,) with error variances (S,) and weights W (B, G) of blocks of units."""
    away = mean - mean.mean() if len(mean) else mean
    by_unit = (np.ones(len(mean)), away, away**2, variance)
    n, total, square, error = (W @ np.stack([sums_by(blocks.of, v, blocks.G) for v in by_unit], axis=1)).T
    size = np.maximum(n, 1)
    error = error / size
    spread = (square - total**2 / size) / np.maximum(n - 1, 1)
    truth = spread + error if shrunk else spread
    defined = (n > 1) & (truth > 0)
    return np.where(defined, np.clip(1 - error / np.where(defined, truth, 1.0), 0.0, 1.0), np.nan)
