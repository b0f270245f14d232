"""The E-step against the joint normal of all ratings, and against the model without groups."""

import numpy as np
import pytest

from group_cases import random_params, random_ratings
from reference.naive_groups import joint_posterior
from unisono.maths.groups import group_data
from unisono.maths.groups.group_estep import (
    expectation,
    left_out_means,
    posteriors,
    predicted_answers,
    ratings_part,
    view_moments,
)
from unisono.maths.items.item_data import no_features, prepare
from unisono.maths.items.item_estep import expectation as item_expectation
from unisono.maths.items.item_params import ItemParams


def dense(data, given, params):
    """Posteriors of every item through its joint normal."""
    value, item_of, annotator_of, x = given
    noise = params.noise(data.group)
    m0 = params.mu + data.scores.Z @ params.theta
    for m in range(data.M):
        rows = item_of == m
        y, seen, offsets = np.zeros((data.K, data.D)), np.zeros((data.K, data.D), bool), np.zeros((data.K, data.D))
        who = annotator_of[rows]
        y[who], seen[who] = np.nan_to_num(value[rows]), ~np.isnan(value[rows])
        bar = np.hstack([np.ones((len(who), 1)), x[rows]])
        offsets[who] = np.einsum("kdx,kx->kd", params.rows.mean[who, :, 1:], bar)
        yield joint_posterior(y, seen, data.group, params, params.rows.mean[..., 0], offsets, noise, m0[m])


@pytest.mark.parametrize("G", [1, 2, 4])
@pytest.mark.parametrize("covariates", [0, 2])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_group_moments_and_likelihood_equal_the_joint_normal(G, covariates, missing, monkeypatch):
    monkeypatch.setattr(group_data, "BLOCK_ITEMS", 5)  # several blocks, the last one shorter
    rng = np.random.default_rng(G)
    K, M, D = 2 * G + 3, 12, 3
    data, given = random_ratings(rng, G, K, M, D, missing, covariates=covariates, features=2)
    assert len(data.blocks) == 3
    params = random_params(rng, G, K, D, R=2, X=1 + covariates)
    found = list(dense(data, given, params))
    total = ratings_part(data, params)
    for block, block_found in posteriors(data, params):
        total += block_found.loglik.sum()
        for m in range(block.start, block.stop):
            mean, cov, _ = found[m]
            np.testing.assert_allclose(block_found.mean[m - block.start], mean[:D], rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(block_found.cov[m - block.start], cov[:D, :D], rtol=1e-10, atol=1e-10)
        for g, view in enumerate(block_found.views):
            at = slice(D * (g + 1), D * (g + 2))
            for i, (c, spread, cross) in enumerate(zip(*view_moments(view, params, g, block_found), strict=True)):
                mean, cov, _ = found[block.start + view.items[i]]
                np.testing.assert_allclose(c, mean[at], rtol=1e-10, atol=1e-10)
                np.testing.assert_allclose(spread, cov[at, at], rtol=1e-10, atol=1e-10)
                np.testing.assert_allclose(cross, cov[at, :D], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(total, sum(loglik for *_, loglik in found), rtol=1e-12)


def test_without_shared_error_groups_are_the_model_without_groups():
    rng = np.random.default_rng(0)
    data, (value, item_of, annotator_of, _) = random_ratings(rng, 3, 9, 20, 2)
    params = random_params(rng, 3, 9, 2)
    params = params._replace(A=np.tile(np.eye(2), (3, 1, 1)), t=np.zeros((3, 2)), S=np.zeros((3, 2, 2)))
    mean, stats = expectation(data, params)
    B = np.zeros((9, 2, 3))
    B[:, [0, 1], [0, 1]], B[:, :, 2] = params.rows.mean[..., 0], params.rows.mean[..., 1]
    N = params.noise(data.group)[:, :, None] * np.eye(2)
    plain = prepare(value, item_of, annotator_of, no_features(20), 9)
    expected, plain_stats = item_expectation(plain, ItemParams(B, N, np.zeros((0, 2)), params.mu, params.Sigma))
    np.testing.assert_allclose(mean, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(stats.loglik, plain_stats.loglik, rtol=1e-12)
    np.testing.assert_allclose(stats.items, plain_stats.items, rtol=1e-10, atol=1e-12)


def test_the_information_of_a_panel_saturates():
    """A thousand judges who err together say less than their common error allows."""
    rng = np.random.default_rng(1)
    K = 1000
    params = random_params(rng, 2, K, 2)
    value = rng.normal(size=(K - 1, 2))
    group = np.r_[0, np.ones(K - 1, dtype=int)]
    data = group_data.prepare_groups(value, np.zeros(K - 1, int), np.arange(1, K), group, 2, no_features(1))
    ((_, found),) = posteriors(data, params)
    limit = np.linalg.inv(params.A[1].T @ np.linalg.solve(params.S[1], params.A[1]) + np.linalg.inv(params.Sigma))
    np.testing.assert_allclose(found.cov[0], limit, rtol=0.02)
    assert (np.linalg.eigvalsh(found.cov[0] - limit) > 0).all()


def test_leaving_a_judgement_out_equals_computing_without_it_in_groups():
    rng = np.random.default_rng(2)
    data, (value, item_of, annotator_of, x) = random_ratings(rng, 3, 9, 8, 2, covariates=1)
    params = random_params(rng, 3, 9, 2, X=2)
    means = left_out_means(data, params, value, item_of, annotator_of, x)
    for n in range(0, len(item_of), 5):
        rest = np.arange(len(item_of)) != n
        given = value[rest], item_of[rest], annotator_of[rest]
        without = group_data.prepare_groups(*given, data.group, 3, no_features(8), x[rest])
        np.testing.assert_allclose(means[n], expectation(without, params)[0][item_of[n]], rtol=1e-9, atol=1e-10)


def test_answers_are_predicted_from_the_groups_view():
    """Against the joint normal: an answer is f c + b with the posterior of c."""
    rng = np.random.default_rng(3)
    data, given = random_ratings(rng, 2, 6, 6, 2)
    params = random_params(rng, 2, 6, 2)
    found = list(dense(data, given, params))
    items, who = np.repeat(np.arange(6), 6), np.tile(np.arange(6), 6)
    predicted = predicted_answers(data, params, items, who, None)
    for n, (m, k) in enumerate(zip(items, who, strict=True)):
        mean, cov, _ = found[m]
        at = slice(2 * (data.group[k] + 1), 2 * (data.group[k] + 2))
        f, b = params.rows.mean[k, :, 0], params.rows.mean[k, :, 1]
        np.testing.assert_allclose(predicted.mean[n], f * mean[at] + b, rtol=1e-9, atol=1e-10)
        variance = f**2 * np.diagonal(cov[at, at]) + params.noise(data.group)[k]
        np.testing.assert_allclose(predicted.variance[n], variance, rtol=1e-9)
