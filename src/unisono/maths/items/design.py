"""Design of ratings: information per rating, expected reduction of uncertainty, expected errors.

V (D, D) covariance of a truth, Q_k = F_k' N_k^-1 F_k what one rating by annotator k adds to its precision   eq. D1
reduction = tr V - tr (V^-1 + Q)^-1                                                                        eq. D2
error of n ratings = E[(Sigma^-1 + sum of n Q_k)^-1] over annotators as they come                          eq. D3
"""

from __future__ import annotations

import numpy as np

from unisono.maths.items.params import ItemParams
from unisono.maths.linalg.small_spd import inverse_and_logdet


def rating_information(params: ItemParams) -> np.ndarray:
    """(K, D, D) what one complete rating by each annotator adds to the precision of a truth.            eq. D1"""
    F = params.F
    return np.asarray(np.swapaxes(F, 1, 2) @ np.linalg.solve(params.N, F))


def expected_reduction(V: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """(M,) by how much one rating with information Q (D, D) lowers the summed variances of V (M, D, D).  eq. D2"""
    precision, _ = inverse_and_logdet(V)
    after, _ = inverse_and_logdet(precision + Q)
    return np.asarray(np.trace(V, axis1=1, axis2=2) - np.trace(after, axis1=1, axis2=2))


def expected_error(
    Sigma: np.ndarray, Q: np.ndarray, share: np.ndarray, n: int, rng: np.random.Generator, draws: int = 2000
) -> np.ndarray:
    """(D,) posterior variances to expect from n ratings by different annotators, drawn by their `share` (K,).

    eq. D3
    """
    K = len(share)
    n = min(n, int((share > 0).sum()))
    # Gumbel noise on log shares and a partial sort draw n different annotators at once, for all draws together.
    keys = np.log(np.where(share > 0, share, 1e-300)) + rng.gumbel(size=(draws, K))
    who = np.argpartition(-keys, n - 1, axis=1)[:, :n] if n < K else np.tile(np.arange(K), (draws, 1))
    total = np.zeros((draws, *Sigma.shape))
    for j in range(n):
        total += Q[who[:, j]]
    V, _ = inverse_and_logdet(np.linalg.inv(Sigma) + total)
    return np.asarray(np.diagonal(V, axis1=1, axis2=2).mean(axis=0))
