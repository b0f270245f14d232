"""Filters, lagged products and bands against loops."""

import numpy as np
import pytest

from unisono.maths.linalg.causal_filters import (
    adjoint_filter,
    causal_filter,
    from_lag_pairs,
    join_band,
    lag_pairs,
    lag_products,
    slide,
    split_band,
    windows,
)

SIZES = [(1, 1, 1, 1, 1), (2, 3, 12, 5, 4), (1, 2, 20, 5, 5), (3, 1, 8, 2, 4), (1, 4, 24, 5, 8)]  # R, D, L, n, S


def make(R, D, L, n, S):
    rng = np.random.default_rng(0)
    return rng.standard_normal((R, L, D)), rng.standard_normal((R, L, 3)), rng.standard_normal((3, n, D))


def naive_filter(a, G):
    out = np.zeros((*a.shape[:2], len(G)))
    for s in range(a.shape[1]):
        for w in range(min(G.shape[1], s + 1)):
            out[:, s] += a[:, s - w] @ G[:, w].T
    return out


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_filter_adjoint_and_lag_products_equal_loops(size):
    a, y, G = make(*size)
    n, S = size[3:]
    want = naive_filter(a, G)
    np.testing.assert_allclose(causal_filter(a, G, S), want, rtol=1e-12, atol=1e-12)
    back = adjoint_filter(y, G, S)
    np.testing.assert_allclose(np.sum(back * a), np.sum(y * want), rtol=1e-11)  # <A'y, a> = <y, A a>
    products = lag_products(y, a, n, S)
    for w in range(n):
        np.testing.assert_allclose(
            products[:, w], np.einsum("rsq,rsd->qd", y[:, w:], a[:, : a.shape[1] - w]), rtol=1e-11, atol=1e-12
        )


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_adjoint_equals_a_loop(size):
    a, y, G = make(*size)
    want = np.zeros_like(a)
    for u in range(a.shape[1]):
        for w in range(G.shape[1]):
            if u + w < a.shape[1]:
                want[:, u] += y[:, u + w] @ G[:, w]
    np.testing.assert_allclose(adjoint_filter(y, G, size[4]), want, rtol=1e-12, atol=1e-12)


def test_filters_with_few_taps_equal_loops():
    a, y, _ = make(2, 3, 24, 9, 8)
    G = np.zeros((3, 9, 3))
    G[0, 2, 1], G[1, 2, 0], G[1, 8, 2], G[2, 8] = 0.5, -1.0, 0.7, [1.0, 2.0, 3.0]
    want = naive_filter(a, G)
    np.testing.assert_allclose(causal_filter(a, G, 8), want, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.sum(adjoint_filter(y, G, 8) * a), np.sum(y * want), rtol=1e-11)
    np.testing.assert_allclose(
        adjoint_filter(y, G, 8), adjoint_filter(y, G + 1.0, 8) - adjoint_filter(y, np.ones_like(G), 8), atol=1e-12
    )


def test_windows_are_zero_before_the_clock():
    a = np.arange(1.0, 7.0).reshape(1, 6, 1)
    np.testing.assert_array_equal(windows(a, np.array([0, 4]), 3)[0, :, :, 0], [[1, 0, 0], [5, 4, 3]])


def test_slide_moves_a_range_of_frames_back():
    x = np.arange(10.0) ** 2
    got = slide(x[4:9].sum(), x[[3, 2]], x[[8, 7]])
    np.testing.assert_array_equal(got, [x[4:9].sum(), x[3:8].sum(), x[2:7].sum()])


def test_bands_go_into_blocks_and_back():
    rng = np.random.default_rng(0)
    S, D, n = 5, 2, 4
    band = rng.standard_normal((S, D, n, D))
    diagonal, left = split_band(band)
    np.testing.assert_array_equal(join_band(diagonal, left, D, n), band)
    # Frame 1, lag 3 lies in the previous block, two frames before its end; frame 3, lag 1 in the block itself.
    np.testing.assert_array_equal(left[2:4, 6:8], band[1, :, 0])
    np.testing.assert_array_equal(diagonal[6:8, 4:6], band[3, :, 2])


def test_lag_pairs_and_back():
    root = np.random.default_rng(0).standard_normal((6, 6))
    form = (root + root.T).reshape(3, 2, 3, 2)
    np.testing.assert_allclose(from_lag_pairs(lag_pairs(form, 3)), form)
    np.testing.assert_array_equal(lag_pairs(form, 4)[0, 1], form[0, :, 2, :])
