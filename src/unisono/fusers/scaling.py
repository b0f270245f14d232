"""Units: ratings as people gave them, and ratings with pooled mean 0 and standard deviation 1 per dimension.

Truth and ratings share their units, so one location and one scale per dimension carry everything there and back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.data.scale import Ends, Scale
from unisono.maths.standardise import pooled_moments

DUST = 1e-12  # of the common unit: nothing that anybody answered


class Scaling(NamedTuple):
    """y = loc + scale * z."""

    loc: np.ndarray  # (D,)
    scale: np.ndarray  # (D,)

    def standardise(self, value: np.ndarray) -> np.ndarray:
        return np.asarray((value - self.loc) / self.scale)

    def restore_mean(self, mean: np.ndarray) -> np.ndarray:
        return np.asarray(self.loc + self.scale * mean)

    def restore_cov(self, cov: np.ndarray) -> np.ndarray:
        return np.asarray(cov * self.scale[:, None] * self.scale)

    def restore_matrix(self, F: np.ndarray) -> np.ndarray:
        """F (..., D, D) between standardised units as a matrix between the original ones."""
        return np.asarray(F * self.scale[:, None] / self.scale)


def identity_scaling(D: int) -> Scaling:
    return Scaling(np.zeros(D), np.ones(D))


def pooled_scaling(value: np.ndarray) -> Scaling:
    """Mean and standard deviation of all ratings (J, D) of each dimension."""
    return Scaling(*pooled_moments(value))


def common_scaling(value: np.ndarray) -> Scaling:
    """One scale for all dimensions and no shift: the only change of units that the paper's model is invariant to."""
    D = value.shape[1]
    seen = value[~np.isnan(value)]
    largest = float(np.abs(seen).max()) if len(seen) else 0.0
    scale = largest * float(np.sqrt(np.mean((seen / largest) ** 2))) if largest > 0 else 1.0
    return Scaling(np.zeros(D), np.full(D, scale))


def without_dust(standardised: np.ndarray) -> np.ndarray:
    """Ratings in a common unit, where those of a dimension may be so small that their squares vanish: they are zero."""
    return np.asarray(np.where(np.abs(standardised) < DUST, 0.0, standardised))


def scale_arrays(scale: Scale) -> dict[str, np.ndarray]:
    """The scale of the answers as a fit saves it."""
    return {"answers_low": scale.low, "answers_high": scale.high, "answers_given": np.array(scale.given)}


def restored_scale(arrays: dict[str, np.ndarray], D: int) -> Scale:
    """The scale of a saved fit; none in fits of older versions."""
    if "answers_low" not in arrays:
        return Scale.none(D)
    pairs = zip(arrays["answers_low"].tolist(), arrays["answers_high"].tolist(), strict=True)
    ends: list[Ends | None] = [None if np.isinf(pair).all() else pair for pair in pairs]
    return Scale(tuple(ends), tuple(arrays["answers_given"].tolist()))
