"""Comparisons as arrays: unknowns u = item * D + dimension, distinct pairs of them, components, logistic factors.

N comparisons, P distinct pairs, K annotators, M items, D dimensions; F factors, one for every end of the range of
differences behind an answer: a decided answer has a lower end, and an upper one unless it is the strongest; ties have
both.
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
    weight: np.ndarray  # (N,) how much each counts
    sided: bool  # whether sides were drawn, so that they may have an effect
    ties: bool  # whether anybody answered that
    steps: int  # S, of strength: thresholds on either side
    sign: np.ndarray  # (F,) of the difference in each factor
    end: np.ndarray  # (F,) of the threshold: -1 at a lower end, 1 at an upper one
    step: np.ndarray  # (F,) which threshold
    row: np.ndarray  # (F,) the comparison of each factor; the first N are those of all comparisons
    random: np.ndarray  # (N,) logarithm of how often such an answer is given, on either side: when nobody looks
    inner: np.ndarray  # (N,) for answers with two ends, 0: a tie, s: of strength s; -1 with one end
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

    @property
    def graded(self) -> bool:
        """Whether annotators have thresholds: of ties, or between strengths."""
        return self.ties or self.steps > 1

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
    strength: np.ndarray | None = None,
    weight: np.ndarray | None = None,
    steps: int = 1,
    ties: bool = False,
) -> ComparisonData:
    """Prepares comparisons; `items` are left and right (N,), `sizes` M, D and K.

    `strength` (N,) is 1 to S where an answer is decided, `weight` how much each counts; both are 1 by default.
    `steps` is the least S, `ties` whether there may be some though nobody said so.
    """
    M, D, K = sizes
    N, tied = len(answer), answer == TIE
    left, right = (side.astype(np.int64) * D + dimension for side in items)
    low, high = np.minimum(left, right), np.maximum(left, right)
    key, pair = np.unique(low * (M * D) + high, return_inverse=True)
    s = np.ones(N, dtype=np.int64) if strength is None else strength
    steps = int(s[~tied].max(initial=steps))
    closed = np.flatnonzero(tied | (s < steps))
    sign = np.where(answer == RIGHT, -1.0, 1.0)
    first = np.where(tied, 1.0, -1.0)  # the lower end of a tie is the upper end of "right", mirrored
    edges = csr_matrix((np.ones(N, dtype=bool), items), shape=(M, M))
    return ComparisonData(
        *(M, D, K, left, right, who, answer),
        weight=np.ones(N) if weight is None else weight,
        sided=sided,
        ties=ties or bool(tied.any()),
        steps=steps,
        sign=np.concatenate([sign, -sign[closed]]),
        end=np.concatenate([first, np.ones(len(closed))]),
        step=np.concatenate([np.where(tied, 0, s - 1), np.where(tied, 0, s)[closed]]),
        row=np.concatenate([np.arange(N), closed]),
        random=_at_random(np.where(tied, 0, s), steps, np.ones(N) if weight is None else weight),
        inner=np.where(tied, 0, np.where(s < steps, s, -1)),
        pair=pair.ravel(),
        low=key // (M * D),
        high=key % (M * D),
        component=connected_components(edges, directed=False)[1],
    )


def _at_random(strength: np.ndarray, steps: int, weight: np.ndarray) -> np.ndarray:
    """(N,) logarithm of the share of answers of each strength (0: ties), half of it for the side that was chosen."""
    share = (np.bincount(strength, weight, steps + 1) + 1) / (weight.sum() + steps + 1)
    return np.asarray(np.log(share * np.where(np.arange(steps + 1) > 0, 0.5, 1.0))[strength])


def ranking_weights(group: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """(N,) how much each pair of a ranking counts: all together tell as much as its choices do (eq. V11).

    `group` (N,) is the ranking of each pair. Of n items, ranked by choosing the best of those that are left (Plackett
    and Luce), pairs would count n (n - 1) / 2 answers where items are alike; best-worst choices have 2n - 3 pairs.
    """
    of, number = np.unique(group, return_inverse=True)
    pairs = np.bincount(number, minlength=len(of))
    if (pairs == 1).all():
        return np.ones(len(group))
    inside = np.unique(np.stack([np.tile(number, 2), np.concatenate([left, right])]), axis=1)[0]
    n = np.bincount(inside, minlength=len(of)).astype(float)
    harmonic = np.cumsum(1 / np.arange(1, n.max() + 1))[n.astype(int) - 1]
    whole = 4 * (n - harmonic) / (n * (n - 1))
    ends = (1 / n + (n - 2) / (n - 1) ** 2) * 2 * (n - 1) / np.maximum(2 * n - 3, 1)
    return np.asarray(np.where((pairs == 2 * n - 3) & (n > 3), ends, whole)[number])
