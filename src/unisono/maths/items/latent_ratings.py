"""Ratings that are no numbers on a straight scale: each stands for a latent rating y*.

    ordinal   y* lies between two thresholds of the annotator (an ordered probit)
    warp      y* is a monotone function of the rating, the annotator's own

Given everything else, one dimension after the other, y*_nd has precision W_dd and the center that truth, annotator and
the errors on the other dimensions give it. `shape` (K, D, C) is what is learned of each annotator. Both bounds are
concave in it.

Thresholds:  answer c  iff  tau_kc-1 < y* <= tau_kc,   y* ~ N(center, sd^2) given the rest of the model      eq. O1

    log prior of tau_k = w sum_c P_c log(Q_kc / P_c),  Q_kc = Phi_0(tau_kc) - Phi_0(tau_kc-1)                eq. O2
    sum_n log[Phi((tau_c - center_n) / sd_n) - Phi((tau_c-1 - center_n) / sd_n)] + log prior                 eq. O3

P_c are the pool's shares of answers under one normal, Phi_0; w imaginary ratings shrink thresholds towards the pool's.
The outer ones are fixed, so that bias, gain and noise keep their meaning.

Warp:  y* = g_k(y),   g_k(y) = low + range * sum_j p_kj I_j(y),   p_kj > 0, sum_j p_kj = 1                   eq. W1

    sum_n [log slope(y_n) - 1/2 (g_k(y_n) - center_n)^2 / sd_n^2] + w sum_j p0_j log(p_kj / p0_j)            eq. W2

I_j rises from 0 to 1 between two knots: g_k is a broken line through the ends of the scale; with p0_j, the segments'
own shares of the range, it is the identity, which w imaginary ratings stand for.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import log_ndtr, ndtri

from unisono.maths.items.item_data import ItemData, profile_sums
from unisono.maths.items.item_estep import Posterior, posterior
from unisono.maths.items.item_params import LOG_2PI, ItemParams, noise_precision

COMPLETION_ROUNDS = 50  # numerical: rounds of reading ratings under fixed parameters, at most
COMPLETION_TOLERANCE = 1e-3  # numerical: change of any truth that ends them


class Completed(NamedTuple):
    """Ratings with the numbers behind them in their place."""

    y: np.ndarray  # (J, D)
    Sy: np.ndarray  # (U, D)
    Syy: np.ndarray  # (U, D, D) what is unknown of the numbers included
    entropy: float  # of the numbers
    log_prior: float  # of what was learned of annotators ...
    shape: np.ndarray  # ... and that itself

    def of(self, data: ItemData) -> ItemData:
        """The data with these ratings."""
        return data._replace(y=self.y, Sy=self.Sy, Syy=self.Syy)


class Numbers(NamedTuple):
    """Ratings of one dimension, in the order of `rows`, with what the rest of the model expects of them."""

    rows: np.ndarray  # (n,) judgements that answer the dimension
    y: np.ndarray  # (n,) as given
    annotator: np.ndarray  # (n,)
    center: np.ndarray  # (n,) expected y*
    sd: np.ndarray  # (n,) around it


class Read(NamedTuple):
    """The numbers behind ratings of one dimension, and what is learned of annotators by them."""

    mean: np.ndarray  # (n,)
    variance: np.ndarray  # (n,)
    shape: np.ndarray  # (K, C)
    entropy: float  # of the numbers; of a monotone function, the logarithm of its slopes
    log_prior: float  # of the shape, relative to its highest value


class Reading(Protocol):
    """A way to read ratings. `learn` moves the shapes to where the bound is highest."""

    @property
    def exact(self) -> bool:
        """Whether the shape of an annotator says which number a rating stands for."""

    def reads(self, d: int) -> bool:
        """Whether ratings of this dimension are read so; the others are numbers."""

    def start(self, K: int) -> np.ndarray:
        """(K, D, C) the shape of annotators of whom nothing is known."""

    def read(self, d: int, numbers: Numbers, shape: np.ndarray, *, learn: bool) -> Read:
        """The numbers behind the ratings of dimension d, from the shapes (K, C) there."""


class FittedReading(NamedTuple):
    """A reading with the shapes that were learned; the last one is the newcomer's."""

    reading: Reading
    shape: np.ndarray  # (K, D, C)


