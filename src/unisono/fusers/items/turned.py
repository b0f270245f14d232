"""Dimensions that known truths turned: a fit of their own, whose results stand in for those of the fit without them.

The fit of all dimensions knows nothing of the truths, so that every other dimension stays as ratings alone have it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unisono.fusers.items.prepared import Prepared
from unisono.fusers.results import Annotators, Fit
from unisono.maths.items.data import ItemData
from unisono.maths.items.params import ItemParams
from unisono.maths.items.predictive import Predictive

if TYPE_CHECKING:
    from unisono.fusers.items.joint import Joint


PREFIX = "turned_"  # of its arrays in a saved fit


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
        return replace(
            whole,
            bias=self.columns(whole.bias, part.bias),
            gain=self.columns(whole.gain, part.gain),
            leakage=self.blocks(whole.leakage, part.leakage),
            noise=self.columns(whole.noise, part.noise),
            reliability=self.columns(whole.reliability, part.reliability),
            agreement=self.columns(whole.agreement, part.agreement),
        )

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
    if turned is None:
        return {}
    own = turned.fuser.arrays() | {"dims": turned.dims, "better": turned.better, "missed": turned.missed}
    return {f"{PREFIX}{name}": value for name, value in own.items()}


def restored_turned(fit: Fit, alike: Callable[[], Joint]) -> TurnedFit | None:
    """From a saved fit; `alike` makes an unfitted fuser."""
    own = {name.removeprefix(PREFIX): value for name, value in fit.arrays.items() if name.startswith(PREFIX)}
    if not own:
        return None
    dims = own.pop("dims")
    part = replace(fit, dimensions=tuple(fit.dimensions[d] for d in dims), arrays=own)
    return TurnedFit(alike().restore(part), dims, own.pop("better").astype(bool), own.pop("missed"))


def part_of(given: Prepared, dims: np.ndarray, data: ItemData) -> Prepared:
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
