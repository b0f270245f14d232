"""What fusing gives: the truth with its uncertainty, and the fitted model with its provenance. Plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unisono.data import Clock, ItemTable, Ratings
from unisono.data.introduction import Introduction, counted
from unisono.errors import DataError
from unisono.fusers.scaling import restored_scale
from unisono.maths.em import EmTrace
from unisono.maths.items.predictive import half_width
from unisono.maths.raters.diagnosis import Diagnosis
from unisono.reader import as_frame

INTERVAL = 0.90  # the level of every interval that is written
SD_DIGITS = 4  # significant digits of the typical sd that are written: more would be noise
TIME_DECIMALS = 6  # microseconds
MOST_DECIMALS = 15  # what a double holds of numbers around one


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

    @property
    def sd(self) -> np.ndarray:
        """(S, D) posterior standard deviations."""
        return np.asarray(np.sqrt(np.maximum(np.diagonal(self.cov, axis1=1, axis2=2), 0.0)))

    def interval(self, level: float = INTERVAL) -> tuple[np.ndarray, np.ndarray]:
        """(S, D) lower and upper ends of the central interval that holds the truth with this probability."""
        away = half_width(level, self.freedom) * self.sd
        low, high = self.mean - away, self.mean + away
        return (low, high) if self.ends is None else (np.maximum(low, self.ends[0]), np.minimum(high, self.ends[1]))

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
        return self._labels() | {
            f"{name}{suffix}": column[:, d]
            for d, name in enumerate(self.dimensions)
            for suffix, column in figures.items()
        }

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
        return table

    def _labels(self) -> dict[str, Any]:
        if self.clock is None:
            return {"item": list(self.items)}
        recordings = [item for item, T in zip(self.items, self.length, strict=True) for _ in range(T)]
        return {"recording": recordings, "time": self.clock.seconds(self.length)}

    def _figures(self) -> dict[str, np.ndarray]:
        low, high = self.interval()
        return {"": self.mean, "_sd": self.sd, "_low": low, "_high": high}


@dataclass(frozen=True, eq=False)
class Annotators:
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
    answered: np.ndarray | None = None  # (K, D) judgements with an answer on the dimension; None: not counted
    kind: tuple[str, ...] | None = None  # (K,) what each of them is: human, judge, ...; None: nobody said

    def __repr__(self) -> str:
        return self._introduction().text()

    def _repr_html_(self) -> str:
        return self._introduction().html()

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
        scale = restored_scale(self.arrays, len(self.dimensions))
        mean, cov = self.arrays["item_mean"], self.arrays["item_cov"]
        return Fused(mean, cov, self.items, self.dimensions, length, ends=(scale.low, scale.high))


def sensible_decimals(sd: np.ndarray, mean: np.ndarray) -> int:
    """How many decimals numbers deserve whose typical sd is this; without any, by their size."""
    positive = sd[sd > 0]
    if not len(positive):
        positive = np.abs(mean[mean != 0])
    if not len(positive):
        return 0
    return int(np.clip(SD_DIGITS - 1 - np.floor(np.log10(np.median(positive))), 0, MOST_DECIMALS))
