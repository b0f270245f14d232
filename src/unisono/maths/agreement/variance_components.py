"""Variance of ratings between units, between raters, and the rest, for any pattern of missing ratings.

    y_ir = mu + unit_i + rater_r + rest_ir

Henderson's first method: sums of squares of unit means, rater means and ratings are set equal to what the model expects
of them. Complete ratings give the estimates of the analysis of variance. Units may carry weights w_i; the expectations
are those of the weighted sums, so that components stay unbiased whatever the weights:

    N = sum w_i n_i        n_r = sum over the units of r of w_i       v_r = the same of w_i^2
    T_0 = sum w_i y^2      T_i = sum w_i (sum_r y)^2 / n_i            T_r = sum (sum_i w_i y)^2 / n_r
    T_m = (sum w_i y)^2 / N

Imports NumPy, SciPy's sparse matrices and the sibling modules alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from unisono.maths.agreement.bootstrap import Blocks
from unisono.maths.agreement.coded import Coded, sums_by

RATERS_AT_ONCE = 256
MOST_SPARSE = 0.15  # numerical: share of pairs of rater and block with ratings up to which only those are multiplied
SINGULAR = 1e-9  # smallest singular value, as a share of the largest, of equations that have a solution


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
