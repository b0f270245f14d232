"""What the default does beside climbing: limits on borrowing, and that they protect where all annotators mix alike."""

import numpy as np
import pytest

import unisono as un
from item_cases import random_case
from unisono.maths.items.guards import correlation, limited_borrowing, recentred, tempered
from unisono.maths.items.priors import SPAMMER_GAIN, UNGUARDED, Priors
from unisono.maths.items.start import bayes_settings, bayes_start
from unisono.maths.items.structure import Structure
from unisono.simulate import simulate_items


def covariances(seed, D=4):
    rng = np.random.default_rng(seed)
    roots = rng.normal(size=(2, D, D + 1))
    Sigma, noise = roots @ roots.transpose(0, 2, 1)
    return Sigma, correlation(noise)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("times", [0.0, 0.5, 2.0])
def test_limited_borrowing_keeps_variances_and_is_a_covariance(seed, times):
    Sigma, errors = covariances(seed)
    found = limited_borrowing(Sigma, errors, times)
    np.testing.assert_allclose(np.diagonal(found), np.diagonal(Sigma), rtol=1e-12)
    np.testing.assert_allclose(found, found.T, rtol=1e-12)
    assert np.linalg.eigvalsh(correlation(found)).min() > 5e-4


def test_correlations_stay_within_a_multiple_of_those_of_errors():
    Sigma = np.array([[2.0, 1.5, -0.9], [1.5, 3.0, 0.1], [-0.9, 0.1, 1.0]])
    errors = np.array([[1.0, -0.1, 0.2], [-0.1, 1.0, 0.2], [0.2, 0.2, 1.0]])
    own, found = correlation(Sigma), correlation(limited_borrowing(Sigma, errors, 2.0))
    assert own[0, 1] > 0.2
    assert own[0, 2] < -0.4
    assert found[0, 1] == pytest.approx(0.2, rel=1e-9)  # limited by the size of the errors' correlation
    assert found[0, 2] == pytest.approx(-0.4, rel=1e-9)
    assert found[1, 2] == pytest.approx(own[1, 2], rel=1e-9)  # small enough already


def test_limits_that_contradict_each_other_still_give_a_covariance():
    Sigma = np.diag([1.0, 4.0, 9.0]) ** 0.5 @ np.array([[1, 0.9, 0.9], [0.9, 1, 0.9], [0.9, 0.9, 1]])
    Sigma = Sigma @ np.diag([1.0, 4.0, 9.0]) ** 0.5
    errors = np.array([[1, 0.9, 0.9], [0.9, 1, 0], [0.9, 0, 1]])
    found = limited_borrowing(Sigma, errors, 1.0)
    np.testing.assert_allclose(np.diagonal(found), [1, 4, 9], rtol=1e-12)
    assert np.linalg.eigvalsh(found).min() > 1e-4
    assert correlation(found)[1, 2] < 0.5


def test_without_a_limit_or_below_it_nothing_changes():
    Sigma, errors = covariances(1)
    assert limited_borrowing(Sigma, errors, np.inf) is Sigma
    assert limited_borrowing(Sigma, np.eye(4), np.inf) is Sigma
    assert limited_borrowing(Sigma, np.ones((4, 4)), 1.0) is Sigma


def test_who_has_no_say_moves_no_coordinates():
    case = random_case(2, seed=4)
    structure = Structure()
    settings = bayes_settings(case.data, structure, Priors(), np.full(2, 1e-4), UNGUARDED)
    hyper = bayes_start(case.data, settings).hyper
    F = np.tile(np.eye(2), (case.data.K, 1, 1))
    F[0] = 0.5 * np.eye(2)
    params = case.params._replace(B=np.dstack([F, np.zeros((case.data.K, 2, 1))]))
    expected = np.ones((case.data.K, 2))
    moved, _ = recentred(case.data, params, hyper, structure, expected)
    same, _ = recentred(case.data, params, hyper, structure)
    np.testing.assert_array_equal(moved.B, same.B)
    assert (np.diagonal(moved.F[1]) > 1.01).all()
    expected[0] = SPAMMER_GAIN
    still, _ = recentred(case.data, params, hyper, structure, expected)
    np.testing.assert_allclose(still.B, params.B, atol=1e-12)


def test_tempering_scales_correlations_alone():
    Sigma, _ = covariances(2)
    found = tempered(Sigma, 0.75)
    np.testing.assert_allclose(np.diagonal(found), np.diagonal(Sigma), rtol=1e-12)
    np.testing.assert_allclose(correlation(found)[0, 1], 0.75 * correlation(Sigma)[0, 1], rtol=1e-12)
    np.testing.assert_array_equal(tempered(Sigma, 1.0), Sigma)


def pearson(ratings, truth, **settings):
    """Mean over dimensions of the correlation of the estimate with the truth."""
    found = un.fuse(ratings, **settings).fused.mean
    return float(np.mean([np.corrcoef(found[:, d], truth.value[:, d])[0, 1] for d in range(2)]))


def mixed_alike(c, seed):
    """All annotators share F = [[1, c], [c, 1]]: ratings alone cannot tell that from truths that go together."""
    return simulate_items(annotators=100, ratings_per_item=10, features=0, transform="shared", spread=c, seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize("c", [0.3, 0.5, 0.7, 0.9])
def test_the_default_is_no_worse_than_each_dimension_by_itself_where_all_mix_alike(c):
    worlds = [mixed_alike(c, seed) for seed in range(3)]
    joint = np.mean([pearson(world.ratings, world.truth) for world in worlds])
    separate = np.mean([pearson(world.ratings, world.truth, model="independent") for world in worlds])
    assert joint >= separate - 0.001


def test_the_papers_convention_undoes_what_all_share():
    worlds = [mixed_alike(0.5, seed) for seed in range(3)]
    assert np.mean([pearson(world.ratings, world.truth, anchor="uncorrelated") for world in worlds]) >= 0.96
