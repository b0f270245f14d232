"""What predicted ratings are off by: deviates of left-out annotators, and the Student's t that they make probable."""

import numpy as np
import pytest
from scipy import stats

from reference.dense_tracers import left_out_deviates
from trace_crowds import crowd, lasting, white_crowd
from unisono.fusers.trace_model import SeriesModel, with_newcomers
from unisono.maths.series import trace_priors
from unisono.maths.series.left_out_traces import SIZES, Deviates, left_out, rating_errors, stranger_to_each, student
from unisono.maths.series.trace_data import SeriesData
from unisono.maths.series.trace_em_fit import Settings
from unisono.maths.series.trace_parts import HeldParts
from unisono.maths.series.tracer_fit import fit_two_scales

RATE = 2.0


def fitted(data, **settings):
    data = data._replace(y=(data.y - np.nanmean(data.y, axis=0)) / np.nanstd(data.y, axis=0))
    return data, fit_two_scales(data, RATE, Settings(memory=trace_priors.MEMORY, **settings))


def apart(data, fit):
    return left_out(HeldParts(data), fit.params, fit.structure, fit.levels, ~np.isnan(fit.noise)).deviates


def sizes(z):
    return np.histogram(np.abs(z), SIZES)[0]


def test_deviates_of_left_out_annotators_equal_the_naive_reference():
    data, _, _ = crowd(3, K=6, lengths=(30, 24), gaps=False)
    y = data.y.copy()
    y[30 * 6 :][:24] = np.nan  # the first annotator did not rate the second recording
    data, fit = fitted(data._replace(y=y), window=0.0)
    traces = [data.y[: 30 * 6, 0].reshape(6, 30), data.y[30 * 6 :, 0].reshape(6, 24)]
    fit = fit._replace(levels=fit.levels._replace(kappa=np.zeros(1)))  # every trace as usual of its annotator
    levels, p = fit.levels, fit.params
    person = [v[:, 0] for v in (levels.gain, p.N[:, 0], levels.noise, levels.bias - p.mu, levels.bias_variance)]
    dealt = [[0, 1, 2, 0, 1, 2], [-1, 0, 1, 0, 1, 0]]
    traces = [own - p.mu for own in traces]
    dense = left_out_deviates(
        traces, dealt, person, p.sigma[0, 0] / (1 - p.phi**2), levels.prior[0, 0], p.phi, levels.lasting[0]
    )
    found = apart(data, fit)
    for kind in (0, 1):
        np.testing.assert_array_equal(found.sizes[kind, 0], sizes(dense[:, kind]))
    np.testing.assert_allclose(found.stays[:, 0], dense[:, 2:].sum(axis=0), rtol=1e-8)
    assert found.traces[:, 0].tolist() == [1, 2, 2, 2, 2, 2]


