"""Duplicate annotators (copies) of shards: the same comparison as in memory, on rows that are asked of the shards.

Small tables are compared as a whole. Of large ones a first look at some items, or at neighbours in the table, says what
honest pairs are like; then the rows where doubtful pairs meet are looked at. Where items cannot be sampled, doubtful
pairs are those with equal answers in their sketches: of every annotator the few answers whose hashes are smallest,
which two annotators share about as often as they share answers at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from unisono.maths.copies import copy_pairs, copy_sets
from unisono.maths.copies.copy_meetings import (
    MOST_CELLS,
    NEIGHBOURS,
    alike_enough,
    answer_tokens,
    comparable,
    is_chosen,
    look_at_neighbours,
    look_at_some,
    rare_pairs,
    rows_of_meetings,
    some_items,
)
from unisono.scale.executors import Executor, Shard
from unisono.scale.shard_parts import Look, Part

SKETCH = 64  # convention: answers in a sketch; of two who share half of their answers it shows about twenty


class Rows(NamedTuple):
    """Some rows of ratings, sorted by item; items are numbered over all parts."""

    value: np.ndarray
    item_of: np.ndarray
    annotator_of: np.ndarray


def find_copies(executor: Executor, parts: list[Shard], look: Look) -> copy_sets.Opinions:
    """Sets of copies among all annotators."""
    K, D = look.answered.shape
    cells = look.pairs * D
    if look.judgements * D <= MOST_CELLS:
        return copy_sets.find_opinions(*_gathered(executor.map(_all_rows, parts, 1)), K)
    if cells <= MOST_CELLS:
        return copy_sets.find_opinions(*_gathered(executor.map(_all_rows, parts, 2)), K, rounds=1)
    every = some_items(cells, look.given, D)
    if every is not None:
        rows = _gathered(executor.map(_some_rows, parts, every))
        view = look_at_some(np.arange(len(rows.item_of)), rows.item_of, rows.annotator_of, K)
        first = copy_pairs.first_judgement(*rows, K, view, 2.0 * look.pairs)
        doubtful = first.doubtful()
    else:
        first = _neighbours(executor, parts, look)
        sketches = executor.total(_sketches, parts, add=_joined_sketches)
        doubtful = np.concatenate([_sharing(sketch, K) for sketch in sketches])
        doubtful = np.unique(doubtful, axis=0)
    fewer, every = comparable(doubtful, look.given, D)
    rows = _gathered(executor.map(_rows_of_meetings, parts, fewer, every))
    if not len(rows.item_of):
        return copy_sets.opinions_of(first.found, K)
    one, other = rows_of_meetings(fewer, rows.item_of, rows.annotator_of, K, np.ones(len(rows.item_of), dtype=bool))
    met = alike_enough(one, other, rows.value, rows.annotator_of, K)
    return copy_sets.opinions_of(first.closer_look(*rows, K, met), K)


def _neighbours(executor: Executor, parts: list[Shard], look: Look) -> copy_pairs.FirstJudgement:
    """What the first neighbours in the table say of honest pairs."""
    K, D = look.answered.shape
    wanted, taken = NEIGHBOURS // D, []
    for rows in executor.map(_first_rows, parts, wanted):
        if wanted > 0:
            taken.append(rows)
            wanted -= int((np.diff(rows.item_of) == 0).sum())
    rows = _gathered(taken)
    view = look_at_neighbours(rows.item_of, rows.annotator_of, K, D)
    return copy_pairs.first_judgement(*rows, K, view, 2.0 * look.pairs)


def _gathered(pieces: Iterable[Rows]) -> Rows:
    """Rows of all parts, with items numbered anew from 0."""
    value, item_of, annotator_of = (np.concatenate(part) for part in zip(*pieces, strict=True))
    item_of = np.cumsum(np.append(0, np.diff(item_of) != 0))[: len(item_of)] if len(item_of) else item_of
    return Rows(value, item_of, annotator_of)


def _chosen(part: Part, rows: np.ndarray) -> Rows:
    return Rows(part.value[rows], part.first + part.item_of[rows].astype(np.int64), part.annotator_of[rows])


def _all_rows(part: Part, least: int) -> Rows:
    """Rows of items with at least so many judgements."""
    return _chosen(part, np.bincount(part.item_of, minlength=part.M)[part.item_of] >= least)


def _some_rows(part: Part, every: int) -> Rows:
    return _chosen(part, is_chosen(part.first + np.arange(part.M), every)[part.item_of])


def _first_rows(part: Part, wanted: int) -> Rows:
    """Rows up to the end of the item with so many pairs of neighbours before it."""
    enough = np.flatnonzero(np.cumsum(np.diff(part.item_of) == 0) >= wanted)
    last = part.item_of[enough[0]] if len(enough) else part.M
    return _chosen(part, part.item_of <= last)


def _rows_of_meetings(part: Part, fewer: np.ndarray, every: int) -> Rows:
    """All rows of the items on which one of these pairs meets."""
    looked_at = is_chosen(part.first + part.item_of.astype(np.int64), every)
    one, _ = rows_of_meetings(fewer, part.item_of, part.annotator_of, part.K, looked_at)
    meets = np.zeros(part.M, dtype=bool)
    meets[part.item_of[one]] = True
    return _chosen(part, meets[part.item_of])


def _sketches(part: Part) -> list[np.ndarray]:
    """(K, SKETCH) the smallest hashes of every annotator's single answers, and of whole answers to an item."""
    token = answer_tokens(part.value, part.first + part.item_of.astype(np.int64))
    seen = ~np.isnan(part.value)
    who = np.repeat(part.annotator_of, part.value.shape[1])[seen.ravel()]
    whole = np.where(seen, token, np.uint64(0)).sum(axis=1, dtype=np.uint64)
    spoke = seen.any(axis=1)
    return [_smallest(who, token[seen], part.K), _smallest(part.annotator_of[spoke], whole[spoke], part.K)]


def _smallest(who: np.ndarray, token: np.ndarray, K: int) -> np.ndarray:
    order = np.lexsort((token, who))
    who, token = who[order], token[order]
    given = np.bincount(who, minlength=K)
    rank = np.arange(len(who)) - np.repeat(np.cumsum(given) - given, given)
    sketch = np.full((K, SKETCH), np.iinfo(np.uint64).max, dtype=np.uint64)
    kept = rank < SKETCH
    sketch[who[kept], rank[kept]] = token[kept]
    return sketch


def _joined_sketches(one: list[np.ndarray], other: list[np.ndarray]) -> list[np.ndarray]:
    return [np.sort(np.hstack(pair), axis=1)[:, :SKETCH] for pair in zip(one, other, strict=True)]


def _sharing(sketch: np.ndarray, K: int) -> np.ndarray:
    """(P, 2) annotators who share several of the answers in their sketches."""
    known = sketch != np.iinfo(np.uint64).max
    return rare_pairs(np.nonzero(known)[0], sketch[known], K)
