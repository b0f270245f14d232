"""Slow and obvious versions of the neighbours for traces: dense Gaussians, double loops, tables of counts."""

from __future__ import annotations

import numpy as np


def dense_chain(p, who, x, T):
    """Mean (T n,) and covariance (T n, T n) of the states [z, s_1, ...] of a recording before anybody rated it."""
    D, blocks = p.W.shape[1], [0, *(k + 1 for k in who)]
    n = len(blocks) * D
    A, V = np.zeros((n, n)), np.zeros((n, n))
    for i, block in enumerate(blocks):
        A[i * D : (i + 1) * D, i * D : (i + 1) * D] = p.A[block]
        V[i * D : (i + 1) * D, i * D : (i + 1) * D] = p.V[block]
    mean, cov = np.zeros((T, n)), np.zeros((T, n, T, n))
    cov[0, :, 0] = np.eye(n)
    for t in range(1, T):
        mean[t] = A @ mean[t - 1]
        mean[t, :D] += p.C.T @ x[t]
        for s in range(t):
            cov[t, :, s] = A @ cov[t - 1, :, s]
            cov[s, :, t] = cov[t, :, s].T
        cov[t, :, t] = A @ cov[t - 1, :, t - 1] @ A.T + V
    return mean.ravel(), cov.reshape(T * n, T * n)


def dense_states(y, p, who, x):
    """Posterior mean (T, n), covariance (T, n, T, n) and log p(y), by one Gaussian of everything. y: (p, T, D)."""
    T, D = y.shape[1:]
    prior, cov = dense_chain(p, who, x, T)
    n = (1 + len(who)) * D
    rows, values, level, noise = [], [], [], []
    for i, k in enumerate(who):
        for t in range(T):
            for d in range(D):
                if np.isnan(y[i, t, d]):
                    continue
                row = np.zeros((T, n))
                row[t, :D] = p.W[k, d]
                row[t, (1 + i) * D + d] = 1.0
                rows.append(row.ravel())
                values.append(y[i, t, d])
                level.append(p.b[k, d])
                noise.append(p.r[k, d])
    H = np.array(rows)
    S = H @ cov @ H.T + np.diag(noise)
    away = np.array(values) - np.array(level) - H @ prior
    gain = cov @ H.T @ np.linalg.inv(S)
    mean, post = prior + gain @ away, cov - gain @ H @ cov
    loglik = -0.5 * (away @ np.linalg.solve(S, away) + np.linalg.slogdet(2 * np.pi * S)[1])
    return mean.reshape(T, n), post.reshape(T, n, T, n), float(loglik)


def dense_step(parts, p):
    """One step of EM from dense posteriors: every expectation by a loop, every regression by its normal equations."""
    K, D, P = len(p.W), p.W.shape[1], len(p.C)
    A, V, C, W, b, r = (value.copy() for value in p)
    found = [dense_states(part.y, p, part.who, part.x) for part in parts]
    for block in range(1 + K):
        xx, xs, ss, steps = 0.0, 0.0, 0.0, 0
        for part, (mean, cov, _) in zip(parts, found, strict=True):
            place = [0, *(part.who + 1)]
            if block not in place:
                continue
            at = slice(place.index(block) * D, (place.index(block) + 1) * D)
            for t in range(1, len(mean)):
                x = part.x[t] if block == 0 else np.zeros(0)
                before = np.concatenate([mean[t - 1, at], x])
                spread = np.zeros((len(before), len(before)))
                spread[:D, :D] = cov[t - 1, at, t - 1, at]
                late = np.zeros((len(before), D))
                late[:D] = cov[t - 1, at, t, at]
                xx = xx + np.outer(before, before) + spread
                xs = xs + np.outer(before, mean[t, at]) + late
                ss = ss + np.outer(mean[t, at], mean[t, at]) + cov[t, at, t, at]
                steps += 1
        if steps:
            slope = np.linalg.solve(xx, xs)
            A[block], V[block] = slope[:D].T, (ss - slope.T @ xs) / steps
            if block == 0:
                C = slope[D:].reshape(P, D)
    for k in range(K):
        for d in range(D):
            zz, zy, yy, count = np.zeros((D + 1, D + 1)), np.zeros(D + 1), 0.0, 0
            for part, (mean, cov, _) in zip(parts, found, strict=True):
                for i in np.flatnonzero(part.who == k):
                    at = (1 + i) * D + d
                    for t in np.flatnonzero(~np.isnan(part.y[i, :, d])):
                        z = np.append(mean[t, :D], 1.0)
                        left = part.y[i, t, d] - mean[t, at]
                        zz += np.outer(z, z)
                        zz[:D, :D] += cov[t, :D, t, :D]
                        zy += z * left
                        zy[:D] -= cov[t, :D, t, at]
                        yy += left**2 + cov[t, at, t, at]
                        count += 1
            if count:
                slope = np.linalg.solve(zz, zy)
                W[k, d], b[k, d], r[k, d] = slope[:D], slope[D], (yy - slope @ zy) / count
    return type(p)(A, V, C, W, b, r)


