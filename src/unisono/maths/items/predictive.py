"""Predictive distributions of answers, of annotators and items that are known up to their posteriors.

    y ~ N(B_k mbar, v),   v_d = F_kd V F_kd' + mbar' C_kd mbar + tr(C_kd[F,F] V) + N_kdd                 eq. H1

with m, V the posterior of the truth, mbar = [m; 1] and C_kd the covariance of row d of B_k = [F_k, b_k]: uncertainty of
the truth, of the annotator, and noise. Scores look at one number at a time, so that a model earns nothing by knowing
how the noise of two dimensions goes together, which is not the truth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtr, ndtri, stdtr, stdtrit

from unisono.maths.items.data import ItemData
from unisono.maths.items.ends import EndAnswers
from unisono.maths.items.leave_out import left_out_blocks
from unisono.maths.items.params import LOG_2PI, ItemParams, row_spread
from unisono.maths.items.priors import LEAST_FREEDOM

MIXTURE_STEPS = 50  # numerical: towards the half-width of a mixture; a handful suffices
MIXTURE_TOLERANCE = 1e-9  # numerical: share of the half-width that the last step may add


class Predictive(NamedTuple):
    """Predictions of single answers: normal, or Student t where few degrees of freedom stand behind the variance."""

    mean: np.ndarray  # (J, D)
    variance: np.ndarray  # (J, D)
    freedom: float | np.ndarray = np.inf  # of all, or (J, D)


class HeldOut(NamedTuple):
    """How predictions fared with the answers that came."""

    log_density: float  # per number
    rmse: float
    coverage: float  # share of answers inside the central interval
    numbers: int


class LeftOut(NamedTuple):
    """Every judgement against what the others predict for it."""

    mean: np.ndarray  # (J, D) truth of its item without it
    ratio: float  # mean squared error of predicted answers over the variance claimed for them; 1 if that is honest
    numbers: int = 0  # answers behind the ratio


def predicted_ratings(
    params: ItemParams, mean: np.ndarray, cov: np.ndarray, item_of: np.ndarray, annotator_of: np.ndarray
) -> Predictive:
    """Answers (J, D) of annotators to items whose truth has mean (M, D) and covariance (M, D, D).        eq. H1"""
    truths = mean[item_of].T, cov[item_of].transpose(1, 2, 0)
    centre, variance = _predicted(params, *truths, annotator_of)
    return Predictive(centre.T, variance.T)


def _predicted(
    params: ItemParams, truth: np.ndarray, V: np.ndarray, annotator: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances (D, j) of answers to truths with these means (D, j) and covariances (D, D, j)."""
    B, F = np.ascontiguousarray(params.B.transpose(1, 2, 0)), params.F
    variance = np.diagonal(params.N, axis1=1, axis2=2).T[:, annotator]
    if params.cov is not None:
        variance = variance + row_spread(params.cov, annotator, truth)
    centre = B[:, -1][:, annotator]
    for d in range(len(truth)):
        row = F[:, d, :, None] * F[:, d, None, :]  # (K, D, D) E[F_d F_d'], once per annotator
        if params.cov is not None:
            row = row + params.cov[:, d, :-1, :-1]
        row = np.ascontiguousarray(row.transpose(1, 2, 0))
        some = np.asarray(row.any(axis=2))  # most are zero where gains alone are free
        for i in np.flatnonzero(some.any(axis=1)):
            centre[d] += B[d, i][annotator] * truth[i]
            variance[d] += row[i, i][annotator] * V[i, i]
            for j in np.flatnonzero(some[i, :i]):
                variance[d] += 2 * row[i, j][annotator] * V[i, j]
    return centre, variance


