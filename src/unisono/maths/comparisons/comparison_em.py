"""Variational EM for comparisons: one lower bound, raised by every step (eq. V1 to V6).

Every logistic factor has a quadratic bound (Jaakkola and Jordan 2000) that touches it at xi^2 = E[x^2]. q is a normal
of the truths, times a mixture over classes of normals of (gain, order effect) for every annotator; thresholds of ties
and hyperparameters are points. With ratings beside, `Prior` has what these say of every item, and `unit` (D,) has the
logits in a unit of theirs; of dimensions without, the unit is that of the average usual gain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, xlogy

from unisono.maths.comparisons.comparison_data import TIE, ComparisonData
from unisono.maths.comparisons.comparison_priors import (
    CLASS_COUNTS,
    CLASS_GAINS,
    FEWEST_CLASSED,
    LARGEST_DENSE,
    LEVEL_ANNOTATORS,
    SPAMMER_SD,
    SPREAD_ANNOTATORS,
    TIE_MEDIAN,
    TIE_MEDIAN_SD,
    TIE_SD,
    TRUTH_ITEMS,
    USUAL_SD,
)
from unisono.maths.comparisons.comparison_solver import Coupling, Truths, coupling, solve
from unisono.maths.em_loop import EmTrace, OnStep, run_em

GAINS, COUNTS = np.array(CLASS_GAINS), np.array(CLASS_COUNTS)
PINNED = 1e-8  # numerical: variance of what is not learned
SHORTEST_XI = 1e-6  # numerical: below it tanh(xi / 2) / (2 xi) is 1/4
MAX_ITER, TOL = 500, 3e-6  # numerical: the tolerance is nats per comparison
NEWTON = 3  # numerical: steps of the thresholds


class Prior(NamedTuple):
    """What is known of the truths before any comparison: a population, and what ratings say of every item."""

    mean: np.ndarray  # (M, D) of the population
    Sigma: np.ndarray  # (D, D) what its covariance is drawn to, by so many imaginary
    items: float
    precision: np.ndarray  # (M, D, D) of what ratings say: -a'Pa / 2 + h'a
    shift: np.ndarray  # (M, D)
    rated: np.ndarray  # (D,) bool, dimensions that have the unit of ratings


def unrated(data: ComparisonData) -> Prior:
    """Without ratings."""
    M, D = data.M, data.D
    empty, none = np.zeros((M, D)), np.zeros(D, dtype=bool)
    return Prior(empty, np.eye(D), TRUTH_ITEMS, np.zeros((M, D, D)), empty, none)


class Hyper(NamedTuple):
    """What annotators and items have in common."""

    Sigma: np.ndarray  # (D, D)
    unit: np.ndarray  # (D,) logits per unit of the truths
    gain_var: float
    order_var: float
    order: float
    shares: np.ndarray  # (3,)
    tie: float  # logarithm of the median threshold; -inf without ties


class Crowd(NamedTuple):
    """q of the annotators."""

    prob: np.ndarray  # (K, 3) of the classes
    at: np.ndarray  # (K, 3, 2) means of gain and order effect, in each class
    cov: np.ndarray  # (K, 3, 2, 2)
    tau: np.ndarray  # (K,) thresholds


class State(NamedTuple):
    truths: Truths
    crowd: Crowd
    hyper: Hyper


class Moments(NamedTuple):
    """Expectations of every annotator's gain and order effect, (K,) each."""

    g: np.ndarray
    o: np.ndarray
    gg: np.ndarray
    go: np.ndarray
    oo: np.ndarray


class Problem(NamedTuple):
    """Everything that stays as it is."""

    data: ComparisonData
    where: Coupling
    prior: Prior


def problem(data: ComparisonData, prior: Prior | None = None, largest: int = LARGEST_DENSE) -> Problem:
    """`largest` is the size of components whose covariance is exact."""
    return Problem(data, coupling(data, largest), unrated(data) if prior is None else prior)


def classed(data: ComparisonData) -> bool:
    """Whether there may be spammers and those who answer the wrong way round."""
    return data.K >= FEWEST_CLASSED


