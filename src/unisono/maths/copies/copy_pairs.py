"""The probability that two annotators are one opinion, for pairs whose answers agree more than chance allows.

Two annotators who answered a cell (an item on a dimension) give the same answer with probability

    honest pairs    h_t = p + t (1 - p)
    copies          max(s, h_t0)                                                                         eq. Q8

where p is the chance of eq. Q9 and t the excess of the pair: how often the one answers as the other for a reason
that neither others' answers nor habits know, because good annotators know more of the item than the others' answers
show; the crowd's own pairs say how large it is, t0 in the middle. Of copies the share s of answers was left as it was,
whatever the item; where even honest pairs agree more often, a difference is no sign of a copy. The probability of a
copy weighs the two by the likelihood of the answers of the pair, integrated over t and s on a grid. Agreement on a
likely answer says little, on a rare one much. Who differs on more answers than copies change may also be alike with a
smaller s, and is two opinions then.

    J judgements sorted by item, K annotators, D dimensions, P pairs, N meetings of pairs, T values of t
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from unisono.maths.copies.answer_chances import answer_chances
from unisono.maths.copies.copy_meetings import FirstLook, Meetings, candidate_pairs, first_look, meetings_of

EXCESS = np.concatenate([np.linspace(0.0, 0.98, 50), [0.99, 0.995, 0.999]])  # numerical: the grid of t, and of s
CHANCE_BINS = 48  # numerical: chances are counted in so many classes, narrow near one, where most of them are
LEAST_CHANCE = 1e-4  # choice: floor: rarer coincidences count no more than this
LEVEL = np.exp(np.log(LEAST_CHANCE) * ((np.arange(CHANCE_BINS) + 0.5) / CHANCE_BINS) ** 2)  # the middle of each class
DOUBTFUL = -5.0  # convention: log odds on some of the items from which a pair is looked at on all of them
TYPICAL_EXCESS = (0.1, 0.12, 3.0)  # convention: centre and spread of honest pairs, worth so many pairs
LEAST_SPREAD = 0.03  # choice: floor of the spread of honest pairs
MOST_ALIKE_SHARE = 0.1  # convention: pairs that agree most are left out of what honest pairs are learned from
OUTLYING = 0.1  # convention: share of honest pairs that agree more than typical ones, for whatever reason
OUTLYING_POWER = 8.0  # convention: how fast such pairs become rarer towards complete agreement
COPY_POWER = 8.0  # convention: of copies, half have at most 7 % of their answers changed
MOST_CHANGED = 0.3  # convention: who changed more of the answers gave an opinion
LEAST_EXCESS = 0.2  # convention: part of the way from chance to complete agreement below which nobody is called a copy
COPIED = 0.05  # convention: copies per annotator that are expected before anything is seen
LEAST_ANSWERS = 10  # convention: shared answers below which agreement may be luck, and nobody is called a copy
ENOUGH = 15  # convention: shared answers from which a pair says something about honest pairs
MOST_LEARNED = 20_000  # numerical: pairs from which honest ones are learned; more tell nothing new


class CopyPairs(NamedTuple):
    """Pairs of annotators who meet often enough, with what was found about them."""

    pair: np.ndarray  # (P, 2) annotators a < b
    probability: np.ndarray  # (P,) that they are one opinion
    log_odds: np.ndarray  # (P,) the same without rounding
    shared: np.ndarray  # (P,) answers both gave to the same cells
    equal: np.ndarray  # (P,) share of them that are the same
    expected: np.ndarray  # (P,) share that would be the same by chance


def copy_pairs(value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, K: int) -> CopyPairs:
    """The probability of a copy for pairs of annotators, from ratings value (J, D) with NaN, sorted by item."""
    table = value, item_of, annotator_of, K
    look = first_look(*table)
    n = np.bincount(item_of).astype(float)
    first = first_judgement(*table, look, float((n * (n - 1)).sum()))
    if look.every_item:
        return first.found
    doubtful = first.doubtful() if look.every_pair else candidate_pairs(*table)
    # Whoever looks like a copy on some of the items is looked at on all of them.
    return first.closer_look(*table, meetings_of(doubtful, *table))


class FirstJudgement(NamedTuple):
    """What a first look at some of the items says of pairs, and of honest ones."""

    found: CopyPairs
    crowd: _Crowd
    partners: float

    def doubtful(self) -> np.ndarray:
        """(P, 2) pairs that may be copies."""
        return np.asarray(self.found.pair[self.found.log_odds > DOUBTFUL])

    def closer_look(
        self, value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, K: int, met: Meetings
    ) -> CopyPairs:
        """The pairs with those that meet here judged anew."""
        again = _judged(_count_equal(value, item_of, annotator_of, K, met), self.crowd, self.partners)
        return _replaced(self.found, again, K)


def first_judgement(
    value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, K: int, look: FirstLook, meetings: float
) -> FirstJudgement:
    """From a first look; `meetings` of any two annotators on any item, both ways round, there are in all."""
    counted = _count_equal(value, item_of, annotator_of, K, look.meetings)
    crowd = _learn_crowd(counted)
    partners = _partners(look, meetings, K)
    return FirstJudgement(_judged(counted, crowd, partners), crowd, partners)


class _Counts(NamedTuple):
    """What pairs answered to the cells they share."""

    pair: np.ndarray  # (P, 2)
    shared: np.ndarray  # (P,) cells
    equal_in: np.ndarray  # (P, CHANCE_BINS) of them equal, by how probable that was by chance
    apart_in: np.ndarray  # (P, CHANCE_BINS) of them different, by how probable the likelier of the two answers was
    expected: np.ndarray  # (P,) equal cells expected by chance
    together: np.ndarray  # (P,) how many cells of an item count as one; NaN where it cannot be told


class _Crowd(NamedTuple):
    """What honest pairs are like."""

    together: float
    excess: float  # that is typical of them
    density: np.ndarray  # (T,) of the excess, on the grid


def _count_equal(value: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray, K: int, met: Meetings) -> _Counts:
    P, D = len(met.pair), value.shape[1]
    seen = np.zeros(int(item_of.max(initial=-1)) + 1, dtype=bool)
    seen[item_of[met.one]] = True
    if not seen.all():
        rows = seen[item_of]
        place = np.cumsum(rows) - 1
        value, item_of, annotator_of = value[rows], item_of[rows], annotator_of[rows]
        met = met._replace(one=place[met.one], other=place[met.other])
    both, same = np.zeros((2, D, len(met.of)), dtype=bool)
    equal_at, apart_at, expected = [], [], np.zeros(P)
    for d in range(D):
        y = np.ascontiguousarray(value[:, d])
        chance, match = answer_chances(y, item_of, annotator_of, K)
        first, second = y[met.one], y[met.other]
        both[d], same[d] = ~np.isnan(first + second), first == second
        # Of two who may both answer so anyway, the one with the stronger habit explains it.
        equal_at.append(_cells(met, np.flatnonzero(same[d]), _chance_class(chance)))
        apart_at.append(_cells(met, np.flatnonzero(both[d] & ~same[d]), _chance_class(match)))
        by_chance = 0.5 * (match[met.one] + match[met.other])
        expected += np.bincount(met.of, np.where(both[d], by_chance, 0.0), minlength=P)
    equal_in, apart_in = (
        np.bincount(np.concatenate(at), minlength=P * CHANCE_BINS).reshape(P, CHANCE_BINS).astype(np.float64)
        for at in (equal_at, apart_at)
    )
    given, agreed = (cells.sum(axis=0, dtype=np.float64) for cells in (both, same))
    shared = np.bincount(met.of, given, minlength=P)
    return _Counts(met.pair, shared, equal_in, apart_in, expected, _cells_in_one(met.of, given, agreed, P))


def _chance_class(p: np.ndarray) -> np.ndarray:
    """(J,) classes of chances, 0 the largest; that of the smallest where there is none."""
    deep = np.sqrt(np.log(np.clip(np.fmax(p, LEAST_CHANCE), None, 1.0)) / np.log(LEAST_CHANCE))
    return np.asarray(np.minimum((deep * CHANCE_BINS).astype(np.intp), CHANCE_BINS - 1))


def _cells(met: Meetings, some: np.ndarray, klass: np.ndarray) -> np.ndarray:
    """Places of these meetings in a table of pairs by classes: that of the likelier of the two answers."""
    return np.asarray(met.of[some] * CHANCE_BINS + np.minimum(klass[met.one[some]], klass[met.other[some]]))


def _equal_by_honesty(excess: np.ndarray | float) -> np.ndarray:
    """(CHANCE_BINS, T) the probability that an honest pair agrees.                                      eq. Q8"""
    level = LEVEL[:, None]
    return np.asarray(level + excess * (1 - level))


def _log_likelihood(counts: _Counts, equal: np.ndarray, together: float) -> np.ndarray:
    """(P, T) of the pairs' answers where cells of every chance are equal with probability (CHANCE_BINS, T)."""
    return np.asarray((counts.equal_in @ np.log(equal) + counts.apart_in @ np.log1p(-equal)) / together)


