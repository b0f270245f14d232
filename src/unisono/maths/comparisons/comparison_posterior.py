"""What is reported of comparisons: truths with the covariance of their errors, and probabilities of answers.

The quadratic bounds that EM climbs make intervals too narrow, so that the last word has quadrature over each difference
(eq. V7), parameters held; the uncertainty of gains and order effects is added to that of the truths (eq. V8). Without
ratings truths have mean 0 in each component, and the usual annotators a mean gain of exactly 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import entr, expit, log_expit, logsumexp

from unisono.maths.comparisons import comparison_data, comparison_em, comparison_solver, comparison_state
from unisono.maths.comparisons.comparison_priors import LARGEST_CORRECTION, LARGEST_JOINT, NODES, SLIP_SD, TIE_SD
from unisono.maths.comparisons.comparison_state import Crowd, Hyper, Problem, State

POINTS, WEIGHTS = np.polynomial.hermite_e.hermegauss(NODES)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
TIE_POINTS, TIE_WEIGHTS = np.polynomial.hermite_e.hermegauss(3)
SWEEPS, SETTLED = 50, 0.003  # numerical: at most so many, and until means move by less, in posterior deviations
LEAST_CLASS = 1e-3  # numerical: classes less probable than this are left out of quadrature


class Posterior(NamedTuple):
    """Truths in the unit that is reported, and what is known of pairs of them."""

    mean: np.ndarray  # (M, D)
    block: np.ndarray  # (M, D, D) of single items
    joint: np.ndarray | None  # (U, U), None where it would be too large
    component: np.ndarray  # (M,)

    @property
    def D(self) -> int:
        return int(self.mean.shape[1])

    def differences(self, left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of differences of unknowns, (n,) each."""
        mean = self.mean.ravel()
        if self.joint is not None:
            v = self.joint[left, left] + self.joint[right, right] - 2 * self.joint[left, right]
        else:
            own = np.diagonal(self.block, axis1=1, axis2=2).ravel()
            v = own[left] + own[right]
        return mean[left] - mean[right], np.maximum(v, 0.0)


class Slopes(NamedTuple):
    """The expected log likelihood of every answer by its difference, under each class of annotators; (3, N)."""

    value: np.ndarray  # were it not given at random
    first: np.ndarray  # derivative, times how much the answer counts
    second: np.ndarray  # minus the second one, likewise

    def counted(self, more: np.ndarray) -> Slopes:
        """Where every answer counts so many times as much (N,)."""
        return Slopes(self.value, self.first * more, self.second * more)


def averaged(at: Problem, state: State) -> State:
    """In the unit in which usual annotators have a mean gain of 1, unless an earlier fit has one."""
    if at.earlier is not None:
        return state
    usual = state.crowd.prob[:, 0]
    mean = float((usual * state.crowd.at[:, 0, 0]).sum() / usual.sum()) if usual.sum() > 0 else 1.0
    found = comparison_state.rescaled(at, state, 1 / mean)
    return found._replace(hyper=found.hyper._replace(gain_var=found.hyper.gain_var / mean**2))


def quadrature(at: Problem, state: State) -> tuple[Slopes, np.ndarray, np.ndarray]:
    """Slopes, differences being normal (eq. V7), and the means and variances (N,) of those of the truths, in logits."""
    data, crowd = at.data, state.crowd
    found = np.zeros((3, len(comparison_state.GAINS), data.N))
    unit = state.hyper.unit[data.left % data.D]
    d, v = unit * data.difference(state.truths.mean), unit**2 * state.truths.apart[data.pair]
    sign, end = np.zeros((2, 2, data.N))  # of the factors of each comparison, 0 where there is none
    first, second, t = slice(data.N), slice(data.N, None), comparison_state.thresholds(data, state)
    sign[0], end[0] = data.sign[first], t[first]
    sign[1, data.row[second]], end[1, data.row[second]] = data.sign[second], t[second]
    for z in range(len(comparison_state.GAINS)):
        rows = np.flatnonzero(crowd.prob[data.who, z] > LEAST_CLASS)
        k = data.who[rows]
        middle, sd = _difference(d[rows], v[rows], crowd.at[k, z], crowd.cov[k, z])
        total = np.zeros((3, len(rows)))
        for point, weight in zip(POINTS, WEIGHTS, strict=True):
            for s, t in zip(sign[:, rows], end[:, rows], strict=True):
                x = s * (middle + point * sd) + t
                other = expit(-x)
                total[0] += weight * np.abs(s) * log_expit(x)
                total[1] += weight * s * other
                total[2] += weight * np.abs(s) * other * (1 - other)
        found[:, z, rows] = total
    found[1:] *= data.weight * (1 - state.slips)
    return Slopes(*found), d, v


