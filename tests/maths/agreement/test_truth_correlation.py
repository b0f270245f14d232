"""The squared correlation of estimates with the truth: right on average, and held by its interval."""

import numpy as np
import pytest

from unisono.maths.agreement.truth_correlation import (
    Evidence,
    gain_variance,
    scatter_within,
    squared_correlations,
    truth_correlations,
)
from unisono.maths.grouped_sums import paired_sums


def evidence(rng, M=60, n=4, noise=0.5, believed=None, claimed=1.0):
    """Truths of variance 1 and estimates from n answers (M,) each; the model believes in the noise `believed`."""
    n = np.broadcast_to(n, M)
    truth, item = rng.normal(size=M), np.repeat(np.arange(M), n)
    y = truth[item] + np.sqrt(np.broadcast_to(noise, M)[item]) * rng.normal(size=len(item))
    believed = np.mean(noise) if believed is None else believed
    mean = np.bincount(item, y) / n
    squares = np.bincount(item, (y - mean[item]) ** 2) / believed
    share = claimed / (claimed + believed / n)
    found = Evidence(
        mean,
        share * mean,
        (1 - share) * claimed,
        0 * mean,
        0 * mean,
        claimed,
        squares,
        n,
        None,
        0.0,
        50,
        1.0,
        lambda a: a,
    )
    return found, np.corrcoef(mean, truth)[0, 1] ** 2


def figures(times, **world):
    """Mean claim, mean truth, share of truths inside 95 % intervals."""
    rows = []
    for seed in range(times):
        rng = np.random.default_rng(seed)
        known, true = evidence(rng, **world)
        draws = truth_correlations(known, 400, rng)
        low, high = np.quantile(draws, [0.025, 0.975])
        rows.append((draws.mean(), true, low <= true <= high))
    return np.mean(rows, axis=0)


@pytest.mark.parametrize("world", [{}, {"M": 5, "n": 5}, {"M": 10, "noise": 2.0}, {"noise": 0.1}, {"n": 2}])
def test_the_claim_is_right_on_average_and_its_interval_holds(world):
    claim, true, inside = figures(150, **world)
    assert claim == pytest.approx(true, abs=0.03)
    assert inside >= 0.88


def test_answers_that_scatter_more_than_the_model_believes_are_believed():
    claim, true, inside = figures(60, noise=2.0, believed=0.5, claimed=1.375)
    assert claim == pytest.approx(true, abs=0.03)
    assert inside >= 0.88
    known, true = evidence(np.random.default_rng(1), noise=2.0, believed=0.5, claimed=1.375)
    blind = truth_correlations(known._replace(known_scale=1.0), 400, np.random.default_rng(1))
    assert blind.mean() > true + 0.1  # what would be said without the squares


def test_items_with_few_answers_may_be_the_unclear_ones():
    n = np.repeat([1, 2, 4, 8], 25)
    claim, true, inside = figures(60, M=100, n=n, noise=4 / n, believed=1.0)
    assert claim == pytest.approx(true, abs=0.05)
    assert inside >= 0.88
    found = scatter_within(
        evidence(np.random.default_rng(2), M=1000, n=np.repeat([2, 4, 8, 3], 250), noise=1.0)[0].squares,
        np.repeat([2, 4, 8, 3], 250),
    )
    assert abs(found.beta) < 0.2  # and are not where they are as clear as others


def test_items_that_differ_in_noise_leave_fewer_degrees_of_freedom():
    rng, answers = np.random.default_rng(5), np.full(400, 4)
    alike = rng.chisquare(3, 400)
    mixed = alike * np.exp(rng.normal(0, 1, 400))
    even, uneven = (scatter_within(squares, answers).freedom for squares in (alike, mixed))
    assert 2 * uneven < even


def test_nothing_shared_and_too_few_items():
    rng = np.random.default_rng(3)
    known, _ = evidence(rng)
    nothing = truth_correlations(known._replace(shared=0.0), 400, rng)
    assert np.quantile(nothing, 0.975) < 0.1 < known.mean.var()
    assert np.isnan(truth_correlations(known.of(np.arange(60) < 3), 400, rng)).all()


def test_correlations_are_those_of_numpy():
    rng = np.random.default_rng(4)
    e, T = rng.normal(size=7), rng.normal(size=(5, 7))
    np.testing.assert_allclose(squared_correlations(e, T), [np.corrcoef(e, t)[0, 1] ** 2 for t in T], rtol=1e-10)


@pytest.mark.parametrize(("sd", "low", "high"), [(0.0, 0.0, 0.03), (0.6, 0.2, 0.5)])
def test_gains_beyond_those_of_a_fit(sd, low, high):
    rng = np.random.default_rng(5)
    gain, truth = 1 + sd * rng.normal(size=40), rng.normal(size=(40, 100))
    y = gain[:, None] * truth + 0.5 * rng.normal(size=truth.shape)
    sums = paired_sums(truth.reshape(-1, 1), y.reshape(-1, 1), np.repeat(np.arange(40), 100), 40)
    assert low <= gain_variance(sums, np.ones((40, 1)))[0] <= high
