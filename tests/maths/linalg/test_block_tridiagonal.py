"""Block tridiagonal algebra against dense matrices."""

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from unisono.maths.linalg.block_tridiagonal import Blocks, draw, factor, selected_inverse, solve

KINDS = [np.array([0]), np.array([0, 1, 2]), np.repeat([0, 1, 2, 1], [1, 60, 1, 50]), np.arange(3).repeat(40)]


def make_blocks(kind, B=4, seed=0, sign=1.0):
    rng = np.random.default_rng(seed)
    left = rng.standard_normal((3, B, B)) * 0.4
    root = rng.standard_normal((3, B, B))
    diagonal = sign * (root @ np.swapaxes(root, 1, 2) + 4 * np.eye(B))
    for array in (left, diagonal):
        array.setflags(write=False)
    return Blocks(lambda i: (diagonal[i], left[i]), kind)


def dense_of(blocks):
    B, nb = 4, len(blocks.kind)
    out = np.zeros((nb * B, nb * B))
    for i, kind in enumerate(blocks.kind):
        here = slice(i * B, (i + 1) * B)
        diagonal, left = blocks.row(kind)
        out[here, here] = diagonal
        if i:
            before = slice((i - 1) * B, i * B)
            out[here, before] = left
            out[before, here] = left.T
    return out


@pytest.mark.parametrize("kind", KINDS, ids=len)
@pytest.mark.parametrize("tol", [0.0, 1e-13])
def test_factor_solve_and_inverse_equal_dense(kind, tol):
    blocks = make_blocks(kind)
    dense = dense_of(blocks)
    found = factor(blocks, fixed_tol=tol)
    np.testing.assert_allclose(found.logdet, np.linalg.slogdet(dense)[1], rtol=1e-12)
    h = np.random.default_rng(1).standard_normal((len(kind), 3, 4))
    want = np.linalg.solve(dense, np.swapaxes(h, 1, 2).reshape(-1, 3)).reshape(len(kind), 4, 3)
    np.testing.assert_allclose(solve(found, h), np.swapaxes(want, 1, 2), rtol=1e-9, atol=1e-11)
    inverse = np.linalg.inv(dense)
    seen = np.zeros(len(kind), dtype=int)
    for part in selected_inverse(found, fixed_tol=tol):
        for i in range(part.lo, part.hi + 1):
            seen[i] += 1
            here = slice(4 * i, 4 * i + 4)
            np.testing.assert_allclose(part.Z, inverse[here, here], rtol=1e-9, atol=1e-11)
            if i:
                np.testing.assert_allclose(part.left, inverse[here, 4 * i - 4 : 4 * i], rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(seen, 1)


def test_runs_are_jumped_over():
    blocks = make_blocks(KINDS[2])
    assert len(factor(blocks).U) < 60
    assert len(list(selected_inverse(factor(blocks)))) < 80
    assert len(factor(blocks, fixed_tol=0.0).U) == len(blocks.kind)


def test_draws_have_the_inverse_as_covariance():
    blocks = make_blocks(np.array([0, 1, 1]))
    want = np.linalg.inv(dense_of(blocks))
    got = draw(factor(blocks), 60_000, np.random.default_rng(2))
    flat = np.swapaxes(got, 0, 1).reshape(60_000, -1)
    np.testing.assert_allclose(np.cov(flat.T), want, atol=5 * np.abs(want).max() * np.sqrt(2 / 60_000))


def test_inputs_stay_untouched():
    blocks = make_blocks(KINDS[2])
    h = np.ones((len(blocks.kind), 1, 4))
    found = factor(blocks)
    solve(found, h)
    list(selected_inverse(found))
    np.testing.assert_array_equal(h, 1.0)


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(LinAlgError, match="positive definite"):
        factor(make_blocks(np.array([0, 1]), sign=-1.0))
