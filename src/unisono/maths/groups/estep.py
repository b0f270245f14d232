"""E-step of the model of groups: D x D matrices per item and group, O(ratings) sparse products.

With Q_g (diagonal) and q_g the sums over an item's ratings by group g, and T_g = L (I + L'Q_g L)^-1 L' for L L' = S_g:

    H_g = (I + Q_g S_g)^-1 = I - Q_g T_g,   J_g = H_g Q_g                                                 eq. J4
    Lambda = Sigma^-1 + sum_g A'J_g A,   h = Sigma^-1 m0 + sum_g A'H_g (q_g - Q_g t),   V = Lambda^-1     eq. J5
    E a = V h;  E c = H'(A E a + t) + T q;  Cov c = T + K V K',  Cov(c, a) = K V,  K = H'A                eq. J6
    2 log p(y) = own part of the ratings + sum_g [log|H| + q'T q - t'J t + 2 t'H q]
                 - log|Sigma| - m0'Sigma^-1 m0 + log|V| + h'V h                                           eq. J7

However many members a group has, J_g stays below S_g^-1: the information of a panel saturates. S_g = 0 needs no inverse
and is what the reference has, so that it is a group like the others. The first group always has A = I and t = 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unisono.maths.groups.data import Block, GroupData, Panel
from unisono.maths.groups.params import LOG_2PI, GroupParams, row_seconds, shared_root
from unisono.maths.linalg.small_spd import inverse_and_logdet


class GroupMoments(NamedTuple):
    """Sums over the items that a group rated; abar = [a; 1]."""

    cc: np.ndarray  # (G, D, D) sums of E[c c']
    ca: np.ndarray  # (G, D, D + 1) sums of E[c abar']
    aa: np.ndarray  # (G, D + 1, D + 1) sums of E[abar abar']


@dataclass(eq=False)
class Stats:
    """Sufficient statistics for the M-step; they add up over blocks."""

    items: np.ndarray  # (D + 1, D + 1) sum of E[abar abar'] over all items
    Sza: np.ndarray  # (R, D) sum of z E[a]'
    groups: GroupMoments
    Scc: np.ndarray  # (K, D) sums of E[c_d^2] over ratings
    Scx: np.ndarray  # (K, D, X) sums of E[c_d] x
    Scy: np.ndarray  # (K, D) sums of E[c_d] y
    loglik: float


class View(NamedTuple):
    """What one group tells about the items of a block that it rated."""

    items: np.ndarray  # (m,) places in the block
    Q: np.ndarray  # (m, D) diagonal of Q_g
    q: np.ndarray  # (m, D)
    T: np.ndarray | None  # (m, D, D); None: S_g = 0
    J: np.ndarray  # (m, D, D) about c
    Hq: np.ndarray  # (m, D) H (q - Q t)
    own: np.ndarray  # (m,) the group's part of eq. J7, halved

    def at(self, m: int) -> slice | np.ndarray:
        """Where its items are among the m of the block; a slice, which costs nothing, if it rated them all."""
        return slice(None) if len(self.items) == m else self.items


class Found(NamedTuple):
    """Posteriors of a block of items, and what they are made of."""

    mean: np.ndarray  # (m, D)
    cov: np.ndarray  # (m, D, D)
    total: np.ndarray  # (m, D, D) Lambda
    h: np.ndarray  # (m, D)
    views: tuple[View, ...]
    loglik: np.ndarray  # (m,) without the ratings' own part


class Coefficients(NamedTuple):
    """Per annotator and dimension, over the noise: what ratings are multiplied with."""

    ff: np.ndarray  # (K, D) E[f^2] / N
    f: np.ndarray  # (K, D) E[f] / N
    fx: np.ndarray  # (K, D, X) E[f beta] / N


def expectation(data: GroupData, params: GroupParams) -> tuple[np.ndarray, Stats]:
    """Posterior means (M, D) of all items, and the sufficient statistics of an M-step."""
    mean = np.empty((data.M, data.D))
    stats = _no_stats(data)
    for block, found in posteriors(data, params):
        mean[block.start : block.stop] = found.mean
        _add_block(stats, data, params, block, found)
    stats.loglik += ratings_part(data, params)
    return mean, stats


def posteriors(data: GroupData, params: GroupParams, belief: float = 1.0) -> Iterator[tuple[Block, Found]]:
    """Posteriors of the truths, block by block; what groups beside the first say counts `belief` times."""
    given, precision = coefficients(data, params), np.linalg.inv(params.Sigma)
    logdet = float(np.linalg.slogdet(params.Sigma)[1])
    for block in data.blocks:
        m0 = params.mu + data.scores.Z[block.start : block.stop] @ params.theta
        views = tuple(_view(panel, given, params, g) for g, panel in enumerate(block.panels))
        total = np.repeat(precision[None], len(m0), axis=0)
        prior = m0 @ precision
        h = prior.copy()
        loglik = -0.5 * (logdet + np.einsum("mi,mi->m", m0, prior))
        for g, view in enumerate(views):
            A, at = params.A[g], view.at(len(m0))
            counts = belief if g else 1.0
            total[at] += view.J if g == 0 else counts * sandwiched(view.J, A)
            h[at] += view.Hq if g == 0 else counts * (view.Hq @ A)
            loglik[at] += view.own
        V, log_total = inverse_and_logdet(total)
        mean = np.einsum("mij,mj->mi", V, h)
        loglik += 0.5 * (np.einsum("mi,mi->m", h, mean) - log_total)
        yield block, Found(mean, V, total, h, views, loglik)


def view_moments(view: View, params: GroupParams, g: int, found: Found) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E c (m, D), Cov c (m, D, D) and Cov(c, a) (m, D, D) of the items that group g rated.              eq. J6"""
    mean, K, cross = _seen(view, params, g, found)
    cov = cross @ np.swapaxes(K, 1, 2)
    return mean, cov if view.T is None else cov + view.T, cross


