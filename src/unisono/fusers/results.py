"""What fusing gives: the truth with its uncertainty, and the fitted model with its provenance. Plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unisono.data import Clock
from unisono.data.introduction import Introduction, counted
from unisono.errors import DataError
from unisono.maths.em import EmTrace
from unisono.maths.items.predictive import half_width
from unisono.maths.raters.diagnosis import Diagnosis
from unisono.maths.raters.styles import KINDS

INTERVAL = 0.90  # the level of every interval that is written


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
    ends: tuple[np.ndarray, np.ndarray] | None = None  # (D,) each: where the scale ends, if it is known to

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

    def columns(self) -> dict[str, Any]:
        """The columns of truth.csv: labels, then for each dimension estimate, sd and the ends of the interval."""
        low, high = self.interval()
        table: dict[str, Any] = {}
        if self.clock is None:
            table["item"] = list(self.items)
        else:
            table["recording"] = [item for item, T in zip(self.items, self.length, strict=True) for _ in range(T)]
            table["time"] = self.clock.seconds(self.length)
        for d, name in enumerate(self.dimensions):
            table[name] = self.mean[:, d]
            table[f"{name}_sd"] = self.sd[:, d]
            table[f"{name}_low"] = low[:, d]
            table[f"{name}_high"] = high[:, d]
        return table


@dataclass(frozen=True, eq=False)
class Annotators:
    """One row per annotator; per-dimension figures are (K, D)."""

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

    def columns(self) -> dict[str, Any]:
        """The columns of annotators.csv."""
        table: dict[str, Any] = {"annotator": list(self.annotators), "ratings": self.ratings}
        for name in ("bias", "gain", "noise", "reliability", "agreement"):
            for d, dimension in enumerate(self.dimensions):
                table[f"{dimension}_{name}"] = getattr(self, name)[:, d]
        for d, answered in enumerate(self.dimensions):
            for e, leaked in enumerate(self.dimensions):
                if d != e:
                    table[f"{answered}_from_{leaked}"] = self.leakage[:, d, e]
        for name in ("delay", "delay_low", "delay_high"):
            if (seconds := getattr(self, name)) is not None:
                table |= {f"{dimension}_{name}": seconds[:, d] for d, dimension in enumerate(self.dimensions)}
        for kind, probability in (self.tracing or {}).items():
            table |= {f"{dimension}_{kind}": probability[:, d] for d, dimension in enumerate(self.dimensions)}
        return table | self._probabilities()

    def _probabilities(self) -> dict[str, Any]:
        if self.diagnosis is None:
            return {}
        table: dict[str, Any] = {"spammer": self.diagnosis.spammer}
        for kind in KINDS:
            for d, dimension in enumerate(self.dimensions):
                table[f"{dimension}_{kind}"] = self.diagnosis.of_kind(kind)[:, d]
        return table


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
        mean, cov = self.arrays["item_mean"], self.arrays["item_cov"]
        return Fused(mean, cov, self.items, self.dimensions, length)
