"""The truth of each judgement's item as the other judgements alone give it.

    Lambda_-n = Lambda_m - Q_n        E[a_m | others] = Lambda_-n^-1 (Sigma^-1 m0 + sum_others (G y - g))         eq. G7

One small system per judgement, the heaviest work of the diagnosis. Entries of one place lie next to each other, so that
every operation is over all judgements of a block together; what each judgement says is looked up once, for its item's
sum and for taking it off again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from unisono.maths.items.data import ItemData
from unisono.maths.items.estep import add_gold, item_blocks
from unisono.maths.items.params import ItemParams, information
from unisono.maths.linalg.small_spd import inverse_of_entries, solution_of_entries


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
        precision, linear = np.empty((D, D, len(item))), np.empty((D, len(item)))
        of_item, together = np.empty((D, D, m)), np.empty((D, m))
        for i in range(D):
            linear[i] = -g[i][profile]
            for j in range(D):
                linear[i] += G[i, j][profile] * y[j]
            together[i] = np.bincount(item, linear[i], minlength=m)
            for j in range(i + 1):
                precision[i, j] = Q[i, j][profile]
                of_item[i, j] = of_item[j, i] = np.bincount(item, precision[i, j], minlength=m)
        add_gold(data, start, stop, of_item.transpose(2, 0, 1), together.T)
        of_item += prior_precision[:, :, None]
        together += prior_precision @ (params.mu + data.scores.Z[start:stop] @ params.theta).T
        for i in range(D):
            linear[i] = together[i][item] - linear[i]
            for j in range(i + 1):
                precision[i, j] = precision[j, i] = of_item[i, j][item] - precision[i, j]
        yield _Systems(judgements, precision, linear)
