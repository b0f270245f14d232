"""Sets of copies: who counts as one opinion with whom.

J judgements sorted by item, K annotators, D dimensions
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from unisono.maths.copies.meetings import MOST_CELLS
from unisono.maths.copies.pairs import CopyPairs, copy_pairs
from unisono.maths.copies.voices import one_voice

NAMED_FROM = 0.9  # convention: probability from which annotators count as one opinion
MOST_ROUNDS = 5  # numerical: sets of copies grow by comparing again, at most so often


class Opinions(NamedTuple):
    """Who counts as one opinion, and how sure that is."""

    voice: np.ndarray  # (K,) the first annotator of everybody's set; oneself where there is no copy
    probability: np.ndarray  # (K,) the largest probability of being one opinion with anybody
    shared: np.ndarray  # (K,) answers that both of the two gave
    equal: np.ndarray  # (K,) share of them that are the same
    expected: np.ndarray  # (K,) share that would be the same by chance


def find_opinions(
    value: np.ndarray,
    item_of: np.ndarray,
    annotator_of: np.ndarray,
    K: int,
    least: float = NAMED_FROM,
    rounds: int | None = None,
) -> Opinions:
    """Sets of copies among annotators 0 .. K-1, from ratings value (J, D) with NaN, sorted by item.

    Who is a copy with at least the probability `least` becomes one voice with the original, and the voices are compared
    anew: a set that answers alike no longer looks like a crowd that agrees. Large tables are compared once; `rounds`
    says how often where it is known better.
    """
    voice = np.arange(K)
    found = _nothing(K)
    for _ in range(rounds or (MOST_ROUNDS if value.size <= MOST_CELLS else 1)):
        pairs = copy_pairs(value, item_of, annotator_of, K)
        found = _closest(found, pairs, voice)
        joined = joined_sets(pairs.pair[pairs.probability >= least], K)
        if (joined == np.arange(K)).all():
            break
        voice = joined[voice]
        value, item_of, annotator_of = one_voice(value, item_of, annotator_of, joined)
    return found._replace(voice=voice)


def opinions_of(pairs: CopyPairs, K: int, least: float = NAMED_FROM) -> Opinions:
    """Sets of copies from pairs that were compared once."""
    voice = joined_sets(pairs.pair[pairs.probability >= least], K)
    return _closest(_nothing(K), pairs, np.arange(K))._replace(voice=voice)


def _nothing(K: int) -> Opinions:
    return Opinions(np.arange(K), np.zeros(K), np.zeros(K), np.zeros(K), np.zeros(K))


def _closest(found: Opinions, pairs: CopyPairs, voice: np.ndarray) -> Opinions:
    """With whom everybody is most probably one opinion, after what was found before."""
    K = len(voice)
    for column in (0, 1):
        order = np.argsort(pairs.log_odds, kind="stable")
        best = np.full(K, -1)
        best[pairs.pair[order, column]] = order  # the last one written is the most probable
        mine = best[voice]
        better = (mine >= 0) & (pairs.probability[mine] > found.probability) if len(order) else np.zeros(K, dtype=bool)
        row = mine[better]
        parts = [part.copy() for part in found[1:]]
        new = pairs.probability, pairs.shared, pairs.equal, pairs.expected
        for part, figures in zip(parts, new, strict=True):
            part[better] = figures[row]
        found = Opinions(found.voice, *parts)
    return found


def joined_sets(pairs: np.ndarray, K: int) -> np.ndarray:
    """(K,) the first annotator of the set that each belongs to: copies, and copies of copies. pairs: (n, 2)."""
    ties = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(K, K))
    _, group = connected_components(ties.tocsr(), directed=False)
    _, first = np.unique(group, return_index=True)
    return np.asarray(first[group])
