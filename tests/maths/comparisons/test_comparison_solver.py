"""The coupled truths: exact by component, conjugate gradients and factorised variances, against dense matrices."""

import numpy as np
import pytest

from comparison_cases import world
from reference.naive_comparisons import joint_normal
from unisono.maths.comparisons.comparison_solver import conjugate_gradients, coupling, product, solve

WORLDS = {
    "one dimension": {"M": 12, "N": 40},
    "three dimensions": {"M": 9, "N": 60, "D": 3},
    "components of several sizes": {"M": 31, "N": 60, "islands": 4, "D": 2},
    "items nobody compared": {"M": 30, "N": 8},
}


def system(case, seed=0):
    data, rng = world(seed=seed, **case).data, np.random.default_rng(seed)
    A = rng.normal(size=(data.M, data.D, data.D))
    base = A @ A.transpose(0, 2, 1) + np.eye(data.D)
    return data, base, rng.gamma(2.0, size=len(data.low)), rng.normal(size=(data.M, data.D))


@pytest.mark.parametrize("case", WORLDS.values(), ids=WORLDS)
def test_exact_by_component(case):
    data, base, weight, shift = system(case)
    mean, C = joint_normal(data, base, weight, shift)
    found = solve(coupling(data, largest=1000), base, weight, shift, np.zeros_like(shift))
    np.testing.assert_allclose(found.mean.ravel(), mean, rtol=1e-8, atol=1e-12)
    apart = C[data.low, data.low] + C[data.high, data.high] - 2 * C[data.low, data.high]
    np.testing.assert_allclose(found.apart, apart, rtol=1e-8)
    for m in range(data.M):
        at = slice(m * data.D, (m + 1) * data.D)
        np.testing.assert_allclose(found.block[m], C[at, at], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.log_det, np.linalg.slogdet(C)[1], rtol=1e-8)


@pytest.mark.parametrize("case", WORLDS.values(), ids=WORLDS)
def test_conjugate_gradients_have_the_dense_mean(case):
    data, base, weight, shift = system(case)
    mean, C = joint_normal(data, base, weight, shift)
    found = solve(coupling(data, largest=0), base, weight, shift, np.ones_like(shift))
    np.testing.assert_allclose(found.mean.ravel(), mean, rtol=1e-8, atol=1e-9)
    own = np.stack([np.linalg.inv(C)[m * data.D :][: data.D, m * data.D :][:, : data.D] for m in range(data.M)])
    np.testing.assert_allclose(found.block, np.linalg.inv(own), rtol=1e-8)
    np.testing.assert_allclose(found.log_det, -np.linalg.slogdet(own)[1].sum(), rtol=1e-8)


def test_many_columns_at_once():
    data, base, weight, _ = system({"M": 20, "N": 80, "D": 2})
    times = product(coupling(data, 0), base, weight)
    right = np.random.default_rng(1).normal(size=(data.U, 5))
    right[:, 2] = 0
    P = times(np.eye(data.U))
    found = conjugate_gradients(times, right, np.linalg.inv(base), np.zeros_like(right))
    np.testing.assert_allclose(found, np.linalg.solve(P, right), rtol=1e-8, atol=1e-9)
