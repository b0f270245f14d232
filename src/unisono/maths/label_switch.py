"""Which estimated dimension is which: label switching and signs, resolved against known values.

Nothing in the published joint model ties latent dimension 1 to rated dimension 1, nor fixes its sign; the paper puts
this right by hand. Here the best assignment is computed.
Imports NumPy and SciPy alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from unisono.maths.metrics import ccc


class Switch(NamedTuple):
    """Dimension d of the truth is sign[d] times dimension order[d] of the estimate."""

    order: np.ndarray  # (D,)
    sign: np.ndarray  # (D,) +1 or -1

    def apply(self, estimate: np.ndarray) -> np.ndarray:
        """The estimate (N, E) as (N, D), in units in which zero is the middle."""
        return np.asarray(self.sign * estimate[:, self.order])


def best_switch(estimate: np.ndarray, known: np.ndarray) -> Switch:
    """The one-to-one assignment of estimated (N, E) to known dimensions (N, D), D <= E, with the highest sum of CCC.

    max over permutations and signs of sum_d ccc(sign_d a_order(d), known_d)                             eq. H5
    """
    D, E = known.shape[1], estimate.shape[1]
    score, sign = np.zeros((D, E)), np.ones((D, E))
    for d in range(D):
        for e in range(E):
            plus, minus = (np.nan_to_num(ccc(s * estimate[:, e], known[:, d]), nan=-1.0) for s in (1, -1))
            score[d, e], sign[d, e] = max(plus, minus), 1 if plus >= minus else -1
    rows, order = linear_sum_assignment(score, maximize=True)
    return Switch(order, sign[rows, order])
