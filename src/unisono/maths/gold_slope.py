"""Whether known truths mean what ratings mean: their slope on the truth that ratings alone give, with its interval.

    s = sd(g) / sd(x),  r = cor(g, x) over n known truths g and estimates x,  slope r s
    interval s (r -+ w),  w = t sqrt((1 - r^2) / (n - 2)),  t of Student's distribution with n - 2           eq. B31

Known truths of the same unit and direction have a slope near 1, and errors in the estimates make it smaller: the true
slope lies between r s and s / r. So known truths run the other way where the interval is below 0, and are in another
unit where both ends, r s and s / r, are beyond a factor for all r inside its interval. A constant has no slope, and
nothing is said of it; nor of known truths that have nothing to do with the ratings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

CERTAIN = 0.99  # convention: probability of the interval; a wrong refusal costs a call, once in two hundred dimensions
OTHER_UNIT = 3.0  # convention: annotators who use half the scale or twice of it are usual, a third of it is not
FEWEST_KNOWN = 3  # numerical: known truths that a slope with an interval takes


class Slope(NamedTuple):
    """Of known truths on estimates; NaN where it cannot be told."""

    known: int  # truths
    correlation: float
    width: float  # w, of the correlation
    spread: float  # s, known truths over estimates

    @property
    def value(self) -> float:
        return self.correlation * self.spread

    @property
    def low(self) -> float:
        return self.spread * (self.correlation - self.width)

    @property
    def high(self) -> float:
        return self.spread * (self.correlation + self.width)

    @property
    def upside_down(self) -> bool:
        """Known truths clearly fall where estimates rise."""
        return bool(self.correlation + self.width < 0)

    @property
    def other_unit(self) -> bool:
        """A step of known truths is clearly not a step of the ratings."""
        least = abs(self.correlation) - self.width
        return bool(least * max(self.spread, 1 / self.spread if self.spread > 0 else 0.0) > OTHER_UNIT)

    @property
    def refuted(self) -> bool:
        """They cannot mean what the ratings mean."""
        return self.upside_down or self.other_unit


def slope_on(found: np.ndarray, gold: np.ndarray, independent: float | None = None) -> Slope:
    """The slope of known truths (n,) on estimates (n,), both NaN where not known.

    `independent`: how many known truths count, where neighbours tell much the same.
    """
    seen = ~np.isnan(gold) & ~np.isnan(found)
    x, g = found[seen], gold[seen]
    if len(g) < FEWEST_KNOWN or np.ptp(x) == 0 or np.ptp(g) == 0:
        return Slope(len(g), np.nan, np.nan, np.nan)
    r = float(np.corrcoef(x, g)[0, 1])
    return slope_of(len(g), r, float(g.std() / x.std()), independent)


def slope_of(known: int, correlation: float, spread: float, independent: float | None = None) -> Slope:
    """The slope of known truths with this correlation and relative spread.                               eq. B31"""
    freedom = (known if independent is None else independent) - 2
    if not freedom > 0:
        return Slope(known, correlation, np.inf, spread)
    t = float(stdtrit(freedom, 0.5 + CERTAIN / 2))
    return Slope(known, correlation, t * float(np.sqrt(max(1 - correlation**2, 0.0) / freedom)), spread)
