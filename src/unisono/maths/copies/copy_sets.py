"""Sets of duplicate annotators, merged and weighted as one: who belongs together, and what the set answers.

A set answers what most of its members answered, else what the member with the smallest standardised residual did.
Where duplicates differ, an answer was changed, and a mean of both would carry half of the change into the truth. Which
of them was changed cannot be told from one answer, but from all that are disputed: whoever was changed lies farther
from what the others' answers let expect. So one member decides for the whole table; to take the nearer answer each time
would make the set agree with the crowd more than any of its members does.

    distance of a member = mean over disputed cells of (y - a - b x)^2 / v                                  eq. Q11

    x the mean of the others' answers to the item; a, b the line of the set's answers on x, v their variance about it
    J judgements sorted by item, K annotators, D dimensions, C cells of a set (an item each)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from unisono.maths.copies.copy_meetings import MOST_CELLS
from unisono.maths.copies.copy_pairs import CopyPairs, copy_pairs
from unisono.maths.grouped_sums import PairedSums, paired_sums, segment_sum


def one_voice(
    value: np.ndarray,
    item_of: np.ndarray,
    annotator_of: np.ndarray,
    voice: np.ndarray,
    distance: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Judgements by voices, from ratings value (J, D) with NaN; voice (K,) is the voice that each annotator is part of.

    As good as the ratings themselves where nobody shares a voice with somebody else. `distance` (K,) of the members,
    where it comes from more ratings than these.
    """
    voice_of, K = voice[annotator_of], int(voice.max(initial=-1)) + 1
    key = item_of.astype(np.int64) * K + voice_of
    cells, first, cell = np.unique(key, return_index=True, return_inverse=True)
    if len(cells) == len(item_of):
        return value, item_of, voice_of
    merged = value[first]
    shared = np.flatnonzero(np.bincount(cell)[cell] > 1)
    distance = member_distances(value, item_of, annotator_of, voice) if distance is None else distance
    for d in range(value.shape[1]):
        rows = shared[~np.isnan(value[shared, d])]
        chosen = rows[_speakers(cell[rows], value[rows, d], annotator_of[rows], distance)]
        merged[cell[shared], d] = np.nan
        merged[cell[chosen], d] = value[chosen, d]
    return merged, item_of[first], voice_of[first]


def member_distances(value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, voice: np.ndarray) -> np.ndarray:
    """(K,) how far everybody's disputed answers lie from what the others' let expect; infinite without any. eq. Q11"""
    K = len(voice)
    size = np.bincount(voice, minlength=K)
    others = _mean_of_others(value, item_of, voice[annotator_of])
    rows = size[voice[annotator_of]] > 1
    y, x, who = value[rows], others[rows], annotator_of[rows]
    away = _away_from_line(y, x, voice[who], K)
    counted = _disputed(y, item_of[rows].astype(np.int64) * K + voice[who]) & ~np.isnan(away)
    total = segment_sum(np.where(counted, away, 0.0), who, K).sum(axis=1)
    n = segment_sum(counted.astype(float), who, K).sum(axis=1)
    return np.where(n > 0, total / np.maximum(n, 1), np.inf)


class Disputes(NamedTuple):
    """Squared distances of disputed answers from the line of their voice, by annotator, and their number; (K,) each."""

    total: np.ndarray
    n: np.ndarray

    def distance(self) -> np.ndarray:
        """(K,) as `member_distances` has it."""
        return np.where(self.n > 0, self.total / np.maximum(self.n, 1), np.inf)


def voice_sums(value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, voice: np.ndarray) -> PairedSums:
    """The others' means x beside the answers y of voices with several members, of some of the ratings.

    All ratings of an item have to be there. Sums of several parts are added by `add_paired`.
    """
    y, x, who, _ = _shared_voices(value, item_of, annotator_of, voice)
    return paired_sums(x, y, voice[who], len(voice))


