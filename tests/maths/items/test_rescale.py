"""The matched estimate has the variance it promises, follows a change of the truth, and never explodes."""

import numpy as np
import pytest

from item_cases import random_raters
from unisono.maths.items.item_data import no_features, prepare
from unisono.maths.items.item_estep import Posterior, posterior
from unisono.maths.items.item_estimates import panel_rescaling, truth_rescaling
from unisono.maths.items.item_params import ItemParams, sample_ratings, sample_truths

SIGMA, NOISE = np.array([[0.5, 0.1], [0.1, 0.3]]), np.array([0.4, 0.6])


def drawn(M, *, K=12, per_item=3, gain=1.0, seed=0):
    """Ratings from known parameters, the last of whose annotators is the newcomer, and the posterior under them."""
    rng = np.random.default_rng(seed)
    F = np.tile(gain * np.eye(2), (K + 1, 1, 1))
    b = 0.2 * rng.normal(size=(K + 1, 2, 1))
    params = ItemParams(
        np.dstack([F, b]), np.tile(np.diag(NOISE), (K + 1, 1, 1)), np.zeros((0, 2)), np.array([0.3, -0.4]), SIGMA
    )
    truth = sample_truths(params, no_features(M), rng)
    item_of, annotator_of = random_raters(rng, M, K, per_item)
    value = sample_ratings(params, truth, item_of, annotator_of, rng)
    data = prepare(value, item_of, annotator_of, no_features(M), K)
    return data, params, posterior(data, params)


@pytest.mark.parametrize("panel", [4.0, np.inf])
@pytest.mark.parametrize("with_ends", [False, True])
def test_the_estimate_has_the_variance_of_a_panels_mean(panel, with_ends):
    data, params, found = drawn(4000)
    answer = np.clip(found.mean, -0.5, 0.5) if with_ends else found.mean
    estimate = panel_rescaling(data, params, found, answer, panel).apply(answer)
    held = answer.var(axis=0) / found.mean.var(axis=0)  # what a scale that ends leaves of the variance
    np.testing.assert_allclose(estimate.var(axis=0), held * np.diagonal(SIGMA) + NOISE / panel, rtol=0.01)
    assert (found.mean.var(axis=0) < np.diagonal(SIGMA)).all()


@pytest.mark.parametrize(
    ("per_item", "panel", "power"), [(3, np.inf, 0.0), (3, 6.0, 0.4), (3, 3.0, 1.0), (9, 3.0, 1.8)]
)
def test_the_more_ratings_an_item_has_the_nearer_is_the_scale_to_that_of_the_crowd(per_item, panel, power):
    data, params, found = drawn(4000, gain=0.5, per_item=per_item)
    estimate = panel_rescaling(data, params, found, found.mean, panel).apply(found.mean)
    expected = 0.5**power * np.diagonal(SIGMA) + NOISE / panel
    np.testing.assert_allclose(estimate.var(axis=0), expected, rtol=0.02)


def test_where_the_scale_is_known_the_estimate_has_the_variance_of_the_truth():
    data, params, found = drawn(4000)
    estimate = truth_rescaling(data, params, found).apply(found.mean)
    np.testing.assert_allclose(estimate.var(axis=0), np.diagonal(SIGMA), rtol=0.01)
    np.testing.assert_allclose(estimate.mean(axis=0), found.mean.mean(axis=0), atol=1e-12)


def test_rescaling_keeps_the_order_of_items_and_their_level():
    data, params, found = drawn(300)
    for continued in (False, True):
        estimate = panel_rescaling(data, params, found, found.mean, 10.0, continued=continued).apply(found.mean)
        np.testing.assert_array_equal(np.argsort(estimate, axis=0), np.argsort(found.mean, axis=0))
        np.testing.assert_allclose(estimate.mean(axis=0), found.mean.mean(axis=0))


@pytest.mark.parametrize("with_ends", [False, True])
def test_rescaling_follows_a_change_of_the_truth(with_ends):
    data, params, found = drawn(50)
    answer = np.clip(found.mean, -0.5, 0.5) if with_ends else found.mean
    rescaling = panel_rescaling(data, params, found, answer, 10.0)
    scale, offset = np.array([2.0, 0.3]), np.array([-1.0, 5.0])
    moved = rescaling.mapped(scale, offset).apply(scale * answer + offset)
    np.testing.assert_allclose(moved, scale * rescaling.apply(answer) + offset, rtol=1e-10)


def test_two_items_do_not_explode():
    for seed in range(5):
        data, params, found = drawn(2, seed=seed)
        assert panel_rescaling(data, params, found, found.mean, 10.0).stretch.max() < 2.5
    equal = Posterior(np.zeros((2, 2)), found.cov, found.loglik)
    assert panel_rescaling(data, params, equal, np.zeros((2, 2)), 10.0).stretch.max() < 2.5


def test_an_estimate_without_any_spread_stays_where_it_is():
    data, params, found = drawn(20)
    nothing = Posterior(np.zeros((20, 2)), np.tile(SIGMA, (20, 1, 1)), found.loglik)
    np.testing.assert_array_equal(truth_rescaling(data, params, nothing).apply(nothing.mean), 0)
