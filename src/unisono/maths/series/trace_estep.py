"""Exact E-step of the series model: posterior means, covariances within the window, log-likelihood, draws.

One pass per group of equal recordings: precision blocks, factor, solve, selected inverse; then the moments. Where every
row of the filters uses neighbouring frames alone (one gain and one delay, or no filter at all), the posterior is a
Markov chain: the precision is tridiagonal in D x D blocks, whatever the window is, and gaps cost nothing. The M-step of
such rows needs covariances of frames `span` - 1 apart at most.

BLAS is held to one thread: on blocks of this size more threads only get in each other's way.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np
from threadpoolctl import ThreadpoolController

from unisono.maths.linalg import block_tridiagonal, causal_filters
from unisono.maths.linalg.block_tridiagonal import Chain, Factor
from unisono.maths.series import trace_layout, trace_moments
from unisono.maths.series.trace_data import SeriesParams, Structure
from unisono.maths.series.trace_layout import Group, Layout, Whitened


def is_chain(rows: np.ndarray, structure: Structure) -> bool:
    """Whether a posterior with these filters, as `unit_rows` gives them, is a chain. rows: (Q, n, D)."""
    if structure.transform != "delay":
        return False
    used = np.any(rows != 0, axis=2)
    first, last = used.argmax(axis=1), used.shape[1] - 1 - used[:, ::-1].argmax(axis=1)
    return bool(np.all((last - first <= 1) | ~used.any(axis=1)))


def chain_precision(group: Group, rows: np.ndarray, params: SeriesParams) -> Chain:
    """Posterior precision on the group's clock, factored. rows: (C_g, n, D), see `unit_rows`."""  # eq. S31
    A, B = data_precision(group.seen[:, group.masks.of], rows, group.S)
    return block_tridiagonal.factor_chain(*with_prior(A, B, params))


def data_precision(seen: np.ndarray, rows: np.ndarray, S: int) -> tuple[np.ndarray, np.ndarray]:
    """(L, D, D) twice: what ratings say of each frame, and of it with the frame before. seen: (L, Q) bool."""
    Q, n, D = rows.shape
    given = seen.astype(float)[None]
    own = np.einsum("qwd,qwe->qwde", rows, rows).reshape(Q, n, D * D)
    A = causal_filters.adjoint_filter(given, own, S).reshape(-1, D, D)
    beside = np.zeros_like(own)
    beside[:, :-1] = np.einsum("qwd,qwe->qwde", rows[:, :-1], rows[:, 1:]).reshape(Q, n - 1, D * D)
    B = causal_filters.adjoint_filter(given, beside, S).reshape(-1, D, D) if beside.any() else np.zeros_like(A)
    return A, B


def with_prior(A: np.ndarray, B: np.ndarray, params: SeriesParams) -> tuple[np.ndarray, np.ndarray]:
    """The precision of the ratings together with that of the truth's dynamics."""
    between, own = trace_layout.prior_band(params, 2)
    A, B = A + own, B + between
    for end in (0, -1):
        A[end] -= params.phi**2 * np.linalg.inv(params.sigma)
    return A, B


def chain_moments(group: Group, layout: Layout, a: np.ndarray, chain: Chain | None) -> trace_moments.Moments:
    """Moments of one group but for S: rows with a delay are held. a: (R, L, D); chain: None for hard EM."""
    spread = None if chain is None else _lagged(len(a) * block_tridiagonal.chain_covariances(chain, 2)[: group.stop])
    return trace_moments.assemble(group, layout, a, None, spread)


def _lagged(covariance: np.ndarray) -> causal_filters.Lagged:
    """Covariance part of the truth's lagged moments. covariance: (stop, lags, D, D)."""
    first, last, total = covariance[0, 0], covariance[-1, 0], covariance[:, 0].sum(axis=0)
    cross = covariance[1:, 1].sum(axis=0)
    return causal_filters.Lagged(total - first, cross, cross.T, total - last, first)


class GroupPosterior(NamedTuple):
    a: np.ndarray  # (R, L, D) posterior means on the clock
    factor: Factor | Chain  # of the posterior precision, shared by the recordings of the group
    loglik: float  # log p(y) of the group


class Expectation(NamedTuple):
    moments: trace_moments.Moments
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
    fixed_tol: float = block_tridiagonal.FIXED_TOL,
) -> Expectation:
    """Moments of the posterior and the log-likelihood. `covariances=False` keeps the means alone (hard EM)."""
    whitened = trace_layout.whiten(layout.channels, params, structure)
    parts, loglik = [], 0.0
    with one_thread():
        for group in layout.groups:
            a, factored, part = group_posterior(layout, group, params, whitened, structure, fixed_tol)
            loglik += part
            if isinstance(factored, Chain):
                parts.append(chain_moments(group, layout, a, factored if covariances else None))
                continue
            found = None
            if covariances:
                inverse = block_tridiagonal.selected_inverse(factored, fixed_tol=fixed_tol)
                found = trace_moments.sum_covariances(
                    group, layout.n, trace_layout.lags_kept(layout.n), layout.D, inverse
                )
            del factored  # the largest thing here; the moments need room
            parts.append(trace_moments.group_moments(group, layout, a, found))
    return Expectation(trace_moments.add_moments(parts), loglik)


