"""What fusing gives: the truth with its uncertainty, the annotators, and the fitted model with its provenance.

Plain values, and the columns of truth.csv, annotators.csv and annotators_overall.csv. A new figure about annotators is
a field of `Annotators` and a line in `BY_DIMENSION` (one number per annotator and dimension) or in `OVERALL` (one per
annotator), and is explained in docs/annotators.md, which a test holds against these lists. A column that has nothing to
say of a model, as delays of items, is None and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from unisono.errors import DataError
from unisono.fusers.learned_arrays import unpacked
from unisono.maths.em_loop import EmTrace
from unisono.maths.items.item_estimates import half_width
from unisono.maths.raters.rater_diagnosis import Diagnosis
from unisono.maths.raters.response_styles import KINDS
from unisono.maths.series.tracer_diagnosis import KINDS as TRACING
from unisono.tables import Clock, Introduced, Introduction, ItemTable, Ratings, Scale, counted, listed

FigureEnds = dict[str, tuple[np.ndarray, np.ndarray]]  # lower and upper ends, (K, D) each
INTERVAL = 0.90  # convention: the level of every interval that is written
SD_DIGITS = 4  # convention: significant digits of the typical sd that are written: more would be noise
TIME_DECIMALS = 6  # numerical: microseconds
MOST_DECIMALS = 15  # numerical: what a double holds of numbers around one


def as_frame(columns: Mapping[str, Any], origin: Ratings | ItemTable | None) -> Any:
    """Columns as a frame of the kind that the ratings came in, with its ids under its names; Polars by default."""
    from unisono.tables.reading.data_frames import frame_like, frame_with_ids  # data frames take a while to load

    return frame_like(None, columns) if origin is None else frame_with_ids(columns, origin)


class SharedError(NamedTuple):
    """An error that the truths of all items have in common: nobody knows level and unit of all annotators exactly."""

    cov: np.ndarray  # (D, D) of the level, which is that of truths at `center`
    freedom: float  # degrees of freedom behind it
    unit: np.ndarray | float = 0.0  # (D,) variance of the unit's error, as a share of the distance from there
    center: np.ndarray | float = 0.0  # (D,)

    def variance(self, truth: np.ndarray) -> np.ndarray:
        """(S, D) for truths (S, D)."""
        return np.asarray(np.diagonal(self.cov) + self.unit * (truth - self.center) ** 2)

    def mapped(self, scale: np.ndarray, offset: np.ndarray) -> SharedError:
        """That of truths `scale` (D,) times these plus `offset` (D,)."""
        return self._replace(cov=self.cov * scale[:, None] * scale, center=scale * self.center + offset)

    def left(self, share: np.ndarray) -> SharedError:
        """What is left of it where known truths take all but a `share` (D,) of the error away."""
        return self._replace(cov=self.cov * share[:, None] * share, unit=self.unit * share**2)


class Difference(NamedTuple):
    """Of the truths of two items, by dimension (D,)."""

    dimensions: tuple[str, ...]
    mean: np.ndarray
    sd: np.ndarray
    low: np.ndarray  # ends of the 90 % interval
    high: np.ndarray

    def columns(self) -> dict[str, Any]:
        """One row per dimension."""
        figures = {"difference": self.mean, "sd": self.sd, "low": self.low, "high": self.high}
        return {"dimension": list(self.dimensions), **figures}


@dataclass(frozen=True, eq=False)
class Fused:
    """The estimated truth of items (or of the frames of recordings), with a full covariance of its error per item.

    Errors are normal, or Student t where few degrees of freedom stand behind the covariance.
    """

    mean: np.ndarray  # (S, D)
    cov: np.ndarray  # (S, D, D)
    items: tuple[str, ...]
    dimensions: tuple[str, ...]
    length: np.ndarray  # (M,) rows per item, all 1 for ratings of items
    clock: Clock | None = None
    freedom: float = np.inf
    ends: tuple[np.ndarray, np.ndarray] | None = None  # (D,) each: where the scale ends, infinite where it does not
    uncut: np.ndarray | None = None  # (S, D) the estimates before they were cut at the ends
    origin: Ratings | ItemTable | None = None  # that it was fused or predicted from: `truth` is a frame like theirs
    level: SharedError | None = None  # an error that all items share, beside `cov`; None: there is none
    unclear: np.ndarray | None = None  # (S,) probability that errors about an item are larger than usual; None: alike

    @property
    def variance(self) -> np.ndarray:
        """(S, D) posterior variances of items beside each other: an error that all of them share is no part of it."""
        return np.asarray(np.maximum(np.diagonal(self.cov, axis1=1, axis2=2), 0.0))

    @property
    def sd(self) -> np.ndarray:
        """(S, D) posterior standard deviations; what is known has none, whatever the level."""
        shared = 0.0 if self.level is None else self.level.variance(self.mean)
        return np.asarray(np.sqrt(np.where(self.variance > 0, self.variance + shared, 0.0)))

    def half_widths(self, level: float = INTERVAL) -> np.ndarray:
        """(S, D) of intervals: squares of half-widths of independent errors add up, as MOVER has it."""
        away = half_width(level, self.freedom) ** 2 * self.variance
        if self.level is not None:
            away = away + (away > 0) * half_width(level, self.level.freedom) ** 2 * self.level.variance(self.mean)
        return np.asarray(np.sqrt(away))

    def interval(self, level: float = INTERVAL) -> tuple[np.ndarray, np.ndarray]:
        """(S, D) lower and upper ends of the central interval that holds the truth with this probability."""
        away = self.half_widths(level)
        low, high = self.mean - away, self.mean + away
        return (low, high) if self.ends is None else (np.maximum(low, self.ends[0]), np.minimum(high, self.ends[1]))

    def difference(self, one: str, other: str) -> Difference:
        """By how much the truth of one item is above that of another; the level of all items is no part of it.

        Parameters
        ----------
        one, other : str
            Names of two items.

        Returns
        -------
        Difference
            Estimate, sd and 90 % interval of every dimension.

        Raises
        ------
        DataError
            A name that is none of an item, and recordings, whose frames are many.
        """
        if self.clock is not None:
            raise DataError("Differences are those of items; a recording has many frames.")
        unknown = [name for name in (one, other) if name not in self.items]
        if unknown:
            raise DataError(f"There is no item {listed(unknown)} among the {counted(len(self.items), 'fused item')}.")
        a, b = self.items.index(one), self.items.index(other)
        mean = self.mean[a] - self.mean[b]
        own = (a != b) * (self.variance[a] + self.variance[b])
        unit, freedom = (0.0, np.inf) if self.level is None else (self.level.unit * mean**2, self.level.freedom)
        away = np.sqrt(half_width(INTERVAL, self.freedom) ** 2 * own + half_width(INTERVAL, freedom) ** 2 * unit)
        return Difference(self.dimensions, mean, np.sqrt(own + unit), mean - away, mean + away)

    def __repr__(self) -> str:
        return self.introduction("Fused truth").text()

    def _repr_html_(self) -> str:
        return self.introduction("Fused truth").html()

    def introduction(self, title: str, hint: str = "") -> Introduction:
        """Where the estimates lie and how sure they are, dimension by dimension."""
        things = counted(len(self.items), "item" if self.clock is None else "recording")
        frames = "" if self.clock is None else f", {counted(len(self.mean), 'frame')}"
        low, high = self.interval()
        rows = [
            (name, *(f"{float(x):.4g}" for x in figures))
            for name, *figures in zip(
                self.dimensions,
                self.mean.min(axis=0, initial=np.inf),
                np.median(self.mean, axis=0),
                self.mean.max(axis=0, initial=-np.inf),
                np.median(self.sd, axis=0),
                np.median(high - low, axis=0),
                strict=True,
            )
        ]
        header = ("dimension", "lowest", "median", "highest", "typical sd", f"width of {INTERVAL:.0%} interval")
        return Introduction.of(f"{title} of {things}{frames}", header, rows, hint)

    @property
    def truth(self) -> Any:
        """One row per item or frame, as a frame of the kind that came in, with its ids: it joins onto that frame."""
        return as_frame(self.columns(), self.origin)

    def columns(self) -> dict[str, Any]:
        """The columns of the truth: labels, then for each dimension estimate, sd and the ends of the interval."""
        figures = self._figures()
        return (
            self._labels()
            | {
                f"{name}{suffix}": column[:, d]
                for d, name in enumerate(self.dimensions)
                for suffix, column in figures.items()
            }
            | self._last()
        )

    def decimals(self) -> list[int]:
        """How many decimals each dimension deserves: a thousandth of its typical sd."""
        return [sensible_decimals(self.sd[:, d], self.mean[:, d]) for d in range(len(self.dimensions))]

    def rounded_columns(self, decimals: Sequence[int] | None = None) -> dict[str, Any]:
        """The same as truth.csv has them: to so many decimals per dimension, its own where nothing is said."""
        figures, table = self._figures(), self._labels()
        kept = self.decimals() if decimals is None else decimals
        if self.clock is not None:
            table["time"] = np.round(table["time"], TIME_DECIMALS)
        for d, name in enumerate(self.dimensions):
            for suffix, column in figures.items():
                rounded = np.round(column[:, d], kept[d])
                if suffix != "_sd" and self.ends is not None:  # rounding must not carry anything over an end
                    rounded = np.clip(rounded, self.ends[0][d], self.ends[1][d])
                table[f"{name}{suffix}"] = rounded
        return table | {name: np.round(column, 3) for name, column in self._last().items()}

    def _labels(self) -> dict[str, Any]:
        if self.clock is None:
            return {"item": list(self.items)}
        recordings = [item for item, T in zip(self.items, self.length, strict=True) for _ in range(T)]
        return {"recording": recordings, "time": self.clock.seconds(self.length)}

    def _last(self) -> dict[str, np.ndarray]:
        return {} if self.unclear is None else {"unclear": self.unclear}

    def _figures(self) -> dict[str, np.ndarray]:
        low, high = self.interval()
        return {"": self.mean, "_sd": self.sd, "_low": low, "_high": high}


@dataclass(frozen=True, eq=False, repr=False)
class Annotators(Introduced):
    """What is known of every annotator; per-dimension figures are (K, D). `annotator_columns` makes tables of it."""

    annotators: tuple[str, ...]
    dimensions: tuple[str, ...]
    ratings: np.ndarray  # (K,) judgements given
    bias: np.ndarray  # (K, D) average answer minus truth at the average item, in rating units
    gain: np.ndarray  # (K, D) change of the answer per unit of truth on its own dimension
    leakage: np.ndarray  # (K, D, D) change of answer d per unit of truth on dimension e, zero on the diagonal
    noise: np.ndarray  # (K, D) standard deviation of what is neither truth nor bias, in rating units
    reliability: np.ndarray  # (K, D) share of the variance of the answers that is truth
    agreement: np.ndarray  # (K, D) correlation of the answers with the truth fused without them
    delay: np.ndarray | None = None  # (K, D) seconds behind the truth; series only
    delay_low: np.ndarray | None = None  # (K, D) ends of the 90 % interval, NaN where a delay has none
    delay_high: np.ndarray | None = None
    diagnosis: Diagnosis | None = None  # probabilities of being a spammer, flipped, ...; None: not diagnosed
    tracing: dict[str, np.ndarray] | None = None  # (K, D) by kind: probabilities that a hand is flipped, flat, ...
    copy: np.ndarray | None = None  # (K,) probability of being one opinion with somebody else; None: not looked for
    voice: np.ndarray | None = None  # (K,) row of the first annotator of the set of copies one belongs to
    ends: FigureEnds | None = None  # of 90 % intervals of figures, by name
    answered: np.ndarray | None = None  # (K, D) judgements with an answer on the dimension; None: not counted
    kind: tuple[str, ...] | None = None  # (K,) what each of them is: human, judge, ...; None: nobody said

    def _introduction(self) -> Introduction:
        known = np.isfinite(self.reliability)
        mean = np.where(known, self.reliability, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        shown = zip(self.annotators, self.ratings, mean, known.any(axis=1), strict=True)
        rows = [(name, f"{int(n):,}", f"{float(r):.2f}" if told else "?") for name, n, r, told in shown]
        header = ("annotator", "judgements", "reliability")
        return Introduction.of(counted(len(self.annotators), "annotator"), header, rows)

    def copy_sets(self) -> list[str]:
        """(K,) the first name of the set of copies that one belongs to; empty for everybody else."""
        if self.voice is None:
            return [""] * len(self.annotators)
        shared = np.bincount(self.voice, minlength=len(self.voice))[self.voice] > 1
        return [self.annotators[k] if several else "" for k, several in zip(self.voice, shared, strict=True)]


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A fitted model that can be written down and brought back: labels, settings, numbers, provenance."""

    model: str  # the name it was asked for by
    kind: str  # which class of fuser brings it back
    settings: dict[str, Any]  # keyword arguments of that class
    items: tuple[str, ...]
    annotators: tuple[str, ...]
    dimensions: tuple[str, ...]
    features: tuple[str, ...]
    arrays: dict[str, np.ndarray]
    trace: EmTrace
    provenance: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        counts = f"{counted(len(self.items), 'item')}, {counted(len(self.annotators), 'annotator')}"
        return f"Fit of the model '{self.model}': {counts}, {counted(len(self.dimensions), 'dimension')}"

    def fused(self) -> Fused:
        """The estimate that was saved; fits of traces do not keep theirs."""
        if "item_cov" not in self.arrays:
            raise DataError("This fit does not hold the uncertainty of its truth. Fuse again, and give the result.")
        length = np.ones(len(self.items), dtype=np.int64)
        scale, own = unpacked(Scale, self.arrays, "scale"), slice(len(self.dimensions))
        mean, cov = self.arrays["item_mean"], self.arrays["item_cov"]
        level = unpacked(SharedError, self.arrays, "item_level")
        ends = scale.low[own], scale.high[own]
        return Fused(mean, cov, self.items, self.dimensions, length, ends=ends, level=level)


