"""The truth of each judgement's item as the other judgements alone give it.

    Lambda_-n = Lambda_m - Q_n        E[a_m | others] = Lambda_-n^-1 (Sigma^-1 m0 + sum_others (G y - g))         eq. G7

One small system per judgement, the heaviest work of the diagnosis. Entries of one place lie next to each other, so that
every operation is over all judgements of a block together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from unisono.maths.items.data import ItemData
from unisono.maths.items.estep import item_blocks, seen_items
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
    for judgements, precision, linear in _systems(data, params):
        means[judgements] = solution_of_entries(precision, linear).T
    return means


def left_out_blocks(data: ItemData, params: ItemParams) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Judgements block by block, with mean (j, D) and covariance (j, D, D) of their item's truth without them."""
    for judgements, precision, linear in _systems(data, params):
        V, _ = inverse_of_entries(precision)
        mean = np.einsum("ijn,jn->ni", V, linear)
        yield judgements, mean, np.ascontiguousarray(V.transpose(2, 0, 1))


def _systems(data: ItemData, params: ItemParams) -> Iterator[_Systems]:
    info = information(data, params)
    Q, G = (np.ascontiguousarray(part.transpose(1, 2, 0)) for part in (info.Q, info.G))
    g = np.ascontiguousarray(info.g.T)
    prior_precision = np.linalg.inv(params.Sigma)
    for start, stop in item_blocks(data.M):
        seen = seen_items(data, info, start, stop)
        prior_mean = params.mu + data.scores.Z[start:stop] @ params.theta
        of_item = seen.precision + prior_precision
        together = seen.linear + prior_mean @ prior_precision
        low, high = int(data.item_ptr[start]), int(data.item_ptr[stop])
        number = np.diff(data.item_ptr[start : stop + 1])
        profile, y = data.profile_of[low:high], np.ascontiguousarray(data.y[low:high].T)
        precision, linear = np.empty((data.D, data.D, high - low)), np.empty((data.D, high - low))
        for i in range(data.D):
            linear[i] = np.repeat(together[:, i], number) + g[i][profile]
            for j in range(data.D):
                linear[i] -= G[i, j][profile] * y[j]
            for j in range(i + 1):
                precision[i, j] = precision[j, i] = np.repeat(of_item[:, i, j], number) - Q[i, j][profile]
        yield _Systems(slice(low, high), precision, linear)
