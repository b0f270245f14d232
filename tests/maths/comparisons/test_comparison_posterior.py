"""What is reported of comparisons: quadrature, the joint covariance, cover, probabilities of answers."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from comparison_cases import world
from reference.naive_comparisons import answer_chance
from unisono.maths.comparisons import comparison_em as em
from unisono.maths.comparisons import comparison_posterior as post
from unisono.maths.comparisons import comparison_state as cs


def fitted(w, **how):
    at = cs.problem(w.data, **how)
    state, _ = em.fit(at)
    return at, *post.posterior(at, state)


def test_slopes_are_those_of_expected_log_likelihoods():
    """By numerical integration, of every class; nine nodes are exact to 1e-8 where differences are known well."""
    at = cs.problem(world(M=10, K=5, N=300).data)
    state, _ = em.fit(at)
    t = state.truths
    state = state._replace(
        truths=t._replace(apart=t.apart * 1e-3),
        crowd=state.crowd._replace(prob=np.full((5, 3), 1 / 3), cov=state.crowd.cov * 1e-3),
    )
    found, d, v = post.quadrature(at, state)
    data = at.data
    for n in range(20):
        k = data.who[n]
        for z in range(3):
            (g, o), C = state.crowd.at[k, z], state.crowd.cov[k, z]
            mean = g * d[n] + o
            sd = np.sqrt((g * g + C[0, 0]) * v[n] + d[n] ** 2 * C[0, 0] + 2 * d[n] * C[0, 1] + C[1, 1])

            def expected(f, mean=mean, sd=sd):
                density = lambda x: np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)  # noqa: E731
                return quad(lambda x: density(x) * f(mean + sd * x), -9, 9, epsabs=1e-12, epsrel=1e-12)[0]

            tau = state.crowd.tau[k]
            signs = {0: [1], 1: [1, -1], 2: [-1]}[data.answer[n]]
            value = expected(lambda x, t=tau, ss=signs: sum(np.log(expit(s * x - t)) for s in ss))
            value += 2 * tau * (len(signs) == 2)  # up to a constant
            first = expected(lambda x, t=tau, ss=signs: sum(s * expit(t - s * x) for s in ss))
            second = expected(lambda x, t=tau, ss=signs: sum(expit(t - s * x) * expit(s * x - t) for s in ss))
            got = found.value[z, n], found.first[z, n], found.second[z, n]
            counted = np.array((value, first, second)) * [1, 1 - state.slips[n], 1 - state.slips[n]]
            np.testing.assert_allclose(got, counted, rtol=1e-8, atol=1e-10)


def test_what_annotators_take_from_the_precision():
    """The joint precision of truths, gains and order effects, its mean usual gain known, with all but truths out."""
    at, found, state = fitted(world(M=12, K=5, N=150, D=2))
    data = at.data
    slopes, d, _ = post.quadrature(at, state)
    q, g = state.crowd.prob[data.who].T, state.crowd.at[data.who, :, 0].T
    U, K = data.U, data.K
    P = np.zeros((U + 2 * K, U + 2 * K))
    P[:U, :U] = np.kron(np.eye(data.M), np.linalg.inv(state.hyper.Sigma))
    for k in range(K):
        P[U + 2 * k, U + 2 * k] = (state.crowd.prob[k] / cs.class_variances(state.hyper)).sum()
        P[U + 2 * k + 1, U + 2 * k + 1] = 1 / state.hyper.order_var
    for n in range(data.N):
        for z in range(3):
            e = np.zeros(U)
            e[data.left[n]], e[data.right[n]] = 1, -1
            rest = np.zeros(2 * K)
            rest[2 * data.who[n] :][:2] = d[n], 1
            w = q[z, n] * slopes.second[z, n]
            P[:U, :U] += w * g[z, n] ** 2 * np.outer(e, e)
            P[:U, U:] += w * g[z, n] * np.outer(e, rest)
            P[U:, :U] += w * g[z, n] * np.outer(rest, e)
            P[U:, U:] += w * np.outer(rest, rest)
        slope = (q[:, n] * g[:, n] * slopes.first[:, n]).sum()
        P[:U, :U] -= slope**2 * state.slips[n] / (1 - state.slips[n]) * np.outer(e, e)
    unit = np.zeros(U + 2 * K)
    unit[U::2] = state.crowd.prob[:, 0]
    C = np.linalg.inv(P)
    C = C - np.outer(C @ unit, C @ unit) / (unit @ C @ unit)  # given the mean gain
    one = np.kron(np.ones((data.M, data.M)) / data.M, np.eye(2))
    T = np.eye(U) - one
    expected = T @ C[:U, :U] @ T.T * post._widening(at, state)
    np.testing.assert_allclose(found.joint, expected, rtol=1e-7, atol=1e-10)


def test_what_slips_take_is_the_curvature_of_the_mixture():
    """Of one answer of a known annotator on a known difference, by differentiation."""
    at = cs.problem(world(M=10, K=4, N=300, slips=0.2, ties=False).data)
    state, _ = em.fit(at)
    t, c, data = state.truths, state.crowd, at.data
    sure = c._replace(prob=np.tile([1.0, 0, 0], (4, 1)), cov=c.cov * 1e-12)
    state = state._replace(truths=t._replace(apart=t.apart * 1e-12), crowd=sure)
    d = data.difference(state.truths.mean)
    g, o = sure.at[data.who, 0].T
    share, guess, sign = expit(sure.slip[data.who]), np.exp(data.random), data.sign[: data.N]

    def told(x):
        return np.log((1 - share) * expit(sign * (g * x + o)) + share * guess)

    right = share * guess / np.exp(told(d))
    state = state._replace(slips=right)
    slopes, _, _ = post.quadrature(at, state)
    weight = post._sites(at, state, slopes, d)[0] - post._lost_to_slips(at, state, slopes)
    h = 1e-4
    second = -(told(d + h) - 2 * told(d) + told(d - h)) / h**2
    np.testing.assert_allclose(weight, data.by_pair(second), rtol=1e-4, atol=1e-5)


def test_answers_at_random_are_found_by_quadrature_as_well():
    """Quadratic bounds take large differences for small ones, and what is random for what is close."""
    shares = []
    for seed in range(3):
        w = world(N=8000, slips=0.3, spread=2.5, spammers=0.0, ties=False, seed=seed)
        at = cs.problem(w.data)
        state, _ = em.fit(at)
        _, after = post.posterior(at, state)
        shares.append([expit(x.crowd.slip).mean() for x in (state, after)])
    bound, found = np.mean(shares, axis=0)
    assert 0.2 < found < 0.33
    assert bound < found - 0.05


def test_truths_are_in_the_unit_of_usual_annotators():
    at, found, state = fitted(world(M=30, K=8, N=800, islands=3))
    usual = state.crowd.prob[:, 0]
    np.testing.assert_allclose((usual * state.crowd.at[:, 0, 0]).sum() / usual.sum(), 1, rtol=1e-12)
    total = np.bincount(at.data.component, found.mean[:, 0])
    np.testing.assert_allclose(total, 0, atol=1e-10)


@pytest.mark.parametrize(
    "case",
    [{"N": 1000}, {}, {"ties": False}, {"spread": 2.5}, {"flipped": 0.1}, {"K": 300, "flipped": 0.05}, {"D": 3}],
    ids=["few", "usual", "no ties", "large", "flipped", "many annotators", "three dimensions"],
)
def test_intervals_of_differences_cover(case):
    inside, rng = [], np.random.default_rng(0)
    for seed in range(8):
        w = world(seed=seed, **case)
        _, found, _ = fitted(w)
        i = rng.integers(0, w.data.M, 2000)
        j, d = (i + rng.integers(1, w.data.M, 2000)) % w.data.M, rng.integers(0, w.data.D, 2000)
        mean, variance = found.differences(i * w.data.D + d, j * w.data.D + d)
        inside.append(np.abs(mean - w.truth[i, d] + w.truth[j, d]) < 1.645 * np.sqrt(variance))
    assert 0.86 < np.mean(inside) < 0.93, np.mean(inside)


def test_factorised_variances_are_nearly_as_good(monkeypatch):
    w = world()
    _, exact, _ = fitted(w)
    monkeypatch.setattr(post, "LARGEST_JOINT", 0)
    _, factorised, _ = fitted(w, largest=0)
    i, j = np.arange(99), np.arange(1, 100)
    ratio = factorised.differences(i, j)[1] / exact.differences(i, j)[1]
    assert 0.8 < ratio.mean() < 1.05


def test_probabilities_of_answers():
    w = world(M=10, K=4, N=300)
    _, _, state = fitted(w)
    c = state.crowd
    none = np.zeros((4, 3))
    sure = post.Answering(c.prob, c.at, c.cov * 0, np.log(c.tau), np.zeros(4), none)
    found = post.answer_probabilities(np.array([0.0, 1.0, -2.0, 0.3]), np.zeros(4), sure)
    for k, d in enumerate((0.0, 1.0, -2.0, 0.3)):
        expected = [
            sum(q * answer_chance(a, g * d + o, c.tau[k]) for q, (g, o) in zip(c.prob[k], c.at[k], strict=True))
            for a in range(3)
        ]
        np.testing.assert_allclose(found[k], expected, rtol=1e-8)
    half = post.at_random(state.hyper, np.zeros(4), np.zeros(4))
    mixed = post.answer_probabilities(np.array([0.0, 1.0, -2.0, 0.3]), np.zeros(4), sure._replace(random=half))
    np.testing.assert_allclose(half.sum(axis=1), 0.5, rtol=1e-12)
    np.testing.assert_allclose(mixed, found / 2 + half, rtol=1e-8)
    anybody = post.answer_probabilities(np.array([0.5]), np.array([0.2]), post.newcomer(state.hyper))
    np.testing.assert_allclose(anybody.sum(), 1, rtol=1e-12)
    assert anybody[0, 0] > anybody[0, 2]
