"""Gwet's AC2 with quadratic weights, for scales on which one answer dominates: alpha collapses there, AC2 does not.

    AC2 = (p_a - p_e) / (1 - p_e)
    w_ab = 1 - (a - b)^2 / range^2             p_e = sum_ab w_ab / (C (C - 1)) sum_c p_c (1 - p_c)

p_a is the mean over units with two ratings or more of the weight of two of their ratings, p_c the mean over units of
the share of answer c. Pairs are never formed: squared differences within a unit are a sum of squares.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.agreement.bootstrap import Blocks
from unisono.maths.agreement.coded import Coded, sums_by
from unisono.maths.distinct import category_codes, sorted_codes

MOST_CATEGORIES = 21  # a scale with more distinct answers is continuous here


def dominant_share(data: Coded) -> float:
    """The share of the most frequent answer."""
    return float(np.bincount(sorted_codes(data.y)[1]).max() / data.n) if data.n else float("nan")


def gwet_ac2(data: Coded, blocks: Blocks | None = None, W: np.ndarray | None = None) -> np.ndarray:
    """(B,) AC2 for weights W (B, G) of blocks of units; NaN for continuous scales and where all answers are equal."""
    if blocks is None or W is None:
        blocks, W = Blocks(np.zeros(data.I, dtype=np.int64), 1), np.ones((1, 1))
    found = category_codes(data.y, MOST_CATEGORIES)
    if found is None or len(found[0]) < 2:
        return np.full(len(W), np.nan)
    values, code = found
    C, spread = len(values), (values[-1] - values[0]) ** 2
    weights = C**2 - 2 * (C * np.sum(values**2) - np.sum(values) ** 2) / spread
    answered, units = _answers(data, code, C, blocks)
    share = (W @ answered) / np.maximum(W @ units, 1)[:, None]
    by_chance = weights / (C * (C - 1)) * np.sum(share * (1 - share), axis=1)
    observed = _observed(data, spread, blocks, W)
    defined = by_chance < 1
    return np.where(defined, (observed - by_chance) / np.where(defined, 1 - by_chance, 1.0), np.nan)


def _answers(data: Coded, code: np.ndarray, C: int, blocks: Blocks) -> tuple[np.ndarray, np.ndarray]:
    """(G, C) sums over units of the share of each answer, and (G,) units."""
    cell = blocks.of[data.unit] * C + code
    answered = np.bincount(cell, weights=1 / data.per_unit[data.unit], minlength=blocks.G * C)
    return answered.reshape(blocks.G, C), np.bincount(blocks.of, minlength=blocks.G).astype(np.float64)


def _observed(data: Coded, spread: float, blocks: Blocks, W: np.ndarray) -> np.ndarray:
    m = data.per_unit.astype(np.float64)
    within = sums_by(data.unit, (data.y - (sums_by(data.unit, data.y, data.I) / m)[data.unit]) ** 2, data.I)
    paired = m >= 2
    apart = np.where(paired, 2 * within / np.maximum(m - 1, 1), 0.0)
    off = W @ sums_by(blocks.of, apart, blocks.G)
    units = W @ sums_by(blocks.of, paired.astype(np.float64), blocks.G)
    return np.where(units > 0, 1 - off / np.maximum(units, 1) / spread, np.nan)
