"""Causal filters on a clock of blocks, their adjoint, lagged products and moments, window sums by recursion.

A window at frame s is a[s], a[s-1], ..., a[s-n+1]; before the clock's first frame there is nothing (zeros). Every
operation is one matrix product per pair of neighbouring blocks, or one per tap where few taps are in use (delays); the
T x n D matrix of windows is never made.

Sheared views are the indexing behind every lag-banded array: on a clock of nb blocks of S frames, lags l = 0..n-1 with
n <= S + 1, what frame r of a block shares with the frame l earlier lies in column S + r - l of a row of 2 S frames, the
previous block and the block itself. Read along the lags, such rows are a parallelogram; `sheared` looks at it as a
rectangle.

Lagged moments: for two series u, v the quasi-differences u[t] - phi u[t-1] (the first frame times sqrt(1 - phi^2)) have
a cross-product that is a polynomial in phi; its coefficients are kept, so that phi can be searched for free.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided


def sheared(rows: np.ndarray, n: int) -> np.ndarray:
    """(N, S, Q, n, D) view of `rows` (N, S, Q, 2 S, D), C-contiguous: entry j is the column of lag n - 1 - j.

    Writing into the view writes into `rows`.
    """
    N, S, Q, _, D = rows.shape
    first = rows[:, :, :, S - n + 1 :, :]  # frame 0 of a block starts at column S - (n - 1)
    block, row, line, frame, entry = rows.strides
    return as_strided(first, (N, S, Q, n, D), (block, row + frame, line, frame, entry))


def filter_template(G: np.ndarray, S: int) -> np.ndarray:
    """(S Q, 2 S D) matrix that takes [previous block, block] of the truth to the S x Q outputs of a block.

    G: (Q, n, D) filters, lag 0 first.
    """
    Q, n, D = G.shape
    rows = np.zeros((1, S, Q, 2 * S, D))
    sheared(rows, n)[...] = G[:, ::-1, :]
    return rows.reshape(S * Q, 2 * S * D)


def with_previous(a: np.ndarray, S: int) -> np.ndarray:
    """(R nb, 2 S D) every block of `a` (R, L, D) with the one before it; zeros before the first."""
    R, L, D = a.shape
    block = a.reshape(R, L // S, S * D)
    out = np.zeros((R, L // S, 2 * S * D))
    out[:, 1:, : S * D] = block[:, :-1]
    out[:, :, S * D :] = block
    return out.reshape(R * (L // S), 2 * S * D)


def split_band(band: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal block (lower triangle filled) and block to the left, both (S D, S D), of one block row.

    band: (S, D, n, D) by lag, entry j is lag n - 1 - j.
    """
    S, D, n, _ = band.shape
    rows = np.zeros((1, S, D, 2 * S, D))
    sheared(rows, n)[...] = band
    left = np.ascontiguousarray(rows[0, :, :, :S]).reshape(S * D, S * D)
    diagonal = np.ascontiguousarray(rows[0, :, :, S:]).reshape(S * D, S * D)
    return diagonal, left


def join_band(diagonal: np.ndarray, left: np.ndarray, D: int, n: int) -> np.ndarray:
    """(S, D, n, D) the lag band of one block row, copied out of its blocks; inverse of `split_band`."""
    S = len(diagonal) // D
    rows = np.concatenate([left.reshape(S, D, S, D), diagonal.reshape(S, D, S, D)], axis=2)
    return np.array(sheared(rows[None], n)[0])


def lag_pairs(R: np.ndarray, n: int) -> np.ndarray:
    """(W, n, D, D) entry [w, j] is R[w, :, w + l, :], l = n - 1 - j; zero beyond the window.

    R: (W, D, W, D), a symmetric form on the window a[s], ..., a[s - W + 1].
    """
    W, D = R.shape[:2]
    out = np.zeros((W, n, D, D))
    for lag in range(min(n, W)):
        w = np.arange(W - lag)
        out[w, n - 1 - lag] = R[w, :, w + lag, :]
    return out


def from_lag_pairs(pairs: np.ndarray) -> np.ndarray:
    """(W, D, W, D) symmetric form whose lag pairs (W, n, D, D) are given; inverse of `lag_pairs`."""
    W, n, D, _ = pairs.shape
    R = np.zeros((W, D, W, D))
    for lag in range(min(n, W)):
        w = np.arange(W - lag)
        R[w, :, w + lag, :] = pairs[w, n - 1 - lag]
        R[w + lag, :, w, :] = np.swapaxes(pairs[w, n - 1 - lag], 1, 2)
    return R


DENSE = 4  # numerical: filters with more than one tap in DENSE in use are cheaper as a whole


def causal_filter(a: np.ndarray, G: np.ndarray, S: int) -> np.ndarray:
    """(R, L, Q) out[s, q] = sum over w of G[q, w] . a[s-w]. a: (R, L, D), G: (Q, n, D), n <= S + 1."""
    R, L, _ = a.shape
    taps = _few_taps(G)
    if taps is None:
        return np.asarray(with_previous(a, S) @ filter_template(G, S).T).reshape(R, L, len(G))
    out = np.zeros((R, L, len(G)))
    for w, rows in taps:
        out[:, w:, rows] += a[:, : L - w] @ G[rows, w].T
    return out


