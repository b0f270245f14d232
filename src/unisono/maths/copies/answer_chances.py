"""How probable an answer is by chance, from the others' answers and own habits; answers that repeat in blocks.

The chance is a mixture of three, with weights of the annotator's own: the answers of the others to the item; what the
annotator answers to items on which the others' mean is about the same, which knows severity, favourite answers and the
use of the scale; and what the annotator answers to all items, which knows who never varies.                    eq. Q9

Blocks: answers in the order in which they were given are compared with the annotator's own answers q rows before.
Somebody who repeats a block of q answers gives the same answer nearly always; by chance that happens as often as two
answers of the annotator are equal, or as in the whole crowd at the same distance. The probability weighs the two.

eq. Q10

    J judgements, n of them with an answer, K annotators, V different answers
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from unisono.maths import grouped_sums, rating_values

SMOOTHING = 1.0  # convention: imaginary answers, as common as in the whole crowd, beside those that were counted
LEVELS = 9  # convention: steps of the others' mean; half steps of a scale with five
OUTERMOST = 0.005  # convention: share of the answers, on either side, whose steps are those of the next ones
HALFWAY = 1e-9  # numerical: halfway between two steps is the upper one, however the sum was rounded
HABIT_ANSWERS = 1.0  # convention: imaginary answers of an annotator that come from each part of the mixture
HABIT_STEPS = 4  # numerical: EM steps for its weights
MOST_COUNTS = 8_000_000  # numerical: counts that are kept in a table with holes ...
COUNTS_PER_ANSWER = 16  # numerical: ... which is written as a whole: it is hardly to be larger than the answers


def answer_chances(
    y: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, K: int
) -> tuple[np.ndarray, np.ndarray]:
    """(J,) the probability of each answer given what the others say and what its annotator says of such items.

    First without the answer and an equal one by somebody else, then without the answer alone. NaN where missing.
    """
    chance, match = np.full((2, len(y)), np.nan)
    known = np.flatnonzero(~np.isnan(y))
    if not len(known):
        return chance, match
    item, who, y = item_of[known].astype(np.intp), annotator_of[known].astype(np.intp), y[known]
    values, answer = rating_values.sorted_codes(y)
    level, V = _levels(y, item), len(values)
    crowd = _Table(level.without_one, answer, V, LEVELS + 1)
    items = _Table(item, answer, V, int(item.max()) + 1)
    own = _Table(who, answer, V, K)
    own_at = _Table(who * (LEVELS + 1) + level.without_one, answer, V, K * (LEVELS + 1))

    def components(at: np.ndarray, less: float) -> list[np.ndarray]:
        """Three (n,): by what the others answer, by what the annotator answers to items of this level, and to all."""
        inside = (at == level.without_one).astype(np.float64)  # the answer itself is counted there
        usual = crowd.share(at, answer, 1 / V, inside)
        return [
            items.share(item, answer, usual, less),
            own_at.share(who * (LEVELS + 1) + at, answer, usual, inside),
            own.share(who, answer, usual, 1.0),
        ]

    def mixed(weight: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
        return np.asarray(sum(share[who] * part for share, part in zip(weight, parts, strict=True)))

    parts = components(level.without_one, 1.0)
    weight = np.full((3, K), 1 / 3)
    n = np.bincount(who, minlength=K)
    for _ in range(HABIT_STEPS):
        whole = mixed(weight, parts)
        from_each = weight * [np.bincount(who, part / whole, minlength=K) for part in parts]
        weight = (from_each + HABIT_ANSWERS) / (n + 3 * HABIT_ANSWERS)
    match[known] = mixed(weight, parts)
    without_two = components(level.without_two, 2.0)
    # Who gives one answer nearly always is expected to: never less than by that habit alone.
    chance[known] = np.maximum(mixed(weight, without_two), without_two[2])
    return chance, match


class _Levels(NamedTuple):
    """Where the mean of the other answers to the item lies, in LEVELS steps; LEVELS where there are none."""

    without_one: np.ndarray  # (n,) without the answer itself
    without_two: np.ndarray  # (n,) and without an equal one


def _levels(y: np.ndarray, item: np.ndarray) -> _Levels:
    low, high = _usual_range(y)
    part = np.clip((y - low) / (high - low), 0.0, 1.0) if high > low else np.zeros(len(y))
    n, total = np.bincount(item).astype(np.float64)[item], np.bincount(item, part)[item]

    def step(less: int) -> np.ndarray:
        rest = np.maximum(n - less, 1)
        mean = (total - less * part) / rest
        place = np.clip(np.floor(mean * (LEVELS - 1) + 0.5 + HALFWAY), 0, LEVELS - 1)
        return np.where(n > less, place, LEVELS).astype(np.int64)

    return _Levels(step(1), step(2))


def _usual_range(y: np.ndarray) -> tuple[float, float]:
    """Lowest and highest answer (n,) without the rarest on either side: one typing error is no end of the scale."""
    aside = int(np.ceil(OUTERMOST * len(y))) if len(y) > 2 else 0
    ordered = np.partition(y, sorted({0, aside, len(y) - 1 - aside, len(y) - 1}))
    low, high = float(ordered[aside]), float(ordered[-1 - aside])
    return (low, high) if high > low else (float(ordered[0]), float(ordered[-1]))


class _Table:
    """How often each group gave each answer."""

    def __init__(self, group: np.ndarray, answer: np.ndarray, V: int, size: int) -> None:
        self.V = V
        self.total = np.bincount(group, minlength=size).astype(np.float64)
        key = group * V + answer
        self.dense = size * V <= min(COUNTS_PER_ANSWER * len(key), MOST_COUNTS)
        if self.dense:
            self.count = np.bincount(key, minlength=size * V)
        else:
            self.keys, self.count = np.unique(key, return_counts=True)

    def share(
        self, group: np.ndarray, answer: np.ndarray, usual: np.ndarray | float, less: np.ndarray | float
    ) -> np.ndarray:
        """Shares of these answers in their groups without `less` of them, with imaginary ones that are as `usual`."""
        key = group * self.V + answer
        if self.dense:
            count = self.count[key]
        else:
            place = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
            count = np.where(self.keys[place] == key, self.count[place], 0)
        left = np.maximum(count - less, 0.0) + SMOOTHING * usual
        return np.asarray(left / (np.maximum(self.total[group] - less, 0.0) + SMOOTHING))


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
    order = grouped_sums.rows_by_group(annotator_of)
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
