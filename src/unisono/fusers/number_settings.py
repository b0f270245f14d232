"""Settings that are numbers: which values make sense, whatever the ratings are, and the way out where one does not.

A fuser declares its own in `numbers`, by name; what is no number, not a finite one or out of its range is a
SettingsError before anything is read. Where the default is None, None is a setting that was left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np

from unisono.errors import SettingsError


class Number(NamedTuple):
    """Values that a setting takes: finite ones from `least` on, below `below`, and some others."""

    give: str  # the way out: goes on "lag=-1: give"
    least: float = 0.0
    below: float = np.inf
    with_least: bool = True  # is least itself a value?
    whole: bool = False
    others: tuple[object, ...] = ()  # values beside them: words, or -1 for one per core

    def fits(self, value: object) -> bool:
        if isinstance(value, bool | np.bool_) or not isinstance(value, str | Integral if self.whole else str | Real):
            return False
        if isinstance(value, str) or value in self.others:
            return value in self.others
        number = float(value)
        above = number >= self.least if self.with_least else number > self.least
        return above and number < self.below  # NaN is neither, infinity not below


TOLERANCE = Number("give a relative change from 0 on, or leave it out")
ITERATIONS = Number("give a whole number from 1 on, or leave it out", least=1, whole=True)
SEED = Number("give a whole number from 0 on", whole=True)
JOBS = Number("give the number of processes, or -1 for one per core", least=1, whole=True, others=(-1,))


def require_numbers(
    settings: Mapping[str, object], defaults: Mapping[str, object], numbers: Mapping[str, Number]
) -> None:
    """Raises a SettingsError for the first setting that is none of the values it takes."""
    for name, number in numbers.items():
        value = settings[name]
        left_out = value is None and defaults[name] is None
        if not left_out and not number.fits(value):
            shown = value.item() if isinstance(value, np.generic) else value
            raise SettingsError(f"{name}={shown!r}: {number.give}.")
