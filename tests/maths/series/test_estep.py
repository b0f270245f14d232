"""The exact E-step against the dense reference: means, covariances, likelihood, moments."""

import numpy as np
import pytest

from reference import dense_series as dense
from series_cases import CASES, Case, make_data, make_params, require_dense, structure_of
from unisono.maths.series.trace_em import deviations
from unisono.maths.series.trace_estep import draw_truth, expect, infer, posterior_mean
from unisono.maths.series.trace_layout import FIRST, FOLLOWING, make_layout


def zero(case):
    return case.start == "zero"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_means_covariances_and_likelihood_equal_the_dense_reference(case):
    data, params, structure = make_data(case), make_params(case), structure_of(case)
    layout = make_layout(data, structure)
    truth = infer(layout, data.X, params, structure)
    require_dense(truth, data, params, case)
    np.testing.assert_array_equal(posterior_mean(layout, data.X, params, structure), truth.mean)


@pytest.mark.parametrize("case", [c for c in CASES if not c.autocorrelated], ids=str)
def test_window_moments_equal_the_dense_reference(case):
    data, params, structure = make_data(case), make_params(case), structure_of(case)
    layout = make_layout(data, structure)
    moments = expect(layout, params, structure).moments
    for c, (k, d, _) in enumerate(layout.channels.channel):
        S, cross, yy = dense.second_moments(data, params, k, d, layout.n, zero_start=zero(case))
        np.testing.assert_allclose(moments.S[c], S, rtol=1e-8, atol=1e-8 * np.abs(S).max())
        np.testing.assert_allclose(moments.c[c], cross, rtol=1e-8, atol=1e-8 * np.abs(cross).max())
        np.testing.assert_allclose(moments.yy[c, c], yy, rtol=1e-10)


@pytest.mark.parametrize("case", [c for c in CASES if c.autocorrelated], ids=str)
def test_channels_that_split_a_dimension_add_up_to_it(case):
    data, params, structure = make_data(case), make_params(case), structure_of(case)
    layout = make_layout(data, structure)
    moments = expect(layout, params, structure).moments
    for k in range(case.K):
        for d in range(case.D):
            S, _, _ = dense.second_moments(data, params, k, d, layout.n, zero_start=zero(case))
            here = [c for c, q in enumerate(layout.channels.channel) if q[:2] == (k, d)]
            np.testing.assert_allclose(moments.S[here].sum(0), S, rtol=1e-8, atol=1e-8 * np.abs(S).max())
    assert {q.role for q in layout.channels.channel} == {FIRST, FOLLOWING}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_moments_of_the_truth_equal_the_dense_reference(case):
    data, params, structure = make_data(case), make_params(case), structure_of(case)
    layout = make_layout(data, structure)
    moments = expect(layout, params, structure).moments
    around = deviations(moments, layout.features, params.mu, params.theta)
    *expected, frames = dense.truth_moments(data, params, zero_start=zero(case))
    for name, want in zip(("now", "cross", "back", "first"), expected, strict=True):
        scale = np.abs(getattr(moments.aa, name)).max()
        np.testing.assert_allclose(getattr(around, name), want, rtol=1e-8, atol=1e-8 * scale)
    assert moments.frames == frames


def test_long_recordings_reach_the_fixed_point_and_nothing_changes():
    case = Case(D=2, W=5, lengths=(900,), phi=0.95)
    data, params, structure = make_data(case), make_params(case), structure_of(case)
    layout = make_layout(data, structure)
    with_jumps = expect(layout, params, structure)
    without = expect(layout, params, structure, fixed_tol=0.0)
    np.testing.assert_allclose(with_jumps.loglik, without.loglik, rtol=1e-13)
    np.testing.assert_allclose(with_jumps.moments.S, without.moments.S, rtol=1e-10)
    np.testing.assert_allclose(with_jumps.moments.aa.cross, without.moments.aa.cross, rtol=1e-10)


def test_a_fixed_point_in_each_half_when_somebody_drops_out():
    case = Case(D=1, W=4, lengths=(600,), phi=0.9)
    data, params, structure = make_data(case), make_params(case), structure_of(case)
    y = data.y.copy()
    y[300:600] = np.nan  # the first annotator stops half way
    data = data._replace(y=y)
    layout = make_layout(data, structure)
    got, want = expect(layout, params, structure), expect(layout, params, structure, fixed_tol=0.0)
    np.testing.assert_allclose(got.loglik, want.loglik, rtol=1e-13)
    np.testing.assert_allclose(got.moments.S, want.moments.S, rtol=1e-10)


def test_draws_have_the_posterior_mean_and_covariance():
    case = Case(D=2, W=3, lengths=(9,), phi=0.8, missing="dims")
    data, params, structure = make_data(case), make_params(case), structure_of(case)
    layout = make_layout(data, structure)
    draws = draw_truth(layout, params, structure, 40_000, np.random.default_rng(3))
    post = dense.posterior(data, params, 0)
    flat = draws.reshape(len(draws), -1)
    keep = slice(post.back * case.D, None)
    want = post.cov[keep, keep]
    error = 5 * np.abs(want).max() / np.sqrt(len(draws)) * 2
    np.testing.assert_allclose(flat.mean(0), post.mean[keep], atol=error)
    np.testing.assert_allclose(np.cov(flat.T), want, atol=error)


def test_recordings_nobody_rated_keep_the_prior():
    case = Case(D=2, W=2, lengths=(12, 8), phi=0.5, P=1)
    data, params, structure = make_data(case), make_params(case), structure_of(case)
    y = data.y.copy()
    y[np.repeat(data.item_of == 1, data.length[data.item_of])] = np.nan
    layout = make_layout(data._replace(y=y), structure)
    truth = infer(layout, data.X, params, structure)
    np.testing.assert_allclose(truth.mean[12:], params.mu + data.X[12:] @ params.theta)
    np.testing.assert_allclose(truth.cov[12:], np.tile(params.sigma / 0.75, (8, 1, 1)))


def test_order_of_judgements_does_not_matter():
    case = Case(D=2, W=3, lengths=(20, 14), phi=0.7, missing="dims")
    data, params, structure = make_data(case), make_params(case), structure_of(case)
    order = np.random.default_rng(5).permutation(len(data.item_of))
    offset = np.concatenate([[0], np.cumsum(data.length[data.item_of])])
    shuffled = data._replace(
        y=np.concatenate([data.y[offset[j] : offset[j + 1]] for j in order]),
        item_of=data.item_of[order],
        annotator_of=data.annotator_of[order],
    )
    first = infer(make_layout(data, structure), data.X, params, structure)
    second = infer(make_layout(shuffled, structure), data.X, params, structure)
    np.testing.assert_allclose(first.mean, second.mean, rtol=1e-12)
    np.testing.assert_allclose(first.loglik, second.loglik, rtol=1e-13)
