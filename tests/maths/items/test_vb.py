"""Variational EM: the bound rises at every step, whatever the structure; a change of coordinates predicts the same."""

import numpy as np
import pytest

from item_cases import STRUCTURES, random_case, standardised
from unisono.maths.em_loop import run_em
from unisono.maths.items.bayes_em import bayes_step, settled
from unisono.maths.items.bayes_start import bayes_settings, bayes_start
from unisono.maths.items.item_data import orthogonal_scores, prepare
from unisono.maths.items.item_estep import posterior
from unisono.maths.items.item_params import Structure, change_of_truth, recentre
from unisono.maths.items.item_priors import Priors

LOOSE = Priors(estimated=True)


SHARED = [(*words[:2], "shared", words[3]) for words in STRUCTURES if words[2] == "full"]


@pytest.mark.parametrize(("transform", "bias", "noise", "latent"), STRUCTURES + SHARED)
@pytest.mark.parametrize(
    ("missing", "features", "gold"),
    [
        pytest.param(0.0, True, False, marks=pytest.mark.slow),
        (0.25, False, True),
    ],
)
def test_bound_rises_at_every_step(transform, bias, noise, latent, missing, features, gold):
    structure = Structure(transform, bias, noise, latent, intercept=True)
    y, item_of, annotator_of, X, K = standardised(3, missing=missing, features=features)
    data = prepare(y, item_of, annotator_of, orthogonal_scores(X, intercept=True), K)
    if gold:
        known = np.full((data.M, data.D), np.nan)
        known[:4, 0] = [-1.0, 0.5, 0.2, 1.0]
        data = data._replace(gold=known)
    settings = bayes_settings(data, structure, LOOSE, np.full(2, 1e-4), anchored=not gold)
    start = bayes_start(data, settings)
    _, trace = run_em(lambda s: bayes_step(data, s, settings), start, stop_when=lambda *_: False, max_iter=40)
    assert np.diff(trace.objective).min() >= -1e-9 * np.abs(trace.objective).max()
    assert trace.objective[-1] > trace.objective[0]


@pytest.mark.parametrize("transform", ["gain", "full"])
@pytest.mark.parametrize("latent", ["isotropic", "diagonal", "full"])
def test_recentring_changes_no_prediction(transform, latent):
    structure = Structure(transform, True, "diagonal", latent)
    case = random_case(3, seed=4, missing=0.2, subset=True, with_cov=True)
    eye = np.eye(3)
    Sigma = {"isotropic": eye, "diagonal": np.diag([1.0, 2.0, 0.5]), "full": case.params.Sigma}[latent]
    B = case.params.B if transform == "full" else np.dstack([case.params.F * eye, case.params.b])
    params = case.params._replace(Sigma=Sigma, B=B)
    moved = recentre(params, structure, np.array([1.0, 2, 3, 4, 5]))
    before, after = posterior(case.data, params), posterior(case.data, moved)
    np.testing.assert_allclose(after.loglik, before.loglik, rtol=1e-9, atol=1e-12)
    if latent == "isotropic":
        np.testing.assert_allclose(moved.Sigma, moved.Sigma[0, 0] * eye, atol=1e-12)
    if latent == "full" and transform == "full":
        weight = np.array([1.0, 2, 3, 4, 5]) / 15
        np.testing.assert_allclose(np.einsum("k,kij->ij", weight, moved.F), eye, atol=1e-10)
        np.testing.assert_allclose(weight @ moved.b, 0, atol=1e-10)


@pytest.mark.parametrize("telling", [True, False])
def test_what_features_explain_is_not_expected_of_the_rest(telling):
    rng = np.random.default_rng(2)
    X, M, n = rng.normal(size=(40, 3)), 40, 3
    truth = X @ rng.normal(size=(3, 2)) if telling else rng.normal(size=(M, 2))
    y = np.repeat(truth, n, axis=0) + 1.5 * rng.normal(size=(M * n, 2))
    y = (y - y.mean(axis=0)) / y.std(axis=0)
    data = prepare(y, np.repeat(np.arange(M), n), rng.integers(0, 10, M * n), orthogonal_scores(X, intercept=True), 10)
    settings = bayes_settings(data, Structure("gain"), Priors(), np.full(2, 1e-6))
    start = bayes_start(data, settings)
    state, _ = run_em(lambda s: bayes_step(data, s, settings), start, stop_when=settled(1e-3), max_iter=200)
    left = state.hyper.unexplained
    assert (left <= 1).all()
    assert np.all(left < 0.7) if telling else np.all(left > 0.8)
    error = 1 - np.corrcoef(posterior(data, state.params).mean[:, 0], truth[:, 0])[0, 1]
    assert not telling or error < 0.06  # .11 with the target of the whole truth


def test_known_truths_are_kept():
    y, item_of, annotator_of, X, K = standardised(9, missing=0.1, features=False)
    data = prepare(y, item_of, annotator_of, orthogonal_scores(X, intercept=True), K)
    known = np.full((data.M, data.D), np.nan)
    known[3] = [0.7, -1.1]
    data = data._replace(gold=known)
    settings = bayes_settings(data, Structure(), Priors(), np.full(2, 1e-6), anchored=False)
    state, trace = run_em(
        lambda s: bayes_step(data, s, settings), bayes_start(data, settings), stop_when=settled(1e-4), max_iter=200
    )
    assert trace.converged
    found = posterior(data, state.params)
    np.testing.assert_allclose(found.mean[3], known[3], atol=1e-3)
    assert np.sqrt(found.cov[3, 0, 0]) < 2e-3


def test_a_change_of_truth_carries_the_posterior_along():
    case = random_case(2, seed=6, missing=0.1, subset=True, with_cov=True)
    A, c = np.array([[1.3, -0.4], [0.2, 0.8]]), np.array([0.5, -2.0])
    before = posterior(case.data, case.params)
    after = posterior(case.data, change_of_truth(case.params, A, c))
    np.testing.assert_allclose(after.mean, before.mean @ A.T + c, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(after.cov, A @ before.cov @ A.T, rtol=1e-9, atol=1e-12)
