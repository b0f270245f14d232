"""Which annotators may have answered alike: pairs that meet on items, found with bounded work per rating.

Every two annotators of an item meet there. Where that would be too many meetings, some items do for a first look,
as long as everybody keeps enough of them: copies agree everywhere. Where that would leave too little, the first look is
at neighbours in the table alone, and candidates come from answers that few gave: runs of 1, 3 and 9 consecutive answers
of an annotator are looked up among the same runs of the others, the longer ones where the shorter ones are too common.

    J judgements sorted by item, K annotators, D dimensions, P pairs of annotators, N meetings
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.grouped_sums import rows_by_group

MOST_CELLS = 1_000_000  # numerical: cells (meetings times dimensions) that are compared at once
FIRST_CELLS = 400_000  # numerical: cells of a first look where there are more
ENOUGH_CELLS = 30  # convention: answers of an annotator that suffice to tell a copy when only some items are looked at
LEAST_ITEMS = 4  # convention: items that two annotators must share; copies on three look like luck
RUNS = (
    1,
    2,
    4,
    8,
)  # convention: consecutive answers in a run; of nine in ten equal answers, two in five runs of 8 stay
MOST_ALIKE = 6  # convention: a run that more annotators share says little about any two of them
LEAST_RUNS = 3  # convention: rare runs that two annotators must share to be candidates
LEAST_EQUAL = 0.6  # convention: share of equal answers below which a candidate is none
PLENTY = 500  # convention: items that tell a copy for certain; of more, some are looked at
NEIGHBOURS = 100_000  # numerical: cells in which neighbours are compared to learn what honest pairs are like
CANDIDATES = 2  # convention: candidates per annotator, on average
_ODD = np.uint64(0x9E3779B97F4A7C15)  # numerical: an odd number without pattern, for hashing


class Meetings(NamedTuple):
    """Pairs of annotators and where they meet; rows are judgements."""

    pair: np.ndarray  # (P, 2) annotators a < b
    of: np.ndarray  # (N,) which pair meets
    one: np.ndarray  # (N,) judgement of a
    other: np.ndarray  # (N,) judgement of b


class FirstLook(NamedTuple):
    """Meetings to begin with, and how much of all there are they show."""

    meetings: Meetings
    every_item: bool  # nothing is left to look at
    every_pair: bool  # whoever is not among the pairs shares too few items


def first_look(value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, K: int) -> FirstLook:
    """Pairs of annotators that share items enough, from ratings value (J, D): all, on some items, or neighbours."""
    D = value.shape[1]
    n = np.bincount(item_of, minlength=1).astype(np.int64)
    cells = int((n * (n - 1) // 2).sum()) * D
    if cells <= MOST_CELLS:
        return look_at_all(item_of, annotator_of, K)
    every = some_items(cells, np.bincount(annotator_of, minlength=K), D)
    if every is not None:
        rows = np.flatnonzero(is_chosen(np.arange(len(n)), every)[item_of])
        return look_at_some(rows, item_of, annotator_of, K)
    return look_at_neighbours(item_of, annotator_of, K, D)


def some_items(cells: int, given: np.ndarray, D: int) -> int | None:
    """Of how many items one is enough for a first look; None: none is. `given` (K,) judgements of each annotator."""
    every = int(np.ceil(cells / FIRST_CELLS))
    return every if np.median(given[given > 0]) * D >= ENOUGH_CELLS * every else None


def is_chosen(item: np.ndarray, every: int) -> np.ndarray:
    """Whether items, by number, are looked at, one of `every`.

    In scattered order, so that what stands together in the file is not taken together.
    """
    return np.asarray(_scattered(item.astype(np.uint64)) % np.uint64(every) == 0)


def look_at_all(item_of: np.ndarray, annotator_of: np.ndarray, K: int) -> FirstLook:
    """Everybody on every item."""
    return FirstLook(_frequent(*_meet(item_of), annotator_of, K), True, True)


def look_at_some(rows: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, K: int) -> FirstLook:
    """Everybody in these rows."""
    one, other = _meet(item_of[rows])
    return FirstLook(_frequent(rows[one], rows[other], annotator_of, K), False, True)


def look_at_neighbours(item_of: np.ndarray, annotator_of: np.ndarray, K: int, D: int) -> FirstLook:
    """Some neighbours in the table."""
    one = np.flatnonzero(np.diff(item_of) == 0)[: NEIGHBOURS // D]
    return FirstLook(_frequent(one, one + 1, annotator_of, K), False, False)


def _meet(group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows (N,), (N,) of every two members of a group, groups (J,) standing together."""
    ends = np.append(np.flatnonzero(np.append(True, np.diff(group) != 0)[: len(group)]), len(group))
    last = np.repeat(ends[1:], np.diff(ends))
    first = np.arange(len(group))
    found, step = [(first[:0], first[:0])], 0
    while len(first):
        step += 1
        first = first[first + step < last[first]]
        found.append((first, first + step))
    one, other = (np.concatenate(rows) for rows in zip(*found, strict=True))
    return one, other


