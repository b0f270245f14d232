"""Exact E-step of the series model: posterior means, covariances within the window, log-likelihood, draws.

One pass per group of equal recordings: precision blocks, factor, solve, selected inverse; then the moments.
BLAS is held to one thread: on blocks of this size more threads only get in each other's way.
Imports NumPy, threadpoolctl and the sibling modules alone.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np
from threadpoolctl import ThreadpoolController

from unisono.maths.linalg.block_tridiagonal import FIXED_TOL, Factor, draw, factor, selected_inverse, solve
from unisono.maths.linalg.chain import Chain, chain_covariances, draw_chain, solve_chain
from unisono.maths.linalg.filters import adjoint_filter, causal_filter
from unisono.maths.series.chain import chain_moments, chain_precision, is_chain
from unisono.maths.series.channels import Whitened, whiten
from unisono.maths.series.covariance import frame_covariances, sum_covariances
from unisono.maths.series.layout import Group, Layout
from unisono.maths.series.moments import Moments, add_moments, group_moments
from unisono.maths.series.params import SeriesParams, Structure
from unisono.maths.series.precision import (
    lags_kept,
    local_rows,
    log_prior_precision,
    precision_blocks,
    unit_rows,
)


class GroupPosterior(NamedTuple):
    a: np.ndarray  # (R, L, D) posterior means on the clock
    factor: Factor | Chain  # of the posterior precision, shared by the recordings of the group
    loglik: float  # log p(y) of the group


class Expectation(NamedTuple):
    moments: Moments
    loglik: float


class Truth(NamedTuple):
    mean: np.ndarray  # (sum T, D) posterior means, recordings end to end
    cov: np.ndarray  # (sum T, D, D) posterior covariance of each frame
    loglik: float


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Inside, BLAS works alone."""
    return cast(AbstractContextManager[Any], _threads().limit(limits=1, user_api="blas"))


def expect(
    layout: Layout,
    params: SeriesParams,
    structure: Structure,
    *,
    covariances: bool = True,
    fixed_tol: float = FIXED_TOL,
) -> Expectation:
    """Moments of the posterior and the log-likelihood. `covariances=False` keeps the means alone (hard EM)."""
    whitened = whiten(layout.channels, params, structure)
    parts, loglik = [], 0.0
    with one_thread():
        for group in layout.groups:
            a, factored, part = group_posterior(layout, group, params, whitened, structure, fixed_tol)
            loglik += part
            if isinstance(factored, Chain):
                assert structure.span is not None
                parts.append(chain_moments(group, layout, a, factored if covariances else None, structure.span))
                continue
            found = None
            if covariances:
                inverse = selected_inverse(factored, fixed_tol=fixed_tol)
                found = sum_covariances(group, layout.n, lags_kept(layout.n), layout.D, inverse)
            del factored  # the largest thing here; the moments need room
            parts.append(group_moments(group, layout, a, found))
    return Expectation(add_moments(parts), loglik)


def log_likelihood(layout: Layout, params: SeriesParams, structure: Structure) -> float:
    """log p(y) alone, without covariances or moments."""
    whitened = whiten(layout.channels, params, structure)
    with one_thread():
        return sum(group_posterior(layout, group, params, whitened, structure).loglik for group in layout.groups)


def infer(layout: Layout, data_X: np.ndarray, params: SeriesParams, structure: Structure) -> Truth:
    """Posterior mean and covariance of the truth at every frame; recordings nobody rated keep the prior."""
    whitened = whiten(layout.channels, params, structure)
    mean = params.mu + data_X @ params.theta
    cov = np.tile(params.sigma / (1.0 - params.phi**2), (len(mean), 1, 1))
    loglik = 0.0
    with one_thread():
        for group in layout.groups:
            posterior = group_posterior(layout, group, params, whitened, structure)
            if isinstance(posterior.factor, Chain):
                shared = chain_covariances(posterior.factor, 1)[group.pre : group.stop, 0]
            else:
                shared = frame_covariances(group, layout.D, selected_inverse(posterior.factor))
            for r, m in enumerate(group.recording):
                rows = slice(layout.first_row[m], layout.first_row[m + 1])
                mean[rows] = posterior.a[r, group.pre : group.stop]
                cov[rows] = shared
            loglik += posterior.loglik
    return Truth(mean, cov, loglik)


