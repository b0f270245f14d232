"""Sufficient statistics of the series model: what the M-step needs from the E-step, additive over recordings.

z[s] = [a[s], a[s-1], ..., a[s-n+1], 1] is a window with a one; Z = n D + 1. Sums of covariances enter beside the means'
products; hard EM leaves them out.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unisono.maths.linalg.banded import from_lag_pairs
from unisono.maths.linalg.filters import lag_outer, lag_products, slide, windows
from unisono.maths.linalg.lagged import Lagged, add_lagged, lagged_moments, with_one
from unisono.maths.series.covariance import Covariances
from unisono.maths.series.layout import Group, Layout

CHUNK = 4096  # windows gathered at a time


class Moments(NamedTuple):
    S: np.ndarray  # (C, Z, Z) sum of E zz' over the frames of each channel; 0 beyond the structure's span of taps
    c: np.ndarray  # (H, Z) sum of raw rating times E z
    yy: np.ndarray  # (H, H) sum of products of raw ratings; meaningful within a channel
    n: np.ndarray  # (C,) frames of each channel
    aa: Lagged  # lagged moments of the truth with itself
    ax: Lagged  # of the truth with [1, x]
    frames: int  # latent frames that carry information
    recordings: int


def group_moments(group: Group, layout: Layout, a: np.ndarray, found: Covariances | None) -> Moments:
    """Moments of one group. a: (R, L, D) posterior means; found: None for hard EM."""
    forms = window_forms(group, layout.n, a, found)  # eq. S10
    return assemble(group, layout, a, forms, None if found is None else _lagged_covariance(group, found))


def assemble(group: Group, layout: Layout, a: np.ndarray, forms: np.ndarray, spread: Lagged | None) -> Moments:
    """Moments of one group from the forms of its masks (n_mask, Z, Z) and the lagged covariances of the truth."""
    R, Z = len(group.recording), layout.n * layout.D + 1
    S = np.zeros((len(layout.channels.channel), Z, Z))
    S[group.channel] = forms[group.masks.of]
    count = np.zeros(len(S))
    count[group.channel] = R * group.masks.n[group.masks.of]
    c = np.zeros((len(layout.channels.raw_channel), Z))
    c[group.raw, :-1] = lag_products(group.y, a, layout.n, group.S).reshape(len(group.raw), Z - 1)
    c[group.raw, -1] = group.y.sum(axis=(0, 1))
    yy = np.zeros((len(c), len(c)))
    flat = group.y.reshape(-1, len(group.raw))
    yy[np.ix_(group.raw, group.raw)] = flat.T @ flat
    proper, x = a[:, : group.stop], with_one(group.X[:, : group.stop])
    aa = lagged_moments(proper, proper)
    if spread is not None:
        aa = add_lagged([aa, spread])
    return Moments(S, c, yy, count, aa, lagged_moments(proper, x), R * group.stop, R)


def add_moments(parts: Sequence[Moments]) -> Moments:
    """Sum in the given order, so that the result does not depend on who computed the parts."""
    total = parts[0]
    for part in parts[1:]:
        total = Moments(
            S=total.S + part.S,
            c=total.c + part.c,
            yy=total.yy + part.yy,
            n=total.n + part.n,
            aa=add_lagged([total.aa, part.aa]),
            ax=add_lagged([total.ax, part.ax]),
            frames=total.frames + part.frames,
            recordings=total.recordings + part.recordings,
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
    total = np.swapaxes(lag_products(rated, a, n, group.S), 0, 1)[::-1]  # (n, D, D), entry j is lag n - 1 - j
    entering, leaving = start - 1 - np.arange(n - 1), stop - 1 - np.arange(n - 1)
    pairs = slide(total, lag_outer(a, entering, n), lag_outer(a, leaving, n))
    if found is not None:
        covariance = slide(found.total, found.rows(group, entering), found.rows(group, leaving))
        pairs = pairs + R * covariance[:, len(found.total) - n :]
    ones = slide(
        a[:, start:stop].sum(axis=(0, 1)), windows(a, entering, 1).sum(axis=(0, 2)), windows(a, leaving, 1).sum((0, 2))
    )
    form = np.empty((n * D + 1, n * D + 1))
    form[:-1, :-1] = from_lag_pairs(pairs).reshape(n * D, n * D)
    form[-1, :-1] = form[:-1, -1] = ones.ravel()
    form[-1, -1] = R * (stop - start)
    return form


def _gathered(a: np.ndarray, frame: np.ndarray, sign: np.ndarray, n: int) -> np.ndarray:
    """(Z, Z) signed sum of z z' over single frames."""
    D = a.shape[2]
    form = np.zeros((n * D + 1, n * D + 1))
    for i in range(0, len(frame), CHUNK):
        z = windows(a, frame[i : i + CHUNK], n).reshape(len(a), -1, n * D)
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
