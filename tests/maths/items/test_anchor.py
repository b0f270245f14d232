"""The best coordinates are those of the highest bound, found with the plainest of optimisers, and predict the same."""

import numpy as np
import pytest
from scipy import optimize

from item_cases import standardised
from unisono.maths.items.bayes_bound import best_coordinates, coordinates_term, highest, lower_bound, moved
from unisono.maths.items.bayes_em import bayes_step, row_prior
from unisono.maths.items.bayes_start import bayes_settings, bayes_start
from unisono.maths.items.item_data import orthogonal_scores, prepare
from unisono.maths.items.item_estep import expectation, posterior
from unisono.maths.items.item_params import Structure
from unisono.maths.items.item_priors import Priors


def case(transform="gain", latent="full", steps=3):
    """A state some steps into a fit, away from the best coordinates."""
    y, item_of, annotator_of, X, K = standardised(5, missing=0.2, features=True)
    data = prepare(y, item_of, annotator_of, orthogonal_scores(X, intercept=True), K)
    settings = bayes_settings(data, Structure(transform, latent=latent), Priors(), np.full(2, 1e-6), anchored=False)
    state = bayes_start(data, settings)
    for _ in range(steps):
        state, _ = bayes_step(data, state, settings)
    return data, moved(state, np.diag([1.4, 0.8]), np.array([0.5, -0.7])), settings


def test_the_maximum_equals_that_of_a_general_optimiser():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(4, 6))
    lin, H, count = rng.normal(size=4), root @ root.T, rng.uniform(1, 5, size=4)

    def loss(log_w):
        w = np.exp(log_w)
        return -(lin @ w + count @ np.log(w) - 0.5 * w @ H @ w)

    best = np.exp(optimize.minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-10}).x)
    found = np.ones(4)
    for _ in range(20):
        found = highest(lin, H, count, found)
    np.testing.assert_allclose(found, best, rtol=1e-6)
    limited = highest(lin, H, count, np.ones(4), most=0.9 * best.min())
    np.testing.assert_allclose(limited, 0.9 * best.min())


@pytest.mark.parametrize("latent", ["full", "diagonal"])
def test_no_other_coordinates_have_a_higher_bound(latent):
    data, state, settings = case(latent=latent)
    prior = row_prior(data, state.hyper, settings)
    found = best_coordinates(data, state, prior, settings)

    def loss(x):
        return -coordinates_term(data, moved(state, np.diag(np.exp(x[:2])), x[2:]), prior, settings)

    best = optimize.minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    # Scale and shift are found one after the other: the scale where the shift is still to come.
    again = best_coordinates(data, best_coordinates(data, found, prior, settings), prior, settings)
    assert -coordinates_term(data, again, prior, settings) == pytest.approx(best.fun, abs=1e-6)
    assert coordinates_term(data, found, prior, settings) >= coordinates_term(data, state, prior, settings)


@pytest.mark.parametrize("transform", ["identity", "gain", "full"])
@pytest.mark.parametrize("latent", ["isotropic", "diagonal", "full"])
def test_the_bound_rises_by_what_the_terms_say_and_ratings_are_predicted_alike(transform, latent):
    data, state, settings = case(transform, latent)
    prior = row_prior(data, state.hyper, settings)
    if latent == "isotropic":
        state = moved(state, np.diag(1 / np.array([1.4, 0.8])), np.zeros(2))
    if transform == "identity":
        state = bayes_step(data, bayes_start(data, settings), settings)[0]
    found = best_coordinates(data, state, prior, settings)
    bounds = [lower_bound(data, expectation(data, s.params)[1], s, prior, settings) for s in (state, found)]
    terms = [coordinates_term(data, s, prior, settings) for s in (state, found)]
    assert bounds[1] - bounds[0] == pytest.approx(terms[1] - terms[0], abs=1e-8)
    assert terms[1] >= terms[0] - 1e-9
    before, after = posterior(data, state.params), posterior(data, found.params)
    np.testing.assert_allclose(after.loglik, before.loglik, rtol=1e-8)
