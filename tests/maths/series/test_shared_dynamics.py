"""Dynamic probabilistic CCA against one dense Gaussian; its objective; what is planted is found."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from reference.naive_neighbours import dense_states, dense_step
from trace_world import trace_world
from unisono.fusers.standardisation import pooled_scaling
from unisono.fusers.trace_data import to_series
from unisono.maths.series import shared_dynamics as dynamics


def small(seed=0, D=2, K=3, P=1, lengths=(7, 5)):
    """Recordings with gaps, a dimension left out, an annotator who is not everywhere, and features."""
    rng = np.random.default_rng(seed)
    parts = []
    for m, T in enumerate(lengths):
        who = np.arange(K) if m == 0 else np.arange(1, K)
        y = np.cumsum(rng.standard_normal((len(who), T, D)), axis=1)
        y[0, 2] = np.nan
        y[-1, :, 0] = np.nan if m else y[-1, :, 0]
        parts.append(dynamics.Recording(y, who, rng.standard_normal((T, P))))
    p = dynamics.starting_point(parts, K, D, P)
    shaken = [value + 0.1 * rng.standard_normal(value.shape) for value in (p.A, p.C, p.W, p.b)]
    return parts, dynamics.SharedDynamics(shaken[0], p.V, shaken[1], shaken[2], shaken[3], p.r)


@pytest.mark.parametrize(("D", "P"), [(1, 0), (2, 2)])
def test_states_and_likelihood_equal_one_dense_gaussian(D, P):
    parts, p = small(D=D, P=P)
    for part in parts:
        found = dynamics.states(part, p)
        mean, cov, loglik = dense_states(part.y, p, part.who, part.x)
        np.testing.assert_allclose(found.mean, mean, rtol=1e-8, atol=1e-9)
        assert found.loglik == pytest.approx(loglik, rel=1e-9)
        for t in range(len(mean)):
            np.testing.assert_allclose(found.cov[t, 0], cov[t, :, t], rtol=1e-8, atol=1e-9)
            if t:
                np.testing.assert_allclose(found.cov[t, 1], cov[t, :, t - 1], rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(("D", "P"), [(1, 0), (2, 1)])
def test_a_step_equals_the_dense_one(D, P):
    parts, p = small(seed=1, D=D, P=P, lengths=(14, 12))
    found, expected = dynamics.em_step(parts, p)[0], dense_step(parts, p)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-9)


def test_the_likelihood_never_falls():
    world = trace_world(seed=1)
    data = to_series(world.ratings, pooled_scaling(world.ratings.value), world.features.value)
    parts = dynamics.recordings(data)
    p, path = dynamics.starting_point(parts, data.K, data.D, data.P), []
    for i in range(40):
        if i % 7 == 6:
            parts = [dynamics.warped_onto_shared(part, part, p, 6) for part in parts]
        p, loglik = dynamics.em_step(parts, p)
        path.append(loglik)
    assert np.diff(path).min() > -1e-8 * abs(path[-1])
    assert path[-1] > path[0] + 50


def test_one_annotator_and_rotations_of_what_is_shared():
    """What the average annotator shows does not depend on the coordinates of what is shared."""
    parts, p = small(seed=3, P=0)
    rated = np.ones(3, dtype=bool)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((2, 2)))[0]  # first frames are N(0, I) as before
    A, V = p.A.copy(), p.V.copy()
    A[0], V[0] = turn @ A[0] @ turn.T, turn @ V[0] @ turn.T
    turned = p._replace(A=A, V=V, W=p.W @ turn.T)
    for part in parts:
        one = dynamics.shown_course(part, dynamics.everybody(p, rated))
        other = dynamics.shown_course(part, dynamics.everybody(turned, rated))
        np.testing.assert_allclose(one[0], other[0], atol=1e-10)
        np.testing.assert_allclose(one[1], other[1], atol=1e-10)


def planted(seed, own, warp=0.0, K=6, T=400):
    """A shared course, courses of annotators' own of sd `own`, and delays that come and go by `warp` frames.

    Delays of all annotators together are none at any time.
    """
    rng = np.random.default_rng(seed)
    courses = gaussian_filter1d(rng.standard_normal((1 + K, T)), 8.0, axis=1)
    z, *beside = courses / courses.std(axis=1, keepdims=True)
    t, phase = np.arange(T), 2 * np.pi * np.arange(K) / K
    shown = np.stack([np.interp(t - warp * np.sin(2 * np.pi * t / 130 + f), t, z) for f in phase])
    y = shown + own * np.array(beside) + 0.1 * rng.standard_normal((K, T))
    return dynamics.Recording(y[:, :, None], np.arange(K), np.zeros((T, 0))), z


def fitted(part, reach=0, steps=60):
    parts, p = [part], dynamics.starting_point([part], len(part.who), 1, 0)
    for i in range(steps):
        p, _ = dynamics.em_step(parts, p)
        if reach and i % 5 == 4:
            parts = [dynamics.warped_onto_shared(parts[0], part, p, reach)]
    return dynamics.everybody(p, np.ones(len(part.who), dtype=bool)), parts[0]


def test_who_has_a_course_of_their_own_counts_less():
    found = []
    for seed in range(4):
        own = np.array([[2.0], [0.1], [0.1], [2.0], [0.1], [0.1]])
        part, z = planted(seed, own)
        mean = dynamics.shown_course(part, fitted(part)[0])[0][:, 0]
        found.append((np.corrcoef(mean, z)[0, 1], np.corrcoef(part.y.mean(axis=0)[:, 0], z)[0, 1]))
    model, plain = np.mean(found, axis=0)
    assert model > 0.95
    assert model > plain + 0.05


def test_delays_that_come_and_go_are_taken_out():
    found = []
    for seed in range(3):
        part, z = planted(seed, 0.1, warp=8.0, K=5)
        still, (p, moved) = fitted(part)[0], fitted(part, reach=12)
        means = dynamics.shown_course(part, still)[0][:, 0], dynamics.shown_course(moved, p)[0][:, 0]
        spread = [np.corrcoef(one.y[:, :, 0])[np.triu_indices(5, 1)].mean() for one in (part, moved)]
        found.append([np.corrcoef(mean, z)[0, 1] for mean in means] + spread)
    before, after, apart, together = np.mean(found, axis=0)
    assert together > max(apart + 0.15, 0.95)
    assert after > before
