"""Krippendorff's alpha for interval and ordinal ratings: 1 - observed / expected disagreement.

With squared differences the sum over pairs of values is a sum of squares about the mean, so no pair is ever formed: the
sum over i != j of (y_i - y_j)^2 is 2 n sum_i (y_i - mean)^2. Ordinal distances are those of cumulated counts: a value v
is replaced by the number of ratings below it plus half of those at it. Units with one rating do not count.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.agreement.bootstrap import Blocks
from unisono.maths.agreement.coded import Coded, at_least, sums_by
from unisono.maths.distinct import sorted_codes

FLAT = 1e-24  # expected squared difference below this share of the scale is rounding


def interval_alpha(data: Coded, blocks: Blocks | None = None, W: np.ndarray | None = None) -> np.ndarray:
    """(B,) alpha for interval ratings and weights W (B, G) of blocks of units; by default for the ratings as they are.

    Blocks are those of all units of `data`, of which units with one rating are left out here.
    """
    paired = at_least(data, 2)
    if blocks is None or W is None:
        blocks, W = Blocks(np.zeros(data.I, dtype=np.int64), 1), np.ones((1, 1))
    of = blocks.of if paired is data else blocks.of[data.per_unit >= 2]
    return _alpha(paired, paired.y, Blocks(of, blocks.G), W)


def ordinal_alpha(data: Coded, blocks: Blocks | None = None, W: np.ndarray | None = None) -> np.ndarray:
    """(B,) alpha for ordinal ratings. Draws keep the ranks of all ratings, which hardly vary beside the rest."""
    paired = at_least(data, 2)
    return interval_alpha(paired._replace(y=cumulated_counts(paired.y)), *_of_paired(data, blocks, W))


def cumulated_counts(y: np.ndarray) -> np.ndarray:
    """(n,) for every number how many are smaller, and half of those that are equal; centred, as a share of n."""
    values, code = sorted_codes(y)
    count = np.bincount(code, minlength=len(values))
    return np.asarray(((np.cumsum(count) - count / 2) / max(len(y), 1) - 0.5)[code])


def _alpha(paired: Coded, y: np.ndarray, blocks: Blocks, W: np.ndarray) -> np.ndarray:
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