def class_variances(hyper: Hyper) -> np.ndarray:
    """(3,) variances of gains."""
    return np.array([hyper.gain_var, SPAMMER_SD**2, hyper.gain_var])


def start(at: Problem) -> State:
    """Everybody usual; truths 0 (or what ratings say)."""
    data, prior = at.data, at.prior
    hyper = Hyper(
        prior.Sigma,
        np.where(prior.rated, 1 / np.sqrt(np.diagonal(prior.Sigma)), 1.0),  # truths have a spread of one logit
        USUAL_SD**2 if data.K > 1 else PINNED,
        USUAL_SD**2 if data.sided else PINNED,
        0.0,
        COUNTS / COUNTS.sum() if classed(data) else np.array([1.0, 0.0, 0.0]),
        np.log(TIE_MEDIAN) if data.ties else -np.inf,
    )
    base, shift = before(at, hyper)
    truths = solve(at.where, base, np.zeros(len(data.low)), shift, prior.mean)
    prob = np.tile([1.0, 0.0, 0.0], (data.K, 1))
    at_class = np.stack([np.tile(GAINS, (data.K, 1)), np.zeros((data.K, 3))], axis=-1)
    cov = np.zeros((data.K, 3, 2, 2))
    cov[..., 0, 0], cov[..., 1, 1] = class_variances(hyper), hyper.order_var
    return State(truths, Crowd(prob, at_class, cov, np.full(data.K, np.exp(hyper.tie))), hyper)


def before(at: Problem, hyper: Hyper) -> tuple[np.ndarray, np.ndarray]:
    """Precision by item (M, D, D) and shift (M, D) of truths before any comparison."""
    inverse, prior = np.linalg.inv(hyper.Sigma), at.prior
    return prior.precision + inverse, prior.shift + prior.mean @ inverse


def moments(crowd: Crowd) -> Moments:
    """Over classes."""
    square = crowd.cov + crowd.at[..., :, None] * crowd.at[..., None, :]
    first = np.einsum("kz,kzi->ki", crowd.prob, crowd.at)
    second = np.einsum("kz,kzij->kij", crowd.prob, square)
    return Moments(first[:, 0], first[:, 1], second[:, 0, 0], second[:, 0, 1], second[:, 1, 1])


class Factors(NamedTuple):
    """The quadratic bounds: for every comparison -W delta^2 / 2 + b delta, up to constants."""

    W: np.ndarray  # (N,)
    b: np.ndarray  # (N,)
    w: np.ndarray  # (F,) of single factors
    x: np.ndarray  # (F,) expected arguments of the logistic functions
    xi: np.ndarray  # (F,) where the bounds touch
    tied: float  # what ties add to the log likelihood
    d: np.ndarray  # (N,) mean of the difference of the truths, in logits
    dd: np.ndarray  # (N,) and of its square

    @property
    def value(self) -> float:
        """The expected log likelihood, at least."""
        return float((0.5 * (self.x - self.xi) - np.logaddexp(0.0, -self.xi)).sum()) + self.tied


def factors(at: Problem, state: State) -> Factors:
    """The bounds that touch where the state is (eq. V1)."""
    data, tau = at.data, state.crowd.tau[at.data.who]
    m = Moments(*(x[data.who] for x in moments(state.crowd)))
    unit = state.hyper.unit[data.left % data.D]
    d = unit * data.difference(state.truths.mean)
    dd = d * d + unit**2 * state.truths.apart[data.pair]
    delta = m.g * d + m.o
    square = m.gg * dd + 2 * m.go * d + m.oo
    t, s = tau[data.row], data.sign
    x = s * delta[data.row] - t
    xi = np.sqrt(np.maximum(square[data.row] - 2 * s * t * delta[data.row] + t * t, SHORTEST_XI**2))
    w = np.tanh(xi / 2) / (2 * xi)
    return Factors(data.by_row(w), data.by_row(s * (0.5 + w * t)), w, x, xi, _tie_value(data, tau), d, dd)


def _tie_value(data: ComparisonData, tau: np.ndarray) -> float:
    t = tau[data.answer == TIE]
    return float((2 * t + np.log(-np.expm1(-2 * t))).sum())


