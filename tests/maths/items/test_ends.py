"""Ratings at the end of the scale: moments equal SciPy's, only such ratings are replaced, and the truth gets better."""

import numpy as np
import pytest
from scipy import integrate, stats

from item_cases import climb, data_of, default_settings, random_case, random_raters
from unisono.maths.items.data import prepare
from unisono.maths.items.ends import (
    Bounds,
    complete,
    completed_posterior,
    expected_answer,
    find_bounds,
    truncated_above,
)
from unisono.maths.items.estep import posterior
from unisono.maths.items.start import bayes_start

BOUNDS = Bounds(np.array([0.1, -np.inf]), np.array([2.0, 1.0]))  # missing answers, kept as 0, lie beyond one


def clipped_case(missing):
    """Random parameters, and ratings cut off at BOUNDS."""
    case = random_case(2, seed=5, missing=missing, subset=True, M=30)
    value = np.where(case.data.answered[case.data.profile_of], case.data.y, np.nan)
    item_of = np.repeat(np.arange(case.data.M), np.diff(case.data.item_ptr))
    who = case.data.annotator[case.data.profile_of]
    return prepare(np.clip(value, *BOUNDS), item_of, who, case.data.scores, case.data.K), case.params


def test_truncated_moments_equal_scipys():
    center, sd, bound = np.array([-2.0, 0.0, 1.5, 4.0]), np.array([0.5, 1.0, 2.0, 1.0]), 1.0
    law = stats.truncnorm(-np.inf, (bound - center) / sd, loc=center, scale=sd)
    found = truncated_above(center, sd, bound)
    np.testing.assert_allclose(found.mean, law.mean(), rtol=1e-9)
    np.testing.assert_allclose(found.variance, law.var(), rtol=1e-7)


def test_the_entropy_of_a_cut_off_normal_equals_quadrature():
    center, sd, bound = np.array([-2.0, 0.0, 1.5, 4.0]), np.array([0.5, 1.0, 2.0, 1.0]), 1.0
    found = truncated_above(center, sd, bound).entropy
    for c, s, entropy in zip(center, sd, found, strict=True):
        mass = stats.norm.cdf((bound - c) / s)

        def surprise(x, c=c, s=s, mass=mass):
            density = stats.norm.pdf(x, c, s) / mass
            return -density * np.log(density)

        expected = integrate.quad(surprise, min(c, bound) - 12 * s, bound, epsabs=1e-12, epsrel=1e-12, limit=200)[0]
        assert entropy == pytest.approx(expected, abs=1e-8)


def test_far_beyond_the_bound_the_moments_stay_sensible():
    mean, variance, entropy = truncated_above(np.array([60.0, 1e4]), np.ones(2), 0.0)
    assert np.isfinite(entropy).all()
    near = truncated_above(np.array([29.99, 30.01]), np.ones(2), 0.0).variance
    assert near[1] == pytest.approx(near[0], rel=2e-3)  # the series takes over where the formula ends
    assert ((mean > -0.1) & (mean <= 0)).all()
    assert ((variance > 0) & (variance <= 1e-3)).all()


def test_the_expected_answer_is_the_mean_of_answers_cut_off_at_the_bounds():
    mean, variance = np.array([[-2.5, 0.3], [0.1, 1.4]]), np.array([[0.5, 1.2], [2.0, 0.1]])
    found = expected_answer(mean, variance, BOUNDS)
    for m in range(2):
        for d in range(2):
            law = stats.norm(mean[m, d], np.sqrt(variance[m, d]))
            x = law.mean() + law.std() * np.linspace(-9, 9, 200_001)
            cut = np.clip(x, BOUNDS.low[d], BOUNDS.high[d])
            assert found[m, d] == pytest.approx(np.trapezoid(cut * law.pdf(x), x), abs=1e-7)
    nowhere = Bounds(np.full(2, -np.inf), np.full(2, np.inf))
    np.testing.assert_allclose(expected_answer(mean, variance, nowhere), mean, rtol=1e-12)


def found_bounds(column):
    """Of ratings whose first dimension is this column, in its own units."""
    column = np.asarray(column, dtype=float)
    value = np.column_stack([column, np.linspace(0, 1, len(column))])
    item_of = np.arange(len(column)) // 2
    data = prepare(value, item_of, np.arange(len(column)) % 2, random_case(1, M=item_of.max() + 1).data.scores, 2)
    bounds = find_bounds(data, Bounds(np.nanmin(value, axis=0), np.nanmax(value, axis=0)))
    assert np.isinf([bounds.low[1], bounds.high[1]]).all()
    return float(bounds.low[0]), float(bounds.high[0])


def test_bounds_are_where_ratings_pile_up():
    inside = np.linspace(-0.9, 0.9, 90)
    assert found_bounds(np.clip(np.linspace(-1.5, 1.5, 100), -1, 1)) == (-1.0, 1.0)
    assert found_bounds(np.r_[inside, np.full(10, 1.0)]) == (-np.inf, 1.0)
    assert found_bounds(inside) == (-np.inf, np.inf)