def naive_path(trace, target, reach):
    """Dynamic time warping by the full table."""
    T = len(target)
    total = np.full((T, T), np.inf)
    for t in range(T):
        for u in range(T):
            if abs(t - u) <= reach:
                before = [0.0] if t == u == 0 else []
                before += [total[t - 1, u - 1]] if t and u else []
                before += [total[t - 1, u]] if t else []
                before += [total[t, u - 1]] if u else []
                total[t, u] = min(before) + ((trace[u] - target[t]) ** 2).sum()
    t = u = T - 1
    path = [(t, u)]
    while t or u:
        ways = [(t - 1, u - 1), (t - 1, u), (t, u - 1)]
        t, u = min((w for w in ways if min(w) >= 0), key=lambda w: total[w])
        path.append((t, u))
    return path[::-1], total[-1, -1]


def naive_barycentre(y, reach, rounds):
    """Means over annotators of complete traces (p, T, D) as they are aligned, after `rounds` alignments."""
    centred = y - y.mean(axis=1, keepdims=True)
    moved = y.copy()
    for _ in range(rounds):
        target = (moved - y.mean(axis=1, keepdims=True)).mean(axis=0)
        for i in range(len(y)):
            path, _ = naive_path(centred[i], target, reach)
            for t in range(y.shape[1]):
                moved[i, t] = np.mean([y[i, u] for s, u in path if s == t], axis=0)
    return moved


def naive_window_weights(y, width):
    """Weights at every frame: correlation with the mean of the others, in windows, between whose middles they go
    linearly. y: (p, T, D)."""
    p, T, D = y.shape
    starts = list(range(0, max(T - width, 0) + 1, max(width // 2, 1)))
    out = np.zeros_like(y)
    for k in range(p):
        for d in range(D):
            found = []
            for lo in starts:
                own, others = [], []
                for t in range(lo, min(lo + width, T)):
                    rest = [y[j, t, d] for j in range(p) if j != k and not np.isnan(y[j, t, d])]
                    if rest and not np.isnan(y[k, t, d]):
                        own.append(y[k, t, d])
                        others.append(np.mean(rest))
                usable = len(own) > 1 and np.std(own) > 0 and np.std(others) > 0
                found.append(max(np.corrcoef(own, others)[0, 1], 0.0) if usable else 0.0)
            out[k, :, d] = np.interp(np.arange(T), [lo + (min(width, T) - 1) / 2 for lo in starts], found)
    return out


def naive_usual_curves(curve):
    """Which of the curves (p, T, D), splines of full rank, have scores near the median; by the covariance of curves."""
    p = len(curve)
    flat = curve.reshape(p, -1) / np.sqrt(curve.shape[1])
    centred = flat - flat.mean(axis=0)
    value, vector = np.linalg.eigh(centred.T @ centred)
    value, vector = value[::-1], vector[:, ::-1]
    L = next(n for n in range(1, len(value) + 1) if value[:n].sum() >= 0.95 * value.sum())
    scores = centred @ vector[:, :L]
    away = np.abs(scores - np.median(scores, axis=0))
    return ((away / (1.4826 * np.median(away, axis=0))) ** 2).sum(axis=1), L


def naive_information(a, b):
    """Mutual information in nats of two sequences, from counts of pairs, less its bias (Miller and Madow)."""
    pairs = [(i, j) for i, j in zip(a, b, strict=True) if i >= 0 and j >= 0]
    n, total = len(pairs), 0.0
    for i, j in set(pairs):
        both = pairs.count((i, j)) / n
        one, other = (sum(pair[side] == value for pair in pairs) / n for side, value in ((0, i), (1, j)))
        total += both * np.log(both / (one * other))
    kinds = [len({pair[side] for pair in pairs}) for side in (0, 1)]
    return total - (kinds[0] - 1) * (kinds[1] - 1) / (2 * n)
