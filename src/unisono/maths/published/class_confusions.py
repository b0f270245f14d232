"""Categories with confusions of annotators, a predictor of the class, and regions of items; EM on one objective.

    region   z_m ~ pi,   feature scores given z_m = r normal (eq. X1)
    class    p(c_m = c given x_m) = softmax(w_c'[1, x_m])
    answer   p(y = l given c, r) = theta_kr(l given c)                                                        eq. X5

One region and no features: Dawid and Skene (1979), and Smyth, Fayyad, Burl, Perona and Baldi (1995), who have it with
two classes. One region with features: Raykar et al. (2010), of any number of classes. Several regions: Audhkhasi and
Narayanan (2013). An answer may count for less than one (several classes named at once): then its log probability does.
E-step exact; theta with imaginary answers, w by climbing its penalised likelihood: the objective never falls.  eq. X6
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from scipy.special import log_softmax, logsumexp

from unisono.maths.category_votes import Votes, vote_shares
from unisono.maths.published.published_answers import Places, places_of, region_starts

SAME, ANY = 1.0, 0.5  # convention: answers imagined of every annotator, class and region: right ones, and of each class
RIDGE = 1.0  # convention: precision of w, on scores of variance one
CLIMB = 25  # numerical: steps for w within one step of EM
TINY = 1e-300  # numerical: floor of a probability under no imaginary answers


class Confusions(NamedTuple):
    """The model."""

    theta: np.ndarray  # (R, K, C, C) answers (last) given the class
    w: np.ndarray  # (1 + P, C)
    places: Places


class Expected(NamedTuple):
    """The E-step."""

    share: np.ndarray  # (M, R, C) joint probability of region and class
    log_density: np.ndarray  # (M,)


def starts(votes: Votes, Z: np.ndarray, R: int, imagined: float = 1.0) -> list[Confusions]:
    """From votes; several regions along how divided votes are, and along feature scores."""
    votes_for = vote_shares(votes)
    divided = -(votes_for * np.log(np.maximum(votes_for, TINY))).sum(axis=1)
    shares = region_starts(divided, Z, R) if R > 1 else [np.ones((votes.M, 1))]
    blank = np.zeros((1 + Z.shape[1], votes.C))
    return [_maximum(votes, Z, share[:, :, None] * votes_for[:, None], blank, imagined) for share in shares]


def step(votes: Votes, Z: np.ndarray, found: Confusions, imagined: float = 1.0) -> tuple[Confusions, float]:
    """One step of EM, and the objective at the parameters it is given.                                      eq. X6"""
    items = expected(votes, Z, found)
    value = float(items.log_density.sum()) + _log_prior(Z, found, imagined)
    return _maximum(votes, Z, items.share, found.w, imagined), value


def expected(votes: Votes, Z: np.ndarray, found: Confusions) -> Expected:
    """Exact posteriors of region and class.                                                                 eq. X5"""
    log = found.places.log_densities(Z)[:, :, None] + log_softmax(_design(Z) @ found.w, axis=1)[:, None]
    told = np.log(np.maximum(found.theta, TINY))[:, votes.annotator, :, votes.answer]  # (n, R, C)
    for r in range(log.shape[1]):
        for c in range(votes.C):
            log[:, r, c] += np.bincount(votes.item, votes.weight * told[:, r, c], minlength=votes.M)
    total = logsumexp(log, axis=(1, 2))
    return Expected(np.exp(log - total[:, None, None]), total)


def _imaginary(C: int, imagined: float) -> np.ndarray:
    return imagined * (SAME * np.eye(C) + ANY)


def _log_prior(Z: np.ndarray, found: Confusions, imagined: float) -> float:
    answers = (_imaginary(len(found.w.T), imagined) * np.log(np.maximum(found.theta, TINY))).sum()
    return float(answers - 0.5 * RIDGE * (found.w[1:] ** 2).sum() + found.places.log_prior(Z))


def _design(Z: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(Z)), Z])


def _maximum(votes: Votes, Z: np.ndarray, share: np.ndarray, w: np.ndarray, imagined: float) -> Confusions:
    R, cell = share.shape[1], votes.annotator.astype(np.int64) * votes.C + votes.answer
    count = np.empty((R, votes.K * votes.C, votes.C))  # by annotator and answer, then class
    for r in range(R):
        for c in range(votes.C):
            weight = votes.weight * share[votes.item, r, c]
            count[r, :, c] = np.bincount(cell, weight, minlength=votes.K * votes.C)
    count = count.reshape(R, votes.K, votes.C, votes.C).swapaxes(2, 3) + _imaginary(votes.C, imagined)
    total = count.sum(axis=3, keepdims=True)
    theta = np.where(total > 0, count / np.where(total > 0, total, 1.0), 1 / votes.C)
    return Confusions(theta, _predictor(Z, share.sum(axis=1), w), places_of(Z, share.sum(axis=2)))


def _predictor(Z: np.ndarray, target: np.ndarray, w: np.ndarray) -> np.ndarray:
    """(1 + P, C) nearer to where sum q log softmax less the penalty is highest; never lower than `w`."""
    if not Z.shape[1]:
        share = np.maximum(target.mean(axis=0), TINY)
        return np.asarray(np.log(share)[None])
    X, penalty = _design(Z), np.append(0.0, np.full(Z.shape[1], RIDGE))[:, None]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        own = flat.reshape(w.shape)
        log = log_softmax(X @ own, axis=1)
        slope = X.T @ (np.exp(log) * target.sum(axis=1, keepdims=True) - target) + penalty * own
        return float(-(target * log).sum() + 0.5 * (penalty * own**2).sum()), slope.ravel()

    found = scipy.optimize.minimize(loss, w.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": CLIMB})
    return np.asarray(found.x.reshape(w.shape)) if found.fun <= loss(w.ravel())[0] else w
