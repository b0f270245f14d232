"""Units of groups: those of the reference, unless a group answers on another scale altogether.

The reference's mean is 0; one standard deviation within groups is 1. A group whose answers spread three times as much,
or a third, rates in units of its own (0 to 100 beside 1 to 7) and is standardised by itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.fusers.scaling import Scaling, pooled_scaling

OTHER_UNITS = 3.0  # convention: ratio of typical spreads from which two groups do not use the same scale


class GroupUnits(NamedTuple):
    """y = loc + scale * z for the ratings of each group; those of group 0 are the truth's."""

    loc: np.ndarray  # (G, D)
    scale: np.ndarray  # (G, D)

    @property
    def truth(self) -> Scaling:
        """The units of the truth."""
        return Scaling(self.loc[0], self.scale[0])

    @property
    def own(self) -> list[bool]:
        """Whether each group has units of its own."""
        return [bool((self.scale[g] != self.scale[0]).any()) for g in range(len(self.loc))]

    def standardise(self, value: np.ndarray, of_group: np.ndarray) -> np.ndarray:
        """(J, D) ratings by members of the groups `of_group` (J,)."""
        return np.asarray((value - self.loc[of_group]) / self.scale[of_group])


def group_units(value: np.ndarray, of_group: np.ndarray, G: int) -> GroupUnits:
    """Units of ratings (J, D), NaN where missing, by members of the groups `of_group` (J,)."""
    each = [pooled_scaling(value[of_group == g]) for g in range(G)]
    spread = np.stack([part.scale for part in each])
    seen = ~np.isnan(value)
    counts = np.stack([seen[of_group == g].sum(axis=0) for g in range(G)])
    relative = np.where((counts > 0) & (counts[0] > 0), spread / spread[0], 1.0)
    ratio = np.median(relative, axis=1)
    alike = ((ratio < OTHER_UNITS) & (ratio > 1 / OTHER_UNITS))[:, None]
    weight = counts * alike
    within = np.sqrt((weight * relative**2).sum(axis=0) / np.maximum(weight.sum(axis=0), 1))
    scale = spread[0] * np.where(within > 0, within, 1.0)
    loc = np.stack([part.loc for part in each])
    return GroupUnits(np.where(alike, loc[0], loc), np.where(alike, scale, spread))
