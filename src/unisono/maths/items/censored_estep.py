"""Latent ratings behind answers at the minimum or maximum of the scale (`censored_answers`), in the E-step.

Under fixed parameters q(a_m) has a fixed covariance V_m; its mean moves with the latent ratings, as these do with it:

    E[a_m] = m_m + V_m sum_n G_n (E[y*_n] - y_n),     m_m the mean for the answers as numbers
    E[y*_nd] = mean of N(c_nd, 1/W_dd) beyond the cut,  c_nd = y*_nd - [W (y* - B E[abar])]_nd / W_dd          eq. B24

The map from means to means is a contraction; steps are lengthened by its rate (secant) until an item moves no more.
Items that creep are started anew and settled by Newton's method: the bound of an item is concave in truths and latent
ratings together, so that its maximum is the one root of

    mean + V sum_n G_n delta_n - a = 0,      f_d(c_nd) - delta_nd = 0                                        eq. B26

with delta the distances of the latent ratings from the answers and c_nd = rest + slope a - tie delta_n. Every item
starts from its answers as numbers, so an E-step depends on parameters and answers alone, not on the past.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.items import censored_answers, item_data, item_params
from unisono.maths.linalg.small_spd import LARGEST, solution_without_pivots

MOST_STEPS = 200  # numerical: of Newton's method; it takes about ten


class Numbers(NamedTuple):
    """Where the numbers behind the answers at the ends of one dimension are; (n,) each, in sd as in AtEnds."""

    distance: np.ndarray  # t, of cuts from centers
    ratio: np.ndarray  # of Mills, there
    change: np.ndarray  # how far they lie from the given answers, on average


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
    distance: np.ndarray  # (n, D) of cuts from centers, in sd
    off_truth: np.ndarray  # (m, D)
    off_change: np.ndarray  # (n, D)
    follow: np.ndarray  # (n, D) derivative of f
    off: np.ndarray  # (m,) sum of squares, in posterior and error variances


def found_together(ends: dict[int, AtEnds], mean: np.ndarray, V: np.ndarray, tolerance: float) -> dict[int, Numbers]:
    """The numbers of all items that have `ends`; means (D, m), covariances V (D, D, m)."""
    if not any(len(own.row) for own in ends.values()):
        return {}
    tied, items = _tied(ends, len(mean))
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
    found = {}
    for d, own in tied.ends.items():
        t = point.distance[own.row, d]
        found[d] = Numbers(t, censored_answers.mills_ratio(t), own.side / own.sd * point.change[own.row, d])
    return found


def _tied(ends: dict[int, AtEnds], D: int) -> tuple[_Tied, np.ndarray]:
    """The judgements with any answer at an end, and which (m,) items these are of."""
    rows, place = np.unique(np.concatenate([own.row for own in ends.values()]), return_index=True)
    items, item = np.unique(np.concatenate([own.item for own in ends.values()])[place], return_inverse=True)
    n = len(rows)
    slope, tie, weight = np.zeros((n, D, D)), np.zeros((n, D, D)), np.ones((n, D))
    anew = {}
    for d, own in ends.items():
        at = np.searchsorted(rows, own.row)
        unit = own.side * own.sd
        slope[at, d], tie[at, d], weight[at, d] = (unit * own.slope).T, (unit * own.tie).T, unit**-2.0
        anew[d] = own._replace(row=at, item=np.searchsorted(items, own.item))
    return _Tied(anew, np.searchsorted(item, np.arange(len(items))), item, slope, tie, weight), items


def _point(tied: _Tied, mean: np.ndarray, V: np.ndarray, truth: np.ndarray, change: np.ndarray) -> _Point:
    """Truths (m, D) and numbers (n, D), and what they miss."""
    distance, off_change, follow = (np.zeros(change.shape) for _ in range(3))
    for d, own in tied.ends.items():
        t = own.start - _products(own.slope, truth.T.take(own.item, axis=1))
        t += _products(own.tie, change.T.take(own.row, axis=1))
        ratio = censored_answers.mills_ratio(t)
        distance[own.row, d] = t
        off_change[own.row, d] = own.weight * own.side * own.sd * (own.room - t - ratio) - change[own.row, d]
        follow[own.row, d] = own.weight * (1 - ratio * (t + ratio))
    pushed = np.add.reduceat(np.einsum("ndi,nd->ni", tied.slope, tied.weight * change), tied.first)
    off_truth = mean + np.einsum("mij,mj->mi", V, pushed) - truth
    off = (off_truth**2 / np.einsum("mii->mi", V)).sum(axis=1)
    off = off + np.add.reduceat((tied.weight * off_change**2).sum(axis=1), tied.first)
    return _Point(truth, change, distance, off_truth, off_change, follow, off)


def _newton(tied: _Tied, V: np.ndarray, point: _Point) -> tuple[np.ndarray, np.ndarray]:
    """The steps of truths (m, D) and numbers (n, D) under which nothing would be missed if all were straight."""
    D = V.shape[1]
    follow = point.follow[:, :, None]
    sides = np.concatenate([follow * tied.slope, point.off_change[:, :, None]], axis=2)
    # What numbers do when the truths move, and what they do by themselves.
    straight = np.eye(D)[:, :, None] + (follow * tied.tie).transpose(1, 2, 0)
    moved = solution_without_pivots(straight, sides.transpose(1, 2, 0)).transpose(2, 0, 1)
    said = tied.slope * tied.weight[:, :, None]
    each = np.einsum("ndi,ndj->nij", said, moved) if D <= LARGEST else said.transpose(0, 2, 1) @ moved
    pushed = np.add.reduceat(each, tied.first)
    pulled = V @ pushed
    truth = np.linalg.solve(np.eye(D) - pulled[:, :, :D], (point.off_truth + pulled[:, :, D])[:, :, None])[:, :, 0]
    return truth, np.einsum("ndj,nj->nd", moved[:, :, :D], truth[tied.item]) + moved[:, :, D]


def _mixed(tied: _Tied, at: np.ndarray, new: _Point, old: _Point) -> _Point:
    """The new point of the items `at` (m,), the old one of the others."""

    def mixed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        own = at if len(a) == len(at) else at[tied.item]
        return np.where(own.reshape(-1, *[1] * (a.ndim - 1)), a, b)

    return _Point(*(mixed(a, b) for a, b in zip(new, old, strict=True)))


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
    Dyy: np.ndarray  # (U, D, D) what they add to the profiles' weighted sums of outer products
    variance: np.ndarray  # (D, j) of ratings, 0 where they are no end


class AtEnds(NamedTuple):
    """Answers at the ends of one dimension d, their numbers n last; centers are those of y* given everything else, and
    lie side (c - given answer) / sd from the answer."""

    row: np.ndarray  # (n,) judgement, counted in the block
    item: np.ndarray  # (n,) the same
    profile: np.ndarray  # (n,)
    side: np.ndarray  # (n,) 1 at the lower end, -1 at the upper one
    weight: float  # how much an answer is read as "here or beyond"
    sd: np.ndarray  # (n,) of y* given everything else
    room: np.ndarray  # (n,) of the cut from the given answer
    start: np.ndarray  # (n,) of the cut from the center, but for what moves: truths, and numbers on other dimensions
    slope: np.ndarray  # (D, n) of centers on the truths: G_d / W_dd
    tie: np.ndarray  # (D, n) of centers on the other numbers, times -1: W_de / W_dd, and 0 for e = d

    def only(self, wanted: np.ndarray) -> AtEnds:
        """Those of the `wanted` (m,) items."""
        keep = np.flatnonzero(wanted[self.item])
        return self._replace(
            **{name: getattr(self, name).take(keep, axis=-1) for name in self._fields if name != "weight"}
        )


class _Open(NamedTuple):
    """Answers of one dimension whose items still move; items are counted among these."""

    place: np.ndarray  # (n,) among all of the dimension
    item: np.ndarray  # (n,)
    start: np.ndarray  # (n,) as in AtEnds, like the others
    room: np.ndarray  # (n,)
    slope: np.ndarray  # (D, n)
    beside: np.ndarray  # (b,) which of these have another answer of the same judgement at an end beside them
    row: np.ndarray  # (b,) of those
    tie: np.ndarray  # (D, b)
    unit: np.ndarray  # (b,) side times sd

    def only(self, active: np.ndarray) -> _Open:
        """Those of the active (m,) items."""
        open_ = active.take(self.item)
        keep, own = np.flatnonzero(open_), np.flatnonzero(open_.take(self.beside))
        item = (np.cumsum(active) - 1).take(self.item.take(keep))
        beside = (np.cumsum(open_) - 1).take(self.beside.take(own)) if len(own) else own
        place, start, room, slope = (part.take(keep, axis=-1) for part in (self.place, *self[2:5]))
        return _Open(place, item, start, room, slope, beside, *(part.take(own, axis=-1) for part in self[6:]))

    def distance(self, at: np.ndarray, change: np.ndarray) -> np.ndarray:
        """(n,) of cuts from centers, in sd, for truths (D, m) and numbers that lie `change` (D, j) from the answers."""
        t = self.start - _products(self.slope, at.take(self.item, axis=1))
        if len(self.beside):
            t[self.beside] += _products(self.tie, change.take(self.row, axis=1))
        return np.asarray(t)


def numbers_behind(
    data: item_data.ItemData, info: item_params.Information, start: int, stop: int, mean: np.ndarray, V: np.ndarray
) -> Behind | None:
    """Of the items from `start` to `stop`, whose answers as numbers give means (D, m) and covariances V (D, D, m).

    None where no answer is at an end.
    """
    judgements = slice(int(data.item_ptr[start]), int(data.item_ptr[stop]))
    given, profile_of = np.ascontiguousarray(data.y[judgements].T), data.profile_of[judgements]
    item_of = np.repeat(np.arange(stop - start), np.diff(data.item_ptr[start : stop + 1]))
    weighed = None if data.weight is None else np.sqrt(data.weight[judgements])
    found = (_at_ends(data, info, given, profile_of, item_of, weighed, d) for d in range(data.D))
    ends = {d: own for d, own in enumerate(found) if len(own.row)}
    if not ends:
        return None
    numbers = _settled_together(ends, given.shape, mean, V)
    y, own, push, variance = given.copy(), np.zeros(stop - start), np.zeros(mean.shape), np.zeros_like(given)
    for d, at in ends.items():
        y[d, at.row] += at.side * at.sd * numbers[d].change
    for d, at in ends.items():
        (t, ratio, change), weight = numbers[d], at.weight
        open_, entropy = censored_answers.cut_off(t, ratio)
        if weight < 1:
            open_ = weight * (open_ + (1 - weight) * (at.room - t - ratio) ** 2)  # it is the answer, or lies beyond
        variance[d, at.row] = at.sd**2 * open_
        both = 0.5 * (y.take(at.row, axis=1) + given.take(at.row, axis=1))
        # (y*'W y* - y'W y) / 2 - b'W (y* - y)
        bias = (info.Wb[:, d] / _own_precision(info, d)).take(at.profile)
        pulled = at.side / at.sd * (both[d] - bias) + _products(at.tie, both)
        said = weight * (entropy + np.log(at.sd)) - 0.5 * open_ - change * pulled
        own += np.bincount(at.item, said, minlength=len(own))
        _push(push, at.item, at.slope * change)
    touched = np.flatnonzero(variance.any(axis=0))
    own_y, own_given, open_ = (part.take(touched, axis=1) for part in (y, given, variance))
    heavy = np.ones(len(touched)) if data.weight is None else data.weight[judgements][touched]
    Dyy = _added(own_y, own_given, open_, heavy, profile_of[touched], len(data.annotator))
    return Behind(y, push, own, Dyy, variance)


def _at_ends(
    data: item_data.ItemData,
    info: item_params.Information,
    given: np.ndarray,
    profile_of: np.ndarray,
    item_of: np.ndarray,
    weighed: np.ndarray | None,
    d: int,
) -> AtEnds:
    assert data.cuts is not None
    cuts = data.cuts.of([d])
    low, high = cuts.low[0], cuts.high[0]
    at_low, at_high = cuts.at_end(given[d])
    outside = at_low | at_high
    row = np.flatnonzero(outside if data.answered[:, d].all() else outside & data.answered[profile_of, d])
    profile, answer = profile_of[row].astype(np.intp), given[d][row]
    side = np.where(answer <= low, 1.0, -1.0)
    sd = 1 / np.sqrt(_own_precision(info, d))
    unit = side if weighed is None else side * weighed[row]
    slope = np.take(info.G[:, :, d].T * sd, profile, axis=1) * unit
    tie = np.take(info.W[:, d].T * sd, profile, axis=1) * unit
    start = _products(tie, given.take(row, axis=1)) - unit * (info.Wb[:, d] * sd).take(profile)
    tie[d], sd = 0.0, sd.take(profile) * (side / unit)
    room = side / sd * (np.where(side > 0, low, high) - answer)
    return AtEnds(row, item_of[row], profile, side, float(cuts.weight[0]), sd, room, room + start, slope, tie)


def _settled_together(
    ends: dict[int, AtEnds], shape: tuple[int, ...], mean: np.ndarray, V: np.ndarray
) -> dict[int, Numbers]:
    """The numbers that nothing moves any more."""
    change, left = np.zeros(shape), np.zeros(mean.shape[1], dtype=bool)
    items, open_ = _opened(ends, mean.shape[1], shape[1])
    found = {d: Numbers(*np.zeros((3, len(own.row)))) for d, own in ends.items()}
    mean_, V_ = mean.take(items, axis=1), V.take(items, axis=2)
    at, spread = mean_, np.einsum("iim->im", V_)
    before, step, done = np.zeros_like(at), np.zeros_like(at), SETTLED * np.sqrt(spread)
    for round_ in range(SECANT_ROUNDS):
        push, told = np.zeros_like(at), np.zeros_like(at)  # how much of what an answer says the cut leaves open
        for d, own in open_.items():
            t = own.distance(at, change)
            ratio = censored_answers.mills_ratio(t)
            moved = ends[d].weight * (own.room - t - ratio)
            for part, now in zip(found[d], (t, ratio, moved), strict=True):
                part[own.place] = now
            change[d, own.row] = own.unit * moved.take(own.beside)
            _push(push, own.item, own.slope * moved)
            if not round_:
                said = ends[d].weight * (1 - ratio * (t + ratio)) * own.slope[d] ** 2
                told[d] = np.bincount(own.item, said, minlength=len(items))
        miss = mean_ + np.einsum("ijm,jm->im", V_, push) - at
        rate = 1 + (miss - before) / np.where(step == 0, np.inf, step) if round_ else spread * told
        far = np.abs(miss) > done
        creeps = (far & (rate > CREEPING)).any(axis=0)
        left[items[creeps]] = True  # little is missed, and yet there is far to go
        active = far.any(axis=0) & ~creeps
        before, step = miss, miss / (1 - np.clip(rate, 0.0, FASTEST_RATE))
        at = at + step
        if not active.all():
            keep, open_ = np.flatnonzero(active), {d: own.only(active) for d, own in open_.items()}
            items, V_ = items.take(keep), V_.take(keep, axis=2)
            parts = mean_, at, spread, before, step, done
            mean_, at, spread, before, step, done = (part.take(keep, axis=1) for part in parts)
        if not len(items):
            break
    left[items] = True  # they have not settled either
    for d, settled in found_together({d: own.only(left) for d, own in ends.items()}, mean, V, SETTLED).items():
        place = np.flatnonzero(left[ends[d].item])
        for part, now in zip(found[d], settled, strict=True):
            part[place] = now
    return found


def _own_precision(info: item_params.Information, d: int) -> np.ndarray:
    """(U,) W_dd, 1 where a profile has no answers on d."""
    return np.where(info.W[:, d, d] > 0, info.W[:, d, d], 1.0)


def _opened(ends: dict[int, AtEnds], m: int, j: int) -> tuple[np.ndarray, dict[int, _Open]]:
    """Which of m items have answers at ends, and these answers, of j judgements."""
    touched, times = np.zeros(m, dtype=bool), np.zeros(j, dtype=np.int64)
    for own in ends.values():
        touched[own.item] = True
        times[own.row] += 1
    number, found = np.cumsum(touched) - 1, {}
    for d, own in ends.items():
        beside = np.flatnonzero((times.take(own.row) > 1) & own.tie.any())
        ties = own.row.take(beside), own.tie.take(beside, axis=1), (own.side * own.sd).take(beside)
        place = np.arange(len(own.row))
        found[d] = _Open(place, number.take(own.item), own.start, own.room, own.slope, beside, *ties)
    return np.flatnonzero(touched), found


def _push(push: np.ndarray, item: np.ndarray, by: np.ndarray) -> None:
    """Adds to push (D, m) what every number pushes its item `by` (D, n)."""
    for i, row in enumerate(by):
        push[i] += np.bincount(item, row, minlength=push.shape[1])


def _products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n,) sums over the first axis of a * b, (D, n) each."""
    return np.asarray(np.einsum("in,in->n", a, b))


def _added(
    y: np.ndarray, given: np.ndarray, variance: np.ndarray, weight: np.ndarray, profile: np.ndarray, U: int
) -> np.ndarray:
    """(U, D, D) weighted sums of y y' - given given' + diag(variance) by profile, from (D, n) each."""
    D = len(y)
    added = np.empty((U, D, D))
    change, both = y - given, 0.5 * (y + given)
    for d in range(D):
        for e in range(d + 1):
            own = change[d] * both[e] + both[d] * change[e]
            added[:, d, e] = added[:, e, d] = np.bincount(profile, weight * own, minlength=U)
        added[:, d, d] += np.bincount(profile, weight * variance[d], minlength=U)
    return added