def posterior_mean(layout: Layout, data_X: np.ndarray, params: SeriesParams, structure: Structure) -> np.ndarray:
    """(sum T, D) the means of `infer` alone, without covariances."""
    whitened = whiten(layout.channels, params, structure)
    mean = params.mu + data_X @ params.theta
    with one_thread():
        for group in layout.groups:
            a = group_posterior(layout, group, params, whitened, structure).a
            for r, m in enumerate(group.recording):
                mean[layout.first_row[m] : layout.first_row[m + 1]] = a[r, group.pre : group.stop]
    return np.asarray(mean)


def draw_truth(
    layout: Layout, params: SeriesParams, structure: Structure, draws: int, rng: np.random.Generator
) -> np.ndarray:
    """(draws, sum T, D) draws of the truth from its posterior; NaN in recordings nobody rated."""  # eq. S9
    whitened = whiten(layout.channels, params, structure)
    out = np.full((draws, layout.first_row[-1], layout.D), np.nan)
    with one_thread():
        for group in layout.groups:
            posterior = group_posterior(layout, group, params, whitened, structure)
            R = len(group.recording)
            if isinstance(posterior.factor, Chain):
                error = draw_chain(posterior.factor, R * draws, rng)
            else:
                error = np.swapaxes(draw(posterior.factor, R * draws, rng), 0, 1)  # from (nb, R draws, B)
            error = error.reshape(R, draws, group.L, layout.D)
            for r, m in enumerate(group.recording):
                path = posterior.a[r] + error[r]
                out[:, layout.first_row[m] : layout.first_row[m + 1]] = path[:, group.pre : group.stop]
    return out


def group_posterior(
    layout: Layout,
    group: Group,
    params: SeriesParams,
    whitened: Whitened,
    structure: Structure,
    fixed_tol: float = FIXED_TOL,
) -> GroupPosterior:
    """Posterior means, factored precision and log-likelihood of one group."""
    mask_of_row = local_rows(group, layout.channels.row_channel)
    m = params.mu + group.X @ params.theta  # (R, L, D) prior means
    residual, weighted = residuals(group, whitened, m, mask_of_row)
    h = adjoint_filter(weighted, whitened.G[group.row], group.S)
    R, L, D = m.shape
    rows = unit_rows(group, whitened)
    factored: Factor | Chain
    if is_chain(rows, structure):
        factored = chain_precision(group, rows, mask_of_row, params)
        e = solve_chain(factored, h)
    else:
        factored = factor(precision_blocks(group, rows, mask_of_row, params), fixed_tol=fixed_tol)
        rhs = np.swapaxes(h.reshape(R, L // group.S, group.S * D), 0, 1)
        e = np.swapaxes(solve(factored, rhs), 0, 1).reshape(R, L, D)
    count = group.masks.n[group.masks.of]
    sizes = np.bincount(layout.channels.row_channel, minlength=len(layout.channels.channel))[group.channel]
    loglik = -0.5 * (  # eq. S7
        np.sum(residual * weighted)
        + R * (count @ whitened.log_noise[group.channel] + count @ sizes * np.log(2.0 * np.pi))
        + R * (factored.logdet - log_prior_precision(params, L))
        - np.sum(h * e)
    )
    return GroupPosterior(m + e, factored, float(loglik))


def residuals(
    group: Group, whitened: Whitened, m: np.ndarray, mask_of_row: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(R, L, Q_g) ratings less what the prior mean predicts, 0 where missing; and the same times N^-1."""
    G, row = whitened.G[group.row], group.row
    if has_level(group, G.shape[1]):
        predicted = whitened.beta[row] + G.sum(axis=1) @ m[0, 0]
    else:
        predicted = whitened.beta[row] + causal_filter(m, G, group.S)
    residual = (group.y @ whitened.mix[np.ix_(group.raw, row)] - predicted) * group.seen[:, mask_of_row]
    return residual, residual @ whitened.weight[np.ix_(row, row)]


def has_level(group: Group, n: int) -> bool:
    """Whether the prior mean is a constant that was always there, whatever the filters of n taps reach back to."""
    return group.X.shape[2] == 0 and group.pre == n - 1
