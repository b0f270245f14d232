"""Tridiagonal in small blocks: factor, solve, inverse near the diagonal and draws against dense matrices."""

import numpy as np
import pytest

from unisono.maths.linalg.block_tridiagonal import chain_covariances, draw_chain, factor_chain, solve_chain


def random_chain(L, D, seed=0):
    """Blocks A, B (L, D, D) of a positive definite matrix, and the matrix."""
    rng = np.random.default_rng(seed)
    root = np.zeros((L * D, L * D))
    for u in range(L):
        here, before = slice(u * D, (u + 1) * D), slice(max(u - 1, 0) * D, u * D)
        root[here, here] = np.tril(rng.standard_normal((D, D))) / D + 2 * np.eye(D)
        root[here, before] = rng.standard_normal((D, before.stop - before.start)) / D
    J = root @ root.T
    blocks = J.reshape(L, D, L, D)
    u = np.arange(L)
    B = rng.standard_normal((L, D, D))  # the first one means nothing
    B[1:] = blocks[u[1:], :, u[:-1], :]
    return blocks[u, :, u, :], B, J


@pytest.mark.parametrize("D", [1, 2, 3, 9])
@pytest.mark.parametrize("L", [1, 2, 3, 20])
def test_solution_determinant_and_inverse_equal_dense(L, D):
    A, B, J = random_chain(L, D)
    chain = factor_chain(A, B)
    np.testing.assert_allclose(chain.logdet, np.linalg.slogdet(J)[1], rtol=1e-12)
    h = np.random.default_rng(1).standard_normal((3, L, D))
    expected = np.linalg.solve(J, h.reshape(3, -1).T).T.reshape(h.shape)
    np.testing.assert_allclose(solve_chain(chain, h), expected, rtol=1e-8, atol=1e-10)
    V = np.linalg.inv(J).reshape(L, D, L, D)
    got = chain_covariances(chain, 4)
    for u in range(L):
        for lag in range(4):
            expected = V[u, :, u - lag] if u >= lag else np.zeros((D, D))
            np.testing.assert_allclose(got[u, lag], expected, rtol=1e-8, atol=1e-10 * np.abs(V).max())


def test_inputs_stay_as_they_are():
    A, B, _ = random_chain(6, 2)
    before = A.copy(), B.copy()
    chain = factor_chain(A, B)
    root = chain.root.copy()
    solve_chain(chain, np.ones((1, 6, 2)))
    chain_covariances(chain, 2)
    np.testing.assert_array_equal(A, before[0])
    np.testing.assert_array_equal(B, before[1])
    np.testing.assert_array_equal(chain.root, root)


def test_draws_have_the_inverse_as_covariance():
    A, B, J = random_chain(3, 2)
    draws = draw_chain(factor_chain(A, B), 60_000, np.random.default_rng(2)).reshape(-1, 6)
    V = np.linalg.inv(J)
    np.testing.assert_allclose(np.cov(draws.T), V, atol=0.03 * np.abs(V).max())


def test_what_is_not_positive_definite_is_refused_at_its_frame():
    A, B, _ = random_chain(8, 2)
    A[5] = -A[5]
    with pytest.raises(np.linalg.LinAlgError, match="frame 5 of 8"):
        factor_chain(A, B)
