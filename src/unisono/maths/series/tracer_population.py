"""What the annotators and the truth of one dimension have in common: updates by EM, and the objective they climb.

    kappa log p(courses) + log p(levels) + log priors of rows, biases and of the population itself,
the truth integrated out. Of a row, and of a bias, the prior sees the most probable value and the variance around it.
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.series import priors
from unisono.maths.series.row_evidence import row_prior
from unisono.maths.series.strata import Placed
from unisono.maths.series.tracers import START, Sums, Tracers, usual_spread, weigh_biases
from unisono.maths.series.two_scales import TwoScales


def population(scales: TwoScales, place: Placed, kappa: float, now: Tracers) -> Tracers:
    """Variances, spreads and means by EM; typical log gain 0 is the unit of the truth."""  # eq. S39
    moving, present, sums = scales.moving, scales.present, Sums(scales, place, now)
    V, VL = 1.0 / (1.0 / now.A + sums.Q), 1.0 / (1.0 / now.AB + sums.QL)
    x, L, seen, rated = V * sums.S, VL * sums.SL, sums.precision > 0, sums.QL > 0
    frames = np.where(seen, place.frames, 0)
    square = np.sum(x[sums.Q > 0] ** 2) + frames @ V[place.first]
    A = _variance(kappa * square, kappa * frames.sum(), START, priors.PRIOR_FRAMES, now.A)
    AB = _variance(
        np.sum(L[rated] ** 2 + VL[rated]), rated.sum(), priors.LEVEL_VARIANCE, priors.PRIOR_RECORDINGS, now.AB
    )
    weight = now.bias_weight[present]
    shift, mu = typical(now, moving).tolist()
    alpha = np.where(moving, now.alpha - shift, 0.0)
    beta = np.where(moving, now.beta, mu)
    biases = float(weight @ (now.bias**2 + now.bias_variance)[present] + np.sum(1.0 - weight) * now.tau2)
    return now._replace(
        alpha=alpha,
        beta=beta,
        A=A * np.exp(2.0 * shift),
        AB=AB * np.exp(2.0 * shift),
        eta=_level_error(scales, now, L, VL),
        tau2=_variance(biases, present.sum(), priors.BIAS_VARIANCE, priors.PRIOR_BIASES, now.tau2),
        prior=row_prior(np.array([0.0, mu]), _row_spread(now, np.array([shift, mu]), moving)),
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
    n0 = priors.PRIOR_ANNOTATORS
    total = n0 * usual_spread()
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
    eta = _variance(float(error), len(k), 1.0, priors.PRIOR_LEVELS, now.eta)
    return float(np.clip(eta, priors.LEAST_LEVEL_ERROR, priors.MOST_LEVEL_ERROR))


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
    n0, people = priors.PRIOR_ANNOTATORS, int(scales.moving.sum())
    total = float(np.sum(now.prior.weigh(now.square[scales.moving])[0]))
    total -= 0.5 * n0 * float(np.trace(np.linalg.solve(now.prior.cov, usual_spread())))
    total -= 0.5 * (people + n0) * float(np.linalg.slogdet(now.prior.cov)[1])
    total += float(np.sum(weigh_biases((now.bias**2 + now.bias_variance)[scales.present], now.tau2)[0]))
    for value, usual, imaginary in (
        (now.A, START, priors.PRIOR_FRAMES),
        (now.AB, priors.LEVEL_VARIANCE, priors.PRIOR_RECORDINGS),
        (now.eta, 1.0, priors.PRIOR_LEVELS),
        (now.tau2, priors.BIAS_VARIANCE, priors.PRIOR_BIASES),
    ):
        total -= 0.5 * imaginary * (np.log(value) + usual / value)
    return float(total)
