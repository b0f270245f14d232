"""Comparisons as arrays: unknowns u = item * D + dimension, distinct pairs of them, components, logistic factors.

N comparisons, P distinct pairs, F factors (one per decided answer, two per tie), K annotators, M items, D dimensions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

LEFT, TIE, RIGHT = 0, 1, 2  # layout: codes of answers


class ComparisonData(NamedTuple):
    """Answers, and what is computed from them once."""

    M: int
    D: int
    K: int
    left: np.ndarray  # (N,) unknowns
    right: np.ndarray  # (N,)
    who: np.ndarray  # (N,)
    answer: np.ndarray  # (N,) LEFT, TIE or RIGHT
    sided: bool  # whether sides were drawn, so that they may have an effect
    ties: bool  # whether anybody answered that
    sign: np.ndarray  # (F,) of the difference in each factor
    row: np.ndarray  # (F,) the comparison of each factor; the first N are those of all comparisons
    pair: np.ndarray  # (N,) distinct pair of each comparison
    low: np.ndarray  # (P,) unknowns of the distinct pairs, low < high
    high: np.ndarray  # (P,)
    component: np.ndarray  # (M,) connected component of each item

    @property
    def N(self) -> int:
        return len(self.left)

    @property
    def U(self) -> int:
        return self.M * self.D

    def by_annotator(self, weight: np.ndarray) -> np.ndarray:
        """(K,) sums over each annotator's comparisons."""
        return np.bincount(self.who, weight, minlength=self.K)

    def by_row(self, weight: np.ndarray) -> np.ndarray:
        """(N,) sums over the factors (F,) of each comparison."""
        total = weight[: self.N].copy()
        total[self.row[self.N :]] += weight[self.N :]
        return total

    def by_pair(self, weight: np.ndarray) -> np.ndarray:
        """(P,) sums over the comparisons (N,) of each distinct pair."""
        return np.bincount(self.pair, weight, minlength=len(self.low))

    def by_unknown(self, weight: np.ndarray) -> np.ndarray:
        """(U,) sums over comparisons: what speaks for the left item, and against the right one."""
        up, down = (np.bincount(side, weight, minlength=self.U) for side in (self.left, self.right))
        return np.asarray(up - down)

    def difference(self, truth: np.ndarray) -> np.ndarray:
        """(N,) left minus right of truths (M, D)."""
        flat = truth.ravel()
        return np.asarray(flat[self.left] - flat[self.right])


def comparison_data(
    items: tuple[np.ndarray, np.ndarray],
    dimension: np.ndarray,
    who: np.ndarray,
    answer: np.ndarray,
    sizes: tuple[int, int, int],
    *,
    sided: bool = True,
) -> ComparisonData:
    """Prepares comparisons; `items` are left and right (N,), `sizes` M, D and K."""
    M, D, K = sizes
    left, right = (side.astype(np.int64) * D + dimension for side in items)
    low, high = np.minimum(left, right), np.maximum(left, right)
    key, pair = np.unique(low * (M * D) + high, return_inverse=True)
    tied = np.flatnonzero(answer == TIE)
    sign = np.concatenate([np.where(answer == RIGHT, -1.0, 1.0), np.full(len(tied), -1.0)])
    row = np.concatenate([np.arange(len(answer)), tied])
    edges = csr_matrix((np.ones(len(answer), dtype=bool), items), shape=(M, M))
    component = connected_components(edges, directed=False)[1]
    pairs = pair.ravel(), key // (M * D), key % (M * D)
    return ComparisonData(M, D, K, left, right, who, answer, sided, len(tied) > 0, sign, row, *pairs, component)
