"""Shares of truth, bias and error are recovered from moments, with stated answers where there is nothing to count."""

import numpy as np
import pytest

from item_cases import data_of, random_raters
from unisono.maths.items.priors import LEAST_SHARE
from unisono.maths.items.targets import (
    believed_correlation,
    positive_definite,
    rating_correlation,
    variance_targets,
)


def crowd(*, M=500, K=80, per_item=6, truth=(0.35, 0.55), bias=0.15, correlation=0.0, missing=0.0, seed=0):
    """Ratings of variance one, made of truth, bias and error with these shares."""
    rng = np.random.default_rng(seed)
    item_of, annotator_of = random_raters(rng, M, K, per_item)
    root = np.linalg.cholesky(np.array([[1, correlation], [correlation, 1]]))
    truth = np.array(truth)
    parts = (truth, M, item_of), (np.full(2, bias), K, annotator_of), (1 - truth - bias, M * per_item, slice(None))
    value = sum((np.sqrt(share) * (rng.normal(size=(n, 2)) @ root.T))[of] for share, n, of in parts)
    value[rng.random(value.shape) < missing] = np.nan
    return data_of(value, item_of, annotator_of), value


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_known_shares_are_recovered(missing):
    data, _ = crowd(missing=missing)
    found = variance_targets(data, truths=False, biases=False)
    np.testing.assert_allclose(np.diagonal(found.latent), [0.35, 0.55], atol=0.05)
    np.testing.assert_allclose(np.diagonal(found.bias), 0.15, atol=0.05)
    np.testing.assert_allclose(np.diagonal(found.noise), [0.5, 0.3], atol=0.05)
    np.testing.assert_allclose(found.latent[0, 1], 0, atol=1e-12)


def test_targets_are_correlated_as_the_ratings_are():
    data, value = crowd(correlation=0.6)
    r = believed(np.corrcoef(value.T)[0, 1], 3000, 6, 0.45)
    found = variance_targets(data)
    latent = found.latent[0, 1] / np.sqrt(found.latent[0, 0] * found.latent[1, 1])
    assert latent == pytest.approx(r, rel=1e-3)
    assert found.noise[0, 1] == pytest.approx(0, abs=1e-12)
    assert found.bias[0, 1] == pytest.approx(r * found.bias[0, 0], rel=1e-3)


def believed(r, judgements, per_item, truth, D=2):
    """The formula for one pair of dimensions."""
    n = judgements / (1 + (per_item - 1) * truth)
    return r**3 / (r**2 + D * (1 - r**2) ** 2 / n)


@pytest.mark.parametrize("truth", [0.1, 0.5])
@pytest.mark.parametrize("correlation", [0.9, 0.3])
def test_a_handful_of_judgements_says_little_about_correlations(correlation, truth):
    data, value = crowd(M=8, per_item=2, correlation=correlation)
    r = np.corrcoef(value.T)[0, 1]
    found = believed_correlation(data, np.array([[1, r], [r, 1]]), truth)
    np.testing.assert_allclose(found, [[1, believed(r, 16, 2, truth)], [believed(r, 16, 2, truth), 1]], rtol=1e-12)


def test_chance_correlations_are_hardly_believed_and_clear_ones_are():
    chance, clear = [], []
    for seed in range(40):
        for correlation, kept in ((0.0, chance), (0.8, clear)):
            data, _ = crowd(M=15, per_item=3, correlation=correlation, seed=seed)
            P = rating_correlation(data)
            kept.append((P[0, 1], believed_correlation(data, P, 0.45)[0, 1]))
    chance, clear = np.square(chance).mean(axis=0), np.mean(clear, axis=0)
    assert chance[1] < 0.35 * chance[0]
    assert clear[1] > 0.9 * clear[0]


def test_a_correlation_counts_the_judgements_that_answer_both():
    data, value = crowd(M=40, per_item=3, correlation=0.6, missing=0.5)
    both = int((~np.isnan(value)).all(axis=1).sum())
    r = rating_correlation(data)[0, 1]
    found = believed_correlation(data, rating_correlation(data), 0.4)[0, 1]
    per_item = data.judgements.sum() / data.M
    assert found == pytest.approx(believed(r, both, per_item, 0.4), rel=1e-9)


def test_without_two_ratings_of_anything_the_stated_shares_hold():
    rng = np.random.default_rng(0)
    alone = np.arange(30)
    found = variance_targets(data_of(rng.normal(size=(30, 2)), alone, alone))
    np.testing.assert_allclose(np.diagonal(found.latent), 0.5, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(found.bias), LEAST_SHARE, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(found.noise), 0.5 - LEAST_SHARE, rtol=1e-12)


def test_shares_stay_inside_their_limits():
    noise, _ = crowd(truth=(0.0, 0.0), bias=0.0)
    assert np.diagonal(variance_targets(noise).latent).min() == pytest.approx(LEAST_SHARE)
    agreed, _ = crowd(truth=(0.999, 0.999), bias=0.0)
    found = variance_targets(agreed)
    np.testing.assert_allclose(np.diagonal(found.latent), 1 - LEAST_SHARE, rtol=1e-12)
    np.testing.assert_allclose(np.diagonal(found.noise), LEAST_SHARE, rtol=1e-12)


def test_the_correlation_of_ratings_is_that_of_complete_judgements():
    data, value = crowd(correlation=0.5, missing=0.3)
    both = ~np.isnan(value).any(axis=1)
    assert rating_correlation(data)[0, 1] == pytest.approx(np.corrcoef(value[both].T)[0, 1], rel=1e-9)
    few, _ = crowd(M=2, per_item=1, correlation=0.9)
    np.testing.assert_allclose(rating_correlation(few), np.eye(2), atol=1e-12)


def test_correlations_that_cannot_be_are_brought_to_the_nearest_that_can():
    P = np.array([[1.0, 0.7, -0.2], [0.7, 1.0, 0.1], [-0.2, 0.1, 1.0]])
    np.testing.assert_allclose(positive_definite(P), P, atol=1e-12)
    impossible = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    found = positive_definite(impossible)
    np.testing.assert_allclose(np.diagonal(found), 1, rtol=1e-12)
    assert np.linalg.eigvalsh(found).min() > 0
