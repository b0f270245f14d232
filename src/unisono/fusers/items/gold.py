"""Known truths after a fit: calibration of level and scale by them, and the report of what they changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono.fusers.items.calibration import Calibration
from unisono.fusers.scaling import Scaling
from unisono.maths.items.data import ItemData
from unisono.maths.items.params import ItemParams


@dataclass(frozen=True, eq=False)
class GoldReport:
    """The effect of known truths, dimension by dimension (D,); NaN where none is known."""

    dimensions: tuple[str, ...]
    items: int
    observed: (
        np.ndarray
    )  # whether they were observations that rotated the dimensions, or calibrated level and scale alone
    offset: np.ndarray  # by how much the average estimate moved, in rating units
    scale: np.ndarray  # by how much estimates were stretched
    error: np.ndarray  # root mean square of known truth minus estimate, on (hidden) known items, in rating units
    rating_error: np.ndarray  # the same that one rating of a typical annotator has
    spread: np.ndarray  # standard deviation of the known truths: what guessing their mean misses

    def columns(self) -> dict[str, Any]:
        """One entry per dimension, as summary.json keeps it."""
        # A rating by people who mix the dimensions is not one of the truth; there, guessing is the yardstick.
        doubtful = np.where(self.observed, self.spread, self.rating_error)
        return {
            name: {
                "turned": bool(self.observed[d]),
                "offset": round(float(self.offset[d]), 6),
                "scale": round(float(self.scale[d]), 6),
                "error": _rounded(self.error[d]),
                "rating_error": _rounded(self.rating_error[d]),
                "spread": _rounded(self.spread[d]),
                "no_better_than_a_rating": bool(self.error[d] >= doubtful[d]),
            }
            for d, name in enumerate(self.dimensions)
        }


def split_gold(data: ItemData, observed: np.ndarray) -> tuple[ItemData, np.ndarray | None]:
    """The data with the known truths that are observations, and those (M, D) that calibrate level and scale."""
    if data.gold is None:
        return data, None
    seen = data._replace(gold=np.where(observed, data.gold, np.nan) if observed.any() else None)
    return seen, np.where(observed, np.nan, data.gold)


def at_known_level(calibration: Calibration, scale: np.ndarray, offset: np.ndarray) -> Calibration:
    """The calibration of truths `scale` (D,) times these plus `offset` (D,), the level of the known ones."""
    rescaling = calibration.rescaling
    return calibration._replace(
        rescaling=None if rescaling is None else rescaling.mapped(scale, offset),
        least_variance=calibration.least_variance * scale**2,
    )


def report_gold(
    dimensions: tuple[str, ...],
    observed: np.ndarray,
    known: np.ndarray,
    estimate: np.ndarray,
    missed: float | np.ndarray,
    level: tuple[np.ndarray, np.ndarray],
    params: ItemParams,
    scaling: Scaling,
) -> GoldReport:
    """`estimate` (M, D) at the end, `missed` (D,) what a fit without them would miss, `level` scale and offset.

    Standardised units. Estimates with known truths among their observations equal these: their error is that on truths
    which were hidden.
    """
    scale, offset = level
    miss = known - estimate
    count = (~np.isnan(miss)).sum(axis=0)
    square = np.where(count > 0, np.nansum(miss**2, axis=0) / np.maximum(count, 1), np.nan)
    square = np.where(observed & ~np.isnan(missed), np.square(missed), square)
    assert params.cov is not None
    # The newcomer's noise, and how far annotators' biases lie apart.
    rating = np.diagonal(params.N[-1]) + params.cov[-1, :, -1, -1]
    middle = estimate.mean(axis=0)
    return GoldReport(
        dimensions,
        items=int((~np.isnan(known)).any(axis=1).sum()),
        observed=observed,
        offset=(middle - (middle - offset) / scale) * scaling.scale,
        scale=scale,
        error=np.sqrt(square) * scaling.scale,
        rating_error=np.sqrt(np.where(count > 0, rating, np.nan)) * scaling.scale,
        spread=_spread(known) * scaling.scale,
    )


def _spread(known: np.ndarray) -> np.ndarray:
    """(D,) standard deviations of known truths (M, D); NaN where there are none."""
    columns = (column[~np.isnan(column)] for column in known.T)
    return np.array([column.std() if len(column) else np.nan for column in columns])


def _rounded(value: float) -> float | None:
    return round(float(value), 6) if np.isfinite(value) else None
