"""Predicted answers have the moments that drawing truth, annotator and noise gives; scores equal SciPy's;
left-out answers tell an honest model from a boasting one."""

import numpy as np
import pytest
from scipy import stats

from item_cases import random_case, random_raters
from reference import naive_items
from unisono.maths.items.item_data import no_features, prepare
from unisono.maths.items.item_estep import left_out_blocks, left_out_means
from unisono.maths.items.item_estimates import (
    LEAST_FREEDOM,
    Predictive,
    held_out_scores,
    left_out,
    predicted_ratings,
    residual_freedom,
)
from unisono.maths.items.item_params import ItemParams, sample_ratings, sample_truths


@pytest.mark.parametrize("with_cov", [False, True])
def test_predicted_moments_equal_those_of_drawn_answers(with_cov):
    case = random_case(2, seed=1, with_cov=with_cov)
    params, rng, n, k = case.params, np.random.default_rng(0), 400_000, 3
    mean, cov = np.array([[0.0, 0.0], [0.7, -1.2]]), np.stack([np.eye(2), np.array([[0.5, 0.2], [0.2, 0.4]])])
    predicted = predicted_ratings(params, mean, cov, np.array([1]), np.array([k]))
    abar = np.hstack([rng.multivariate_normal(mean[1], cov[1], size=n), np.ones((n, 1))])
    for d in range(2):
        rows = params.B[k, d] if params.cov is None else rng.multivariate_normal(params.B[k, d], params.cov[k, d], n)
        y = np.sum(rows * abar, axis=1) + np.sqrt(params.N[k, d, d]) * rng.standard_normal(n)
        assert predicted.mean[0, d] == pytest.approx(y.mean(), abs=0.02)
        assert predicted.variance[0, d] == pytest.approx(y.var(), rel=0.02)


def test_scores_equal_scipys_and_skip_missing_answers():
    rng = np.random.default_rng(3)
    predicted = Predictive(rng.normal(size=(40, 2)), rng.uniform(0.5, 2, size=(40, 2)))
    answers = rng.normal(size=(40, 2))
    answers[5, 1] = np.nan
    seen = ~np.isnan(answers)
    law = stats.norm(predicted.mean[seen], np.sqrt(predicted.variance[seen]))
    found = held_out_scores(predicted, answers, 0.9)
    assert found.numbers == 79
    assert found.log_density == pytest.approx(law.logpdf(answers[seen]).mean(), rel=1e-12)
    assert found.rmse == pytest.approx(np.sqrt(np.mean((answers - predicted.mean)[seen] ** 2)), rel=1e-12)
    low, high = law.interval(0.9)
    assert found.coverage == np.mean((low <= answers[seen]) & (answers[seen] <= high))


def test_nothing_to_score_is_not_a_number():
    nothing = held_out_scores(Predictive(np.zeros((1, 1)), np.ones((1, 1))), np.full((1, 1), np.nan), 0.9)
    assert nothing.numbers == 0
    assert np.isnan(nothing.log_density)


@pytest.mark.parametrize(("D", "missing"), [(1, 0.0), (2, 0.3), (3, 0.2)])
def test_truths_without_a_judgement_equal_a_posterior_that_never_saw_it(D, missing):
    case = random_case(D, seed=3, missing=missing, subset=True)
    F, b, N, means, Sigma = case.naive_params
    blocks = list(left_out_blocks(case.data, case.params))
    assert [piece for judgements, _, _ in blocks for piece in (judgements.start, judgements.stop)] == [
        0,
        len(case.data.y),
    ]
    found_mean = np.concatenate([mean.T for _, mean, _ in blocks])
    found_cov = np.concatenate([cov.transpose(2, 0, 1) for _, _, cov in blocks])
    j = 0
    for m, judgements in enumerate(case.naive_y):
        for i in range(len(judgements)):
            others = judgements[:i] + judgements[i + 1 :]
            mean, cov, _ = naive_items.item_posterior(F, b, N, means[m], Sigma, others)
            np.testing.assert_allclose(found_mean[j], mean, rtol=1e-8, atol=1e-10)
            np.testing.assert_allclose(found_cov[j], cov, rtol=1e-8, atol=1e-10)
            j += 1
    np.testing.assert_allclose(left_out_means(case.data, case.params), found_mean, rtol=1e-10)
    np.testing.assert_array_equal(left_out(case.data, case.params).mean, found_mean)


def drawn(seed, *, missing=0.0, K=20, M=400):
    """Ratings from known parameters."""
    rng = np.random.default_rng(seed)
    B = np.dstack([np.eye(2) + 0.2 * rng.normal(size=(K, 2, 2)), 0.3 * rng.normal(size=(K, 2))])
    N = rng.uniform(0.3, 1.2, size=(K, 1, 1)) * np.array([[1.0, 0.3], [0.3, 0.8]])
    params = ItemParams(B, N, np.zeros((0, 2)), np.zeros(2), np.array([[0.6, 0.2], [0.2, 0.5]]))
    item_of, annotator_of = random_raters(rng, M, K, 5)
    value = sample_ratings(params, sample_truths(params, no_features(M), rng), item_of, annotator_of, rng)
    value[rng.random(value.shape) < missing] = np.nan
    return prepare(value, item_of, annotator_of, no_features(M), K), params


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_ratio_is_one_for_an_honest_model_and_more_for_one_that_claims_too_much(missing):
    data, params = drawn(1, missing=missing)
    assert left_out(data, params).ratio == pytest.approx(1.0, abs=0.06)
    assert left_out(data, params._replace(N=params.N / 4)).ratio > 2.0
    assert left_out(data, params._replace(N=params.N * 4)).ratio < 0.5


def test_freedom_is_what_truths_and_biases_leave():
    data, _ = drawn(0)
    assert residual_freedom(data) == 2000 - 400 - 20
    absent = prepare(data.y, np.repeat(np.arange(400), 5), data.annotator[data.profile_of], data.scores, data.K + 7)
    assert residual_freedom(absent) == 2000 - 400 - 20
    few = random_case(2, M=3, K=2).data
    assert residual_freedom(few) == LEAST_FREEDOM