def lower_bound(at: Problem, state: State, value: float) -> float:
    """What every step raises, up to constants: `value`, less what it costs q to differ from the priors (eq. V6)."""
    return value + _truth_cost(at, state) + _crowd_cost(at.data, state) + _hyper_cost(at, state)


def _truth_cost(at: Problem, state: State) -> float:
    t, prior, M = state.truths, at.prior, at.data.M
    second = t.mean[:, :, None] * t.mean[:, None, :] + t.block
    said = float((prior.shift * t.mean).sum() - 0.5 * (prior.precision * second).sum())
    cost = M * np.linalg.slogdet(state.hyper.Sigma)[1]
    cost += np.trace(np.linalg.solve(state.hyper.Sigma, _spread(at, state)))
    return said + 0.5 * (t.log_det + at.data.U - float(cost))


def _spread(at: Problem, state: State) -> np.ndarray:
    """(D, D) expected products of truths around the population's mean, summed over items."""
    away = state.truths.mean - at.prior.mean
    return np.asarray(away.T @ away + state.truths.block.sum(axis=0))


def _crowd_cost(data: ComparisonData, state: State) -> float:
    crowd, hyper = state.crowd, state.hyper
    variance = np.stack([class_variances(hyper), np.full(3, hyper.order_var)], axis=-1)  # (3, 2)
    centre = np.stack([GAINS, np.full(3, hyper.order)], axis=-1)
    square = (crowd.at - centre) ** 2 + np.diagonal(crowd.cov, axis1=2, axis2=3)
    normal = 0.5 * (np.linalg.slogdet(crowd.cov)[1] + 2 - (np.log(variance) + square / variance).sum(axis=-1))
    total = float((crowd.prob * normal + xlogy(crowd.prob, hyper.shares) - xlogy(crowd.prob, crowd.prob)).sum())
    if data.ties:
        total -= 0.5 * float(((np.log(crowd.tau) - hyper.tie) ** 2).sum()) / TIE_SD**2
    return total


def _hyper_cost(at: Problem, state: State) -> float:
    data, hyper = at.data, state.hyper
    pulled = np.trace(np.linalg.solve(hyper.Sigma, at.prior.Sigma))
    total = -0.5 * at.prior.items * (np.linalg.slogdet(hyper.Sigma)[1] + pulled)
    if data.K > 1:
        total -= 0.5 * SPREAD_ANNOTATORS * (np.log(hyper.gain_var) + USUAL_SD**2 / hyper.gain_var)
    if data.sided:
        total -= 0.5 * SPREAD_ANNOTATORS * (np.log(hyper.order_var) + USUAL_SD**2 / hyper.order_var)
        total -= 0.5 * (np.log(hyper.order_var) + LEVEL_ANNOTATORS * hyper.order**2 / hyper.order_var)
    if classed(data):
        total += float(COUNTS @ np.log(hyper.shares))
    if data.ties:
        total -= 0.5 * ((hyper.tie - np.log(TIE_MEDIAN)) / TIE_MEDIAN_SD) ** 2
    return float(total)


def step(at: Problem, state: State) -> tuple[State, float]:
    """The next state, and the bound at this one."""
    found = factors(at, state)
    bound = lower_bound(at, state, found.value)
    # Truths first: before anything is known of them, every gain looks like a spammer's.
    state = state._replace(truths=_truths(at, state, found))
    state = state._replace(crowd=_crowd(at, state, factors(at, state)))
    state = state._replace(crowd=_thresholds(at.data, state, factors(at, state)))
    return _in_unit(at, state._replace(hyper=hyperparameters(at, state))), bound


def _truths(at: Problem, state: State, found: Factors) -> Truths:
    """E-step of the truths (eq. V4)."""
    data, m = at.data, moments(state.crowd)
    unit = state.hyper.unit
    weight = data.by_pair(found.W * m.gg[data.who]) * unit[data.low % data.D] ** 2
    pull = (found.b * m.g[data.who] - found.W * m.go[data.who]) * unit[data.left % data.D]
    shift = data.by_unknown(pull).reshape(data.M, data.D)
    base, own = before(at, state.hyper)
    return solve(at.where, base, weight, own + shift, state.truths.mean)


