"""How many frames of a trace are evidence by themselves: neighbouring frames are nearly copies of each other.

Imports NumPy, SciPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np
from scipy import fft

from unisono.maths.series.priors import EVIDENCE, LONGEST_CORRELATION, UNCORRELATED
from unisono.maths.series.two_scales import TwoScales


def independent_frames(scales: TwoScales, rate: float) -> float:
    """kappa, what a frame counts for: EVIDENCE / (1 + 2 sum of the squared autocorrelations of the courses)."""
    rho = mean_autocorrelation(scales, int(LONGEST_CORRELATION * rate))  # eq. S36
    low = np.flatnonzero(rho < UNCORRELATED)
    until = int(low[0]) if len(low) else len(rho)
    return float(EVIDENCE / (1.0 + 2.0 * np.sum(rho[1:until] ** 2)))


def mean_autocorrelation(scales: TwoScales, most: int) -> np.ndarray:
    """(n,) autocorrelation of the courses by lag in frames, averaged over traces by their ratings; missing is 0."""
    length = np.diff(scales.first)[scales.recording_of]
    n = min(most, max(int(length.max(initial=1)) - 1, 0)) + 1
    total, weight = np.zeros(n), np.zeros(n)
    begin = np.searchsorted(scales.judgement, np.arange(len(length) + 1))
    for j in np.flatnonzero(~scales.flat[scales.annotator_of]).tolist():
        own = slice(begin[j], begin[j + 1])
        course = np.zeros(int(length[j]))
        course[scales.frame[own]] = scales.course[own]
        square = float(course @ course)
        if square > 0:
            size = fft.next_fast_len(2 * len(course), real=True)
            rho = fft.irfft(np.abs(fft.rfft(course, size)) ** 2, size)[: min(n, len(course))] / square
            given = begin[j + 1] - begin[j]
            total[: len(rho)] += given * rho
            weight[: len(rho)] += given
    return np.asarray(total / np.maximum(weight, 1.0))
