"""Posterior precision of the truth as block tridiagonal rows, from channels, masks and the prior.

A rated frame s adds R[w, p, w', p'] to the entries ((s-w, p), (s-w', p')), where R = G' N^-1 G of the channels rated
there. Summed along the lags l = w' - w the precision is a band: row u, lag l collects R[w, w+l] of the frames u + w.
Rows whose frames are all rated are equal; gaps and edges are sparse corrections to them.
Imports NumPy, SciPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from unisono.maths.bands import lag_pairs, split_band
from unisono.maths.block_tridiagonal import Blocks
from unisono.maths.series_channels import Whitened
from unisono.maths.series_layout import Group
from unisono.maths.series_params import SeriesParams


def lags_kept(n: int) -> int:
    """Lags of the band: those of the filters, and at least the one of the dynamics."""
    return max(n, 2)


def local_rows(group: Group, row_channel: np.ndarray) -> np.ndarray:
    """(Q_g,) mask of each row of the group."""
    return np.asarray(group.masks.of[np.searchsorted(group.channel, row_channel[group.row])])


def mask_forms(group: Group, whitened: Whitened, mask_of_row: np.ndarray) -> np.ndarray:
    """(n_mask, n, D, n, D) R of the channels that share each mask."""  # eq. S4
    _, n, D = whitened.G.shape
    G = whitened.G[group.row].reshape(len(group.row), n * D)
    weighted = whitened.weight[np.ix_(group.row, group.row)] @ G
    forms = [G[mask_of_row == i].T @ weighted[mask_of_row == i] for i in range(len(group.masks.base))]
    return np.stack(forms).reshape(-1, n, D, n, D)


def precision_blocks(group: Group, forms: np.ndarray, params: SeriesParams) -> Blocks:
    """Distinct block rows of the posterior precision on the group's clock."""  # eq. S5
    n_mask, n, D = forms.shape[:3]
    lags, S, n_kind = lags_kept(n), group.S, len(group.window)
    pairs = np.stack([lag_pairs(form, lags) for form in forms])  # (n_mask, n, lags, D, D)
    full = pairs[group.masks.base].sum(axis=(0, 1)) + prior_band(params, lags)  # (lags, D, D)
    band = _changes(group, n) @ pairs.reshape(n_mask * n, lags * D * D)
    band += full.reshape(1, -1)
    band = band.reshape(n_kind, S, lags, D, D)
    corner = params.phi**2 * np.linalg.inv(params.sigma)
    band[group.edge[:, 0], 0, lags - 1] -= corner
    band[group.edge[:, 1], S - 1, lags - 1] -= corner
    return Blocks(lambda kind: split_band(np.swapaxes(band[kind], 1, 2)), group.kind)


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


def _changes(group: Group, n: int) -> sparse.csr_array:
    """(n_kind S, n_mask n) which frames of which mask a row of the band has beyond, or lacks below, the full row."""
    n_kind, n_mask, _ = group.window.shape
    S = group.S
    kind, mask, frame = np.nonzero(group.window != group.masks.base[None, :, None])
    sign = np.where(group.masks.base[mask], -1.0, 1.0)
    w = np.arange(n)
    u = frame[:, None] - w
    inside = (u >= 0) & (u < S)
    row = (kind[:, None] * S + u)[inside]
    column = (mask[:, None] * n + w)[inside]
    value = np.broadcast_to(sign[:, None], u.shape)[inside]
    return sparse.csr_array((value, (row, column)), shape=(n_kind * S, n_mask * n))