def sensible_decimals(sd: np.ndarray, mean: np.ndarray) -> int:
    """How many decimals numbers deserve whose typical sd is this; without any, by their size."""
    positive = sd[sd > 0]
    if not len(positive):
        positive = np.abs(mean[mean != 0])
    if not len(positive):
        return 0
    return int(np.clip(SD_DIGITS - 1 - np.floor(np.log10(np.median(positive))), 0, MOST_DECIMALS))


class Column(NamedTuple):
    """The name of a column and its numbers: (K, D) by dimension, (K,) overall; None: nothing to say."""

    name: str
    of: Callable[[Annotators], np.ndarray | None]


def _style(annotators: Annotators, kind: str) -> np.ndarray | None:
    if annotators.diagnosis is None:
        return (annotators.tracing or {}).get(kind)
    return annotators.diagnosis.of_kind(kind)


def _style_of_traces(annotators: Annotators, kind: str) -> np.ndarray | None:
    return (annotators.tracing or {}).get(kind)


BOUNDED = ("bias", "gain", "noise", "reliability")  # figures of annotators with intervals


def _end(annotators: Annotators, name: str, end: str) -> np.ndarray | None:
    return None if annotators.ends is None else annotators.ends[name][end == "high"]


def _spammer(annotators: Annotators) -> np.ndarray | None:
    return None if annotators.diagnosis is None else annotators.diagnosis.spammer


