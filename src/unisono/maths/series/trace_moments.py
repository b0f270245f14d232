"""Sufficient statistics of the series model: what the M-step needs from the E-step, additive over recordings.

z[s] = [a[s], a[s-1], ..., a[s-n+1], 1] is a window with a one; Z = n D + 1. Sums of covariances enter beside the means'
products; hard EM leaves them out. Covariances are summed as they come out of the selected inverse, blocks visited once,
from the last to the first; no band of them is stored. A row of the band is cov(a[u], a[u-l]) of one frame u, entry j is
lag `lags - 1 - j`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from unisono.maths.linalg import causal_filters
from unisono.maths.linalg.block_tridiagonal import InverseBlocks
from unisono.maths.linalg.causal_filters import Lagged
from unisono.maths.series.trace_layout import Group, Layout


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
                edge[block] = np.swapaxes(causal_filters.join_band(part.Z, part.left, D, lags), 1, 2)
        count = min(part.hi, nb - 2) - max(part.lo, 1) + 1
        if count > 0:
            inner[0] += count * part.Z
            inner[1] += count * part.left
        right = part
    assert right is not None
    gathered.add(0, 0, np.zeros_like(right.Z), right.left, right.Z)
    total = np.swapaxes(causal_filters.join_band(inner[0], inner[1], D, lags), 1, 2).sum(axis=0)
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


CHUNK = 4096  # numerical: windows gathered at a time


class Moments(NamedTuple):
    S: np.ndarray  # (C, Z, Z) sum of E zz' over the frames of each channel; 0 beyond the structure's span of taps
    c: np.ndarray  # (H, Z) sum of raw rating times E z
    yy: np.ndarray  # (H, H) sum of products of raw ratings; meaningful within a channel
    n: np.ndarray  # (C,) frames of each channel
    aa: Lagged  # lagged moments of the truth with itself
    ax: Lagged  # of the truth with [1, x]
    frames: int  # latent frames that carry information


def group_moments(group: Group, layout: Layout, a: np.ndarray, found: Covariances | None) -> Moments:
    """Moments of one group. a: (R, L, D) posterior means; found: None for hard EM."""
    forms = window_forms(group, layout.n, a, found)  # eq. S10
    return assemble(group, layout, a, forms, None if found is None else _lagged_covariance(group, found))


def assemble(group: Group, layout: Layout, a: np.ndarray, forms: np.ndarray | None, spread: Lagged | None) -> Moments:
    """Moments of one group from the forms of its masks (n_mask, Z, Z; None: zero) and the covariances of the truth."""
    R, Z = len(group.recording), layout.n * layout.D + 1
    S = np.zeros((len(layout.channels.channel), Z, Z))
    if forms is not None:
        S[group.channel] = forms[group.masks.of]
    count = np.zeros(len(S))
    count[group.channel] = R * group.masks.n[group.masks.of]
    c = np.zeros((len(layout.channels.raw_channel), Z))
    c[group.raw, :-1] = causal_filters.lag_products(group.y, a, layout.n, group.S).reshape(len(group.raw), Z - 1)
    c[group.raw, -1] = group.y.sum(axis=(0, 1))
    yy = np.zeros((len(c), len(c)))
    flat = group.y.reshape(-1, len(group.raw))
    yy[np.ix_(group.raw, group.raw)] = flat.T @ flat
    proper, x = a[:, : group.stop], causal_filters.with_one(group.X[:, : group.stop])
    aa = causal_filters.lagged_moments(proper, proper)
    if spread is not None:
        aa = causal_filters.add_lagged([aa, spread])
    return Moments(S, c, yy, count, aa, causal_filters.lagged_moments(proper, x), R * group.stop)


def add_moments(parts: Sequence[Moments]) -> Moments:
    """Sum in the given order, so that the result does not depend on who computed the parts."""
    total = parts[0]
    for part in parts[1:]:
        total = Moments(
            S=total.S + part.S,
            c=total.c + part.c,
            yy=total.yy + part.yy,
            n=total.n + part.n,
            aa=causal_filters.add_lagged([total.aa, part.aa]),
            ax=causal_filters.add_lagged([total.ax, part.ax]),
            frames=total.frames + part.frames,
        )
    return total


def window_forms(group: Group, n: int, a: np.ndarray, found: Covariances | None) -> np.ndarray:
    """(n_mask, Z, Z) sum of E zz' over the frames of each mask, all recordings of the group."""
    D = a.shape[2]
    full = _full_form(group, n, a, found)
    forms = np.where(group.masks.base[:, None, None], full, 0.0)
    for i in range(len(forms)):
        here = group.masks.mask == i
        forms[i] += _gathered(a, group.masks.frame[here], group.masks.sign[here], n)
    if found is not None:
        forms[:, :-1, :-1] += len(a) * found.exceptions.reshape(-1, n * D, n * D)
    return forms


def _full_form(group: Group, n: int, a: np.ndarray, found: Covariances | None) -> np.ndarray:
    """(Z, Z) over every frame of the recordings, gaps or not, by the lag recursion."""  # eq. S11
    R, _, D = a.shape
    start, stop = group.pre, group.stop
    rated = np.zeros_like(a)
    rated[:, start:stop] = a[:, start:stop]
    total = np.swapaxes(causal_filters.lag_products(rated, a, n, group.S), 0, 1)[
        ::-1
    ]  # (n, D, D), entry j is lag n - 1 - j
    entering, leaving = start - 1 - np.arange(n - 1), stop - 1 - np.arange(n - 1)
    pairs = causal_filters.slide(
        total, causal_filters.lag_outer(a, entering, n), causal_filters.lag_outer(a, leaving, n)
    )
    if found is not None:
        covariance = causal_filters.slide(found.total, found.rows(group, entering), found.rows(group, leaving))
        pairs = pairs + R * covariance[:, len(found.total) - n :]
    ones = causal_filters.slide(
        a[:, start:stop].sum(axis=(0, 1)),
        causal_filters.windows(a, entering, 1).sum(axis=(0, 2)),
        causal_filters.windows(a, leaving, 1).sum((0, 2)),
    )
    form = np.empty((n * D + 1, n * D + 1))
    form[:-1, :-1] = causal_filters.from_lag_pairs(pairs).reshape(n * D, n * D)
    form[-1, :-1] = form[:-1, -1] = ones.ravel()
    form[-1, -1] = R * (stop - start)
    return form


def _gathered(a: np.ndarray, frame: np.ndarray, sign: np.ndarray, n: int) -> np.ndarray:
    """(Z, Z) signed sum of z z' over single frames."""
    D = a.shape[2]
    form = np.zeros((n * D + 1, n * D + 1))
    for i in range(0, len(frame), CHUNK):
        z = causal_filters.windows(a, frame[i : i + CHUNK], n).reshape(len(a), -1, n * D)
        z = np.concatenate([z, np.ones((*z.shape[:2], 1))], axis=2)
        signed = z * sign[None, i : i + CHUNK, None]
        form += signed.reshape(-1, n * D + 1).T @ z.reshape(-1, n * D + 1)
    return form


def _lagged_covariance(group: Group, found: Covariances) -> Lagged:
    """Covariance part of the truth's lagged moments over frames 0..stop-1, all recordings."""
    R = len(group.recording)
    first, last = found.rows(group, np.array([0, group.stop - 1]))[:, -1]
    total = found.total + found.rows(group, np.arange(group.pre)).sum(axis=0)
    cross = total[-2]  # the first frame has no predecessor and adds nothing
    return Lagged(*(R * part for part in (total[-1] - first, cross, cross.T, total[-1] - last, first)))
