"""A first look at parts of ratings: counts, ranges and ties, which add up to those of all ratings."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from unisono.maths.raters.diagnosis import answer_ranges
from unisono.sharded.parts import Part

NAMED = 5  # items of a kind that are named in an alert


class Look(NamedTuple):
    """What a look at some parts shows."""

    judgements: int
    items: int
    numbers: np.ndarray  # (D,)
    given: np.ndarray  # (K,) judgements
    rated: np.ndarray  # (K,) items with a number
    answered: np.ndarray  # (K, D) numbers
    low: np.ndarray  # (K, D) lowest answers
    high: np.ndarray  # (K, D) highest answers
    on_ends: np.ndarray  # (2, D) answers that are the lowest of all, and the highest
    per_item: np.ndarray  # (n,) how many items have 0, 1, 2, ... annotators with a number
    unrated: np.ndarray  # (<= NAMED,) first items without a number, counted over all parts
    single: np.ndarray  # (<= NAMED,) first items with one annotator
    compared: bool  # whether two annotators answered one item on one dimension
    pairs: int  # of judgements of one item
    tied: np.ndarray  # (K,) the first annotator of the group that each is tied to by common items; -1: silent
    digest: bytes

    @property
    def span(self) -> np.ndarray:
        """(2, D) the lowest and the highest answer; NaN where there is none."""
        return np.where(self.numbers > 0, _span(self.low, self.high), np.nan)


def look_at(part: Part) -> Look:
    """One look at a part."""
    K, M, D = part.K, part.M, part.value.shape[1]
    seen = ~np.isnan(part.value)
    spoke = seen.any(axis=1)
    raters = np.bincount(part.item_of[spoke], minlength=M)
    judged = np.bincount(part.item_of, minlength=M).astype(np.int64)
    low, high = answer_ranges(part.value, part.annotator_of, K)
    by_dimension = [np.bincount(part.item_of[seen[:, d]], minlength=M) for d in range(D)]
    return Look(
        judgements=len(part.item_of),
        items=M,
        numbers=seen.sum(axis=0),
        given=np.bincount(part.annotator_of, minlength=K),
        rated=np.bincount(part.annotator_of[spoke], minlength=K),
        answered=np.stack([np.bincount(part.annotator_of[seen[:, d]], minlength=K) for d in range(D)], axis=1),
        low=low,
        high=high,
        on_ends=np.stack([(part.value == end).sum(axis=0) for end in _span(low, high)]),
        per_item=np.bincount(raters, minlength=2),
        unrated=part.first + np.flatnonzero(raters == 0)[:NAMED],
        single=part.first + np.flatnonzero(raters == 1)[:NAMED],
        compared=any(bool((counts >= 2).any()) for counts in by_dimension),
        pairs=int((judged * (judged - 1) // 2).sum()),
        tied=_ties(part.item_of[spoke], part.annotator_of[spoke], M, K),
        digest=_digest(part),
    )


def joined_looks(one: Look, other: Look) -> Look:
    """What both show."""
    size = max(len(one.per_item), len(other.per_item))
    per_item = np.zeros(size, dtype=np.int64)
    for part in (one, other):
        per_item[: len(part.per_item)] += part.per_item
    low, high = np.minimum(one.low, other.low), np.maximum(one.high, other.high)
    ends = _span(low, high)
    return Look(
        judgements=one.judgements + other.judgements,
        items=one.items + other.items,
        numbers=one.numbers + other.numbers,
        given=one.given + other.given,
        rated=one.rated + other.rated,
        answered=one.answered + other.answered,
        low=low,
        high=high,
        on_ends=sum(part.on_ends * (_span(part.low, part.high) == ends) for part in (one, other)),
        per_item=per_item,
        unrated=np.concatenate([one.unrated, other.unrated])[:NAMED],
        single=np.concatenate([one.single, other.single])[:NAMED],
        compared=one.compared or other.compared,
        pairs=one.pairs + other.pairs,
        tied=_joined_ties(one.tied, other.tied),
        digest=hashlib.sha256(one.digest + other.digest).digest(),
    )


def _span(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(2, D) the lowest and the highest answer of all annotators; infinite where there is none."""
    return np.stack([low.min(axis=0, initial=np.inf), high.max(axis=0, initial=-np.inf)])


def groups_of(tied: np.ndarray) -> list[np.ndarray]:
    """Annotators by group, the largest first; who is silent is in none."""
    members = [np.flatnonzero(tied == first) for first in np.unique(tied[tied >= 0])]
    return sorted(members, key=lambda group: (-len(group), int(group[0])))


def _ties(item_of: np.ndarray, annotator_of: np.ndarray, M: int, K: int) -> np.ndarray:
    ones = np.ones(len(item_of), dtype=np.int8)
    ties = coo_array((ones, (item_of, M + annotator_of.astype(np.int64))), shape=(M + K, M + K))
    _, group = connected_components(ties.tocsr(), directed=False)
    return _named_by_first(group[M:], np.bincount(annotator_of, minlength=K) > 0)


def _joined_ties(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    K = len(one)
    ends = [(np.flatnonzero(tied >= 0), tied[tied >= 0]) for tied in (one, other)]
    a, b = (np.concatenate([end[i] for end in ends]) for i in (0, 1))
    ties = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(K, K))
    _, group = connected_components(ties.tocsr(), directed=False)
    return _named_by_first(group, (one >= 0) | (other >= 0))


def _named_by_first(group: np.ndarray, spoke: np.ndarray) -> np.ndarray:
    _, first, place = np.unique(group, return_index=True, return_inverse=True)
    return np.where(spoke, first[place], -1)


def _digest(part: Part) -> bytes:
    digest = hashlib.sha256()
    for array in (part.item_of, part.annotator_of):
        digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
    canonical = np.where(np.isnan(part.value), np.nan, part.value + 0.0)
    digest.update(np.ascontiguousarray(canonical, dtype="<f8").tobytes())
    return digest.digest()