def disputes(
    value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, voice: np.ndarray, sums: PairedSums
) -> Disputes:
    """Of some of the ratings, with the sums of all of them.                                               eq. Q11"""
    y, x, who, key = _shared_voices(value, item_of, annotator_of, voice)
    of, K = voice[who], len(voice)
    slope = np.maximum(sums.xy / np.where(sums.xx > 0, sums.xx, 1.0), 0.0)
    variance = (sums.yy - 2 * slope * sums.xy + slope**2 * sums.xx) / np.maximum(sums.n, 1)
    away = ((y - sums.y[of]) - slope[of] * (x - sums.x[of])) ** 2 / np.where(variance > 0, variance, 1.0)[of]
    counted = _disputed(y, key) & ~np.isnan(away)
    total = segment_sum(np.where(counted, away, 0.0), who, K).sum(axis=1)
    return Disputes(total, segment_sum(counted.astype(float), who, K).sum(axis=1))


def _shared_voices(
    value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, voice: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Answers, means of the others, annotators and cells, of voices with several members."""
    K = len(voice)
    others = _mean_of_others(value, item_of, voice[annotator_of])
    rows = np.bincount(voice, minlength=K)[voice[annotator_of]] > 1
    who = annotator_of[rows]
    return value[rows], others[rows], who, item_of[rows].astype(np.int64) * K + voice[who]


def _mean_of_others(value: np.ndarray, item_of: np.ndarray, voice_of: np.ndarray) -> np.ndarray:
    """(J, D) mean of the answers of other voices to the item; NaN where there are none."""
    known, filled = (~np.isnan(value)).astype(float), np.nan_to_num(value, nan=0.0)
    M = int(item_of.max(initial=-1)) + 1
    _, cell = np.unique(voice_of.astype(np.int64) * M + item_of, return_inverse=True)
    C = int(cell.max(initial=-1)) + 1
    n = segment_sum(known, item_of, M)[item_of] - segment_sum(known, cell, C)[cell]
    total = segment_sum(filled, item_of, M)[item_of] - segment_sum(filled, cell, C)[cell]
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


def _away_from_line(y: np.ndarray, x: np.ndarray, of: np.ndarray, K: int) -> np.ndarray:
    """Squared distances (n, D) of answers from the line of their voice on the others' mean, in units of their variance.

    A line that falls would praise whoever contradicts: it is flat then.
    """
    seen = ~np.isnan(x) & ~np.isnan(y)
    n = np.maximum(segment_sum(seen.astype(float), of, K), 1)

    def centred(values: np.ndarray) -> np.ndarray:
        filled = np.where(seen, values, 0.0)
        return np.where(seen, filled - (segment_sum(filled, of, K) / n)[of], 0.0)

    x, y = centred(x), centred(y)
    across = segment_sum(x * x, of, K)
    slope = np.maximum(segment_sum(x * y, of, K) / np.where(across > 0, across, 1.0), 0.0)
    away = (y - slope[of] * x) ** 2
    variance = segment_sum(away, of, K) / n
    return np.where(seen, away / np.where(variance > 0, variance, 1.0)[of], np.nan)


def _disputed(y: np.ndarray, key: np.ndarray) -> np.ndarray:
    """(n, D) whether the voice gave different answers to the cell."""
    _, cell = np.unique(key, return_inverse=True)
    C = int(cell.max(initial=-1)) + 1
    low, high = np.full((C, y.shape[1]), np.inf), np.full((C, y.shape[1]), -np.inf)
    np.fmin.at(low, cell, y)
    np.fmax.at(high, cell, y)
    return np.asarray((low < high)[cell])


def _speakers(cell: np.ndarray, y: np.ndarray, who: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Which of the answers y (n,) each cell is given: the commonest; of equally common ones, the nearest member's."""
    order = np.lexsort((y, cell))
    begin = np.append(True, (np.diff(cell[order]) != 0) | (np.diff(y[order]) != 0))[: len(y)]
    run = np.cumsum(begin) - 1
    common = np.zeros(len(y), dtype=np.int64)
    common[order] = np.bincount(run)[run] if len(y) else 0
    best = np.lexsort((who, distance[who], -common, cell))
    return np.asarray(best[np.append(True, np.diff(cell[best]) != 0)[: len(y)]])


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