def _frequent(one: np.ndarray, other: np.ndarray, annotator_of: np.ndarray, K: int) -> Meetings:
    """The meetings of pairs with LEAST_ITEMS or more."""
    a, b = annotator_of[one].astype(np.int64), annotator_of[other].astype(np.int64)
    key = np.minimum(a, b) * K + np.maximum(a, b)
    if 16 * len(key) + 1000 >= K * K:
        count = np.bincount(key, minlength=K * K)
        place = np.cumsum(count >= LEAST_ITEMS) - 1
        keep = count[key] >= LEAST_ITEMS
        pairs, of = np.flatnonzero(count >= LEAST_ITEMS), place[key[keep]]
    else:
        pairs, where, count = np.unique(key, return_inverse=True, return_counts=True)
        place = np.cumsum(count >= LEAST_ITEMS) - 1
        keep = count[where] >= LEAST_ITEMS
        pairs, of = pairs[count >= LEAST_ITEMS], place[where[keep]]
    turned = (a > b)[keep]
    one, other = one[keep], other[keep]
    pair = np.stack([pairs // K, pairs % K], axis=1)
    return Meetings(pair, of, np.where(turned, other, one), np.where(turned, one, other))


def candidate_pairs(value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, K: int) -> np.ndarray:
    """(P, 2) annotators who share rare runs of answers, those who share most first."""
    D = value.shape[1]
    order = rows_by_group(annotator_of)
    who = np.repeat(annotator_of[order].astype(np.int64), D)
    answer = np.ascontiguousarray(value[order] + 0.0).ravel()  # adding zero turns -0.0 into 0.0
    place = (item_of[order].astype(np.uint64)[:, None] * np.uint64(D) + np.arange(D, dtype=np.uint64)).ravel()
    known = ~np.isnan(answer)
    who, token = who[known], _scattered(answer[known].view(np.uint64) + _scattered(place[known]))
    found = []
    for length in RUNS:
        if length > 1:
            who, token = _tripled(who, token)
        found.append(_rare_pairs(who, token, K))
    return _best_pairs(*np.unique(np.concatenate(found), return_counts=True), K)


def _tripled(who: np.ndarray, token: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Runs of three times the length: every third one, with the next two of the same annotator."""
    first = np.flatnonzero(np.append(True, np.diff(who) != 0)[: len(who)])
    rank = np.arange(len(who)) - np.repeat(first, np.diff(np.append(first, len(who))))
    begin = np.flatnonzero((rank % 3 == 0)[:-2] & (who[2:] == who[:-2]))
    rest = _scattered(token[begin + 1] + _scattered(token[begin + 2]))
    return who[begin], _scattered(token[begin] + rest)


def _rare_pairs(who: np.ndarray, token: np.ndarray, K: int) -> np.ndarray:
    """Pairs (as a K + b) that share a run that few share, as often as they do."""
    order = np.argsort(token, kind="stable")
    start = np.flatnonzero(np.append(True, np.diff(token[order].view(np.int64)) != 0))
    size = np.diff(np.append(start, len(token)))
    each = np.repeat(size, size)
    rare = (each > 1) & (each <= MOST_ALIKE)
    group = np.repeat(np.arange(len(size)), size)[rare]
    one, other = _meet(group)
    by = who[order][rare].astype(np.int64)  # a K + b is more than 32 bits hold
    a, b = np.minimum(by[one], by[other]), np.maximum(by[one], by[other])
    return np.asarray(a * K + b)


def meetings_of(pair: np.ndarray, value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, K: int) -> Meetings:
    """Where these pairs (P, 2) meet, without pairs that agree too little to be copies.

    Of more pairs than can be compared at once, the first ones.
    """
    fewer, every = comparable(pair, np.bincount(annotator_of, minlength=K), value.shape[1])
    one, other = rows_of_meetings(fewer, item_of, annotator_of, K, is_chosen(item_of, every))
    return alike_enough(one, other, value, annotator_of, K)


def comparable(pair: np.ndarray, given: np.ndarray, D: int) -> tuple[np.ndarray, int]:
    """Pairs (P, 2) that can be compared at once, the one with fewer judgements first, on one of how many items."""
    # Whoever of the two rated less is looked up among the other's.
    fewer = np.where((given[pair[:, 0]] <= given[pair[:, 1]])[:, None], pair, pair[:, ::-1])
    n = given[fewer[:, 0]]
    kept = np.cumsum(n) <= MOST_CELLS // D
    fewer, n = fewer[kept], n[kept]
    return fewer, int(np.median(n) // PLENTY + 1) if len(n) else 1


def rows_of_meetings(
    fewer: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, K: int, looked_at: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Judgements of the first and of the second of every pair (P, 2) on the same item, where `looked_at` (J,)."""
    order = rows_by_group(annotator_of)
    given = np.bincount(annotator_of, minlength=K)
    first = np.cumsum(given) - given
    n = given[fewer[:, 0]]
    within = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    one, whom = order[np.repeat(first[fewer[:, 0]], n) + within], np.repeat(fewer[:, 1], n)
    one, whom = one[looked_at[one]], whom[looked_at[one]]
    key = item_of.astype(np.int64) * K + annotator_of
    wanted = item_of[one].astype(np.int64) * K + whom
    other = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
    met = key[other] == wanted
    return one[met], other[met]


def alike_enough(one: np.ndarray, other: np.ndarray, value: np.ndarray, annotator_of: np.ndarray, K: int) -> Meetings:
    """These meetings, without pairs that agree too little to be copies."""
    found = _frequent(one, other, annotator_of, K)
    first_answers, second_answers = value[found.one], value[found.other]
    both = np.bincount(found.of, (~np.isnan(first_answers + second_answers)).sum(axis=1), minlength=len(found.pair))
    same = np.bincount(found.of, (first_answers == second_answers).sum(axis=1), minlength=len(found.pair))
    return _of_pairs(found, same >= LEAST_EQUAL * both)


def _of_pairs(met: Meetings, keep: np.ndarray) -> Meetings:
    rows, place = keep[met.of], np.cumsum(keep) - 1
    return Meetings(met.pair[keep], place[met.of[rows]], met.one[rows], met.other[rows])


def rare_pairs(who: np.ndarray, token: np.ndarray, K: int) -> np.ndarray:
    """(P, 2) annotators who share at least LEAST_RUNS rare tokens, those who share most first."""
    key, count = np.unique(_rare_pairs(who, token, K), return_counts=True)
    return _best_pairs(key, count, K)


def _best_pairs(key: np.ndarray, count: np.ndarray, K: int) -> np.ndarray:
    best = np.argsort(-count, kind="stable")[: CANDIDATES * K]
    best = best[count[best] >= LEAST_RUNS]
    return np.stack([key[best] // K, key[best] % K], axis=1)


def answer_tokens(value: np.ndarray, item: np.ndarray) -> np.ndarray:
    """(J, D) a number without pattern for every answer (J, D) to an item (J,), the same for equal answers."""
    D = value.shape[1]
    place = item.astype(np.uint64)[:, None] * np.uint64(D) + np.arange(D, dtype=np.uint64)
    return _scattered(np.ascontiguousarray(value + 0.0).view(np.uint64) + _scattered(place))


def _scattered(code: np.ndarray) -> np.ndarray:
    """Numbers without pattern, the same for the same code."""
    mixed = (code ^ (code >> np.uint64(31))) * _ODD
    return np.asarray((mixed ^ (mixed >> np.uint64(29))) * _ODD)
