"""Dynamic probabilistic CCA: annotators share one course, and each has a course of their own beside it.

Nicolaou, Pavlovic and Pantic (2014), for D dimensions at once. Letters: z shared, s_k annotator k's own, each (D,).
    z[t]   = A z[t-1] + C'x[t] + v,      v ~ N(0, V)             x: features, which may drive what is shared
    s_k[t] = A_k s_k[t-1] + v_k,         v_k ~ N(0, V_k)
    y_k[t] = W_k z[t] + b_k + s_k[t] + e,  e ~ N(0, diag(r_k))                                             # eq. S58
First frames are N(0, I). E-step: states of a recording are a Markov chain, whose precision is factored at once. M-step:
closed form, with floors under the variances, so that log p(y) never falls. What is fused is what the average annotator
would show of z, `mean W z + mean b`: that fixes rotation, sign and scale of z.

With warping, annotator k's trace is read at frame tau_k(t). For each recording, E[z | y_k] of every annotator is
brought onto E[z | y] by dynamic time warping inside a band; kept only where log p(y) of the recording rises.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.linalg.block_tridiagonal import chain_covariances, factor_chain, solve_chain
from unisono.maths.series import trace_averages, trace_data, trace_warping

NOISE_FLOOR = 1e-4  # numerical: least variance, in squared standard deviations of the ratings
DRIFT_FLOOR = 1e-8  # numerical: least eigenvalue of a course's innovations


class SharedDynamics(NamedTuple):
    A: np.ndarray  # (1 + K, D, D) transitions, the shared one first
    V: np.ndarray  # (1 + K, D, D) covariances of the innovations
    C: np.ndarray  # (P, D) effect of the features on the shared course
    W: np.ndarray  # (K, D, D) what annotators show of the shared course
    b: np.ndarray  # (K, D)
    r: np.ndarray  # (K, D) noise variances


class Recording(NamedTuple):
    """Traces of those who rated it; warps turn them into others of the same shape."""

    y: np.ndarray  # (p, T, D) NaN where missing
    who: np.ndarray  # (p,) annotators
    x: np.ndarray  # (T, P)


class States(NamedTuple):
    """Posterior of [z, s_1, ..., s_p], n = (1 + p) D numbers at every frame."""

    mean: np.ndarray  # (T, n)
    cov: np.ndarray  # (T, 2, n, n) with itself and with the frame before
    loglik: float


def recordings(data: trace_data.SeriesData) -> list[Recording]:
    """Every recording with the annotators who rated a frame of it."""
    first = np.cumsum(data.length) - data.length
    found = []
    for y, lo in zip(trace_data.recordings_of(data), first.tolist(), strict=True):
        who = np.flatnonzero(~np.isnan(y).all(axis=(1, 2)))
        found.append(Recording(y[who], who, data.X[lo : lo + y.shape[1]]))
    return found


def starting_point(parts: list[Recording], K: int, D: int, P: int) -> SharedDynamics:
    """Everybody shows the shared course as it is; it is as lasting as the mean of the traces."""
    eye, bias, spread = np.eye(D), np.zeros((K, D)), np.ones((K, D))
    courses = [trace_averages.known_mean(part.y) for part in parts]
    for k in range(K):
        own = [(part.y[part.who == k][0], course) for part, course in zip(parts, courses, strict=True) if k in part.who]
        left = np.concatenate([y - course for y, course in own]) if own else np.zeros((0, D))
        count = np.maximum((~np.isnan(left)).sum(axis=0), 1)
        bias[k] = np.nansum(left, axis=0) / count
        spread[k] = np.maximum(np.nansum((left - bias[k]) ** 2, axis=0) / count, 10 * NOISE_FLOOR)
    steps = np.concatenate([np.diff(course, axis=0) for course in courses])
    move = np.nansum(steps**2, axis=0) / np.maximum((~np.isnan(steps)).sum(axis=0), 1)
    A = np.stack([0.99 * eye, *np.tile(0.95 * eye, (K, 1, 1))])
    V = np.stack([np.diag(np.maximum(move, NOISE_FLOOR)), *(0.1 * spread[:, :, None] * eye)])
    return SharedDynamics(A, V, np.zeros((P, D)), np.tile(eye, (K, 1, 1)), bias, 0.3 * spread)


def states(part: Recording, p: SharedDynamics) -> States:
    """Posterior of all courses of a recording, and log p(y)."""  # eq. S59
    (n_p, T, D), who = part.y.shape, part.who
    n, seen = (1 + n_p) * D, ~np.isnan(part.y)
    q = np.where(seen, 1.0 / p.r[who][:, None], 0.0)
    left = np.where(seen, part.y - p.b[who][:, None], 0.0)
    A, V, drive = _joint(p.A, who), _joint(p.V, who), part.x @ p.C
    precision = _joint(np.linalg.inv(p.V), who)
    step = precision @ A
    H = np.zeros((n_p, D, n))  # rows of the ratings on the state
    for i, k in enumerate(who.tolist()):
        H[i, :, :D] = p.W[k]
        H[i, :, (1 + i) * D : (2 + i) * D] = np.eye(D)
    flat = H.reshape(n_p * D, n)
    weight = np.moveaxis(q, 1, 0).reshape(T, n_p * D)
    diagonal = np.einsum("tr,ri,rj->tij", weight, flat, flat, optimize=True)
    diagonal[0] += np.eye(n)
    diagonal[1:] += precision
    diagonal[:-1] += A.T @ step
    h = (weight * np.moveaxis(left, 1, 0).reshape(T, n_p * D)) @ flat
    pushed = np.zeros((T, n))
    pushed[1:, :D] = drive[1:] @ precision[:D, :D]
    h += pushed
    h[:-1] -= pushed[1:] @ A
    beside = np.tile(-step, (T, 1, 1))
    beside[0] = 0.0
    chain = factor_chain(diagonal, beside)
    mean = solve_chain(chain, h[None])[0]
    squares = (q * left**2).sum() + (pushed[1:, :D] * drive[1:]).sum() - (h * mean).sum()
    noise = (seen * np.log(2 * np.pi * p.r[who])[:, None]).sum()
    logdet = (T - 1) * np.linalg.slogdet(V)[1] + chain.logdet
    return States(mean, chain_covariances(chain, 2), float(-0.5 * (squares + noise + logdet)))


def _joint(blocks: np.ndarray, who: np.ndarray) -> np.ndarray:
    """(n, n) block diagonal of the shared block and those of the annotators."""
    D = blocks.shape[1]
    whole = np.zeros(((1 + len(who)) * D,) * 2)
    for i, block in enumerate(blocks[np.concatenate([[0], who + 1])]):
        whole[i * D : (i + 1) * D, i * D : (i + 1) * D] = block
    return whole


class Moments(NamedTuple):
    """Sums over frames of what the M-step needs."""

    now: np.ndarray  # (1 + K, D, D) E[s s'] but for first frames
    cross: np.ndarray  # (1 + K, D + P, D) E[(s before, x) s']; x of the shared course alone
    before: np.ndarray  # (1 + K, D + P, D + P)
    steps: np.ndarray  # (1 + K,) frames with a frame before them
    seen: np.ndarray  # (K, D, D + 1, D + 1) E[(z, 1) (z, 1)'] over rated frames
    said: np.ndarray  # (K, D, D + 1) E[(z, 1) (y - s)]
    squares: np.ndarray  # (K, D) E[(y - s)^2]


def _no_moments(K: int, D: int, P: int) -> Moments:
    Q = D + P
    course = np.zeros((1 + K, D, D)), np.zeros((1 + K, Q, D)), np.zeros((1 + K, Q, Q)), np.zeros(1 + K)
    return Moments(*course, np.zeros((K, D, D + 1, D + 1)), np.zeros((K, D, D + 1)), np.zeros((K, D)))


def _add_moments(total: Moments, part: Recording, found: States) -> None:
    """Adds a recording's sums to `total`."""
    T, D = part.y.shape[1:]
    own = found.cov[:, 0] + found.mean[:, :, None] * found.mean[:, None]
    late = (found.cov[1:, 1] + found.mean[1:, :, None] * found.mean[:-1, None]).sum(axis=0)  # E[s_t s_{t-1}']
    whole = own.sum(axis=0)
    for i, block in enumerate([0, *(part.who + 1).tolist()]):
        at = slice(i * D, (i + 1) * D)
        total.now[block] += whole[at, at] - own[0, at, at]
        total.cross[block, :D] += late[at, at].T
        total.before[block, :D, :D] += whole[at, at] - own[-1, at, at]
        total.steps[block] += T - 1
    x, z = part.x[1:], found.mean[:, :D]
    total.cross[0, D:] += x.T @ z[1:]
    total.before[0, D:, :D] += x.T @ z[:-1]
    total.before[0, :D, D:] += z[:-1].T @ x
    total.before[0, D:, D:] += x.T @ x
    for i, k in enumerate(part.who.tolist()):
        for d in range(D):
            rated, at = ~np.isnan(part.y[i, :, d]), (1 + i) * D + d
            left = part.y[i, rated, d] - found.mean[rated, at]
            total.seen[k, d, :D, :D] += own[rated, :D, :D].sum(axis=0)
            total.seen[k, d, :D, D] += z[rated].sum(axis=0)
            total.seen[k, d, D, :D] += z[rated].sum(axis=0)
            total.seen[k, d, D, D] += rated.sum()
            total.said[k, d, :D] += left @ z[rated] - found.cov[rated, 0, :D, at].sum(axis=0)
            total.said[k, d, D] += left.sum()
            total.squares[k, d] += left @ left + found.cov[rated, 0, at, at].sum()


