"""Numbers behind answers at the ends of the scale, found together with the truths of their items in the E-step.

Under fixed parameters q(a_m) has a covariance V_m that does not depend on the answers, and its mean moves with the
numbers y* behind them, as these do with it:

    E[a_m] = m_m + V_m sum_n G_n (E[y*_n] - y_n),     m_m the mean for the answers as numbers
    E[y*_nd] = mean of N(c_nd, 1/W_dd) beyond the cut,  c_nd = y*_nd - [W (y* - B E[abar])]_nd / W_dd          eq. B24

What stays open of y* enters the residuals, and its entropy the bound. The map from means to means is a contraction;
steps are lengthened by its rate, dimension by dimension (secant), until an item moves no more. Every item starts from
its answers as numbers, so an E-step depends on parameters and answers alone: not on who computes it, nor on the past.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from unisono.maths.items.data import ItemData
from unisono.maths.items.ends import mills_ratio, truncated_above
from unisono.maths.items.params import Information

SETTLED = 1e-6  # numerical: change of a truth below which its item is done
LENGTHENED_ROUNDS = 12  # numerical: after these, steps keep their own length, with which they converge for sure
MOST_ROUNDS = 100  # numerical: in all
FASTEST_RATE = 0.9  # numerical: a step is lengthened tenfold at most


class Behind(NamedTuple):
    """Of a block of m items with j judgements."""

    y: np.ndarray  # (j, D) ratings with those at the ends replaced by their expectations
    push: np.ndarray  # (D, m) sum_n G_n (y* - y)_n
    own: np.ndarray  # (m,) what they change of the ratings' own part of eq. G6, and their entropy
    Dyy: np.ndarray  # (U, D, D) what they add to the profiles' sums of outer products


class _AtEnds(NamedTuple):
    """Answers at the ends of one dimension; all (n,)."""

    row: np.ndarray  # judgement, counted in the block
    item: np.ndarray  # the same
    profile: np.ndarray
    side: np.ndarray  # 1 at the lower end, -1 at the upper one
    cut: np.ndarray
    sd: np.ndarray  # of y* given everything else

    def only(self, active: np.ndarray) -> _AtEnds:
        """Those of the active (m,) items."""
        keep = active[self.item]
        return self if keep.all() else _AtEnds(*(part[keep] for part in self))


def numbers_behind(
    data: ItemData, info: Information, start: int, stop: int, mean: np.ndarray, V: np.ndarray
) -> Behind | None:
    """Of the items from `start` to `stop`, whose answers as numbers give means (D, m) and covariances V (D, D, m).

    None where no answer is at an end.
    """
    judgements = slice(int(data.item_ptr[start]), int(data.item_ptr[stop]))
    given, profile_of = data.y[judgements], data.profile_of[judgements]
    item_of = np.repeat(np.arange(stop - start), np.diff(data.item_ptr[start : stop + 1]))
    ends = {d: own for d in range(data.D) if len((own := _at_ends(data, info, given, profile_of, item_of, d)).row)}
    if not ends:
        return None
    y, center = _settled(ends, info, given, mean, V)
    own = np.zeros(len(item_of))  # by judgement
    variance = np.zeros_like(given)
    for d, at in ends.items():
        cut = truncated_above(at.side * center[at.row, d], at.sd, at.side * at.cut)
        variance[at.row, d] = cut.variance
        both = y[at.row] + given[at.row]
        change = y[at.row, d] - given[at.row, d]
        pulled = 0.5 * np.einsum("ne,ne->n", info.W[at.profile, d], both) - info.Wb[at.profile, d]
        own[at.row] += cut.entropy - 0.5 * cut.variance / at.sd**2 - change * pulled
    rows = np.unique(np.concatenate([at.row for at in ends.values()]))
    return Behind(
        y,
        _push(ends, info, y - given, mean.shape),
        np.bincount(item_of, own, minlength=stop - start),
        _added(y[rows], given[rows], variance[rows], profile_of[rows], len(data.annotator)),
    )


def _at_ends(
    data: ItemData, info: Information, given: np.ndarray, profile_of: np.ndarray, item_of: np.ndarray, d: int
) -> _AtEnds:
    assert data.cuts is not None
    column, (low, high) = given[:, d], (end[d] for end in data.cuts)
    outside = (column <= low) | (column >= high)
    row = np.flatnonzero(outside if data.answered[:, d].all() else outside & data.answered[profile_of, d])
    profile, below = profile_of[row].astype(np.intp), column[row] <= low
    side, cut = np.where(below, 1.0, -1.0), np.where(below, low, high)
    return _AtEnds(row, item_of[row], profile, side, cut, 1 / np.sqrt(info.W[profile, d, d]))


def _settled(
    ends: dict[int, _AtEnds], info: Information, given: np.ndarray, mean: np.ndarray, V: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ratings with those at the ends replaced by their expectations, and the centers c; (j, D) each."""
    y, center = given.copy(), np.zeros_like(given)
    at, before, step = mean.copy(), np.zeros_like(mean), np.zeros_like(mean)
    active = np.zeros(mean.shape[1], dtype=bool)
    for own in ends.values():
        active[own.item] = True
    for round_ in range(MOST_ROUNDS):
        for d, own in ends.items():
            pulled = np.einsum("ne,ne->n", info.W[own.profile, d], y[own.row]) - info.Wb[own.profile, d]
            pulled -= np.einsum("ni,in->n", info.G[own.profile, :, d], at[:, own.item])
            c = y[own.row, d] - pulled * own.sd**2
            center[own.row, d] = c
            y[own.row, d] = c - own.side * own.sd * mills_ratio(own.side * (own.cut - c) / own.sd)
        push = _push(ends, info, y - given, mean.shape)
        miss = mean + np.einsum("ijm,jm->im", V, push) - at
        active &= np.abs(miss).max(axis=0) > SETTLED
        if not active.any():
            break
        rate = np.zeros_like(mean)
        if 0 < round_ < LENGTHENED_ROUNDS:
            moved = step != 0
            rate[moved] = np.clip(1 + (miss - before)[moved] / step[moved], 0.0, FASTEST_RATE)
        before, step = miss, np.where(active, miss / (1 - rate), 0.0)
        at = at + step
        ends = {d: own.only(active) for d, own in ends.items()}
    return y, center


def _push(ends: dict[int, _AtEnds], info: Information, change: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """(D, m) sum_n G_n (y* - y)_n."""
    D, m = shape
    push = np.zeros((D, m))
    for d, own in ends.items():
        for i in range(D):
            push[i] += np.bincount(own.item, info.G[own.profile, i, d] * change[own.row, d], minlength=m)
    return push


def _added(y: np.ndarray, given: np.ndarray, variance: np.ndarray, profile: np.ndarray, U: int) -> np.ndarray:
    """(U, D, D) sums of y y' - given given' + diag(variance) by profile."""
    n, D = y.shape
    to_profile = sparse.csc_array((np.ones(n), profile, np.arange(n + 1)), shape=(U, n))
    change, both = y - given, y + given
    half = np.stack([to_profile @ (0.5 * change[:, [d]] * both) for d in range(D)], axis=1)
    added = half + half.transpose(0, 2, 1)
    dims = np.arange(D)
    added[:, dims, dims] += to_profile @ variance
    return np.asarray(added)
