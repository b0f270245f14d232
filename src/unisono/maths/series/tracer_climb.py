"""The most probable annotators of one dimension of traces: a search by sweeps, then a climb of the objective.

The objective, with the truth integrated out, is
    kappa log p(courses) + log p(levels) + log priors of rows, biases and of the population itself.
Of a row, and of a bias, the prior sees the most probable value and the variance around it. What annotators have in
common, the population, is updated by EM.

Search: one annotator at a time takes the most probable row given all others, of either sign; in between, EM updates
what they have in common. Signs are weighed anew in every sweep and may hesitate for ever, so that a search ends after a
number of sweeps. Climb: what the search left open is held (expected signs, how well rows are known, the greatest weight
anybody may have). One annotator at a time then takes the most probable row and bias given all others; the population
goes as far along its EM step as the objective rises. A step that paid is lengthened the next time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series import trace_priors, tracer_rows
from unisono.maths.series.trace_frames import Placed
from unisono.maths.series.trace_parts import TwoScales
from unisono.maths.series.tracer_rows import RowPosterior, Strata, Sums, Tracers


def population(scales: TwoScales, place: Placed, kappa: float, now: Tracers) -> Tracers:
    """Variances, spreads and means by EM; typical log gain 0 is the unit of the truth."""  # eq. S39
    moving, counted, sums = scales.moving, scales.levelled, Sums(scales, place, now)
    V, VL = 1.0 / (1.0 / now.A + sums.Q), 1.0 / (1.0 / now.AB + sums.QL)
    x, L, seen, rated = V * sums.S, VL * sums.SL, sums.precision > 0, sums.QL > 0
    frames = np.where(seen, place.frames, 0)
    square = np.sum(x[sums.Q > 0] ** 2) + frames @ V[place.first]
    A = _variance(kappa * square, kappa * frames.sum(), tracer_rows.START, trace_priors.PRIOR_FRAMES, now.A)
    AB = _variance(
        np.sum(L[rated] ** 2 + VL[rated]),
        rated.sum(),
        trace_priors.LEVEL_VARIANCE,
        trace_priors.PRIOR_RECORDINGS,
        now.AB,
    )
    weight = now.bias_weight[counted]
    shift, mu = typical(now, moving).tolist()
    alpha = np.where(moving, now.alpha - shift, 0.0)
    beta = np.where(moving, now.beta, mu)
    biases = float(weight @ (now.bias**2 + now.bias_variance)[counted] + np.sum(1.0 - weight) * now.tau2)
    return now._replace(
        alpha=alpha,
        beta=beta,
        A=A * np.exp(2.0 * shift),
        AB=AB * np.exp(2.0 * shift),
        eta=_level_error(scales, now, L, VL),
        tau2=_variance(biases, counted.sum(), trace_priors.BIAS_VARIANCE, trace_priors.PRIOR_BIASES, now.tau2),
        prior=tracer_rows.row_prior(np.array([0.0, mu]), _row_spread(now, np.array([shift, mu]), moving)),
    )


def typical(now: Tracers, moving: np.ndarray) -> np.ndarray:
    """(2,) mean row of those who move; a unit of one's own is no part of it."""
    if not moving.any():
        return np.asarray(now.prior.mean)
    weight = np.einsum("ks,sde->kde", now.prior.weigh(now.square[moving])[1], now.prior.precision)
    away = np.linalg.solve(weight.sum(axis=0), np.einsum("kde,ke->d", weight, now.away[moving]))
    return np.asarray(now.prior.mean + away)


