"""E-step of the model of groups, and leave-one-out truths: D x D matrices per item and group, O(ratings) products.

With Q_g (diagonal) and q_g the sums over an item's ratings by group g, and T_g = L (I + L'Q_g L)^-1 L' for L L' = S_g:

    H_g = (I + Q_g S_g)^-1 = I - Q_g T_g,   J_g = H_g Q_g                                                 eq. J4
    Lambda = Sigma^-1 + sum_g A'J_g A,   h = Sigma^-1 m0 + sum_g A'H_g (q_g - Q_g t),   V = Lambda^-1     eq. J5
    E a = V h;  E c = H'(A E a + t) + T q;  Cov c = T + K V K',  Cov(c, a) = K V,  K = H'A                eq. J6
    2 log p(y) = own part of the ratings + sum_g [log|H| + q'T q - t'J t + 2 t'H q]
                 - log|Sigma| - m0'Sigma^-1 m0 + log|V| + h'V h                                           eq. J7

However many members a group has, J_g stays below S_g^-1: the information of a panel saturates. S_g = 0 needs no inverse
and is what the reference has, so that it is a group like the others. The first group always has A = I and t = 0. Taking
a judgement out changes the sums Q, q of its own group alone, so that only that group's part of J5 is made again
(eq. J22).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unisono.maths.groups.group_data import LOG_2PI, Block, GroupData, GroupParams, Panel, row_seconds, shared_root
from unisono.maths.items.item_estimates import Predictive
from unisono.maths.linalg.small_spd import inverse_of_entries


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


def posteriors(data: GroupData, params: GroupParams) -> Iterator[tuple[Block, Found]]:
    """Posteriors of the truths, block by block."""
    given, precision = coefficients(data, params), np.linalg.inv(params.Sigma)
    logdet = float(np.linalg.slogdet(params.Sigma)[1])
    for block in data.blocks:
        # Inside, entries come first and items last, (D, D, m): numpy's loops then run over items.
        m0 = (params.mu + data.scores.Z[block.start : block.stop] @ params.theta).T
        views = tuple(_view(panel, given, params, g) for g, panel in enumerate(block.panels))
        D, m = m0.shape
        total = np.empty((D, D, m))
        total[:] = precision[:, :, None]
        prior = precision @ m0
        h = prior.copy()
        loglik = -0.5 * (logdet + np.einsum("im,im->m", m0, prior))
        for g, view in enumerate(views):
            A, at, J, Hq = params.A[g], view.at(m), _entries(view.J), view.Hq.T
            if g:
                J, Hq = sandwiched(J, A), A.T @ Hq
            total[:, :, at] += J
            h[:, at] += Hq
            loglik[at] += view.own
        V, log_total = inverse_of_entries(total)
        mean = np.einsum("ijm,jm->im", V, h)
        loglik += 0.5 * (np.einsum("im,im->m", h, mean) - log_total)
        yield block, Found(mean.T, _by_item(V), _by_item(total), h.T, views, loglik)


def view_moments(view: View, params: GroupParams, g: int, found: Found) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E c (m, D), Cov c (m, D, D) and Cov(c, a) (m, D, D) of the items that group g rated.              eq. J6"""
    mean, K, cross = _seen(view, params, g, found)
    cov = np.einsum("ijm,kjm->ikm", cross, K)
    if view.T is not None:
        cov += _entries(view.T)
    return mean.T, _by_item(cov), _by_item(cross)


