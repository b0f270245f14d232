"""Censored ratings: the same model, with answers at the ends of the scale as "at least this much".

Who would answer 7 on a scale that ends at 5 answers 5. Where a noticeable share of the ratings lies exactly on an end,
such a rating is replaced by its expectation given the model and everything else, with its variance, at every step.

    y* ~ N(c, v) given the other dimensions' errors, y* <= low or y* >= high:  mean and variance of a truncated normal

eq. B14
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from unisono.maths.em import EmTrace, run_em
from unisono.maths.items.data import ItemData, profile_sums
from unisono.maths.items.estep import Posterior, posterior
from unisono.maths.items.params import ItemParams, noise_precision
from unisono.maths.items.priors import (
    CENSORED_STEPS,
    COMPLETION_ROUNDS,
    COMPLETION_TOLERANCE,
    LEAST_TRUNCATED_VARIANCE,
    PILE_RATINGS,
    PILE_SHARE,
)
from unisono.maths.items.state import BayesSettings, BayesState
from unisono.maths.items.targets import scaled_targets
from unisono.maths.items.vb import bayes_step


class Bounds(NamedTuple):
    """Where the scale ends, in standardised units; infinite where nobody gets there."""

    low: np.ndarray  # (D,)
    high: np.ndarray  # (D,)

    @property
    def any(self) -> bool:
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())


class Completed(NamedTuple):
    """Ratings with those on a bound replaced by expectations."""

    data: ItemData
    variance: np.ndarray  # (D,) of all numbers, the uncertainty of replaced ones included


class _State(NamedTuple):
    bayes: BayesState
    completed: Completed


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


def estimate_censored(
    data: ItemData, start: BayesState, bounds: Bounds, settings: BayesSettings, tol: float
) -> tuple[BayesState, EmTrace]:
    """Variational EM in which ratings on a bound are completed anew after every step."""

    def step(state: _State) -> tuple[_State, float]:
        at = settings._replace(targets=scaled_targets(settings.targets, state.completed.variance))
        bayes, bound = bayes_step(state.completed.data, state.bayes, at)
        return _State(bayes, complete(state.completed.data, data, bounds, bayes.params, bayes.mean)), bound

    def settled(_: list[float], before: _State, after: _State) -> bool:
        return bool(np.max(np.abs(after.bayes.mean - before.bayes.mean), initial=0.0) < tol)

    begin = _State(start, complete(data, data, bounds, start.params, start.mean))
    state, trace = run_em(step, begin, stop_when=settled, max_iter=CENSORED_STEPS)
    return state.bayes, trace


def censored_posterior(data: ItemData, bounds: Bounds, params: ItemParams) -> Posterior:
    """Truths of items under fixed parameters, with ratings on a bound completed until nothing moves."""
    found, completed = posterior(data, params), data
    for _ in range(COMPLETION_ROUNDS):
        completed = complete(completed, data, bounds, params, found.mean).data
        before, found = found, posterior(completed, params)
        if np.max(np.abs(found.mean - before.mean), initial=0.0) < COMPLETION_TOLERANCE:
            break
    return found


def complete(current: ItemData, given: ItemData, bounds: Bounds, params: ItemParams, mean: np.ndarray) -> Completed:
    """One sweep over dimensions: ratings `given` on a bound get their expectation, others' current values known."""
    y, added = current.y.copy(), np.zeros((len(given.annotator), given.D))
    W, _ = noise_precision(params.N, given.annotator, given.answered)
    answered = given.answered[given.profile_of]
    item_of = given.item_of
    low, high = answered & (given.y <= bounds.low), answered & (given.y >= bounds.high)
    rows = np.flatnonzero((low | high).any(axis=1))
    profile = given.profile_of[rows]
    abar = np.hstack([mean[item_of[rows]], np.ones((len(rows), 1))])
    expected = np.einsum("ndi,ni->nd", params.B[given.annotator[profile]], abar)
    for d in range(given.D):
        for at_bound, bound, sign in ((low, bounds.low, 1.0), (high, bounds.high, -1.0)):
            here = np.flatnonzero(at_bound[rows, d])
            own = W[profile[here], d]
            error = np.where(answered[rows[here]], y[rows[here]] - expected[here], 0.0)
            weight = own[:, d]
            center = expected[here, d] - ((own * error).sum(axis=1) - weight * error[:, d]) / weight
            value, variance = truncated_above(sign * center, 1 / np.sqrt(weight), sign * bound[d])
            y[rows[here], d] = sign * value
            added[:, d] += np.bincount(profile[here], weights=variance, minlength=len(added))
    Sy, Syy = profile_sums(y, given.profile_of, len(given.annotator))
    dims = np.arange(given.D)
    Syy[:, dims, dims] += added
    numbers = np.maximum(given.judgements @ given.answered, 1)
    spread = np.einsum("udd->d", Syy) / numbers - (Sy.sum(axis=0) / numbers) ** 2
    return Completed(given._replace(y=y, Sy=Sy, Syy=Syy), spread)


def truncated_above(center: np.ndarray, sd: np.ndarray, bound: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of N(center, sd^2) given that it is at most `bound`."""
    a = (bound - center) / sd
    ratio = np.exp(-0.5 * a**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(a))
    return center - sd * ratio, sd**2 * np.maximum(1 - a * ratio - ratio**2, LEAST_TRUNCATED_VARIANCE)


def expected_answer(mean: np.ndarray, variance: np.ndarray, bounds: Bounds) -> np.ndarray:
    """(M, D) what a typical annotator answers: E of N(mean, variance) cut off at the bounds."""
    sd = np.sqrt(variance)
    a, b = (bounds.low - mean) / sd, (bounds.high - mean) / sd
    below, above = ndtr(a), ndtr(-b)
    low, high = (np.where(np.isfinite(bound), bound, 0.0) for bound in bounds)
    density = (np.exp(-0.5 * a**2) - np.exp(-0.5 * b**2)) / np.sqrt(2 * np.pi)
    return np.asarray(low * below + high * above + mean * (1 - below - above) + sd * density)
