"""Circular triads: a above b, b above c and c above a by the same person, and Kendall's zeta.

    c = n (n - 1) (n - 2) / 6 - sum_i w_i (w_i - 1) / 2,  zeta = 1 - c / max
    max = (n^3 - n) / 24 for odd n, (n^3 - 4n) / 24 for even n                                     (eq. V12)

where all n (n - 1) / 2 pairs have an answer; elsewhere the share of closed triads that are circular, .25 by chance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix


class Triads(NamedTuple):
    circular: int
    closed: int  # of three items, all pairs of which were decided
    zeta: float  # NaN where some pair has no answer

    @property
    def share(self) -> float:
        return self.circular / self.closed if self.closed else float("nan")

    @property
    def below_chance(self) -> float:
        """How many deviations below what chance makes of it: a quarter, of variance 3/16 each (Kendall, Smith 1940)."""
        return float((0.25 - self.share) * np.sqrt(self.closed / (3 / 16))) if self.closed else float("nan")


def circular_triads(above: np.ndarray, below: np.ndarray) -> Triads:
    """Of decided answers (n,) by one person; where a pair was answered several times, what was said more often."""
    items, at = np.unique(np.concatenate([above, below]), return_inverse=True)
    n, (up, down) = len(items), at.reshape(2, -1)
    if n < 3:
        return Triads(0, 0, float("nan"))
    said = csr_matrix((np.ones(len(up)), (up, down)), shape=(n, n))
    won = (said - said.T).maximum(0).sign().astype(np.int64)
    met = won + won.T
    closed = int((met @ met).multiply(met).sum()) // 6
    circular = int((won @ won).multiply(won.T).sum()) // 3
    most = (n**3 - (n if n % 2 else 4 * n)) / 24
    zeta = 1 - circular / most if met.nnz == n * (n - 1) else float("nan")
    return Triads(circular, closed, zeta)