def _difference(d: np.ndarray, v: np.ndarray, at: np.ndarray, cov: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and sds (n,) of what annotators see of differences of truths, gains and order effects being uncertain."""
    g, o = at.T
    spread = (g * g + cov[:, 0, 0]) * v + d * d * cov[:, 0, 0] + 2 * d * cov[:, 0, 1] + cov[:, 1, 1]
    return g * d + o, np.sqrt(np.maximum(spread, 0.0))


def posterior(at: Problem, state: State) -> tuple[Posterior, State]:
    """The truths that are reported, and the state in their unit."""
    state = averaged(at, state)
    for _ in range(SWEEPS):
        after = _sweep(at, state)
        moved = (after.truths.mean - state.truths.mean) ** 2 / _variances(after.truths.block)
        state = after
        if moved.mean() < SETTLED**2:
            break
    return _reported(at, state), state


def _sweep(at: Problem, state: State) -> State:
    """Truths and annotators by one Newton step each, then slips, and what annotators and items have in common."""
    base, shift = comparison_state.before(at, state.hyper)
    slopes, d, v = quadrature(at, state)
    each = (state.crowd.prob[at.data.who].T * slopes.value).sum(axis=0) + comparison_em.between(at.data, state)
    slips, state = state.slips, comparison_em.slipped(at, state, each)
    slopes = slopes.counted((1 - state.slips) / (1 - slips))
    weight, pull = _sites(at, state, slopes, d)
    crowd = _crowd(at, state, slopes, d, v)
    truths = comparison_solver.solve(at.where, base, weight, shift + pull, state.truths.mean)
    state = state._replace(truths=truths, crowd=crowd)
    hyper = comparison_em.hyperparameters(at, state)
    if at.prior.gold is None:
        return averaged(at, state._replace(hyper=hyper))
    # Few known truths hardly tell smaller units from truths that spread more: what EM has found stays.
    return state._replace(hyper=hyper._replace(unit=state.hyper.unit, Sigma=state.hyper.Sigma))


def _sites(at: Problem, state: State, slopes: Slopes, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Precision by pair (P,) and shift (M, D), in the unit of the truths."""
    data, unit = at.data, state.hyper.unit
    q, g = state.crowd.prob[data.who].T, state.crowd.at[data.who, :, 0].T  # (3, N)
    curvature = (q * g * g * slopes.second).sum(axis=0)
    pull = (q * g * slopes.first).sum(axis=0) + curvature * d
    weight = data.by_pair(curvature) * unit[data.low % data.D] ** 2
    return weight, data.by_unknown(pull * unit[data.left % data.D]).reshape(data.M, data.D)


def _crowd(at: Problem, state: State, slopes: Slopes, d: np.ndarray, v: np.ndarray) -> Crowd:
    data, crowd, of = at.data, state.crowd, comparison_state.expected(at, state.hyper)
    counted = data.weight * (1 - state.slips)
    evidence = np.full((data.K, len(comparison_state.GAINS)), -np.inf)
    means, covs = crowd.at.copy(), crowd.cov.copy()
    cost = comparison_em.divergence(crowd, of)
    for z in range(len(comparison_state.GAINS)):
        if not of.share[:, z].any():
            continue
        own = crowd.at[:, z][data.who]
        W = slopes.second[z]
        b = slopes.first[z] + W * (own[:, 0] * d + own[:, 1])
        P = comparison_em.normal_precision(data, W, d, d * d + v) + of.precision[:, z]
        h = np.stack([data.by_annotator(b * d), data.by_annotator(b)], axis=-1)
        h = h + np.einsum("kij,kj->ki", of.precision[:, z], of.centre[:, z])
        seen = (crowd.prob[:, z] > LEAST_CLASS) & (of.share[:, z] > 0)
        told = data.by_annotator(counted * slopes.value[z]) + cost[:, z]
        evidence[seen, z] = told[seen] + np.log(of.share[seen, z])
        covs[:, z] = np.linalg.inv(P)
        means[:, z] = np.einsum("kij,kj->ki", covs[:, z], h)
    prob = np.exp(evidence - logsumexp(evidence, axis=1, keepdims=True))
    prob = np.where(crowd.prob.max(axis=1, keepdims=True) > 1 - LEAST_CLASS, crowd.prob, prob)
    return crowd._replace(prob=prob, at=means, cov=covs)


def _reported(at: Problem, state: State) -> Posterior:
    data = at.data
    slopes, d, _ = quadrature(at, state)
    base, weight = (
        comparison_state.before(at, state.hyper)[0],
        _sites(at, state, slopes, d)[0] - _lost_to_slips(at, state, slopes),
    )
    weight = np.maximum(weight, 0.0)
    lost = lost_to_annotators(at, state, slopes, d)
    mean, widening = state.truths.mean, _widening(at, state)
    if data.U <= LARGEST_JOINT:
        P = comparison_solver.product(at.where, base, weight)(np.eye(data.U))
        if lost is not None:
            P = P - (lost[0] @ lost[1] @ lost[0].T).toarray() + np.outer(lost[2], lost[2])
        P = P - _lost_to_features(at.prior.scores, np.linalg.inv(state.hyper.Sigma))
        joint = np.linalg.inv(0.5 * (P + P.T)) * widening
        T = _centring(data, at.prior.rated)
        joint, mean = T @ joint @ T.T, (T @ mean.ravel()).reshape(mean.shape)
        items = np.arange(data.U).reshape(data.M, data.D)
        return Posterior(mean, joint[items[:, :, None], items[:, None, :]], joint, data.component)
    blocks = comparison_solver.diagonal_blocks(data, base, weight)
    if lost is not None:
        C, H, unit_cost = lost
        own = unit_cost**2 - np.asarray((C @ H).multiply(C).sum(axis=1)).ravel()
        blocks[:, np.arange(data.D), np.arange(data.D)] += own.reshape(data.M, data.D)
    n = np.bincount(data.component)
    total = np.stack([np.bincount(data.component, column) for column in mean.T], axis=1)
    mean = np.where(at.prior.rated, mean, mean - (total / n[:, None])[data.component])
    return Posterior(mean, np.linalg.inv(blocks) * widening, None, data.component)


def _lost_to_slips(at: Problem, state: State, slopes: Slopes) -> np.ndarray:
    """(P,) what not knowing which answers were given at random takes from the precision of pairs (Louis 1982)."""
    data, unit = at.data, state.hyper.unit
    q, g = state.crowd.prob[data.who].T, state.crowd.at[data.who, :, 0].T
    slope = (q * g * slopes.first).sum(axis=0)
    odds = state.slips / np.maximum(data.weight * (1 - state.slips), np.finfo(float).tiny)
    return np.asarray(data.by_pair(slope**2 * odds) * unit[data.low % data.D] ** 2)


def _lost_to_features(scores: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """(U, U) what not knowing the coefficients of features takes from the precision of truths (eq. V8)."""
    shared = scores @ np.linalg.solve(scores.T @ scores + np.eye(scores.shape[1]), scores.T)
    return np.asarray(np.kron(shared, inverse))


def _widening(at: Problem, state: State) -> float:
    """Variances are larger by N / (N - p), p being the parameters that comparisons have determined (eq. V8)."""
    data, crowd, of = at.data, state.crowd, comparison_state.expected(at, state.hyper)
    known = _variances(np.linalg.inv(comparison_state.before(at, state.hyper)[0]))
    determined = float((1 - _variances(state.truths.block) / known).sum())
    open_ = (of.precision * crowd.cov).sum(axis=(-2, -1))
    determined += float((crowd.prob * (comparison_state.GAINS != 0) * (2 - open_)).sum())
    N = float(data.weight @ (1 - state.slips))
    return N / max(N - determined, N / 2)


def _variances(cov: np.ndarray) -> np.ndarray:
    return np.diagonal(cov, axis1=-2, axis2=-1)


def _centring(data: comparison_data.ComparisonData, rated: np.ndarray) -> np.ndarray:
    """(U, U) subtracts the mean of each component and dimension without ratings."""
    group = np.repeat(data.component, data.D) * data.D + np.tile(np.arange(data.D), data.M)
    same = group[:, None] == group
    return np.asarray(np.eye(data.U) - np.where(np.tile(rated, data.M)[:, None], 0.0, same / same.sum(axis=1)))


def lost_to_annotators(
    at: Problem, state: State, slopes: Slopes, d: np.ndarray
) -> tuple[csr_matrix, csr_matrix, np.ndarray] | None:
    """What not knowing gains and order effects takes from the precision of truths: C (U, 2K), H (2K, 2K), c (U,).

    The precision becomes P - C H C' + c c', the last since the mean gain is known: it is the unit (eq. V8), unless an
    earlier fit has one. None where it would be a large matrix, and annotators are known well.
    """
    data = at.data
    K, key = data.K, np.unique(np.stack([np.tile(data.who, 2), np.concatenate([data.left, data.right])]), axis=1)
    if (np.bincount(key[0], minlength=K).astype(float) ** 2).sum() > LARGEST_CORRECTION:
        return None
    prob, unit = state.crowd.prob, state.hyper.unit[data.left % data.D]
    q, g = prob[data.who].T, state.crowd.at[data.who, :, 0].T
    own = comparison_em.normal_precision(data, (q * slopes.second).sum(axis=0), d, d * d)
    own += (prob[:, :, None, None] * comparison_state.expected(at, state.hyper).precision).sum(axis=1)
    inverse = np.linalg.inv(own)
    place = 2 * np.arange(K)[:, None, None]
    rows = np.broadcast_to(place + np.array([[0], [1]]), (K, 2, 2)).ravel()
    columns = np.broadcast_to(place + np.array([[0, 1]]), (K, 2, 2)).ravel()
    H = csr_matrix((inverse.ravel(), (rows, columns)), shape=(2 * K, 2 * K))
    across = unit * (q * g * slopes.second).sum(axis=0)
    value = np.concatenate([across * d, -across * d, across, -across])
    u = np.tile(np.concatenate([data.left, data.right]), 2)
    k = np.concatenate([np.tile(2 * data.who, 2), np.tile(2 * data.who + 1, 2)])
    C = csr_matrix((value, (u, k)), shape=(data.U, 2 * K))
    usual = np.zeros(2 * K)
    usual[::2] = prob[:, 0] if at.earlier is None else 0.0
    toward = H @ usual
    cost = float(usual @ toward)
    return C, H, (C @ toward) / np.sqrt(cost) if cost > 0 else np.zeros(data.U)


class Answering(NamedTuple):
    """Somebody's ways: classes, gains and order effects as in `Crowd`, thresholds by nodes of their uncertainty."""

    prob: np.ndarray  # (n, 3)
    at: np.ndarray  # (n, 3, 2)
    cov: np.ndarray  # (n, 3, 2, 2)
    tie: np.ndarray  # (n,) logarithm of the threshold, -inf without ties
    tie_sd: np.ndarray  # (n,)
    random: np.ndarray  # (n, 3) probabilities of each answer, given at random


def newcomer(hyper: Hyper) -> Answering:
    """One row: somebody of whom nothing is known."""
    at, cov = comparison_state.class_centres(hyper)[None], np.zeros((1, 3, 2, 2))
    cov[0, :, 0, 0], cov[0, :, 1, 1] = comparison_state.class_variances(hyper), hyper.order_var
    tie = np.array([tie_of(hyper, hyper.tie)]), np.array([TIE_SD])
    return Answering(hyper.shares[None], at, cov, *tie, at_random(hyper, np.array([hyper.slip]), np.array([SLIP_SD])))


def at_random(hyper: Hyper, slip: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """(n, 3) probabilities of left, tie and right that are given at random, of uncertain log odds (n,) of a slip."""
    share = expit(slip[:, None] + sd[:, None] * POINTS) @ WEIGHTS
    tie = hyper.random_tie if hyper.steps[0] > 0 else 0.0
    return np.asarray(share[:, None] * np.array([(1 - tie) / 2, tie, (1 - tie) / 2]))


def tie_of(hyper: Hyper, log_tau: np.ndarray | float) -> np.ndarray:
    """Logarithms of thresholds of ties, -inf without."""
    return np.asarray(log_tau if hyper.steps[0] > 0 else np.full_like(log_tau, -np.inf))


def answer_probabilities(mean: np.ndarray, variance: np.ndarray, who: Answering) -> np.ndarray:
    """(n, 3) probabilities of left, tie and right, for normal differences in logits (eq. V9)."""
    total = np.zeros((len(mean), 3))
    for z in range(len(comparison_state.GAINS)):
        middle, sd = _difference(mean, variance, who.at[:, z], who.cov[:, z])
        for t, share in zip(TIE_POINTS, TIE_WEIGHTS / TIE_WEIGHTS.sum(), strict=True):
            tau = np.exp(who.tie + t * who.tie_sd)
            for point, weight in zip(POINTS, WEIGHTS, strict=True):
                delta = middle + point * sd
                left, right = expit(delta - tau), expit(-delta - tau)
                total += (who.prob[:, z] * share * weight)[:, None] * np.stack([left, 1 - left - right, right], axis=1)
    told = np.clip(total, 0.0, 1.0) / total.sum(axis=1, keepdims=True)
    return np.asarray(told * (1 - who.random.sum(axis=1, keepdims=True)) + who.random)


def preference_probability(mean: float, variance: float, level: float = 1.645) -> tuple[float, float, float]:
    """Of a usual annotator of gain 1, without order effect or ties: expected over the difference, and its interval."""
    sd = float(np.sqrt(variance))
    low, high = expit(mean - level * sd), expit(mean + level * sd)
    return float(WEIGHTS @ expit(mean + POINTS * sd)), float(low), float(high)


def answer_information(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """(n,) nats that left or right, by a usual annotator, is expected to tell: H(E p) - E H(p) (eq. V10)."""
    p = expit(mean[:, None] + np.sqrt(variance)[:, None] * POINTS)
    return np.asarray(_entropy(p @ WEIGHTS) - _entropy(p) @ WEIGHTS)


def _entropy(p: np.ndarray) -> np.ndarray:
    return np.asarray(entr(p) + entr(1 - p))