def test_a_stranger_is_the_newcomer_of_a_fit_without_the_annotator():
    data, fit = fitted(white_crowd(np.array([[0, 0], [1, 1], [2, 2], [4, 4], [0, 0]])), window=5.0)
    stranger = stranger_to_each(fit.params, fit.levels, ~np.isnan(fit.noise))
    assert len(np.unique(stranger.lag)) > 1
    for k in range(data.K):
        rest = np.arange(data.K) != k
        rows = {name: getattr(fit.params, name)[rest] for name in ("F", "b", "N", "rho", "lag")}
        own = {name: getattr(fit.levels, name)[rest] for name in ("gain", "leak", "noise", "bias", "bias_variance")}
        model = SeriesModel(
            fit.params._replace(**rows), fit.structure, fit.noise[rest], fit.extra, fit.spread, 0.0, "none",
            levels=fit.levels._replace(**own),
        )  # fmt: skip
        new = with_newcomers(model, 1)
        np.testing.assert_allclose(stranger.follows[k], new.params.F[-1].sum(axis=0), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(stranger.lag[k], new.params.lag[-1])
        level = new.params.b[-1] + new.params.F[-1].sum(axis=0) @ new.params.mu
        np.testing.assert_allclose(stranger.bias[k], level, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(stranger.bias_variance[k], new.levels.bias_variance[-1], rtol=1e-8)
        np.testing.assert_allclose(stranger.noise[k], new.noise[-1], rtol=1e-8)


def test_scale_and_tails_are_found_as_far_as_they_are_told():
    nothing = student(np.zeros(len(SIZES) - 1))
    assert nothing.scale == pytest.approx(1.0, abs=1e-3)
    assert nothing.freedom > 1000
    heavy = np.diff(stats.t(4.0).cdf(SIZES / 0.7)) * 2
    much = student(1e6 * heavy)
    assert much.scale == pytest.approx(0.7, rel=1e-3)
    assert much.freedom == pytest.approx(4.0, rel=1e-2)
    told = [student(n * heavy) for n in (10, 100, 1000)]
    assert 1.0 > told[0].scale > told[1].scale > told[2].scale > 0.7
    narrow = np.diff(stats.norm.cdf(SIZES / 0.8)) * 2
    assert student(1e6 * narrow).scale == pytest.approx(0.8, rel=1e-3)
    as_sure = 2.0 / trace_priors.WIDENING_SD**2  # ratings that say as much as is thought before
    assert student(as_sure * narrow).scale ** 2 == pytest.approx((0.8**2 + 1.0) / 2, rel=0.06)


@pytest.mark.parametrize(("freedom", "scale", "n"), [(3.0, 0.6, 300), (10.0, 1.2, 80), (2.2, 0.3, 500)])
def test_no_other_scale_and_freedom_is_more_probable(freedom, scale, n):
    rng = np.random.default_rng(0)
    weight = n * np.diff(stats.t(freedom).cdf(SIZES / scale)) * 2 * rng.uniform(0.7, 1.3, len(SIZES) - 1)
    before = 2.0 / trace_priors.WIDENING_SD**2 * np.diff(stats.norm.cdf(SIZES)) * 2

    def probability(scale, tail):
        inside = np.diff(stats.t(1.0 / tail).cdf(SIZES / scale)) * 2
        return (weight + before) @ np.log(np.maximum(inside, 1e-300))

    found = student(weight)
    best = probability(found.scale, 1.0 / found.freedom)
    around = [0.8, 0.9, 0.97, 1.03, 1.1, 1.25]
    for other in [(a, b) for a in around for b in [1.0, *around]] + [(1.0, b) for b in around]:
        tail = other[1] / found.freedom
        assert tail > 0.5 or probability(found.scale * other[0], tail) < best


def test_last_digits_decide_nothing():
    rng = np.random.default_rng(1)
    weight = 100 * np.diff(stats.t(5.0).cdf(SIZES / 0.8)) * 2 * rng.uniform(0.7, 1.3, len(SIZES) - 1)
    for _ in range(10):
        other = weight * (1.0 + 1e-14 * rng.standard_normal(len(weight)))
        np.testing.assert_allclose(student(other), student(weight), rtol=1e-10)


@pytest.mark.parametrize(("stays", "counts"), [(0.0, 40.0), (1.0, 4.0)])
def test_ratings_that_share_a_level_count_once(stays, counts):
    """Four traces of 100 ratings, ten of them independent: forty strangers' ratings, or four where levels decide."""
    half = np.diff(stats.norm.cdf(SIZES / 0.5)) * 2
    kappa = 0.1 * trace_priors.EVIDENCE / trace_priors.INDEPENDENT
    for people, once in ((4, counts), (1, counts if stays == 0.0 else 1.0)):
        traces = np.zeros((4, 1))
        traces[:people] = 4 / people
        found = Deviates(np.tile(400 * half, (2, 1, 1)), 400 * np.full((2, 1), stays), traces)
        told = rating_errors(found, np.array([kappa]))
        np.testing.assert_allclose(told.seen, student(40.0 * half), rtol=1e-8)
        np.testing.assert_allclose(told.unseen, student(once * half), rtol=1e-8)


def test_annotators_who_hold_and_jump_have_heavy_tails():
    rng = np.random.default_rng(0)
    M, K, T = 4, 6, 600
    y = np.zeros((M, K, T))
    for m in range(M):
        truth = lasting(rng, T, 40.0)
        for k in range(K):
            burst = (rng.random(T // 20) < 0.1).repeat(20)  # seldom, and then far off
            y[m, k] = truth + 0.3 * rng.standard_normal(T) + 3.0 * burst * rng.standard_normal(T // 20).repeat(20)
    data = SeriesData(
        y.reshape(-1, 1), np.repeat(np.arange(M), K), np.tile(np.arange(K), M), np.full(M, T), np.zeros((M * T, 0)), K
    )
    _, heavy = fitted(data, window=0.0)
    _, usual = fitted(crowd(1, K=6, lengths=(200, 200, 200), gaps=False)[0], window=0.0)
    assert heavy.rating_errors.seen.freedom < 4.0 < usual.rating_errors.seen.freedom
    assert heavy.rating_errors.seen.scale < 0.8
