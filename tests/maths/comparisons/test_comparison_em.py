"""EM for comparisons: against answer by answer, its laws, and the two ways in which it goes astray."""

import numpy as np
import pytest
from scipy.special import expit, logsumexp

from comparison_cases import world
from reference import naive_comparisons as naive
from unisono.maths.comparisons import comparison_em as em
from unisono.maths.comparisons.comparison_data import comparison_data

WORLDS = {
    "ties, one dimension": {"M": 15, "K": 6, "N": 200},
    "three dimensions, components": {"M": 24, "K": 9, "N": 300, "D": 3, "islands": 3},
    "no ties, flipped": {"M": 20, "K": 10, "N": 300, "ties": False, "flipped": 0.2},
    "hardly any answers": {"M": 12, "K": 5, "N": 15},
    "one annotator": {"M": 10, "K": 1, "N": 60, "spammers": 0},
    "large differences": {"M": 30, "K": 8, "N": 500, "spread": 4.0},
}


def after(at, steps):
    state = em.start(at)
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
        at = em.problem(world(seed=seed, **case).data, largest=largest)
        state, bounds = em.start(at), []
        for _ in range(40):
            state, bound = em.step(at, state)
            bounds.append(bound)
        assert np.diff(bounds).min() >= -1e-9 * abs(bounds[-1])
        assert bounds[-1] > bounds[0]


@pytest.mark.parametrize("case", WORLDS.values(), ids=WORLDS)
def test_the_bound_of_every_answer(case):
    at = em.problem(world(**case).data)
    state = after(at, 3)
    np.testing.assert_allclose(em.factors(at, state).value, naive.expected_bound(at.data, state), rtol=1e-8)


def test_it_is_a_bound():
    """Of the evidence of one annotator's answers about two items, by quadrature."""
    answer = np.array([0, 0, 2, 0])
    two, zero = np.zeros(4, dtype=int), np.zeros(4, dtype=int)
    data = comparison_data((two, two + 1), zero, zero, answer, (2, 1, 1))
    at = em.problem(data)
    state = em.start(at)
    for _ in range(30):
        state = state._replace(truths=em._truths(at, state, em.factors(at, state)))
        state = state._replace(crowd=em._crowd(at, state, em.factors(at, state)))
    bound = em.factors(at, state).value + em._truth_cost(at, state) + em._crowd_cost(data, state)
    x, w = np.polynomial.hermite_e.hermegauss(60)
    w = np.log(w / w.sum())
    d, o = np.sqrt(2) * x[:, None], np.sqrt(state.hyper.order_var) * x[None, :]
    loglik = 3 * np.log(expit(d + o)) + np.log(expit(-d - o))
    exact = logsumexp(loglik + w[:, None] + w[None, :])
    assert exact - 0.1 < bound < exact


def test_annotators_one_class_after_another():
    at = em.problem(world(M=15, K=6, N=200).data)
    state = after(at, 4)
    found, data, hyper = em.factors(at, state), at.data, state.hyper
    crowd = em._crowd(at, state, found)
    for k in range(data.K):
        mine, evidence = data.who == k, []
        for z, gain in enumerate(em.GAINS):
            prior = [em.class_variances(hyper)[z], hyper.order_var]
            each = [x[mine] for x in (found.d, found.dd - found.d**2, found.W, found.b)]
            mean, cov = naive.posterior_of_annotator(*each, [gain, hyper.order], prior)
            np.testing.assert_allclose(crowd.at[k, z], mean, rtol=1e-8)
            np.testing.assert_allclose(crowd.cov[k, z], cov, rtol=1e-8)
            own = gain**2 / prior[0] + hyper.order**2 / prior[1]
            value = mean @ np.linalg.solve(cov, mean) + np.linalg.slogdet(cov)[1] - np.log(prior).sum() - own
            evidence.append(0.5 * value + np.log(hyper.shares[z]))
        np.testing.assert_allclose(crowd.prob[k], np.exp(evidence - logsumexp(evidence)), rtol=1e-8)