def _copy_set(annotators: Annotators) -> np.ndarray | None:
    return None if annotators.voice is None else np.array(annotators.copy_sets(), dtype=object)


def mean_of(annotators: Annotators, name: str) -> np.ndarray:
    """(K,) the mean over the dimensions where the figure is known; NaN where it is on none."""
    figure = np.asarray(getattr(annotators, name))
    known = np.isfinite(figure)
    total = np.where(known, figure, 0.0).sum(axis=1)
    return np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), np.nan)


def by_reliability(annotators: Annotators) -> np.ndarray:
    """(K,) annotators, the most reliable on average first, those of whom nothing is known last."""
    mean = mean_of(annotators, "reliability")
    return np.argsort(np.where(np.isnan(mean), np.inf, -mean), kind="stable")


BY_DIMENSION = (
    Column("ratings", attrgetter("answered")),
    *(Column(name, attrgetter(name)) for name in ("bias", "gain", "noise", "reliability", "agreement")),
    *(Column(f"{name}_{end}", partial(_end, name=name, end=end)) for name in BOUNDED for end in ("low", "high")),
    *(Column(name, attrgetter(name)) for name in ("delay", "delay_low", "delay_high")),
    *(Column(kind, partial(_style, kind=kind)) for kind in KINDS),
    *(Column(kind, partial(_style_of_traces, kind=kind)) for kind in TRACING if kind not in KINDS),
)
OVERALL = (
    Column("ratings", attrgetter("ratings")),
    *(Column(name, partial(mean_of, name=name)) for name in ("reliability", "agreement")),
    Column("spammer", _spammer),
    Column("copy", attrgetter("copy")),
    Column("copy_set", _copy_set),
)