def complete_reading(
    current: ItemData,
    given: ItemData,
    fitted: FittedReading,
    params: ItemParams,
    mean: np.ndarray,
    *,
    learn: bool,
) -> Completed:
    """One sweep over dimensions: the numbers behind ratings `given`, with others at their current expectation.

    `mean` (M, D) expected truths.
    """
    reading, shape = fitted.reading, fitted.shape.copy()
    y, added = current.y.copy(), np.zeros((len(given.annotator), given.D))
    W, _ = noise_precision(params.N, given.annotator, given.answered)
    answered, who = given.answered[given.profile_of], given.annotator_of
    abar = np.hstack([mean[given.item_of], np.ones((len(y), 1))])
    expected = np.einsum("ndi,ni->nd", params.B[who], abar)
    error = np.where(answered, y - expected, 0.0)
    entropy = log_prior = 0.0
    for d in filter(reading.reads, range(given.D)):
        rows = np.flatnonzero(answered[:, d])
        profile = given.profile_of[rows]
        own = W[profile, d]
        weight = own[:, d]
        center = expected[rows, d] - (np.einsum("ne,ne->n", own, error[rows]) - weight * error[rows, d]) / weight
        numbers = Numbers(rows, given.y[rows, d], who[rows], center, 1 / np.sqrt(weight))
        found = reading.read(d, numbers, shape[:, d], learn=learn)
        shape[:, d] = found.shape
        y[rows, d], error[rows, d] = found.mean, found.mean - expected[rows, d]
        added[:, d] = np.bincount(profile, weights=found.variance, minlength=len(added))
        entropy, log_prior = entropy + found.entropy, log_prior + found.log_prior
    Sy, Syy = profile_sums(y, given.profile_of, len(given.annotator))
    dims = np.arange(given.D)
    Syy[:, dims, dims] += added
    return Completed(y, Sy, Syy, entropy, log_prior, shape)


def read_posterior(data: ItemData, fitted: FittedReading, params: ItemParams) -> tuple[Posterior, ItemData]:
    """Truths of items under fixed parameters, and their ratings as read, until nothing moves."""
    found, completed = posterior(data, params), data
    for _ in range(COMPLETION_ROUNDS):
        completed = complete_reading(completed, data, fitted, params, found.mean, learn=False).of(data)
        before, found = found, posterior(completed, params)
        if np.max(np.abs(found.mean - before.mean), initial=0.0) < COMPLETION_TOLERANCE:
            break
    return found, completed


POOL_RATINGS = 6.0  # of `response="ordinal"`: imaginary ratings of the pool behind an annotator's thresholds
THRESHOLD_HALVINGS = 8  # numerical: of a Newton step that does not climb
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
            tau = _better_thresholds(tau, category, numbers, pool)
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


def _better_thresholds(tau: np.ndarray, category: np.ndarray, numbers: Numbers, pool: _Pool) -> np.ndarray:
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
    for _ in range(THRESHOLD_HALVINGS):
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


STRAIGHT_RATINGS = 30.0  # of `response="warp"`: imaginary ratings behind the identity
FEWEST_RATINGS = 100  # of `response="warp"`: ratings of a dimension that it takes to learn an annotator's function
SEGMENTS = 5  # of `response="warp"`: as many with equal shares of the ratings
SEGMENT_HALVINGS = 8  # numerical: of a Newton step that does not climb


