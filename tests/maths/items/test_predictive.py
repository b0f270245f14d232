"""Predicted answers have the moments that drawing truth, annotator and noise gives; scores equal SciPy's."""

import numpy as np
import pytest
from scipy import stats

from item_cases import random_case
from unisono.maths.items.predictive import Predictive, held_out_scores, predicted_ratings


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
