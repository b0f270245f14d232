"""How far the estimate of a fit goes with the truth: draws of their squared correlation over the items at hand.

A posterior says how far every truth may be off, given variances that were estimated from the same answers. Both count:

    rho^2 = cor(e, g(a))^2,     a_m ~ N(w_m x_m + (1 - w_m) m0_m, w_m v_m + u_m),   w_m = S / (S + v_m)         eq. R1

e the estimates, g what a typical annotator would answer to a truth, x_m and v_m what the answers alone say of it and
with what variance, u_m what not knowing the annotators adds. In every draw the variances are others, one dimension at a
time. What answers scatter within items says how large v is, and whether items with few answers scatter more:

    v_m = (sum q / sum f) (nu / chi2(nu + 2)) n_m^beta v_m       q_m ~ n_m^beta chi2(f_m)                       eq. R2

with q_m the standardised squares around the mean of item m, f_m their number. What the items scatter is known from few
of them, and flat before looking (Stein: errors are then shrunk as they should be on average), and of that the truth has
what errors leave, and a little more, since answers of different annotators go together as products of two gains do,
while the mean of all goes with the square of the mean gain:

    S + v = (S^ + v^)(M - 1) / chi2(M - 3)         S (1 + T (chi2(R - 1) / (R - 1)) / R)                        eq. R3

R annotators (effectively), T the variance of gains beyond what the fit knows of them.

    M items, B draws, K annotators
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unisono.maths.grouped_sums import PairedSums

# Measured in 29 simulated worlds (docs/accuracy.md): mean within .03 of the squared correlation, 95 % intervals .88 on.
FREEDOM_SHARE = 1 / 3  # of the degrees of freedom that squares within items have: noise differs between annotators
GAIN_VARIANCE = 0.09  # choice: of gains that a fit does not know, before looking; sd .3 as of usual slopes
IMAGINARY_GAINS = 4.0  # choice: annotators behind that
MOST_GAIN_VARIANCE = 0.5  # choice: whatever slopes on few items say
BETA_PRECISION = 1.0  # choice: imaginary information behind beta = 0
LEAST_FREEDOM = 4.0  # choice: floor of the degrees of freedom behind the scale of errors
FEWEST_ITEMS = 4  # convention: of which anything can be said
MOST_ITEMS = 1000  # numerical: of more items, so many evenly spread ones are drawn
TINY = 1e-6  # numerical: share of a variance that counts as none
BETA_STEPS = 20  # numerical: of Newton's method


class Evidence(NamedTuple):
    """What a fit says of one dimension, in any unit that is the same throughout."""

    estimate: np.ndarray  # (M,)
    mean: np.ndarray  # (M,) of the posteriors
    variance: np.ndarray  # (M,) given the annotators
    added: np.ndarray  # (M,) from not knowing these
    prior_mean: np.ndarray  # (M,)
    prior_variance: float
    squares: np.ndarray  # (M,) of answers around their item's mean, over their variances
    answers: np.ndarray  # (M,)
    known_scale: float | None  # of errors, where squares do not show it; None: they do
    gains: float  # T
    annotators: float  # R
    shared: float  # probability that annotators share anything
    answer: Callable[[np.ndarray], np.ndarray]  # g, of (B, M) truths

    def of(self, items: np.ndarray) -> Evidence:
        """That on some of the items (M,) bool."""
        each = ("estimate", "mean", "variance", "added", "prior_mean", "squares", "answers")
        return self._replace(**{name: getattr(self, name)[items] for name in each})


class Scatter(NamedTuple):
    """What squares within items say."""

    scale: float  # of errors, relative to those that the fit has
    freedom: float
    beta: float  # how errors go with the number of answers
    beta_sd: float
    center: float  # log number of answers at which the scale holds


def truth_correlations(evidence: Evidence, draws: int, rng: np.random.Generator) -> np.ndarray:
    """(B,) draws of the squared correlation of estimate and truth; NaN where too few items tell.      eq. R1, R3"""
    M = len(evidence.estimate)
    if M < FEWEST_ITEMS or np.ptp(evidence.estimate) <= 0 or evidence.prior_variance <= 0:
        return np.full(draws, np.nan)
    prior = evidence.prior_variance
    variance = np.clip(evidence.variance, TINY * prior, (1 - TINY) * prior)
    share = 1 - variance / prior
    error = variance / share  # of what the answers alone say
    alone = evidence.prior_mean + (evidence.mean - evidence.prior_mean) / share
    weight = 1 / (prior + error) ** 2
    errors = error * _scales(evidence, draws, rng)
    seen = prior + np.average(error, weights=weight)
    total = seen * (M - 1) / rng.chisquare(M - 3, size=draws)
    truth = (total - np.average(errors, axis=1, weights=weight)) * _gain_factors(evidence, draws, rng)
    truth = np.where(rng.random(draws) < evidence.shared, truth, 0.0)
    truth = np.clip(truth, TINY * prior, (1 - TINY) * total)
    errors *= ((total - truth) / np.average(errors, axis=1, weights=weight))[:, None]
    some = np.unique(np.linspace(0, M - 1, min(M, MOST_ITEMS)).round().astype(int))
    left = truth[:, None] / (truth[:, None] + errors[:, some])
    centre = evidence.prior_mean[some] + left * (alone - evidence.prior_mean)[some]
    sd = np.sqrt(left * errors[:, some] + evidence.added[some])
    return squared_correlations(
        evidence.estimate[some], evidence.answer(centre + sd * rng.normal(size=(draws, len(some))))
    )


def _scales(evidence: Evidence, draws: int, rng: np.random.Generator) -> np.ndarray:
    """(B, M) how large the errors of items may be, relative to those of the fit.                             eq. R2"""
    found = scatter_within(evidence.squares, evidence.answers)
    scale = found.scale if evidence.known_scale is None else evidence.known_scale
    of_all = scale * found.freedom / rng.chisquare(found.freedom + 2, size=draws)
    beta = found.beta + found.beta_sd * rng.normal(size=draws)
    away = np.log(np.maximum(evidence.answers, 1)) - found.center
    return np.asarray(of_all[:, None] * np.exp(beta[:, None] * away))


def scatter_within(squares: np.ndarray, answers: np.ndarray) -> Scatter:
    """Scale, its degrees of freedom, and beta, from items (M,) with two answers and more.                    eq. R2"""
    some = answers > 1
    q, f, x = squares[some], answers[some] - 1.0, np.log(np.maximum(answers[some], 1))
    if not len(q) or not q.sum() > 0:
        return Scatter(1.0, LEAST_FREEDOM, 0.0, 0.0, 0.0)
    center = float(np.average(x, weights=f))
    beta, sd = _slope(q, f, x - center)
    expected = f * np.exp(beta * (x - center))
    scale = float(np.sum(q * f / expected) / f.sum())
    # Items differ in noise, which makes their sum less certain than as many squares of normals would be.
    varies = np.sum((q * f / expected / scale - f) ** 2) / f.sum() ** 2
    freedom = min(f.sum(), 2 / varies if varies > 0 else np.inf)
    return Scatter(scale, max(FREEDOM_SHARE * freedom, LEAST_FREEDOM), beta, sd, center)


def _slope(q: np.ndarray, f: np.ndarray, x: np.ndarray) -> tuple[float, float]:
    """beta by penalised quasi-likelihood, and the deviation of its estimate."""
    beta, over = 0.0, 1.0
    for _ in range(BETA_STEPS):
        expected = np.exp(beta * x)
        z = q / expected * (f.sum() / np.sum(q / expected))
        over = max(1.0, float(np.sum((z - f) ** 2) / np.sum(2 * f)))
        slope = np.sum(x * (z - f)) / (2 * over) - BETA_PRECISION * beta
        step = slope / (np.sum(x**2 * z) / (2 * over) + BETA_PRECISION)
        beta += float(np.clip(step, -1, 1))
    known = np.sum(x**2 * f) / (2 * over)
    return beta, float(np.sqrt(known) / (known + BETA_PRECISION))


def _gain_factors(evidence: Evidence, draws: int, rng: np.random.Generator) -> np.ndarray:
    """(B,) by how much more the mean of all follows the truth than products of two say.                      eq. R3"""
    freedom = max(evidence.annotators - 1, 1.0)
    drawn = evidence.gains * rng.chisquare(freedom, size=draws) / freedom
    return np.asarray(1 + drawn / max(evidence.annotators, 1.0))


def gain_variance(sums: PairedSums, gains: np.ndarray) -> np.ndarray:
    """(D,) T: how far slopes of answers y on truths x lie from the `gains` (K, D) of a fit, beyond chance.

    From sums over everybody's answers (K, D), by moments, with a few imaginary annotators.
    """
    found = np.full(gains.shape[1], GAIN_VARIANCE)
    for d in range(gains.shape[1]):
        n, xx, yy, xy = (part[:, d] for part in (sums.n, sums.xx, sums.yy, sums.xy))
        told = (n >= FEWEST_ITEMS) & (xx > 0)
        K = int((n > 0).sum())
        if K < 3 or told.sum() < 2:
            continue
        slope = xy[told] / xx[told]
        error = np.maximum(yy[told] - slope * xy[told], 0.0) / (n[told] - 2) / xx[told]
        w = 1 / (error + GAIN_VARIANCE / 2)
        away = slope - gains[told, d]
        away = away - np.average(away, weights=w)
        several = told.sum() / (told.sum() - 1)
        seen = np.clip((several * (w @ away**2) - w @ error) / w.sum(), 0.0, MOST_GAIN_VARIANCE)
        found[d] = (K * seen + IMAGINARY_GAINS * GAIN_VARIANCE) / (K + IMAGINARY_GAINS)
    return found


def squared_correlations(estimate: np.ndarray, truths: np.ndarray) -> np.ndarray:
    """(B,) of one estimate (M,) with every row of truths (B, M); 0 where these are all alike."""
    e, t = estimate - estimate.mean(), truths - truths.mean(axis=1, keepdims=True)
    size = (e @ e) * np.sum(t**2, axis=1)
    return np.asarray(np.where(size > 0, (t @ e) ** 2 / np.where(size > 0, size, 1.0), 0.0))
