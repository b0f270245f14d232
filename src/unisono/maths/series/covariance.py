"""Posterior covariances of the truth, summed as they come out of the selected inverse: no band of them is stored.

The M-step needs covariances of a frame with the frames its windows reach, summed over all rated frames, and over the
frames in which a channel differs from that (gaps). Blocks are visited once, from the last to the first.
A row of the band is cov(a[u], a[u-l]) of one frame u, entry j is lag `lags - 1 - j`.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from unisono.maths.linalg.banded import join_band
from unisono.maths.linalg.block_tridiagonal import InverseBlocks
from unisono.maths.series.layout import Group


class Covariances(NamedTuple):
    """Sums over the frames of one recording of a group."""

    total: np.ndarray  # (lags, D, D) rows of the band over the rated range pre..stop-1
    edge: dict[int, np.ndarray]  # block -> (S, lags, D, D) rows of the first and the last two blocks
    exceptions: np.ndarray  # (n_mask, n, D, n, D) signed sums of window covariances over the masks' exceptions

    def rows(self, group: Group, frame: np.ndarray) -> np.ndarray:
        """(len(frame), lags, D, D) rows of frames in the edge blocks; zero before the clock."""
        out = np.zeros((len(frame), *self.total.shape))
        for i in np.flatnonzero(frame >= 0).tolist():
            out[i] = self.edge[int(frame[i]) // group.S][int(frame[i]) % group.S]
        return out


def sum_covariances(group: Group, n: int, lags: int, D: int, parts: Iterable[InverseBlocks]) -> Covariances:
    """Sums over the parts of the selected inverse, last block first. n: taps of the windows."""  # eq. S10
    S, nb = group.S, len(group.kind)
    inner = np.zeros((2, S * D, S * D))  # diagonal and left blocks of the blocks between the edges
    edge: dict[int, np.ndarray] = {}
    gathered = _Exceptions(group, n, D)
    right: InverseBlocks | None = None
    for part in parts:
        if right is not None:
            gathered.add(right.lo, right.lo, part.Z, right.left, right.Z)
        gathered.add(part.lo + 1, part.hi, part.Z, part.left, part.Z)
        for block in {0, max(nb - 2, 0), nb - 1}:
            if part.lo <= block <= part.hi:
                edge[block] = np.swapaxes(join_band(part.Z, part.left, D, lags), 1, 2)
        count = min(part.hi, nb - 2) - max(part.lo, 1) + 1
        if count > 0:
            inner[0] += count * part.Z
            inner[1] += count * part.left
        right = part
    assert right is not None
    gathered.add(0, 0, np.zeros_like(right.Z), right.left, right.Z)
    total = np.swapaxes(join_band(inner[0], inner[1], D, lags), 1, 2).sum(axis=0)
    for block in {0, nb - 1}:  # only these can be rated in part
        rated = np.clip([group.pre - block * S, group.stop - block * S], 0, S)
        total += edge[block][rated[0] : rated[1]].sum(axis=0)
    return Covariances(total, edge, gathered.forms())


def frame_covariances(group: Group, D: int, parts: Iterable[InverseBlocks]) -> np.ndarray:
    """(T, D, D) posterior covariance of the truth at each frame of a recording."""
    out = np.empty((len(group.kind), group.S, D, D))
    for part in parts:
        out[part.lo : part.hi + 1] = np.einsum("rdre->rde", part.Z.reshape(group.S, D, group.S, D))
    return out.reshape(group.L, D, D)[group.pre : group.stop]


class _Exceptions:
    """Window covariances of the frames in which masks differ from their base, added up block by block."""

    def __init__(self, group: Group, n: int, D: int) -> None:
        self.S, self.n, self.D = group.S, n, D
        order = np.argsort(group.masks.frame, kind="stable")
        frame = group.masks.frame[order]
        self.key = group.masks.mask[order] * group.S + frame % group.S  # mask and place in the block
        self.sign = group.masks.sign[order]
        self.first = np.searchsorted(frame, np.arange(len(group.kind) + 1) * group.S)
        self.sum = np.zeros((len(group.masks.base), n * D, n * D))  # windows from the earliest frame to the latest
        self.window = np.empty((2 * group.S * D, 2 * group.S * D))  # covariances of a block and the one before it

    def add(self, lo: int, hi: int, before: np.ndarray, left: np.ndarray, own: np.ndarray) -> None:
        """Blocks lo..hi share the inverse's block of their predecessor, the one towards it, and their own."""
        here = slice(self.first[lo], self.first[max(hi + 1, lo)])
        if here.stop <= here.start:
            return
        weight = np.bincount(self.key[here], self.sign[here])
        B, window = len(own), self.window
        window[:B, :B], window[:B, B:], window[B:, :B], window[B:, B:] = before, left.T, left, own
        for key in np.flatnonzero(weight).tolist():
            end = (self.S + key % self.S + 1) * self.D
            span = slice(end - self.n * self.D, end)
            if weight[key] == -1.0:  # a gap in a mask that is otherwise rated, by far the most frequent: no product
                self.sum[key // self.S] -= window[span, span]
            else:
                self.sum[key // self.S] += weight[key] * window[span, span]

    def forms(self) -> np.ndarray:
        """(n_mask, n, D, n, D) with lag 0 first."""
        by_frame = self.sum.reshape(-1, self.n, self.D, self.n, self.D)
        return np.ascontiguousarray(by_frame[:, ::-1, :, ::-1])
