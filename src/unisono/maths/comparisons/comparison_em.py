"""Variational EM for comparisons: one lower bound, raised by every step (eq. V1 to V6).

Every logistic factor has a quadratic bound (Jaakkola and Jordan 2000) that touches it at xi^2 = E[x^2]. What the state
holds is in `comparison_state`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from scipy.special import entr, expit, logsumexp, xlogy

from unisono.maths.comparisons import comparison_solver, comparison_state
from unisono.maths.comparisons.comparison_data import ComparisonData
from unisono.maths.comparisons.comparison_priors import GOLD_ERROR, GOLD_ITEMS, STEP_SD, TIE_SD
from unisono.maths.comparisons.comparison_state import Crowd, Expected, Hyper, Moments, Population, Problem, State
from unisono.maths.em_loop import EmTrace, OnStep, run_em

SHORTEST_XI = 1e-6  # numerical: below it tanh(xi / 2) / (2 xi) is 1/4
MAX_ITER, TOL = 500, 3e-6  # numerical: the tolerance is nats per comparison
LEAST_WIDTH = 1e-9  # numerical: of a range between thresholds
NEWTON = 3  # numerical: steps of thresholds, and of shares of answers at random
SUREST_SLIP = 1 - 1e-9  # numerical
LONGEST_MOVE = 2.0  # numerical: of log odds in a step


class Factors(NamedTuple):
    """The quadratic bounds: for every comparison -W delta^2 / 2 + b delta, up to constants."""

    W: np.ndarray  # (N,)
    b: np.ndarray  # (N,)
    w: np.ndarray  # (F,) of single factors
    x: np.ndarray  # (F,) expected arguments of the logistic functions
    xi: np.ndarray  # (F,) where the bounds touch
    value: float  # the expected log likelihood, at least
    each: np.ndarray  # (N,) that of every answer, were it not given at random
    weight: np.ndarray  # (N,) how much each counts: less, the more probable it is that it was
    d: np.ndarray  # (N,) mean of the difference of the truths, in logits
    dd: np.ndarray  # (N,) and of its square

    def counted(self, more: np.ndarray, data: ComparisonData) -> Factors:
        """Where every answer counts so many times as much (N,)."""
        return self._replace(W=self.W * more, b=self.b * more, w=self.w * more[data.row], weight=self.weight * more)


def factors(at: Problem, state: State) -> Factors:
    """The bounds that touch where the state is (eq. V1)."""
    data, t = at.data, comparison_state.thresholds(at.data, state)
    m = Moments(*(x[data.who] for x in comparison_state.moments(state.crowd)))
    unit = state.hyper.unit[data.left % data.D]
    d = unit * data.difference(state.truths.mean)
    dd = d * d + unit**2 * state.truths.apart[data.pair]
    delta = m.g * d + m.o
    square = m.gg * dd + 2 * m.go * d + m.oo
    counted = data.weight * (1 - state.slips)
    s, weight = data.sign, counted[data.row]
    x = s * delta[data.row] + t
    xi = np.sqrt(np.maximum(square[data.row] + 2 * s * t * delta[data.row] + t * t, SHORTEST_XI**2))
    w = weight * np.tanh(xi / 2) / (2 * xi)
    each = data.by_row(0.5 * (x - xi) - np.logaddexp(0.0, -xi)) + between(data, state)
    value = float(counted @ each) + _slipped(data, state)
    return Factors(data.by_row(w), data.by_row(s * (0.5 * weight - w * t)), w, x, xi, value, each, counted, d, dd)


def between(data: ComparisonData, state: State) -> np.ndarray:
    """(N,) what answers with two ends add to the log likelihood."""
    at, found = np.flatnonzero(data.inner >= 0), np.zeros(data.N)
    width = state.crowd.tau[data.who[at]] * comparison_state.gaps(state.hyper.steps)[data.inner[at]]
    found[at] = np.log(-np.expm1(-width))
    return found


def _slipped(data: ComparisonData, state: State) -> float:
    """What answers at random, and which of them are, add to the expected log likelihood (eq. V14)."""
    q, odds = state.slips, state.crowd.slip[data.who]
    told = q * (data.random + odds) - np.logaddexp(0.0, odds) + entr(q) + entr(1 - q)
    return float(data.weight @ told)


def lower_bound(at: Problem, state: State, value: float) -> float:
    """What every step raises, up to constants: `value`, less what it costs q to differ from the priors (eq. V6)."""
    return value + _truth_cost(at, state) + _crowd_cost(at, state) + _hyper_cost(at, state)


def _truth_cost(at: Problem, state: State) -> float:
    t, prior, M = state.truths, at.prior, at.data.M + at.prior.scores.shape[1]
    second = t.mean[:, :, None] * t.mean[:, None, :] + t.block
    said = float((prior.shift * t.mean).sum() - 0.5 * (prior.precision * second).sum())
    cost = M * np.linalg.slogdet(state.hyper.Sigma)[1]
    cost += np.trace(np.linalg.solve(state.hyper.Sigma, _spread(at, state)))
    if prior.gold is not None:
        n, missed = gold_errors(prior.gold, state)
        cost += (missed / state.hyper.gold_var + n * np.log(state.hyper.gold_var)).sum()
    return said + 0.5 * (t.log_det + at.data.U - float(cost))


def gold_errors(gold: np.ndarray, state: State) -> tuple[np.ndarray, np.ndarray]:
    """(D,) how many truths are known, and the sum of their expected squared errors."""
    away = (gold - state.truths.mean) ** 2 + np.diagonal(state.truths.block, axis1=1, axis2=2)
    return (~np.isnan(gold)).sum(axis=0), np.nansum(away, axis=0)


def _spread(at: Problem, state: State) -> np.ndarray:
    """(D, D) expected products of truths around where they are expected; and of coefficients of features."""
    away, theta = state.truths.mean - at.prior.centre(state.hyper), state.hyper.theta
    return np.asarray(away.T @ away + state.truths.block.sum(axis=0) + theta.T @ theta)


def divergence(crowd: Crowd, of: Expected) -> np.ndarray:
    """(K, 3) what the normals of each class cost."""
    away = crowd.at - of.centre
    second = crowd.cov + away[..., :, None] * away[..., None, :]
    log_det = np.linalg.slogdet(crowd.cov)[1] + np.linalg.slogdet(of.precision)[1]
    return np.asarray(0.5 * (log_det + 2 - (of.precision * second).sum(axis=(-2, -1))))


def _crowd_cost(at: Problem, state: State) -> float:
    crowd, of = state.crowd, comparison_state.expected(at, state.hyper)
    each = crowd.prob * divergence(crowd, of) + xlogy(crowd.prob, of.share) - xlogy(crowd.prob, crowd.prob)
    total = float(each.sum())
    total -= 0.5 * float((of.slip_precision * (crowd.slip - of.slip) ** 2).sum())
    if not at.data.graded:
        return total
    return total - 0.5 * float((of.tie_precision * (np.log(crowd.tau) - of.tie) ** 2).sum())


def _hyper_cost(at: Problem, state: State) -> float:
    data, hyper, people = at.data, state.hyper, at.population
    pulled = np.trace(np.linalg.solve(hyper.Sigma, at.prior.Sigma))
    total = -0.5 * at.prior.items * (np.linalg.slogdet(hyper.Sigma)[1] + pulled)
    total -= 0.5 * people.slip_precision * (hyper.slip - people.slip) ** 2
    if data.K > 1 or at.earlier is not None:
        total -= 0.5 * people.spread_n * (np.log(hyper.gain_var) + people.gain_var / hyper.gain_var)
    if data.sided:
        total -= 0.5 * people.spread_n * (np.log(hyper.order_var) + people.order_var / hyper.order_var)
        away = people.order_n * (hyper.order - people.order) ** 2
        total -= 0.5 * (np.log(hyper.order_var) + away / hyper.order_var)
    if comparison_state.classed(at):
        total += float(people.counts @ np.log(hyper.shares))
    if data.graded:
        total -= 0.5 * people.tie_precision * (hyper.tie - people.tie) ** 2 + _step_cost(data, hyper.steps)
    if at.prior.gold is not None:
        total -= 0.5 * GOLD_ITEMS * float((np.log(hyper.gold_var) + GOLD_ERROR**2 / hyper.gold_var).sum())
    return float(total)


def _step_cost(data: ComparisonData, steps: np.ndarray) -> float:
    """Thresholds of strengths are expected at equal distances."""
    free = np.diff(steps)[0 if data.ties else 1 :]
    return 0.5 * float((np.log(free) ** 2).sum()) / STEP_SD**2


def step(at: Problem, state: State) -> tuple[State, float]:
    """The next state, and the bound at this one."""
    found = factors(at, state)
    bound = lower_bound(at, state, found.value)
    slips, state = state.slips, slipped(at, state, found.each)
    found = found.counted((1 - state.slips) / (1 - slips), at.data)
    # Truths before annotators: while nothing is known of them, every gain looks like a spammer's.
    state = state._replace(truths=_truths(at, state, found))
    state = state._replace(crowd=_crowd(at, state, factors(at, state)))
    if at.data.graded:
        state = state._replace(crowd=_annotators_thresholds(at, state, factors(at, state)))
        state = _steps(at, state)
    return _in_unit(at, state._replace(hyper=hyperparameters(at, state))), bound


def slipped(at: Problem, state: State, each: np.ndarray) -> State:
    """Which answers were given at random, and how often annotators do so (eq. V14).

    `each` (N,) is the expected log likelihood of every answer, were it not given at random. Newton steps of
    the marginal likelihood, all shares and their median at once: one after another would take hundreds.
    """
    data, new, people = at.data, at.new, at.population
    n, share, slip = data.by_annotator(data.weight), state.crowd.slip, state.hyper.slip
    here = _slip_value(at, state.hyper, share, slip, each)
    for _ in range(NEWTON):
        of = comparison_state.expected(at, state.hyper._replace(slip=slip))
        p, q = expit(share), expit(share[data.who] + data.random - each)
        up = data.by_annotator(data.weight * q) - n * p - of.slip_precision * (share - of.slip)
        told = n * p * (1 - p) - data.by_annotator(data.weight * q * (1 - q))
        bend = np.maximum(told, 0.0) + of.slip_precision
        tied = of.slip_precision * new
        median = (tied * (share - slip)).sum() - people.slip_precision * (slip - people.slip)
        median = (median + (tied * up / bend).sum()) / ((tied - tied**2 / bend).sum() + people.slip_precision)
        move = (up + tied * median) / bend
        size = min(1.0, LONGEST_MOVE / max(float(np.abs(move).max(initial=0.0)), abs(median), LONGEST_MOVE))
        for _ in range(8):  # numerical: halvings
            there = _slip_value(at, state.hyper, share + size * move, slip + size * median, each)
            if there >= here:
                share, slip, here = share + size * move, slip + size * median, there
                break
            size /= 2
    q = np.minimum(expit(share[data.who] + data.random - each), SUREST_SLIP)
    crowd = state.crowd._replace(slip=share, slip_sd=bend**-0.5)
    return state._replace(slips=q, crowd=crowd, hyper=state.hyper._replace(slip=slip))


def _slip_value(at: Problem, hyper: Hyper, share: np.ndarray, slip: float, each: np.ndarray) -> float:
    """The bound as a function of log odds of slips and of their median, every answer as probable as it is by both."""
    data, of, people = at.data, comparison_state.expected(at, hyper._replace(slip=slip)), at.population
    odds = share[data.who]
    told = np.logaddexp(each, data.random + odds) - np.logaddexp(0.0, odds)
    cost = float((of.slip_precision * (share - of.slip) ** 2).sum()) + people.slip_precision * (slip - people.slip) ** 2
    return float(data.weight @ told) - 0.5 * cost


def _truths(at: Problem, state: State, found: Factors) -> comparison_solver.Truths:
    """E-step of the truths (eq. V4)."""
    data, m = at.data, comparison_state.moments(state.crowd)
    unit = state.hyper.unit
    weight = data.by_pair(found.W * m.gg[data.who]) * unit[data.low % data.D] ** 2
    pull = (found.b * m.g[data.who] - found.W * m.go[data.who]) * unit[data.left % data.D]
    shift = data.by_unknown(pull).reshape(data.M, data.D)
    base, own = comparison_state.before(at, state.hyper)
    return comparison_solver.solve(at.where, base, weight, own + shift, state.truths.mean)


def _crowd(at: Problem, state: State, found: Factors) -> Crowd:
    """E-step of the annotators: in every class a normal, its evidence is that of the class (eq. V5)."""
    data, of = at.data, comparison_state.expected(at, state.hyper)
    P = normal_precision(data, found.W, found.d, found.dd)[:, None] + of.precision
    h = np.stack([data.by_annotator(found.b * found.d), data.by_annotator(found.b)], axis=-1)[:, None]
    toward = np.einsum("kzij,kzj->kzi", of.precision, of.centre)
    cov = np.linalg.inv(P)
    mean = np.einsum("kzij,kzj->kzi", cov, h + toward)
    evidence = 0.5 * (((h + toward) * mean).sum(-1) + np.linalg.slogdet(cov)[1])
    evidence = evidence - 0.5 * ((toward * of.centre).sum(-1) - np.linalg.slogdet(of.precision)[1])
    with np.errstate(divide="ignore"):
        evidence = evidence + np.log(of.share)
    prob = np.exp(evidence - logsumexp(evidence, axis=1, keepdims=True))
    return state.crowd._replace(prob=prob, at=mean, cov=cov)


def normal_precision(data: ComparisonData, W: np.ndarray, d: np.ndarray, dd: np.ndarray) -> np.ndarray:
    """(K, 2, 2) what comparisons add to the precision of (gain, order effect)."""
    gg, go, oo = (data.by_annotator(W * x) for x in (dd, d, np.ones_like(d)))
    return np.stack([np.stack([gg, go], axis=-1), np.stack([go, oo], axis=-1)], axis=-2)


class Ranges(NamedTuple):
    """The bound as a function of thresholds tau_k m_s: -A t^2 / 2 + B t, and answers between two of them."""

    A: np.ndarray  # (K, S)
    B: np.ndarray  # (K, S)
    T: np.ndarray  # (K, S) weight of answers in every range with two ends

    def of(self, tau: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """(K,) the value."""
        t, width = tau[:, None] * steps, tau[:, None] * np.maximum(comparison_state.gaps(steps), LEAST_WIDTH)
        inside = np.where(self.T > 0, self.T * np.log(-np.expm1(-width)), 0.0)
        return np.asarray((-0.5 * self.A * t * t + self.B * t + inside).sum(axis=1))


def _ranges(data: ComparisonData, state: State, found: Factors) -> Ranges:
    m, S = comparison_state.moments(state.crowd), data.steps
    delta = (m.g[data.who] * found.d + m.o[data.who])[data.row]
    cell = data.who[data.row] * S + data.step
    pull = data.end * (0.5 * found.weight[data.row] - found.w * data.sign * delta)
    A, B = (np.bincount(cell, x, data.K * S).reshape(-1, S) for x in (found.w, pull))
    at = np.flatnonzero(data.inner >= 0)
    T = np.bincount(data.who[at] * S + data.inner[at], found.weight[at], data.K * S).reshape(-1, S)
    return Ranges(A, B, T)


def _annotators_thresholds(at: Problem, state: State, found: Factors) -> Crowd:
    """Newton steps in log tau, halved until the bound does not fall."""
    of, steps = comparison_state.expected(at, state.hyper), state.hyper.steps
    given, width = _ranges(at.data, state, found), comparison_state.gaps(state.hyper.steps)
    A, B = given.A @ steps**2, given.B @ steps

    def value(t: np.ndarray) -> np.ndarray:
        return np.asarray(given.of(np.exp(t), steps) - 0.5 * of.tie_precision * (t - of.tie) ** 2)

    def slopes(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        tau, away = np.exp(t), np.exp(t)[:, None] * np.maximum(width, LEAST_WIDTH)
        shrunk = -np.expm1(-away)
        first = B - A * tau + (given.T * width * (1 - shrunk) / shrunk).sum(axis=1)
        second = A + (given.T * width**2 * (1 - shrunk) / shrunk**2).sum(axis=1)
        return tau * first, tau * first - tau**2 * second - of.tie_precision

    t = np.log(state.crowd.tau)
    for _ in range(NEWTON):
        inner, bend = slopes(t)
        move = (inner - of.tie_precision * (t - of.tie)) / np.maximum(np.abs(bend), of.tie_precision)
        move, here = np.clip(move, -1.0, 1.0), value(t)
        for _ in range(8):  # numerical: halvings
            move = np.where(value(t + move) >= here, move, move / 2)
        t = np.where(value(t + move) >= here, t + move, t)
    sd = np.maximum(-slopes(t)[1], of.tie_precision) ** -0.5
    return state.crowd._replace(tau=np.exp(t), tau_sd=sd)


def _steps(at: Problem, state: State) -> State:
    """Where thresholds of strengths lie, for everybody alike, relative to the first."""
    data, first = at.data, state.hyper.steps[: 1 if at.data.ties else 2]
    if data.steps == len(first) or at.population.steps is not None:
        return state
    given, tau = _ranges(data, state, factors(at, state)), state.crowd.tau

    def placed(r: np.ndarray) -> np.ndarray:
        return np.concatenate([first, first[-1] + np.cumsum(np.exp(r))])

    def cost(r: np.ndarray) -> float:
        return _step_cost(data, placed(r)) - float(given.of(tau, placed(r)).sum())

    now = np.log(np.diff(state.hyper.steps)[len(first) - 1 :])
    found = scipy.optimize.minimize(cost, now, method="L-BFGS-B").x
    better = found if cost(found) <= cost(now) else now
    return state._replace(hyper=state.hyper._replace(steps=placed(better)))


def hyperparameters(at: Problem, state: State) -> Hyper:
    """M-steps of what items, and what annotators, have in common."""
    hyper, prior, R = state.hyper, at.prior, at.prior.scores.shape[1]
    if R:
        square = prior.scores.T @ prior.scores + np.eye(R)
        theta = np.linalg.solve(square, prior.scores.T @ (state.truths.mean - prior.mean))
        hyper, state = hyper._replace(theta=theta), state._replace(hyper=hyper._replace(theta=theta))
    Sigma = (_spread(at, state) + prior.items * prior.Sigma) / (at.data.M + R + prior.items)
    hyper = hyper._replace(Sigma=Sigma)
    if prior.rated.any():
        hyper = hyper._replace(unit=np.where(prior.rated, _unit(at, state), 1.0))
    if prior.gold is not None:
        n, missed = gold_errors(prior.gold, state)
        hyper = hyper._replace(gold_var=(missed + GOLD_ITEMS * GOLD_ERROR**2) / (n + GOLD_ITEMS))
    return _of_annotators(at, state, hyper, at.population)


def _of_annotators(at: Problem, state: State, hyper: Hyper, people: Population) -> Hyper:
    """From those of whom nothing was known, and the imaginary ones."""
    data, new = at.data, at.new
    crowd, n = Crowd(*(x[new] for x in state.crowd)), int(new.sum())
    if data.graded:
        total = np.log(crowd.tau).sum() / TIE_SD**2 + people.tie * people.tie_precision
        hyper = hyper._replace(tie=float(total / (n / TIE_SD**2 + people.tie_precision)))
    if comparison_state.classed(at):
        counts = crowd.prob.sum(axis=0) + people.counts
        hyper = hyper._replace(shares=counts / counts.sum())
    if data.K > 1 or at.earlier is not None:
        alive = crowd.prob * (comparison_state.GAINS != 0)
        square = (crowd.at[..., 0] - comparison_state.GAINS) ** 2 + crowd.cov[..., 0, 0]
        total = float((alive * square).sum()) + people.spread_n * people.gain_var
        hyper = hyper._replace(gain_var=total / (float(alive.sum()) + people.spread_n))
    if data.sided:
        m, level = comparison_state.moments(crowd), people.order_n
        order = (float(m.o.sum()) + level * people.order) / (n + level)
        total = float((m.oo - 2 * order * m.o + order**2).sum())
        total += people.spread_n * people.order_var + level * (order - people.order) ** 2
        hyper = hyper._replace(order=order, order_var=total / (n + people.spread_n + 1))
    return hyper


def _unit(at: Problem, state: State) -> np.ndarray:
    """(D,) logits per unit of the ratings: of a quadratic in each."""
    data, m, unit = at.data, comparison_state.moments(state.crowd), state.hyper.unit
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
    crowd, hyper, of = state.crowd, state.hyper, comparison_state.expected(at, state.hyper)
    P, c, g, o = of.precision, of.centre, crowd.at[..., 0], crowd.at[..., 1]
    square, cross = g**2 + crowd.cov[..., 0, 0], g * (o - c[..., 1]) + crowd.cov[..., 0, 1]
    A = float((crowd.prob * P[..., 0, 0] * square).sum())
    B = float((crowd.prob * (P[..., 0, 0] * c[..., 0] * g - P[..., 0, 1] * cross)).sum())
    free = np.flatnonzero(~at.prior.rated)
    pulled = np.linalg.inv(hyper.Sigma)[np.ix_(free, free)] * at.prior.Sigma[np.ix_(free, free)]
    A, n = A + at.prior.items * float(pulled.sum()), at.data.K + (at.prior.items + len(hyper.theta)) * len(free)
    return comparison_state.rescaled(at, state, (B + np.sqrt(B * B + 4 * A * n)) / (2 * A))


def fit(
    at: Problem,
    *,
    tol: float = TOL,
    max_iter: int = MAX_ITER,
    on_step: OnStep[State] | None = None,
    first: State | None = None,
) -> tuple[State, EmTrace]:
    """From the start, or the `first` state, to where the bound rises by less than `tol` per comparison."""

    def settled(objective: list[float], before: State, after: State) -> bool:
        return len(objective) > 2 and objective[-1] - objective[-2] < tol * at.data.N

    begin = comparison_state.start(at) if first is None else first
    return run_em(lambda s: step(at, s), begin, stop_when=settled, max_iter=max_iter, on_step=on_step)
