"""Coupled truths: a normal with precision blockdiag(base) + sum over pairs of w_p (e_u - e_v)(e_u - e_v)' (eq. V4).

Exact where components are small: they are inverted, many of about one size at once. Where one is large, means come from
conjugate gradients and q(truths) factorises over items: its covariances are the inverses of the diagonal blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from unisono.maths.comparisons.comparison_data import ComparisonData

TOLERANCE = 1e-10  # numerical: of residuals, relative to the right-hand side
MOST_STEPS = 2000  # numerical: of conjugate gradients


class Truths(NamedTuple):
    """A normal posterior of the truths."""

    mean: np.ndarray  # (M, D)
    block: np.ndarray  # (M, D, D) covariances of single items
    apart: np.ndarray  # (P,) variances of the differences of pairs
    log_det: float  # of the covariance


class Bucket(NamedTuple):
    """Components of about one size, padded to the same one; `from_*` are entries of the precision, `at_*` places."""

    shape: tuple[int, int]  # B components of S unknowns
    unknown: np.ndarray  # (B, S), U where it is padding
    from_base: np.ndarray  # entries of base (M, D, D), flat
    at_base: np.ndarray
    pairs: np.ndarray  # pairs inside
    at_low: np.ndarray
    at_high: np.ndarray
    at_cross: np.ndarray  # (2, n) above and below the diagonal


class Coupling(NamedTuple):
    """Where the entries of the precision lie."""

    data: ComparisonData
    buckets: tuple[Bucket, ...]  # none: some component is too large
    indptr: np.ndarray
    indices: np.ndarray
    entry: np.ndarray  # pair behind each entry off the diagonal


def coupling(data: ComparisonData, largest: int) -> Coupling:
    """The pattern of the precision; exact where no component has more than `largest` unknowns."""
    u, v = np.concatenate([data.low, data.high]), np.concatenate([data.high, data.low])
    order = np.lexsort((v, u))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(u, minlength=data.U))])
    entry = np.concatenate([np.arange(len(data.low))] * 2)[order]
    exact = np.bincount(data.component).max(initial=0) * data.D <= largest
    return Coupling(data, tuple(_buckets(data)) if exact else (), indptr, v[order], entry)


def _buckets(data: ComparisonData) -> list[Bucket]:
    """Components in groups whose sizes differ by less than two."""
    M, D = data.M, data.D
    count = np.bincount(data.component)
    group = np.ceil(np.log2(count)).astype(int)
    order = np.argsort(data.component, kind="stable")
    slot = np.empty(M, dtype=np.int64)  # of an item in its component
    slot[order] = np.arange(M) - np.repeat(np.cumsum(count) - count, count)
    found = []
    for size in np.unique(group):
        which = np.flatnonzero(group == size)
        number = np.full(len(count), -1)
        number[which] = np.arange(len(which))
        B, S = len(which), int(count[which].max()) * D
        item = np.flatnonzero(number[data.component] >= 0)
        place = (slot[item][:, None] * D + np.arange(D)).astype(np.int64)  # (n, D)
        b = number[data.component[item]]
        unknown = np.full((B, S), data.U)
        unknown[b[:, None], place] = item[:, None] * D + np.arange(D)
        at_base = (b[:, None, None] * S + place[:, :, None]) * S + place[:, None, :]
        from_base = item[:, None, None] * D * D + np.arange(D * D).reshape(D, D)
        pairs = np.flatnonzero(number[data.component[data.low // D]] >= 0)
        low, high = data.low[pairs], data.high[pairs]
        of = number[data.component[low // D]] * S
        i, j = (slot[x // D] * D + x % D for x in (low, high))
        cross = np.stack([(of + i) * S + j, (of + j) * S + i])
        entries = (of + i) * S + i, (of + j) * S + j, cross
        found.append(Bucket((B, S), unknown, from_base.ravel(), at_base.ravel(), pairs, *entries))
    return found


def solve(where: Coupling, base: np.ndarray, weight: np.ndarray, shift: np.ndarray, start: np.ndarray) -> Truths:
    """The posterior for precisions `base` (M, D, D) by item, `weight` (P,) by pair, and a shift (M, D)."""
    if where.buckets:
        return _exactly(where, base, weight, shift)
    blocks = diagonal_blocks(where.data, base, weight)
    block = np.linalg.inv(blocks)
    mean = conjugate_gradients(product(where, base, weight), shift.reshape(-1, 1), block, start.reshape(-1, 1))
    variance = np.diagonal(block, axis1=1, axis2=2).ravel()
    apart = variance[where.data.low] + variance[where.data.high]
    return Truths(mean.reshape(shift.shape), block, apart, -float(np.linalg.slogdet(blocks)[1].sum()))


def diagonal_blocks(data: ComparisonData, base: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(M, D, D) diagonal blocks of the precision."""
    blocks, D = base.copy(), data.D
    degree = np.bincount(data.low, weight, data.U) + np.bincount(data.high, weight, data.U)
    blocks[:, np.arange(D), np.arange(D)] += degree.reshape(-1, D)
    return blocks


