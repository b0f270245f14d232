"""Ratings at a glance, before anything is fused: how many, how they agree, what deserves a look."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unisono.data import Ratings
from unisono.data.checks import Alert, check_ratings
from unisono.data.coverage import coverage, frame_index
from unisono.fusers.signal import crowd_signal
from unisono.maths.agreement import agreement
from unisono.report.alerts import signal_alerts
from unisono.report.reading import reading_data


@dataclass(frozen=True)
class DimensionOverview:
    """One dimension: how much there is, where it lies, how far annotators agree."""

    name: str
    ratings: int
    missing: int
    low: float
    mean: float
    high: float
    alpha: float  # Krippendorff's alpha, interval data
    icc_a1: float
    icc_ak: float
    icc_c1: float
    icc_ck: float
    others: float  # median over annotators of Pearson with the mean of the others


@dataclass(frozen=True)
class Overview:
    """What `unisono check` prints."""

    source: str
    kind: str  # items or series
    items: int
    annotators: int
    judgements: int
    annotators_per_item: tuple[int, float, int]  # least, median, most
    items_per_annotator: tuple[int, float, int]
    rate: float | None  # frames per second of a series
    seconds: float | None  # all recordings together
    dimensions: tuple[DimensionOverview, ...]
    alerts: tuple[Alert, ...]
    reading: dict[str, Any] | None = None  # how the table was read

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def overview(ratings: Ratings) -> Overview:
    """Counts, agreement and alerts of the ratings."""
    counts = coverage(ratings)
    clock = ratings.clock
    return Overview(
        source=ratings.source,
        kind="series" if ratings.is_series else "items",
        items=ratings.M,
        annotators=ratings.K,
        judgements=ratings.J,
        annotators_per_item=_span(counts.per_item),
        items_per_annotator=_span(counts.per_annotator),
        rate=clock.rate if clock else None,
        seconds=float(ratings.length.sum() / clock.rate) if clock else None,
        dimensions=_dimensions(ratings),
        alerts=(*signal_alerts(ratings.dimensions, crowd_signal(ratings)), *check_ratings(ratings)),
        reading=reading_data(ratings),
    )


def _dimensions(ratings: Ratings) -> tuple[DimensionOverview, ...]:
    who = np.repeat(ratings.annotator_of, ratings.length[ratings.item_of])
    found = agreement(ratings.value, frame_index(ratings), who, ratings.K)
    return tuple(
        DimensionOverview(
            name,
            *_extent(ratings.value[:, d]),
            float(found.alpha[d]),
            *found.icc[d][:4],
            _median(found.others[:, d]),
        )
        for d, name in enumerate(ratings.dimensions)
    )


def _extent(column: np.ndarray) -> tuple[int, int, float, float, float]:
    given = column[~np.isnan(column)]
    if not len(given):
        return 0, len(column), float("nan"), float("nan"), float("nan")
    return len(given), len(column) - len(given), float(given.min()), float(given.mean()), float(given.max())


def _median(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")


def _span(counts: np.ndarray) -> tuple[int, float, int]:
    return int(counts.min()), float(np.median(counts)), int(counts.max())
