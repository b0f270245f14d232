"""Means of systems in a mixed model: equal to dense matrices, at a maximum of the likelihood."""

import numpy as np
import pytest
from scipy import sparse

from reference.dense_mixed import covariances, dense, dense_moments
from system_worlds import drawn_scores
from unisono.maths.linalg.conjugate_gradients import conjugate_gradients
from unisono.maths.systems import mixed_model
from unisono.maths.systems.mixed_model import mixed_means, moments
from unisono.maths.systems.score_design import (
    ANNOTATORS,
    CELLS,
    FAVOURITES,
    NOISE,
    OUTPUTS,
    PROMPTS,
    Scores,
    codes,
    effects,
    indicator,
    layout_of,
)

MEANS = (0.0, 0.4, -0.3, 0.1)


def designed(scores, extra=None):
    found = effects(scores)
    X = np.eye(scores.S)[scores.system]
    return found, X if extra is None else np.column_stack([X, extra]), covariances(found)


@pytest.mark.parametrize("keep", [1.0, 0.6])
@pytest.mark.parametrize("covariate", [False, True])
def test_means_and_likelihood_equal_dense_matrices(keep, covariate):
    scores = drawn_scores(1, MEANS, keep=keep)
    extra = np.random.default_rng(0).normal(size=(len(scores.y), 1)) if covariate else None
    fit = mixed_means(scores, extra)
    found, X, parts = designed(scores, extra)
    assert fit.names == (CELLS, PROMPTS, ANNOTATORS, FAVOURITES, NOISE)
    objective, mean, cov = dense(scores.y, X, parts, fit.theta)
    np.testing.assert_allclose(fit.mean, mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fit.cov, cov, rtol=1e-8, atol=1e-10)
    extra = np.zeros((len(scores.y), 0)) if extra is None else extra
    layout = layout_of(scores, found, extra)
    assert mixed_model._solve(scores.y, fit.theta, layout).objective == pytest.approx(objective, rel=1e-10)


