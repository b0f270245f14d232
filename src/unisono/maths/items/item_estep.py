"""E-step of the item model in information form, and leave-one-out posteriors: D x D matrices only, O(ratings) products.

    Lambda_m = Sigma^-1 + sum_n Q_n                  V_m = Lambda_m^-1                                   eq. G4
    E[a_m]   = m0 + V_m h_m,  h_m = sum_n (G_n y_n - g_n) - (sum_n Q_n) m0,  m0 = mu + theta' z_m        eq. G5
    log p(y) = -1/2 [ sum_n (log|2 pi N| + r_n' W r_n) + log|Sigma| + log|Lambda| - h'V h ]              eq. G6

equal to the paper's conditional moments of the DK-dimensional joint normal, without ever forming it. Items are worked
through in blocks, so memory stays far below that of the ratings; block sums are added in order, so the result does not
depend on who computes which block. The truth of each judgement's item as the other judgements alone give it:

    Lambda_-n = Lambda_m - Q_n        E[a_m | others] = Lambda_-n^-1 (Sigma^-1 m0 + sum_others (G y - g))         eq. G7

One small system per judgement, the heaviest work of the diagnosis. Entries of one place lie next to each other, so that
every operation is over all judgements of a block together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from unisono.maths.items.censored_estep import Behind, numbers_behind
from unisono.maths.items.item_data import ItemData, profile_sums
from unisono.maths.items.item_params import LOG_2PI, Information, ItemParams, information, row_spread
from unisono.maths.linalg.small_spd import inverse_of_entries, solution_of_entries

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
    Dyy: np.ndarray  # (U, D, D) what numbers behind answers at the ends add to the sums of outer products of ratings

    def __add__(self, other: Stats) -> Stats:
        return Stats(
            self.Saa + other.Saa,
            self.Sya + other.Sya,
            self.items + other.items,
            self.Sza + other.Sza,
            self.loglik + other.loglik,
            self.Dyy + other.Dyy,
        )


class Posterior(NamedTuple):
    """Normal posteriors of the truths of some items."""

    mean: np.ndarray  # (M, D)
    cov: np.ndarray  # (M, D, D)
    loglik: np.ndarray  # (M,) log density of each item's ratings


class _Block(NamedTuple):
    """Posteriors of a block of items, with the pieces that several users need."""

    rows: sparse.csr_array  # (m, U) weights of the judgements of each item by each profile: one each, as a rule
    weighted: list[sparse.csr_array]  # D of (m, U): these times the ratings of one dimension
    mean: np.ndarray  # (D, m) entries of one place next to each other, as in everything here
    cov: np.ndarray  # (D, D, m)
    gain: np.ndarray  # (m,) everything in eq. G6 but the own constants of ratings that are numbers
    behind: Behind | None  # numbers behind ratings at the ends of the scale


def expectation(data: ItemData, params: ItemParams) -> tuple[np.ndarray, Stats]:
    """Posterior means (M, D) of all items, and the sufficient statistics of an M-step."""
    info = information(data, params)
    mean = np.empty((data.M, data.D))
    total: Stats | None = None
    for start, stop in item_blocks(data.M):
        block = _posterior(data, params, info, start, stop)
        mean[start:stop] = block.mean.T
        part = statistics(block.rows, block.weighted, block.mean, block.cov, data.scores.Z[start:stop])
        part = replace(part, loglik=float(block.gain.sum()))
        if block.behind is not None:
            part = replace(part, Dyy=block.behind.Dyy)
        total = part if total is None else total + part
    assert total is not None
    return mean, replace(total, loglik=total.loglik + _rating_constants(data, info))


def posterior(data: ItemData, params: ItemParams) -> Posterior:
    """Means, covariances and log densities of all items under fixed parameters."""
    return completed_posterior(data, params)[0]


def completed_posterior(data: ItemData, params: ItemParams) -> tuple[Posterior, ItemData]:
    """The same, and the data with what is expected of numbers behind ratings at the ends in the place of these."""
    info = information(data, params)
    mean, loglik = np.empty((data.M, data.D)), np.empty(data.M)
    cov = np.empty((data.M, data.D, data.D))
    y, Syy = (data.y, data.Syy) if data.cuts is None else (data.y.copy(), data.Syy.copy())
    for start, stop in item_blocks(data.M):
        block = _posterior(data, params, info, start, stop)
        mean[start:stop], cov[start:stop] = block.mean.T, block.cov.transpose(2, 0, 1)
        loglik[start:stop] = block.gain + _rating_constants_by_item(data, info, block, start, stop)
        if block.behind is not None:
            y[data.item_ptr[start] : data.item_ptr[stop]] = block.behind.y.T
            Syy += block.behind.Dyy
    found = Posterior(mean, cov, loglik)
    if data.cuts is None:
        return found, data
    weighted = y if data.weight is None else y * data.weight[:, None]
    Sy, _ = profile_sums(weighted, data.profile_of, len(data.annotator))
    return found, data._replace(y=y, Sy=Sy, Syy=Syy, cuts=None)


def squared_distances(data: ItemData, params: ItemParams) -> tuple[np.ndarray, np.ndarray]:
    """(J,) E[r'W r] of the errors r of every judgement, whatever its own weight, and truths (M, D).      eq. B35"""
    info = information(data, params)
    found, mean = np.empty(len(data.y)), np.empty((data.M, data.D))
    for start, stop in item_blocks(data.M):
        block = _posterior(data, params, info, start, stop)
        judgements = slice(int(data.item_ptr[start]), int(data.item_ptr[stop]))
        mean[start:stop] = block.mean.T
        own = np.repeat(np.arange(stop - start), np.diff(data.item_ptr[start : stop + 1]))
        found[judgements] = _block_distances(data, info, block, judgements, own)
    return found, mean


def _block_distances(
    data: ItemData, info: Information, block: _Block, judgements: slice, item: np.ndarray
) -> np.ndarray:
    profile = data.profile_of[judgements].astype(np.intp)
    y = np.ascontiguousarray(data.y[judgements].T) if block.behind is None else block.behind.y
    total = info.bb[profile]
    for i in range(data.D):
        toward, truth = -info.g[:, i][profile], block.mean[i][item]  # (G y - g)_i
        for d in range(data.D):
            toward += info.G[:, i, d][profile] * y[d]
        total -= 2 * (truth * toward + info.Wb[:, i][profile] * y[i])
        for j in range(i + 1):
            twice = 1.0 if j == i else 2.0
            second = (block.mean[i] * block.mean[j] + block.cov[i, j])[item]
            total += twice * (info.Q[:, i, j][profile] * second + info.W[:, i, j][profile] * y[i] * y[j])
        if block.behind is not None:
            total += info.W[:, i, i][profile] * block.behind.variance[i]
    return np.asarray(total)


def item_blocks(M: int) -> Iterator[tuple[int, int]]:
    """First and last (exclusive) item of each block, in order."""
    return ((start, min(start + BLOCK_ITEMS, M)) for start in range(0, M, BLOCK_ITEMS))


def _posterior(data: ItemData, params: ItemParams, info: Information, start: int, stop: int) -> _Block:
    U, D = info.g.shape
    rows, weighted = sparse_rows(data, start, stop)
    # What the judgements say, known truths included: sum_n Q_n and sum_n (G_n y_n - g_n).
    about = rows @ np.hstack([info.Q.reshape(U, D * D), -info.g])
    for d in range(D):
        about[:, D * D :] += weighted[d] @ np.ascontiguousarray(info.G[:, :, d])
    seen, linear = np.split(np.ascontiguousarray(about.T), [D * D])
    seen = seen.reshape(D, D, -1)
    own = add_gold(data, start, stop, seen.transpose(2, 0, 1), linear.T)
    m0 = params.mu[:, None] + params.theta.T @ data.scores.Z[start:stop].T
    V, logdets = inverse_of_entries(seen + np.linalg.inv(params.Sigma)[:, :, None])
    h = linear - np.einsum("ijm,jm->im", seen, m0)
    e = np.einsum("ijm,jm->im", V, h)
    behind = None if data.cuts is None else numbers_behind(data, info, start, stop, m0 + e, V)
    own_numbers: np.ndarray | float = 0.0
    if behind is not None:
        linear, h, own_numbers = linear + behind.push, h + behind.push, behind.own
        e = np.einsum("ijm,jm->im", V, h)
        for d, entries in enumerate(weighted):
            entries.data = rows.data * behind.y[d]
    logdets += np.linalg.slogdet(params.Sigma)[1]
    # r'Wr summed over judgements is y'Wy - 2 m0'(Gy - g) + m0'Q m0 + ...; the ratings' own part is added elsewhere.
    gain = -0.5 * (own + logdets - np.einsum("im,im->m", m0, h + linear) - np.einsum("im,im->m", h, e))
    return _Block(rows, weighted, m0 + e, V, gain + own_numbers, behind)


def add_gold(data: ItemData, start: int, stop: int, seen: np.ndarray, linear: np.ndarray) -> np.ndarray | float:
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
    """Items by profiles: weights of judgements, one as a rule, and, per dimension, these times the ratings."""
    low, high = data.item_ptr[start], data.item_ptr[stop]
    ptr = data.item_ptr[start : stop + 1] - low
    profile = data.profile_of[low:high]
    shape = (stop - start, len(data.annotator))
    weight = np.ones(high - low) if data.weight is None else data.weight[low:high]
    rows = sparse.csr_array((weight, profile, ptr), shape=shape)
    y = data.y[low:high] if data.weight is None else data.y[low:high] * weight[:, None]
    weighted = [sparse.csr_array((y[:, d].copy(), profile, ptr), shape=shape) for d in range(data.D)]
    return rows, weighted


def statistics(
    rows: sparse.csr_array, weighted: list[sparse.csr_array], mean: np.ndarray, cov: np.ndarray, Z: np.ndarray
) -> Stats:
    """Sufficient statistics of truths with means (D, m) and covariances (D, D, m); no log-likelihood."""
    D, m = mean.shape
    q = D + 1
    abar, (row, column) = np.ones((m, q)), np.triu_indices(q)
    abar[:, :D] = mean.T
    second = np.ones((m, len(row)))  # the upper triangle of E[abar abar']
    for place, (i, j) in enumerate(zip(row, column, strict=True)):
        if j < D:
            second[:, place] = mean[i] * mean[j] + cov[i, j]
        elif i < D:
            second[:, place] = mean[i]
    Saa, items = np.empty((rows.shape[1], q, q)), np.empty((q, q))
    Saa[:, row, column] = Saa[:, column, row] = rows.T @ second
    items[row, column] = items[column, row] = np.ones(m) @ second
    return Stats(
        Saa=Saa,
        Sya=np.stack([np.asarray(w.T @ abar) for w in weighted], axis=1),
        items=items,
        Sza=Z.T @ mean.T,
        loglik=0.0,
        Dyy=np.zeros((rows.shape[1], D, D)),
    )


def _rating_constants(data: ItemData, info: Information) -> float:
    """-1/2 sum over all judgements of log|2 pi N| + E[(y - b)'W (y - b)], from the profiles' sums."""
    own = data.judgements @ info.logdet + data.weights() @ info.bb
    own += np.sum(info.W * data.Syy) - 2 * np.sum(info.Wb * data.Sy)
    return float(-0.5 * own)


def _rating_constants_by_item(data: ItemData, info: Information, block: _Block, start: int, stop: int) -> np.ndarray:
    """(m,) the same, item by item."""
    weight, entries = block.rows.data, block.rows.copy()
    entries.data = np.ones_like(weight)
    own = entries @ info.logdet + block.rows @ info.bb
    y = data.y[data.item_ptr[start] : data.item_ptr[stop]]
    # Entries stand in the order of the judgements, so ratings and products can take their place.
    for d in range(data.D):
        entries.data = weight * y[:, d]
        own -= 2 * (entries @ info.Wb[:, d])
        for c in range(data.D):
            entries.data = weight * y[:, c] * y[:, d]
            own += entries @ info.W[:, c, d]
    return np.asarray(-0.5 * own)


def annotator_uncertainty(data: ItemData, params: ItemParams, found: Posterior) -> np.ndarray:
    """(M, D, D) what not knowing the annotators exactly adds to the covariance of the truth, to first order.

    V P V with P = sum over answers of w^2 (abar' Cov abar) F_d F_d'.                                    eq. B9
    """
    added = np.zeros_like(found.cov)
    if params.cov is None:
        return added
    D, weight = data.D, np.diagonal(information(data, params).W, axis1=1, axis2=2)
    F = params.F[data.annotator]
    F, weight = np.ascontiguousarray(F.transpose(1, 2, 0)), np.ascontiguousarray(weight.T**2)
    follows = np.asarray(F.any(axis=2))  # (D, D) whether any answer on d goes with the truth of i
    for start, stop in item_blocks(data.M):
        judgements, m = slice(data.item_ptr[start], data.item_ptr[stop]), stop - start
        own = np.repeat(np.arange(m), np.diff(data.item_ptr[start : stop + 1]))
        profile = data.profile_of[judgements].astype(np.intp)
        truth = np.ascontiguousarray(found.mean[start:stop].T)[:, own]
        spread = row_spread(params.cov, data.annotator[profile].astype(np.intp), truth)
        if data.weight is not None:
            spread = spread * data.weight[judgements] ** 2
        P = np.zeros((m, D, D))
        for i, j in zip(*np.nonzero(np.tril(follows.T @ follows)), strict=True):
            # What the variance of an answer adds to P, in turn for all dimensions.
            dims = np.flatnonzero(follows[:, i] & follows[:, j])
            share = sum((weight[d] * F[d, i] * F[d, j])[profile] * spread[d] for d in dims)
            P[:, i, j] = P[:, j, i] = np.bincount(own, share, minlength=m)
        added[start:stop] = found.cov[start:stop] @ P @ found.cov[start:stop]
    return added


class _Systems(NamedTuple):
    """Precision and linear part of the truth of each judgement's item without the judgement."""

    judgements: slice
    precision: np.ndarray  # (D, D, j)
    linear: np.ndarray  # (D, j)


def left_out_means(data: ItemData, params: ItemParams) -> np.ndarray:
    """(J, D) the truth of each judgement's item as the other annotators alone give it.               eq. G7"""
    means = np.empty_like(data.y)
    for judgements, mean in left_out_truths(data, params):
        means[judgements] = mean.T
    return means


def left_out_truths(data: ItemData, params: ItemParams) -> Iterator[tuple[slice, np.ndarray]]:
    """Judgements block by block, with the mean (D, j) of their item's truth without them."""
    for judgements, precision, linear in _systems(data, params):
        yield judgements, solution_of_entries(precision, linear)


def left_out_blocks(data: ItemData, params: ItemParams) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Judgements block by block, with mean (D, j) and covariance (D, D, j) of their item's truth without them."""
    for judgements, precision, linear in _systems(data, params):
        V, _ = inverse_of_entries(precision)
        yield judgements, np.einsum("ijn,jn->in", V, linear), V


def _systems(data: ItemData, params: ItemParams) -> Iterator[_Systems]:
    info, D = information(data, params), data.D
    Q, G = (np.ascontiguousarray(part.transpose(1, 2, 0)) for part in (info.Q, info.G))
    g = np.ascontiguousarray(info.g.T)
    prior_precision = np.linalg.inv(params.Sigma)
    for start, stop in item_blocks(data.M):
        judgements, m = slice(int(data.item_ptr[start]), int(data.item_ptr[stop])), stop - start
        item = np.repeat(np.arange(m), np.diff(data.item_ptr[start : stop + 1]))
        profile, y = data.profile_of[judgements].astype(np.intp), np.ascontiguousarray(data.y[judgements].T)
        weight = 1.0 if data.weight is None else data.weight[judgements]
        precision, linear = np.empty((D, D, len(item))), np.empty((D, len(item)))
        of_item, together = np.empty((D, D, m)), np.empty((D, m))
        for i in range(D):
            linear[i] = -g[i][profile]
            for j in range(D):
                linear[i] += G[i, j][profile] * y[j]
            linear[i] *= weight
            together[i] = np.bincount(item, linear[i], minlength=m)
            for j in range(i + 1):
                precision[i, j] = Q[i, j][profile] * weight
                of_item[i, j] = of_item[j, i] = np.bincount(item, precision[i, j], minlength=m)
        add_gold(data, start, stop, of_item.transpose(2, 0, 1), together.T)
        of_item += prior_precision[:, :, None]
        together += prior_precision @ (params.mu + data.scores.Z[start:stop] @ params.theta).T
        for i in range(D):
            linear[i] = together[i][item] - linear[i]
            for j in range(i + 1):
                precision[i, j] = precision[j, i] = of_item[i, j][item] - precision[i, j]
        yield _Systems(judgements, precision, linear)
