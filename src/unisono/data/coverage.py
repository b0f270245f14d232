"""Who answered how much, and who is tied to whom: counts and connected groups, as plain arrays.

Counts: M items, K annotators, D dimensions, J judgements. Imports NumPy, SciPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from unisono.data.ratings import Ratings


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
    item, annotator = ratings.item_of[spoke], ratings.annotator_of[spoke]
    ones = np.ones(len(item), dtype=np.int8)
    size = ratings.M + ratings.K
    ties = coo_array((ones, (item, ratings.M + annotator.astype(np.int64))), shape=(size, size))
    _, group = connected_components(ties.tocsr(), directed=False)
    active = np.flatnonzero(np.bincount(annotator, minlength=ratings.K))
    of_annotator = group[ratings.M + active]
    groups = [active[of_annotator == g] for g in np.unique(of_annotator)]
    return sorted(groups, key=lambda members: (-len(members), int(members[0])))
