"""The most probable annotators of one dimension, by steps that never lower the objective.

What a search left open is held: expected signs, how well rows are known, and the greatest weight anybody may have. One
annotator at a time then takes the most probable row and bias given all others; what they have in common goes as far
along its EM step as the objective rises. Steps of EM are short where little is known, so that a step that paid is
lengthened the next time.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series import priors
from unisono.maths.series.row_evidence import most_probable_row, row_prior
from unisono.maths.series.strata import Placed
from unisono.maths.series.tracer_population import objective, population, typical
from unisono.maths.series.tracer_search import with_bias
from unisono.maths.series.tracers import Sums, Tracers
from unisono.maths.series.two_scales import TwoScales

LENGTHENED = 1.5  # times the step of EM before, where it paid
LONGEST = 20.0  # steps of EM in one
LEAST_SHARE = 1e-3  # of a step of EM: where it does not rise, there is nothing to gain
LEAST_SIGN = 1e-3  # of an expected sign; below it, its square would be lost beside 1


class Climb(NamedTuple):
    tracers: Tracers
    least: float  # of log noise less twice the log gain: nobody counts for more
    stride: float  # steps of EM to try


def set_out(scales: TwoScales, now: Tracers) -> Climb:
    """From where a search ended."""
    least = np.sqrt(LEAST_SIGN)
    sign = np.where(np.abs(now.sign) < least, np.where(now.sign < 0, -least, least), now.sign)
    now = now._replace(related=np.maximum(now.related, least))
    if not scales.moving.any():
        return Climb(now._replace(sign=sign), -np.inf, 1.0)
    relative = (now.beta - 2.0 * now.alpha)[scales.moving]
    least = min(float(np.median(relative)) - np.log(priors.MOST_WEIGHT), float(relative.min()))
    return Climb(now._replace(sign=sign), least, 1.0)


def climb(scales: TwoScales, place: Placed, kappa: float, at: Climb) -> tuple[Climb, float]:
    """Every annotator once, then the population; and the objective of what it was given."""  # eq. S38
    now, sums = at.tracers, Sums(scales, place, at.tracers)
    value = objective(scales, place, kappa, now)
    for k in scales.raters:
        strata = sums.without(k, kappa, hesitant=True)
        if not scales.flat[k]:
            start = np.array([now.alpha[k], now.beta[k]])
            row = most_probable_row(strata, start, float(now.follows[k]), now.prior, at.least, now.cov[k]).at
            alpha, beta = now.alpha.copy(), now.beta.copy()
            alpha[k], beta[k] = row
            now = now._replace(alpha=alpha, beta=beta)
        held = now.bias_variance
        now = with_bias(now, k, sums)._replace(bias_variance=held)
        sums.replace(k, now)
    return _common(scales, place, kappa, at._replace(tracers=now)), value


def arrived(scales: TwoScales, at: Climb) -> Tracers:
    """The end of a climb in the unit of the truth: typical log gain 0, which the likelihood does not see."""
    now = at.tracers
    shift = float(typical(now, scales.moving)[0])
    alpha = np.where(scales.moving, now.alpha - shift, now.alpha)
    return now._replace(alpha=alpha, A=now.A * np.exp(2.0 * shift), AB=now.AB * np.exp(2.0 * shift))


def _common(scales: TwoScales, place: Placed, kappa: float, at: Climb) -> Climb:
    """The population, as far along its EM step as the objective rises."""
    now = at.tracers
    before, there = objective(scales, place, kappa, now), population(scales, place, kappa, now)
    shift = float(np.mean((now.alpha - there.alpha)[scales.moving])) if scales.moving.any() else 0.0
    share = at.stride
    while share > LEAST_SHARE:
        new = _between(now, there, shift, share)
        if objective(scales, place, kappa, new) >= before:
            return Climb(new, at.least + 2.0 * min(share, 1.0) * shift, min(share * LENGTHENED, LONGEST))
        share = 1.0 if share > 1.0 else 0.5 * share
    return at._replace(stride=1.0)


def _between(now: Tracers, there: Tracers, shift: float, share: float) -> Tracers:
    """So many steps from here to there, variances on logarithmic scales; nothing else goes further than there.

    shift: of every log gain, which the variances of the truth take up.
    """
    less = min(share, 1.0)

    def between(a: float, b: float, units: float = 0.0) -> float:
        return float(a * np.exp(share * (np.log(b / a) - 2.0 * units) + 2.0 * less * units))

    def towards(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.asarray(a + less * (b - a))

    return now._replace(
        alpha=towards(now.alpha, there.alpha),
        beta=towards(now.beta, there.beta),
        A=between(now.A, there.A, shift),
        AB=between(now.AB, there.AB, shift),
        eta=float(np.clip(between(now.eta, there.eta), priors.LEAST_LEVEL_ERROR, priors.MOST_LEVEL_ERROR)),
        tau2=between(now.tau2, there.tau2),
        prior=row_prior(towards(now.prior.mean, there.prior.mean), towards(now.prior.cov, there.prior.cov)),
    )