def _exactly(where: Coupling, base: np.ndarray, weight: np.ndarray, shift: np.ndarray) -> Truths:
    D, padded = where.data.D, np.append(shift.ravel(), 0.0)
    mean, apart = np.empty(where.data.U + 1), np.empty(len(weight))
    block, log_det = np.empty(base.size), 0.0
    for one in where.buckets:
        B, S = one.shape
        P = np.bincount(one.at_base, base.ravel()[one.from_base], B * S * S)
        w = weight[one.pairs]
        for at, value in ((one.at_low, w), (one.at_high, w), (one.at_cross.ravel(), -np.tile(w, 2))):
            P += np.bincount(at, value, B * S * S)
        P = P.reshape(B, S, S)
        empty = one.unknown == where.data.U
        P[:, np.arange(S), np.arange(S)] += empty
        C = np.linalg.inv(P)
        log_det -= float(np.linalg.slogdet(P)[1].sum())
        mean[one.unknown] = np.einsum("bij,bj->bi", C, padded[one.unknown])
        flat = C.ravel()
        block[one.from_base] = flat[one.at_base]
        apart[one.pairs] = flat[one.at_low] + flat[one.at_high] - flat[one.at_cross].sum(axis=0)
    return Truths(mean[:-1].reshape(shift.shape), block.reshape(-1, D, D), apart, log_det)


def product(where: Coupling, base: np.ndarray, weight: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The precision times columns (U, S)."""
    M, D = where.data.M, where.data.D
    blocks = diagonal_blocks(where.data, base, weight)
    off = csr_matrix((-weight[where.entry], where.indices, where.indptr), shape=(M * D, M * D))

    def times(x: np.ndarray) -> np.ndarray:
        own = blocks @ x.reshape(M, D, -1)
        return np.asarray(own.reshape(x.shape) + off @ x)

    return times


def conjugate_gradients(
    times: Callable[[np.ndarray], np.ndarray], right: np.ndarray, inverse: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """Solves for columns (U, S) at once; `inverse` (M, D, D) are the inverted diagonal blocks."""
    M, D = inverse.shape[:2]

    def conditioned(r: np.ndarray) -> np.ndarray:
        return np.asarray((inverse @ r.reshape(M, D, -1)).reshape(r.shape))

    x, r = start.copy(), right - times(start)
    least = (TOLERANCE**2) * np.maximum((right * right).sum(axis=0), np.finfo(float).tiny)
    z = conditioned(r)
    direction, rz = z, (r * z).sum(axis=0)
    for _ in range(MOST_STEPS):
        if ((r * r).sum(axis=0) <= least).all():
            break
        along = times(direction)
        curvature = (direction * along).sum(axis=0)
        length = np.divide(rz, curvature, out=np.zeros_like(rz), where=curvature > 0)
        x = x + length * direction
        r = r - length * along
        z = conditioned(r)
        after = (r * z).sum(axis=0)
        direction = z + np.divide(after, rz, out=np.zeros_like(rz), where=rz > 0) * direction
        rz = after
    return x
