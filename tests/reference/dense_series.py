"""The series model written naively, the oracle of the tests: dense matrices, loops, no structure used.

Frames of the truth run from -back to T-1, where back = 0 for the paper's zero start. Everything known about a recording
is one normal distribution of the stacked truth (frame by frame, dimension by dimension) and the stacked ratings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class DenseRecording(NamedTuple):
    mean: np.ndarray  # (n D,) posterior mean of the truth, frames -back..T-1
    cov: np.ndarray  # (n D, n D) posterior covariance
    loglik: float
    prior_mean: np.ndarray  # (n D,)
    prior_cov: np.ndarray  # (n D, n D)
    back: int


def judgements_of(data, m):
    """[(k, (T, D) ratings)] of recording m."""
    offset = np.concatenate([[0], np.cumsum(data.length[data.item_of])])
    return [
        (int(data.annotator_of[j]), data.y[offset[j] : offset[j + 1]])
        for j in range(len(data.item_of))
        if data.item_of[j] == m
    ]


def features_of(data, m):
    first = np.concatenate([[0], np.cumsum(data.length)])
    return data.X[first[m] : first[m + 1]]


def prior(params, X, back):
    """Mean and covariance of frames -back..T-1; the features of frame 0 are held before it."""
    n, D = back + len(X), len(params.mu)
    x = np.concatenate([np.repeat(X[:1], back, axis=0), X])
    mean = (params.mu + x @ params.theta).ravel()
    gap = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
    decay = np.where(gap == 0, 1.0, params.phi**gap)
    return mean, np.kron(decay, params.sigma / (1 - params.phi**2)).reshape(n * D, n * D)


def observation(params, ratings, back):
    """Stacked observed ratings y = H a + bias + noise: y, H, bias and the noise covariance."""
    _, W, D, _ = params.F.shape
    T = len(ratings[0][1])
    n = back + T
    rows, bias, y, labels = [], [], [], []
    for k, given in ratings:
        for t in range(T):
            for d in range(D):
                if np.isnan(given[t, d]):
                    continue
                row = np.zeros((n, D))
                for w in range(W):
                    if t - w + back >= 0:
                        row[t - w + back] = params.F[k, w, d]
                rows.append(row.ravel())
                bias.append(params.b[k, d])
                y.append(given[t, d])
                labels.append((k, t, d))
    noise = noise_covariance(params, labels, {k: ~np.isnan(given) for k, given in ratings})
    return np.array(y), np.array(rows), np.array(bias), noise


def noise_covariance(params, labels, seen):
    """Entry by entry: correlated between dimensions at one frame, and in time within an unbroken run."""
    R = np.zeros((len(labels), len(labels)))
    for i, (k, t, d) in enumerate(labels):
        for j, (k2, t2, d2) in enumerate(labels):
            if k != k2:
                continue
            rho = params.rho[k, d]
            if t == t2:
                R[i, j] = params.N[k, d, d2] / (1 - rho**2 if d == d2 else 1)
            elif d == d2 and rho != 0 and seen[k][min(t, t2) : max(t, t2) + 1, d].all():
                R[i, j] = params.N[k, d, d] * rho ** abs(t - t2) / (1 - rho**2)
    return R


def posterior(data, params, m, *, zero_start=False):
    """Condition the joint normal on the ratings, in covariance form."""
    W = params.F.shape[1]
    back = 0 if zero_start else W - 1 + int(np.any(params.rho))
    mean, P = prior(params, features_of(data, m), back)
    y, H, bias, noise = observation(params, judgements_of(data, m), back)
    V = H @ P @ H.T + noise
    residual = y - bias - H @ mean
    gain = np.linalg.solve(V, H @ P).T
    sign, logdet = np.linalg.slogdet(V)
    assert sign > 0
    loglik = -0.5 * (residual @ np.linalg.solve(V, residual) + logdet + len(y) * np.log(2 * np.pi))
    return DenseRecording(mean + gain @ residual, P - gain @ H @ P, float(loglik), mean, P, back)


def window(post, t, W, D):
    """Positions of a[t], a[t-1], ..., a[t-W+1] in the stacked truth; -1 before its first frame."""
    out = []
    for w in range(W):
        frame = t - w + post.back
        out += [frame * D + d if frame >= 0 else -1 for d in range(D)]
    return np.array(out)


def second_moments(data, params, k, d, n, *, zero_start=False, hard=False):
    """S = sum E zz', c = sum y E z and yy over the frames rated by k on d; z = [a[t], .., a[t-n+1], 1]."""
    D = data.y.shape[1]
    S, c, yy = np.zeros((n * D + 1, n * D + 1)), np.zeros(n * D + 1), 0.0
    for m in range(len(data.length)):
        for k2, given in judgements_of(data, m):
            if k2 != k:
                continue
            post = posterior(data, params, m, zero_start=zero_start)
            full = post.cov * (not hard) + np.outer(post.mean, post.mean)
            for t in np.flatnonzero(~np.isnan(given[:, d])):
                at = window(post, t, n, D)
                here = at >= 0
                second = np.where(here[:, None] & here[None, :], full[np.ix_(at, at)], 0.0)
                first = np.where(here, post.mean[at], 0.0)
                z = np.append(first, 1.0)
                S[:-1, :-1] += second
                S[-1, :] += z
                S[:-1, -1] += first
                c += given[t, d] * z
                yy += given[t, d] ** 2
    return S, c, yy


