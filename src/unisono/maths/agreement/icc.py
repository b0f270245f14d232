"""Intraclass correlations from variance components, for complete and incomplete ratings.

    ICC(A,1) = s2_i / (s2_i + s2_r + s2_e)                 ICC(C,1) = s2_i / (s2_i + s2_e)
    ICC(A,k) = s2_i / (s2_i + (s2_r + s2_e) / k)           ICC(C,k) = s2_i / (s2_i + s2_e / k)
    G(q,k)   = s2_i / (s2_i + q s2_r + s2_e / k)           k = I / sum 1/n_i
    q = 1/k - [sum_r (sum over its units of 1/n_i)^2 - sum_i 1/n_i] / (I (I - 1))

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


class Design(NamedTuple):
    """How ratings are spread over units and raters."""

    k: float  # harmonic mean of the ratings per unit
    q: float  # weight of the variance of raters in the error of a unit's mean


class IccDraws(NamedTuple):
    """Figures for every row of weights, (B,) each."""

    icc: dict[str, np.ndarray]  # by the names above
    components: Components
    sem: np.ndarray  # standard error of measurement of a single rating, in rating units
    sem_mean: np.ndarray  # of the mean of a unit's ratings

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
    absolute, consistent = found.rater + found.residual, found.residual
    mean_error = design.q * found.rater + found.residual / design.k
    if data.R == data.n > data.I:
        # Nobody rated twice: raters and the rest cannot be told apart, but their sum can.
        found = Components(one_way.unit, found.rater, found.residual)
        absolute, mean_error = one_way.within, one_way.within / design.k
    return IccDraws(
        _correlations(found, one_way, absolute, consistent, mean_error, design.k),
        found,
        np.sqrt(np.maximum(absolute, 0.0)),
        np.sqrt(np.maximum(mean_error, 0.0)),
    )


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
