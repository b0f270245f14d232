"""What each trace counts for: errors of traces have Student's t, courses and levels by themselves."""

from itertools import product

import numpy as np
import pytest

from reference.dense_tracers import student_traces
from unisono.fusers.trace_model import log_density, model_of
from unisono.maths.series import trace_priors
from unisono.maths.series.trace_data import SeriesData, SeriesParams, lag_kernel
from unisono.maths.series.trace_em_fit import Settings
from unisono.maths.series.trace_parts import HeldParts
from unisono.maths.series.trace_truth import Levels, draw_two_scales, two_scale_mean, two_scale_truth
from unisono.maths.series.trace_weights import OCTAVES, part_bounds, trace_weights
from unisono.maths.series.tracer_fit import fit_two_scales

RATE = 2.0


def asked(lag=(0, 0, 0, 0, 0)):
    """Five annotators of three recordings on two dimensions, with gaps, known gains and noise."""
    rng = np.random.default_rng(1)
    K, D, T = len(lag), 2, 12
    y = rng.standard_normal((3, K, T, D)) + np.cumsum(rng.standard_normal((3, 1, T, D)), axis=2)
    y[0, 1, 3:7, 0] = y[2, 4, :, 1] = np.nan
    y[1, 1:, :, 0] = np.nan  # one annotator alone
    gain, noise = rng.uniform(0.5, 1.5, (K, D)), rng.uniform(0.3, 1.5, (K, D))
    gain[3, 0] = -gain[3, 0]
    F = np.zeros((K, 4, D, D))
    for k, d in np.ndindex(K, D):
        F[k, :, d] = np.outer(lag_kernel(float(lag[k]), 4), gain[k, d] * np.eye(D)[d])
    params = SeriesParams(
        F, np.zeros((K, D)), noise[:, :, None] * np.eye(D), np.zeros((K, D)), np.tile(np.array(lag)[:, None], (1, D)),
        np.zeros(D), np.zeros((0, D)), 0.19 * np.array([[1.0, 0.3], [0.3, 2.0]]), 0.9,
    )  # fmt: skip
    nothing = np.zeros((K, D, D)), noise, np.zeros((K, D)), np.zeros((K, D)), np.eye(D), np.ones(D), np.ones(D)
    data = SeriesData(
        y.reshape(-1, D), np.repeat(np.arange(3), K), np.tile(np.arange(K), 3), np.full(3, T), np.zeros((3 * T, 0)), K
    )
    return y, data, params, Levels(gain, *nothing, kappa=np.array([0.4, 0.8]), freedom=np.array([4.0, 7.0]))


@pytest.mark.parametrize("lag", [(0, 0, 0, 0, 0), (0, 2, 1, 3, 0)])
def test_weights_of_traces_equal_the_dense_reference_and_never_lower_the_bound(lag):
    y, data, params, levels = asked(lag)
    found = trace_weights(data, params, levels.kappa, levels.freedom).reshape(3, 5, 2)
    for m, d in np.ndindex(3, 2):
        own = (levels.gain[:, d], params.N[:, d, d], params.sigma[d, d] / (1.0 - params.phi**2))
        dense, bound = student_traces(y[m, :, :, d], lag, *own, levels.kappa[d], levels.freedom[d])
        assert (np.diff(bound) > -1e-10).all()
        rated = ~np.isnan(y[m, :, :, d]).all(axis=1)
        expected = np.where(rated & (rated.sum() > 1), dense, 1.0)  # nobody differs from an annotator who is alone
        np.testing.assert_allclose(found[m, :, d], expected, rtol=1e-8)


def test_the_evidence_on_the_degrees_of_freedom_equals_the_dense_bound():
    y, data, params, levels = asked()
    found = np.sum(HeldParts(data).map(part_bounds, params, levels.kappa), axis=0)
    for d in range(2):
        dense = np.zeros(len(OCTAVES))
        for m, (i, nu) in product(range(3), enumerate(OCTAVES)):
            if (~np.isnan(y[m, :, :, d]).all(axis=1)).sum() > 1:
                own = levels.gain[:, d], params.N[:, d, d], params.sigma[d, d] / (1.0 - params.phi**2), levels.kappa[d]
                dense[i] += student_traces(y[m, :, :, d], (0, 0, 0, 0, 0), *own, nu)[1][-1]
        np.testing.assert_allclose(found[d] - found[d, 0], dense - dense[0], rtol=1e-7, atol=1e-7)


