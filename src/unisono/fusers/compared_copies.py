"""Copies among those who compare: annotators whose answers to the same pairs agree more than the model expects.

What two annotators would answer alike by themselves is what the fitted model foretells of each of them, so that easy
pairs prove nothing. Of a copy nearly all answers are equal; the odds of that, over all pairs that both answered, begin
far below even. Copies count as one annotator, with one answer to a pair.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from unisono.fusers.compared_items import Pairwise
from unisono.maths.comparisons.comparison_data import ranking_weights
from unisono.maths.comparisons.comparison_priors import COPY_EQUAL, COPY_ODDS, FEWEST_MET
from unisono.tables.comparisons import RIGHT, Comparisons

MOST_ANSWERS = 300  # numerical: to one pair, beyond which its answers are not held side by side
SURE = 0.9  # convention: probability from which they are merged


class CopiedAnswers(NamedTuple):
    """A set of annotators who look like one."""

    annotators: tuple[str, ...]
    probability: float  # of the two who are most alike
    answers: int  # to pairs that both of them answered
    equal: float  # share of them
    expected: float  # that share, if they answered by themselves


def find_copies(fuser: Pairwise, compared: Comparisons) -> tuple[CopiedAnswers, ...]:
    """Sets of copies among the annotators of a fit."""
    low, high = np.minimum(compared.left, compared.right), np.maximum(compared.left, compared.right)
    key = (low * len(compared.items) + high) * len(compared.dimensions) + compared.dimension_of
    unit = np.unique(key, return_inverse=True)[1]
    aligned = np.where(compared.left == low, compared.answer, RIGHT - compared.answer)
    one, other = _meetings(unit, compared.annotator_of)
    if not len(one):
        return ()
    K, who = len(compared.annotators), compared.annotator_of
    pair = who[one] * K + who[other]
    pairs, at, n = np.unique(pair, return_inverse=True, return_counts=True)
    enough = (n >= FEWEST_MET)[at]
    one, other, at = one[enough], other[enough], at[enough]
    if not len(one):
        return ()
    rows = np.unique(np.concatenate([one, other]))
    chance = np.full((compared.n, 3), np.nan)
    chance[rows] = _foretold(fuser, compared.rows(rows))
    turned = compared.left != low
    chance[turned] = chance[turned, ::-1]
    alike = np.clip((chance[one] * chance[other]).sum(axis=1), 1e-3, COPY_EQUAL)
    equal = aligned[one] == aligned[other]
    told = np.where(equal, np.log(COPY_EQUAL / alike), np.log((1 - COPY_EQUAL) / (1 - alike)))
    size, ranking = len(pairs), compared.ranking * len(compared.dimensions) + compared.dimension_of
    told *= ranking_weights(ranking, compared.left, compared.right)[one]
    probability = np.where(n >= FEWEST_MET, expit(np.bincount(at, told, size) + np.log(COPY_ODDS)), 0.0)
    shares = np.bincount(at, equal, size) / n, np.bincount(at, alike, size) / n
    return _sets(compared.annotators, pairs, probability, n, shares)


def _meetings(unit: np.ndarray, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two annotators about the same pair, the first answer of each; the annotator of lower number first."""
    _, first = np.unique(unit * (int(who.max()) + 1) + who, return_index=True)
    order = first[np.argsort(unit[first], kind="stable")]
    found_one, found_other = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    size = np.diff(np.append(starts, len(order)))
    for count in np.unique(size[(size > 1) & (size <= MOST_ANSWERS)]):
        rows = order[starts[size == count][:, None] + np.arange(count)]
        rows = np.take_along_axis(rows, np.argsort(who[rows], axis=1, kind="stable"), axis=1)
        i, j = np.triu_indices(count, 1)
        found_one.append(rows[:, i].ravel())
        found_other.append(rows[:, j].ravel())
    return np.concatenate(found_one), np.concatenate(found_other)


def _foretold(fuser: Pairwise, compared: Comparisons) -> np.ndarray:
    """(n, 3) what the model foretells of every answer."""
    people, items = (np.array(names, dtype=object) for names in (compared.annotators, compared.items))
    found = fuser.answer_chances(people[compared.annotator_of], items[compared.left], items[compared.right])
    place = {name: d for d, name in enumerate(fuser.dimensions_)}
    own = np.array([place.get(name, 0) for name in compared.dimensions])[compared.dimension_of]
    return np.asarray(found[np.arange(compared.n), own])


def _sets(
    names: tuple[str, ...],
    pairs: np.ndarray,
    probability: np.ndarray,
    n: np.ndarray,
    shares: tuple[np.ndarray, np.ndarray],
) -> tuple[CopiedAnswers, ...]:
    K = len(names)
    sure = np.flatnonzero(probability > SURE)
    edges = csr_matrix((np.ones(len(sure)), (pairs[sure] // K, pairs[sure] % K)), shape=(K, K))
    group = connected_components(edges, directed=False)[1]
    found = []
    for g in np.unique(group[pairs[sure] // K]):
        inside = sure[group[pairs[sure] // K] == g]
        best = inside[int(np.argmax(probability[inside]))]
        members = tuple(names[k] for k in np.flatnonzero(group == g))
        figures = float(shares[0][best]), float(shares[1][best])
        found.append(CopiedAnswers(members, float(probability[best]), int(n[best]), *figures))
    return tuple(found)


def merged(compared: Comparisons, sets: tuple[CopiedAnswers, ...]) -> Comparisons:
    """Every set as one annotator, called like its first, whose answer to a pair is that of the first who gave one."""
    place = {name: k for k, name in enumerate(compared.annotators)}
    voice = np.arange(len(compared.annotators))
    for one in sets:
        voice[[place[name] for name in one.annotators]] = place[one.annotators[0]]
    speaker = voice[compared.annotator_of]
    low, high = np.minimum(compared.left, compared.right), np.maximum(compared.left, compared.right)
    size = np.int64(len(compared.items))
    cell = ((low * size + high) * len(compared.dimensions) + compared.dimension_of) * len(voice) + speaker
    order = np.lexsort((compared.annotator_of, cell))
    first = np.ones(compared.n, dtype=bool)
    first[1:] = np.diff(cell[order]) != 0
    leader = order[np.maximum.accumulate(np.where(first, np.arange(compared.n), 0))]
    keep = np.empty(compared.n, dtype=bool)
    keep[order] = compared.annotator_of[order] == compared.annotator_of[leader]  # all answers of that one
    kept = replace(compared, annotator_of=speaker).rows(keep)
    there = np.flatnonzero(np.bincount(kept.annotator_of, minlength=len(voice)) > 0)
    names = tuple(compared.annotators[k] for k in there)
    return replace(kept, annotators=names, annotator_of=np.searchsorted(there, kept.annotator_of))