def _learn_crowd(counts: _Counts) -> _Crowd:
    """What honest pairs are like, from the middle of all pairs."""
    counts = _some(counts, slice(None, None, len(counts.pair) // MOST_LEARNED + 1))
    told = counts.together[~np.isnan(counts.together)]
    together = max(float(np.median(told)), 1.0) if len(told) else 1.0
    best = _log_likelihood(counts, _equal_by_honesty(EXCESS), together).argmax(axis=1)
    density = _honest_excess(EXCESS[best], counts.shared)
    return _Crowd(together, float(EXCESS[density.argmax()]), density)


def _judged(counts: _Counts, crowd: _Crowd, partners: float) -> CopyPairs:
    """Copies against honest pairs; who does not agree clearly more than by chance is none."""
    agreed = counts.equal_in.sum(axis=1)
    excess = agreed - counts.expected >= LEAST_EXCESS * (counts.shared - counts.expected)
    asked = np.flatnonzero(excess & (counts.shared >= LEAST_ANSWERS))
    log_odds = np.full(len(agreed), -np.inf)
    log_odds[asked] = _log_odds(_some(counts, asked), crowd, COPIED / partners)
    safe = np.maximum(counts.shared, 1)
    return CopyPairs(counts.pair, expit(log_odds), log_odds, counts.shared, agreed / safe, counts.expected / safe)


def _log_odds(counts: _Counts, crowd: _Crowd, expected: float) -> np.ndarray:
    """(P,) of copies against two opinions, where so many copies per opinion are `expected`.              eq. Q8

    Two of a kind among others who see things another way agree on what is rare in that crowd, whatever the item, but
    on fewer answers than copies do.
    """
    honest = _log_mean(_log_likelihood(counts, _equal_by_honesty(EXCESS), crowd.together), crowd.density)
    # Where even honest pairs agree more often than answers were left unchanged, a difference is no sign of a copy.
    equal = np.maximum(EXCESS, _equal_by_honesty(crowd.excess))
    alike = _log_likelihood(counts, equal, crowd.together)
    copy, unchanged = EXCESS >= 1 - MOST_CHANGED, EXCESS**COPY_POWER
    copies, of_a_kind = np.where(copy, unchanged, 0.0), np.where(copy, 0.0, unchanged)
    weight = expected * (of_a_kind @ _cell_widths()) / (copies @ _cell_widths())
    differ = counts.equal_in.sum(axis=1) < (1 - MOST_CHANGED) * counts.shared
    opinions = np.where(differ, np.logaddexp(honest, _log_mean(alike, of_a_kind) + np.log(weight)), honest)
    return np.asarray(_log_mean(alike, copies) + np.log(expected) - opinions)


def _some(counts: _Counts, rows: np.ndarray | slice) -> _Counts:
    return _Counts(*(part[rows] for part in counts))


def _partners(look: FirstLook, meetings: float, K: int) -> float:
    """How many others an annotator shares items with, among whom a copy would be; at least one."""
    if look.every_pair:
        return max(2 * len(look.meetings.pair) / max(K, 1), 1.0)
    return float(np.clip(meetings / max(K, 1), 1.0, max(K - 1, 1)))


def _replaced(found: CopyPairs, again: CopyPairs, K: int) -> CopyPairs:
    """What a closer look found in place of the first."""
    kept = ~np.isin(found.pair @ [K, 1], again.pair @ [K, 1])
    return CopyPairs(*(np.concatenate([old[kept], new]) for old, new in zip(found, again, strict=True)))


def _cells_in_one(of: np.ndarray, given: np.ndarray, agreed: np.ndarray, P: int) -> np.ndarray:
    """(P,) how many cells of an item count as one, because its dimensions are answered alike or not together.

    Variance of the number of equal answers to an item over what it would be if they were independent; copies, who agree
    on everything, cannot tell.
    """
    cells = np.bincount(of, given, minlength=P)
    share = np.bincount(of, agreed, minlength=P) / np.maximum(cells, 1)
    away = np.bincount(of, (agreed - given * share[of]) ** 2, minlength=P)
    alone = cells * share * (1 - share)
    return np.asarray(np.where(alone > 0, away / np.where(alone > 0, alone, 1.0), np.nan))


def _honest_excess(excess: np.ndarray, shared: np.ndarray) -> np.ndarray:
    """(T,) density of the excess of honest pairs on the grid, from the pairs of the crowd without the most alike."""
    centre, spread, worth = TYPICAL_EXCESS
    told = np.sort(excess[shared >= ENOUGH])
    told = told[: len(told) - int(np.ceil(MOST_ALIKE_SHARE * len(told)))]
    if n := len(told):
        middle, upper = np.quantile(told, [0.5, 0.8])
        width = max(1.4826 * float(np.median(np.abs(told - middle))), float(upper - middle) / 0.8416)
        centre = (worth * centre + n * middle) / (worth + n)
        spread = np.sqrt((worth * spread**2 + n * width**2) / (worth + n))
    typical = np.exp(-0.5 * ((EXCESS - centre) / max(spread, LEAST_SPREAD)) ** 2)
    outlying = (1 - EXCESS) ** OUTLYING_POWER
    weights = _cell_widths()
    density = (1 - OUTLYING) * typical / (typical @ weights) + OUTLYING * outlying / (outlying @ weights)
    return np.asarray(density)


def _cell_widths() -> np.ndarray:
    return np.asarray(np.gradient(EXCESS))


def _log_mean(loglik: np.ndarray, density: np.ndarray) -> np.ndarray:
    """(P,) log of the likelihood averaged over the grid."""
    weight = density * _cell_widths()
    weight = weight / weight.sum()
    top = loglik.max(axis=1, keepdims=True)
    return np.asarray(top[:, 0] + np.log(np.exp(loglik - top) @ weight))
