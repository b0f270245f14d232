"""The data by recording: traces of each, some of them alone, and groups of annotators that share recordings.

Imports NumPy, SciPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from unisono.maths.series.params import SeriesData


def recordings_of(data: SeriesData) -> list[np.ndarray]:
    """(K, T_m, D) ratings of each recording, NaN where missing."""
    offset = np.concatenate([[0], np.cumsum(data.length[data.item_of])])
    out = [np.full((data.K, int(T), data.D), np.nan) for T in data.length]
    for j, (m, k) in enumerate(zip(data.item_of.tolist(), data.annotator_of.tolist(), strict=True)):
        out[m][k] = data.y[offset[j] : offset[j + 1]]
    return out


def recordings_with(data: SeriesData, frames: np.ndarray) -> np.ndarray:
    """(M,) bool, recordings with a frame where `frames` (sum T,) is true."""
    return np.asarray(np.logical_or.reduceat(frames, np.cumsum(data.length) - data.length))


def with_recordings(data: SeriesData, held: np.ndarray) -> SeriesData:
    """Some of the recordings. held: (M,) bool."""
    place, keep = np.cumsum(held) - 1, held[data.item_of]
    return data._replace(
        y=data.y[np.repeat(keep, data.length[data.item_of])],
        item_of=place[data.item_of[keep]],
        annotator_of=data.annotator_of[keep],
        length=data.length[held],
        X=data.X[np.repeat(held, data.length)],
    )


def connected(data: SeriesData) -> np.ndarray:
    """(K,) which group of annotators each belongs to; groups share no recording, so nothing relates their delays."""
    M = len(data.length)
    ties = coo_array((np.ones(len(data.item_of)), (data.item_of, M + data.annotator_of)), shape=(M + data.K,) * 2)
    return np.asarray(connected_components(ties.tocsr(), directed=False)[1][M:])
