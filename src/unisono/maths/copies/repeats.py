"""Answers that repeat in blocks: the same sequence of answers again and again, whatever the items are.

Answers in the order in which they were given are compared with the annotator's own answers some rows before. Somebody
who repeats a block of q answers gives the same answer as q rows before nearly always; by chance that happens as
often as two answers of the annotator are equal, or as in the whole crowd at the same distance, if items come in
blocks. The probability weighs the two.                                                                      eq. Q10

    n rows in the order in which they were given, K annotators
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

LONGEST = 10  # convention: rows of a block; longer ones need more ratings than most people give
LEAST_ROWS = 15  # convention: comparisons below which repetition may be chance
MOST_ROWS = 100  # numerical: the first rows of an annotator that are looked at; who repeats does so early
REPEATED = 0.97  # convention: how often somebody who repeats a block gives the same answer as one block before
EXPECTED = 0.01  # convention: share of annotators who repeat, before anything is seen
MOST_CHANCE = 0.9  # convention: where answers are mostly equal anyway, nothing is said


class Repeats(NamedTuple):
    """For every annotator (K,) the most probable block."""

    period: np.ndarray  # rows of the block; 0 where nothing repeats
    probability: np.ndarray


def find_repeats(answer: np.ndarray, annotator_of: np.ndarray, K: int) -> Repeats:
    """Blocks in the codes of whole answers (n,), in the order in which they were given."""
    order = np.argsort(annotator_of, kind="stable")
    who, code = annotator_of[order].astype(np.int64), answer[order]
    given = np.bincount(who, minlength=K)
    rank = np.arange(len(who)) - np.repeat(np.cumsum(given) - given, given)
    who, code = who[rank < MOST_ROWS], code[rank < MOST_ROWS]
    chance = _chance_of_equal(who, code, K)
    period, best = np.zeros(K, dtype=np.int64), np.full(K, -np.inf)
    for q in range(2, LONGEST + 1):
        pair = who[q:] == who[:-q]
        same = pair & (code[q:] == code[:-q])
        n, equal = (np.bincount(who[q:][rows], minlength=K).astype(float) for rows in (pair, same))
        usual = np.clip(np.maximum(chance, equal.sum() / max(n.sum(), 1)), 1e-3, MOST_CHANCE)
        odds = equal * np.log(REPEATED / usual) + (n - equal) * np.log((1 - REPEATED) / (1 - usual))
        better = (n >= LEAST_ROWS) & (chance < MOST_CHANCE) & (odds > best)
        period[better], best[better] = q, odds[better]
    probability = expit(best + np.log(EXPECTED / LONGEST))
    return Repeats(np.where(probability > 0.5, period, 0), probability)


def _chance_of_equal(who: np.ndarray, code: np.ndarray, K: int) -> np.ndarray:
    """(K,) how often two answers of the same annotator are equal."""
    n = np.bincount(who, minlength=K).astype(float)
    key, count = np.unique(who * (int(code.max(initial=0)) + 1) + code, return_counts=True)
    pairs = np.bincount(key // (int(code.max(initial=0)) + 1), count * (count - 1.0), minlength=K)
    return np.asarray(pairs / np.maximum(n * (n - 1), 1))