def _crowd(at: Problem, state: State, found: Factors) -> Crowd:
    """E-step of the annotators: in every class a normal, its evidence is that of the class (eq. V5)."""
    data, hyper = at.data, state.hyper
    prior = np.stack([class_variances(hyper), np.full(3, hyper.order_var)], axis=-1)  # (3, 2)
    centre = np.stack([GAINS, np.full(3, hyper.order)], axis=-1)
    P = normal_precision(data, found.W, found.d, found.dd)[:, None]  # (K, 1, 2, 2)
    P = P + np.einsum("zi,ij->zij", 1 / prior, np.eye(2))
    h = np.stack([data.by_annotator(found.b * found.d), data.by_annotator(found.b)], axis=-1)[:, None]
    h = h + centre / prior
    cov = np.linalg.inv(P)
    mean = np.einsum("kzij,kzj->kzi", cov, h)
    evidence = 0.5 * ((h * mean).sum(-1) + np.linalg.slogdet(cov)[1])
    evidence = evidence - 0.5 * (np.log(prior) + centre**2 / prior).sum(-1)
    with np.errstate(divide="ignore"):
        evidence = evidence + np.log(hyper.shares)
    prob = np.exp(evidence - logsumexp(evidence, axis=1, keepdims=True))
    return state.crowd._replace(prob=prob, at=mean, cov=cov)


def normal_precision(data: ComparisonData, W: np.ndarray, d: np.ndarray, dd: np.ndarray) -> np.ndarray:
    """(K, 2, 2) what comparisons add to the precision of (gain, order effect)."""
    gg, go, oo = (data.by_annotator(W * x) for x in (dd, d, np.ones_like(d)))
    return np.stack([np.stack([gg, go], axis=-1), np.stack([go, oo], axis=-1)], axis=-2)


def _thresholds(data: ComparisonData, state: State, found: Factors) -> Crowd:
    """Newton steps in log tau, halved until the bound does not fall."""
    if not data.ties:
        return state.crowd
    m = moments(state.crowd)
    delta = m.g[data.who] * found.d + m.o[data.who]
    along = data.by_row(data.sign * found.w) * delta
    A, T = data.by_annotator(found.W), data.by_annotator((data.answer == TIE).astype(float))
    B = data.by_annotator(along - 0.5 * data.by_row(np.ones_like(found.w)))

    def value(t: np.ndarray) -> np.ndarray:
        tau = np.exp(t)
        tied = T * (2 * tau + np.log(-np.expm1(-2 * tau)))
        return np.asarray(-0.5 * A * tau**2 + B * tau + tied - 0.5 * ((t - state.hyper.tie) / TIE_SD) ** 2)

    t = np.log(state.crowd.tau)
    for _ in range(NEWTON):
        tau, shrunk = np.exp(t), -np.expm1(-2 * np.exp(t))
        inner = tau * (B - A * tau + 2 * T / shrunk)
        bend = inner - tau**2 * (A + 4 * T * (1 - shrunk) / shrunk**2) - 1 / TIE_SD**2
        move = (inner - (t - state.hyper.tie) / TIE_SD**2) / np.maximum(np.abs(bend), 1 / TIE_SD**2)
        move, before = np.clip(move, -1.0, 1.0), value(t)
        for _ in range(8):  # numerical: halvings
            move = np.where(value(t + move) >= before, move, move / 2)
        t = np.where(value(t + move) >= before, t + move, t)
    return state.crowd._replace(tau=np.exp(t))


