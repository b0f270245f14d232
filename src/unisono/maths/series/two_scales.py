"""Traces of one dimension on two time scales: the level of each recording, and the course inside it.

Wheels without ends start each recording anywhere, so levels and courses err differently; each is judged by itself. Both
are in a unit that private scales cannot distort: the median annotator's standard deviation inside recordings.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series.params import SeriesData
from unisono.maths.series.priors import FLAT


class TwoScales(NamedTuple):
    """R rated rows of one dimension."""

    centre: float  # mean of all levels, in the units of the ratings
    unit: float  # of level and course, in the units of the ratings
    level: np.ndarray  # (J,) mean of a trace less the centre; NaN where nothing is rated
    course: np.ndarray  # (R,) the rest
    place: np.ndarray  # (R,) row of the data
    frame: np.ndarray  # (R,) frame inside the recording
    judgement: np.ndarray  # (R,)
    of_annotator: tuple[np.ndarray, ...]  # K times (R_k,) rows of each annotator
    recording_of: np.ndarray  # (J,)
    annotator_of: np.ndarray  # (J,)
    first: np.ndarray  # (M+1,) first frame of each recording, end to end
    present: np.ndarray  # (K,) bool, with ratings
    flat: np.ndarray  # (K,) bool, with ratings that do not move

    @property
    def recording(self) -> np.ndarray:
        """(R,)"""
        return np.asarray(self.recording_of[self.judgement])

    @property
    def annotator(self) -> np.ndarray:
        """(R,)"""
        return np.asarray(self.annotator_of[self.judgement])

    @property
    def moving(self) -> np.ndarray:
        """(K,) bool, annotators with a course."""
        return np.asarray(self.present & ~self.flat)


def two_scales(data: SeriesData, d: int) -> TwoScales:
    """Splits the traces of dimension d; nothing is known of delays here."""  # eq. S35
    length, J = data.length[data.item_of], len(data.item_of)
    judgement = np.repeat(np.arange(J), length)
    frame = np.arange(len(judgement)) - np.repeat(np.cumsum(length) - length, length)
    place = np.flatnonzero(~np.isnan(data.y[:, d]))
    judgement, frame, y = judgement[place], frame[place], data.y[place, d]
    count = np.bincount(judgement, minlength=J)
    mean = np.bincount(judgement, y, minlength=J) / np.maximum(count, 1)
    course, annotator = y - mean[judgement], data.annotator_of[judgement]
    given = np.bincount(annotator, minlength=data.K)
    sd = np.sqrt(np.bincount(annotator, course**2, minlength=data.K) / np.maximum(given, 1))
    present = given > 0
    typical = sd[present & (sd > 0)]
    unit = float(np.median(typical)) if len(typical) else 1.0
    centre = float(mean[count > 0].mean())
    order = np.argsort(annotator, kind="stable")
    return TwoScales(
        centre=centre,
        unit=unit,
        level=np.where(count > 0, (mean - centre) / unit, np.nan),
        course=course / unit,
        place=place,
        frame=frame,
        judgement=judgement,
        of_annotator=tuple(np.split(order, np.cumsum(given)[:-1])),
        recording_of=data.item_of,
        annotator_of=data.annotator_of,
        first=np.concatenate([[0], np.cumsum(data.length)]),
        present=present,
        flat=present & (sd < FLAT * unit),
    )


def stretches(values: np.ndarray) -> list[slice]:
    """Runs of equal values, one after the other."""
    if not len(values):
        return []
    edge = np.concatenate([[0], np.flatnonzero(np.diff(values)) + 1, [len(values)]])
    return [slice(lo, hi) for lo, hi in zip(edge[:-1].tolist(), edge[1:].tolist(), strict=True)]


class Placed(NamedTuple):
    """Which frames of the truth courses speak of, once everybody's delay is known."""

    row: tuple[np.ndarray, ...]  # K times: rows whose frame is inside the recording; none of who is flat
    frame: tuple[np.ndarray, ...]  # K times: that frame, recordings end to end
    stratum: np.ndarray  # (sum T,) frames of the same number are spoken of by the same annotators
    strata: int


def placed(scales: TwoScales, lag: np.ndarray) -> Placed:
    """lag: (K,) delay in frames."""
    rows, frames, recording = [], [], scales.recording
    total = int(scales.first[-1])
    # One random number per annotator: sums of different sets differ.
    key = np.random.default_rng(0).integers(1, 2**40, len(lag)).astype(float)
    pattern = np.zeros(total)
    for k, own in enumerate(scales.of_annotator):
        own = own if not scales.flat[k] else own[:0]
        begin, end = scales.first[recording[own]], scales.first[recording[own] + 1]
        at = begin + scales.frame[own] - int(lag[k])
        inside = (at >= begin) & (at < end)
        rows.append(own[inside])
        frames.append(at[inside])
        pattern[frames[-1]] += key[k]
    values, stratum = np.unique(pattern, return_inverse=True)
    return Placed(tuple(rows), tuple(frames), stratum, len(values))
