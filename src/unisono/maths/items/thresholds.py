"""Ordinal ratings: every annotator has thresholds of his own between the answers there are.

    answer c  iff  tau_kc-1 < y* <= tau_kc,   y* ~ N(center, sd^2) given the rest of the model               eq. O1
    log prior of tau_k = w sum_c P_c log(Q_kc / P_c),  Q_kc = Phi_0(tau_kc) - Phi_0(tau_kc-1)                eq. O2

P_c are the pool's shares of answers, which the pool's thresholds give under one normal, Phi_0; w imaginary ratings of
the pool keep thresholds in order and near the pool's. The outer ones are fixed, so that bias, gain and noise mean what
they do without thresholds. Given the rest, the bound is a concave function of an annotator's thresholds:

    sum_n log[Phi((tau_c - center_n) / sd_n) - Phi((tau_c-1 - center_n) / sd_n)] + log prior                 eq. O3
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri

from unisono.maths.items.params import LOG_2PI
from unisono.maths.items.readings import Numbers, Read

POOL_RATINGS = 6.0  # of `response="ordinal"`: imaginary ratings of the pool behind an annotator's thresholds
HALVINGS = 8  # numerical: of a Newton step that does not climb
LEAST_MASS = -700.0  # numerical: log probability of an interval so far out that nothing is left to tell


class Interval(NamedTuple):
    """Normals between two bounds: log of their mass, and density at the bounds over it, in standard units."""

    log_mass: np.ndarray
    at_low: np.ndarray  # phi(low) / mass
    at_high: np.ndarray
    low: np.ndarray  # 0 where the bound is infinite: it is only multiplied with a density of 0
    high: np.ndarray


class Thresholds(NamedTuple):
    """The reading of ordinal ratings; `cuts` and `shares` of the pool, NaN beyond what a dimension has."""

    cuts: np.ndarray  # (D, C - 1) thresholds of the pool, standardised; all NaN where ratings are numbers
    shares: np.ndarray  # (D, C) of the pool's answers
    sd: np.ndarray  # (D,) of the normal around 0 under which cuts give the shares

    @property
    def exact(self) -> bool:
        return False

    def reads(self, d: int) -> bool:
        return bool(np.isfinite(self.cuts[d]).any())

    def start(self, K: int) -> np.ndarray:
        return np.tile(self.cuts, (K, 1, 1))

    def read(self, d: int, numbers: Numbers, shape: np.ndarray, *, learn: bool) -> Read:
        """Thresholds where the bound is highest, and normals cut off at them.                              eq. O1"""
        C = int(np.isfinite(self.cuts[d]).sum()) + 1
        category = np.searchsorted(self.cuts[d, : C - 1], numbers.y)
        tau, pool = shape[:, : C - 1], _Pool(self.cuts[d, : C - 1], self.shares[d, :C], float(self.sd[d]))
        if learn and C > 3:
            tau = _climb(tau, category, numbers, pool)
        edges = _edges(tau)
        low, high = edges[numbers.annotator, category], edges[numbers.annotator, category + 1]
        cut = interval((low - numbers.center) / numbers.sd, (high - numbers.center) / numbers.sd)
        mean, variance, entropy = truncated_between(cut)
        found = shape.copy()
        found[:, : C - 1] = tau
        return Read(
            numbers.center + numbers.sd * mean,
            numbers.sd**2 * variance,
            found,
            float((entropy + np.log(numbers.sd)).sum()),
            float(pool.log_prior(tau).sum()),
        )


class _Pool(NamedTuple):
    cuts: np.ndarray  # (C - 1,)
    shares: np.ndarray  # (C,)
    sd: float

    def log_prior(self, tau: np.ndarray) -> np.ndarray:
        """(K,) relative to its highest value, which the pool's own thresholds have.                        eq. O2"""
        edges = _edges(tau) / self.sd
        log_mass = interval(edges[:, :-1], edges[:, 1:]).log_mass
        return np.asarray(POOL_RATINGS * (self.shares * (log_mass - np.log(self.shares))).sum(axis=1))


def pool_thresholds(shares: np.ndarray) -> np.ndarray:
    """(C - 1,) thresholds under which a standard normal gives these shares (C,) of answers."""
    return np.asarray(ndtri(np.cumsum(shares)[:-1]))


def normal_scores(shares: np.ndarray) -> np.ndarray:
    """(C,) the mean of a standard normal within each interval of these shares: `(phi(low) - phi(high)) / share`."""
    density = np.exp(-0.5 * (pool_thresholds(shares) ** 2 + LOG_2PI))
    return np.asarray(-np.diff(np.concatenate([[0.0], density, [0.0]])) / shares)


