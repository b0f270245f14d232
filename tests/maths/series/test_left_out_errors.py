"""Bands of traces: what left-out annotators say of courses, unknown biases and delays, what annotators do alike."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from reference.dense_tracers import left_out_products as dense_products
from trace_crowds import crowd, lasting, white_crowd
from unisono.maths.series import trace_priors
from unisono.maths.series.error_bands import shift_variance, slope
from unisono.maths.series.left_out_traces import course_widening, folds, left_out
from unisono.maths.series.trace_data import SeriesData
from unisono.maths.series.trace_em_fit import Settings
from unisono.maths.series.trace_parts import HeldParts
from unisono.maths.series.trace_truth import bias_doubt, level_posterior, two_scale_truth
from unisono.maths.series.tracer_fit import fit_two_scales

RATE = 2.0
STUDENT_5 = (stats.t.ppf(0.95, 5) / stats.norm.ppf(0.95)) ** 2  # half widths of 90 % intervals, six annotators


def fitted(data, **settings):
    y = (data.y - np.nanmean(data.y, axis=0)) / np.nanstd(data.y, axis=0)
    data = data._replace(y=y)
    return data, fit_two_scales(data, RATE, Settings(memory=trace_priors.MEMORY, window=0.0, **settings))


def products(data, fit):
    return left_out(HeldParts(data), fit.params, fit.structure, fit.levels, ~np.isnan(fit.noise)).products


def test_products_of_left_out_annotators_equal_the_naive_reference():
    data, _, _ = crowd(3, K=6, lengths=(30, 24), turned=(1,), gaps=False)
    y = data.y.copy()
    y[30 * 6 :][:24] = np.nan  # the first annotator did not rate the second recording
    data, fit = fitted(data._replace(y=y))
    fit = fit._replace(levels=fit.levels._replace(kappa=np.zeros(1)))  # every trace as usual of its annotator
    gain = np.diagonal(fit.params.F.sum(axis=1), axis1=1, axis2=2)[:, 0]
    traces = [data.y[: 30 * 6, 0].reshape(6, 30), data.y[30 * 6 :, 0].reshape(6, 24)]
    courses = [own - own.mean(axis=1, keepdims=True) for own in traces]
    dealt = [[0, 1, 2, 0, 1, 2], [-1, 0, 1, 0, 1, 0]]
    A = fit.params.sigma[0, 0] / (1.0 - fit.params.phi**2)
    dense = dense_products(courses, dealt, gain, fit.params.N[:, 0, 0], A, fit.params.phi, fit.levels.lasting[0])
    np.testing.assert_allclose(np.concatenate(products(data, fit)), dense, rtol=1e-8)


def test_folds_leave_somebody_and_take_nobody_alone():
    data, _, _ = crowd(K=5)
    rated = np.ones(len(data.item_of), dtype=bool)
    rated[5:8] = False  # two annotators are left in the second recording
    found = folds(data, rated, np.arange(5))
    assert found.tolist() == [0, 1, 0, 1, 0, -1, -1, -1, -1, -1, 0, 1, 0, 1, 0]
    shuffled = data._replace(annotator_of=data.annotator_of[::-1])
    assert folds(shuffled, rated, np.array([3, 4, 0, 1, 2]))[:5].tolist() == [0, 1, 0, 0, 1]


def fast_crowd(seed, memory, K=6, T=500, M=3):
    """Errors that last for 4 s; a truth with the memory given, in seconds."""
    rng = np.random.default_rng(seed)
    y, truth = np.zeros((M, K, T)), np.zeros((M, T))
    for m in range(M):
        truth[m] = lasting(rng, T, memory * RATE)
        y[m] = [truth[m] + 0.6 * lasting(rng, T, 4.0 * RATE) + 0.2 * rng.standard_normal(T) for _ in range(K)]
    data = SeriesData(
        y.reshape(-1, 1), np.repeat(np.arange(M), K), np.tile(np.arange(K), M), np.full(M, T), np.zeros((M * T, 0)), K
    )
    return data, truth.ravel()


def test_left_out_annotators_know_the_error_of_the_course():
    """The truth moves faster than the smoother believes: no residual shows it, two annotators who were left out do."""
    ratio, error, nominal, widening = [], [], [], []
    for seed in range(5):
        raw, truth = fast_crowd(seed, memory=6.0)
        data, fit = fitted(raw)
        found = products(data, fit)
        ratio.append(found.found[0] / found.expected[0])
        plain = fit.levels._replace(widening=np.ones(1))
        fused = two_scale_truth(data, fit.params, fit.structure, plain, fit.spread)
        scaled = (truth - np.concatenate([np.full(500, part.mean()) for part in truth.reshape(3, -1)])) / np.std(raw.y)
        error.append(np.mean((fused.course[:, 0] - scaled) ** 2))
        nominal.append(fused.inside.mean())
        widening.append(fit.levels.widening[0])
    actual = np.mean(error) / np.mean(nominal)
    assert actual > 1.3
    assert np.mean(ratio) == pytest.approx(actual, rel=0.15)
    assert np.mean(widening) > trace_priors.USUAL_WIDENING + 0.05


def test_the_band_is_widened_by_as_much_as_is_told():
    data, fit = fitted(crowd(1, K=6, gaps=False)[0])
    told = products(data, fit)
    assert course_widening(told, np.zeros(1)) == pytest.approx(trace_priors.USUAL_WIDENING)
    assert course_widening(told, np.full(1, 1e9)) == pytest.approx(max(told.found[0] / told.expected[0], 1.0), rel=1e-4)
    twice = fit.levels._replace(widening=2.0 * fit.levels.widening)
    wide = two_scale_truth(data, fit.params, fit.structure, twice, fit.spread)
    np.testing.assert_allclose(wide.cov[:, 0, 0] - fit.cov[:, 0, 0], 0.5 * wide.inside[:, 0], rtol=1e-8)


def test_unknown_biases_make_levels_uncertain():
    data, fit = fitted(crowd(4)[0])
    truth = two_scale_truth(data, fit.params, fit.structure, fit.levels, fit.spread)
    L, V, _ = level_posterior(data, truth.level, fit.levels)
    naive = np.zeros(3)
    for j, (m, k) in enumerate(zip(data.item_of, data.annotator_of, strict=True)):
        if not np.isnan(truth.level[j, 0]):
            moved = fit.levels._replace(bias=fit.levels.bias + np.eye(data.K)[k][:, None])
            naive[m] += ((level_posterior(data, truth.level, moved)[0] - L)[m, 0]) ** 2 * fit.levels.bias_variance[k, 0]
    assert naive.min() > 0
    np.testing.assert_allclose(bias_doubt(data, truth.level, fit.levels, V)[:, 0, 0], naive, rtol=1e-8)


def test_a_delay_that_is_not_known_matters_beside_a_step_as_well():
    length, sd = np.array([200, 50]), np.array([3.0, 0.0])
    line = np.concatenate([0.2 * np.arange(200), -0.5 * np.arange(50)])[:, None].repeat(2, axis=1)
    found = shift_variance(line, length, sd)
    inside = np.r_[30:170, 220:230]
    np.testing.assert_allclose(found[inside, 0], 9.0 * slope(line, length)[inside, 0] ** 2, rtol=1e-8)
    assert not found[:, 1].any()
    step = (np.arange(200) >= 100).astype(float)[:, None]
    beside = shift_variance(step, np.array([200]), np.array([5.0]))[:, 0]
    assert beside[97] > 0.1
    assert beside[103] > 0.1
    assert beside[50] == 0.0


def test_what_all_annotators_do_alike_is_in_the_band_unless_it_is_said():
    data, usual = fitted(crowd(1, K=6, gaps=False)[0])
    _, timed = fitted(data, lag=0.0)
    _, told = fitted(data, lag=0.0, shared=0.0)
    np.testing.assert_allclose(usual.spread.lag - timed.spread.lag, (trace_priors.COMMON_DELAY_SD * RATE) ** 2)
    more = np.diagonal(timed.cov - told.cov, axis1=1, axis2=2)
    between = told.spread.gain * 6 / STUDENT_5  # six annotators: what their mean is off by, Student's factor taken out
    np.testing.assert_allclose(
        more, trace_priors.COMMON_UNIT * between * (timed.mean - timed.params.mu) ** 2, rtol=1e-8
    )
    _, fifth = fitted(data, lag=0.0, shared=0.2)
    noise = np.median(fifth.noise[:, 0])
    np.testing.assert_allclose(fifth.spread.bias - told.spread.bias, 0.25 * noise, rtol=1e-8)


def test_a_unit_is_as_doubtful_as_annotators_make_it():
    """Annotators of one unit make the band narrower than annotators who have one each."""
    doubt = np.zeros((2, 3))
    for (i, gain_sd), seed in product(enumerate((0.0, 0.8)), range(3)):
        data = crowd(seed + 2, K=6, gaps=False, gain_sd=gain_sd)[0]
        _, usual = fitted(data, lag=0.0)
        _, told = fitted(data, lag=0.0, shared=0.0)
        doubt[i, seed] = (usual.spread.gain - told.spread.gain)[0]
    assert (doubt > 0).all()
    assert doubt[1].mean() > 2.0 * doubt[0].mean()


def test_the_level_of_six_may_be_off_by_what_they_show():
    """The prior of biases would draw a large spread to a small one; a mean of six needs the spread as it is."""
    data = white_crowd(np.zeros((6, 2), dtype=int), K=6)
    own = np.array([-2.0, 2.0, 1.0, -1.0, 3.0, -3.0])
    data = data._replace(y=data.y + np.repeat(own[data.annotator_of], data.length[data.item_of])[:, None])
    data, fit = fitted(data, lag=0.0, shared=0.0)
    levels = two_scale_truth(data, fit.params, fit.structure, fit.levels, fit.spread).level
    means = np.array([levels[data.annotator_of == k].mean(axis=0) for k in range(6)])
    np.testing.assert_allclose(fit.spread.bias, means.var(axis=0, ddof=1) / 6 * STUDENT_5, rtol=0.1)


def test_the_doubt_about_the_unit_is_what_annotators_show_and_not_what_was_expected():
    found = []
    for spread in (0.0, 0.8):
        data = white_crowd(np.zeros((6, 2), dtype=int), K=6)
        scale = np.exp(spread * np.linspace(-1.0, 1.0, 6))[data.annotator_of]
        scaled = data._replace(y=data.y * np.repeat(scale, data.length[data.item_of])[:, None])
        _, fit = fitted(scaled, lag=0.0, shared=0.0)
        found.append((fit.spread.gain[0] * 6 / STUDENT_5, np.log(fit.levels.gain[:, 0]).var()))
    assert found[0][0] < 0.1 * trace_priors.GAIN_SD**2
    assert found[1][1] < found[1][0] < 2.0 * found[1][1]
