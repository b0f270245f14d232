"""Posterior precision of the truth as block tridiagonal rows, from channels, masks and the prior.

A rated frame s adds g[w] g[w']' to the entries (s-w, s-w'), where g is a row's filter over the root of its noise.
Summed along the lags, frames that are all rated give the same block row everywhere. What a block row lacks or has
beyond that (gaps, edges) is one outer product of the filters concerned, made when the block is needed.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.linalg.banded import filter_template, lag_pairs, split_band
from unisono.maths.linalg.block_tridiagonal import Blocks
from unisono.maths.series.channels import Whitened
from unisono.maths.series.layout import Group
from unisono.maths.series.params import SeriesParams


class Changes(NamedTuple):
    """Rows and frames in which the kinds of blocks differ from a block that is rated throughout."""

    first: np.ndarray  # (n_kind + 1,) kind i owns entries first[i]:first[i+1]
    row: np.ndarray  # (n,) row of the group
    frame: np.ndarray  # (n,) frame from the block's first one on, 0..2 S - 1: in the block, or in the one after it
    sign: np.ndarray  # (n,) +1 where it is rated beyond, -1 where it is missing


def lags_kept(n: int) -> int:
    """Lags of the band: those of the filters, and at least the one of the dynamics."""
    return max(n, 2)


def local_rows(group: Group, row_channel: np.ndarray) -> np.ndarray:
    """(Q_g,) mask of each row of the group."""
    return np.asarray(group.masks.of[np.searchsorted(group.channel, row_channel[group.row])])


def unit_rows(group: Group, whitened: Whitened) -> np.ndarray:
    """(Q_g, n, D) filters of the group's rows, turned and scaled so that their noise is white with variance 1."""
    _, n, D = whitened.G.shape  # eq. S4
    root = np.linalg.cholesky(whitened.weight[np.ix_(group.row, group.row)])
    return np.asarray(root.T @ whitened.G[group.row].reshape(-1, n * D)).reshape(-1, n, D)


def precision_blocks(group: Group, rows: np.ndarray, mask_of_row: np.ndarray, params: SeriesParams) -> Blocks:
    """Block rows of the posterior precision on the group's clock. rows: (Q_g, n, D), see `unit_rows`."""  # eq. S5
    D, S = rows.shape[2], group.S
    diagonal, left = _full_row(rows[group.masks.base[mask_of_row]], params, S)
    template = filter_template(rows, S).reshape(S, len(rows), 2 * S * D)
    changes = _changes(group, mask_of_row)
    corner = params.phi**2 * np.linalg.inv(params.sigma)

    def block(kind: int) -> tuple[np.ndarray, np.ndarray]:
        here = slice(changes.first[kind], changes.first[kind + 1])
        row, frame, sign = changes.row[here], changes.frame[here], changes.sign[here, None]
        inside = frame < S
        own = template[frame[inside], row[inside]]  # over the previous block and this one
        after = template[frame[~inside] - S, row[~inside], : S * D]  # what the next block's frames see of this one
        now, before = own[:, S * D :], own[:, : S * D]
        signed = now * sign[inside]
        A = diagonal + signed.T @ now + (after * sign[~inside]).T @ after
        if group.edge[kind, 0]:
            A[:D, :D] -= corner
        if group.edge[kind, 1]:
            A[-D:, -D:] -= corner
        return A, left + signed.T @ before

    return Blocks(block, group.kind)


def prior_band(params: SeriesParams, lags: int) -> np.ndarray:
    """(lags, D, D) prior precision of an inner frame with itself and with the frame before it."""  # eq. S5
    inverse = np.linalg.inv(params.sigma)
    band = np.zeros((lags, *inverse.shape))
    band[lags - 1] = (1.0 + params.phi**2) * inverse
    band[lags - 2] = -params.phi * inverse
    return band


def log_prior_precision(params: SeriesParams, L: int) -> float:
    """Log determinant of the prior precision of L frames."""
    D = len(params.sigma)
    return float(-L * np.linalg.slogdet(params.sigma)[1] + D * np.log1p(-(params.phi**2)))


def _full_row(rows: np.ndarray, params: SeriesParams, S: int) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal block (lower triangle) and left block where every frame is rated by these rows."""
    Q, n, D = rows.shape
    flat, lags = rows.reshape(Q, n * D), lags_kept(n)
    band = lag_pairs((flat.T @ flat).reshape(n, D, n, D), lags).sum(axis=0) + prior_band(params, lags)
    return split_band(np.tile(np.swapaxes(band, 0, 1), (S, 1, 1, 1)))


def _changes(group: Group, mask_of_row: np.ndarray) -> Changes:
    kind, mask, frame = np.nonzero(group.window != group.masks.base[None, :, None])
    order = np.argsort(mask_of_row, kind="stable")
    size = np.bincount(mask_of_row, minlength=len(group.masks.base))
    # A mask stands for all of its rows: entry e becomes size[mask[e]] entries.
    entry = np.repeat(np.arange(len(mask)), size[mask])
    nth = np.arange(len(entry)) - np.repeat(np.cumsum(size[mask]) - size[mask], size[mask])
    row = order[(np.cumsum(size) - size)[mask[entry]] + nth]
    sign = np.where(group.masks.base[mask[entry]], -1.0, 1.0)
    first = np.searchsorted(kind[entry], np.arange(len(group.window) + 1))
    return Changes(first, row, frame[entry], sign)