def maximised(p: SharedDynamics, total: Moments) -> SharedDynamics:
    """Parameters with the greatest expected log density; who rated nothing keeps theirs."""  # eq. S60
    D, P = p.W.shape[1], len(p.C)
    A, V, C, W, b, r = (value.copy() for value in p)
    for block in np.flatnonzero(total.steps).tolist():
        used = D + P if block == 0 else D
        gram, cross = total.before[block, :used, :used], total.cross[block, :used]
        slope = np.linalg.pinv(gram, hermitian=True) @ cross  # (used, D)
        A[block] = slope[:D].T
        rest = (total.now[block] - slope.T @ cross - cross.T @ slope + slope.T @ gram @ slope) / total.steps[block]
        V[block] = _floored(rest)
        if block == 0:
            C = slope[D:]
    gram = total.seen[:, :, :, D][:, :, D]  # (K, D) rated frames
    for k, d in np.argwhere(gram > 0).tolist():
        slope = np.linalg.pinv(total.seen[k, d], hermitian=True) @ total.said[k, d]
        W[k, d], b[k, d] = slope[:D], slope[D]
        square = total.squares[k, d] - 2 * slope @ total.said[k, d] + slope @ total.seen[k, d] @ slope
        r[k, d] = max(square / gram[k, d], NOISE_FLOOR)
    return SharedDynamics(A, V, C, W, b, r)


