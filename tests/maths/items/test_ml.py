"""ML EM of the item model: equals the paper's updates, and climbs at every step in every structure."""

import numpy as np
import pytest

from item_cases import STRUCTURES, random_case, simulated
from reference import naive_items
from unisono.maths.em_loop import relative_change, run_em
from unisono.maths.items.item_data import no_features, orthogonal_scores, prepare
from unisono.maths.items.item_estep import expectation
from unisono.maths.items.item_params import ItemParams, Structure
from unisono.maths.items.likelihood_em import (
    MlSettings,
    em_step,
    maximise,
    paper_start,
    sample_moments,
    starting_params,
)

NO_FLOOR = 1e-12
PAPER = Structure(transform="full", bias=False, noise="isotropic", latent="isotropic", intercept=False)


def paper_case(D, *, subset, seed, P=3):
    """A case whose parameters have the paper's form, with features that have no intercept."""
    case = random_case(D, subset=subset, seed=seed, M=19, K=5, P=P)
    rng = np.random.default_rng(seed + 1)
    scores = orthogonal_scores(case.X, intercept=False)
    B = np.concatenate([rng.uniform(0, 1, size=(5, D, D)), np.zeros((5, D, 1))], axis=2)
    N = rng.uniform(0.2, 1, size=5)[:, None, None] * np.eye(D)
    params = ItemParams(B, N, rng.normal(size=(scores.R, D)), np.zeros(D), 0.7 * np.eye(D))
    return case, case.data._replace(scores=scores), params


@pytest.mark.parametrize("paper_order", [False, True])
@pytest.mark.parametrize(("D", "subset", "P"), [(1, False, 3), (2, True, 3), (3, False, 40), (7, True, 3)])
def test_m_step_equals_the_papers_formulas(D, subset, P, paper_order):
    case, data, params = paper_case(D, subset=subset, seed=D, P=P)
    means = data.scores.Z @ params.theta
    mean, cov, _ = naive_items.posterior(params.F, params.b, params.N, means, params.Sigma, case.naive_y)
    old = (params.F, data.scores.V @ params.theta) if paper_order else (None, None)
    Theta, F, sigma2, tau2 = naive_items.paper_m_step(case.naive_y, mean, cov, case.X, 5, *old)
    _, stats = expectation(data, params)
    settings = MlSettings(PAPER, np.full(D, NO_FLOOR), recentred=False, paper_order=paper_order)
    new = maximise(data, stats, params, settings)
    np.testing.assert_allclose(new.F, F, rtol=1e-8)
    np.testing.assert_allclose(data.scores.V @ new.theta, Theta, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(np.diagonal(new.N, axis1=1, axis2=2), np.tile(tau2[:, None], D), rtol=1e-8)
    np.testing.assert_allclose(np.diagonal(new.Sigma), np.full(D, sigma2), rtol=1e-8)


def test_the_start_is_the_sample_mean_and_covariance_of_each_item():
    case = random_case(3, seed=8)
    moments = sample_moments(case.data, 0, case.data.M)
    for m, judgements in enumerate(case.naive_y):
        ratings = np.array([r for _, r in judgements])
        np.testing.assert_allclose(moments.mean[m], ratings.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(moments.cov[m], np.cov(ratings.T), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("transform", "bias", "noise", "latent"), STRUCTURES)
@pytest.mark.parametrize(
    ("missing", "features", "recentred"),
    [
        pytest.param(0.0, True, False, marks=pytest.mark.slow),
        (0.25, False, True),
    ],
)
def test_likelihood_rises_at_every_step(transform, bias, noise, latent, missing, features, recentred):
    structure = Structure(transform, bias, noise, latent, intercept=bias or features)
    y, item_of, annotator_of, X, K = simulated(3, D=2, missing=missing, features=features)
    scores = orthogonal_scores(X, intercept=structure.intercept)
    data = prepare(y, item_of, annotator_of, scores, K)
    floor = np.full(2, 1e-4)
    settings = MlSettings(structure, floor, recentred=recentred)
    start = paper_start(data, settings)
    _, trace = run_em(lambda p: em_step(data, p, settings), start, stop_when=lambda *_: False, max_iter=40)
    steps = np.diff(trace.objective)
    assert trace.objective[-1] > trace.objective[0]
    # Rounding is the only reason for a step to seem to go down.
    assert steps.min() >= -1e-9 * abs(trace.objective).max()


def test_more_features_than_items_stops_at_the_floor_instead_of_running_away():
    y, item_of, annotator_of, _, K = simulated(5, D=2, missing=0.0, features=False)
    X = np.random.default_rng(0).normal(size=(40, 200))
    data = prepare(y, item_of, annotator_of, orthogonal_scores(X, intercept=False), K)
    settings = MlSettings(PAPER, np.full(2, 1e-6), recentred=False)
    start = paper_start(data, settings)
    end, trace = run_em(lambda p: em_step(data, p, settings), start, stop_when=relative_change(1e-5), max_iter=2000)
    assert trace.stop == "converged"
    assert end.Sigma[0, 0] >= 1e-6
    assert np.isfinite(end.B).all()


def test_the_loop_tells_converged_from_stopped():
    _, stopped = run_em(lambda x: (x + 1, float(x)), 0, stop_when=lambda *_: False, max_iter=3)
    assert (stopped.stop, list(stopped.objective)) == ("max_iter", [0.0, 1.0, 2.0])
    state, done = run_em(lambda x: (x / 2, 1 + x), 1.0, stop_when=relative_change(1e-3), max_iter=100)
    assert done.stop == "converged"
    assert done.objective[-1] == 1 + state


def test_annotators_without_ratings_keep_the_identity():
    y, item_of, annotator_of, _, K = simulated(7, D=2, missing=0.0, features=False)
    data = prepare(y, item_of, annotator_of, no_features(40), K + 2)
    structure = Structure(noise="diagonal")
    floor = np.full(2, 1e-6)
    new, _ = em_step(data, starting_params(data, structure, floor), MlSettings(structure, floor, recentred=False))
    np.testing.assert_array_equal(new.F[K:], np.tile(np.eye(2), (2, 1, 1)))
    assert (np.diagonal(new.N[K:], axis1=1, axis2=2) > 0.05).all()
