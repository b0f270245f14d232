"""Ends of the scale: answers there mean "at most this much" or "at least this much".

Who would answer 7 on a scale that ends at 5 answers 5. Where a noticeable share of the ratings lies exactly on an end,
the number y* behind such a rating is unknown, and q(y*) is a normal that is cut off there, one number at a time:

    y*_nd ~ N(c, v) given the others, y* <= low or y* >= high                                                  eq. B14
    H[q] = log(sd Phi(t) sqrt(2 pi e)) - t phi(t) / (2 Phi(t)),  t the distance of the end from c in sd

Moments and entropy enter the bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from unisono.maths.items.data import ItemData, profile_sums
from unisono.maths.items.estep import Posterior, posterior
from unisono.maths.items.params import LOG_2PI, ItemParams, noise_precision

PILE_SHARE = 0.02  # of `censored` alone: share of a dimension's ratings exactly on an end from which it is a bound ...
PILE_RATINGS = 3  # ... and the least number of them
COMPLETION_ROUNDS = 50  # numerical: rounds of completing ratings under fixed parameters, at most
COMPLETION_TOLERANCE = 1e-3  # numerical: change of any truth that ends them
FAR_BEYOND = -30.0  # numerical: standard deviations from which the variance of a cut-off normal is its series


class Bounds(NamedTuple):
    """Where the scale ends, in standardised units; infinite where nobody gets there."""

    low: np.ndarray  # (D,)
    high: np.ndarray  # (D,)

    @property
    def any(self) -> bool:
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())


class Completed(NamedTuple):
    """Ratings with those on an end replaced by expectations."""

    y: np.ndarray  # (J, D)
    Sy: np.ndarray  # (U, D)
    Syy: np.ndarray  # (U, D, D) what is unknown of replaced ones included
    entropy: float  # of the numbers behind them
    log_prior: float = 0.0  # of what was learned of annotators by another reading of ratings ...
    shape: np.ndarray | None = None  # ... and that itself; see `readings`

    def of(self, data: ItemData) -> ItemData:
        """The data with these ratings."""
        return data._replace(y=self.y, Sy=self.Sy, Syy=self.Syy)


class Truncated(NamedTuple):
    """Moments and entropy of normals that are cut off."""

    mean: np.ndarray
    variance: np.ndarray
    entropy: np.ndarray


def find_bounds(data: ItemData, ends: Bounds) -> Bounds:
    """Those `ends` of the scale on which ratings pile up."""
    low, high = np.full(data.D, -np.inf), np.full(data.D, np.inf)
    answered = data.answered[data.profile_of]
    for d in range(data.D):
        y = data.y[answered[:, d], d]
        if not len(y) or y.min() == y.max():
            continue
        enough = max(PILE_SHARE * len(y), PILE_RATINGS)
        low[d] = ends.low[d] if (y <= ends.low[d]).sum() >= enough else -np.inf
        high[d] = ends.high[d] if (y >= ends.high[d]).sum() >= enough else np.inf
    return Bounds(low, high)


def complete(current: ItemData, given: ItemData, bounds: Bounds, params: ItemParams, mean: np.ndarray) -> Completed:
    """One sweep over dimensions: q(y*) of ratings `given` on an end, with others at their current expectation.

    `mean` (M, D) expected truths.
    """
    y, added = current.y.copy(), np.zeros((len(given.annotator), given.D))
    W, _ = noise_precision(params.N, given.annotator, given.answered)
    answered = given.answered[given.profile_of]
    low, high = answered & (given.y <= bounds.low), answered & (given.y >= bounds.high)
    rows = np.flatnonzero((low | high).any(axis=1))
    profile, seen = given.profile_of[rows], answered[rows]
    abar = np.hstack([mean[given.item_of[rows]], np.ones((len(rows), 1))])
    expected = np.einsum("ndi,ni->nd", params.B[given.annotator[profile]], abar)
    error = np.where(seen, y[rows] - expected, 0.0)
    entropy = 0.0
    for d in range(given.D):
        for at_end, end, sign in ((low, bounds.low, 1.0), (high, bounds.high, -1.0)):
            here = np.flatnonzero(at_end[rows, d])
            own = W[profile[here], d]
            weight = own[:, d]
            center = expected[here, d] - (np.einsum("ne,ne->n", own, error[here]) - weight * error[here, d]) / weight
            cut = truncated_above(sign * center, 1 / np.sqrt(weight), sign * end[d])
            y[rows[here], d] = sign * cut.mean
            error[here, d] = sign * cut.mean - expected[here, d]
            added[:, d] += np.bincount(profile[here], weights=cut.variance, minlength=len(added))
            entropy += float(cut.entropy.sum())
    Sy, Syy = profile_sums(y, given.profile_of, len(given.annotator))
    dims = np.arange(given.D)
    Syy[:, dims, dims] += added
    return Completed(y, Sy, Syy, entropy)


def completed_posterior(data: ItemData, bounds: Bounds | None, params: ItemParams) -> tuple[Posterior, ItemData]:
    """Truths of items under fixed parameters, and their ratings with those on an end completed, until nothing moves."""
    found, completed = posterior(data, params), data
    if bounds is None or not bounds.any:
        return found, data
    for _ in range(COMPLETION_ROUNDS):
        completed = complete(completed, data, bounds, params, found.mean).of(data)
        before, found = found, posterior(completed, params)
        if np.max(np.abs(found.mean - before.mean), initial=0.0) < COMPLETION_TOLERANCE:
            break
    return found, completed


def truncated_above(center: np.ndarray, sd: np.ndarray, bound: float) -> Truncated:
    """N(center, sd^2) given that it is at most `bound`."""
    t = (bound - center) / sd
    log_mass = log_ndtr(t)
    ratio = np.exp(-0.5 * t**2 - 0.5 * LOG_2PI - log_mass)
    far = np.minimum(t, FAR_BEYOND)
    variance = np.where(t < FAR_BEYOND, (1 - 6 / far**2) / far**2, 1 - t * ratio - ratio**2)
    entropy = 0.5 * (LOG_2PI + 1) + np.log(sd) + log_mass - 0.5 * t * ratio
    return Truncated(center - sd * ratio, sd**2 * variance, entropy)


def expected_answer(mean: np.ndarray, variance: np.ndarray, bounds: Bounds) -> np.ndarray:
    """(M, D) what a typical annotator answers: E of N(mean, variance) cut off at the bounds."""
    sd = np.sqrt(variance)
    a, b = (bounds.low - mean) / sd, (bounds.high - mean) / sd
    below, above = ndtr(a), ndtr(-b)
    low, high = (np.where(np.isfinite(bound), bound, 0.0) for bound in bounds)
    density = (np.exp(-0.5 * a**2) - np.exp(-0.5 * b**2)) / np.sqrt(2 * np.pi)
    return np.asarray(low * below + high * above + mean * (1 - below - above) + sd * density)
