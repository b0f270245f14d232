"""Traces moved onto each other, so that what is left of disagreement is not delay."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.data import Ratings
from unisono.fusers.series.averages import AlignedMean
from unisono.maths.series.align import advanced


class Moved(NamedTuple):
    """Traces without their relative delays."""

    ratings: Ratings
    delay: np.ndarray  # (K, D) seconds by which each annotator was late, relative to the median one


def without_delays(ratings: Ratings, window: float | None = None) -> Moved:
    """Each annotator's traces moved against the mean of the others, within +- half of `window` seconds."""
    assert ratings.clock is not None
    lag = AlignedMean(window=window).fit(ratings).lag_
    value = ratings.value.copy()
    for j, k in enumerate(ratings.annotator_of.tolist()):
        rows = slice(ratings.offset[j], ratings.offset[j + 1])
        for d in np.flatnonzero(lag[k]):
            value[rows, d] = advanced(ratings.value[rows, d], int(lag[k, d]))
    return Moved(ratings.with_value(value), lag / ratings.clock.rate)