def _seen(view: View, params: GroupParams, g: int, found: Found) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E c (D, m), K (D, D, m) and K V (D, D, m)."""
    A, t, at = params.A[g], params.t[g][:, None], view.at(len(found.mean))
    V = _entries(found.cov)[:, :, at]
    expected = A @ found.mean.T[:, at] + t
    if view.T is None:
        K = np.broadcast_to(A[:, :, None], V.shape)
        return expected, K, V if g == 0 else np.einsum("ij,jkm->ikm", A, V)
    T = _entries(view.T)
    TQ = T * view.Q.T
    K = A[:, :, None] - np.matmul(A.T, TQ)
    mean = expected - np.einsum("ijm,jm->im", TQ, expected) + np.einsum("ijm,jm->im", T, view.q.T)
    return mean, K, np.einsum("ijm,jkm->ikm", K, V)


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
    counted = panel.counted(np.stack([given.ff, given.fx[..., 0]], axis=2))
    Q, q = np.ascontiguousarray(counted[:, :, 0]), np.empty((D, m))
    for d in range(D):
        q[d] = panel.rated[d] @ np.ascontiguousarray(given.f[:, d]) - counted[d, :, 1]
        for p, x in enumerate(panel.known[d][1:], 1):
            q[d] -= x @ np.ascontiguousarray(given.fx[:, d, p])
    return View(panel.items, Q.T, q.T, *informed(Q.T, q.T, params.t[g], params.S[g]))


def informed(
    Q: np.ndarray, q: np.ndarray, t: np.ndarray, S: np.ndarray
) -> tuple[np.ndarray | None, np.ndarray, np.ndarray, np.ndarray]:
    """T, J, H (q - Q t) and the part of eq. J7, from the sums Q and q (m, D) of a group's ratings.       eq. J4"""
    m, D = Q.shape
    Q, q = np.ascontiguousarray(Q.T), np.ascontiguousarray(q.T)
    diagonal = np.arange(D)
    if not S.any():
        J = np.zeros((D, D, m))
        J[diagonal, diagonal] = Q
        Qt = Q * t[:, None]
        return None, _by_item(J), (q - Qt).T, t @ (q - 0.5 * Qt)
    L = shared_root(S)
    outer = (L[:, :, None] * L[:, None, :]).reshape(D, D * D)
    inner = (outer.T @ Q).reshape(D, D, m)
    inner[diagonal, diagonal] += 1.0
    W, logdet = inverse_of_entries(inner)
    T = sandwiched(W, L.T)
    J = -T * Q
    J *= Q[:, None]
    J[diagonal, diagonal] += Q
    Tq = np.einsum("ijm,jm->im", T, q)
    Hq0, Jt = q - Q * Tq, np.einsum("j,jim->im", t, J)
    own = 0.5 * (np.einsum("im,im->m", q, Tq) - logdet) + t @ (Hq0 - 0.5 * Jt)
    return _by_item(T), _by_item(J), (Hq0 - Jt).T, own


def sandwiched(X: np.ndarray, A: np.ndarray) -> np.ndarray:
    """(D, D, m) A'X A for every X (D, D, m), as one product of large matrices."""
    D = len(A)
    return np.asarray(np.kron(A, A).T @ X.reshape(D * D, -1)).reshape(D, D, -1)


def _entries(X: np.ndarray) -> np.ndarray:
    """(D, D, m) the entries of X (m, D, D), without a copy."""
    return X.transpose(1, 2, 0)


def _by_item(X: np.ndarray) -> np.ndarray:
    """(m, D, D) of entries X (D, D, m), without a copy."""
    return X.transpose(2, 0, 1)


def _no_stats(data: GroupData) -> Stats:
    K, D, G, q = data.K, data.D, data.G, data.D + 1
    groups = GroupMoments(np.zeros((G, D, D)), np.zeros((G, D, q)), np.zeros((G, q, q)))
    sums = np.zeros((K, D)), np.zeros((K, D, data.X)), np.zeros((K, D))
    return Stats(np.zeros((q, q)), np.zeros((data.scores.R, D)), groups, *sums, 0.0)


def _add_block(stats: Stats, data: GroupData, params: GroupParams, block: Block, found: Found) -> None:
    """Adds a block's sums to the statistics, in place."""
    D, truth, spread = data.D, found.mean.T, _entries(found.cov)
    stats.items += _second(truth, spread)
    stats.Sza += data.scores.Z[block.start : block.stop].T @ found.mean
    stats.loglik += float(found.loglik.sum())
    for g, (panel, view) in enumerate(zip(block.panels, found.views, strict=True)):
        mean, K, cross = _seen(view, params, g, found)
        if view.T is None and g == 0:
            square = mean**2 + np.einsum("iim->im", cross)  # K = I
        else:
            square = mean**2 + np.einsum("ijm,ijm->im", cross, K)
        if view.T is not None:
            square += np.einsum("iim->im", _entries(view.T))
        if g:  # what the first group sees is the truth, or assumed to be: it has no map
            at = view.at(len(found.mean))
            a = truth[:, at]
            stats.groups.cc[g] += mean @ mean.T + np.tensordot(cross, K, ((1, 2), (1, 2)))
            if view.T is not None:
                stats.groups.cc[g] += _entries(view.T).sum(axis=2)
            stats.groups.ca[g, :, :D] += mean @ a.T + cross.sum(axis=2)
            stats.groups.ca[g, :, D] += mean.sum(axis=1)
            stats.groups.aa[g] += _second(a, spread[:, :, at])
        both = panel.given(np.stack([square, mean], axis=1))
        stats.Scc += both[..., 0]
        stats.Scx[..., 0] += both[..., 1]
        for d in range(D):
            stats.Scy[:, d] += panel.rated[d].T @ mean[d]
            for p, x in enumerate(panel.known[d][1:], 1):
                stats.Scx[:, d, p] += x.T @ mean[d]


