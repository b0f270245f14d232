"""Known truths (gold) of items: dimensions that they turned, calibration of level and scale by them, and their slopes.

Dimensions that known truths turned have a fit of their own, whose results stand in for those of the fit without them.
That one, of all dimensions, knows nothing of the truths, so that every other dimension stays as ratings alone have it.
How known truths that cannot mean what ratings mean are refused is in `fuser`, for items and traces alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unisono.fusers import item_preparation, learned_arrays, standardisation
from unisono.fusers.fusion_results import Annotators, FigureEnds, Fit
from unisono.fusers.item_posteriors import Calibration
from unisono.maths.gold_slope import Slope, slope_of, slope_on
from unisono.maths.items import item_data, item_gold, item_priors
from unisono.maths.items.item_estimates import Predictive
from unisono.maths.items.item_params import ItemParams

if TYPE_CHECKING:
    from unisono.fusers.joint_items import Joint


TURNED = "turned"  # its name in a saved fit


class TurnedFit(NamedTuple):
    """The fit, and which of its dimensions stand in for which of all."""

    fuser: Joint
    dims: np.ndarray  # (s,) of all dimensions, those the fit has
    better: np.ndarray  # (s,) bool, those of them that are taken from it
    missed: np.ndarray  # (s,) root mean square error on known truths that were hidden from it, standardised

    @property
    def places(self) -> np.ndarray:
        """(t,) of all dimensions, those taken from it."""
        return np.asarray(self.dims[self.better])

    @property
    def own(self) -> np.ndarray:
        """(t,) the same among its own."""
        return np.flatnonzero(self.better)

    def everything(self, D: int) -> bool:
        """Whether nothing of the other fit is left."""
        return len(self.places) == D

    def columns(self, whole: np.ndarray, part: np.ndarray) -> np.ndarray:
        """Figures (..., D) with those of the turned dimensions in their places."""
        found = np.array(whole)
        found[..., self.places] = part[..., self.own]
        return found

    def blocks(self, whole: np.ndarray, part: np.ndarray) -> np.ndarray:
        """Matrices (..., D, D) with those of the turned dimensions; between two fits there is nothing."""
        found, t = np.array(whole), self.places
        found[..., t, :] = found[..., :, t] = 0.0
        found[..., t[:, None], t] = part[..., self.own[:, None], self.own]
        return found

    def truths(
        self, mean: np.ndarray, cov: np.ndarray, own_mean: np.ndarray, own_cov: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Truths (M, D) and covariances (M, D, D) with its own in their places."""
        return self.columns(mean, own_mean), self.blocks(cov, own_cov)

    def answers(self, whole: Predictive, part: Predictive) -> Predictive:
        """Predicted answers likewise."""
        mean, variance = self.columns(whole.mean, part.mean), self.columns(whole.variance, part.variance)
        return whole._replace(mean=mean, variance=variance)

    def annotators(self, whole: Annotators, part: Annotators) -> Annotators:
        """The table of annotators; what they are, whatever the model, stays."""
        names = ("bias", "gain", "noise", "reliability", "agreement")
        own: dict[str, Any] = {name: self.columns(getattr(whole, name), getattr(part, name)) for name in names}
        leakage, ends = self.blocks(whole.leakage, part.leakage), self._ends(whole.ends, part.ends)
        return replace(whole, leakage=leakage, ends=ends, **own)

    def _ends(self, whole: FigureEnds | None, part: FigureEnds | None) -> FigureEnds | None:
        """Of the intervals of figures, by name."""
        if whole is None or part is None:
            return None
        return {
            name: (self.columns(low, part[name][0]), self.columns(high, part[name][1]))
            for name, (low, high) in whole.items()
        }

    def params(self, whole: ItemParams, part: ItemParams) -> ItemParams:
        """Parameters of all dimensions."""
        if self.everything(len(whole.mu)):
            return part
        D, own = len(whole.mu), np.append(self.own, len(part.mu))
        rows = np.append(self.places, D)
        B, cov = np.array(whole.B), np.array(whole.cov)
        B[:, self.places], B[:, :, self.places] = 0.0, 0.0
        B[:, self.places[:, None], rows] = part.B[:, self.own[:, None], own]
        cov[:, self.places], cov[:, :, self.places], cov[:, :, :, self.places] = 0.0, 0.0, 0.0
        assert part.cov is not None
        for place, d in zip(self.places, self.own, strict=True):
            cov[:, place, rows[:, None], rows] = part.cov[:, d, own[:, None], own]
        theta, mu = self.columns(whole.theta, part.theta), self.columns(whole.mu, part.mu)
        return ItemParams(B, self.blocks(whole.N, part.N), theta, mu, self.blocks(whole.Sigma, part.Sigma), cov)


