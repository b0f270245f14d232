"""Answers so far beyond all others that they cannot have been meant: 2100 for 21.00, 999 for "no answer".

An answer is wild that lies further beyond the others than twice their range, unless it lies on a scale that the user
gave, or its annotator answers there as a rule and has a scale of his own. The range is told without the outermost
answers, and whether there is a rule with a few imaginary answers among the others.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from unisono.data.ratings import Ratings
from unisono.data.scale import Scale
from unisono.data.scale_inference import infer_scale

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


def fence_of(inner: Sequence[tuple[float, float]], n: Sequence[int], scale: Scale) -> Fence:
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
    seen = infer_scale(value, ratings.annotator_of)
    ends = tuple(old if said else new for old, new, said in zip(ratings.scale, seen, ratings.scale.given, strict=True))
    return replace(ratings, value=value, scale=Scale(ends, ratings.scale.given))


def _inner(seen: np.ndarray) -> tuple[float, float]:
    """Lowest and highest of the answers without the outermost."""
    aside = left_aside(len(seen))
    if len(seen) <= 2 * aside:
        return 0.0, 0.0
    kept = np.partition(seen, (aside, len(seen) - 1 - aside))
    return float(kept[aside]), float(kept[-1 - aside])