def dimension_columns(annotators: Annotators) -> dict[str, Any]:
    """One row per annotator and dimension: the columns of annotators.csv."""
    K, D = len(annotators.annotators), len(annotators.dimensions)
    table: dict[str, Any] = {
        "annotator": [name for name in annotators.annotators for _ in range(D)],
        "dimension": list(annotators.dimensions) * K,
        **_kinds(annotators, D),
    }
    table |= {column.name: found.ravel() for column in BY_DIMENSION if (found := column.of(annotators)) is not None}
    return table | _leakage(annotators)


def overall_columns(annotators: Annotators) -> dict[str, Any]:
    """One row per annotator: the columns of annotators_overall.csv."""
    found = {column.name: column.of(annotators) for column in OVERALL}
    return {"annotator": list(annotators.annotators), **_kinds(annotators, 1)} | {
        k: v for k, v in found.items() if v is not None
    }


def _kinds(annotators: Annotators, times: int) -> dict[str, list[str]]:
    """What annotators are, if somebody said, each so many times."""
    return {} if annotators.kind is None else {"kind": [kind for kind in annotators.kind for _ in range(times)]}


def _leakage(annotators: Annotators) -> dict[str, np.ndarray]:
    """`from_<dimension>`: what each truth does to the answers on a row's dimension, its own aside."""
    D = len(annotators.dimensions)
    if D == 1:
        return {}
    foreign = np.where(np.eye(D, dtype=bool), np.nan, annotators.leakage)
    return {f"from_{name}": foreign[:, :, e].ravel() for e, name in enumerate(annotators.dimensions)}
