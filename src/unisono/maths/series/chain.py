"""The posterior of the truth where every row of the filters uses neighbouring frames alone: a Markov chain.

A row with one gain and one delay, or with no filter at all, adds to the precision of single frames (a delay between
two frames, or AR(1) noise, to two neighbours), and so does the truth's own dynamics. The precision is then tridiagonal
in D x D blocks, whatever the window is, and gaps cost nothing. The M-step of such rows needs covariances of frames
`span` - 1 apart at most.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.linalg.banded import from_lag_pairs
from unisono.maths.linalg.chain import Chain, chain_covariances, factor_chain
from unisono.maths.linalg.filters import adjoint_filter
from unisono.maths.linalg.lagged import Lagged
from unisono.maths.series.layout import Group, Layout
from unisono.maths.series.moments import Moments, assemble
from unisono.maths.series.params import SeriesParams, Structure
from unisono.maths.series.precision import prior_band


def is_chain(rows: np.ndarray, structure: Structure) -> bool:
    """Whether a posterior with these filters, as `unit_rows` gives them, is a chain. rows: (Q, n, D)."""
    if structure.span is None:
        return False
    used = np.any(rows != 0, axis=2)
    first, last = used.argmax(axis=1), used.shape[1] - 1 - used[:, ::-1].argmax(axis=1)
    return bool(np.all((last - first <= 1) | ~used.any(axis=1)))


def chain_precision(group: Group, rows: np.ndarray, mask_of_row: np.ndarray, params: SeriesParams) -> Chain:
    """Posterior precision on the group's clock, factored. rows: (Q_g, n, D), see `unit_rows`."""  # eq. S31
    A, B = data_precision(group.seen[:, mask_of_row], rows, group.S)
    return factor_chain(*with_prior(A, B, params))


def data_precision(seen: np.ndarray, rows: np.ndarray, S: int) -> tuple[np.ndarray, np.ndarray]:
    """(L, D, D) twice: what ratings say of each frame, and of it with the frame before. seen: (L, Q) bool."""
    Q, n, D = rows.shape
    given = seen.astype(float)[None]
    own = np.einsum("qwd,qwe->qwde", rows, rows).reshape(Q, n, D * D)
    A = adjoint_filter(given, own, S).reshape(-1, D, D)
    beside = np.zeros_like(own)
    beside[:, :-1] = np.einsum("qwd,qwe->qwde", rows[:, :-1], rows[:, 1:]).reshape(Q, n - 1, D * D)
    B = adjoint_filter(given, beside, S).reshape(-1, D, D) if beside.any() else np.zeros_like(A)
    return A, B


def with_prior(A: np.ndarray, B: np.ndarray, params: SeriesParams) -> tuple[np.ndarray, np.ndarray]:
    """The precision of the ratings together with that of the truth's dynamics."""
    between, own = prior_band(params, 2)
    A, B = A + own, B + between
    for end in (0, -1):
        A[end] -= params.phi**2 * np.linalg.inv(params.sigma)
    return A, B


def chain_moments(group: Group, layout: Layout, a: np.ndarray, chain: Chain | None, span: int) -> Moments:
    """Moments of one group, covariances of frames less than `span` apart. a: (R, L, D); chain: None for hard EM."""
    R, lags = len(a), max(span, 2)
    pairs = np.zeros((a.shape[1], lags, layout.D, layout.D))
    for lag in range(lags):
        pairs[lag:, lag] = np.einsum("rud,rue->ude", a[:, lag:], a[:, : a.shape[1] - lag])
    spread = None
    if chain is not None:
        covariance = R * chain_covariances(chain, lags)
        pairs += covariance
        spread = _lagged(covariance[: group.stop])
    return assemble(group, layout, a, chain_forms(group, layout.n, a.sum(axis=0), pairs[:, :span]), spread)


def chain_forms(group: Group, n: int, a: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """(n_mask, Z, Z) sum of E zz' over the frames of each mask, as far as taps are near each other, else zero.

    a: (L, D) and pairs: (L, span, D, D), means and E a[u] a[u-l]' summed over recordings. Runs of rated frames are
    differences of sums from the first frame on.
    """  # eq. S33
    L, span, D, _ = pairs.shape
    R, Z = len(group.recording), n * D + 1
    flat = np.concatenate([pairs.reshape(L, -1), a], axis=1)
    total = np.concatenate([np.zeros((1, flat.shape[1])), np.cumsum(flat, axis=0)])
    forms = np.zeros((len(group.masks.base), Z, Z))
    for form, mask in zip(forms, group.seen.T, strict=True):
        turn = np.diff(np.concatenate([[0], mask.astype(np.int64), [0]]))
        edge = np.flatnonzero(turn)
        summed = np.zeros((n, flat.shape[1]))
        for lag in range(n):
            summed[lag] = -turn[edge] @ total[np.maximum(edge - lag, 0)]
        near = summed[:, :-D].reshape(n, span, D, D)
        form[:-1, :-1] = from_lag_pairs(near[:, ::-1]).reshape(n * D, n * D)
        form[-1, :-1] = form[:-1, -1] = summed[:, -D:].ravel()
        form[-1, -1] = R * mask.sum()
    return forms


def _lagged(covariance: np.ndarray) -> Lagged:
    """Covariance part of the truth's lagged moments. covariance: (stop, lags, D, D)."""
    first, last, total = covariance[0, 0], covariance[-1, 0], covariance[:, 0].sum(axis=0)
    cross = covariance[1:, 1].sum(axis=0)
    return Lagged(total - first, cross, cross.T, total - last, first)