def test_ratings_that_pile_up_before_the_end_of_the_scale_are_no_bound():
    data = prepare(np.full((20, 1), 3.0), np.arange(20) // 2, np.arange(20) % 2, random_case(1, M=10).data.scores, 2)
    data = data._replace(y=np.where(np.arange(20) % 3 == 0, 1.0, 3.0)[:, None])
    assert not find_bounds(data, Bounds(np.array([0.0]), np.array([5.0]))).any
    assert find_bounds(data, Bounds(np.array([1.0]), np.array([5.0]))) == (np.array([1.0]), np.array([np.inf]))


def test_too_few_ratings_on_an_end_or_nothing_but_one_value_are_no_bound():
    assert found_bounds(np.r_[np.linspace(-0.9, 0.9, 18), 1.0, 1.0]) == (-np.inf, np.inf)  # 10 %, but two ratings
    assert found_bounds(np.r_[np.linspace(-0.9, 0.9, 396), np.full(4, 1.0)]) == (-np.inf, np.inf)  # 1 %
    assert found_bounds(np.full(20, 3.0)) == (-np.inf, np.inf)
    assert found_bounds(np.r_[np.full(10, np.nan), np.full(5, 1.0), np.full(5, 2.0)]) == (1.0, 2.0)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_completing_moves_ratings_on_a_bound_outwards_and_no_others(missing):
    data, params = clipped_case(missing)
    done = complete(data, data, BOUNDS, params, posterior(data, params).mean)
    answered = data.answered[data.profile_of]
    low, high = answered & (data.y == BOUNDS.low), answered & (data.y == BOUNDS.high)
    assert low.sum() > 5
    assert high.sum() > 20
    np.testing.assert_array_equal(done.y[~(low | high)], data.y[~(low | high)])
    assert (done.y[low] < data.y[low]).all()
    assert (done.y[high] > data.y[high]).all()
    # The sums follow, and allow for not knowing the numbers exactly.
    again = prepare(
        np.where(answered, done.y, np.nan),
        np.repeat(np.arange(data.M), np.diff(data.item_ptr)),
        data.annotator[data.profile_of],
        data.scores,
        data.K,
    )
    np.testing.assert_allclose(done.Sy, again.Sy, atol=1e-12)
    added = done.Syy - again.Syy
    np.testing.assert_allclose(added[:, 0, 1], 0, atol=1e-12)
    assert added.min() > -1e-12
    assert added[:, 0, 0].sum() > 0


def test_a_completed_rating_is_its_expectation_given_the_other_dimension():
    data, params = clipped_case(0.0)
    mean = posterior(data, params).mean
    done = complete(data, data, BOUNDS, params, mean)
    item_of = np.repeat(np.arange(data.M), np.diff(data.item_ptr))
    j = int(np.flatnonzero((data.y[:, 0] == 2.0) & (data.y[:, 1] < 1.0))[0])
    k = data.annotator[data.profile_of[j]]
    expected, N = params.F[k] @ mean[item_of[j]] + params.b[k], params.N[k]
    center = expected[0] + N[0, 1] / N[1, 1] * (data.y[j, 1] - expected[1])
    sd = np.sqrt(N[0, 0] - N[0, 1] ** 2 / N[1, 1])
    law = stats.truncnorm((2.0 - center) / sd, np.inf, loc=center, scale=sd)
    assert done.y[j, 0] == pytest.approx(law.mean(), rel=1e-8)


def test_without_bounds_nothing_is_completed():
    data, params = clipped_case(0.2)
    nowhere = Bounds(np.full(2, -np.inf), np.full(2, np.inf))
    assert not nowhere.any
    np.testing.assert_array_equal(complete(data, data, nowhere, params, posterior(data, params).mean).y, data.y)
    np.testing.assert_array_equal(completed_posterior(data, nowhere, params)[0].mean, posterior(data, params).mean)


def correlations(seed, missing):
    """Pearson with the truth of the plain fit and of the censored one, where half of the ratings are cut off."""
    rng = np.random.default_rng(seed)
    item_of, annotator_of = random_raters(rng, 120, 20, 4)
    truth = rng.normal(size=(120, 2))
    value = truth[item_of] + 0.5 * rng.normal(size=(20, 2))[annotator_of] + 0.5 * rng.normal(size=(480, 2))
    value[rng.random(value.shape) < missing] = np.nan
    data = data_of(np.clip(value, -0.7, 0.7), item_of, annotator_of)
    settings = default_settings(data)
    plain, _ = climb(data, bayes_start(data, settings), settings)
    bounds = find_bounds(data, Bounds(np.nanmin(data.value, axis=0), np.nanmax(data.value, axis=0)))
    reading = settings._replace(bounds=bounds)
    cut, _ = climb(data, bayes_start(data, reading), reading)
    found = posterior(data, plain.params).mean, completed_posterior(data, bounds, cut.params)[0].mean
    return [np.mean([np.corrcoef(f[:, d], truth[:, d])[0, 1] for d in range(2)]) for f in found]


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_reading_the_ends_as_at_least_this_much_brings_the_truth_nearer(missing):
    found = np.array([correlations(seed, missing) for seed in range(3)])
    assert (found[:, 1] > found[:, 0]).all()
    assert np.mean(found[:, 1] - found[:, 0]) > 0.005
