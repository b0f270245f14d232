"""E-step of the item model in information form: D x D matrices only, O(ratings) sparse products.

    Lambda_m = Sigma^-1 + sum_n Q_n                  V_m = Lambda_m^-1                                   eq. G4
    E[a_m]   = m0 + V_m h_m,  h_m = sum_n (G_n y_n - g_n) - (sum_n Q_n) m0,  m0 = mu + theta' z_m        eq. G5
    log p(y) = -1/2 [ sum_n (log|2 pi N| + r_n' W r_n) + log|Sigma| + log|Lambda| - h'V h ]              eq. G6

equal to the paper's conditional moments of the DK-dimensional joint normal, without ever forming it. Items are worked
through in blocks, so memory stays far below that of the ratings; block sums are added in order, so the result does not
depend on who computes which block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from unisono.maths.items.data import ItemData
from unisono.maths.items.params import LOG_2PI, Information, ItemParams, information
from unisono.maths.linalg.small_spd import inverse_and_logdet

GOLD_VARIANCE = 1e-6  # numerical: a known truth is an observation with this error variance

BLOCK_ITEMS = 1 << 14  # numerical: keeps memory small; of no influence on results


@dataclass(frozen=True, eq=False)
class Stats:
    """Sufficient statistics for the M-step; they add up over items. q = D + 1, abar = [a; 1]."""

    Saa: np.ndarray  # (U, q, q) sums of E[abar abar'] over the judgements of each profile
    Sya: np.ndarray  # (U, D, q) sums of y E[abar]'
    items: np.ndarray  # (q, q) sum of E[abar abar'] over items
    Sza: np.ndarray  # (R, D) sum of z E[a]' over items
    loglik: float

    def __add__(self, other: Stats) -> Stats:
        return Stats(
            self.Saa + other.Saa,
            self.Sya + other.Sya,
            self.items + other.items,
            self.Sza + other.Sza,
            self.loglik + other.loglik,
        )


class Posterior(NamedTuple):
    """Normal posteriors of the truths of some items."""

    mean: np.ndarray  # (M, D)
    cov: np.ndarray  # (M, D, D)
    loglik: np.ndarray  # (M,) log density of each item's ratings


class _Block(NamedTuple):
    """Posteriors of a block of items, with the pieces that several users need."""

    rows: sparse.csr_array  # (m, U) how often each profile rated each item
    weighted: list[sparse.csr_array]  # D of (m, U): the same with the ratings of one dimension as entries
    mean: np.ndarray  # (m, D)
    cov: np.ndarray  # (m, D, D)
    gain: np.ndarray  # (m,) everything in eq. G6 but the ratings' own constants


def expectation(data: ItemData, params: ItemParams) -> tuple[np.ndarray, Stats]:
    """Posterior means (M, D) of all items, and the sufficient statistics of an M-step."""
    info = information(data, params)
    mean = np.empty((data.M, data.D))
    total: Stats | None = None
    for start, stop in item_blocks(data.M):
        block = _posterior(data, params, info, start, stop)
        mean[start:stop] = block.mean
        part = statistics(block.rows, block.weighted, block.mean, block.cov, data.scores.Z[start:stop])
        part = replace(part, loglik=float(block.gain.sum()))
        total = part if total is None else total + part
    assert total is not None
    return mean, replace(total, loglik=total.loglik + _rating_constants(data, info))


def posterior(data: ItemData, params: ItemParams) -> Posterior:
    """Means, covariances and log densities of all items under fixed parameters."""
    info = information(data, params)
    mean, loglik = np.empty((data.M, data.D)), np.empty(data.M)
    cov = np.empty((data.M, data.D, data.D))
    for start, stop in item_blocks(data.M):
        block = _posterior(data, params, info, start, stop)
        mean[start:stop], cov[start:stop] = block.mean, block.cov
        loglik[start:stop] = block.gain + _rating_constants_by_item(data, info, block, start, stop)
    return Posterior(mean, cov, loglik)


def item_blocks(M: int) -> Iterator[tuple[int, int]]:
    """First and last (exclusive) item of each block, in order."""
    return ((start, min(start + BLOCK_ITEMS, M)) for start in range(0, M, BLOCK_ITEMS))


class SeenItems(NamedTuple):
    """What the judgements of some items say about their truths, before anything else is known of them."""

    rows: sparse.csr_array  # (m, U)
    weighted: list[sparse.csr_array]  # D of (m, U)
    precision: np.ndarray  # (m, D, D) sum_n Q_n
    linear: np.ndarray  # (m, D) sum_n (G_n y_n - g_n)
    constant: np.ndarray | float  # (m,) the known truths' own part of eq. G6


def seen_items(data: ItemData, info: Information, start: int, stop: int) -> SeenItems:
    """Sums over the judgements of items start .. stop, known truths included."""
    U, D = info.g.shape
    rows, weighted = sparse_rows(data, start, stop)
    seen = (rows @ info.Q.reshape(U, D * D)).reshape(-1, D, D)
    linear = -(rows @ info.g)
    for d in range(D):
        linear += weighted[d] @ np.ascontiguousarray(info.G[:, :, d])
    own = _add_gold(data, start, stop, seen, linear)
    return SeenItems(rows, weighted, seen, linear, own)


def _posterior(data: ItemData, params: ItemParams, info: Information, start: int, stop: int) -> _Block:
    m0 = params.mu + data.scores.Z[start:stop] @ params.theta
    rows, weighted, seen, linear, own = seen_items(data, info, start, stop)
    V, logdets = inverse_and_logdet(seen + np.linalg.inv(params.Sigma))
    h = linear - np.einsum("mij,mj->mi", seen, m0)
    e = np.einsum("mij,mj->mi", V, h)
    logdets += np.linalg.slogdet(params.Sigma)[1]
    # r'Wr summed over judgements is y'Wy - 2 m0'(Gy - g) + m0'Q m0 + ...; the ratings' own part is added elsewhere.
    about_m0 = np.einsum("mi,mi->m", m0, h + linear)
    gain = -0.5 * (own + logdets - about_m0 - np.einsum("mi,mi->m", h, e))
    return _Block(rows, weighted, m0 + e, V, gain)


def _add_gold(data: ItemData, start: int, stop: int, seen: np.ndarray, linear: np.ndarray) -> np.ndarray | float:
    """Adds known truths to an item's information, in place; returns their own part (m,) of eq. G6.      eq. G17"""
    if data.gold is None:
        return 0.0
    gold = data.gold[start:stop]
    known = ~np.isnan(gold)
    value = np.where(known, gold, 0.0)
    dims = np.arange(data.D)
    seen[:, dims, dims] += known / GOLD_VARIANCE
    linear += value / GOLD_VARIANCE
    return np.asarray(known.sum(axis=1) * (LOG_2PI + np.log(GOLD_VARIANCE)) + (value**2).sum(axis=1) / GOLD_VARIANCE)


