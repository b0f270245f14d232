"""What can be said of all differences of systems at once: simultaneous intervals, rank sets, who is best.

With the means' errors Z ~ N(0, V), or Student t with the freedom of V, drawn for all dimensions together,

    c = level-quantile of max over dimensions and pairs |Z_s - Z_t| / se_st                                 eq. L6

and |difference| > c se_st is clear: wrong anywhere in at most 1 - level of all tables. Step-down: pairs that are clear
are no longer among the maxima, until nothing new is clear. A rank runs from 1 + how many are clearly better to S - how
many are clearly worse: jointly right whenever the intervals are (Mogstad, Romano, Shaikh, Wilhelm 2023).

Errors of prompts and noise need not be alike for all systems. The covariance W of what prompts contribute (influence
psi_p) is mixed with that of the model, by the share a of the squared distance of the two that is chance:

    W = a W_model + (1 - a) sum_p psi_p psi_p' P / (P - 1),   within contrasts of systems                  eq. L7

Degrees of freedom are Satterthwaite's for the mean variance of differences v = sum_j theta_j v_j:

    nu = 2 v^2 / (v_j' AI^-1 v_k summed)                                                                  eq. L8

    S systems, D dimensions, n draws
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unisono.maths.systems.mixed_model import ANNOTATORS, FAVOURITES, MixedFit
from unisono.maths.systems.system_priors import DRAWS, LEAST_FREEDOM, PAIR_DRAWS, SIDE


class Means(NamedTuple):
    """Means of systems on one dimension with the covariance of their errors."""

    mean: np.ndarray  # (S,)
    cov: np.ndarray  # (S, S)
    freedom: float
    by_people: np.ndarray  # (S, S) the part of the covariance that comes from who rated


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


def pooled_means(fit: MixedFit, S: int, these: Sequence[str] = ()) -> Means:
    """Means of the systems, in error by what is random: all but the components named in `these`."""
    counted = np.array([name not in these for name in fit.names])
    theta = fit.theta * counted
    part = fit.part[:, :S, :S]
    cov = np.einsum("c,cst->st", theta, part)
    people = np.array([name in (ANNOTATORS, FAVOURITES) for name in fit.names])
    by_people = np.einsum("c,cst->st", theta * people, part)
    if counted[~people].all():
        cov = by_people + prompt_covariance(fit.influence[:, :S], cov - by_people)
    return Means(fit.mean[:S], cov, satterthwaite(theta, part, fit.information), by_people)


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


def satterthwaite(theta: np.ndarray, part: np.ndarray, information: np.ndarray) -> float:
    """Degrees of freedom of the mean variance of differences.                                            eq. L8"""
    S = part.shape[1]
    each = np.trace(part, axis1=1, axis2=2) - part.sum(axis=(1, 2)) / S
    seen = np.diagonal(information) > 0  # also of what was estimated to be nothing: it may be something
    if not seen.any():
        return float("inf")
    v = float(theta @ each)
    of_theta = np.linalg.pinv(information[np.ix_(seen, seen)], hermitian=True)
    spread = float(each[seen] @ of_theta @ each[seen])
    return max(2 * v**2 / spread, LEAST_FREEDOM) if spread > 0 else float("inf")


def statements(found: Sequence[Means], alike: np.ndarray, level: float, rng: np.random.Generator) -> Statements:
    """Everything at once; `alike` (D, D) correlates the errors of dimensions.                            eq. L6"""
    S, D = len(found[0].mean), len(found)
    first, second = np.triu_indices(S, 1)
    n = int(np.clip(PAIR_DRAWS // max(len(first) * D, 1), 1000, DRAWS))
    Z = errors(found, alike, n, rng)
    mean = np.stack([one.mean for one in found])
    difference = mean[:, first] - mean[:, second]
    sd = np.stack([np.sqrt(np.maximum(_pair_variance(one.cov, first, second), 0.0)) for one in found])
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
        more = np.abs(gap) > c
        clear.flat[place[more]] = True
        if not more.any():
            break
        T, gap, place = T[:, ~more], gap[~more], place[~more]
    clear |= (sd == 0) & (np.nan_to_num(difference) != 0)  # nothing is random
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
    return Statements(critical, difference, half, low, high, clear, 1 + ahead, S - behind, share)


def errors(found: Sequence[Means], alike: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """(D, n, S) draws of the errors of all means."""
    D, S = len(found), len(found[0].mean)
    root = _root(alike)
    normal = np.einsum("de,ens->dns", root, rng.standard_normal((D, n, S)))
    Z = np.stack([normal[d] @ _root(one.cov).T for d, one in enumerate(found)])
    for d, one in enumerate(found):
        if np.isfinite(one.freedom):
            Z[d] /= np.sqrt(rng.chisquare(one.freedom, n) / one.freedom)[:, None]
    return Z


def dimension_correlation(influence: Sequence[np.ndarray]) -> np.ndarray:
    """(D, D) of the errors of dimensions, from what prompts (P, S) contribute to each."""
    psi = np.stack([(one - one.mean(axis=1, keepdims=True)).ravel() for one in influence])
    norm = np.sqrt(np.maximum((psi**2).sum(axis=1), np.finfo(float).tiny))
    return np.asarray(psi @ psi.T / norm / norm[:, None] * (1 - 1e-9) + np.eye(len(psi)) * 1e-9)


def _pair_variance(cov: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    own = np.diagonal(cov)
    return np.asarray(own[first] + own[second] - 2 * cov[first, second])


def _root(cov: np.ndarray) -> np.ndarray:
    value, vector = np.linalg.eigh((cov + cov.T) / 2)
    return np.asarray(vector * np.sqrt(np.maximum(value, 0.0)))
