"""What is said of all differences at once is wrong anywhere as often as it says."""

import numpy as np
import pytest
from scipy import stats

from system_worlds import drawn_scores
from unisono.maths.systems.mixed_model import Chance, mixed_means
from unisono.maths.systems.score_design import Scores, codes
from unisono.maths.systems.system_statements import (
    Means,
    Sources,
    _drawn,
    dimension_correlation,
    errors,
    half_widths,
    pooled_means,
    prompt_covariance,
    statements,
)

ONE = np.eye(1)


def known(mean, cov, freedom=np.inf):
    mean = np.asarray(mean, dtype=float)
    one = np.ones(1)
    chance = Chance(one, freedom * one, one, 0 * one)
    sources = (Sources(np.asarray(cov)[None], one < 0, chance),) if np.isfinite(freedom) else ()
    return Means(mean, np.asarray(cov), np.zeros((len(mean), len(mean))), sources)


@pytest.mark.parametrize("freedom", [8.0, np.inf])
def test_the_critical_value_is_tukeys(freedom):
    S = 5
    said = statements([known(np.zeros(S), np.eye(S), freedom)], ONE, 0.9, np.random.default_rng(0))
    tukey = stats.studentized_range.ppf(0.9, S, freedom if np.isfinite(freedom) else 1e6) / np.sqrt(2)
    assert said.critical == pytest.approx(tukey, rel=0.03)


def test_ranks_are_counted_from_what_is_clear():
    said = statements([known([3, 0, 0.1, -3], 0.01 * np.eye(4))], ONE, 0.9, np.random.default_rng(0))
    assert said.rank_low.tolist() == [[1, 2, 2, 4]]
    assert said.rank_high.tolist() == [[1, 3, 3, 4]]
    assert said.clear.tolist() == [[True, True, True, False, True, True]]
    np.testing.assert_allclose(said.best, [[1, 0, 0, 0]])


def test_step_down_finds_more_and_its_intervals_stay_on_their_side():
    mean = np.r_[np.linspace(20, 40, 8), 0.0, 2.9]
    said = statements([known(mean, np.eye(10) / 2)], ONE, 0.9, np.random.default_rng(0))
    pair = -1  # the last two
    assert abs(said.difference[0, pair]) < said.critical
    assert said.clear[0, pair]
    assert said.low[0, pair] < said.high[0, pair] < 0
    assert (said.clear == ((said.low > 0) | (said.high < 0))).all()


def test_systems_that_nobody_scored_are_clear_of_nobody():
    cov = np.diag([0.01, 0.01, 0.0])
    said = statements([known([0, 3, np.nan], cov)], ONE, 0.9, np.random.default_rng(0))
    assert said.clear.tolist() == [[True, False, False]]
    assert said.rank_low.tolist() == [[2, 1, 1]]
    assert said.rank_high.tolist() == [[3, 2, 3]]
    assert said.best[0, 2] == 0


def test_dimensions_share_one_level():
    one = statements([known(np.zeros(4), np.eye(4))], ONE, 0.9, np.random.default_rng(0)).critical
    apart = statements([known(np.zeros(4), np.eye(4))] * 3, np.eye(3), 0.9, np.random.default_rng(0)).critical
    alike = statements([known(np.zeros(4), np.eye(4))] * 3, np.ones((3, 3)), 0.9, np.random.default_rng(0)).critical
    assert one < apart
    assert alike == pytest.approx(one, rel=0.03)


def test_draws_have_the_covariance_of_the_errors():
    cov = np.array([[1.0, 0.6], [0.6, 2.0]])
    Z = errors(
        [known([0, 0], cov), known([0, 0], cov)], np.array([[1, 0.5], [0.5, 1]]), 40_000, np.random.default_rng(0)
    )
    np.testing.assert_allclose(np.cov(Z[1].T), cov, atol=0.05)
    np.testing.assert_allclose(np.mean(Z[0] * Z[1], axis=0), [0.5, 1.0], atol=0.05)


def test_degrees_of_freedom_are_those_of_a_balanced_design():
    rng = np.random.default_rng(0)
    S, P = 5, 30
    y = rng.normal(size=(P, 1)) + rng.normal(size=(P, S))
    prompt, system = (x.ravel() for x in np.meshgrid(range(P), range(S), indexing="ij"))
    fit = mixed_means(Scores(y.ravel(), system, prompt, np.arange(P * S), np.zeros(P * S, dtype=int), S))
    assert fit.chance.freedom.tolist() == [P - 1, (P - 1) * (S - 1)]
    within = y - y.mean(axis=1, keepdims=True) - y.mean(axis=0) + y.mean()
    means = pooled_means(fit, S, ())
    expected = 2 * (within**2).sum() / (P - 1) / (S - 1) / P
    model = np.einsum("c,cst->st", fit.theta, fit.part)
    assert model[0, 0] + model[1, 1] - 2 * model[0, 1] == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(means.mean, y.mean(axis=0), rtol=1e-9)


