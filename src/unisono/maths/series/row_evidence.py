"""The evidence on one annotator: gain and noise given what all others say, exactly, with the truth integrated out.

Where the others leave the truth at mean m and variance V, a frame of the annotator is normal with mean g m and variance
v = g^2 V + f s2; f is 1 for a frame of the course and eta for the level of a recording. Frames with equal V add up in
strata. With g = sign exp(alpha), s2 = exp(beta):
    J = sum_strata w / 2 [n log v + (yy - 2 g my + g^2 mm) / v] + d' Sig^-1 d / 2,   d = (alpha, beta - mu)
Imports NumPy alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

STEPS = 50  # of Newton's method, at most; it takes three to six
LONGEST_STEP = 1.0  # in log units
SETTLED = 1e-7  # a step shorter than this, in log units, is none
LEAST_STEP = 1e-6  # share of a Newton step below which nothing falls any more
ROUNDING = 1e-13  # share of J that sums may be off by; without it chance may refuse the last step, the most exact one
LEAST_CURVATURE = 1e-6  # of J; the prior's own is never below 1e-3


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
    """Normal over (log gain, log noise variance) of the annotators of a study."""

    mean: np.ndarray  # (2,)
    cov: np.ndarray  # (2, 2)


class RowPosterior(NamedTuple):
    at: np.ndarray  # (2,) most probable log gain and log noise variance
    cov: np.ndarray  # (2, 2) Laplace's
    log_evidence: float  # log p(ratings | the others, sign), by Laplace; the same constant for both signs


def row_cost(strata: Strata, at: np.ndarray, sign: float, prior: RowPrior) -> float:
    """J up to a constant."""  # eq. S37
    g, s2 = sign * np.exp(at[0]), np.exp(at[1])
    v = g * g * strata.V + strata.noise * s2
    S = strata.yy - 2.0 * g * strata.my + g * g * strata.mm
    d = at - prior.mean
    data = np.sum(strata.weight * (strata.frames * np.log(v) + S / v))
    return float(0.5 * data + 0.5 * d @ np.linalg.solve(prior.cov, d))


def row_slopes(strata: Strata, at: np.ndarray, sign: float, prior: RowPrior) -> tuple[np.ndarray, np.ndarray]:
    """Gradient (2,) and Hessian (2, 2) of J."""
    w, n, V, f, yy, my, mm = strata
    g, s2 = sign * np.exp(at[0]), np.exp(at[1])
    va, vb = 2.0 * g * g * V, f * s2  # dv/d alpha, dv/d beta
    v = 0.5 * va + vb
    S = yy - 2.0 * g * my + g * g * mm
    Sa, Saa = -2.0 * g * my + 2.0 * g * g * mm, -2.0 * g * my + 4.0 * g * g * mm
    r, c = n / v - S / v**2, -n / v**2 + 2.0 * S / v**3
    alpha, beta = np.sum(w * (r * va + Sa / v)), np.sum(w * r * vb)
    aa = np.sum(w * (2.0 * r * va + c * va * va + Saa / v - 2.0 * Sa * va / v**2))
    ab = np.sum(w * (c * va * vb - Sa * vb / v**2))
    bb = np.sum(w * (r * vb + c * vb * vb))
    precision = np.linalg.inv(prior.cov)
    gradient = 0.5 * np.array([alpha, beta]) + precision @ (at - prior.mean)
    return gradient, 0.5 * np.array([[aa, ab], [ab, bb]]) + precision


def most_probable_row(
    strata: Strata, start: np.ndarray, sign: float, prior: RowPrior, least: float = -np.inf
) -> RowPosterior:
    """The least J, but for rounding nowhere above that at the start.

    least: of log noise less twice the log gain.
    """
    found = _newton(strata, np.array(start, dtype=float), sign, prior, np.eye(2))
    if found[1] - 2.0 * found[0] < least:
        along = _newton(strata, np.array([start[0], 2.0 * start[0] + least]), sign, prior, np.array([[1.0], [2.0]]))
        fair = start[1] - 2.0 * start[0] >= least
        worse = row_cost(strata, along, sign, prior) > row_cost(strata, start, sign, prior)
        found = np.array(start, dtype=float) if fair and worse else along
    _, hessian = row_slopes(strata, found, sign, prior)
    value, vector = np.linalg.eigh(hessian)
    value = np.maximum(value, LEAST_CURVATURE)
    cost = row_cost(strata, found, sign, prior)
    return RowPosterior(found, (vector / value) @ vector.T, -cost - 0.5 * float(np.log(value).sum()))


def _newton(strata: Strata, at: np.ndarray, sign: float, prior: RowPrior, basis: np.ndarray) -> np.ndarray:
    """Newton's method in the span of `basis` (2, n), steps turned downhill and halved until they fall."""
    cost = row_cost(strata, at, sign, prior)
    for _ in range(STEPS):
        gradient, hessian = row_slopes(strata, at, sign, prior)
        gradient, hessian = basis.T @ gradient, basis.T @ hessian @ basis
        value, vector = np.linalg.eigh(hessian)
        step = -(vector / np.maximum(np.abs(value), LEAST_CURVATURE)) @ (vector.T @ gradient)
        step *= min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), SETTLED))
        share = 1.0
        while share > LEAST_STEP:
            there = row_cost(strata, at + share * basis @ step, sign, prior)
            if there <= cost + 1e-4 * share * float(gradient @ step) + ROUNDING * abs(cost):
                break
            share *= 0.5
        else:
            break
        at, cost = at + share * basis @ step, there
        if np.abs(share * step).max() < SETTLED:
            break
    return at
