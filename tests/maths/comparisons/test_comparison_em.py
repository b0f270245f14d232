"""EM for comparisons: against answer by answer, its laws, and the two ways in which it goes astray."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import expit, logsumexp

from comparison_cases import world
from reference import naive_comparisons as naive
from unisono.maths.comparisons import comparison_em as em
from unisono.maths.comparisons import comparison_state as cs
from unisono.maths.comparisons.comparison_data import comparison_data, ranking_weights

WORLDS = {
    "ties, one dimension": {"M": 15, "K": 6, "N": 200},
    "three dimensions, components": {"M": 24, "K": 9, "N": 300, "D": 3, "islands": 3},
    "no ties, flipped": {"M": 20, "K": 10, "N": 300, "ties": False, "flipped": 0.2},
    "hardly any answers": {"M": 12, "K": 5, "N": 15},
    "one annotator": {"M": 10, "K": 1, "N": 60, "spammers": 0},
    "large differences": {"M": 30, "K": 8, "N": 500, "spread": 4.0},
    "strengths": {"M": 20, "K": 7, "N": 400, "steps": 3},
    "strengths without ties": {"M": 20, "K": 7, "N": 400, "steps": 4, "ties": False},
}


def after(at, steps):
    state = cs.start(at)
    for _ in range(steps):
        state, _ = em.step(at, state)
    return state


def usual_gain(state):
    usual = state.crowd.prob[:, 0]
    return float((usual * state.crowd.at[:, 0, 0]).sum() / usual.sum())


@pytest.mark.parametrize("case", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("largest", [0, 1000], ids=["factorised", "exact"])
def test_the_bound_never_falls(case, largest):
    for seed in range(3):
        at = cs.problem(world(seed=seed, **case).data, largest=largest)
        state, bounds = cs.start(at), []
        for _ in range(40):
            state, bound = em.step(at, state)
            bounds.append(bound)
        assert np.diff(bounds).min() >= -1e-9 * abs(bounds[-1])
        assert bounds[-1] > bounds[0]


@pytest.mark.parametrize("known", ["truths", "features", "weights", "annotators"])
def test_the_bound_never_falls_whatever_is_known(known):
    w = world(M=24, K=8, N=300, D=2, flipped=0.1)
    data, rng = w.data, np.random.default_rng(0)
    prior, earlier = cs.unrated(24, 2), None
    if known == "truths":
        gold = np.where(rng.random((24, 2)) < [0.3, 0], w.truth + rng.normal(0, 0.2, (24, 2)), np.nan)
        prior = prior._replace(gold=gold, rated=np.array([True, False]), unit=np.array([0.7, 1.0]))
    elif known == "features":
        prior = prior._replace(scores=w.truth @ rng.normal(size=(2, 3)) + rng.normal(size=(24, 3)))
    elif known == "weights":
        data = data._replace(weight=rng.uniform(0.2, 1, data.N))
    else:
        before = after(cs.problem(world(M=24, K=8, N=300, D=2, seed=5, flipped=0.1).data), 20)
        people = cs.IMAGINARY._replace(gain_var=0.05, order=0.1, spread_n=10.0)
        earlier = cs.Earlier(np.arange(8) < 5, before.crowd, people)
    at = cs.problem(data, prior, earlier=earlier)
    bounds = em.fit(at, tol=1e-9, max_iter=60)[1].objective
    assert np.diff(bounds).min() >= -1e-9 * abs(bounds[-1])
    assert len(bounds) > 10


@pytest.mark.parametrize("case", WORLDS.values(), ids=WORLDS)
def test_the_bound_of_every_answer(case):
    at = cs.problem(world(**case).data)
    state = after(at, 3)
    np.testing.assert_allclose(em.factors(at, state).value, naive.expected_bound(at.data, state), rtol=1e-8)


def test_it_is_a_bound():
    """Of the evidence of one annotator's answers about two items, by quadrature."""
    answer = np.array([0, 0, 2, 0])
    two, zero = np.zeros(4, dtype=int), np.zeros(4, dtype=int)
    data = comparison_data((two, two + 1), zero, zero, answer, (2, 1, 1))
    at = cs.problem(data)
    state = cs.start(at)
    for _ in range(30):
        state = state._replace(truths=em._truths(at, state, em.factors(at, state)))
        state = state._replace(crowd=em._crowd(at, state, em.factors(at, state)))
    bound = em.factors(at, state).value + em._truth_cost(at, state) + em._crowd_cost(at, state)
    x, w = np.polynomial.hermite_e.hermegauss(60)
    w = np.log(w / w.sum())
    d, o = np.sqrt(2) * x[:, None], np.sqrt(state.hyper.order_var) * x[None, :]
    loglik = 3 * np.log(expit(d + o)) + np.log(expit(-d - o))
    exact = logsumexp(loglik + w[:, None] + w[None, :])
    assert exact - 0.1 < bound < exact


