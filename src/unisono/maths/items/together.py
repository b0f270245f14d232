"""Truths and the numbers behind answers at the ends of the scale together, for the few items that need it.

Where an item's answers leave much open and its dimensions, or the errors of its judgements, are closely tied, truths
and numbers in turn creep, and lengthened steps are thrown off. The bound of an item is concave in both together, so
that its maximum is the one root of

    mean + V sum_n G_n delta_n - a = 0,      f_d(c_nd) - delta_nd = 0                                        eq. B26

with delta the distances of the numbers from the answers, f_d that of a normal with center c_nd cut off at the end, and
c_nd = rest + slope a - tie delta_n as `behind` has it. A Newton step makes the sum of their squares smaller if it is
short enough, so steps are halved until it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unisono.maths.items.ends import mills_ratio

if TYPE_CHECKING:
    from unisono.maths.items.behind import AtEnds

MOST_STEPS = 200  # numerical: of Newton's method; it takes about ten


class Numbers(NamedTuple):
    """Where the numbers are; (D, j) each."""

    change: np.ndarray  # how far they lie from the given answers
    center: np.ndarray  # the same for their centers c


class _Tied(NamedTuple):
    """The answers at ends of n judgements of m items; judgements are sorted by item."""

    ends: dict[int, AtEnds]  # rows and items counted anew
    first: np.ndarray  # (m,) first judgement of each item
    item: np.ndarray  # (n,)
    slope: np.ndarray  # (n, D, D) of c_d on the truths; zero where an answer is at no end, as the rest
    tie: np.ndarray  # (n, D, D) of c_d on the numbers, times -1
    weight: np.ndarray  # (n, D) precision of y* given everything else


class _Point(NamedTuple):
    """Truths and numbers, how far they are from where they should be, and how that goes on."""

    truth: np.ndarray  # (m, D)
    change: np.ndarray  # (n, D)
    center: np.ndarray  # (n, D)
    off_truth: np.ndarray  # (m, D)
    off_change: np.ndarray  # (n, D)
    follow: np.ndarray  # (n, D) derivative of f
    off: np.ndarray  # (m,) sum of squares, in posterior and error variances


def found_together(
    ends: dict[int, AtEnds], numbers: Numbers, mean: np.ndarray, V: np.ndarray, tolerance: float
) -> Numbers:
    """The numbers, with those of all items that have `ends` settled; means (D, m), covariances V (D, D, m)."""
    tied, rows, items = _tied(ends, len(mean))
    start, cov = mean.T[items], np.ascontiguousarray(V.transpose(2, 0, 1)[items])
    sd = np.sqrt(np.einsum("mii->mi", cov))
    point = _point(tied, start, cov, start, np.zeros(tied.weight.shape))
    move, length, far = _newton(tied, cov, point), np.ones(len(start)), np.ones(len(start), dtype=bool)
    for _ in range(MOST_STEPS):
        by_item, by_judgement = length[:, None], length[tied.item][:, None]
        trial = _point(tied, start, cov, point.truth + by_item * move[0], point.change + by_judgement * move[1])
        better = far & (trial.off < point.off)  # who has arrived stays, whatever the others do
        far = far & (np.abs(by_item * move[0]) > tolerance * sd).any(axis=1)
        point = _mixed(tied, better, trial, point)
        if not far.any():
            break
        length = np.where(better, 1.0, length / 2)
        truth, change = _newton(tied, cov, point)
        move = np.where(better[:, None], truth, move[0]), np.where(better[tied.item][:, None], change, move[1])
    found = numbers.change.copy(), numbers.center.copy()
    for d, own in tied.ends.items():
        for part, settled in zip(found, (point.change, point.center), strict=True):
            part[d, rows[own.row]] = settled[own.row, d]
    return Numbers(*found)


def _tied(ends: dict[int, AtEnds], D: int) -> tuple[_Tied, np.ndarray, np.ndarray]:
    """The judgements with any answer at an end, and which (n,) rows and (m,) items these are."""
    rows, place = np.unique(np.concatenate([own.row for own in ends.values()]), return_index=True)
    items, item = np.unique(np.concatenate([own.item for own in ends.values()])[place], return_inverse=True)
    n = len(rows)
    slope, tie, weight = np.zeros((n, D, D)), np.zeros((n, D, D)), np.ones((n, D))
    anew = {}
    for d, own in ends.items():
        at = np.searchsorted(rows, own.row)
        slope[at, d], tie[at, d], weight[at, d] = own.slope.T, own.tie.T, own.sd**-2.0
        anew[d] = own._replace(row=at, item=np.searchsorted(items, own.item))
    return _Tied(anew, np.searchsorted(item, np.arange(len(items))), item, slope, tie, weight), rows, items


def _point(tied: _Tied, mean: np.ndarray, V: np.ndarray, truth: np.ndarray, change: np.ndarray) -> _Point:
    """Truths (m, D) and numbers (n, D), and what they miss."""
    center, off_change, follow = (np.zeros(change.shape) for _ in range(3))
    for d, own in tied.ends.items():
        c = own.center(truth.T, change.T)
        t = (own.room - own.side * c) / own.sd
        ratio = mills_ratio(t)
        center[own.row, d] = c
        off_change[own.row, d] = own.weight * (c - own.side * own.sd * ratio) - change[own.row, d]
        follow[own.row, d] = own.weight * (1 - ratio * (t + ratio))
    pushed = np.add.reduceat(np.einsum("ndi,nd->ni", tied.slope, tied.weight * change), tied.first)
    off_truth = mean + np.einsum("mij,mj->mi", V, pushed) - truth
    off = (off_truth**2 / np.einsum("mii->mi", V)).sum(axis=1)
    off = off + np.add.reduceat((tied.weight * off_change**2).sum(axis=1), tied.first)
    return _Point(truth, change, center, off_truth, off_change, follow, off)


def _newton(tied: _Tied, V: np.ndarray, point: _Point) -> tuple[np.ndarray, np.ndarray]:
    """The steps of truths (m, D) and numbers (n, D) under which nothing would be missed if all were straight."""
    D = V.shape[1]
    follow = point.follow[:, :, None]
    sides = np.concatenate([follow * tied.slope, point.off_change[:, :, None]], axis=2)
    # What numbers do when the truths move, and what they do by themselves.
    moved = np.linalg.solve(np.eye(D) + follow * tied.tie, sides)
    pushed = np.add.reduceat(np.einsum("ndi,ndj->nij", tied.slope * tied.weight[:, :, None], moved), tied.first)
    pulled = V @ pushed
    truth = np.linalg.solve(np.eye(D) - pulled[:, :, :D], (point.off_truth + pulled[:, :, D])[:, :, None])[:, :, 0]
    return truth, np.einsum("ndj,nj->nd", moved[:, :, :D], truth[tied.item]) + moved[:, :, D]


def _mixed(tied: _Tied, at: np.ndarray, new: _Point, old: _Point) -> _Point:
    """The new point of the items `at` (m,), the old one of the others."""

    def mixed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        own = at if len(a) == len(at) else at[tied.item]
        return np.where(own.reshape(-1, *[1] * (a.ndim - 1)), a, b)

    return _Point(*(mixed(a, b) for a, b in zip(new, old, strict=True)))