def truth_moments(data, params, *, zero_start=False):
    """Residual moments of the truth around its mean: sum of E e e' by (now, lag one, before, first), and the counts."""
    D = data.y.shape[1]
    now, cross, before, first = (np.zeros((D, D)) for _ in range(4))
    frames = 0
    for m in range(len(data.length)):
        post = posterior(data, params, m, zero_start=zero_start)
        e = post.mean - post.prior_mean
        second = post.cov + np.outer(e, e)
        n = len(e) // D
        block = [[second[i * D : (i + 1) * D, j * D : (j + 1) * D] for j in range(n)] for i in range(n)]
        first += block[0][0]
        for t in range(1, n):
            now += block[t][t]
            cross += block[t][t - 1]
            before += block[t - 1][t - 1]
        frames += n
    return now, cross, before, first, frames


def paper_estep(data, params, m):
    """The appendix, word for word: v = (sum_k sum_d F'F + I)^-1 (sum_k sum_d F' a_k^d + y), vec by columns."""
    _, W, D, _ = params.F.shape
    X = features_of(data, m)
    T = len(X)
    left, right = np.eye(T * D), (X @ params.theta).T.ravel()
    for k, given in judgements_of(data, m):
        for d in range(D):
            B = np.zeros((T, T * D))
            for p in range(D):
                for t in range(T):
                    for w in range(W):
                        if t - w >= 0:
                            B[t, p * T + t - w] = params.F[k, w, d, p]
            seen = ~np.isnan(given[:, d])
            left = left + B[seen].T @ B[seen]
            right = right + B[seen].T @ given[seen, d]
    return np.linalg.solve(left, right).reshape(D, T).T


def paper_mstep(data, truths, W):
    """The paper's M-step from point estimates [(T, D)] per recording: filters, tau^2, theta, sigma^2."""
    K, D = data.K, data.y.shape[1]
    F, tau2 = np.zeros((K, W, D, D)), np.zeros(K)
    for k in range(K):
        square, count = 0.0, 0
        for d in range(D):
            A, y = [], []
            for m, a in enumerate(truths):
                for k2, given in judgements_of(data, m):
                    if k2 != k:
                        continue
                    for t in np.flatnonzero(~np.isnan(given[:, d])):
                        A.append(np.concatenate([a[t - w] if t - w >= 0 else np.zeros(D) for w in range(W)]))
                        y.append(given[t, d])
            A, y = np.array(A), np.array(y)
            f = np.linalg.lstsq(A, y, rcond=None)[0]
            F[k, :, d] = f.reshape(W, D)
            square += np.sum((y - A @ f) ** 2)
            count += len(y)
        tau2[k] = square / count
    X, a = np.concatenate([features_of(data, m) for m in range(len(truths))]), np.concatenate(truths)
    theta = np.linalg.lstsq(X, a, rcond=None)[0]
    return F, tau2, theta, float(np.mean((a - X @ theta) ** 2))
