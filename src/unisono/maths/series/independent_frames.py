"""How many frames of a trace are evidence by themselves: neighbouring frames are nearly copies of each other.

Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.series import priors
from unisono.maths.series.frames import autocorrelations
from unisono.maths.series.parts import Parts
from unisono.maths.series.two_scales import TwoScales


def independent_frames(parts: Parts, scales: list[TwoScales], rate: float, longest: int) -> list[float]:
    """kappa of every dimension, what a frame counts for: EVIDENCE / (1 + 2 sum of squared autocorrelations).

    longest: frames of the longest recording.
    """
    most = int(priors.LONGEST_CORRELATION * rate)  # eq. S36
    return [_share(rho) for rho in mean_autocorrelation(parts, scales, min(most, max(longest - 1, 0)))]


def _share(rho: np.ndarray) -> float:
    low = np.flatnonzero(rho < priors.UNCORRELATED)
    until = int(low[0]) if len(low) else len(rho)
    return float(priors.EVIDENCE / (1.0 + 2.0 * np.sum(rho[1:until] ** 2)))


def mean_autocorrelation(parts: Parts, scales: list[TwoScales], most: int) -> np.ndarray:
    """(D, most + 1) autocorrelation of the courses by lag in frames, averaged over traces by their ratings; missing is
    0."""
    flat, unit = tuple(one.flat for one in scales), tuple(one.unit for one in scales)
    found = np.sum(parts.map(autocorrelations, flat, unit, most + 1), axis=0)
    return np.asarray(found[:, 0] / np.maximum(found[:, 1], 1.0))