def _seen(view: View, params: GroupParams, g: int, found: Found) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E c (m, D), K (m, D, D) and K V (m, D, D)."""
    A, t, at = params.A[g], params.t[g], view.at(len(found.mean))
    V, (m, D) = found.cov[at], view.q.shape
    expected = found.mean[at] @ A.T + t
    if view.T is None:
        return expected, np.broadcast_to(A, V.shape), V if g == 0 else np.matmul(A, V)
    TQ = view.T * view.Q[:, None, :]
    K = A - (TQ.reshape(m * D, D) @ A).reshape(m, D, D)
    mean = expected - np.einsum("mij,mj->mi", TQ, expected) + np.einsum("mij,mj->mi", view.T, view.q)
    return mean, K, np.matmul(K, V)


def ratings_part(data: GroupData, params: GroupParams) -> float:
    """-1/2 sum over ratings of log 2 pi N + E[(y - beta'x)^2] / N, from the annotators' sums."""
    noise = params.noise(data.group)
    beta, second = params.rows.mean[..., 1:], row_seconds(params.rows)[..., 1:, 1:]
    squares = data.Syy - 2 * np.einsum("kdx,kdx->kd", data.Sxy, beta) + np.einsum("kdxy,kdxy->kd", data.Sxx, second)
    return float(-0.5 * np.sum(data.answers * (LOG_2PI + np.log(noise)) + squares / noise))


def coefficients(data: GroupData, params: GroupParams) -> Coefficients:
    noise = params.noise(data.group)
    second = row_seconds(params.rows)
    return Coefficients(
        second[..., 0, 0] / noise, params.rows.mean[..., 0] / noise, second[..., 0, 1:] / noise[..., None]
    )


def _view(panel: Panel, given: Coefficients, params: GroupParams, g: int) -> View:
    m, (_, D) = len(panel.items), given.f.shape
    Q, q = np.empty((m, D)), np.empty((m, D))
    for d in range(D):
        Q[:, d] = panel.known[d][0] @ np.ascontiguousarray(given.ff[:, d])
        q[:, d] = panel.rated[d] @ np.ascontiguousarray(given.f[:, d])
        for p, x in enumerate(panel.known[d]):
            q[:, d] -= x @ np.ascontiguousarray(given.fx[:, d, p])
    return View(panel.items, Q, q, *informed(Q, q, params.t[g], params.S[g]))


def informed(
    Q: np.ndarray, q: np.ndarray, t: np.ndarray, S: np.ndarray
) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, np.ndarray]:
    """T, J, H (q - Q t) and the part of eq. J7, from the sums Q and q (m, D) of a group's ratings.       eq. J4"""
    m, D = Q.shape
    diagonal = np.arange(D)
    if not S.any():
        J = np.zeros((m, D, D))
        J[:, diagonal, diagonal] = Q
        return None, J, q - Q * t, (q - 0.5 * Q * t) @ t
    L = shared_root(S)
    outer = (L[:, :, None] * L[:, None, :]).reshape(D, D * D)
    W, logdet = inverse_and_logdet((np.eye(D).reshape(-1) + Q @ outer).reshape(m, D, D))
    T = sandwiched(W, L.T)
    J = T * -Q[:, :, None]
    J *= Q[:, None, :]
    J[:, diagonal, diagonal] += Q
    Tq = np.einsum("mij,mj->mi", T, q)
    Hq0, Jt = q - Q * Tq, J @ t
    own = 0.5 * (np.einsum("mi,mi->m", q, Tq) - logdet) + (Hq0 - 0.5 * Jt) @ t
    return T, J, Hq0 - Jt, own


def sandwiched(X: np.ndarray, A: np.ndarray) -> np.ndarray:
    """(m, D, D) A'X A for every X (m, D, D), as one product of large matrices."""
    m, D = len(X), len(A)
    return np.asarray(X.reshape(m, D * D) @ np.kron(A, A)).reshape(m, D, D)


def _no_stats(data: GroupData) -> Stats:
    K, D, G, q = data.K, data.D, data.G, data.D + 1
    groups = GroupMoments(np.zeros((G, D, D)), np.zeros((G, D, q)), np.zeros((G, q, q)))
    sums = np.zeros((K, D)), np.zeros((K, D, data.X)), np.zeros((K, D))
    return Stats(np.zeros((q, q)), np.zeros((data.scores.R, D)), groups, *sums, 0.0)


def _add_block(stats: Stats, data: GroupData, params: GroupParams, block: Block, found: Found) -> None:
    """Adds a block's sums to the statistics, in place."""
    D = data.D
    # Maps are of groups beside the first: what it sees is the truth, or assumed to be.
    learned = range(1, data.G)
    stats.items += _second(found.mean, found.cov)
    stats.Sza += data.scores.Z[block.start : block.stop].T @ found.mean
    stats.loglik += float(found.loglik.sum())
    for g, (panel, view) in enumerate(zip(block.panels, found.views, strict=True)):
        mean, K, cross = _seen(view, params, g, found)
        at = view.at(len(found.mean))
        a = found.mean[at]
        square = mean**2 + np.einsum("mij,mij->mi", cross, K)
        if view.T is not None:
            square += np.diagonal(view.T, axis1=1, axis2=2)
        if g in learned:
            shared = 0.0 if view.T is None else _sum(view.T)
            stats.groups.cc[g] += mean.T @ mean + np.tensordot(cross, K, ((0, 2), (0, 2))) + shared
            stats.groups.ca[g, :, :D] += mean.T @ a + _sum(cross)
            stats.groups.ca[g, :, D] += mean.sum(axis=0)
            stats.groups.aa[g] += _second(a, found.cov[at])
        for d in range(D):
            own = np.ascontiguousarray(mean[:, d])
            stats.Scc[:, d] += panel.known[d][0].T @ np.ascontiguousarray(square[:, d])
            stats.Scy[:, d] += panel.rated[d].T @ own
            for p, x in enumerate(panel.known[d]):
                stats.Scx[:, d, p] += x.T @ own


def _sum(X: np.ndarray) -> np.ndarray:
    """(D, D) sum over the first of X (m, D, D)."""
    return np.asarray(np.ones(len(X)) @ X.reshape(len(X), -1)).reshape(X.shape[1:])


def _second(mean: np.ndarray, cov: np.ndarray) -> np.ndarray:
    """(D + 1, D + 1) sum of E[abar abar']."""
    bar = np.hstack([mean, np.ones((len(mean), 1))])
    total = bar.T @ bar
    total[:-1, :-1] += _sum(cov)
    return np.asarray(total)