def test_annotators_one_class_after_another():
    at = cs.problem(world(M=15, K=6, N=200).data)
    state = after(at, 4)
    found, data, hyper = em.factors(at, state), at.data, state.hyper
    crowd = em._crowd(at, state, found)
    for k in range(data.K):
        mine, evidence = data.who == k, []
        for z, gain in enumerate(cs.GAINS):
            prior = [cs.class_variances(hyper)[z], hyper.order_var]
            each = [x[mine] for x in (found.d, found.dd - found.d**2, found.W, found.b)]
            mean, cov = naive.posterior_of_annotator(*each, [gain, hyper.order], prior)
            np.testing.assert_allclose(crowd.at[k, z], mean, rtol=1e-8)
            np.testing.assert_allclose(crowd.cov[k, z], cov, rtol=1e-8)
            own = gain**2 / prior[0] + hyper.order**2 / prior[1]
            value = mean @ np.linalg.solve(cov, mean) + np.linalg.slogdet(cov)[1] - np.log(prior).sum() - own
            evidence.append(0.5 * value + np.log(hyper.shares[z]))
        np.testing.assert_allclose(crowd.prob[k], np.exp(evidence - logsumexp(evidence)), rtol=1e-8)


def test_thresholds_are_where_the_bound_is_highest():
    at = cs.problem(world(M=15, K=6, N=400).data)
    state = after(at, 4)
    found = em.factors(at, state)
    for _ in range(10):
        state = state._replace(crowd=em._annotators_thresholds(at, state, found))

    def value(tau):
        moved = state._replace(crowd=state.crowd._replace(tau=tau))
        m, data = cs.moments(state.crowd), at.data
        s, t = data.sign, data.end * tau[data.who[data.row]]
        delta = (m.g[data.who] * found.d + m.o[data.who])[data.row]
        x, square = s * delta + t, 2 * s * t * delta + t * t
        each = data.by_row(0.5 * found.weight[data.row] * x - 0.5 * found.w * square)
        return (each + found.weight * em.between(data, moved)).sum() + em._crowd_cost(at, moved)

    best = value(state.crowd.tau)
    for k in range(at.data.K):
        for factor in (0.97, 1.03):
            tau = state.crowd.tau.copy()
            tau[k] *= factor
            assert value(tau) < best


def test_answers_at_random_one_after_another():
    """How probable each is by Bayes, and everybody's share where the bound is highest."""
    at = cs.problem(world(M=15, K=6, N=400, slips=0.2).data)
    state = after(at, 6)
    found, data = em.factors(at, state), at.data
    new = em.slipped(at, state, found.each)
    for n in range(data.N):
        odds = np.exp(new.crowd.slip[data.who[n]] + data.random[n] - found.each[n])
        np.testing.assert_allclose(new.slips[n], odds / (1 + odds), rtol=1e-8)
    for _ in range(10):
        new = em.slipped(at, new, found.each)
    held = new.slips

    def value(slip):
        moved = new._replace(crowd=new.crowd._replace(slip=slip))
        return em._slipped(data, moved) + em._crowd_cost(at, moved)

    assert held.max() > 3 * held.min()
    for k in range(data.K):
        for away in (-0.03, 0.03):
            assert value(new.crowd.slip + away * (np.arange(data.K) == k)) < value(new.crowd.slip)


@pytest.mark.parametrize("slips", [0.0, 0.1])
def test_the_share_of_answers_at_random_is_found(slips):
    found = []
    for seed in range(3):
        w = world(N=12_000, spread=3.0, slips=slips, seed=seed, spammers=0.0)
        state, _ = em.fit(cs.problem(w.data))
        found.append(expit(state.crowd.slip).mean())
        slope = np.polyfit(w.truth.ravel(), state.truths.mean.ravel(), 1)[0]
        assert 0.85 < slope < 1.1
    assert slips - 0.03 < np.mean(found) < slips + 0.03