def interval(low: np.ndarray, high: np.ndarray) -> Interval:
    """Of a standard normal between bounds low < high, either of which may be infinite."""
    # In the upper tail the lower one, mirrored, keeps all digits.
    mirrored = low > 0
    a, b = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    upper, lower = log_ndtr(b), log_ndtr(a)
    log_mass = np.maximum(upper + np.log(-np.expm1(np.minimum(lower - upper, -1e-16))), LEAST_MASS)

    def over_mass(bound: np.ndarray) -> np.ndarray:
        return np.asarray(np.exp(-0.5 * bound**2 - 0.5 * LOG_2PI - log_mass))

    finite = [np.where(np.isfinite(bound), bound, 0.0) for bound in (low, high)]
    return Interval(log_mass, over_mass(low), over_mass(high), *finite)


def truncated_between(cut: Interval) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, variance and entropy of a standard normal inside an interval."""
    mean = cut.at_low - cut.at_high
    slope = cut.low * cut.at_low - cut.high * cut.at_high
    variance = np.clip(1 + slope - mean**2, 0.0, 1.0)
    return mean, variance, 0.5 * (LOG_2PI + 1) + cut.log_mass + 0.5 * slope


def _edges(tau: np.ndarray) -> np.ndarray:
    """(K, C + 1) thresholds with infinite ends."""
    end = np.full((len(tau), 1), np.inf)
    return np.asarray(np.hstack([-end, tau, end]))


def _climb(tau: np.ndarray, category: np.ndarray, numbers: Numbers, pool: _Pool) -> np.ndarray:
    """One Newton step of every annotator's inner thresholds, halved until the bound is no lower."""
    K, n = tau.shape
    free = np.arange(1, n - 1)

    def masses(tau: np.ndarray) -> Interval:
        edges = _edges(tau)
        low, high = edges[numbers.annotator, category], edges[numbers.annotator, category + 1]
        return interval((low - numbers.center) / numbers.sd, (high - numbers.center) / numbers.sd)

    def objective(tau: np.ndarray) -> np.ndarray:
        own = np.bincount(numbers.annotator, weights=masses(tau).log_mass, minlength=K)
        return np.asarray(own + pool.log_prior(tau))

    slope, curvature = np.zeros((K, n + 2)), np.zeros((K, n + 2, n + 2))
    edges = _edges(tau) / pool.sd
    imaginary = interval(edges[:, :-1], edges[:, 1:])
    weight = POOL_RATINGS * pool.shares
    everyone, of_pool = np.repeat(np.arange(K), n + 1), np.tile(np.arange(n + 1), K)
    _accumulate(slope, curvature, masses(tau), numbers.annotator, category, 1 / numbers.sd, 1.0)
    flat = Interval(*(part.ravel() for part in imaginary))
    _accumulate(slope, curvature, flat, everyone, of_pool, 1 / pool.sd, np.tile(weight, K))
    # Thresholds stand between infinite ends here: place c + 1 of the sums is threshold c.
    step = np.zeros_like(tau)
    inner = curvature[:, 1 + free[:, None], 1 + free]
    step[:, free] = np.linalg.solve(-inner, slope[:, 1 + free][:, :, None])[:, :, 0]
    now, size = objective(tau), np.ones((K, 1))
    for _ in range(HALVINGS):
        proposal = tau + size * step
        good = np.asarray((np.diff(proposal, axis=1) > 0).all(axis=1))
        good &= objective(np.where(good[:, None], proposal, tau)) >= now
        if good.all():
            return np.asarray(proposal)
        size = np.where(good[:, None], size, size / 2)
    return np.asarray(np.where(good[:, None], proposal, tau))


def _accumulate(
    slope: np.ndarray,
    curvature: np.ndarray,
    cut: Interval,
    who: np.ndarray,
    category: np.ndarray,
    unit: np.ndarray | float,
    weight: np.ndarray | float,
) -> None:
    """Adds first and second derivatives of log masses by the bounds of their intervals, in units `unit`.

    Sums (K, C + 1) and (K, C + 1, C + 1); infinite bounds have density 0.
    """
    low, high = cut.at_low, cut.at_high
    np.add.at(slope, (who, category), -weight * low * unit)
    np.add.at(slope, (who, category + 1), weight * high * unit)
    square = weight * np.square(unit)
    np.add.at(curvature, (who, category, category), square * (cut.low * low - low**2))
    np.add.at(curvature, (who, category + 1, category + 1), -square * (cut.high * high + high**2))
    np.add.at(curvature, (who, category, category + 1), square * low * high)
    np.add.at(curvature, (who, category + 1, category), square * low * high)
