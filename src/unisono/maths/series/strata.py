"""Frames that the same annotators speak of, condensed: as few frames as there are annotators, with the same products.

What the others say of a frame has the same precision in all frames of a stratum, so that of their courses nothing
matters but sums of products. The triangle of a QR decomposition has the same ones in at most n rows for n annotators,
and triangles of several recordings, one above the other, have a triangle again. A fit then costs no more for frames.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series.frames import Hands, aligned, same_speakers
from unisono.maths.series.parts import Courses, Part, Parts


class Stratum(NamedTuple):
    who: np.ndarray  # (n,) annotators who speak of these frames
    frames: int  # how many
    rows: np.ndarray  # (r, n) courses with the same products, r <= n, in the unit of the dimension


class Placed(NamedTuple):
    """Courses by the frames of the truth they speak of, once everybody's delay is known: N condensed frames."""

    row: tuple[np.ndarray, ...]  # K times: condensed frames that each speaks of; none of who is flat
    course: tuple[np.ndarray, ...]  # K times: what they say
    stratum: np.ndarray  # (N,)
    frames: np.ndarray  # (n,) true frames of each stratum
    first: np.ndarray  # (n,) condensed frame of each stratum that comes first
    given: np.ndarray  # (K,) true frames that each speaks of
    cross: np.ndarray  # (K, K) sums of products of the courses


def condensed(part: Part, hands: tuple[Hands, ...]) -> list[tuple[Stratum, ...]]:
    """Strata of every dimension in some recordings."""
    return [
        merged([one for dims in part.courses for one in strata_of(aligned(dims[d], hand))])
        for d, hand in enumerate(hands)
    ]


def placed(parts: Parts, hands: tuple[Hands, ...]) -> list[Placed]:
    """All courses of every dimension. hands: what is known of annotators; unit, flat and lag matter here."""
    found, K = parts.map(condensed, hands), len(hands[0].lag)
    return [place(merged([one for part in found for one in part[d]]), K) for d in range(len(hands))]


def strata_of(courses: Courses) -> list[Stratum]:
    """Strata of the frames of one recording, in the order in which they first come."""
    found = []
    for frames in same_speakers(courses.seen):
        members = np.flatnonzero(courses.seen[:, frames[0]])
        rows = courses.value[np.ix_(members, frames)].T
        found.append(Stratum(courses.who[members], len(frames), _triangle(rows)))
    return found


def merged(strata: list[Stratum]) -> tuple[Stratum, ...]:
    """Strata of the same annotators as one, in the order in which they first come."""
    sets: dict[bytes, list[Stratum]] = {}
    for one in strata:
        order = np.argsort(one.who, kind="stable")
        sets.setdefault(one.who[order].tobytes(), []).append(one._replace(who=one.who[order], rows=one.rows[:, order]))
    return tuple(
        Stratum(own[0].who, sum(one.frames for one in own), _triangle(np.concatenate([one.rows for one in own])))
        for own in sets.values()
    )


def _triangle(rows: np.ndarray) -> np.ndarray:
    """At most n rows with the same sums of products. rows: (r, n)."""
    return rows if len(rows) <= rows.shape[1] else np.asarray(np.linalg.qr(rows, mode="r"))


def place(strata: tuple[Stratum, ...], K: int) -> Placed:
    """The strata as frames that can be summed annotator by annotator."""
    size = np.array([len(one.rows) for one in strata], dtype=np.int64)
    first = np.cumsum(size) - size
    rows: list[list[np.ndarray]] = [[np.zeros(0, dtype=np.int64)] for _ in range(K)]
    courses: list[list[np.ndarray]] = [[np.zeros(0)] for _ in range(K)]
    given, cross = np.zeros(K), np.zeros((K, K))
    for begin, one in zip(first.tolist(), strata, strict=True):
        given[one.who] += one.frames
        cross[np.ix_(one.who, one.who)] += one.rows.T @ one.rows
        for i, k in enumerate(one.who.tolist()):
            rows[k].append(np.arange(begin, begin + len(one.rows)))
            courses[k].append(one.rows[:, i])
    return Placed(
        row=tuple(map(np.concatenate, rows)),
        course=tuple(map(np.concatenate, courses)),
        stratum=np.repeat(np.arange(len(strata)), size),
        frames=np.array([one.frames for one in strata], dtype=np.int64),
        first=first,
        given=given,
        cross=cross,
    )