def _second(mean: np.ndarray, cov: np.ndarray) -> np.ndarray:
    """(D + 1, D + 1) sum of E[abar abar'] over items with means (D, m) and covariances (D, D, m)."""
    bar = np.vstack([mean, np.ones((1, mean.shape[1]))])
    total = bar @ bar.T
    total[:-1, :-1] += cov.sum(axis=2)
    return np.asarray(total)


def left_out_means(
    data: GroupData,
    params: GroupParams,
    value: np.ndarray,
    item_of: np.ndarray,
    annotator_of: np.ndarray,
    covariates: np.ndarray | None = None,
) -> np.ndarray:
    """(J, D) the truth of each judgement's item as the others give it; judgements as `prepare_groups` got them."""
    means = np.empty_like(value)
    given = coefficients(data, params)
    for block, found in posteriors(data, params):
        low, high = np.searchsorted(item_of, [block.start, block.stop])
        for g, view in enumerate(found.views):
            at = low + np.flatnonzero(data.group[annotator_of[low:high]] == g)
            if not len(at):
                continue
            who, item = annotator_of[at], item_of[at] - block.start
            place = np.searchsorted(view.items, item)
            seen, y = ~np.isnan(value[at]), np.nan_to_num(value[at])
            x = np.ones((len(at), 1)) if covariates is None else np.hstack([np.ones((len(at), 1)), covariates[at]])
            Q = np.maximum(view.Q[place] - seen * given.ff[who], 0.0)
            q = view.q[place] - seen * (given.f[who] * y - np.einsum("ndx,nx->nd", given.fx[who], x))
            _, J, Hq, _ = informed(Q, q, params.t[g], params.S[g])
            A = params.A[g]
            total = found.total[item] + A.T @ (J - view.J[place]) @ A
            h = found.h[item] + (Hq - view.Hq[place]) @ A
            means[at] = np.linalg.solve(total, h[:, :, None])[:, :, 0]
    return means


def predicted_answers(
    data: GroupData, params: GroupParams, item_of: np.ndarray, annotator_of: np.ndarray, covariates: np.ndarray | None
) -> Predictive:
    """Answers (J, D) of annotators to items, from the posterior of what their group sees in them.       eq. J23"""
    mean, variance = np.empty((len(item_of), data.D)), np.empty((len(item_of), data.D))
    group, noise = data.group[annotator_of], params.noise(data.group)
    for block, found in posteriors(data, params):
        inside = (item_of >= block.start) & (item_of < block.stop)
        for g, view in enumerate(found.views):
            c = found.mean @ params.A[g].T + params.t[g]
            spread = np.diagonal(params.A[g] @ found.cov @ params.A[g].T + params.S[g], axis1=1, axis2=2).copy()
            rated, cov, _ = view_moments(view, params, g, found)
            c[view.items], spread[view.items] = rated, np.diagonal(cov, axis1=1, axis2=2)
            at = np.flatnonzero(inside & (group == g))
            who, item = annotator_of[at], item_of[at] - block.start
            ones = np.ones((len(at), 1))
            x = ones if covariates is None else np.hstack([ones, covariates[at]])
            z = np.concatenate([c[item][:, :, None], np.repeat(x[:, None, :], data.D, axis=1)], axis=2)
            rows, rows_cov = params.rows.mean[who], params.rows.cov[who]
            mean[at] = np.einsum("ndi,ndi->nd", rows, z)
            variance[at] = (
                noise[who]
                + (rows[..., 0] ** 2 + rows_cov[..., 0, 0]) * spread[item]
                + np.einsum("ndi,ndij,ndj->nd", z, rows_cov, z, optimize=True)
            )
    return Predictive(mean, variance)
