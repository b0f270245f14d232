"""Traces with one delay per row: the chain of frames against the dense reference, and against the algebra of blocks."""

import numpy as np
import pytest

from reference import dense_series as dense
from series_cases import Case, delayed_params, make_data, require_dense, structure_of
from unisono.maths.linalg.block_tridiagonal import Chain, Factor
from unisono.maths.series.trace_em import deviations
from unisono.maths.series.trace_estep import draw_truth, expect, group_posterior, infer, log_likelihood, posterior_mean
from unisono.maths.series.trace_layout import make_layout, whiten

CASES = [
    Case(D=1, W=5, lengths=(1,), phi=0.0),
    Case(D=2, W=8, lengths=(31,), phi=0.9, missing="frames"),
    Case(D=3, W=5, lengths=(23, 9, 23), phi=0.5, missing="dims"),
    Case(D=2, W=20, lengths=(70, 70), phi=0.99, missing="run"),
    Case(D=2, W=20, lengths=(7, 12), phi=0.4),
    Case(D=1, W=20, lengths=(64,), phi=-0.3, missing="dims", start="zero"),
    Case(D=2, W=5, lengths=(41, 33, 41), phi=0.7, missing="annotator", start="zero", P=3),
    Case(D=2, W=4, lengths=(37, 37), phi=0.9, autocorrelated=True),
    Case(D=2, W=6, lengths=(26, 11), phi=0.9, missing="dims", autocorrelated=True, P=1),
]


def setting(case, between=False):
    data, structure = make_data(case), structure_of(case, transform="delay")
    return data, delayed_params(case, between), structure, make_layout(data, structure)


def factor_of(layout, params, structure):
    whitened = whiten(layout.channels, params, structure)
    return group_posterior(layout, layout.groups[0], params, whitened, structure).factor


@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_chains_equal_the_dense_reference(case, between):
    data, params, structure, layout = setting(case, between)
    # A delay between two frames and noise that lasts reach over three frames: no chain, and the same answer.
    chained = not (between and case.autocorrelated)
    assert isinstance(factor_of(layout, params, structure), Chain if chained else Factor)
    truth = infer(layout, data.X, params, structure)
    np.testing.assert_array_equal(posterior_mean(layout, data.X, params, structure), truth.mean)
    total = require_dense(truth, data, params, case)
    np.testing.assert_allclose(log_likelihood(layout, params, structure), total, rtol=1e-10)


@pytest.mark.parametrize("covariances", [True, False])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_moments_of_a_chain_equal_those_of_the_blocks(case, covariances):
    _, params, structure, layout = setting(case)
    got = expect(layout, params, structure, covariances=covariances).moments
    blocks = structure._replace(transform="taps")
    assert isinstance(factor_of(layout, params, blocks), Factor)
    want = expect(layout, params, blocks, covariances=covariances).moments
    for name in ("c", "yy", "n", "frames"):
        np.testing.assert_allclose(getattr(got, name), getattr(want, name), rtol=1e-9, atol=1e-9)
    for name, ours, theirs in zip(got.aa._fields, got.aa, want.aa, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.parametrize("case", CASES[1:4], ids=str)
def test_moments_of_the_truth_equal_the_dense_reference_in_a_chain(case):
    data, params, structure, layout = setting(case)
    moments = expect(layout, params, structure).moments
    around = deviations(moments, layout.features, params.mu, params.theta)
    *expected, frames = dense.truth_moments(data, params, zero_start=False)
    for name, want in zip(("now", "cross", "back", "first"), expected, strict=True):
        np.testing.assert_allclose(getattr(around, name), want, rtol=1e-8, atol=1e-8 * np.abs(want).max())
    assert moments.frames == frames


def test_draws_from_a_chain_have_the_posterior_mean_and_covariance():
    case = Case(D=2, W=3, lengths=(9,), phi=0.8, missing="dims")
    data, params, structure, layout = setting(case)
    draws = draw_truth(layout, params, structure, 40_000, np.random.default_rng(3))
    post = dense.posterior(data, params, 0)
    flat, keep = draws.reshape(len(draws), -1), slice(post.back * case.D, None)
    want = post.cov[keep, keep]
    error = 10 * np.abs(want).max() / np.sqrt(len(draws))
    np.testing.assert_allclose(flat.mean(0), post.mean[keep], atol=error)
    np.testing.assert_allclose(np.cov(flat.T), want, atol=error)


def test_a_long_film_of_slow_truths_keeps_its_digits():
    """Hours of memory and hardly a rating: the inverse is a small difference of large numbers."""
    case = Case(D=2, W=3, lengths=(600,), phi=0.99999, missing="run")
    data, params, structure, layout = setting(case)
    params = params._replace(sigma=params.sigma * 1e-6)
    got, want = (infer(layout, data.X, params, s) for s in (structure, structure._replace(transform="taps")))
    np.testing.assert_allclose(got.cov, want.cov, rtol=1e-8)
    np.testing.assert_allclose(got.mean, want.mean, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(got.loglik, want.loglik, rtol=1e-10)
