"""Intraclass correlations from variance components, for complete and incomplete ratings.

    ICC(A,1) = s2_i / (s2_i + s2_r + s2_e)                 ICC(C,1) = s2_i / (s2_i + s2_e)
    ICC(A,k) = s2_i / (s2_i + (s2_r + s2_e) / k)           ICC(C,k) = s2_i / (s2_i + s2_e / k)
    G(q,k)   = s2_i / (s2_i + q s2_r + s2_e / k)           k = I / sum 1/n_i
    q = 1/k - [sum_r (sum over its units of 1/n_i)^2 - sum_i 1/n_i] / (I (I - 1))

Raters are a sample of those who might have rated (`other_raters`). Their mean ratings vary by M_r = s2_r + s2_e / n_r,
and nu M_r over its expectation is a chi-squared variable, so that what s2_r may be is drawn from

    s2_r* = M_r nu / chi2(nu) - s2_e / n_r        R' = n^2 / sum n_r^2,  nu = R' - 1,  n_r = n / R'

(the pivot of Weerahandi's generalised intervals; exact where everybody rated everything.)

q is 0 where all units share their raters and 1/k where none do (Putka et al. 2008). A negative variance of units is
kept, as in the analysis of variance; a negative variance of error counts as none, so that nothing exceeds 1.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.agreement.bootstrap import Blocks
from unisono.maths.agreement.coded import Coded, sums_by
from unisono.maths.agreement.variance_components import (
    Components,
    OneWay,
    one_way_components,
    variance_components,
)

# Names of McGraw and Wong (1996), and of Shrout and Fleiss (1979) for the same figure.
NAMES = {
    "ICC(1)": "ICC(1,1)",
    "ICC(k)": "ICC(1,k)",
    "ICC(A,1)": "ICC(2,1)",
    "ICC(A,k)": "ICC(2,k)",
    "ICC(C,1)": "ICC(3,1)",
    "ICC(C,k)": "ICC(3,k)",
    "G(q,k)": "",
}


LEAST_CHI2 = 1e-9  # numerical: of a chi-squared variable that something is divided by


class Design(NamedTuple):
    """How ratings are spread over units and raters."""

    k: float  # harmonic mean of the ratings per unit
    q: float  # weight of the variance of raters in the error of a unit's mean


class IccDraws(NamedTuple):
    """Figures for every row of weights, (B,) each."""

    icc: dict[str, np.ndarray]  # by the names above
    components: Components
    one_way: OneWay
    absolute: np.ndarray  # error variance of a single rating
    mean_error: np.ndarray  # and of the mean of a unit's ratings
    sem: np.ndarray  # standard error of measurement of a single rating, in rating units
    sem_mean: np.ndarray  # of the mean of a unit's ratings

    def with_raters(self, rater: np.ndarray, design: Design) -> IccDraws:
        """The same for raters of another variance (B,)."""
        more = rater - self.components.rater
        absolute = self.absolute + more
        mean_error = self.mean_error + design.q * more
        return _icc_draws(
            self.components._replace(rater=rater),
            self.one_way._replace(within=self.one_way.within + more),
            absolute,
            mean_error,
            design,
        )

    @property
    def truncated(self) -> np.ndarray:
        """(B,) whether a variance of error was estimated below zero, beyond rounding, and counts as none."""
        least = np.minimum(self.components.residual, self.components.rater + self.components.residual)
        return np.asarray(least < -1e-9 * np.abs(self.components.unit))


def design_of(data: Coded) -> Design:
    """The design of the ratings at hand."""
    if not data.I:
        return Design(float("nan"), float("nan"))
    share = 1 / data.per_unit
    k = data.I / float(share.sum())
    shared = float(np.sum(sums_by(data.rater, share[data.unit], data.R) ** 2) - share.sum())
    q = 1 / k - (shared / (data.I * (data.I - 1)) if data.I > 1 else 0.0)
    return Design(k, max(q, 0.0))


def icc_draws(data: Coded, design: Design, blocks: Blocks | None = None, W: np.ndarray | None = None) -> IccDraws:
    """All intraclass correlations for weights W (B, G) of blocks; by default for the ratings as they are."""
    found, one_way = variance_components(data, blocks, W), one_way_components(data, blocks, W)
    absolute = found.rater + found.residual
    mean_error = design.q * found.rater + found.residual / design.k
    if data.R == data.n > data.I:
        # Nobody rated twice: raters and the rest cannot be told apart, but their sum can.
        found = Components(one_way.unit, found.rater, found.residual)
        absolute, mean_error = one_way.within, one_way.within / design.k
    return _icc_draws(found, one_way, absolute, mean_error, design)


def _icc_draws(
    found: Components, one_way: OneWay, absolute: np.ndarray, mean_error: np.ndarray, design: Design
) -> IccDraws:
    return IccDraws(
        _correlations(found, one_way, absolute, found.residual, mean_error, design.k),
        found,
        one_way,
        absolute,
        mean_error,
        np.sqrt(np.maximum(absolute, 0.0)),
        np.sqrt(np.maximum(mean_error, 0.0)),
    )


def other_raters(data: Coded, rater: np.ndarray, residual: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Variances (B, ...) of raters as other raters may show them; `chance` (B,) is from `chance_of_raters`.

    Where raters and the rest cannot be told apart, or there is one rater, the variance stays as it is.
    """
    effective = _effective_raters(data)
    if effective <= 1 or data.n == data.R:
        return rater
    noise = residual * (effective / data.n)
    factor = chance.reshape(-1, *[1] * (rater.ndim - 1))
    return np.asarray((rater + noise) * factor - noise)


def chance_of_raters(data: Coded, rows: int, drawn: slice, rng: np.random.Generator) -> np.ndarray:
    """(rows,) nu / chi2(nu) for the rows that are draws, 1 for the others."""
    chance, freedom = np.ones(rows), _effective_raters(data) - 1
    count = len(chance[drawn])
    if freedom > 0 and count:
        # Tiny values would only make infinite what is enormous already.
        chance[drawn] = freedom / np.maximum(rng.chisquare(freedom, size=count), LEAST_CHI2)
    return chance


def _effective_raters(data: Coded) -> float:
    """As many equally busy ones would know as much of the variance between raters."""
    return float(data.n**2 / np.sum(data.per_rater.astype(float) ** 2)) if data.n else 0.0


def _correlations(
    found: Components,
    one_way: OneWay,
    absolute: np.ndarray,
    consistent: np.ndarray,
    mean_error: np.ndarray,
    k: float,
) -> dict[str, np.ndarray]:
    return {
        "ICC(1)": share_of(one_way.unit, one_way.within),
        "ICC(k)": share_of(one_way.unit, one_way.within / k),
        "ICC(A,1)": share_of(found.unit, absolute),
        "ICC(A,k)": share_of(found.unit, absolute / k),
        "ICC(C,1)": share_of(found.unit, consistent),
        "ICC(C,k)": share_of(found.unit, consistent / k),
        "G(q,k)": share_of(found.unit, mean_error),
    }


def share_of(part: np.ndarray, error: np.ndarray) -> np.ndarray:
    """part / (part + error), never above 1; NaN where nothing varies."""
    whole = part + np.maximum(error, 0.0)
    return np.asarray(np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan))
