"""Chance-corrected agreement: Krippendorff's alpha for interval, ordinal and nominal answers, Gwet's AC1 and AC2.

Alpha is 1 - observed / expected disagreement. With squared differences the sum over pairs of values is a sum of squares
about the mean, so no pair is ever formed: the sum over i != j of (y_i - y_j)^2 is 2 n sum_i (y_i - mean)^2. Ordinal
distances are those of cumulated counts: a value v is replaced by the number of ratings below it plus half of those at
it. Units with one rating do not count. Of categories, with n_ic answers c to unit i, m_i answers to it and n_c answers
c in all:

    alpha = 1 - (n - 1) sum_i (m_i^2 - sum_c n_ic^2) / (m_i - 1) / (n^2 - sum_c n_c^2)          (eq. K3)
    AC1   = (p_a - p_e) / (1 - p_e)     p_a mean share of equal pairs of a unit                  (eq. K4)
                                        p_e = sum_c pi_c (1 - pi_c) / (C - 1)

AC2, with quadratic weights, is for scales on which one answer dominates: alpha collapses there, AC2 does not.

    AC2 = (p_a - p_e) / (1 - p_e)
    w_ab = 1 - (a - b)^2 / range^2             p_e = sum_ab w_ab / (C (C - 1)) sum_c p_c (1 - p_c)

p_a is the mean over units with two ratings or more of the weight of two of their ratings, p_c (pi_c) the mean over
units of the share of answer c. B rows of weights of G blocks of units.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.agreement.agreement_bootstrap import Blocks, Coded, at_least, sums_by
from unisono.maths.rating_values import category_codes, sorted_codes

FLAT = 1e-24  # numerical: expected squared difference below this share of the scale is rounding


def interval_alpha(data: Coded, blocks: Blocks | None = None, W: np.ndarray | None = None) -> np.ndarray:
    """(B,) alpha for interval ratings and weights W (B, G) of blocks of units; by default for the ratings as they are.

    Blocks are those of all units of `data`, of which units with one rating are left out here.
    """
    paired = at_least(data, 2)
    if blocks is None or W is None:
        blocks, W = Blocks(np.zeros(data.I, dtype=np.int64), 1), np.ones((1, 1))
    of = blocks.of if paired is data else blocks.of[data.per_unit >= 2]
    return _weighted_alpha(paired, paired.y, Blocks(of, blocks.G), W)


def ordinal_alpha(data: Coded, blocks: Blocks | None = None, W: np.ndarray | None = None) -> np.ndarray:
    """(B,) alpha for ordinal ratings. Draws keep the ranks of all ratings, which hardly vary beside the rest."""
    paired = at_least(data, 2)
    return interval_alpha(paired._replace(y=cumulated_counts(paired.y)), *_of_paired(data, blocks, W))


def cumulated_counts(y: np.ndarray) -> np.ndarray:
    """(n,) for every number how many are smaller, and half of those that are equal; centred, as a share of n."""
    values, code = sorted_codes(y)
    count = np.bincount(code, minlength=len(values))
    return np.asarray(((np.cumsum(count) - count / 2) / max(len(y), 1) - 0.5)[code])


def _weighted_alpha(paired: Coded, y: np.ndarray, blocks: Blocks, W: np.ndarray) -> np.ndarray:
    m = paired.per_unit.astype(np.float64)
    total = sums_by(paired.unit, y, paired.I)
    within = sums_by(paired.unit, (y - (total / np.maximum(m, 1))[paired.unit]) ** 2, paired.I)
    square = sums_by(paired.unit, y**2, paired.I)
    by_unit = (m, total, square, m / np.maximum(m - 1, 1) * within)
    n, all_, T0, observed = (W @ np.stack([sums_by(blocks.of, v, blocks.G) for v in by_unit], axis=1)).T
    expected = (T0 - all_**2 / np.maximum(n, 1)) * n
    defined = (n > 1) & (expected > FLAT * n**2)
    return np.where(defined, 1 - observed * (n - 1) / np.where(defined, expected, 1.0), np.nan)


def _of_paired(data: Coded, blocks: Blocks | None, W: np.ndarray | None) -> tuple[Blocks | None, np.ndarray | None]:
    return (None if blocks is None else Blocks(blocks.of[data.per_unit >= 2], blocks.G)), W


def nominal_agreement(votes: np.ndarray, blocks: Blocks | None = None, W: np.ndarray | None = None) -> np.ndarray:
    """(B, 2) alpha and AC1 of votes (I, C), answers of each class to each unit; NaN where one class is all there is."""
    if blocks is None or W is None:
        blocks, W = Blocks(np.zeros(len(votes), dtype=np.int64), 1), np.ones((1, 1))
    return np.stack([_nominal_alpha(votes, blocks, W), _ac1(votes, blocks, W)], axis=1)


def _nominal_alpha(votes: np.ndarray, blocks: Blocks, W: np.ndarray) -> np.ndarray:
    m = votes.sum(axis=1)
    paired = np.where((m >= 2)[:, None], votes, 0.0)
    apart = np.where(m >= 2, (m**2 - (votes**2).sum(axis=1)) / np.maximum(m - 1, 1), 0.0)
    observed = W @ sums_by(blocks.of, apart, blocks.G)
    of_class = W @ _by_block(paired, blocks)
    n = of_class.sum(axis=1)
    expected = n**2 - (of_class**2).sum(axis=1)
    defined = expected > 0
    return np.where(defined, 1 - (n - 1) * observed / np.where(defined, expected, 1.0), np.nan)


def _ac1(votes: np.ndarray, blocks: Blocks, W: np.ndarray) -> np.ndarray:
    m = votes.sum(axis=1)
    C = int(np.count_nonzero(votes.sum(axis=0)))
    if C < 2:
        return np.full(len(W), np.nan)
    equal = np.where(m >= 2, ((votes**2).sum(axis=1) - m) / np.maximum(m * (m - 1), 1), 0.0)
    paired = W @ sums_by(blocks.of, (m >= 2).astype(np.float64), blocks.G)
    observed = (W @ sums_by(blocks.of, equal, blocks.G)) / np.maximum(paired, 1)
    given = W @ sums_by(blocks.of, (m >= 1).astype(np.float64), blocks.G)
    share = (W @ _by_block(votes / np.maximum(m, 1)[:, None], blocks)) / np.maximum(given, 1)[:, None]
    by_chance = (share * (1 - share)).sum(axis=1) / (C - 1)
    defined = (paired > 0) & (by_chance < 1)
    return np.where(defined, (observed - by_chance) / np.where(defined, 1 - by_chance, 1.0), np.nan)


def _by_block(values: np.ndarray, blocks: Blocks) -> np.ndarray:
    """(G, C) sums of the rows of (I, C) values over the units of each block."""
    return np.stack([sums_by(blocks.of, column, blocks.G) for column in values.T], axis=1)


MOST_CATEGORIES = 21  # convention: a scale with more distinct answers is continuous here


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