def turned_arrays(turned: TurnedFit | None) -> dict[str, np.ndarray]:
    """What a saved fit holds of it."""
    return {} if turned is None else learned_arrays.packed(turned._asdict() | {"fuser": turned.fuser.arrays()}, TURNED)


def restored_turned(fit: Fit, alike: Callable[[], Joint]) -> TurnedFit | None:
    """From a saved fit; `alike` makes an unfitted fuser."""
    own = learned_arrays.inside(fit.arrays, TURNED)
    if not own:
        return None
    names = tuple(fit.dimensions[d] for d in own["dims"])
    part = replace(fit, dimensions=names, arrays=learned_arrays.inside(own, "fuser"))
    return TurnedFit(alike().restore(part), own["dims"], own["better"], own["missed"])


def part_of(given: item_preparation.Prepared, dims: np.ndarray, data: item_data.ItemData) -> item_preparation.Prepared:
    """What a fit of some dimensions works on; `data` are its ratings in standardised units."""
    index = dims.tolist()
    at_ends = None if given.end_answers is None else given.end_answers.of(index)
    return given._replace(
        ratings=given.ratings if len(dims) == given.data.D else given.ratings.select_dimensions(dims),
        scaling=given.scaling.of(index),
        data=data,
        earlier=None,
        scale=given.scale.select(index),
        ends=given.ends.of(index),
        end_answers=at_ends if at_ends is not None and at_ends.any else None,
    )


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


class Blind(NamedTuple):
    """Estimates without known truths."""

    estimate: np.ndarray  # (n, D) of the known items at least
    mean: np.ndarray  # (D,) over all items
    variance: np.ndarray  # (D,)


class KnownLevel(NamedTuple):
    """What known truths say of level and scale; all (D,)."""

    scale: np.ndarray
    offset: np.ndarray
    slopes: tuple[Slope, ...]


def known_level(blind: Blind, known: np.ndarray, turned: TurnedFit | None, *, obeyed: bool) -> KnownLevel:
    """Of known truths (n, D) beside the estimates without them; those that turned a dimension set nothing here.

    Where they cannot mean what ratings mean they are `obeyed` all the same, or not.
    """
    slopes = tuple(_slope(blind.estimate[:, d], known[:, d], d, turned) for d in range(known.shape[1]))
    calibrating = known.copy()
    if turned is not None:
        calibrating[:, turned.places] = np.nan
    direction = np.array([-1.0 if slope.upside_down else 1.0 for slope in slopes])
    alone = np.array([slope.refuted and obeyed for slope in slopes])
    return KnownLevel(*item_gold.level_map(blind.estimate, calibrating, blind.variance, direction, alone), slopes)


def _slope(estimate: np.ndarray, known: np.ndarray, d: int, turned: TurnedFit | None) -> Slope:
    """Of one dimension. Hidden truths that a turned fit foretold well show an odd unit better than estimates do."""
    slope = slope_on(estimate, known)
    if slope.refuted or turned is None or d not in turned.places:
        return slope
    missed = float(turned.missed[turned.dims == d][0])
    foretold = float(np.sqrt(max(1 - missed**2 / np.nanvar(known), 0.0)))
    hidden = slope_of(slope.known, foretold, slope.spread)
    return hidden if hidden.other_unit else slope


def at_known_level(calibration: Calibration, scale: np.ndarray, offset: np.ndarray, n: np.ndarray) -> Calibration:
    """The calibration of truths `scale` (D,) times these plus `offset` (D,), the level of the `n` (D,) known ones.

    What they leave open of the level is the share that stands behind no offset (`level_map`).
    """
    rescaling, level = calibration.rescaling, calibration.level
    open_ = np.sqrt(item_priors.IMAGINARY_ANSWERS / (item_priors.IMAGINARY_ANSWERS + n))
    return calibration._replace(
        rescaling=None if rescaling is None else rescaling.mapped(scale, offset),
        least_variance=calibration.least_variance * scale**2,
        level=None if level is None else level.mapped(scale, offset).left(open_),
    )


def report_gold(
    dimensions: tuple[str, ...],
    known: np.ndarray,
    blind: Blind,
    level: KnownLevel,
    turned: TurnedFit | None,
    params: ItemParams,
    scaling: standardisation.Scaling,
) -> GoldReport:
    """`blind` are the estimates without known truths (n, D), `params` those at the end; standardised units.

    Estimates with known truths among their observations equal these: their error is that on truths which were hidden.
    """
    scale, offset = level.scale, level.offset
    miss = known - (scale * blind.estimate + offset)
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
        offset=((scale - 1) * blind.mean + offset) * scaling.scale,
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