def test_thresholds_are_where_the_bound_is_highest():
    at = em.problem(world(M=15, K=6, N=400).data)
    state = after(at, 4)
    found = em.factors(at, state)
    for _ in range(10):
        state = state._replace(crowd=em._thresholds(at.data, state, found))

    def value(tau):
        moved = state._replace(crowd=state.crowd._replace(tau=tau))
        m, data = em.moments(state.crowd), at.data
        s, t = data.sign, tau[data.who[data.row]]
        delta = (m.g[data.who] * found.d + m.o[data.who])[data.row]
        x, square = s * delta - t, -2 * s * t * delta + t * t
        return (
            (0.5 * x - 0.5 * found.w * square).sum() + em._tie_value(data, tau[data.who]) + em._crowd_cost(data, moved)
        )

    best = value(state.crowd.tau)
    for k in range(at.data.K):
        for factor in (0.97, 1.03):
            tau = state.crowd.tau.copy()
            tau[k] *= factor
            assert value(tau) < best


def test_sides_swapped_turn_order_effects_and_nothing_else():
    w = world(M=20, K=8, N=500)
    d = w.data
    swapped = comparison_data((d.right // d.D, d.left // d.D), d.left % d.D, d.who, 2 - d.answer, (d.M, d.D, d.K))
    one, other = (em.fit(em.problem(data))[0] for data in (d, swapped))
    np.testing.assert_allclose(one.truths.mean, other.truths.mean, atol=1e-8)
    np.testing.assert_allclose(one.crowd.at * [1, -1], other.crowd.at, atol=1e-8)
    np.testing.assert_allclose(one.crowd.tau, other.crowd.tau, rtol=1e-8)


def test_a_unit_that_has_drifted_comes_back():
    """Gains doubled and truths halved explain answers as well: in steps of EM alone the unit takes dozens of them."""
    at = em.problem(world(M=1000, K=200, N=20_000).data)
    state = after(at, 40)
    t, c, both = state.truths, state.crowd, np.array([2.0, 1.0])
    state = em.State(
        t._replace(
            mean=t.mean / 2, block=t.block / 4, apart=t.apart / 4, log_det=t.log_det - 2 * at.data.U * np.log(2)
        ),
        c._replace(at=c.at * both, cov=c.cov * both[:, None] * both),
        state.hyper._replace(Sigma=state.hyper.Sigma / 4),
    )
    for _ in range(6):
        state, _ = em.step(at, state)
    assert abs(usual_gain(state) - 1) < 0.03


def test_the_unit_is_that_of_the_truth():
    for case in ({"flipped": 0.1}, {"M": 1000, "K": 200, "N": 20_000}, {"spread": 2.5}):
        w = world(**case)
        state, _ = em.fit(em.problem(w.data))
        assert abs(usual_gain(state) - 1) < 0.02
        estimate, truth = (w.data.difference(x) for x in (state.truths.mean, w.truth))
        shrunk = np.corrcoef(estimate, truth)[0, 1] ** 2  # the slope of posterior means on truths
        assert abs(np.polyfit(truth, estimate, 1)[0] - shrunk) < 0.1


def test_nobody_is_a_spammer_before_anything_is_known():
    """Annotators judged by truths that are still zero would nearly all have no gain."""
    w = world(M=5000, K=1000, N=100_000)
    at = em.problem(w.data)
    assert after(at, 1).crowd.prob[:, 1].mean() < 0.5
    state, trace = em.fit(at)
    assert trace.converged
    assert 0.07 < state.crowd.prob[:, 1].mean() < 0.13


def test_who_answers_the_wrong_way_round_is_found():
    w = world(flipped=0.1)
    state, _ = em.fit(em.problem(w.data))
    np.testing.assert_array_equal(state.crowd.prob.argmax(axis=1), w.kind)


def test_of_two_annotators_neither_is_a_spammer():
    for seed in range(5):
        state, _ = em.fit(em.problem(world(M=20, K=2, N=200, seed=seed, spammers=0.5).data))
        np.testing.assert_array_equal(state.crowd.prob[:, 0], 1)


def test_more_answers_come_closer():
    r = [np.mean([_recovered(world(N=N, seed=seed)) for seed in range(3)]) for N in (300, 1000, 4000)]
    assert r[0] < r[1] < r[2]
    assert r[2] > 0.95


def _recovered(w):
    state, _ = em.fit(em.problem(w.data))
    return np.corrcoef(state.truths.mean.ravel(), w.truth.ravel())[0, 1]