def test_sides_swapped_turn_order_effects_and_nothing_else():
    w = world(M=20, K=8, N=500)
    d = w.data
    swapped = comparison_data((d.right // d.D, d.left // d.D), d.left % d.D, d.who, 2 - d.answer, (d.M, d.D, d.K))
    one, other = (em.fit(cs.problem(data))[0] for data in (d, swapped))
    np.testing.assert_allclose(one.truths.mean, other.truths.mean, atol=1e-8)
    np.testing.assert_allclose(one.crowd.at * [1, -1], other.crowd.at, atol=1e-8)
    np.testing.assert_allclose(one.crowd.tau, other.crowd.tau, rtol=1e-8)


def test_a_unit_that_has_drifted_comes_back():
    """Gains doubled and truths halved explain answers as well: in steps of EM alone the unit takes dozens of them."""
    at = cs.problem(world(M=1000, K=200, N=20_000).data)
    state = after(at, 40)
    t, c, both = state.truths, state.crowd, np.array([2.0, 1.0])
    state = state._replace(
        truths=t._replace(
            mean=t.mean / 2, block=t.block / 4, apart=t.apart / 4, log_det=t.log_det - 2 * at.data.U * np.log(2)
        ),
        crowd=c._replace(at=c.at * both, cov=c.cov * both[:, None] * both),
        hyper=state.hyper._replace(Sigma=state.hyper.Sigma / 4),
    )
    for _ in range(6):
        state, _ = em.step(at, state)
    assert abs(usual_gain(state) - 1) < 0.03


def test_the_unit_is_that_of_the_truth():
    for case in ({"flipped": 0.1}, {"M": 1000, "K": 200, "N": 20_000}, {"spread": 2.5}):
        w = world(**case)
        state, _ = em.fit(cs.problem(w.data))
        assert abs(usual_gain(state) - 1) < 0.02
        estimate, truth = (w.data.difference(x) for x in (state.truths.mean, w.truth))
        shrunk = np.corrcoef(estimate, truth)[0, 1] ** 2  # the slope of posterior means on truths
        assert abs(np.polyfit(truth, estimate, 1)[0] - shrunk) < 0.1


def test_nobody_is_a_spammer_before_anything_is_known():
    """Annotators judged by truths that are still zero would nearly all have no gain."""
    w = world(M=5000, K=1000, N=100_000)
    at = cs.problem(w.data)
    assert after(at, 1).crowd.prob[:, 1].mean() < 0.5
    state, trace = em.fit(at)
    assert trace.converged
    assert 0.07 < state.crowd.prob[:, 1].mean() < 0.13


def test_who_answers_the_wrong_way_round_is_found():
    w = world(flipped=0.1)
    state, _ = em.fit(cs.problem(w.data))
    np.testing.assert_array_equal(state.crowd.prob.argmax(axis=1), w.kind)


def test_of_two_annotators_neither_is_a_spammer():
    for seed in range(5):
        state, _ = em.fit(cs.problem(world(M=20, K=2, N=200, seed=seed, spammers=0.5).data))
        np.testing.assert_array_equal(state.crowd.prob[:, 0], 1)


def test_more_answers_come_closer():
    r = [np.mean([_recovered(world(N=N, seed=seed)) for seed in range(3)]) for N in (300, 1000, 4000)]
    assert r[0] < r[1] < r[2]
    assert r[2] > 0.95


def _recovered(w):
    state, _ = em.fit(cs.problem(w.data))
    return np.corrcoef(state.truths.mean.ravel(), w.truth.ravel())[0, 1]


def test_thresholds_of_strengths_are_found():
    for ties, steps in ((True, (0.4, 1.2, 2.0)), (False, (0.0, 0.8, 1.6))):
        w = world(M=50, K=25, N=6000, steps=3, ties=ties, seed=2)
        state, trace = em.fit(cs.problem(w.data))
        assert trace.converged
        found = np.median(state.crowd.tau) * state.hyper.steps
        np.testing.assert_allclose(found, steps, atol=0.2)


def test_an_answer_that_counts_half_counts_half():
    """Two of every row with half the weight say what one does."""
    d = world(M=12, K=4, N=100).data
    twice = [np.tile(x, 2) for x in (d.left, d.right, d.who, d.answer)]
    halves = comparison_data(
        (twice[0], twice[1]), 0 * twice[0], twice[2], twice[3], (12, 1, 4), weight=np.full(200, 0.5)
    )
    one, other = (after(cs.problem(data), 12) for data in (d, halves))
    np.testing.assert_allclose(one.truths.mean, other.truths.mean, rtol=1e-8)
    np.testing.assert_allclose(one.crowd.cov, other.crowd.cov, rtol=1e-8)
    np.testing.assert_allclose(one.crowd.tau, other.crowd.tau, rtol=1e-8)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("form", ["rankings", "best and worst"])
def test_pairs_of_a_ranking_tell_as_much_as_its_choices(n, form):
    """Fisher information of items that are alike, over all rankings by choice after choice."""
    total = np.zeros((n, n))
    for order in itertools.permutations(range(n)):
        slope = np.zeros(n)
        for first in range(n - 1):
            left = list(order[first:])
            slope[left] -= 1 / len(left)
            slope[order[first]] += 1
        if form == "best and worst":
            slope, rest = np.full(n, -1 / n), list(order[1:])
            slope[order[0]] += 1
            if n > 2:  # the worst of two is said already
                slope[rest] += 1 / len(rest)
                slope[order[-1]] -= 1
        total += np.outer(slope, slope) / math.factorial(n)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if form == "rankings" or i == 0 or j == n - 1]
    left, right = (np.array(side) for side in zip(*pairs, strict=True))
    weight = ranking_weights(np.zeros(len(pairs), dtype=int), left, right)
    share = len(pairs) / (n * (n - 1) / 2)  # every two items are as often among the pairs
    informed = weight[0] * share * 0.25 * (n * np.eye(n) - np.ones((n, n)))
    np.testing.assert_allclose(total, informed, atol=1e-10)
    single = ranking_weights(np.array([7, 8, 8]), np.array([0, 0, 0]), np.array([1, 1, 1]))
    np.testing.assert_array_equal(single, 1)  # the same pair by two dimensions, or several times
