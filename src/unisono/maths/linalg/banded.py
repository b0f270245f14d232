"""Sheared views: one indexing trick behind every lag-banded array of the series model.

A clock of nb blocks of S frames, lags l = 0..n-1 with n <= S + 1. What frame r of a block shares with the frame l
earlier lies in column S + r - l of a row of 2 S frames, the previous block and the block itself. Read along the lags,
such rows are a parallelogram; `sheared` looks at it as a rectangle. Precision blocks, covariance blocks, filters and
lagged products all use this one view. Imports NumPy alone.
"""

from __future__ import annotations

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
