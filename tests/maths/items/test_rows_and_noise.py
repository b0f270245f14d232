"""Rows one at a time end where all rows at once do; noise scales are the maxima of what they say they maximise."""

import numpy as np
import pytest

from item_cases import random_case
from unisono.maths.items.annotator_rows import common_prior, coupled_rows, row_by_row
from unisono.maths.items.item_estep import expectation, posterior
from unisono.maths.items.item_params import Structure, free_coefficients, noise_precision
from unisono.maths.items.item_variances import GainPull, noise_scales, own_noise


@pytest.mark.parametrize("transform", ["gain", "full"])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_sweeps_over_rows_end_where_all_rows_at_once_do(transform, missing):
    case = random_case(3, seed=2, missing=missing, subset=True, M=30)
    data = case.data
    free = free_coefficients(Structure(transform), 3)
    bias = np.array([[0.5, 0.2, 0.0], [0.2, 0.4, 0.1], [0.0, 0.1, 0.3]])
    precision = np.full((3, 4), 10.0)
    precision[:, 3] = np.diagonal(np.linalg.inv(bias))
    rows = np.tile(precision, (data.K, 1, 1))
    prior = common_prior(np.full((data.K, 3), 0.9), rows, bias, np.linspace(0.5, 2, data.K))
    _, stats = expectation(data, case.params)
    W, _ = noise_precision(case.params.N, data.annotator, data.answered)
    at_once = coupled_rows(data, stats, W, free, prior)
    B = prior.center.copy()
    for _ in range(300):
        rows = row_by_row(data, stats, W, B, prior, free)
        B = rows.B
    np.testing.assert_allclose(rows.B, at_once.B, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(rows.cov, at_once.cov, rtol=1e-8, atol=1e-12)


def test_noise_scales_equal_a_fine_grid():
    rng = np.random.default_rng(1)
    K = 12
    squares, numbers = rng.uniform(2, 60, size=K), rng.integers(0, 40, size=K).astype(float)
    square = rng.uniform(20, 120, size=(K, 2))
    gains = GainPull(square * rng.uniform(0.2, 1.2, size=(K, 2)), square, np.array([0.5, 1.0]))
    found = noise_scales(squares, numbers, 16.0, 1.0, 1e-6, np.ones(K), gains)
    grid = np.linspace(np.log(1e-3), np.log(1e3), 400_001)
    for k in range(K):
        value = -0.5 * ((numbers[k] + 16) * grid + (squares[k] + 16) * np.exp(-grid))
        for z, exponent in enumerate(gains.exponent):
            scale = np.exp(0.5 * exponent * grid)
            value += gains.product[k, z] * scale - 0.5 * gains.square[k, z] * scale**2
        assert np.log(found[k]) == pytest.approx(grid[np.argmax(value)], abs=1e-4)


def test_without_gains_the_noise_scale_is_the_usual_shrunken_one():
    squares, numbers = np.array([10.0, 0.0, 5.0]), np.array([4.0, 0.0, 10.0])
    found = noise_scales(squares, numbers, 6.0, np.array([1.0, 2.0, 1.0]), 0.8, np.ones(3), None)
    np.testing.assert_allclose(found, [1.6, 2.0, 0.8])


def test_a_worse_noise_scale_is_not_taken():
    gains = GainPull(np.array([[30.0]]), np.array([[30.0]]), np.array([0.5]))
    best = noise_scales(np.array([8.0]), np.array([10.0]), 1.0, 1.0, 1e-6, np.ones(1), gains)
    again = noise_scales(np.array([8.0]), np.array([10.0]), 1.0, 1.0, 1e-6, best, gains)
    np.testing.assert_allclose(again, best, rtol=1e-6)


def test_noise_as_described_equals_sums_over_every_answer():
    data, params, *_ = random_case(2, missing=0.3, subset=True, seed=8, with_cov=True)
    found = posterior(data, params)
    total = 8 * np.diagonal(params.N, axis1=1, axis2=2)
    count = np.full_like(total, 8.0)
    for n, (m, k) in enumerate(zip(data.item_of, data.annotator_of, strict=True)):
        second = np.block([[found.cov[m], np.zeros((2, 1))], [np.zeros((1, 3))]])
        mean = np.append(found.mean[m], 1.0)
        second += np.outer(mean, mean)
        for d in np.flatnonzero(data.answered[data.profile_of[n]]):
            row = np.outer(params.B[k, d], params.B[k, d]) + params.cov[k, d]
            total[k, d] += data.y[n, d] ** 2 - 2 * data.y[n, d] * params.B[k, d] @ mean + np.sum(row * second)
            count[k, d] += 1
    stats = expectation(data, params)[1]
    np.testing.assert_allclose(own_noise(data, stats, params, 8.0), total / count, rtol=1e-9)
