"""What is expected of every kind of annotators before their labels are seen: several possibilities to choose among."""

from __future__ import annotations

import numpy as np

from unisono.data.kinds import Division
from unisono.fusers.groups.units import GroupUnits
from unisono.maths.groups.priors import JUDGES, MANY_LABELS, PEOPLE, REFERENCE, KindPrior


def expectations(
    division: Division, units: GroupUnits, shared: float | None, shares: np.ndarray | None, labelled: int
) -> list[list[KindPrior]]:
    """Lists of what is expected of each group; labels choose where there is more than one.

    One share for all (`shared`), one for each group (`shares`), no reference, or so many labels that expectations do
    not matter: nothing is left to choose.
    """
    usual = [_usual(machine, own) for machine, own in zip(division.machines, units.own, strict=True)]
    if shared is not None:
        usual = [kind._replace(shared=shared) for kind in usual]
    if shares is not None:
        usual = [kind._replace(shared=float(share)) for kind, share in zip(usual, shares, strict=True)]
    if not division.reference:
        return [usual]
    usual[0] = REFERENCE
    if shared is not None or shares is not None or labelled >= MANY_LABELS:
        return [usual]
    return [
        [kind._replace(shared=share) for kind, share in zip(usual, each, strict=True)]
        for each in zip(*(kind.tried for kind in usual), strict=True)
    ]


def _usual(machine: bool, own_units: bool) -> KindPrior:
    """People are expected to be like the reference, unless they answer on another scale."""
    if machine:
        return JUDGES
    if own_units:
        return PEOPLE._replace(map_items=JUDGES.map_items, level_items=JUDGES.level_items)
    return PEOPLE
