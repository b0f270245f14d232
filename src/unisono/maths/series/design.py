"""Design of traces: what one more annotator would tell of a stretch, and the error to expect of so many annotators.

Annotator k adds q_k = g^2/s2 to the precision of every frame of the course, and g^2/n to that of the level of a
recording. A stretch with precision Q has the variance                                                  eq. S46
    V(Q) = c [lambda (A^-1 + Q)^-1 + (1 - lambda) sigma / sqrt((1 + phi^2 + sigma Q)^2 - 4 phi^2)],
    sigma = (1 - phi^2) A, c the widening of left_out_errors.py,
the first term for errors that outlast the smoother, the second that of a long chain with errors new in every frame.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series.params import SeriesData, SeriesParams
from unisono.maths.series.tracer_truth import Levels, frame_precision, truth_frames

DRAWS = 500  # of annotators


class TraceDesign(NamedTuple):
    """What annotators tell, in the units of the model."""

    course: np.ndarray  # (K, D) precision that each adds to a frame; NaN without ratings
    level: np.ndarray  # (K, D) to the level of a recording
    A: np.ndarray  # (D,) variance of the true course
    AB: np.ndarray  # (D,) of true levels
    lasting: np.ndarray  # (D,) share of the errors that outlasts the smoother
    widening: np.ndarray  # (D,) error variance of courses over that of the model
    phi: float


class Stretches(NamedTuple):
    """What is known of stretches of recordings."""

    recording: np.ndarray  # (n,)
    first: np.ndarray  # (n,) frame in the recording
    last: np.ndarray  # (n,) frame after it
    course: np.ndarray  # (n, D) mean precision of the frames
    level: np.ndarray  # (n, D) precision of the recording's level


def trace_design(params: SeriesParams, levels: Levels, noise: np.ndarray) -> TraceDesign:
    """noise: (K, D), NaN for who gave no ratings."""
    gain = np.diagonal(params.F.sum(axis=1), axis1=1, axis2=2)
    unknown = np.where(np.isnan(noise), np.nan, 1.0)
    return TraceDesign(
        course=unknown * gain**2 / np.diagonal(params.N, axis1=1, axis2=2),
        level=unknown * levels.gain**2 / levels.noise,
        A=np.diagonal(params.sigma) / (1.0 - params.phi**2),
        AB=np.diagonal(levels.prior).copy(),
        lasting=levels.lasting,
        widening=levels.widening,
        phi=params.phi,
    )


def stretches_of(data: SeriesData, params: SeriesParams, levels: Levels, frames: int) -> Stretches:
    """Recordings cut into stretches of about so many frames, with what all annotators together say of each."""
    seen, at = ~np.isnan(data.y), truth_frames(data, params.lag)
    gain = np.diagonal(params.F.sum(axis=1), axis1=1, axis2=2)
    Q = frame_precision(data, seen, at, gain, np.diagonal(params.N, axis1=1, axis2=2))
    QL = np.zeros((len(data.length), data.D))
    judgement = np.repeat(np.arange(len(data.item_of)), data.length[data.item_of])
    rated = np.stack([np.bincount(judgement, seen[:, d], minlength=len(data.item_of)) for d in range(data.D)], axis=1)
    who = data.annotator_of
    np.add.at(QL, data.item_of, np.where(rated > 0, levels.gain[who] ** 2 / levels.noise[who], 0.0))
    recording, first, last, mean = [], [], [], []
    start = np.cumsum(data.length) - data.length
    for m, T in enumerate(data.length.tolist()):
        edge = np.unique(np.round(np.linspace(0, T, max(round(T / frames), 1) + 1)).astype(np.int64))
        for lo, hi in zip(edge[:-1].tolist(), edge[1:].tolist(), strict=True):
            recording.append(m)
            first.append(lo)
            last.append(hi)
            mean.append(Q[start[m] + lo : start[m] + hi].mean(axis=0))
    of = np.array(recording)
    return Stretches(of, np.array(first), np.array(last), np.array(mean), QL[of])


def course_error(Q: np.ndarray, design: TraceDesign) -> np.ndarray:
    """(..., D) variance of the course where annotators together tell Q (..., D)."""  # eq. S46
    phi, sigma = design.phi, (1.0 - design.phi**2) * design.A
    alone = 1.0 / (1.0 / design.A + Q)
    chain = sigma / np.sqrt((1.0 + phi**2 + sigma * Q) ** 2 - 4.0 * phi**2)
    return np.asarray(design.widening * (design.lasting * alone + (1.0 - design.lasting) * chain))


def level_error(QL: np.ndarray, design: TraceDesign) -> np.ndarray:
    """(..., D) variance of the level of a recording."""
    return np.asarray(1.0 / (1.0 / design.AB + QL))


def typical(precision: np.ndarray) -> np.ndarray:
    """(D,) of the median annotator."""
    return np.asarray(np.nan_to_num(np.nanmedian(precision, axis=0)))


def error_to_expect(design: TraceDesign, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(n, D) variance of the truth, course and level, with so many of these annotators drawn at random."""
    rated = ~np.isnan(design.course).all(axis=1)
    course, level = np.nan_to_num(design.course[rated]), np.nan_to_num(design.level[rated])
    order = np.argsort(rng.random((DRAWS, len(course))), axis=1)
    found = []
    for n in counts.tolist():
        drawn = order[:, :n]
        Q, QL = course[drawn].sum(axis=1), level[drawn].sum(axis=1)
        found.append((course_error(Q, design) + level_error(QL, design)).mean(axis=0))
    return np.array(found)