def careless(seed, level=0.0, times=4.0):
    """Six annotators of six recordings, everybody with much greater errors in one of them; and the truth."""
    rng = np.random.default_rng(seed)
    K = M = 6
    T, size = 200, np.ones((M, K, 1))
    size[range(M), range(K)] = times

    def lasting(shape, seconds):
        x = np.cumsum(rng.standard_normal((*shape, T + 8)), axis=-1)
        kernel = np.ones(int(seconds * RATE)) / (seconds * RATE)
        x = np.apply_along_axis(lambda v: np.convolve(np.diff(v, prepend=0), kernel, "same"), -1, x)[..., 4:-4]
        return (x - x.mean(axis=-1, keepdims=True)) / x.std(axis=-1, keepdims=True)

    truth = 0.8 * lasting((M,), 10.0) + rng.standard_normal((M, 1))
    y = truth[:, None] + 0.5 * size * lasting((M, K), 4.0) + 0.3 * rng.standard_normal((M, K, 1))
    y[range(M), range(K)] += level * np.array([1, -1, 1, -1, 1, -1])[:, None]
    data = SeriesData(
        y.reshape(-1, 1), np.repeat(np.arange(M), K), np.tile(np.arange(K), M), np.full(M, T), np.zeros((M * T, 0)), K
    )
    scale = float(y.std())
    return data._replace(y=(data.y - y.mean()) / scale), (truth.ravel() - y.mean()) / scale


def fitted(data):
    return fit_two_scales(data, RATE, Settings(memory=trace_priors.MEMORY, window=0.0))


def test_who_is_careless_in_one_recording_counts_for_less_there_and_nowhere_else():
    gone = []
    for seed in range(3):
        data, truth = careless(seed)
        fit = fitted(data)
        weight = trace_weights(data, fit.params, fit.levels.kappa, fit.levels.freedom)[:, 0].reshape(6, 6)
        assert np.diagonal(weight).max() < 0.6
        assert np.median(weight[~np.eye(6, dtype=bool)]) > 0.95
        alike = fit.levels._replace(kappa=np.zeros(1))
        plain = two_scale_truth(data, fit.params, fit.structure, alike, fit.spread).mean[:, 0]
        inside = [(x - truth).reshape(6, -1) for x in (fit.mean[:, 0], plain)]
        gone.append([np.mean((x - x.mean(axis=1, keepdims=True)) ** 2) for x in inside])
    error, before = np.mean(gone, axis=0)
    assert error < 0.75 * before


def test_a_level_far_off_in_one_recording_counts_for_less():
    gone = []
    for seed in range(3):
        data, truth = careless(seed, level=4.0, times=1.0)
        fit = fitted(data)
        alike = fit.levels._replace(kappa=np.zeros(1))
        plain = two_scale_truth(data, fit.params, fit.structure, alike, fit.spread).mean[:, 0]
        gone.append([np.mean((x - truth).reshape(6, -1).mean(axis=1) ** 2) for x in (fit.mean[:, 0], plain)])
    error, before = np.mean(gone, axis=0)
    assert error < 0.85 * before


def test_degrees_of_freedom_are_fewer_where_care_differs_between_recordings():
    care, alike = (
        np.mean([fitted(careless(seed, times=t)[0]).levels.freedom for seed in range(2)]) for t in (4.0, 1.0)
    )
    assert care < 0.6 * alike


def test_means_draws_and_density_know_the_same_weights():
    data, _ = careless(0)
    fit = fitted(data)
    words = data, fit.params, fit.structure, fit.levels
    whole = two_scale_truth(*words, fit.spread)
    np.testing.assert_allclose(two_scale_mean(*words), whole.mean, atol=1e-10)
    drawn = draw_two_scales(*words, 400, np.random.default_rng(0))
    assert np.abs(drawn.mean(axis=0) - whole.mean).max() < 6.0 * drawn.std(axis=0).max() / 20.0
    model = model_of(fit)
    older = model._replace(levels=fit.levels._replace(kappa=np.zeros(1)))
    assert log_density(model, data) == log_density(older, data)
