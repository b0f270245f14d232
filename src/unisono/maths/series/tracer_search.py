"""A first look at the annotators of one dimension, by sweeps: who is turned round, who is typical, how far they differ.

One annotator at a time takes the most probable row given all others, of either sign; in between, EM updates what they
have in common. Signs are weighed anew in every sweep and may hesitate for ever, so that a search ends after a number of
sweeps; `tracer_climb` goes on from there, with signs held.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.series import priors
from unisono.maths.series.row_evidence import RowPosterior, Strata, most_probable_row
from unisono.maths.series.strata import Placed
from unisono.maths.series.tracer_population import population
from unisono.maths.series.tracers import Sums, Tracers
from unisono.maths.series.two_scales import TwoScales

DECIDED = 20.0  # log odds of a sign from which the other one is not tried again


def sweep(scales: TwoScales, place: Placed, kappa: float, now: Tracers) -> Tracers:
    """Every annotator once, then the population."""
    sums = Sums(scales, place, now)
    for k in np.flatnonzero(scales.present).tolist():
        strata = sums.without(k, kappa)
        if not scales.flat[k]:
            now = with_row(now, k, strata)
        now = with_bias(now, k, sums)
        sums.replace(k, now)
    return population(scales, place, kappa, capped(now, scales.moving))


def with_row(now: Tracers, k: int, strata: Strata) -> Tracers:
    """The most probable row of annotator k, under the more probable sign."""  # eq. S38
    sign = 1.0 if now.sign[k] >= 0 else -1.0
    here = most_probable_row(strata, np.array([now.alpha[k], now.beta[k]]), sign, now.prior)
    if abs(now.odds[k]) > DECIDED:
        return _with(now, k, here, now.odds[k], now.sign[k], now.other[k])
    there = most_probable_row(strata, now.other[k], -sign, now.prior)
    up, down = (here, there) if sign > 0 else (there, here)
    odds = up.log_evidence - down.log_evidence + np.log(1.0 - priors.REVERSED) - np.log(priors.REVERSED)
    best, rest = (up, down) if odds >= 0 else (down, up)
    return _with(now, k, best, odds, float(np.tanh(0.5 * odds)), rest.at)


def _with(now: Tracers, k: int, row: RowPosterior, odds: float, sign: float, other: np.ndarray) -> Tracers:
    new = {name: getattr(now, name).copy() for name in ("alpha", "beta", "sign", "odds", "other", "cov")}
    new["alpha"][k], new["beta"][k] = row.at
    new["cov"][k], new["odds"][k], new["sign"][k], new["other"][k] = row.cov, odds, sign, other
    return now._replace(**new)


def with_bias(now: Tracers, k: int, sums: Sums) -> Tracers:
    """The most probable bias of annotator k, who is out of the sums: exact, the levels of the truth integrated out."""
    level, mean, variance = sums.levels(k)
    weight = 1.0 / (now.gain[k] ** 2 * variance + now.level_noise[k])
    new = {name: getattr(now, name).copy() for name in ("bias", "bias_variance")}
    new["bias_variance"][k] = 1.0 / (weight.sum() + 1.0 / now.tau2)
    new["bias"][k] = new["bias_variance"][k] * float(weight @ (level - now.gain[k] * mean))
    return now._replace(**new)


def capped(now: Tracers, moving: np.ndarray) -> Tracers:
    """Nobody counts for more than MOST_WEIGHT typical annotators."""
    if not moving.any():
        return now
    typical = float(np.median((now.beta - 2.0 * now.alpha)[moving]))
    least = 2.0 * now.alpha + typical - np.log(priors.MOST_WEIGHT)
    return now._replace(beta=np.where(moving, np.maximum(now.beta, least), now.beta))
