"""The evidence on one annotator: gain and noise given what all others say, exactly, with the truth integrated out.

Where the others leave the truth at mean m and variance V, a frame of the annotator is normal with mean g m and variance
v = g^2 V + f s2; f is 1 for a frame of the course and eta for the level of a recording. Frames with equal V add up in
strata. With g = sign exp(alpha), s2 = exp(beta):
    J = sum_strata w / 2 [n log v + (yy - 2 g my + g^2 mm) / v] - log p(alpha, beta)
Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series import priors

STEPS = 50  # of Newton's method, at most; it takes three to six
LONGEST_STEP = 1.0  # in log units
SETTLED = 1e-7  # a step shorter than this, in log units, is none
LEAST_STEP = 1e-6  # share of a Newton step below which nothing falls any more
ROUNDING = 1e-13  # share of J that sums may be off by; without it chance may refuse the last step, the most exact one
LEAST_CURVATURE = 1e-6  # of J
UNIT = np.array([1.0, 2.0])  # what a unit adds to log gain and log noise variance
NOTHING = np.zeros((2, 2))
TINY = 1e-300  # of nobody's ratings


class Strata(NamedTuple):
    """Sums over frames whose truth the others know equally well; levels of recordings are strata of one."""

    weight: np.ndarray  # (n,) evidence in one frame
    frames: np.ndarray  # (n,) how many
    V: np.ndarray  # (n,) variance of the truth given the others
    noise: np.ndarray  # (n,) f, noise variance over that of a frame of the course
    yy: np.ndarray  # (n,) sums of products of ratings y and means m of the truth
    my: np.ndarray
    mm: np.ndarray


class RowPrior(NamedTuple):
    """Of (log gain, log noise variance), over the annotators of a study: normal; of a few, who have a unit of their
    own, normal but for the unit, which gain and noise share and of which nothing is known."""

    mean: np.ndarray  # (2,)
    cov: np.ndarray  # (2, 2)
    precision: np.ndarray  # (2, 2, 2) of both kinds
    log: np.ndarray  # (2,) log density at the mean, over that of a normal distribution with this covariance

    def weigh(self, square: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(...,) log density over that of the usual kind at its mean, and (..., 2) probabilities of both kinds.

        square: (..., 2, 2) of what rows are away from the mean, with what is unknown of them.
        """
        log = self.log - 0.5 * np.sum(self.precision * square[..., None, :, :], axis=(-1, -2))
        total = np.logaddexp(log[..., 0], log[..., 1])
        return total, np.exp(log - total[..., None])


def row_prior(mean: np.ndarray, cov: np.ndarray) -> RowPrior:
    """From mean (2,) and covariance (2, 2) of those who have no unit of their own."""
    usual = np.linalg.inv(cov)
    unit = usual @ UNIT
    own = usual - np.outer(unit, unit) / (UNIT @ unit)
    wide = np.sqrt(UNIT @ unit) * priors.OWN_UNIT_SD
    return RowPrior(mean, cov, np.stack([usual, own]), np.log([1.0 - priors.OWN, priors.OWN / wide]))


class RowPosterior(NamedTuple):
    at: np.ndarray  # (2,) most probable log gain and log noise variance
    cov: np.ndarray  # (2, 2) Laplace's
    log_evidence: float  # log p(ratings | the others, sign), by Laplace; the same constant for both signs


def row_cost(strata: Strata, at: np.ndarray, sign: float, prior: RowPrior, unknown: np.ndarray = NOTHING) -> float:
    """J up to a constant. unknown: (2, 2) covariance of the row, where that is held."""  # eq. S37
    g, s2 = sign * np.exp(at[0]), np.exp(at[1])
    v = g * g * strata.V + strata.noise * s2
    S = strata.yy - 2.0 * g * strata.my + g * g * strata.mm
    data = np.sum(strata.weight * (strata.frames * np.log(v) + S / v))
    d = at - prior.mean
    return float(0.5 * data - prior.weigh(np.outer(d, d) + unknown)[0])