@pytest.mark.parametrize("zero", [None, 1, 3])
def test_slopes_are_those_of_the_likelihood(zero):
    scores = drawn_scores(2, MEANS, prompts=10, keep=0.7)
    found, X, parts = designed(scores)
    theta = np.array([0.3, 0.2, 0.25, 0.1, 0.4])
    if zero is not None:
        theta[zero] = 0.0
    layout = layout_of(scores, found, np.zeros((len(scores.y), 0)))
    score, information = mixed_model._slopes(theta, layout, mixed_model._solve(scores.y, theta, layout))
    for j in range(5):
        up, down = theta.copy(), theta.copy()
        up[j] += 1e-5
        down[j] -= 1e-5
        slope = -(dense(scores.y, X, parts, up)[0] - dense(scores.y, X, parts, down)[0]) / 4e-5
        assert score[j] == pytest.approx(slope, rel=1e-5, abs=1e-5)
    V = sum(t * part for t, part in zip(theta, parts, strict=True))
    P = np.linalg.inv(V)
    P = P - P @ X @ np.linalg.solve(X.T @ P @ X, X.T @ P)
    working = [part @ P @ scores.y for part in parts]
    np.testing.assert_allclose(information, [[a @ P @ b / 2 for b in working] for a in working], rtol=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_variances_are_at_a_maximum_of_the_likelihood(seed):
    scores = drawn_scores(seed, MEANS, favourites=0.0 if seed % 2 else 0.3, keep=0.8)
    fit = mixed_means(scores)
    _, X, parts = designed(scores)
    best = dense(scores.y, X, parts, fit.theta)[0]
    rng = np.random.default_rng(seed)
    for _ in range(30):
        other = np.maximum(fit.theta + rng.normal(0, 0.02, 5), 0.0)
        assert dense(scores.y, X, parts, other)[0] > best - 1e-6
    assert (fit.theta >= 0).all()


def test_the_likelihood_rises_at_every_step(monkeypatch):
    scores = drawn_scores(3, MEANS, keep=0.5)
    seen, climb = [], mixed_model._climb

    def watched(y, theta, score, information, layout, at, least):
        better = climb(y, theta, score, information, layout, at, least)
        if better is not None:
            seen.append((at.objective, better[1].objective))
        return better

    monkeypatch.setattr(mixed_model, "_climb", watched)
    mixed_means(scores)
    assert len(seen) > 1
    assert all(after < before for before, after in seen)


def test_moments_equal_their_dense_formula():
    scores = drawn_scores(4, MEANS, prompts=25, favourites=0.8, cell=1.0, keep=0.7)
    found, X, parts = designed(scores)
    layout = layout_of(scores, found, np.zeros((len(scores.y), 0)))
    theta = moments(scores.y, layout.X, layout.Z)
    left, right = dense_moments(scores.y, X, parts)
    assert (theta > 0).all()
    np.testing.assert_allclose(left @ theta, right, rtol=1e-8)


def test_large_tables_get_moments_and_conjugate_gradients(monkeypatch):
    scores = drawn_scores(5, MEANS, prompts=60)
    exact = mixed_means(scores)
    monkeypatch.setattr(mixed_model.priors, "MOST_REML_CELLS", 0)
    rough = mixed_means(scores)
    monkeypatch.setattr(mixed_model.priors, "MOST_SOLVED", 0)
    slow = mixed_means(scores)
    np.testing.assert_allclose(slow.mean, rough.mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(slow.cov, rough.cov, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(np.diff(rough.mean), np.diff(exact.mean), atol=0.05)


def test_conjugate_gradients_without_nested_effects(monkeypatch):
    """Every prompt has one score."""
    scores = drawn_scores(5, MEANS, prompts=60)
    once = np.arange(len(scores.y))
    scores = scores._replace(prompt=once, output=once)
    solved = mixed_means(scores)
    monkeypatch.setattr(mixed_model.priors, "MOST_SOLVED", 0)
    slow = mixed_means(scores)
    assert solved.names == ("annotators", "annotators by systems", "noise")
    np.testing.assert_allclose(slow.mean, solved.mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(slow.cov, solved.cov, rtol=1e-5, atol=1e-7)


def test_conjugate_gradients_solve():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 30))
    A = A @ A.T + 30 * np.eye(30)
    b = rng.normal(size=(30, 3))
    found = conjugate_gradients(lambda v: A @ v, b, np.diag(A), 1e-9)
    np.testing.assert_allclose(found, np.linalg.solve(A, b), atol=1e-5)
    one = conjugate_gradients(lambda v: A @ v, b[:, 0], np.diag(A), 1e-9)
    np.testing.assert_allclose(one, np.linalg.solve(A, b[:, 0]), atol=1e-5)


def test_effects_that_a_design_does_not_show_are_merged():
    n = np.arange(12)
    instances = Scores(n * 1.0, n % 3, n // 3, n, np.zeros(12, dtype=int), 3)
    assert effects(instances).names == (PROMPTS, NOISE)
    samples = Scores(np.arange(24.0), n.repeat(2) % 3, n.repeat(2) // 3, np.arange(24), np.zeros(24, dtype=int), 3)
    assert effects(samples).names == (CELLS, PROMPTS, NOISE)
    rated = Scores(np.arange(24.0), n.repeat(2) % 3, n.repeat(2), n.repeat(2), np.tile([0, 1], 12), 3)
    assert effects(rated).names == (CELLS, ANNOTATORS, FAVOURITES, NOISE)
    several = Scores(
        np.arange(48.0),
        np.arange(24).repeat(2) % 3,
        np.arange(24).repeat(2) // 6,
        np.arange(24).repeat(2),
        np.tile([0, 1], 24),
        3,
    )
    assert effects(several).names == (OUTPUTS, CELLS, PROMPTS, ANNOTATORS, FAVOURITES, NOISE)


def test_leniency_that_nothing_shows_is_assumed_to_be_there():
    rng = np.random.default_rng(0)
    system = np.tile(np.arange(4), 30)
    prompt = np.repeat(np.arange(30), 4)
    y = rng.normal(size=120) + 0.5 * rng.normal(size=4)[system]
    fit = mixed_means(Scores(y, system, prompt, np.arange(120), system, 4))
    assert ANNOTATORS in fit.names
    assert fit.theta[fit.names.index(ANNOTATORS)] > 0.5 * np.var(y)


def test_codes_number_combinations():
    assert codes(np.array([5, 5, 2]), np.array([1, 0, 1])).tolist() == [2, 1, 0]
    assert sparse.issparse(indicator(np.array([0, 2]), 3))
