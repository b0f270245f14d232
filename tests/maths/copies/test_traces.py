"""Copies among traces: planted ones are named, honest pairs are not, and a set is one trace."""

import numpy as np
import pytest
from scipy.stats import norm

from trace_crowds import crowd
from unisono.fusers.crowd import pairs_of_traces
from unisono.maths.copies.trace_copies import (
    COPY_SD,
    COPY_Z,
    LEAST_SPREAD,
    copy_evidence,
    find_trace_copies,
    independent_share,
    one_trace,
    own_course,
    private_correlation,
)
from unisono.maths.series.trace_parts import HeldParts

SHARE, LEAST = np.array([0.1]), np.array([0.01])


def found(data):
    return find_trace_copies(pairs_of_traces(HeldParts(data, rows=1000), LEAST, SHARE, data.K), data.K)


def with_copy(data, copy, original, noise, seed=0):
    """The traces of one annotator are those of another, raised, stretched and a little noisy."""
    y, rng = data.y.copy(), np.random.default_rng(seed)
    rows = np.repeat(data.annotator_of, data.length[data.item_of])
    y[rows == copy] = 0.5 + 1.2 * y[rows == original] + noise * rng.standard_normal((int((rows == copy).sum()), 1))
    return data._replace(y=y)


def test_correlations_are_those_of_what_a_regression_on_the_others_leaves():
    data, _, _ = crowd(3, K=5, gaps=False, lengths=(60,))
    traces = data.y.reshape(5, 60) - data.y.reshape(5, 60).mean(axis=1, keepdims=True)
    traces /= traces.std(axis=1, keepdims=True)
    r, n, count = private_correlation(pairs_of_traces(HeldParts(data), np.zeros(1), np.full(1, 0.25), 5)[0], 5)
    assert (n == 60).all()
    share = np.minimum(independent_share(own_course(traces)), 0.25)
    assert 0.0 < share.min() < share.max() == 0.25
    np.testing.assert_allclose(count, 60 * np.minimum.outer(share, share), rtol=1e-8)
    for i, j in [(0, 1), (2, 4), (3, 1)]:
        others = np.mean([traces[k] for k in range(5) if k not in (i, j)], axis=0)
        left = [t - others * (t @ others) / (others @ others) for t in (traces[i], traces[j])]
        expected = left[0] @ left[1] / np.sqrt(left[0] @ left[0] * (left[1] @ left[1]))
        np.testing.assert_allclose(r[i, j], expected, rtol=1e-8)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("K", [4, 8])
def test_a_copy_is_named_and_honest_pairs_are_not(seed, K):
    honest, _, _ = crowd(seed, K=K, lengths=(200, 200, 200), gaps=False)
    nobody = found(honest)
    assert nobody.probability.max() < 0.5
    assert np.array_equal(nobody.voice, np.arange(K))
    planted = found(with_copy(honest, 2, 0, 0.05))
    assert planted.probability[[0, 2]].min() > 0.95
    assert np.array_equal(np.flatnonzero(planted.voice != np.arange(K)), [2])
    assert planted.voice[2] == 0


def test_independent_frames_are_those_of_the_autocorrelations_of_what_is_ones_own():
    rng = np.random.default_rng(0)
    Y = np.cumsum(rng.standard_normal((4, 30)), axis=1)
    Y -= Y.mean(axis=1, keepdims=True)
    own = own_course(Y)
    for j in range(4):
        others = np.mean([Y[i] for i in range(4) if i != j], axis=0)
        np.testing.assert_allclose(own[j], Y[j] - others * (Y[j] @ others) / (others @ others), rtol=1e-8)
        rho = [sum(own[j, t] * own[j, t + lag] for t in range(30 - lag)) / (own[j] @ own[j]) for lag in range(1, 30)]
        np.testing.assert_allclose(independent_share(own[[j]]), 1 / (1 + 2 * sum(x**2 for x in rho)), rtol=1e-8)
    assert independent_share(np.zeros((1, 30))) == 0.0
    once = np.where(np.arange(600) < 200, -1.0, 0.5)
    assert 600 * independent_share(once[None]) < 4


@pytest.mark.parametrize("seed", range(4))
def test_two_who_jump_once_at_about_the_same_moment_are_no_copies(seed):
    data, _, _ = crowd(seed, K=10, lengths=(500,), gaps=False)
    rows = np.repeat(data.annotator_of, data.length[data.item_of])
    y = data.y.copy()
    for k, moment in [(2, 216), (5, 223)]:
        y[rows == k, 0] = np.where(np.arange(500) < moment, -3.0, 3.0)
    jumped = found(data._replace(y=y))
    assert jumped.alike[[2, 5]].min() > 0.9
    assert jumped.probability[[2, 5]].max() < 0.5


def test_gaps_flat_traces_and_pairs_tell_nothing_they_should_not():
    data, _, _ = crowd(1, K=5)
    assert found(data).probability.max() < 0.9
    rows = np.repeat(data.annotator_of, data.length[data.item_of])
    flat = data._replace(y=np.where((rows[:, None] == 1) | (rows[:, None] == 3), 0.3, data.y))
    assert found(flat).probability[[1, 3]].max() < 0.5
    two, _, _ = crowd(1, K=2, gaps=False)
    assert found(with_copy(two, 1, 0, 0.0)).probability.max() < 1e-9


def test_evidence_on_a_copy_is_the_ratio_of_two_normal_densities():
    z = np.array([[np.nan, 0.4, 2.2, 0.1], [0.4, np.nan, 0.9, 3.6], [2.2, 0.9, np.nan, 0.6], [0.1, 3.6, 0.6, np.nan]])
    n = np.full_like(z, 43.0)
    ratio, usual = copy_evidence(np.tanh(z), n)
    pairs = z[np.triu_indices(4, 1)]
    middle = np.median(pairs)
    spread = max(norm.ppf(0.75) ** -1 * np.median(np.abs(pairs - middle)), LEAST_SPREAD)
    honest = norm(middle, np.hypot(spread, 40**-0.5))
    copy = norm(COPY_Z, np.hypot(COPY_SD, 40**-0.5))
    assert usual == pytest.approx(np.tanh(middle))
    expected = copy.logpdf(2.2) - honest.logpdf(2.2)
    assert ratio[0, 2] == pytest.approx(expected, rel=1e-4)
    beyond = copy.logpdf(COPY_Z) - honest.logpdf(3.6)  # closer than a usual copy is no evidence against one
    assert ratio[1, 3] == pytest.approx(beyond, rel=1e-4)
    assert (ratio[z < middle] == -np.inf).all()


def test_one_trace_is_the_mean_of_those_of_a_voice():
    y = np.array([[1.0], [2.0], [3.0], [np.nan], [5.0], [6.0], [7.0], [8.0], [9.0], [10.0]])
    value, item_of, voice_of = one_trace(y, np.array([0, 0, 0, 1]), np.array([0, 1, 0, 0]), np.array([2, 4]))
    assert item_of.tolist() == [0, 0, 1]
    assert voice_of.tolist() == [0, 1, 0]
    np.testing.assert_array_equal(value[:, 0], [3.0, 4.0, 3.0, np.nan, 7.0, 8.0, 9.0, 10.0])
