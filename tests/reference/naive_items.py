"""The global model written straight from the paper's appendix: one DK x DK covariance per item, loops everywhere.

Slow and plain on purpose: it is what the fast code is tested against. Missing entries are rows and columns left out of
the joint normal. F (K, D, D), b (K, D), N (K, D, D), mean (M, D) prior means, Sigma (D, D); y is a list over items of
lists of (annotator, ratings with NaN).
"""

from __future__ import annotations

import numpy as np


def joint_moments(F, b, N, mean, Sigma, annotators):
    """Mean and covariance of [a_*; a_1; ...; a_K] for one item (the paper's joint distribution)."""
    D, n = len(mean), len(annotators)
    mu = [mean] + [F[k] @ mean + b[k] for k in annotators]
    cov = np.zeros((D * (n + 1), D * (n + 1)))
    cov[:D, :D] = Sigma
    for i, ki in enumerate(annotators):
        rows = slice(D * (i + 1), D * (i + 2))
        cov[rows, :D] = F[ki] @ Sigma
        cov[:D, rows] = Sigma @ F[ki].T
        for j, kj in enumerate(annotators):
            cols = slice(D * (j + 1), D * (j + 2))
            cov[rows, cols] = F[ki] @ Sigma @ F[kj].T
            if i == j:
                cov[rows, cols] += N[ki]
    return np.concatenate(mu), cov


def item_posterior(F, b, N, mean, Sigma, judgements):
    """E[a_*], Cov[a_*] and log p(ratings) of one item."""
    D = len(mean)
    annotators = [k for k, _ in judgements]
    mu, cov = joint_moments(F, b, N, mean, Sigma, annotators)
    y = np.concatenate([np.full(D, np.nan)] + [r for _, r in judgements]) if judgements else np.full(D, np.nan)
    seen = np.flatnonzero(~np.isnan(y))
    if not len(seen):
        return mean.copy(), Sigma.copy(), 0.0
    S22 = cov[np.ix_(seen, seen)]
    S12 = cov[np.ix_(range(D), seen)]
    r = y[seen] - mu[seen]
    solved = np.linalg.solve(S22, np.column_stack([r, S12.T]))
    post_mean = mean + S12 @ solved[:, 0]
    post_cov = Sigma - S12 @ solved[:, 1:]
    loglik = -0.5 * (r @ solved[:, 0] + np.linalg.slogdet(S22)[1] + len(seen) * np.log(2 * np.pi))
    return post_mean, post_cov, loglik


def posterior(F, b, N, means, Sigma, y):
    """All items: means (M, D), covariances (M, D, D), log-likelihood of each (M,)."""
    parts = [item_posterior(F, b, N, means[m], Sigma, y[m]) for m in range(len(y))]
    return tuple(np.array(part) for part in zip(*parts, strict=True))


def paper_m_step(y, means, covs, X, K, F_for_tau=None, Theta_for_sigma=None):
    """The paper's updates from E[a] and Cov[a], complete ratings: Theta, F, sigma2, tau2.

    The paper computes sigma2 and tau2 with the parameters of the previous iteration, passed here when wanted.
    """
    M, D = means.shape
    Theta = np.linalg.pinv(X) @ means
    num = np.zeros((K, D, D))
    den = np.zeros((K, D, D))
    for m in range(M):
        second = covs[m] + np.outer(means[m], means[m])
        for k, r in y[m]:
            num[k] += np.outer(r, means[m])
            den[k] += second
    F = np.array([num[k] @ np.linalg.inv(den[k]) for k in range(K)])
    Th = Theta if Theta_for_sigma is None else Theta_for_sigma
    sigma2 = 0.0
    for m in range(M):
        p = Th.T @ X[m]
        sigma2 += np.trace(covs[m]) + means[m] @ means[m] - 2 * p @ means[m] + p @ p
    sigma2 /= M * D
    Ft = F if F_for_tau is None else F_for_tau
    tau2, count = np.zeros(K), np.zeros(K)
    for m in range(M):
        second = covs[m] + np.outer(means[m], means[m])
        for k, r in y[m]:
            tau2[k] += r @ r - 2 * np.trace(Ft[k].T @ np.outer(r, means[m])) + np.trace(Ft[k].T @ Ft[k] @ second)
            count[k] += 1
    return Theta, F, sigma2, tau2 / (D * count)
