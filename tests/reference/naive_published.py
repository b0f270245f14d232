"""Published models of items answer by answer: integrals over annotators, joint normals of items, nodes one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy import integrate, stats


def type_evidence(y, mean, var, slope, offset, kappa, alpha, beta):
    """Log of the integral over offset and precision of exp E_q log p(answers), the offset on a fine grid."""
    u = np.linspace(-12, 12, 2001)
    w = stats.norm.pdf(u) * (u[1] - u[0])

    def log_given(precision):
        b = u * np.sqrt(kappa / precision) if offset else np.zeros(1)
        away = (y[:, None] - slope * mean[:, None] - b) ** 2 + slope**2 * var[:, None]
        log = (0.5 * np.log(precision / (2 * np.pi)) - 0.5 * precision * away).sum(axis=0)
        return np.log(np.sum((w if offset else np.ones(1)) * np.exp(log - log.max()))) + log.max()

    def log_density(log_precision):
        precision = np.exp(log_precision)
        return log_given(precision) + stats.gamma.logpdf(precision, alpha, scale=1 / beta) + log_precision

    grid = np.linspace(-12, 12, 2001)
    top = max(log_density(x) for x in grid)
    total, _ = integrate.quad(lambda x: np.exp(log_density(x) - top), -12, 12, limit=500, epsabs=1e-13, epsrel=1e-12)
    return np.log(total) + top


def region_posterior(answers, Z, pi, center, width, prior, s2, bias, noise):
    """Shares of regions, truth's mean and variance given each, and log density, of one item.

    `answers` are (annotator, value) pairs, `prior` the mean that features foretell.
    """
    R, who = len(pi), [k for k, _ in answers]
    log, mean, var = np.zeros(R), np.zeros(R), np.zeros(R)
    for r in range(R):
        log[r] = np.log(pi[r]) + stats.norm.logpdf(Z, center[r], np.sqrt(width[r])).sum()
        if not answers:
            mean[r], var[r] = prior, s2
            continue
        cov = s2 * np.ones((len(who), len(who))) + np.diag(noise[who, r])
        away = np.array([value - bias[k] - prior for k, value in answers])
        log[r] += stats.multivariate_normal.logpdf(away, cov=cov)
        mean[r] = prior + s2 * np.ones(len(who)) @ np.linalg.solve(cov, away)
        var[r] = s2 - s2**2 * np.ones(len(who)) @ np.linalg.solve(cov, np.ones(len(who)))
    total = np.logaddexp.reduce(log)
    return np.exp(log - total), mean, var, total


def bent(a):
    """phi of one truth."""
    D = len(a)
    pairs = [a[i] * a[j] for i in range(D) for j in range(i + 1, D)]
    return np.array([1.0, *a, *(x * x for x in a), *pairs, *(abs(x) for x in a)])


def curved_item_bound(answers, mean, V, B, cov, noise, Sigma, n):
    """One item's part of the bound; `answers` are (annotator, dimension, value) triples."""
    u, w = np.polynomial.hermite_e.hermegauss(n)
    w = w / w.sum()
    size, turn = np.linalg.eigh(V)
    root = turn @ np.diag(np.sqrt(size)) @ turn.T
    total = 0.0
    for at in product(range(n), repeat=len(mean)):
        phi = bent(mean + root @ u[list(at)])
        for k, d, y in answers:
            square = (y - B[k, d] @ phi) ** 2 + phi @ cov[k, d] @ phi
            total += np.prod(w[list(at)]) * -0.5 * (np.log(2 * np.pi * noise[k, d]) + square / noise[k, d])
    inverse = np.linalg.inv(Sigma)
    divergence = np.trace(inverse @ V) + mean @ inverse @ mean - len(mean)
    return total - 0.5 * (divergence + np.linalg.slogdet(Sigma)[1] - np.linalg.slogdet(V)[1])


def class_posterior(answers, z, theta, w, pi, center, width):
    """(R, C) joint probability of region and class of one item, and its log density; (annotator, class, weight)."""
    R, C = len(pi), w.shape[1]
    logits = np.array([w[0, c] + z @ w[1:, c] for c in range(C)])
    log = np.zeros((R, C))
    for r in range(R):
        for c in range(C):
            log[r, c] = np.log(pi[r]) + stats.norm.logpdf(z, center[r], np.sqrt(width[r])).sum()
            log[r, c] += logits[c] - np.log(np.exp(logits).sum())
            log[r, c] += sum(weight * np.log(theta[r, k, c, given]) for k, given, weight in answers)
    total = np.log(np.exp(log).sum())
    return np.exp(log - total), total
