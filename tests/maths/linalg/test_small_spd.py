"""Batched inverses of small matrices equal LAPACK's."""

import numpy as np
import pytest

from unisono.maths.linalg.small_spd import (
    FEW,
    LARGEST,
    inverse_and_logdet,
    logdets,
    solution_of_entries,
    solution_without_pivots,
)


@pytest.mark.parametrize("m", [FEW - 1, FEW])
@pytest.mark.parametrize("D", [1, 2, 3, 7, LARGEST, LARGEST + 1])
def test_inverse_and_log_determinant(D, m):
    rng = np.random.default_rng(D)
    root = rng.normal(size=(m, D, D + 3))
    A = root @ root.transpose(0, 2, 1)
    V, logdet = inverse_and_logdet(A)
    np.testing.assert_allclose(V, np.linalg.inv(A), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(logdet, np.linalg.slogdet(A)[1], rtol=1e-10)
    np.testing.assert_allclose(logdets(A), np.linalg.slogdet(A)[1], rtol=1e-10)


@pytest.mark.parametrize("D", [1, 2, 3, LARGEST, LARGEST + 1])
def test_solutions_of_entries_equal_lapack(D):
    rng = np.random.default_rng(D)
    root = rng.normal(size=(50, D, D + 3))
    A, b = root @ root.transpose(0, 2, 1), rng.normal(size=(50, D))
    x = solution_of_entries(np.ascontiguousarray(A.transpose(1, 2, 0)), np.ascontiguousarray(b.T))
    np.testing.assert_allclose(x.T, np.linalg.solve(A, b[:, :, None])[:, :, 0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("m", [1, FEW])
def test_an_indefinite_matrix_is_refused(m):
    with pytest.raises(np.linalg.LinAlgError):
        inverse_and_logdet(np.tile([[1.0, 2.0], [2.0, 1.0]], (m, 1, 1)))


@pytest.mark.parametrize("D", [1, 3, LARGEST, LARGEST + 1])
def test_solutions_without_pivots_equal_lapack(D):
    rng = np.random.default_rng(D)
    root = rng.normal(size=(50, D, D + 3))
    A = root @ root.transpose(0, 2, 1) * rng.uniform(0.1, 10, size=(50, D, 1))
    B = rng.normal(size=(50, D, 4))
    found = solution_without_pivots(A.transpose(1, 2, 0), B.transpose(1, 2, 0))
    np.testing.assert_allclose(found.transpose(2, 0, 1), np.linalg.solve(A, B), rtol=1e-8, atol=1e-10)
