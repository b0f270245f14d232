"""Who answered how much, who is connected with whom through common items, and which answers are implausible.

An answer is implausible (2100 for 21.00, 999 for "no answer") if it lies further beyond the others than twice their
range, unless it lies on a scale that the user gave, or its annotator answers there as a rule and so has a scale of his
own. The range is that of the answers without the outermost ones; a few pseudo-answers decide whether there is a rule.

Counts: M items, K annotators, D dimensions, J judgements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from unisono.tables import answer_scale, scale_inference
from unisono.tables.ratings import Ratings


class Coverage(NamedTuple):
    """How many answers there are, counted by judgement, item and annotator."""

    answers: np.ndarray  # (J, D) numbers given in each judgement, at most T_m
    spoke: np.ndarray  # (J,) whether a judgement has any number
    per_item: np.ndarray  # (M,) annotators who gave at least one number
    per_annotator: np.ndarray  # (K,) items with at least one number
    raters: np.ndarray  # (M, D) annotators who gave a number, dimension by dimension


def coverage(ratings: Ratings) -> Coverage:
    """Counts what is there; a judgement with no number at all counts as nothing."""
    given = ~np.isnan(ratings.value)
    answers = given.astype(np.int64) if not ratings.is_series else np.add.reduceat(given, ratings.offset[:-1], axis=0)
    item_of, annotator_of, spoke = ratings.item_of, ratings.annotator_of, np.ones(len(answers), dtype=bool)
    if given.all():
        raters = np.tile(np.bincount(item_of, minlength=ratings.M)[:, None], ratings.D)
    else:
        spoke = np.asarray(answers.any(axis=1))
        item_of, annotator_of = item_of[spoke], annotator_of[spoke]
        columns = (np.bincount(ratings.item_of[own > 0], minlength=ratings.M) for own in answers.T)
        raters = np.stack(list(columns), axis=1)
    per_item, per_annotator = np.bincount(item_of, minlength=ratings.M), np.bincount(annotator_of, minlength=ratings.K)
    return Coverage(answers, spoke, per_item, per_annotator, raters)


def answers_given(ratings: Ratings) -> np.ndarray:
    """(K, D) judgements of each annotator with an answer on the dimension."""
    answered = coverage(ratings).answers > 0
    columns = [np.bincount(ratings.annotator_of[answered[:, d]], minlength=ratings.K) for d in range(ratings.D)]
    return np.stack(columns, axis=1)


def answer_ranges(ratings: Ratings) -> tuple[np.ndarray, np.ndarray]:
    """(J, D) the lowest and the highest number of each judgement; NaN where there is none."""
    if not ratings.is_series:
        return ratings.value, ratings.value
    first = ratings.offset[:-1]
    return np.fmin.reduceat(ratings.value, first, axis=0), np.fmax.reduceat(ratings.value, first, axis=0)


def raters_per_frame(ratings: Ratings) -> np.ndarray:
    """(sum of T_m, D) how many annotators gave a number for each frame of each item, items end to end."""
    given = ~np.isnan(ratings.value)
    total = int(ratings.length.sum())
    frame = frame_index(ratings)
    return np.stack([np.bincount(frame[given[:, d]], minlength=total) for d in range(ratings.D)], axis=1)


def frame_index(ratings: Ratings) -> np.ndarray:
    """(S,) the frame that each row of `value` answers, counting the frames of all items end to end."""
    first = np.cumsum(ratings.length) - ratings.length
    frames = ratings.length[ratings.item_of]
    within = np.arange(len(ratings.value)) - np.repeat(ratings.offset[:-1], frames)
    return np.asarray(np.repeat(first[ratings.item_of], frames) + within)


def connected_groups(ratings: Ratings) -> list[np.ndarray]:
    """Groups of annotators that share no item with each other, the largest first; silent annotators are left out."""
    spoke = coverage(ratings).spoke
    item, annotator = ratings.item_of[spoke], ratings.annotator_of[spoke].astype(np.int64)
    # Judgements are sorted by item: who follows whom on an item ties all that rated it.
    # Counting makes NumPy sort, which is faster here than its hashing.
    ties, _ = np.unique((annotator[:-1] * ratings.K + annotator[1:])[item[:-1] == item[1:]], return_counts=True)
    shape = (ratings.K, ratings.K)
    graph = coo_array((np.ones(len(ties), dtype=np.int8), (ties // ratings.K, ties % ratings.K)), shape=shape)
    _, group = connected_components(graph.tocsr(), directed=False)
    active = np.flatnonzero(np.bincount(annotator, minlength=ratings.K))
    of_annotator = group[active]
    groups = [active[of_annotator == g] for g in np.unique(of_annotator)]
    return sorted(groups, key=lambda members: (-len(members), int(members[0])))


OUTERMOST = 0.005  # convention: share of the answers, at either end, of which any may be wild
REACH = 2.0  # convention: how many times the range of the others an answer lies beyond them; of few answers, which
FEW = 20.0  # show less than their range, (FEW / n)^2 times as much more
IMAGINARY = 4.0  # convention: imaginary answers of everybody among the others, as many as stand behind no offset


class Fence(NamedTuple):
    """Bounds that no answer crosses that was meant, (D,) each; infinite where there are none."""

    low: np.ndarray
    high: np.ndarray

    def crossed(self, value: np.ndarray) -> np.ndarray:
        """(J, D) whether answers lie beyond; missing ones do not."""
        return np.asarray((value < self.low) | (value > self.high))


def left_aside(n: int) -> int:
    """How many of n answers are left aside at either end."""
    return int(np.ceil(OUTERMOST * n))


def fence_of(inner: Sequence[tuple[float, float]], n: Sequence[int], scale: answer_scale.Scale) -> Fence:
    """The fence around the lowest and the highest of the n other answers, by dimension."""
    low, high = np.array(inner, dtype=float).reshape(-1, 2).T
    reach = (REACH + (FEW / np.maximum(n, 1)) ** 2) * (high - low)
    reach = np.where(reach > 0, reach, np.inf)  # all others are equal: nothing says what is far
    given = np.array(scale.given)
    return Fence(
        np.minimum(low - reach, np.where(given, scale.low, np.inf)),
        np.maximum(high + reach, np.where(given, scale.high, -np.inf)),
    )


def inner_answers(value: np.ndarray) -> list[tuple[float, float]]:
    """Lowest and highest answer without the outermost, by column of (J, D)."""
    return [_inner(column[~np.isnan(column)]) for column in value.T]


def by_rule(crossed: np.ndarray, n: np.ndarray) -> np.ndarray:
    """(K, D) whether so many of an annotator's n answers lie beyond the fence that this is his scale."""
    return np.asarray(crossed >= (n + IMAGINARY) / 2)