def _row_spread(now: Tracers, middle: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """(2, 2) covariance of rows around the middle (2,): of rows with a unit of their own, what is left without it."""
    kinds = now.prior.weigh(now.square[moving])[1]
    away = now.away[moving] + now.prior.mean - middle
    square = away[:, :, None] * away[:, None] + now.cov[moving]
    n0 = trace_priors.PRIOR_ANNOTATORS
    total = n0 * tracer_rows.usual_spread()
    for kind, precision in zip(kinds.T, now.prior.precision, strict=True):
        usual = now.prior.cov @ precision  # (2, 2) what is no unit of one's own, given the row
        total = total + usual @ np.einsum("k,kde->de", kind, square) @ usual.T
        total += kind.sum() * (now.prior.cov - usual @ now.prior.cov)
    return np.asarray(0.5 * (total + total.T) / (len(square) + n0))


def _variance(square: float, count: float, usual: float, imaginary: float, before: float) -> float:
    """A variance from a sum of squares, drawn to the usual one by imaginary values."""
    return float((square + imaginary * usual) / (count + imaginary)) if count + imaginary > 0 else before


def _level_error(scales: TwoScales, now: Tracers, L: np.ndarray, VL: np.ndarray) -> float:
    """eta: how much levels err, over the error of a frame."""
    k, m = scales.annotator_of, scales.recording_of
    left = scales.level - now.bias[k] - now.gain[k] * L[m]
    error = np.sum((left**2 + np.exp(2.0 * now.alpha)[k] * VL[m]) / np.exp(now.beta)[k])
    eta = _variance(float(error), len(k), 1.0, trace_priors.PRIOR_LEVELS, now.eta)
    return float(np.clip(eta, trace_priors.LEAST_LEVEL_ERROR, trace_priors.MOST_LEVEL_ERROR))


def objective(scales: TwoScales, place: Placed, kappa: float, now: Tracers) -> float:
    """What a climb raises, up to a constant."""  # eq. S40
    sums = Sums(scales, place, now)
    total = 0.0
    for k in np.flatnonzero(scales.moving).tolist():
        y = place.course[k]
        total -= 0.5 * kappa * (place.given[k] * np.log(now.noise[k]) + y @ y / now.noise[k])
    who = scales.annotator_of
    z = scales.level - now.bias[who]
    total -= 0.5 * float(np.sum(np.log(now.level_noise[who]) + z * z / now.level_noise[who]))
    total -= 0.5 * kappa * float(place.frames @ np.log1p(now.A * sums.precision))
    total += 0.5 * kappa * float(np.sum(sums.S**2 / (1.0 / now.A + sums.Q)))
    total -= 0.5 * float(np.sum(np.log1p(now.AB * sums.QL) - sums.SL**2 / (1.0 / now.AB + sums.QL)))
    return float(total + log_prior(scales, now))


def log_prior(scales: TwoScales, now: Tracers) -> float:
    """Of rows, biases and population, up to a constant."""
    n0, people = trace_priors.PRIOR_ANNOTATORS, int(scales.moving.sum())
    total = float(np.sum(now.prior.weigh(now.square[scales.moving])[0]))
    total -= 0.5 * n0 * float(np.trace(np.linalg.solve(now.prior.cov, tracer_rows.usual_spread())))
    total -= 0.5 * (people + n0) * float(np.linalg.slogdet(now.prior.cov)[1])
    total += float(np.sum(tracer_rows.weigh_biases((now.bias**2 + now.bias_variance)[scales.levelled], now.tau2)[0]))
    for value, usual, imaginary in (
        (now.A, tracer_rows.START, trace_priors.PRIOR_FRAMES),
        (now.AB, trace_priors.LEVEL_VARIANCE, trace_priors.PRIOR_RECORDINGS),
        (now.eta, 1.0, trace_priors.PRIOR_LEVELS),
        (now.tau2, trace_priors.BIAS_VARIANCE, trace_priors.PRIOR_BIASES),
    ):
        total -= 0.5 * imaginary * (np.log(value) + usual / value)
    return float(total)


DECIDED = 20.0  # numerical: log odds of a sign from which the other one is not tried again


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
        odds = (
            sign * (here.log_evidence - there.log_evidence)
            + np.log(1.0 - trace_priors.REVERSED)
            - np.log(trace_priors.REVERSED)
        )
        here, there = (here, there) if (odds >= 0) == (sign > 0) else (there, here)
        other = np.append(there.row.at, there.bias)
    likely = np.log(1.0 - trace_priors.REVERSED if odds >= 0 else trace_priors.REVERSED) + np.log1p(np.exp(-abs(odds)))
    bias, log_bias = _bias(now, k, sums, 0.0, float(np.exp(now.prior.mean[1]) + now.A), 0.0)
    none = tracer_rows.noise_evidence(sums.at_bias(strata, k, bias), now.prior, now.A) + log_bias
    nothing = none - here.log_evidence - likely + np.log(trace_priors.UNRELATED) - np.log1p(-trace_priors.UNRELATED)
    return Look(here, other, odds, float(1.0 / (1.0 + np.exp(np.clip(nothing, -700, 700)))))


def _side(now: Tracers, k: int, sums: Sums, strata: Strata, start: np.ndarray, sign: float, least: float) -> Side:
    """The bias of a row to start from, then the row."""
    bias, log_bias = _bias(now, k, sums, sign * np.exp(start[0]), np.exp(start[1]), float(start[2]))
    row = tracer_rows.most_probable_row(sums.at_bias(strata, k, bias), start[:2], sign, now.prior, least)
    return Side(row, bias, row.log_evidence + log_bias)


def _bias(now: Tracers, k: int, sums: Sums, gain: float, s2: float, before: float) -> tuple[float, float]:
    """The most probable bias of this row, and what it adds to the log evidence, by Laplace."""
    level, mean, variance = sums.levels(k)
    weight = 1.0 / (gain**2 * variance + now.eta * s2)
    usual = tracer_rows.weigh_biases(np.array(before**2 + now.bias_variance[k]), now.tau2)[1]
    precision = float(weight.sum() + usual / now.tau2)
    bias = float(weight @ (level - gain * mean)) / precision
    return bias, float(tracer_rows.weigh_biases(np.array(bias**2), now.tau2)[0]) - 0.5 * np.log(precision)


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
    usual = now.bias_weight[k] / now.tau2 if sums.scales.levelled[k] else 0.0
    new["bias_variance"][k] = 1.0 / (weight.sum() + usual)
    new["bias"][k] = new["bias_variance"][k] * float(weight @ (level - now.gain[k] * mean))
    return now._replace(**new)


def capped(now: Tracers, moving: np.ndarray) -> Tracers:
    """Nobody counts for more than MOST_WEIGHT typical annotators."""
    least = 2.0 * now.alpha + greatest_weight(now, moving)
    return now._replace(beta=np.where(moving, np.maximum(now.beta, least), now.beta))


def greatest_weight(now: Tracers, moving: np.ndarray) -> float:
    """The least log noise less twice the log gain that anybody may have."""
    relative = (now.beta - 2.0 * now.alpha)[moving]
    return float(np.median(relative)) - np.log(trace_priors.MOST_WEIGHT) if relative.size else -np.inf


LENGTHENED = 1.5  # numerical: times the step of EM before, where it paid
LONGEST = 20.0  # numerical: steps of EM in one
LEAST_SHARE = 1e-3  # numerical: of a step of EM: where it does not rise, there is nothing to gain
LEAST_SIGN = 1e-3  # numerical: of an expected sign; below it, its square would be lost beside 1


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
    least = min(float(np.median(relative)) - np.log(trace_priors.MOST_WEIGHT), float(relative.min()))
    return Climb(now._replace(sign=sign), least, 1.0)


def climb(scales: TwoScales, place: Placed, kappa: float, at: Climb) -> tuple[Climb, float]:
    """Every annotator once, then the population; and the objective of what it was given."""  # eq. S38
    now, sums = at.tracers, Sums(scales, place, at.tracers)
    value = objective(scales, place, kappa, now)
    for k in scales.raters:
        strata = sums.without(k, kappa, hesitant=True)
        if not scales.flat[k]:
            start = np.array([now.alpha[k], now.beta[k]])
            row = tracer_rows.most_probable_row(
                strata, start, float(now.follows[k]), now.prior, at.least, now.cov[k]
            ).at
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
        eta=float(np.clip(between(now.eta, there.eta), trace_priors.LEAST_LEVEL_ERROR, trace_priors.MOST_LEVEL_ERROR)),
        tau2=between(now.tau2, there.tau2),
        prior=tracer_rows.row_prior(towards(now.prior.mean, there.prior.mean), towards(now.prior.cov, there.prior.cov)),
    )