def hyperparameters(at: Problem, state: State) -> Hyper:
    """M-steps of what items, and what annotators, have in common."""
    data, crowd = at.data, state.crowd
    hyper, prior = state.hyper, at.prior
    Sigma = (_spread(at, state) + prior.items * prior.Sigma) / (data.M + prior.items)
    hyper = hyper._replace(Sigma=Sigma)
    if prior.rated.any():
        hyper = hyper._replace(unit=np.where(prior.rated, _unit(at, state), 1.0))
    if data.ties:
        pull = 1 / TIE_MEDIAN_SD**2
        total = np.log(crowd.tau).sum() / TIE_SD**2 + np.log(TIE_MEDIAN) * pull
        hyper = hyper._replace(tie=float(total / (data.K / TIE_SD**2 + pull)))
    if classed(data):
        counts = crowd.prob.sum(axis=0) + COUNTS
        hyper = hyper._replace(shares=counts / counts.sum())
    if data.K > 1:
        alive = crowd.prob * (GAINS != 0)
        square = (crowd.at[..., 0] - GAINS) ** 2 + crowd.cov[..., 0, 0]
        total = float((alive * square).sum()) + SPREAD_ANNOTATORS * USUAL_SD**2
        hyper = hyper._replace(gain_var=total / (float(alive.sum()) + SPREAD_ANNOTATORS))
    if data.sided:
        m = moments(crowd)
        order = float(m.o.sum()) / (data.K + LEVEL_ANNOTATORS)
        total = float((m.oo - 2 * order * m.o + order**2).sum())
        total += SPREAD_ANNOTATORS * USUAL_SD**2 + LEVEL_ANNOTATORS * order**2
        hyper = hyper._replace(order=order, order_var=total / (data.K + SPREAD_ANNOTATORS + 1))
    return hyper


def _unit(at: Problem, state: State) -> np.ndarray:
    """(D,) logits per unit of the ratings: of a quadratic in each."""
    data, m, unit = at.data, moments(state.crowd), state.hyper.unit
    found = factors(at, state)
    dim = data.left % data.D
    d, dd = found.d / unit[dim], found.dd / unit[dim] ** 2
    who = data.who
    up = np.bincount(dim, (found.b * m.g[who] - found.W * m.go[who]) * d, data.D)
    down = np.bincount(dim, found.W * m.gg[who] * dd, data.D)
    return np.where(down > 0, up / np.where(down > 0, down, 1.0), unit)


def _in_unit(at: Problem, state: State) -> State:
    """Gains times s and truths divided by it, where the bound is highest: the unit would drift there in small steps.

    Where gains and their spread have settled, the mean gain of usual annotators is 1 (eq. V3).
    """
    crowd, hyper, data = state.crowd, state.hyper, at.data
    variance = class_variances(hyper)
    square = crowd.at[..., 0] ** 2 + crowd.cov[..., 0, 0]
    A, B = (
        float((crowd.prob * square / variance).sum()),
        float((crowd.prob * crowd.at[..., 0] * GAINS / variance).sum()),
    )
    free = np.flatnonzero(~at.prior.rated)
    pulled = np.linalg.inv(hyper.Sigma)[np.ix_(free, free)] * at.prior.Sigma[np.ix_(free, free)]
    A, n = A + at.prior.items * float(pulled.sum()), data.K + at.prior.items * len(free)
    return rescaled(at, state, (B + np.sqrt(B * B + 4 * A * n)) / (2 * A))


def rescaled(at: Problem, state: State, s: float) -> State:
    """Gains times s; truths, and of rated dimensions their units, divided by it. Probabilities stay as they are."""
    crowd, hyper, t = state.crowd, state.hyper, state.truths
    scale, each = np.array([s, 1.0]), np.where(at.prior.rated, 1.0, 1 / s)
    square = each[:, None] * each
    dims = each[at.data.low % at.data.D]
    truths = Truths(t.mean * each, t.block * square, t.apart * dims**2, t.log_det + 2 * at.data.M * np.log(each).sum())
    crowd = crowd._replace(at=crowd.at * scale, cov=crowd.cov * scale[:, None] * scale)
    unit = np.where(at.prior.rated, hyper.unit / s, hyper.unit)
    return State(truths, crowd, hyper._replace(Sigma=hyper.Sigma * square, unit=unit))


def fit(
    at: Problem, *, tol: float = TOL, max_iter: int = MAX_ITER, on_step: OnStep[State] | None = None
) -> tuple[State, EmTrace]:
    """From the start to where the bound rises by less than `tol` per comparison."""

    def settled(objective: list[float], before: State, after: State) -> bool:
        return len(objective) > 2 and objective[-1] - objective[-2] < tol * at.data.N

    return run_em(lambda s: step(at, s), start(at), stop_when=settled, max_iter=max_iter, on_step=on_step)
