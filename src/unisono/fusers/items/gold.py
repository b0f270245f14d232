"""Known truths after a fit: calibration of level and scale by them, and the report of what they changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unisono.fusers.items.calibration import Calibration
from unisono.fusers.items.turned import TurnedFit
from unisono.fusers.scaling import Scaling
from unisono.maths.gold_slope import Slope, slope_of, slope_on
from unisono.maths.items.gold import level_map
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
    slopes: tuple[Slope, ...] = ()  # of the known truths on the estimates without them

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
                **self._slope(d),
            }
            for d, name in enumerate(self.dimensions)
        }

    def _slope(self, d: int) -> dict[str, Any]:
        if not self.slopes:
            return {}
        slope = self.slopes[d]
        return {
            "slope": _rounded(slope.value),
            "slope_low": _rounded(slope.low),
            "slope_high": _rounded(slope.high),
            "refuted": slope.refuted,
        }


class KnownLevel(NamedTuple):
    """What known truths say of level and scale; all (D,)."""

    scale: np.ndarray
    offset: np.ndarray
    slopes: tuple[Slope, ...]


def known_level(estimate: np.ndarray, known: np.ndarray, turned: TurnedFit | None, *, obeyed: bool) -> KnownLevel:
    """Of known truths (M, D) beside the estimates (M, D) without them; those that turned a dimension set nothing here.

    Where they cannot mean what ratings mean they are `obeyed` all the same, or not.
    """
    slopes = tuple(_slope(estimate[:, d], known[:, d], d, turned) for d in range(known.shape[1]))
    calibrating = known.copy()
    if turned is not None:
        calibrating[:, turned.places] = np.nan
    direction = np.array([-1.0 if slope.upside_down else 1.0 for slope in slopes])
    alone = np.array([slope.refuted and obeyed for slope in slopes])
    return KnownLevel(*level_map(estimate, calibrating, direction, alone), slopes)


def _slope(estimate: np.ndarray, known: np.ndarray, d: int, turned: TurnedFit | None) -> Slope:
    """Of one dimension. Hidden truths that a turned fit foretold well show an odd unit better than estimates do."""
    slope = slope_on(estimate, known)
    if slope.refuted or turned is None or d not in turned.places:
        return slope
    missed = float(turned.missed[turned.dims == d][0])
    foretold = float(np.sqrt(max(1 - missed**2 / np.nanvar(known), 0.0)))
    hidden = slope_of(slope.known, foretold, slope.spread)
    return hidden if hidden.other_unit else slope


def at_known_level(calibration: Calibration, scale: np.ndarray, offset: np.ndarray) -> Calibration:
    """The calibration of truths `scale` (D,) times these plus `offset` (D,), the level of the known ones."""
    rescaling = calibration.rescaling
    return calibration._replace(
        rescaling=None if rescaling is None else rescaling.mapped(scale, offset),
        least_variance=calibration.least_variance * scale**2,
    )


def report_gold(
    dimensions: tuple[str, ...],
    known: np.ndarray,
    blind: np.ndarray,
    level: KnownLevel,
    turned: TurnedFit | None,
    params: ItemParams,
    scaling: Scaling,
) -> GoldReport:
    """`blind` (M, D) are the estimates without known truths (M, D), `params` those at the end; standardised units.

    Estimates with known truths among their observations equal these: their error is that on truths which were hidden.
    """
    scale, offset = level.scale, level.offset
    miss = known - (scale * blind + offset)
    count = (~np.isnan(miss)).sum(axis=0)
    error = np.sqrt(np.where(count > 0, np.nansum(miss**2, axis=0) / np.maximum(count, 1), np.nan))
    observed = np.zeros(len(dimensions), dtype=bool)
    if turned is not None:
        observed[turned.places] = True
        error[turned.places] = turned.missed[turned.better]
    assert params.cov is not None
    # The newcomer's noise, and how far annotators' biases lie apart.
    rating = np.diagonal(params.N[-1]) + params.cov[-1, :, -1, -1]
    return GoldReport(
        dimensions,
        items=int((~np.isnan(known)).any(axis=1).sum()),
        observed=observed,
        offset=((scale - 1) * blind.mean(axis=0) + offset) * scaling.scale,
        scale=scale,
        error=error * scaling.scale,
        rating_error=np.sqrt(np.where(count > 0, rating, np.nan)) * scaling.scale,
        spread=_spread(known) * scaling.scale,
        slopes=level.slopes,
    )


def _spread(known: np.ndarray) -> np.ndarray:
    """(D,) standard deviations of known truths (M, D); NaN where there are none."""
    columns = (column[~np.isnan(column)] for column in known.T)
    return np.array([column.std() if len(column) else np.nan for column in columns])


def _rounded(value: float) -> float | None:
    return round(float(value), 6) if np.isfinite(value) else None
