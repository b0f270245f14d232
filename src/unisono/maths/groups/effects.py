"""How well the effect that a covariate has on a whole group is known.

An annotator's effect lies around the group's, and the group's is seen in two ways: within items, where the covariate
differs between ratings of one item, and between labelled items, where the truth is known from labels, up to its
covariance V_0 = (Sigma^-1 + Q_0)^-1. With n ratings of an item and their mean xbar of a covariate:

    1 / var = sum_m sum_n (x - xbar)^2 / N  +  sum_labelled (xbar - mean)^2 / (S + N / n + A V_0 A')      eq. J25

for every dimension; N is the noise of a typical member. What the reference does as a whole is the truth.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.groups.data import Block, GroupData
from unisono.maths.groups.estep import coefficients
from unisono.maths.groups.params import GroupParams
from unisono.maths.groups.priors import VARIANCE_FLOOR


def common_effect_variance(data: GroupData, params: GroupParams, learned: np.ndarray) -> np.ndarray:
    """(G, D, X - 1) variances of effects that groups have in common; 0 for groups (G,) that are not learned."""
    variance = np.zeros((data.G, data.D, data.X - 1))
    if data.X == 1:
        return variance
    truth = [_labelled_spread(data, params, block) for block in data.blocks]
    for g in np.flatnonzero(learned):
        member = data.members(int(g)) & (data.answers.sum(axis=1) > 0)
        noise = params.noise(data.group)[member].mean(axis=0)
        for d in range(data.D):
            for p in range(1, data.X):
                parts = [
                    _seen_in(block, cov, params, int(g), d, p, noise[d])
                    for block, cov in zip(data.blocks, truth, strict=True)
                ]
                within = sum(part[0] for part in parts)
                mean, weight = (np.concatenate([part[i] for part in parts]) for i in (1, 2))
                middle = np.sum(weight * mean) / max(weight.sum(), VARIANCE_FLOOR)
                known = within + np.sum(weight * (mean - middle) ** 2)
                variance[g, d, p - 1] = 1 / max(known, VARIANCE_FLOOR)
    return variance


def _labelled_spread(data: GroupData, params: GroupParams, block: Block) -> dict[int, np.ndarray]:
    """Covariance (D, D) of the truth that labels leave, by place of the labelled items of a block."""
    panel = block.panels[0]
    given = coefficients(data, params).ff
    Q = panel.counted(given[:, :, None])[:, :, 0].T
    V = np.linalg.inv(np.linalg.inv(params.Sigma) + Q[:, :, None] * np.eye(data.D))
    return dict(zip(panel.items.tolist(), V, strict=True))


def _seen_in(
    block: Block, truth: dict[int, np.ndarray], params: GroupParams, g: int, d: int, p: int, noise: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Of a block of items: information within items, and means of the covariate with weights of labelled items."""
    panel = block.panels[g]
    x = panel.known[d][p]
    n = np.asarray(panel.known[d][0].sum(axis=1)).reshape(-1)
    total, square = (np.asarray(part.sum(axis=1)).reshape(-1) for part in (x, x.power(2)))
    mean = total / np.maximum(n, 1)
    within = float(np.sum(square - n * mean**2)) / noise
    at = [row for row, m in enumerate(panel.items.tolist()) if m in truth and n[row]]
    row = params.A[g, d]
    left = np.array([row @ truth[int(panel.items[i])] @ row for i in at])
    return within, mean[at], 1 / (params.S[g, d, d] + noise / n[at] + left) if at else np.zeros(0)
