"""What the average annotator, whose scale, level and delay are those of the truth, may be off by.

One part is seen: annotators are a sample of those who might have rated, and they differ. The other part is not: what
all annotators do alike looks like truth. Its size is an assumption, in priors.py, which known signals alone can test:
where annotators use units that differ much, the unit they have in common is as little to be relied on.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.series.bands import Spread
from unisono.maths.series.common_delays import Delays, delay_variance
from unisono.maths.series.default import Settings
from unisono.maths.series.priors import COMMON_DELAY_SD, COMMON_UNIT
from unisono.maths.series.tracer_params import Dimension
from unisono.maths.series.tracers import Tracers
from unisono.maths.series.two_scales import TwoScales

NORMAL = 1.4826  # standard deviations in the median distance from the median


def annotator_sample(found: tuple[Dimension, ...], delays: list[Delays]) -> Spread:
    """Variances of the means of gains, biases and delays, from how these annotators differ (Student's t)."""  # eq. S50
    gain, bias = np.zeros(len(found)), np.zeros(len(found))
    lag = float(np.mean([delay_variance(own).mean() for own in delays]) / len(delays[0].lag))
    for d, (scales, now) in enumerate((f.scales, f.tracers) for f in found):
        gain[d] = _student(int(scales.moving.sum())) * unit_variance(scales, now) / max(int(scales.moving.sum()), 1)
        own, usual = now.bias[scales.present], now.bias_weight[scales.present]
        # What is unknown of each bias is in the levels of recordings; the prior of biases is too narrow for a mean. Of
        # an origin of one's own no more is known than how far the others' are from each other.
        square = float(usual @ own**2 + np.sum(1.0 - usual) * now.tau2) / (len(own) - 1) if len(own) > 1 else now.tau2
        bias[d] = _student(len(own)) * square / max(len(own), 1) * scales.unit**2
    return Spread(gain, bias, np.full(len(found), lag))


def with_common_error(sample: Spread, found: tuple[Dimension, ...], rate: float, s: Settings) -> Spread:
    """Adds what all annotators may do alike: the unit they use, and the delay, unless it is known."""  # eq. S51
    lag = sample.lag if s.lag is not None else sample.lag + (COMMON_DELAY_SD * rate) ** 2
    if s.shared is None:
        between = np.array([unit_variance(f.scales, f.tracers) for f in found])
        return sample._replace(gain=sample.gain + COMMON_UNIT * between, lag=lag)
    return sample._replace(bias=sample.bias + shared_error(found, s.shared), lag=lag)


def unit_variance(scales: TwoScales, now: Tracers) -> float:
    """Of log gains: as estimated, or as far apart as most are, if many have units of their own."""
    away = now.alpha[scales.moving] - np.median(now.alpha[scales.moving]) if scales.moving.any() else np.zeros(1)
    return max(float(now.prior.cov[0, 0]), float(NORMAL * np.median(np.abs(away))) ** 2)


def shared_error(found: tuple[Dimension, ...], share: float) -> np.ndarray:
    """(D,) variance of an error that all annotators make, as a share of the median annotator's."""
    noise = [(f.tracers.noise + f.tracers.level_noise)[f.scales.moving] * f.scales.unit**2 for f in found]
    return share / (1.0 - share) * np.array([float(np.median(own)) if own.size else 0.0 for own in noise])


def _student(n: int) -> float:
    """The spread of few annotators is itself uncertain: variance of Student's t over that of the normal."""
    return (n - 1) / max(n - 3, 1) if n > 1 else 1.0
