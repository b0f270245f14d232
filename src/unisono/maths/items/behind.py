"""Numbers behind answers at the ends of the scale, found together with the truths of their items in the E-step.

Under fixed parameters q(a_m) has a covariance V_m that does not depend on the answers, and its mean moves with the
numbers y* behind them, as these do with it:

    E[a_m] = m_m + V_m sum_n G_n (E[y*_n] - y_n),     m_m the mean for the answers as numbers
    E[y*_nd] = mean of N(c_nd, 1/W_dd) beyond the cut,  c_nd = y*_nd - [W (y* - B E[abar])]_nd / W_dd          eq. B24

What stays open of y* enters the residuals, and its entropy the bound. Where answers are kinds in part alone (weight
w), the number is the answer itself with probability 1 - w, and E[y*_nd] the mean of both.

The map from means to means is a contraction; steps are lengthened by its rate, dimension by dimension (secant), until
an item moves no more. Items that creep, or whose dimensions are tied too closely for that, are started anew and settled
by Newton's method (`together`). Every item starts from its answers as numbers, so an E-step depends on parameters and
answers alone: not on who computes it, nor on the past.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items.data import ItemData
from unisono.maths.items.ends import mills_ratio, truncated_above
from unisono.maths.items.params import Information
from unisono.maths.items.together import Numbers, found_together

# Columns are taken by `take`, which costs a sixth of what indexing does.

SETTLED = 3e-5  # numerical: change of a truth, in sd of its posterior, that ends it; it costs the bound 1e-9 of itself
SECANT_ROUNDS = 12  # numerical: after these, truths and numbers of what is left are found together
FASTEST_RATE = 0.9  # numerical: a step is lengthened tenfold at most
CREEPING = 0.99  # numerical: rate from which a settled truth may still be far off


class Behind(NamedTuple):
    """Of a block of m items with j judgements."""

    y: np.ndarray  # (D, j) ratings with those at the ends replaced by their expectations
    push: np.ndarray  # (D, m) sum_n G_n (y* - y)_n
    own: np.ndarray  # (m,) what they change of the ratings' own part of eq. G6, and their entropy
    Dyy: np.ndarray  # (U, D, D) what they add to the profiles' sums of outer products


class AtEnds(NamedTuple):
    """Answers at the ends of one dimension d, their numbers n last."""

    row: np.ndarray  # (n,) judgement, counted in the block
    item: np.ndarray  # (n,) the same
    profile: np.ndarray  # (n,)
    side: np.ndarray  # (n,) 1 at the lower end, -1 at the upper one
    weight: np.ndarray  # (n,) how much an answer is read as "here or beyond"
    sd: np.ndarray  # (n,) of y* given everything else
    room: np.ndarray  # (n,) side times (cut - given answer)
    rest: np.ndarray  # (n,) c - given answer but for what moves: truths, and numbers on the other dimensions
    slope: np.ndarray  # (D, n) of c on the truths: G_d / W_dd
    tie: np.ndarray  # (D, n) of c on the other numbers, times -1: W_de / W_dd, and 0 for e = d

    def only(self, active: np.ndarray) -> AtEnds:
        """Those of the active (m,) items."""
        keep = np.flatnonzero(active[self.item])
        return self if len(keep) == len(self.row) else AtEnds(*(part.take(keep, axis=-1) for part in self))

    def center(self, at: np.ndarray, change: np.ndarray) -> np.ndarray:
        """c - given answer, for truths (D, m) and numbers that lie `change` (D, j) away from the answers."""
        moved = _products(self.slope, at.take(self.item, axis=1)) - _products(self.tie, change.take(self.row, axis=1))
        return np.asarray(self.rest + moved)

    def push(self, change: np.ndarray, items: int) -> np.ndarray:
        """(D, items) sum_n G_nd (y* - y)_nd."""
        pushed = self.slope * (change.take(self.row) / self.sd**2)
        return np.stack([np.bincount(self.item, row, minlength=items) for row in pushed])


def numbers_behind(
    data: ItemData, info: Information, start: int, stop: int, mean: np.ndarray, V: np.ndarray
) -> Behind | None:
    """Of the items from `start` to `stop`, whose answers as numbers give means (D, m) and covariances V (D, D, m).

    None where no answer is at an end.
    """
    judgements = slice(int(data.item_ptr[start]), int(data.item_ptr[stop]))
    given, profile_of = np.ascontiguousarray(data.y[judgements].T), data.profile_of[judgements]
    item_of = np.repeat(np.arange(stop - start), np.diff(data.item_ptr[start : stop + 1]))
    found = (_at_ends(data, info, given, profile_of, item_of, d) for d in range(data.D))
    ends = {d: own for d, own in enumerate(found) if len(own.row)}
    if not ends:
        return None
    change, center = _settled(ends, given.shape, mean, V)
    y, own, variance = given + change, np.zeros(stop - start), np.zeros_like(given)
    for d, at in ends.items():
        cut = truncated_above(at.side * center[d].take(at.row), at.sd, at.room)
        weight, beyond = at.weight, at.side * cut.mean
        open_ = weight * (cut.variance + (1 - weight) * beyond**2)  # of a number that is the answer, or lies beyond
        variance[d, at.row] = open_
        both = 0.5 * (y.take(at.row, axis=1) + given.take(at.row, axis=1))
        # (y*'W y* - y'W y) / 2 - b'W (y* - y), in units of W_dd
        pulled = _products(at.tie, both) + both[d] - info.Wb[at.profile, d] * at.sd**2
        said = weight * cut.entropy - (0.5 * open_ + change[d].take(at.row) * pulled) / at.sd**2
        own += np.bincount(at.item, said, minlength=len(own))
    touched = np.flatnonzero(variance.any(axis=0))
    own_y, own_given, open_ = (part.take(touched, axis=1) for part in (y, given, variance))
    Dyy = _added(own_y, own_given, open_, profile_of[touched], len(data.annotator))
    return Behind(y, _push(ends, change, mean.shape), own, Dyy)


def _at_ends(
    data: ItemData, info: Information, given: np.ndarray, profile_of: np.ndarray, item_of: np.ndarray, d: int
) -> AtEnds:
    assert data.cuts is not None
    cuts = data.cuts.of([d])
    low, high = cuts.low[0], cuts.high[0]
    at_low, at_high = cuts.at_end(given[d])
    outside = at_low | at_high
    row = np.flatnonzero(outside if data.answered[:, d].all() else outside & data.answered[profile_of, d])
    profile, answer = profile_of[row].astype(np.intp), given[d][row]
    side = np.where(answer <= low, 1.0, -1.0)
    variance = 1 / info.W[:, d, d][profile]
    slope = np.take(info.G[:, :, d].T, profile, axis=1) * variance
    tie = np.take(info.W[:, d].T, profile, axis=1) * variance
    rest = info.Wb[:, d][profile] * variance - _products(tie, given.take(row, axis=1))
    tie[d] = 0.0
    room = side * (np.where(answer <= low, low, high) - answer)
    weight = np.broadcast_to(cuts.weight, row.shape)
    return AtEnds(row, item_of[row], profile, side, weight, np.sqrt(variance), room, rest, slope, tie)


def _settled(ends: dict[int, AtEnds], shape: tuple[int, ...], mean: np.ndarray, V: np.ndarray) -> Numbers:
    """The numbers that nothing moves any more."""
    change, center = np.zeros(shape), np.zeros(shape)
    at, before, step = mean.copy(), np.zeros_like(mean), np.zeros_like(mean)
    done, everywhere = SETTLED * np.sqrt(np.einsum("iim->im", V)), ends
    active = np.ones(mean.shape[1], dtype=bool)
    creeps = ~active  # little is missed, and yet there is far to go
    for round_ in range(SECANT_ROUNDS):
        open_ = np.zeros(mean.shape)  # how much of what an answer says about its truth the cut leaves open
        for d, own in ends.items():
            c = own.center(at, change)
            t = (own.room - own.side * c) / own.sd
            ratio = mills_ratio(t)
            center[d, own.row] = c
            change[d, own.row] = own.weight * (c - own.side * own.sd * ratio)
            if not round_:
                left = own.weight * (1 - ratio * (t + ratio)) * own.slope[d] ** 2 / own.sd**2
                open_[d] = np.bincount(own.item, left, minlength=mean.shape[1])
        miss = mean + np.einsum("ijm,jm->im", V, _push(ends, change, mean.shape)) - at
        rate = 1 + (miss - before) / np.where(step == 0, np.inf, step)
        if not round_:
            rate = np.einsum("iim->im", V) * open_
        far = active & (np.abs(miss) > done)
        creeps |= (far & (rate > CREEPING)).any(axis=0)
        active = far.any(axis=0) & ~creeps
        ends = {d: own.only(active) for d, own in ends.items()}
        if not any(len(own.row) for own in ends.values()):
            break
        before, step = miss, miss / (1 - np.clip(rate, 0.0, FASTEST_RATE))
        at = at + step
    left = creeps | active
    numbers, ends = Numbers(change, center), {d: own.only(left) for d, own in everywhere.items()}
    return found_together(ends, numbers, mean, V, SETTLED) if left.any() else numbers


def _push(ends: dict[int, AtEnds], change: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """(D, m) sum_n G_n (y* - y)_n."""
    push = np.zeros(shape)
    for d, own in ends.items():
        if len(own.row):
            push += own.push(change[d], shape[1])
    return push


def _products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,) sums over the first axis of a * b, (D, n) each."""
    return np.asarray(np.einsum("in,in->n", a, b))


def _added(y: np.ndarray, given: np.ndarray, variance: np.ndarray, profile: np.ndarray, U: int) -> np.ndarray:
    """(U, D, D) sums of y y' - given given' + diag(variance) by profile, from (D, n) each."""
    D = len(y)
    added = np.empty((U, D, D))
    change, both = y - given, 0.5 * (y + given)
    for d in range(D):
        for e in range(d + 1):
            own = change[d] * both[e] + both[d] * change[e]
            added[:, d, e] = added[:, e, d] = np.bincount(profile, own, minlength=U)
        added[:, d, d] += np.bincount(profile, variance[d], minlength=U)
    return added