def adjoint_filter(r: np.ndarray, G: np.ndarray, S: int) -> np.ndarray:
    """(R, L, D) out[u] = sum over w, q of G[q, w] r[u+w, q]. r: (R, L, Q)."""
    R, L, Q = r.shape
    D = G.shape[2]
    taps = _few_taps(G)
    if taps is not None:
        out = np.zeros((R, L, D))
        for w, rows in taps:
            out[:, : L - w] += r[:, w:, rows] @ G[rows, w]
        return out
    both = np.asarray(r.reshape(-1, S * Q) @ filter_template(G, S)).reshape(R, L // S, 2, S * D)
    out = np.ascontiguousarray(both[:, :, 1])
    out[:, :-1] += both[:, 1:, 0]
    return out.reshape(R, L, D)


def _few_taps(G: np.ndarray) -> list[tuple[int, np.ndarray]] | None:
    """Taps in use and the rows that use them; None where they are too many to go through one by one."""
    used = np.any(G != 0, axis=2)  # (Q, n)
    if used.sum() * DENSE > used.size:
        return None
    taps = np.flatnonzero(used.any(axis=0))
    return [(int(w), np.flatnonzero(used[:, w])) for w in taps]


def lag_products(y: np.ndarray, a: np.ndarray, n: int, S: int) -> np.ndarray:
    """(Q, n, D) sum over recordings and frames of y[s, q] a[s-w]. y: (R, L, Q), a: (R, L, D)."""
    Q, D = y.shape[2], a.shape[2]
    product = y.reshape(-1, S * Q).T @ with_previous(a, S)
    return np.ascontiguousarray(sheared(product.reshape(1, S, Q, 2 * S, D), n)[0].sum(axis=0)[:, ::-1])


def lag_outer(a: np.ndarray, frame: np.ndarray, n: int) -> np.ndarray:
    """(len(frame), n, D, D) sum over recordings of a[u] a[u-l]', entry j is lag n - 1 - j; zero before the clock."""
    window = windows(a, frame, n)  # (R, F, n, D), lag 0 first
    return np.asarray(np.einsum("rfp,rfjq->fjpq", window[:, :, 0], window[:, :, ::-1]))


def windows(a: np.ndarray, frame: np.ndarray, n: int) -> np.ndarray:
    """(R, len(frame), n, D) the windows at some frames, lag 0 first."""
    index = frame[:, None] - np.arange(n)
    out = a[:, np.maximum(index, 0)]
    out[:, index < 0] = 0.0
    return np.asarray(out)


def slide(total: np.ndarray, entering: np.ndarray, leaving: np.ndarray) -> np.ndarray:
    """(n, ...) sums over a range of frames, seen 0..n-1 frames earlier.

    A range moved one frame back gains the frame before its first and loses its last. total: (...) at shift 0; entering,
    leaving: (n-1, ...) what each further shift brings and takes.
    """  # eq. S11
    return np.concatenate([total[None], total[None] + np.cumsum(entering - leaving, axis=0)])


class Lagged(NamedTuple):
    """Sums over recordings; u has A columns, v has B."""

    now: np.ndarray  # (A, B) sum over t >= 1 of u[t] v[t]'
    cross: np.ndarray  # (A, B) sum over t >= 1 of u[t] v[t-1]'
    swap: np.ndarray  # (A, B) sum over t >= 1 of u[t-1] v[t]'
    back: np.ndarray  # (A, B) sum over t >= 1 of u[t-1] v[t-1]'
    first: np.ndarray  # (A, B) sum over recordings of u[0] v[0]'

    def quasi(self, phi: float) -> np.ndarray:
        """(A, B) cross-product of the quasi-differences."""  # eq. S17
        inner = self.now - phi * (self.cross + self.swap) + phi**2 * self.back
        return np.asarray(inner + (1.0 - phi**2) * self.first)


def lagged_moments(u: np.ndarray, v: np.ndarray) -> Lagged:
    """u: (R, n, A), v: (R, n, B)."""
    return Lagged(
        now=_product(u[:, 1:], v[:, 1:]),
        cross=_product(u[:, 1:], v[:, :-1]),
        swap=_product(u[:, :-1], v[:, 1:]),
        back=_product(u[:, :-1], v[:, :-1]),
        first=_product(u[:, :1], v[:, :1]),
    )


def add_lagged(parts: Sequence[Lagged]) -> Lagged:
    return Lagged(*(np.sum(np.stack(terms), axis=0) for terms in zip(*parts, strict=True)))


def with_one(X: np.ndarray) -> np.ndarray:
    """(R, n, 1 + P) a column of ones before the features."""
    return np.concatenate([np.ones((*X.shape[:2], 1)), X], axis=2)


def _product(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.asarray(u.reshape(-1, u.shape[2]).T @ v.reshape(-1, v.shape[2]))
