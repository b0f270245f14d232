"""Agreement on categories: Krippendorff's alpha for nominal answers, and Gwet's AC1 for where one class dominates.

    alpha = 1 - (n - 1) sum_i (m_i^2 - sum_c n_ic^2) / (m_i - 1) / (n^2 - sum_c n_c^2)          (eq. K3)
    AC1   = (p_a - p_e) / (1 - p_e)     p_a mean share of equal pairs of a unit                  (eq. K4)
                                        p_e = sum_c pi_c (1 - pi_c) / (C - 1)

Symbols: n_ic answers c to unit i, m_i answers to unit i, n_c answers c, pi_c mean share of c over units; B rows of
weights of G blocks of units. Units with one answer count for pi alone. Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.agreement.bootstrap import Blocks
from unisono.maths.agreement.coded import sums_by


def nominal_agreement(votes: np.ndarray, blocks: Blocks | None = None, W: np.ndarray | None = None) -> np.ndarray:
    """(B, 2) alpha and AC1 of votes (I, C), answers of each class to each unit; NaN where one class is all there is."""
    if blocks is None or W is None:
        blocks, W = Blocks(np.zeros(len(votes), dtype=np.int64), 1), np.ones((1, 1))
    return np.stack([_alpha(votes, blocks, W), _ac1(votes, blocks, W)], axis=1)


def _alpha(votes: np.ndarray, blocks: Blocks, W: np.ndarray) -> np.ndarray:
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
