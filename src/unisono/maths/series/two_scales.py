"""Traces of one dimension on two time scales: the level of each recording, and the course inside it.

Wheels without ends start each recording anywhere, so levels and courses err differently; each is judged by itself. Both
are in a unit that private scales cannot distort: the median annotator's standard deviation inside recordings.
Imports NumPy, SciPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from unisono.maths.series.parts import Outline, Part, Parts
from unisono.maths.series.priors import FLAT, LEVEL_VARIANCE


class TwoScales(NamedTuple):
    """What is known of J traces with ratings, recording by recording, apart from their courses."""

    centre: float  # where most levels are, in the units of the ratings
    unit: float  # of level and course, in the units of the ratings
    level: np.ndarray  # (J,) mean of a trace less the centre
    recording_of: np.ndarray  # (J,)
    annotator_of: np.ndarray  # (J,)
    recordings: int
    order: np.ndarray  # (K,) in which annotators are looked at, one by one
    present: np.ndarray  # (K,) bool, with ratings
    flat: np.ndarray  # (K,) bool, with ratings that do not move

    @property
    def raters(self) -> list[int]:
        """Annotators with ratings, in the order in which they are looked at."""
        return [k for k in self.order.tolist() if self.present[k]]

    @property
    def moving(self) -> np.ndarray:
        """(K,) bool, annotators with a course."""
        return np.asarray(self.present & ~self.flat)


def outlines(part: Part) -> tuple[tuple[Outline, ...], ...]:
    """Of every recording, of every dimension."""
    return part.outlines


def two_scales(parts: Parts, K: int, D: int) -> list[TwoScales]:
    """Splits the traces of every dimension; nothing is known of delays here."""
    recordings = [one for part in parts.map(outlines) for one in part]
    order = _order([own for one in recordings for own in one], K)
    return [_scales([one[d] for one in recordings], K, order) for d in range(D)]


def _order(traces: list[Outline], K: int) -> np.ndarray:
    """(K,) annotators, those with smooth traces first, of flat ones the lowest; what they are called says nothing."""
    who, rough, mean = (np.concatenate([getattr(one, name) for one in traces]) for name in ("who", "rough", "mean"))
    given = np.maximum(np.bincount(who, minlength=K), 1)
    return np.lexsort([np.bincount(who, value, minlength=K) / given for value in (mean, rough)])


def _scales(traces: list[Outline], K: int, order: np.ndarray) -> TwoScales:
    """Unit, centre and levels of one dimension, of which there is a rating."""  # eq. S35
    who, mean, ratings, square = (np.concatenate([one[i] for one in traces]) for i in range(4))
    given = np.bincount(who, ratings, minlength=K)
    sd = np.sqrt(np.bincount(who, square, minlength=K) / np.maximum(given, 1))
    present = given > 0
    typical = sd[present & (sd > 0)]
    unit = float(np.median(typical)) if len(typical) else 1.0
    centre = unit * most_levels(mean / unit)
    return TwoScales(
        centre=centre,
        unit=unit,
        level=(mean - centre) / unit,
        recording_of=np.repeat(np.arange(len(traces)), [len(one.who) for one in traces]),
        annotator_of=who,
        recordings=len(traces),
        order=order,
        present=present,
        flat=present & (sd < FLAT * unit),
    )


def most_levels(level: np.ndarray) -> float:
    """A mean of levels (J,) nearby which is a median of those far away: somebody's own origin moves it no further."""

    def pull(at: float) -> float:
        return float(np.sum((level - at) / np.sqrt(LEVEL_VARIANCE + (level - at) ** 2)))

    low, high = float(level.min()), float(level.max())
    return low if pull(low) <= 0.0 or low == high else float(brentq(pull, low, high, xtol=1e-13 * max(high - low, 1.0)))