def left_out(
    data: ItemData, params: ItemParams, answers: np.ndarray | None = None, ends: EndAnswers | None = None
) -> LeftOut:
    """Truths and predicted answers of all judgements, each without itself; eq. B16 is the ratio.

    `answers` (J, D) as they were given, where `data` has those at the `ends` of the scale completed.
    """
    means = np.empty_like(data.y)
    answers = data.y if answers is None else answers
    total, numbers = 0.0, 0
    for judgements, mean, cov in left_out_blocks(data, params):
        means[judgements] = mean.T
        profile = data.profile_of[judgements]
        answer, variance = _predicted(params, mean, cov, data.annotator[profile].astype(np.intp))
        answer = answer.T if ends is None else ends.kept(answer.T, answers[judgements])
        ratio = (answers[judgements] - answer) ** 2 / variance.T
        seen = data.answered[profile]
        total += float(ratio.sum() if seen.all() else ratio[seen].sum())
        numbers += int(seen.sum())
    return LeftOut(means, total / numbers if numbers else 1.0, numbers)


def residual_freedom(data: ItemData) -> float:
    """Degrees of freedom that judgements leave after one truth per item and one bias per annotator."""
    raters = int((data.by_annotator(data.judgements) > 0).sum())
    return max(float(data.judgements.sum()) - data.M - raters, LEAST_FREEDOM)


def held_out_scores(predicted: Predictive, answers: np.ndarray, level: float) -> HeldOut:
    """Log density per number, RMSE and coverage of answers (J, D), NaN where there is none.

    log p = log t((y - mean) / sqrt v) - 1/2 log v, averaged over numbers; t normal for infinite freedom  eq. H2
    """
    seen = ~np.isnan(answers)
    error = (answers - predicted.mean)[seen]
    variance = predicted.variance[seen]
    freedom = np.broadcast_to(predicted.freedom, seen.shape)[seen]
    if not len(error):
        return HeldOut(float("nan"), float("nan"), float("nan"), 0)
    density = log_density(error**2 / variance, freedom) - 0.5 * np.log(variance)
    inside = np.abs(error) <= half_widths(level, freedom) * np.sqrt(variance)
    return HeldOut(float(density.mean()), float(np.sqrt(np.mean(error**2))), float(inside.mean()), len(error))


def half_width(level: float, freedom: float) -> float:
    """Half-width of the central interval with this probability, in units of the standard deviation."""
    return float(half_widths(level, np.array(freedom)))


def mixture_half_width(level: float, freedom: float, p: np.ndarray, narrow: np.ndarray, wide: np.ndarray) -> np.ndarray:
    """(n,) the same of mixtures: with probability p of standard deviation `narrow`, otherwise `wide`, (n,) each.

    The probability inside is concave in the half-width, so Newton's method climbs to it from below.
    """
    x = half_width(level, freedom) * narrow
    for _ in range(MIXTURE_STEPS):
        inside = p * _inside(x / narrow, freedom) + (1 - p) * _inside(x / wide, freedom)
        densities = (np.exp(log_density((x / sd) ** 2, freedom)) / sd for sd in (narrow, wide))
        slope = sum(weight * density for weight, density in zip((p, 1 - p), densities, strict=True))
        step = (level - inside) / (2 * slope)
        x = x + step
        if (step <= MIXTURE_TOLERANCE * x).all():
            break
    return np.asarray(x)


def _inside(z: np.ndarray, freedom: float) -> np.ndarray:
    """Probability of at most z standard deviations from the middle."""
    return np.asarray(2 * (stdtr(freedom, z) if np.isfinite(freedom) else ndtr(z)) - 1)


def half_widths(level: float, freedom: np.ndarray) -> np.ndarray:
    """The same for many of them."""
    upper, (kinds, kind) = 0.5 + level / 2, np.unique(freedom, return_inverse=True)
    return np.where(np.isfinite(kinds), stdtrit(kinds, upper), ndtri(upper))[kind].reshape(freedom.shape)


def log_density(square: np.ndarray, freedom: float | np.ndarray) -> np.ndarray:
    """Log density of Student's t, or of the normal for infinite freedom, from squared standard deviates."""
    few = np.isfinite(freedom)
    nu = np.where(few, freedom, 1.0)
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu * np.pi)
    return np.where(few, constant - (nu + 1) / 2 * np.log1p(square / nu), -0.5 * (LOG_2PI + square))
