"""Variance components by loops over answers, and by dense restricted maximum likelihood."""

import itertools

import numpy as np
from scipy.optimize import minimize


def naive_levels(value, of, K, freedom, steps=30):
    """centre, bias, within (D,), and away, tie, believed (K, D), of answers (J, D) with NaN by annotators `of`."""
    D = value.shape[1]
    centre, bias, within = np.zeros((3, D))
    away, tie, believed = np.zeros((K, D)), np.ones((K, D)), np.zeros((K, D))
    for d in range(D):
        own = [value[(of == k) & ~np.isnan(value[:, d]), d] for k in range(K)]
        free = sum(max(len(y) - 1, 0) for y in own)
        squares = sum(((y - y.mean()) ** 2).sum() for y in own if len(y))
        every = np.concatenate(own)
        within[d] = squares / free if free else every.var()
        rated = [k for k in range(K) if len(own[k])]
        mean = np.array([own[k].mean() for k in rated])
        error = np.array([within[d] / len(own[k]) for k in rated])
        if len(rated) < 2:
            centre[d] = mean.sum()
        else:
            centre[d] = np.median(mean)
            bias[d] = np.median((mean - centre[d]) ** 2) if free else 0.0
            for _ in range(steps):
                w = 1 / (bias[d] + error)
                t = np.array([(freedom + 1) / (freedom + x) for x in w * (mean - centre[d]) ** 2])
                centre[d] = sum(t * w * mean) / sum(t * w)
                if free:
                    seen = sum(w**2 * (t * (mean - centre[d]) ** 2 - error)) / sum(w**2) + 1 / sum(w)
                    bias[d] = max(seen, 0.0)
            for k, own_tie in zip(rated, t, strict=True):
                tie[k, d] = own_tie
        for k in range(K):
            if len(own[k]):
                away[k, d] = own[k].mean() - centre[d]
            believed[k, d] = bias[d] / (bias[d] + tie[k, d] * within[d] / max(len(own[k]), 1))
    return centre, bias, within, away, tie, believed


def naive_pairs(value, item_of, of, offset, factor):
    """products and pairs (D, D) of answers without `offset` (K, D) times `factor` (K, D) by different annotators."""
    z = (value - offset[of]) * factor[of]
    D = value.shape[1]
    products, pairs = np.zeros((2, D, D))
    for i, j in itertools.permutations(range(len(z)), 2):
        if item_of[i] == item_of[j]:
            for d, e in itertools.product(range(D), repeat=2):
                if not np.isnan(z[i, d] * z[j, e]):
                    products[d, e] += z[i, d] * z[j, e]
                    pairs[d, e] += 1
    return products, pairs


def naive_item_levels(value, item_of, of, K):
    """Numbers, sums of distances from the mean of the others on an item, and of their variances; (K, D) each."""
    n, away, spread = np.zeros((3, K, value.shape[1]))
    for j, d in np.ndindex(value.shape):
        others = [i for i in np.flatnonzero(item_of == item_of[j]) if i != j and not np.isnan(value[i, d])]
        if others and not np.isnan(value[j, d]):
            n[of[j], d] += 1
            away[of[j], d] += value[j, d] - value[others, d].mean()
            spread[of[j], d] += 1 + 1 / len(others)
    return n, away, spread


def dense_reml(y, item_of, of):
    """Variances of truths, biases and errors with the highest restricted likelihood of answers (J,)."""
    same = [(x[:, None] == x).astype(float) for x in (item_of, of)]
    one, scale = np.ones(len(y)), y.var()

    def deviance(logs):
        truth, bias, error = scale * np.exp(np.clip(logs, -12, 12))
        V = truth * same[0] + bias * same[1] + error * np.eye(len(y))
        half = np.linalg.cholesky(V)
        a, b = np.linalg.solve(half, one), np.linalg.solve(half, y)
        left = b - a * (a @ b) / (a @ a)
        return 2 * np.log(np.diagonal(half)).sum() + np.log(a @ a) + left @ left

    found = minimize(deviance, np.log([0.4, 0.2, 0.4]), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-8})
    return scale * np.exp(np.clip(found.x, -12, 12))
