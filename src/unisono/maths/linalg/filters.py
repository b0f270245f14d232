"""Causal filters on a clock of blocks, their adjoint, lagged products, and window sums by recursion.

A window at frame s is a[s], a[s-1], ..., a[s-n+1]; before the clock's first frame there is nothing (zeros). Every
operation is one matrix product per pair of neighbouring blocks, or one per tap where few taps are in use (delays); the
T x n D matrix of windows is never made.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.linalg.banded import filter_template, sheared, with_previous

DENSE = 4  # filters with more than one tap in DENSE in use are cheaper as a whole


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