def test_errors_of_prompts_need_not_be_alike():
    """Many prompts: the covariance is that of the differences as they are; few: that of the model."""
    rng = np.random.default_rng(0)
    spread = np.array([0.1, 0.1, 2.0])
    influence = rng.normal(size=(400, 3)) * spread / 400
    model = np.eye(3) * np.mean(spread**2) / 400
    found = prompt_covariance(influence, model)
    true = np.diag(spread**2) / 400
    contrast = np.array([1, -1, 0])
    assert contrast @ found @ contrast < 3 * contrast @ true @ contrast
    assert contrast @ model @ contrast > 50 * contrast @ true @ contrast
    np.testing.assert_array_equal(prompt_covariance(influence[:2], model), model)
    alike = prompt_covariance(rng.normal(size=(12, 3)) / 12, np.eye(3) / 12)
    assert np.abs(alike - np.eye(3) / 12).max() < 0.03


def test_what_is_fixed_leaves_the_covariance():
    fit = mixed_means(drawn_scores(0, (0, 0, 0)))
    whole, people, prompts = (
        pooled_means(fit, 3, these)
        for these in ((), ("annotators", "annotators by systems"), ("prompts", "systems by prompts"))
    )
    gap = np.array([1, -1, 0])
    assert gap @ people.cov @ gap < gap @ whole.cov @ gap
    assert gap @ prompts.cov @ gap < gap @ whole.cov @ gap
    assert not people.by_people.any()


def test_correlation_of_dimensions_is_seen_in_prompts():
    rng = np.random.default_rng(0)
    first = rng.normal(size=(300, 4))
    found = dimension_correlation([first, 2 * first, rng.normal(size=(300, 4))])
    assert found[0, 1] == pytest.approx(1, abs=1e-6)
    assert abs(found[0, 2]) < 0.1


@pytest.mark.parametrize("freedom", [3.0, 8.0, np.inf])
def test_intervals_by_themselves_are_students(freedom):
    cov = np.array([[1.0, 0.6], [0.6, 2.0]])
    half = half_widths(known([0, 0], cov, freedom), np.array([[1.0, 0.0], [1.0, -1.0]]), 0.9, np.random.default_rng(0))
    student = stats.t.ppf(0.95, freedom if np.isfinite(freedom) else 1e6)
    np.testing.assert_allclose(half, student * np.sqrt([1.0, 1.8]), rtol=0.02)


def test_variances_that_may_be_are_those_of_a_balanced_design():
    """Mean squares of analysis of variance, with their degrees of freedom, whether favourites are seen or seem none."""
    S, P, K = 4, 12, 3
    p, s, k = (x.ravel() for x in np.meshgrid(range(P), range(S), range(K), indexing="ij"))
    for seed, favourites in ((0, 0.6), (3, 0.0)):
        rng = np.random.default_rng(seed)
        y = rng.normal(0, 1, P)[p] + rng.normal(0, 1, (P, S))[p, s] + rng.normal(0, 1, (K, S))[k, s] * favourites
        y = (y + rng.normal(0, 1, K)[k] + rng.normal(0, 1, len(y))).reshape(P, S, K)
        fit = mixed_means(Scores(y.ravel(), s, p, codes(p, s), k, S))
        f = y.mean(0) - y.mean((0, 2))[:, None] - y.mean((0, 1)) + y.mean()
        square = P * np.sum(f**2) / (S - 1) / (K - 1)
        at = fit.names.index("annotators by systems")
        chance = Chance(*(of[at] for of in fit.chance))
        assert (chance.theta > 0) == (favourites > 0)
        assert chance.freedom == (S - 1) * (K - 1)
        assert P * chance.square == pytest.approx(square, rel=0.05)
        assert P * chance.floor == pytest.approx(fit.theta[-1], rel=0.05)


def test_what_prompts_and_noise_sum_up_to_is_known_better_than_its_parts():
    """Ten outputs of each system, mostly on prompts of their own: parts cannot be told apart, their sum can."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        p = np.concatenate([rng.permutation(120)[:10] for _ in range(3)])
        s, k = np.repeat(np.arange(3), 10), rng.integers(0, 3, 30)
        y = rng.normal(0, 0.6, 120)[p] + rng.normal(0, 1, 30)
        fit = mixed_means(Scores(y, s, np.unique(p, return_inverse=True)[1], codes(p, s), k, 3))
        grown, _ = _drawn(pooled_means(fit, 3), 4000, np.random.default_rng(0))
        assert 1.0 < grown.mean() < 1.2  # as of 12 degrees of freedom or more


def test_favourites_of_few_people_widen_even_where_they_seem_none():
    fit = mixed_means(drawn_scores(2, np.zeros(6), people=3, each=3, favourites=0.0))
    assert fit.theta[fit.names.index("annotators by systems")] == 0
    means = pooled_means(fit, 6)
    told = statements([means], ONE, 0.9, np.random.default_rng(0)).critical
    certain = statements([means._replace(sources=())], ONE, 0.9, np.random.default_rng(0)).critical
    assert told > 1.02 * certain


@pytest.mark.parametrize("design", [{}, {"prompts": 10}, {"people": 3, "each": 3}, {"keep": 0.5}])
def test_equal_systems_are_seldom_called_different(design):
    """At the level of .9, wrong anywhere in about one of ten tables; by pairs it would be in most."""
    wrong = []
    for seed in range(60):
        means = pooled_means(mixed_means(drawn_scores(seed, np.zeros(6), favourites=0.2, **design)), 6)
        wrong.append(statements([means], ONE, 0.9, np.random.default_rng(seed)).clear.any())
    assert np.mean(wrong) <= 0.22  # three standard errors above