def wild_answers(ratings: Ratings) -> np.ndarray:
    """(J, D) which answers are wild; those of traces are judged by the model of traces."""
    if ratings.is_series:
        return np.zeros(ratings.value.shape, dtype=bool)
    value, of, K = ratings.value, ratings.annotator_of, ratings.K
    n = (~np.isnan(value)).sum(axis=0)
    crossed = fence_of(inner_answers(value), n.tolist(), ratings.scale).crossed(value)
    for d in np.flatnonzero(crossed.any(axis=0)):
        given = np.bincount(of[~np.isnan(value[:, d])], minlength=K)
        crossed[:, d] &= ~by_rule(np.bincount(of[crossed[:, d]], minlength=K), given)[of]
    return crossed


def without_wild(ratings: Ratings) -> Ratings:
    """The ratings of items without wild answers, on the scale that the others show."""
    wild = wild_answers(ratings)
    if not wild.any():
        return ratings
    value = np.where(wild, np.nan, ratings.value)
    seen = scale_inference.infer_scale(value, ratings.annotator_of)
    ends = tuple(old if said else new for old, new, said in zip(ratings.scale, seen, ratings.scale.given, strict=True))
    return replace(ratings, value=value, scale=answer_scale.Scale(ends, ratings.scale.given))


def _inner(seen: np.ndarray) -> tuple[float, float]:
    """Lowest and highest of the answers without the outermost."""
    aside = left_aside(len(seen))
    if len(seen) <= 2 * aside:
        return 0.0, 0.0
    kept = np.partition(seen, (aside, len(seen) - 1 - aside))
    return float(kept[aside]), float(kept[-1 - aside])