def row_slopes(
    strata: Strata, at: np.ndarray, sign: float, prior: RowPrior, unknown: np.ndarray = NOTHING
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient (2,) and Hessian (2, 2) of J."""
    weight, n, V, f, yy, my, mm = strata
    g, s2 = sign * np.exp(at[0]), np.exp(at[1])
    va, vb = 2.0 * g * g * V, f * s2  # dv/d alpha, dv/d beta
    v = 0.5 * va + vb
    S = yy - 2.0 * g * my + g * g * mm
    Sa, Saa = -2.0 * g * my + 2.0 * g * g * mm, -2.0 * g * my + 4.0 * g * g * mm
    r, c = n / v - S / v**2, -n / v**2 + 2.0 * S / v**3
    alpha, beta = np.sum(weight * (r * va + Sa / v)), np.sum(weight * r * vb)
    aa = np.sum(weight * (2.0 * r * va + c * va * va + Saa / v - 2.0 * Sa * va / v**2))
    ab = np.sum(weight * (c * va * vb - Sa * vb / v**2))
    bb = np.sum(weight * (r * vb + c * vb * vb))
    d, precision = at - prior.mean, prior.precision
    kind, pull = prior.weigh(np.outer(d, d) + unknown)[1], precision @ d
    curve = np.einsum("s,sde->de", kind, precision) - kind.prod() * np.outer(pull[0] - pull[1], pull[0] - pull[1])
    return 0.5 * np.array([alpha, beta]) + kind @ pull, 0.5 * np.array([[aa, ab], [ab, bb]]) + curve


def most_probable_row(
    strata: Strata,
    start: np.ndarray,
    sign: float,
    prior: RowPrior,
    least: float = -np.inf,
    unknown: np.ndarray = NOTHING,
) -> RowPosterior:
    """The least J, but for rounding nowhere above that at the start.

    least: of log noise less twice the log gain. unknown: (2, 2) covariance of the row, where that is held.
    """
    found = _newton(strata, np.array(start, dtype=float), sign, prior, np.eye(2), unknown)
    if found[1] - 2.0 * found[0] < least:
        along = _newton(strata, np.array([start[0], 2.0 * start[0] + least]), sign, prior, UNIT[:, None], unknown)
        fair = start[1] - 2.0 * start[0] >= least
        worse = row_cost(strata, along, sign, prior, unknown) > row_cost(strata, start, sign, prior, unknown)
        found = np.array(start, dtype=float) if fair and worse else along
    _, hessian = row_slopes(strata, found, sign, prior, unknown)
    value, vector = np.linalg.eigh(hessian)
    value = np.maximum(value, LEAST_CURVATURE)
    cost = row_cost(strata, found, sign, prior, unknown)
    size = np.log(value).sum() + np.linalg.slogdet(prior.cov)[1]
    return RowPosterior(found, (vector / value) @ vector.T, -cost - 0.5 * float(size))


def _newton(
    strata: Strata, at: np.ndarray, sign: float, prior: RowPrior, basis: np.ndarray, unknown: np.ndarray
) -> np.ndarray:
    """Newton's method in the span of `basis` (2, n), steps turned downhill and halved until they fall."""
    cost = row_cost(strata, at, sign, prior, unknown)
    for _ in range(STEPS):
        gradient, hessian = row_slopes(strata, at, sign, prior, unknown)
        gradient, hessian = basis.T @ gradient, basis.T @ hessian @ basis
        value, vector = np.linalg.eigh(hessian)
        step = -(vector / np.maximum(np.abs(value), LEAST_CURVATURE)) @ (vector.T @ gradient)
        step *= min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), SETTLED))
        share = 1.0
        while share > LEAST_STEP:
            there = row_cost(strata, at + share * basis @ step, sign, prior, unknown)
            if there <= cost + 1e-4 * share * float(gradient @ step) + ROUNDING * abs(cost):
                break
            share *= 0.5
        else:
            break
        at, cost = at + share * basis @ step, there
        if np.abs(share * step).max() < SETTLED:
            break
    return at


def noise_evidence(strata: Strata, prior: RowPrior, A: float) -> float:
    """log p of the ratings of who follows nothing, by Laplace; the same constant as of rows.

    A: variance of what others follow. Noise varies like everybody's variance, but for a few with a unit of their own.
    """
    spread, own = float(prior.cov[1, 1]), (2.0 * priors.OWN_UNIT_SD) ** 2
    mean = float(np.log(A + np.exp(prior.mean[1])))
    usual = _noise_laplace(strata, mean, 1.0 / spread) - 0.5 * np.log(spread) + np.log(1.0 - priors.OWN)
    return float(np.logaddexp(usual, _noise_laplace(strata, mean, 0.0) - 0.5 * np.log(own) + np.log(priors.OWN)))


def _noise_laplace(strata: Strata, mean: float, precision: float) -> float:
    """Laplace's integral over a log noise variance with a normal prior, without the constant of the prior."""
    n = float(np.sum(strata.weight * strata.frames))
    square = float(np.sum(strata.weight * strata.yy / strata.noise))
    constant = float(np.sum(strata.weight * strata.frames * np.log(strata.noise)))
    beta = float(np.log(max(square, TINY) / max(n, TINY))) if precision == 0.0 else mean
    for _ in range(STEPS):  # the function is convex
        left = square * np.exp(-beta)
        step = (0.5 * (n - left) + (beta - mean) * precision) / (0.5 * left + precision)
        beta -= float(np.clip(step, -LONGEST_STEP, LONGEST_STEP))
        if abs(step) < SETTLED:
            break
    left = square * np.exp(-beta)
    cost = 0.5 * (constant + n * beta + left) + 0.5 * (beta - mean) ** 2 * precision
    return float(-cost - 0.5 * np.log(0.5 * left + precision))
