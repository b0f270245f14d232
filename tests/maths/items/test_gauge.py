"""Which way is up: the same answer from any turned, rescaled, permuted or flipped start."""

import numpy as np
import pytest

from item_cases import standardised
from unisono.maths.em_loop import run_em
from unisono.maths.items.bayes_em import bayes_step, settled
from unisono.maths.items.bayes_start import bayes_settings, bayes_start
from unisono.maths.items.item_data import no_features, prepare
from unisono.maths.items.item_estep import posterior
from unisono.maths.items.item_gold import gold_map
from unisono.maths.items.item_params import Structure, change_of_truth, recentre, uncorrelate
from unisono.maths.items.item_priors import Priors

TURNS = {
    "turned": np.array([[0.8, -0.6], [0.6, 0.8]]),
    "rescaled": np.diag([3.0, 0.2]),
    "permuted": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "flipped": np.diag([-1.0, 1.0]),
    "all of it": np.array([[0.3, -2.0], [-1.5, -0.4]]),
}


def fitted_from(turn):
    y, item_of, annotator_of, _, K = standardised(3, missing=0.1, features=False)
    data = prepare(y, item_of, annotator_of, no_features(40), K)
    settings = bayes_settings(data, Structure(), Priors(), np.full(2, 1e-6))
    start = bayes_start(data, settings)
    turned = change_of_truth(start.params, turn, np.array([0.7, -0.3]))
    # Any start is first brought to the anchor's coordinates.
    start = start._replace(params=recentre(turned, settings.structure, data.by_annotator(data.judgements)))
    state, _ = run_em(lambda s: bayes_step(data, s, settings), start, stop_when=settled(1e-7), max_iter=2000)
    return data, state.params


@pytest.mark.parametrize("name", TURNS)
@pytest.mark.parametrize("anchor", ["average", "uncorrelated"])
def test_any_start_ends_at_the_same_answer(name, anchor):
    data, straight = fitted_from(np.eye(2))
    _, turned = fitted_from(TURNS[name])
    if anchor == "uncorrelated":
        straight, turned = uncorrelate(straight), uncorrelate(turned)
    np.testing.assert_allclose(posterior(data, turned).mean, posterior(data, straight).mean, rtol=1e-4, atol=1e-4)


def test_uncorrelated_truths_are_uncorrelated_and_predict_the_same():
    data, params = fitted_from(np.eye(2))
    turned = uncorrelate(params)
    np.testing.assert_allclose(turned.Sigma, turned.Sigma[0, 0] * np.eye(2), atol=1e-12)
    np.testing.assert_allclose(posterior(data, turned).loglik, posterior(data, params).loglik, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(turned.mu, params.mu, atol=1e-12)


def test_the_gold_map_finds_a_linear_map():
    rng = np.random.default_rng(0)
    A, c = np.array([[2.0, -1.0], [0.5, 1.5]]), np.array([0.3, -0.2])
    found = rng.normal(size=(30, 2))
    gold = found @ A.T + c
    gold[5:, 0] = np.nan
    A_hat, c_hat = gold_map(found, gold)
    np.testing.assert_allclose(A_hat, A, atol=0.05)
    np.testing.assert_allclose(c_hat, c, atol=0.05)