class Warp(NamedTuple):
    """The reading of sliders; `knots` from one end of the scale to the other, NaN beyond what a dimension has."""

    knots: np.ndarray  # (D, J + 1) standardised; all NaN where ratings are numbers

    @property
    def exact(self) -> bool:
        return True

    def reads(self, d: int) -> bool:
        return bool(np.isfinite(self.knots[d]).any())

    def start(self, K: int) -> np.ndarray:
        width = np.diff(self.knots, axis=1)
        return np.tile(width / np.nansum(width, axis=1, keepdims=True), (K, 1, 1))

    def read(self, d: int, numbers: Numbers, shape: np.ndarray, *, learn: bool) -> Read:
        """Segments where the bound is highest, and ratings on the broken line.                             eq. W1"""
        knots = self.knots[d][np.isfinite(self.knots[d])]
        J = len(knots) - 1
        straight = np.diff(knots) / (knots[-1] - knots[0])
        inside = np.clip((numbers.y[:, None] - knots[:-1]) / np.diff(knots), 0.0, 1.0)  # (n, J) I_j
        segment = np.clip(np.searchsorted(knots, numbers.y, side="right") - 1, 0, J - 1)
        p = shape[:, :J]
        if learn:
            p = _better_segments(p, numbers, inside, segment, knots, straight)
        mean = knots[0] + (knots[-1] - knots[0]) * np.einsum("nj,nj->n", inside, p[numbers.annotator])
        found = shape.copy()
        found[:, :J] = p
        log_slope = np.log(p / straight)
        return Read(
            mean,
            np.zeros(len(mean)),
            found,
            float(log_slope[numbers.annotator, segment].sum()),
            float(STRAIGHT_RATINGS * (straight * log_slope).sum()),
        )


def pooled_knots(y: np.ndarray, low: float, high: float) -> np.ndarray:
    """Knots from `low` to `high` between which about equally many of the ratings y (n,) lie."""
    inner = np.quantile(y, np.arange(1, SEGMENTS) / SEGMENTS)
    inner = np.unique(inner[(inner > low) & (inner < high)])
    return np.concatenate([[low], inner, [high]])


def _better_segments(
    p: np.ndarray,
    numbers: Numbers,
    inside: np.ndarray,
    segment: np.ndarray,
    knots: np.ndarray,
    straight: np.ndarray,
) -> np.ndarray:
    """One Newton step of eq. W2 for every annotator with enough ratings, halved until the bound is no lower."""
    K, J = p.shape
    reach, who, weight = knots[-1] - knots[0], numbers.annotator, 1 / numbers.sd**2
    given = np.bincount(who, minlength=K)
    count = np.zeros((K, J))
    np.add.at(count, (who, segment), 1.0)
    count += STRAIGHT_RATINGS * straight
    quadratic, linear = np.zeros((K, J, J)), np.zeros((K, J))
    np.add.at(quadratic, who, reach**2 * weight[:, None, None] * inside[:, :, None] * inside[:, None, :])
    np.add.at(linear, who, reach * (weight * (numbers.center - knots[0]))[:, None] * inside)

    def objective(p: np.ndarray) -> np.ndarray:
        square = np.einsum("kj,kji,ki->k", p, quadratic, p, optimize=True)
        return np.asarray((linear * p).sum(axis=1) - 0.5 * square + (count * np.log(p)).sum(axis=1))

    # Newton's step inside the plane of vectors that sum to one.
    system = np.zeros((K, J + 1, J + 1))
    system[:, :J, :J] = quadratic + (count / p**2)[:, :, None] * np.eye(J)
    system[:, :J, J] = system[:, J, :J] = 1.0
    slope = linear - np.einsum("kji,ki->kj", quadratic, p) + count / p
    step = np.linalg.solve(system, np.hstack([slope, np.zeros((K, 1))])[:, :, None])[:, :J, 0]
    step[given < FEWEST_RATINGS] = 0.0
    now, size = objective(p), np.ones((K, 1))
    for _ in range(SEGMENT_HALVINGS):
        proposal = p + size * step
        good = np.asarray((proposal > 0).all(axis=1))
        good &= objective(np.where(good[:, None], proposal, p)) >= now
        if good.all():
            return proposal
        size = np.where(good[:, None], size, size / 2)
    return np.where(good[:, None], proposal, p)