def log_likelihood(layout: Layout, params: SeriesParams, structure: Structure) -> float:
    """log p(y) alone, without covariances or moments."""
    whitened = trace_layout.whiten(layout.channels, params, structure)
    with one_thread():
        return sum(group_posterior(layout, group, params, whitened, structure).loglik for group in layout.groups)


def infer(layout: Layout, data_X: np.ndarray, params: SeriesParams, structure: Structure) -> Truth:
    """Posterior mean and covariance of the truth at every frame; recordings nobody rated keep the prior."""
    whitened = trace_layout.whiten(layout.channels, params, structure)
    mean = params.mu + data_X @ params.theta
    cov = np.tile(params.sigma / (1.0 - params.phi**2), (len(mean), 1, 1))
    loglik = 0.0
    with one_thread():
        for group in layout.groups:
            posterior = group_posterior(layout, group, params, whitened, structure)
            if isinstance(posterior.factor, Chain):
                shared = block_tridiagonal.chain_covariances(posterior.factor, 1)[group.pre : group.stop, 0]
            else:
                shared = trace_moments.frame_covariances(
                    group, layout.D, block_tridiagonal.selected_inverse(posterior.factor)
                )
            for r, m in enumerate(group.recording):
                rows = slice(layout.first_row[m], layout.first_row[m + 1])
                mean[rows] = posterior.a[r, group.pre : group.stop]
                cov[rows] = shared
            loglik += posterior.loglik
    return Truth(mean, cov, loglik)


def posterior_mean(layout: Layout, data_X: np.ndarray, params: SeriesParams, structure: Structure) -> np.ndarray:
    """(sum T, D) the means of `infer` alone, without covariances."""
    whitened = trace_layout.whiten(layout.channels, params, structure)
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
    whitened = trace_layout.whiten(layout.channels, params, structure)
    out = np.full((draws, layout.first_row[-1], layout.D), np.nan)
    with one_thread():
        for group in layout.groups:
            posterior = group_posterior(layout, group, params, whitened, structure)
            R = len(group.recording)
            if isinstance(posterior.factor, Chain):
                error = block_tridiagonal.draw_chain(posterior.factor, R * draws, rng)
            else:
                error = np.swapaxes(
                    block_tridiagonal.draw(posterior.factor, R * draws, rng), 0, 1
                )  # from (nb, R draws, B)
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
    fixed_tol: float = block_tridiagonal.FIXED_TOL,
) -> GroupPosterior:
    """Posterior means, factored precision and log-likelihood of one group."""
    m = params.mu + group.X @ params.theta  # (R, L, D) prior means
    residual, weighted = residuals(group, whitened, m)
    h = causal_filters.adjoint_filter(weighted, whitened.G[group.channel], group.S)
    R, L, D = m.shape
    rows = trace_layout.unit_rows(group, whitened)
    factored: Factor | Chain
    if is_chain(rows, structure):
        factored = chain_precision(group, rows, params)
        e = block_tridiagonal.solve_chain(factored, h)
    else:
        factored = block_tridiagonal.factor(trace_layout.precision_blocks(group, rows, params), fixed_tol=fixed_tol)
        rhs = np.swapaxes(h.reshape(R, L // group.S, group.S * D), 0, 1)
        e = np.swapaxes(block_tridiagonal.solve(factored, rhs), 0, 1).reshape(R, L, D)
    count = group.masks.n[group.masks.of]
    loglik = -0.5 * (  # eq. S7
        np.sum(residual * weighted)
        + R * (count @ (np.log(2.0 * np.pi) - np.log(whitened.weight[group.channel])))
        + R * (factored.logdet - trace_layout.log_prior_precision(params, L))
        - np.sum(h * e)
    )
    return GroupPosterior(m + e, factored, float(loglik))


def residuals(group: Group, whitened: Whitened, m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(R, L, C_g) ratings less what the prior mean predicts, 0 where missing; and the same times N^-1."""
    G, beta = whitened.G[group.channel], whitened.beta[group.channel]
    level = has_level(group, G.shape[1])
    predicted = G.sum(axis=1) @ m[0, 0] if level else causal_filters.causal_filter(m, G, group.S)
    mixed = group.y @ whitened.mix[np.ix_(group.raw, group.channel)]
    residual = (mixed - (beta + predicted)) * group.seen[:, group.masks.of]
    return residual, residual * whitened.weight[group.channel]


def has_level(group: Group, n: int) -> bool:
    """Whether the prior mean is a constant that was always there, whatever the filters of n taps reach back to."""
    return group.X.shape[2] == 0 and group.pre == n - 1
