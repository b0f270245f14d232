"""What can be said of all differences of systems at once: simultaneous intervals, rank sets, who is best.

With the means' errors Z ~ N(0, V) drawn for all dimensions together, each draw with variances of its own,

    c = level-quantile of max over dimensions and pairs |Z_s - Z_t| / se_st                                 eq. L6

and |difference| > c se_st is clear: wrong anywhere in at most 1 - level of all tables. Step-down: pairs that are clear
are no longer among the maxima, until nothing new is clear. A rank runs from 1 + how many are clearly better to S - how
many are clearly worse: jointly right whenever the intervals are (Mogstad, Romano, Shaikh, Wilhelm 2023).

Errors of prompts and noise need not be alike for all systems. The covariance W of what prompts contribute (influence
psi_p) is mixed with that of the model, by the share a of the squared distance of the two that is chance:

    W = a W_model + (1 - a) sum_p psi_p psi_p' P / (P - 1),   within contrasts of systems                  eq. L7

Variances are drawn as well, from what they may be (eq. L8), so that few annotators make intervals wide.

    S systems, D dimensions, n draws
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from unisono.maths.systems import mixed_model, score_design
from unisono.maths.systems.system_priors import DRAWS, DUST, PAIR_DRAWS, SIDE, SINGLE_DRAWS

NEWTON_STEPS, NEWTON_SETTLED = 60, 1e-13  # numerical: of the width of an interval


class Sources(NamedTuple):
    """Sources (c,) of the error of means: their covariances at a variance of one, and what their variances may be."""

    part: np.ndarray  # (c, S, S)
    people: np.ndarray  # (c,) whether it is who rated
    chance: mixed_model.Chance


class Means(NamedTuple):
    """Means of systems on one dimension with the covariance of their errors."""

    mean: np.ndarray  # (S,)
    cov: np.ndarray  # (S, S)
    by_people: np.ndarray  # (S, S) the part of the covariance that comes from who rated
    sources: tuple[Sources, ...] = ()

    def mixed(self, share: float, other: Means) -> Means:
        """`share` parts of this, the rest of the other."""
        cov = share * self.cov + (1 - share) * other.cov
        people = share * self.by_people + (1 - share) * other.by_people
        sources = (*_times(self.sources, share), *_times(other.sources, 1 - share))
        return Means(share * self.mean + (1 - share) * other.mean, cov, people, sources)


def _times(sources: Sequence[Sources], factor: float) -> tuple[Sources, ...]:
    return tuple(one._replace(part=factor * one.part) for one in sources if factor)


class Statements(NamedTuple):
    """What holds for all dimensions at once; pairs in the order of `np.triu_indices(S, 1)`."""

    critical: float  # c at first
    difference: np.ndarray  # (D, pairs) first less second
    half: np.ndarray  # (D, pairs) half widths of the simultaneous intervals
    low: np.ndarray  # (D, pairs) of simultaneous intervals; those of clear differences stay on their side of zero
    high: np.ndarray  # (D, pairs)
    clear: np.ndarray  # (D, pairs)
    rank_low: np.ndarray  # (D, S)
    rank_high: np.ndarray  # (D, S)
    best: np.ndarray  # (D, S) probabilities
    own: np.ndarray  # (D, S) half widths of the means' intervals, each by itself


def pooled_means(fit: mixed_model.MixedFit, S: int, these: Sequence[str] = ()) -> Means:
    """Means of the systems, in error by what is random: all but the components named in `these`."""
    counted = np.array([name not in these for name in fit.names])
    theta = fit.theta * counted
    part = fit.part[:, :S, :S]
    cov = np.einsum("c,cst->st", theta, part)
    people = np.array([name in (score_design.ANNOTATORS, score_design.FAVOURITES) for name in fit.names])
    by_people = np.einsum("c,cst->st", theta * people, part)
    if counted[~people].all():
        cov = by_people + prompt_covariance(fit.influence[:, :S], cov - by_people)
    return Means(fit.mean[:S], cov, by_people, (Sources(part[counted], people[counted], fit.chance.of(counted)),))


def prompt_covariance(influence: np.ndarray, model: np.ndarray) -> np.ndarray:
    """(S, S) of what prompts and noise contribute, from the model and from the influence (P, S) of prompts.  eq. L7"""
    P, S = influence.shape
    if S < 2 or P < 3:
        return model
    psi = influence - influence.mean(axis=1, keepdims=True)
    centre = np.eye(S) - 1 / S
    seen = psi.T @ psi * P / (P - 1)
    expected = centre @ model @ centre
    square = psi**2
    chance = float(np.sum(square.T @ square) * P - np.sum((psi.T @ psi) ** 2)) / (P - 1)
    distance = float(np.sum((seen - expected) ** 2))
    share = min(chance / distance, 1.0) if distance > 0 else 1.0
    return np.asarray(model + (1 - share) * (seen - expected))


def statements(found: Sequence[Means], alike: np.ndarray, level: float, rng: np.random.Generator) -> Statements:
    """Everything at once; `alike` (D, D) correlates the errors of dimensions.                            eq. L6"""
    S, D = len(found[0].mean), len(found)
    first, second = np.triu_indices(S, 1)
    n = int(np.clip(PAIR_DRAWS // max(len(first) * D, 1), 1000, DRAWS))
    Z = errors(found, alike, n, rng)
    mean = np.stack([one.mean for one in found])
    difference = mean[:, first] - mean[:, second]
    sd = np.stack([np.sqrt(np.maximum(_pair_variance(one.cov, first, second), 0.0)) for one in found])
    seen = np.abs(np.nan_to_num(difference)) > np.array([[DUST * _size(one)] for one in found])  # not rounding
    known = (sd > 0) & np.isfinite(difference)
    clear, critical = np.zeros(difference.shape, dtype=bool), 0.0
    # A row for every draw, a column for every pair of every dimension.
    T = np.concatenate(
        [np.abs(z[:, first] - z[:, second])[:, k] / own[k] for z, k, own in zip(Z, known, sd, strict=True)], 1
    )
    gap, place = (difference / np.where(known, sd, 1.0))[known], np.flatnonzero(known)
    while len(place):
        c = float(np.quantile(T.max(axis=1), level))
        critical = critical or c
        more = (np.abs(gap) > c) & seen.flat[place]
        clear.flat[place[more]] = True
        if not more.any():
            break
        T, gap, place = T[:, ~more], gap[~more], place[~more]
    clear |= (sd == 0) & seen  # nothing is random
    better = np.zeros((D, S, S), dtype=bool)
    better[:, first, second] = clear & (difference > 0)
    better[:, second, first] = clear & (difference < 0)
    best = (np.where(np.isfinite(mean), mean, -np.inf)[:, None] + Z).argmax(axis=2)
    share = np.stack([np.bincount(row, minlength=S) / n for row in best])
    ahead, behind = better.sum(axis=1), better.sum(axis=2)
    half = critical * sd
    low, high = difference - half, difference + half
    low = np.where(clear & (difference > 0), np.maximum(low, SIDE * difference), low)
    high = np.where(clear & (difference < 0), np.minimum(high, SIDE * difference), high)
    own = np.stack([half_widths(one, np.eye(S), level, rng) for one in found])
    return Statements(critical, difference, half, low, high, clear, 1 + ahead, S - behind, share, own)


def errors(found: Sequence[Means], alike: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """(D, n, S) draws of the errors of all means, each with variances of its own."""
    D, S = len(found), len(found[0].mean)
    root = _root(alike)
    normal = np.einsum("de,ens->dns", root, rng.standard_normal((D, n, S)))
    Z = np.empty((D, n, S))
    for d, one in enumerate(found):
        grown, people = _drawn(one, n, rng)
        Z[d] = np.sqrt(grown)[:, None] * (normal[d] @ _root(one.cov - one.by_people).T)
        for part, theta in people:
            Z[d] += np.sqrt(theta)[:, None] * (rng.standard_normal((n, S)) @ _root(part).T)
    return Z


def _drawn(one: Means, n: int, rng: np.random.Generator) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """(n,) draws over the estimate of the variance of differences but for who rated; parts of that, with draws (n,).

    The former has the degrees of freedom 2 V^2 / var V of Satterthwaite, V being what prompts and noise sum up to.
    """
    error, estimated, people = 0.0, 0.0, []
    for source in one.sources:
        each = np.trace(source.part, axis1=1, axis2=2) - source.part.mean(axis=1).sum(axis=1)
        each = np.where(source.people, 0.0, each)
        estimated += float(source.chance.theta @ each)
        error += source.chance.error(each)
        theta = source.chance.draws(n, rng)
        people += [(source.part[j], theta[:, j]) for j in np.flatnonzero(source.people)]
    if error <= 0 or estimated <= 0:
        return np.ones(n), people
    freedom = max(2 * estimated**2 / error, 1.0)
    return freedom / 2 / special.gammaincinv(freedom / 2, (rng.permutation(n) + 0.5) / n), people


def half_widths(one: Means, contrasts: np.ndarray, level: float, rng: np.random.Generator) -> np.ndarray:
    """(q,) of intervals, each by itself, for contrasts (q, S) of the means."""
    grown, people = _drawn(one, SINGLE_DRAWS, rng)
    variance = np.einsum("qs,st,qt->q", contrasts, one.cov - one.by_people, contrasts) * grown[:, None]
    for part, theta in people:
        variance += theta[:, None] * np.einsum("qs,st,qt->q", contrasts, part, contrasts)
    tiny = np.finfo(float).tiny
    sd = np.sqrt(np.maximum(variance, tiny))
    half = special.ndtri((1 + level) / 2) * np.sqrt(variance.clip(0).mean(axis=0))
    for _ in range(NEWTON_STEPS):  # what is inside is concave in half: from below, steps never go too far
        inside = special.erf(half / sd / np.sqrt(2)).mean(axis=0) - level
        slope = np.sqrt(2 / np.pi) * (np.exp(-(half**2) / sd**2 / 2) / sd).mean(axis=0)
        before, half = half, np.maximum(half - inside / np.maximum(slope, tiny), half / 4)
        if np.all(np.abs(half - before) <= NEWTON_SETTLED * half):
            break
    return np.asarray(half)


def dimension_correlation(influence: Sequence[np.ndarray]) -> np.ndarray:
    """(D, D) of the errors of dimensions, from what prompts (P, S) contribute to each."""
    psi = np.stack([(one - one.mean(axis=1, keepdims=True)).ravel() for one in influence])
    norm = np.sqrt(np.maximum((psi**2).sum(axis=1), np.finfo(float).tiny))
    return np.asarray(psi @ psi.T / norm / norm[:, None] * (1 - 1e-9) + np.eye(len(psi)) * 1e-9)


def _size(one: Means) -> float:
    """What means may come to: their spread, or the largest of their standard errors."""
    error = float(np.sqrt(np.maximum(np.diagonal(one.cov), 0.0).max()))
    return max(float(np.nanmax(one.mean) - np.nanmin(one.mean)), error)


def _pair_variance(cov: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    own = np.diagonal(cov)
    return np.asarray(own[first] + own[second] - 2 * cov[first, second])


def _root(cov: np.ndarray) -> np.ndarray:
    value, vector = np.linalg.eigh((cov + cov.T) / 2)
    return np.asarray(vector * np.sqrt(np.maximum(value, 0.0)))
