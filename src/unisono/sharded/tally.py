"""How often every answer was given, in bounded memory: exact up to very many different answers, beyond that of some.

Which answers are kept is decided by a hash of the answer, so that tallies of parts add up to the tally of the whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.data.wild import left_aside
from unisono.maths.distinct import close_pairs
from unisono.sharded.parts import Part

MOST_ANSWERS = 1 << 20  # different answers that are counted; a scale with more is continuous
_ODD = np.uint64(0x9E3779B97F4A7C15)  # numerical: an odd number without pattern, for hashing


class Tally(NamedTuple):
    """Of one dimension: different answers in order, their numbers, and of 2^level answers one is kept."""

    value: np.ndarray
    times: np.ndarray
    level: int

    def equal_pairs(self, close: float = 0.0) -> float:
        """Pairs of answers at most `close` apart, both ways round; an unbiased estimate where not all are kept."""
        equal, others = close_pairs(self.value, self.times, close)
        return equal * 2.0**self.level + others * 4.0**self.level

    def inner(self) -> tuple[float, float]:
        """Lowest and highest answer without the outermost."""
        total = np.cumsum(self.times)
        n = int(total[-1]) if len(total) else 0
        aside = left_aside(n)
        if n <= 2 * aside:
            return 0.0, 0.0
        low, high = np.searchsorted(total, [aside, n - 1 - aside], side="right")
        return float(self.value[low]), float(self.value[high])

    def quantiles(self, shares: list[float]) -> np.ndarray:
        """As numpy.percentile has them, from 0 to 1."""
        total = np.cumsum(self.times)
        place = np.asarray(shares) * (total[-1] - 1)
        low, high = (self.value[np.searchsorted(total, at, side="right")] for at in (np.floor(place), np.ceil(place)))
        return np.asarray(low + (place - np.floor(place)) * (high - low))


def tallied(part: Part) -> list[Tally]:
    """One tally per dimension."""
    found = []
    for d in range(part.value.shape[1]):
        column = part.value[:, d] + 0.0  # adding zero turns -0.0 into 0.0
        value, count = np.unique(column[~np.isnan(column)], return_counts=True)
        found.append(_bounded(Tally(value, count, 0)))
    return found


def joined_tallies(one: list[Tally], other: list[Tally]) -> list[Tally]:
    return [_joined(a, b) for a, b in zip(one, other, strict=True)]


def _joined(one: Tally, other: Tally) -> Tally:
    level = max(one.level, other.level)
    one, other = _at(one, level), _at(other, level)
    value, place = np.unique(np.concatenate([one.value, other.value]), return_inverse=True)
    count = np.bincount(place, np.concatenate([one.times, other.times]), minlength=len(value)).astype(np.int64)
    return _bounded(Tally(value, count, level))


def _bounded(tally: Tally) -> Tally:
    while len(tally.value) > MOST_ANSWERS:
        tally = _at(tally, tally.level + 1)
    return tally


def _at(tally: Tally, level: int) -> Tally:
    if level == tally.level:
        return tally
    code = tally.value.view(np.uint64)
    mixed = (code ^ (code >> np.uint64(31))) * _ODD
    kept = (mixed ^ (mixed >> np.uint64(29))) * _ODD >> np.uint64(64 - level) == 0
    return Tally(tally.value[kept], tally.times[kept], level)
