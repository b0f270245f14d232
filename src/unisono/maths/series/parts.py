"""Traces in parts, each of some recordings: the work on every frame is done part by part, whoever does it.

    parts.map(function, *parameters)     [function(part, *parameters) for every part], in their order
Functions are pure, and what they return is small or one number per frame. Which recordings make a part is a matter of
the data alone, so that sums over parts are the same to the last bit wherever parts are worked on.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from unisono.maths.series.estep import one_thread
from unisono.maths.series.params import SeriesData

Result = TypeVar("Result")
OnPart = Callable[[int, int], None]  # parts done, parts in all
ROWS = 50_000  # ratings of a part, unless a single recording has more


class Courses(NamedTuple):
    """One dimension of one recording, in the units of the ratings: n traces with ratings, T frames."""

    who: np.ndarray  # (n,) annotators
    mean: np.ndarray  # (n,) of each trace
    value: np.ndarray  # (n, T) less the mean, 0 where missing
    seen: np.ndarray  # (n, T) bool


class Outline(NamedTuple):
    """Of the n traces of one recording and dimension."""

    who: np.ndarray  # (n,)
    mean: np.ndarray  # (n,)
    given: np.ndarray  # (n,) ratings
    square: np.ndarray  # (n,) sum of squares of the course
    rough: np.ndarray  # (n,) see `roughness`


class Part(NamedTuple):
    first: int  # frame of the study, recordings end to end, that its frames begin with
    data: SeriesData
    courses: tuple[tuple[Courses, ...], ...]  # of every recording, of every dimension
    outlines: tuple[tuple[Outline, ...], ...]  # of the same

    @property
    def nbytes(self) -> int:
        arrays = [one.value.nbytes + one.seen.nbytes for dims in self.courses for one in dims]
        return int(self.data.y.nbytes + sum(arrays))


class Parts(Protocol):
    """Whoever works on the parts."""

    def map(self, function: Callable[..., Result], *parameters: object, on_part: OnPart | None = None) -> list[Result]:
        """`function(part, *parameters)` of every part, in their order."""


class HeldParts:
    """Parts in memory, one after the other."""

    def __init__(self, data: SeriesData, rows: int = ROWS) -> None:
        self.parts = [make_part(one) for one in split(data, rows)]

    def map(self, function: Callable[..., Result], *parameters: object, on_part: OnPart | None = None) -> list[Result]:
        found = []
        with one_thread():  # as workers do it: the last bits stay the same
            for part in self.parts:
                found.append(function(part, *parameters))
                if on_part is not None:
                    on_part(len(found), len(self.parts))
        return found


def split(data: SeriesData, rows: int = ROWS) -> list[tuple[int, SeriesData]]:
    """Neighbouring recordings of about so many rows, or a single one with more; and the frame each begins with."""
    M = len(data.length)
    if np.any(np.diff(data.item_of) < 0):
        data = _by_recording(data)
    size = data.length[data.item_of]
    offset, frame = (np.concatenate([[0], np.cumsum(n)]) for n in (size, data.length))
    first = np.searchsorted(data.item_of, np.arange(M + 1))  # judgement
    parts, lo = [], 0
    while lo < M:
        hi = lo + 1
        while hi < M and offset[first[hi + 1]] - offset[first[lo]] <= rows:
            hi += 1
        js = slice(first[lo], first[hi])
        part = data._replace(
            y=data.y[offset[first[lo]] : offset[first[hi]]],
            item_of=data.item_of[js] - lo,
            annotator_of=data.annotator_of[js],
            length=data.length[lo:hi],
            X=data.X[frame[lo] : frame[hi]],
        )
        parts.append((int(frame[lo]), part))
        lo = hi
    return parts


def _by_recording(data: SeriesData) -> SeriesData:
    order, size = np.argsort(data.item_of, kind="stable"), data.length[data.item_of]
    first = np.cumsum(size) - size
    rows = np.concatenate([np.arange(first[j], first[j] + size[j]) for j in order])
    return data._replace(y=data.y[rows], item_of=data.item_of[order], annotator_of=data.annotator_of[order])


def make_part(piece: tuple[int, SeriesData]) -> Part:
    """What `split` gave, with its courses."""
    begin, data = piece
    first = np.concatenate([[0], np.cumsum(data.length[data.item_of])])
    js = np.searchsorted(data.item_of, np.arange(len(data.length) + 1))
    found = []
    for m, T in enumerate(data.length.tolist()):
        who = data.annotator_of[js[m] : js[m + 1]]
        y = data.y[first[js[m]] : first[js[m + 1]]].reshape(len(who), T, data.D)
        found.append(tuple(_courses(who, y[:, :, d]) for d in range(data.D)))
    return Part(begin, data, tuple(found), tuple(tuple(map(_outline, dims)) for dims in found))


def _courses(who: np.ndarray, y: np.ndarray) -> Courses:
    """y: (n, T), NaN where missing."""
    given = ~np.isnan(y)
    rated = given.any(axis=1)
    who, given = who[rated], given[rated]
    y = np.where(given, y[rated], 0.0)
    mean = y.sum(axis=1) / np.maximum(given.sum(axis=1), 1)
    low, high = np.min(y, axis=1, where=given, initial=np.inf), np.max(y, axis=1, where=given, initial=-np.inf)
    mean = np.where(low == high, low, mean)  # nothing is left of who never moves, not even rounding
    return Courses(who, mean, np.where(given, y - mean[:, None], 0.0), given)


def _outline(own: Courses) -> Outline:
    given, square = own.seen.sum(axis=1), np.einsum("nt,nt->n", own.value, own.value)
    return Outline(own.who, own.mean, given, square, roughness(own.value, own.seen))


def roughness(value: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """(n,) how unlike neighbouring ratings of traces (n, T) are: whatever the scale, and whoever traced them.

    Where an order of annotators cannot be helped it goes by this, so that nothing depends on what they are called.
    """
    both = seen[:, 1:] & seen[:, :-1]
    step = np.sum(np.where(both, np.diff(value, axis=1), 0.0) ** 2, axis=1)
    square = np.einsum("nt,nt->n", value, value)
    return np.asarray(step / np.where(square > 0, square, 1.0))
