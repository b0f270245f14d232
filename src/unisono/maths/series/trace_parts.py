"""Traces before the fit: single-frame outliers, parts that are worked on one by one, levels and courses.

    parts.map(function, *parameters)     [function(part, *parameters) for every part], in their order

A part is some recordings. Functions are pure, and what they return is small or one number per frame. Which recordings
make a part is a matter of the data alone, so that sums over parts are the same to the last bit wherever parts are
worked on.

Outliers (typing errors, glitches of a device): a hand takes time, so that what a trace shows lasts for some frames. The
range of running medians, over all traces of an annotator, is what they said; a frame further out than that range once
more is shrunk towards the running median where it stands, and as far out again it says nothing else.

Two time scales: the level of each recording, and the course inside it. Wheels without ends start each recording
anywhere, so levels and courses err differently; each is judged by itself. Both are in a unit that private scales cannot
distort: the median annotator's standard deviation inside recordings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
import scipy

from unisono.maths.series import trace_estep, trace_priors
from unisono.maths.series.trace_data import SeriesData

WINDOW = 5  # choice: frames of a running median: two of them, side by side, may be wrong


def without_outliers(data: SeriesData) -> np.ndarray:
    """(S, D) ratings, the same array where there is nothing to be done."""
    y = data.y
    for d in range(data.D):
        found = _drawn_in(data, data.y[:, d])
        if found is not None:
            y = data.y.copy() if y is data.y else y
            y[:, d] = found
    return y


def _drawn_in(data: SeriesData, y: np.ndarray) -> np.ndarray | None:
    """(S,) ratings of one dimension; None where nothing is far out."""
    lasting = _running_medians(data, y)
    annotator = np.repeat(data.annotator_of, data.length[data.item_of])
    seen = ~np.isnan(lasting)
    low, high = np.full(data.K, np.inf), np.full(data.K, -np.inf)
    np.minimum.at(low, annotator[seen], lasting[seen])
    np.maximum.at(high, annotator[seen], lasting[seen])
    width = np.where(high > low, high - low, 0.0)
    if not (width > 0).any():
        return None
    width = np.maximum(width, np.median(width[width > 0]))  # who never moves may begin to
    out = np.maximum(y - high[annotator], low[annotator] - y) / width[annotator] - 1.0  # ranges beyond the bound
    far = seen & (out > 0)
    if not far.any():
        return None
    found, k = y.copy(), annotator[far]
    bound = np.where(y[far] > high[k], high[k] + width[k], low[k] - width[k])
    found[far] = lasting[far] + (bound - lasting[far]) * np.maximum(1.0 - out[far], 0.0)
    return found


def _running_medians(data: SeriesData, y: np.ndarray) -> np.ndarray:
    """(S,) of the ratings of each trace, gaps skipped; NaN where missing, and in traces too short for any."""
    end = np.cumsum(data.length[data.item_of])
    found = np.full(len(y), np.nan)
    for hi, length in zip(end.tolist(), data.length[data.item_of].tolist(), strict=True):
        rated = hi - length + np.flatnonzero(~np.isnan(y[hi - length : hi]))
        if len(rated) >= WINDOW:
            found[rated] = scipy.ndimage.median_filter(y[rated], WINDOW)
    return found


Result = TypeVar("Result")
OnPart = Callable[[int, int], None]  # parts done, parts in all
ROWS = 50_000  # numerical: ratings of a part, unless a single recording has more


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
        with trace_estep.one_thread():  # as workers do it: the last bits stay the same
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
        found.append(tuple(courses_of(who, y[:, :, d]) for d in range(data.D)))
    return Part(begin, data, tuple(found), tuple(tuple(map(_outline, dims)) for dims in found))


def courses_of(who: np.ndarray, y: np.ndarray) -> Courses:
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
    constant: np.ndarray  # (K,) bool, of these, with the same level in several recordings, or in the only one there is

    @property
    def raters(self) -> list[int]:
        """Annotators with ratings, in the order in which they are looked at."""
        return [k for k in self.order.tolist() if self.present[k]]

    @property
    def levelled(self) -> np.ndarray:
        """(K,) bool, annotators whose levels say something of where those of the truth are."""
        return np.asarray(self.present & ~self.constant)

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
    return np.asarray(np.lexsort([np.bincount(who, value, minlength=K) / given for value in (mean, rough)]))


def _scales(traces: list[Outline], K: int, order: np.ndarray) -> TwoScales:
    """Unit, centre and levels of one dimension, of which there is a rating."""  # eq. S35
    who, mean, ratings, square = (np.concatenate([one[i] for one in traces]) for i in range(4))
    given = np.bincount(who, ratings, minlength=K)
    sd = np.sqrt(np.bincount(who, square, minlength=K) / np.maximum(given, 1))
    present = given > 0
    typical = sd[present & (sd > 0)]
    unit = float(np.median(typical)) if len(typical) else 1.0
    flat = present & (sd < trace_priors.FLAT * unit)
    constant = flat & (_range(mean, who, K) < trace_priors.FLAT * unit)
    constant &= np.bincount(who, minlength=K) > min(len(traces) - 1, 1)  # of one among many a level may be all there is
    constant &= not np.array_equal(constant, present)  # of whom there is nobody else, the level is known all the same
    centre = unit * most_levels(mean[~constant[who]] / unit)
    return TwoScales(
        centre=centre,
        unit=unit,
        level=(mean - centre) / unit,
        recording_of=np.repeat(np.arange(len(traces)), [len(one.who) for one in traces]),
        annotator_of=who,
        recordings=len(traces),
        order=order,
        present=present,
        flat=flat,
        constant=constant,
    )


def _range(values: np.ndarray, of: np.ndarray, K: int) -> np.ndarray:
    """(K,) from the least to the greatest of each; -inf without any."""
    low, high = np.full(K, np.inf), np.full(K, -np.inf)
    np.minimum.at(low, of, values)
    np.maximum.at(high, of, values)
    return np.asarray(high - low)


def most_levels(level: np.ndarray) -> float:
    """A mean of levels (J,) nearby which is a median of those far away: somebody's own origin moves it no further."""

    def pull(at: float) -> float:
        return float(np.sum((level - at) / np.sqrt(trace_priors.LEVEL_VARIANCE + (level - at) ** 2)))

    low, high = float(level.min()), float(level.max())
    if pull(low) <= 0.0 or low == high:
        return low
    return float(scipy.optimize.brentq(pull, low, high, xtol=1e-13 * max(high - low, 1.0)))