def sparse_rows(data: ItemData, start: int, stop: int) -> tuple[sparse.csr_array, list[sparse.csr_array]]:
    """Items by profiles: how often each rated each, and, per dimension, the ratings as entries."""
    low, high = data.item_ptr[start], data.item_ptr[stop]
    ptr = data.item_ptr[start : stop + 1] - low
    profile = data.profile_of[low:high]
    shape = (stop - start, len(data.annotator))
    rows = sparse.csr_array((np.ones(high - low), profile, ptr), shape=shape)
    y = data.y[low:high]
    weighted = [sparse.csr_array((y[:, d].copy(), profile, ptr), shape=shape) for d in range(data.D)]
    return rows, weighted


def statistics(
    rows: sparse.csr_array, weighted: list[sparse.csr_array], mean: np.ndarray, cov: np.ndarray, Z: np.ndarray
) -> Stats:
    """Sufficient statistics of truths with means (m, D) and covariances (m, D, D); no log-likelihood."""
    m, D = mean.shape
    q = D + 1
    abar = np.hstack([mean, np.ones((m, 1))])
    second = abar[:, :, None] * abar[:, None, :]
    second[:, :D, :D] += cov
    flat = second.reshape(m, q * q)
    return Stats(
        Saa=np.asarray(rows.T @ flat).reshape(-1, q, q),
        Sya=np.stack([np.asarray(w.T @ abar) for w in weighted], axis=1),
        items=flat.sum(axis=0).reshape(q, q),
        Sza=Z.T @ mean,
        loglik=0.0,
    )


def _rating_constants(data: ItemData, info: Information) -> float:
    """-1/2 sum over all judgements of log|2 pi N| + E[(y - b)'W (y - b)], from the profiles' sums."""
    own = data.judgements @ (info.logdet + info.bb) + np.sum(info.W * data.Syy) - 2 * np.sum(info.Wb * data.Sy)
    return float(-0.5 * own)


def _rating_constants_by_item(data: ItemData, info: Information, block: _Block, start: int, stop: int) -> np.ndarray:
    """(m,) the same, item by item."""
    own = block.rows @ (info.logdet + info.bb)
    y = data.y[data.item_ptr[start] : data.item_ptr[stop]]
    for d in range(data.D):
        own -= 2 * (block.weighted[d] @ info.Wb[:, d])
        for c in range(data.D):
            # The entries of `weighted` stand in the order of the judgements, so products can take their place.
            pair = block.weighted[d].copy()
            pair.data = y[:, c] * y[:, d]
            own += pair @ info.W[:, c, d]
    return np.asarray(-0.5 * own)


def annotator_uncertainty(data: ItemData, params: ItemParams, found: Posterior) -> np.ndarray:
    """(M, D, D) what not knowing the annotators exactly adds to the covariance of the truth, to first order.

    V P V with P = sum over answers of w^2 (abar' Cov abar) F_d F_d'.                                    eq. B9
    """
    added = np.zeros_like(found.cov)
    if params.cov is None:
        return added
    weight = np.diagonal(information(data, params).W, axis1=1, axis2=2)
    cov = params.cov.reshape(*params.cov.shape[:2], -1)  # (K, D, q q)
    for start, stop in item_blocks(data.M):
        low, high = data.item_ptr[start], data.item_ptr[stop]
        own = np.repeat(np.arange(start, stop), np.diff(data.item_ptr[start : stop + 1]))
        profile = data.profile_of[low:high]
        annotator = data.annotator[profile]
        abar = np.hstack([found.mean[own], np.ones((high - low, 1))])
        share = np.zeros((high - low, data.D * data.D))
        square = (abar[:, :, None] * abar[:, None, :]).reshape(high - low, -1)
        for d in range(data.D):
            spread = np.einsum("nx,nx->n", cov[:, d][annotator], square)
            row = params.F[annotator, d] * (weight[profile, d] * np.sqrt(spread))[:, None]
            share += (row[:, :, None] * row[:, None, :]).reshape(share.shape)
        ptr = data.item_ptr[start : stop + 1] - low
        to_item = sparse.csr_array((np.ones(high - low), np.arange(high - low), ptr), shape=(stop - start, high - low))
        P = (to_item @ share).reshape(-1, data.D, data.D)
        added[start:stop] = found.cov[start:stop] @ P @ found.cov[start:stop]
    return added
