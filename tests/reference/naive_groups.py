"""The model of groups, item by item, through the joint normal of all its ratings. Slow and obvious."""

from __future__ import annotations

import numpy as np


def joint_posterior(y, seen, group, params, gains, offsets, noise, m0):
    """Posterior mean and covariance of one item's [a, c_1, ..., c_G], and log p(y).

    y (K, D) ratings by all annotators, `seen` which of them exist; gains, offsets and noise (K, D).
    """
    G, D = params.t.shape
    # [a, c_1, ..., c_G] = const + linear [a - m0, u_1, ..., u_G]
    linear = np.zeros((D * (G + 1), D * (G + 1)))
    linear[:D, :D] = np.eye(D)
    mean, spread = np.zeros(D * (G + 1)), np.zeros_like(linear)
    mean[:D], spread[:D, :D] = m0, params.Sigma
    for g in range(G):
        at = slice(D * (g + 1), D * (g + 2))
        linear[at, :D], linear[at, at] = params.A[g], np.eye(D)
        mean[at], spread[at, at] = params.A[g] @ m0 + params.t[g], params.S[g]
    prior = linear @ spread @ linear.T
    rows, value, error = [], [], []
    for k, d in np.argwhere(seen):
        row = np.zeros(len(mean))
        row[D * (group[k] + 1) + d] = gains[k, d]
        rows.append(row)
        value.append(y[k, d] - offsets[k, d])
        error.append(noise[k, d])
    if not rows:
        return mean, prior, 0.0
    R, value = np.array(rows), np.array(value)
    C = R @ prior @ R.T + np.diag(error)
    away = value - R @ mean
    gain = prior @ R.T @ np.linalg.inv(C)
    loglik = -0.5 * (len(value) * np.log(2 * np.pi) + np.linalg.slogdet(C)[1] + away @ np.linalg.solve(C, away))
    return mean + gain @ away, prior - gain @ R @ prior, loglik
