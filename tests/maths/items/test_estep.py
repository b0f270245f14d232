"""The sparse information form equals the paper's DK x DK normal distribution."""

import numpy as np
import pytest

from item_cases import random_case
from reference import naive_items
from unisono.maths.items.item_estep import expectation, left_out_means, posterior

CASES = [(D, missing, subset) for D in (1, 2, 3, 7) for missing in (0.0, 0.3) for subset in (False, True)]


@pytest.mark.parametrize(("D", "missing", "subset"), CASES)
def test_moments_and_log_likelihood_equal_the_naive_joint_normal(D, missing, subset):
    case = random_case(D, missing=missing, subset=subset, seed=D)
    mean, cov, loglik = naive_items.posterior(*case.naive_params, case.naive_y)
    fast = posterior(case.data, case.params)
    np.testing.assert_allclose(fast.mean, mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fast.cov, cov, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(fast.loglik, loglik, rtol=1e-8, atol=1e-10)
    streamed, stats = expectation(case.data, case.params)
    np.testing.assert_allclose(streamed, mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(stats.loglik, loglik.sum(), rtol=1e-8)


def test_leaving_a_judgement_out_equals_computing_without_it():
    case = random_case(2, missing=0.2, subset=True, seed=5)
    left_out = left_out_means(case.data, case.params)
    j = 0
    for m, judgements in enumerate(case.naive_y):
        for drop in range(len(judgements)):
            rest = judgements[:drop] + judgements[drop + 1 :]
            F, b, N, means, Sigma = case.naive_params
            expected, _, _ = naive_items.item_posterior(F, b, N, means[m], Sigma, rest)
            np.testing.assert_allclose(left_out[j], expected, rtol=1e-8, atol=1e-10)
            j += 1
    assert j == len(left_out)


def test_uncertain_annotator_rows_flatten_the_posterior_as_in_the_expected_quadratic_form():
    case = random_case(2, missing=0.2, subset=True, seed=3, with_cov=True)
    fast = posterior(case.data, case.params)
    F, b, N, means, Sigma = case.naive_params
    cov = case.params.cov
    for m, judgements in enumerate(case.naive_y):
        L, h = np.linalg.inv(Sigma), np.linalg.solve(Sigma, means[m])
        for k, r in judgements:
            for d in np.flatnonzero(~np.isnan(r)):
                w = 1 / N[k, d, d]
                L = L + w * (np.outer(F[k, d], F[k, d]) + cov[k, d, :-1, :-1])
                h = h + w * (F[k, d] * (r[d] - b[k, d]) - cov[k, d, :-1, -1])
        np.testing.assert_allclose(fast.mean[m], np.linalg.solve(L, h), rtol=1e-9)
        np.testing.assert_allclose(fast.cov[m], np.linalg.inv(L), rtol=1e-9)
