"""Traces of one dimension on two time scales: the level of each recording, and the course inside it.

Wheels without ends start each recording anywhere, so levels and courses err differently; each is judged by itself. Both
are in a unit that private scales cannot distort: the median annotator's standard deviation inside recordings.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series.parts import Outline, Part, Parts
from unisono.maths.series.priors import FLAT


class TwoScales(NamedTuple):
    """What is known of J traces with ratings, recording by recording, apart from their courses."""

    centre: float  # mean of all levels, in the units of the ratings
    unit: float  # of level and course, in the units of the ratings
    level: np.ndarray  # (J,) mean of a trace less the centre
    recording_of: np.ndarray  # (J,)
    annotator_of: np.ndarray  # (J,)
    recordings: int
    present: np.ndarray  # (K,) bool, with ratings
    flat: np.ndarray  # (K,) bool, with ratings that do not move

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
    return [_scales([one[d] for one in recordings], K) for d in range(D)]


def _scales(traces: list[Outline], K: int) -> TwoScales:
    """Unit, centre and levels of one dimension, of which there is a rating."""  # eq. S35
    who, mean, ratings, square = (np.concatenate([one[i] for one in traces]) for i in range(4))
    given = np.bincount(who, ratings, minlength=K)
    sd = np.sqrt(np.bincount(who, square, minlength=K) / np.maximum(given, 1))
    present = given > 0
    typical = sd[present & (sd > 0)]
    unit = float(np.median(typical)) if len(typical) else 1.0
    centre = float(mean.mean())
    return TwoScales(
        centre=centre,
        unit=unit,
        level=(mean - centre) / unit,
        recording_of=np.repeat(np.arange(len(traces)), [len(one.who) for one in traces]),
        annotator_of=who,
        recordings=len(traces),
        present=present,
        flat=present & (sd < FLAT * unit),
    )
