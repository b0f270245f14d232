"""Numbers behind answers at the ends of the scale, item by item and number by number, with moments by quadrature.

Slow and plain on purpose: the truth of an item and the numbers behind its answers are updated in turn until nothing
moves. Parameters as in `ItemParams`; judgements are a list of (annotator, ratings with NaN).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

REACH = 9  # standard deviations beyond which a normal has nothing
NODES, WEIGHTS = np.polynomial.legendre.leggauss(80)


class Found(NamedTuple):
    mean: np.ndarray  # (D,)
    cov: np.ndarray  # (D, D)
    numbers: list  # one array per judgement, NaN where missing
    variances: list  # the same
    bound: float  # E log p(numbers, truth) + entropies


def cut_moments(center, sd, low, high):
    """Mean, variance and entropy of a normal between two bounds, by Gauss-Legendre quadrature."""
    low, high = max(low, center - REACH * sd), min(high, center + REACH * sd)
    if high < center - 2 * sd:  # the density falls towards the far side: nothing is left some way from the bound
        low = max(low, high - 40 * sd**2 / (center - high))
    if low > center + 2 * sd:
        high = min(high, low + 40 * sd**2 / (low - center))
    x, weight = low + (NODES + 1) / 2 * (high - low), WEIGHTS * (high - low) / 2
    log_density = stats.norm.logpdf(x, center, sd)
    mass = weight @ np.exp(log_density)
    share = weight * np.exp(log_density) / mass
    mean = share @ x
    return mean, share @ (x - mean) ** 2, share @ (np.log(mass) - log_density)


def item(params, prior_mean, judgements, cuts, rounds=100, weight=(1.0, 1.0)):
    """The truth of one item and the numbers behind its answers, in turn.

    With probability 1 - `weight` (one per dimension) a number at an end is the answer itself.
    """
    D = len(prior_mean)
    cov_rows = np.zeros((len(params.B), D, D + 1, D + 1)) if params.cov is None else params.cov
    numbers = [answers.copy() for _, answers in judgements]
    variances = [np.where(np.isnan(answers), np.nan, 0.0) for _, answers in judgements]
    entropy = {}
    for _ in range(rounds):
        truth, cov = _truth(params, cov_rows, prior_mean, judgements, numbers)
        before = [own.copy() for own in numbers]
        for n, (k, answers) in enumerate(judgements):
            seen = np.flatnonzero(~np.isnan(answers))
            W = np.linalg.inv(params.N[k][np.ix_(seen, seen)])
            expected = params.F[k] @ truth + params.b[k]
            for i, d in enumerate(seen):
                at_low, at_high = answers[d] <= cuts.low[d], answers[d] >= cuts.high[d]
                if not (at_low or at_high):
                    continue
                error = numbers[n][seen] - expected[seen]
                center = expected[d] - sum(W[i, j] * error[j] for j in range(len(seen)) if j != i) / W[i, i]
                inside = (-np.inf, cuts.low[d]) if at_low else (cuts.high[d], np.inf)
                mean, variance, surprise = cut_moments(center, W[i, i] ** -0.5, *inside)
                numbers[n][d] = weight[d] * mean + (1 - weight[d]) * answers[d]
                squares = weight[d] * (variance + mean**2) + (1 - weight[d]) * answers[d] ** 2
                variances[n][d], entropy[n, d] = squares - numbers[n][d] ** 2, weight[d] * surprise
        moved = [np.nanmax(np.abs(a - b), initial=0.0) for a, b in zip(numbers, before, strict=True)]
        if max(moved, default=0.0) < 1e-13:
            break
    mean, cov = _truth(params, cov_rows, prior_mean, judgements, numbers)
    bound = _bound(params, cov_rows, prior_mean, judgements, numbers, variances, mean, cov)
    return Found(mean, cov, numbers, variances, bound + sum(entropy.values()))


def _truth(params, cov_rows, prior_mean, judgements, numbers):
    D = len(prior_mean)
    precision = np.linalg.inv(params.Sigma)
    linear = precision @ prior_mean
    for (k, _), own in zip(judgements, numbers, strict=True):
        seen = np.flatnonzero(~np.isnan(own))
        W = np.linalg.inv(params.N[k][np.ix_(seen, seen)])
        F = params.F[k][seen]
        precision = precision + F.T @ W @ F
        linear = linear + F.T @ W @ (own[seen] - params.b[k][seen])
        for i, d in enumerate(seen):
            precision = precision + W[i, i] * cov_rows[k, d, :D, :D]
            linear = linear - W[i, i] * cov_rows[k, d, :D, D]
    return np.linalg.solve(precision, linear), np.linalg.inv(precision)


def _bound(params, cov_rows, prior_mean, judgements, numbers, variances, mean, cov):
    """All but the entropies of the numbers."""
    D = len(prior_mean)
    abar = np.append(mean, 1.0)
    away = mean - prior_mean
    total = -0.5 * np.linalg.slogdet(2 * np.pi * params.Sigma)[1]
    total -= 0.5 * (away @ np.linalg.solve(params.Sigma, away) + np.trace(np.linalg.solve(params.Sigma, cov)))
    total += 0.5 * np.linalg.slogdet(2 * np.pi * np.e * cov)[1]
    for n, (k, _) in enumerate(judgements):
        seen = np.flatnonzero(~np.isnan(numbers[n]))
        if not len(seen):
            continue
        N = params.N[k][np.ix_(seen, seen)]
        W, F = np.linalg.inv(N), params.F[k][seen]
        error = numbers[n][seen] - params.B[k][seen] @ abar
        square = error @ W @ error + np.trace(F.T @ W @ F @ cov) + np.diagonal(W) @ variances[n][seen]
        for i, d in enumerate(seen):
            own = cov_rows[k, d]
            square += W[i, i] * (abar @ own @ abar + np.trace(own[:D, :D] @ cov))
        total -= 0.5 * (np.linalg.slogdet(2 * np.pi * N)[1] + square)
    return total
