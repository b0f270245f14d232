"""A first look at the annotators of one dimension, by sweeps: who is turned round, who is typical, how far they differ.

One annotator at a time takes the most probable row given all others, of either sign; in between, EM updates what they
have in common. Signs are weighed anew in every sweep and may hesitate for ever, so that a search ends after a number of
sweeps; `tracer_climb` goes on from there, with signs held.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series import priors
from unisono.maths.series.row_evidence import RowPosterior, Strata, most_probable_row, noise_evidence
from unisono.maths.series.strata import Placed
from unisono.maths.series.tracer_population import population
from unisono.maths.series.tracers import Sums, Tracers, weigh_biases
from unisono.maths.series.two_scales import TwoScales

DECIDED = 20.0  # log odds of a sign from which the other one is not tried again


class Side(NamedTuple):
    """What is most probable of an annotator, if the sign of their row is this one."""

    row: RowPosterior
    bias: float
    log_evidence: float  # biases integrated out


class Look(NamedTuple):
    """What is said of one annotator, given all others."""

    likely: Side
    other: np.ndarray  # (3,) row and bias of the less probable sign
    odds: float  # log odds of not being reversed
    related: float  # probability of following anything


def sweep(scales: TwoScales, place: Placed, kappa: float, now: Tracers) -> Tracers:
    """Every annotator once, then the population.

    Who follows nothing is known only when everybody has been looked at, and half the way is gone: of two who do not
    agree, nobody knows which of them it is.
    """
    sums, least = Sums(scales, place, now), greatest_weight(now, scales.moving)
    for k in scales.raters:
        if scales.flat[k]:
            sums.without(k, kappa)
        else:
            now = with_row(now, k, looked_at(now, k, sums, kappa, least))
        now = with_bias(now, k, sums)
        sums.replace(k, now)
    now = now._replace(related=0.5 * (now.related + now.seen))
    return population(scales, place, kappa, capped(now, scales.moving))


def looked_at(now: Tracers, k: int, sums: Sums, kappa: float, least: float = -np.inf) -> Look:
    """Annotator k, out of the sums from now on, under either sign and none.

    least: of log noise less twice the log gain.
    """  # eq. S38, S45
    strata, sign = sums.without(k, kappa), 1.0 if now.sign[k] >= 0 else -1.0
    start = np.array([now.alpha[k], now.beta[k], now.bias[k]])
    here = _side(now, k, sums, strata, start, sign, least)
    there, odds, other = here, float(now.odds[k]), now.other[k]
    if abs(odds) <= DECIDED:
        there = _side(now, k, sums, strata, other, -sign, least)
        odds = sign * (here.log_evidence - there.log_evidence) + np.log(1.0 - priors.REVERSED) - np.log(priors.REVERSED)
        here, there = (here, there) if (odds >= 0) == (sign > 0) else (there, here)
        other = np.append(there.row.at, there.bias)
    likely = np.log(1.0 - priors.REVERSED if odds >= 0 else priors.REVERSED) + np.log1p(np.exp(-abs(odds)))
    bias, log_bias = _bias(now, k, sums, 0.0, float(np.exp(now.prior.mean[1]) + now.A), 0.0)
    none = noise_evidence(sums.at_bias(strata, k, bias), now.prior, now.A) + log_bias
    nothing = none - here.log_evidence - likely + np.log(priors.UNRELATED) - np.log1p(-priors.UNRELATED)
    return Look(here, other, odds, float(1.0 / (1.0 + np.exp(np.clip(nothing, -700, 700)))))


def _side(now: Tracers, k: int, sums: Sums, strata: Strata, start: np.ndarray, sign: float, least: float) -> Side:
    """The bias of a row to start from, then the row."""
    bias, log_bias = _bias(now, k, sums, sign * np.exp(start[0]), np.exp(start[1]), float(start[2]))
    row = most_probable_row(sums.at_bias(strata, k, bias), start[:2], sign, now.prior, least)
    return Side(row, bias, row.log_evidence + log_bias)


def _bias(now: Tracers, k: int, sums: Sums, gain: float, s2: float, before: float) -> tuple[float, float]:
    """The most probable bias of this row, and what it adds to the log evidence, by Laplace."""
    level, mean, variance = sums.levels(k)
    weight = 1.0 / (gain**2 * variance + now.eta * s2)
    usual = weigh_biases(np.array(before**2 + now.bias_variance[k]), now.tau2)[1]
    precision = float(weight.sum() + usual / now.tau2)
    bias = float(weight @ (level - gain * mean)) / precision
    return bias, float(weigh_biases(np.array(bias**2), now.tau2)[0]) - 0.5 * np.log(precision)


def with_row(now: Tracers, k: int, look: Look) -> Tracers:
    """Annotator k with the row of the more probable sign."""
    changed = ("alpha", "beta", "bias", "sign", "odds", "other", "cov", "seen")
    new = {name: getattr(now, name).copy() for name in changed}
    new["alpha"][k], new["beta"][k] = look.likely.row.at
    new["bias"][k], new["cov"][k], new["other"][k] = look.likely.bias, look.likely.row.cov, look.other
    new["odds"][k], new["seen"][k] = look.odds, look.related
    if abs(now.odds[k]) <= DECIDED:
        new["sign"][k] = np.tanh(0.5 * look.odds)
    return now._replace(**new)


def with_bias(now: Tracers, k: int, sums: Sums) -> Tracers:
    """A more probable bias of annotator k, who is out of the sums: exact, the levels of the truth integrated out, by
    EM for whether the origin is one of their own."""
    level, mean, variance = sums.levels(k)
    weight = 1.0 / (now.gain[k] ** 2 * variance + now.level_noise[k])
    new = {name: getattr(now, name).copy() for name in ("bias", "bias_variance")}
    new["bias_variance"][k] = 1.0 / (weight.sum() + now.bias_weight[k] / now.tau2)
    new["bias"][k] = new["bias_variance"][k] * float(weight @ (level - now.gain[k] * mean))
    return now._replace(**new)


def capped(now: Tracers, moving: np.ndarray) -> Tracers:
    """Nobody counts for more than MOST_WEIGHT typical annotators."""
    least = 2.0 * now.alpha + greatest_weight(now, moving)
    return now._replace(beta=np.where(moving, np.maximum(now.beta, least), now.beta))


def greatest_weight(now: Tracers, moving: np.ndarray) -> float:
    """The least log noise less twice the log gain that anybody may have."""
    relative = (now.beta - 2.0 * now.alpha)[moving]
    return float(np.median(relative)) - np.log(priors.MOST_WEIGHT) if relative.size else -np.inf