def _floored(cov: np.ndarray) -> np.ndarray:
    value, vector = np.linalg.eigh(0.5 * (cov + cov.T))
    return np.asarray((vector * np.maximum(value, DRIFT_FLOOR)) @ vector.T)


def em_step(parts: list[Recording], p: SharedDynamics) -> tuple[SharedDynamics, float]:
    """The next parameters, and log p(y) at the given ones."""
    total, loglik = _no_moments(len(p.W), p.W.shape[1], len(p.C)), 0.0
    for part in parts:
        found = states(part, p)
        _add_moments(total, part, found)
        loglik += found.loglik
    return maximised(p, total), loglik


def warped_onto_shared(part: Recording, origin: Recording, p: SharedDynamics, reach: int) -> Recording:
    """Every trace of `origin` warped onto the shared course of `part`, at most `reach` frames, if log p(y) rises."""
    # eq. S61
    if len(part.who) < 2 or not reach:
        return part
    D, here = part.y.shape[2], states(part, p)
    shown = p.W[part.who].mean(axis=0)
    target = here.mean[:, :D] @ shown.T
    alone = [origin._replace(y=origin.y[i : i + 1], who=origin.who[i : i + 1]) for i in range(len(origin.who))]
    paths = trace_warping.warp_paths(np.stack([states(one, p).mean[:, :D] for one in alone]) @ shown.T, target, reach)
    moved = np.stack([trace_warping.warped(y, path, len(target)) for y, path in zip(origin.y, paths, strict=True)])
    after = origin._replace(y=moved)
    comparable = (~np.isnan(moved)).sum() == (~np.isnan(part.y)).sum()
    return after if comparable and states(after, p).loglik > here.loglik else part


def everybody(p: SharedDynamics, rated: np.ndarray) -> SharedDynamics:
    """Who rated nothing becomes the average annotator, and so does one more: newcomers. rated: (K,) bool."""
    K = len(p.W)
    place = np.append(np.where(rated, np.arange(K), K), K)

    def rows(value: np.ndarray) -> np.ndarray:
        return np.asarray(np.concatenate([value, value[rated].mean(axis=0, keepdims=True)])[place])

    A, V = (np.concatenate([value[:1], rows(value[1:])]) for value in (p.A, p.V))
    return SharedDynamics(A, V, p.C, rows(p.W), rows(p.b), rows(p.r))


def shown_course(part: Recording, p: SharedDynamics) -> tuple[np.ndarray, np.ndarray]:
    """Mean (T, D) and covariance (T, D, D) of what the average annotator shows; p: of `everybody`."""
    D, found = p.W.shape[1], states(part, p)
    shown, level = p.W[-1], p.b[-1]
    return found.mean[:, :D] @ shown.T + level, shown @ found.cov[:, 0, :D, :D] @ shown.T
