"""Leakage between the dimensions of traces: its objective, its steps, and what the truth makes of it."""

import numpy as np
import pytest
from scipy.stats import norm

from reference.dense_tracers import dense_leaking_course, log_joint
from trace_crowds import crowd, lasting
from unisono.maths.series import trace_priors
from unisono.maths.series.left_out_traces import left_out
from unisono.maths.series.trace_data import SeriesData
from unisono.maths.series.trace_em_fit import Settings
from unisono.maths.series.trace_frames import Hands, placed
from unisono.maths.series.trace_leakage import leakages, nobody_leaks, objective, said
from unisono.maths.series.trace_parts import HeldParts, two_scales
from unisono.maths.series.trace_truth import level_posterior, rescaled_levels, two_scale_truth
from unisono.maths.series.trace_weights import trace_weights
from unisono.maths.series.tracer_climb import sweep
from unisono.maths.series.tracer_fit import fit_two_scales
from unisono.maths.series.tracer_rows import first_tracers, hands_of

RATE, KAPPA = 2.0, 0.05
LAG = np.array([2, 0, 1, 3, 0])
CORRELATION = np.array([[1.0, 0.4, -0.2], [0.4, 1.0, 0.1], [-0.2, 0.1, 1.0]])
LEAK = np.array([0.5, -0.4, 0.1, 0.3, -0.3, -0.2])


def leaking(seed, leak, K=6, T=300, M=4):
    """Two dimensions of alike annotators who leak by leak (K,) from the second into the first."""
    rng, y = np.random.default_rng(seed), []
    for _ in range(M):
        a = np.stack([lasting(rng, T, 15.0), lasting(rng, T, 15.0)], axis=1) + rng.standard_normal(2)
        for k in range(K):
            error = 0.3 * np.stack([lasting(rng, T, 3.0), lasting(rng, T, 3.0)], axis=1)
            y.append(a + leak[k] * np.stack([a[:, 1], np.zeros(T)], axis=1) + error)
    item_of, annotator_of = np.repeat(np.arange(M), K), np.tile(np.arange(K), M)
    return SeriesData(np.concatenate(y), item_of, annotator_of, np.full(M, T), np.zeros((M * T, 0)), K)


@pytest.fixture
def heard():
    """Three dimensions with gaps, a reversed hand, delays and an annotator who is flat on one of them."""
    worlds = [crowd(seed, turned=(1,), gaps=seed != 1)[0] for seed in range(3)]
    y = np.concatenate([one.y for one in worlds], axis=1)
    y[np.repeat(worlds[0].annotator_of, worlds[0].length[worlds[0].item_of]) == 4, 2] = 1.0
    data = worlds[0]._replace(y=y)
    parts, ones = HeldParts(data, rows=300), np.ones(data.K)
    scales = two_scales(parts, data.K, 3)
    places = placed(parts, tuple(Hands(one.unit, one.flat, LAG, ones, ones, 1.0) for one in scales))
    tracers = [first_tracers(one, place) for one, place in zip(scales, places, strict=True)]
    for _ in range(3):
        tracers = [sweep(s, p, KAPPA, now) for s, p, now in zip(scales, places, tracers, strict=True)]
    hands = tuple(hands_of(one, now, LAG) for one, now in zip(scales, tracers, strict=True))
    return data, scales, tracers, said(parts, scales, tracers, hands, KAPPA, CORRELATION)


def some_leakage(tracers, heard, seed, variance):
    """Leakage of everybody who moves, and biases and noise that are not those the rows were found with."""
    rng, n, now = np.random.default_rng(seed), len(heard.row.gain), nobody_leaks(tracers)
    share = 0.2 * rng.standard_normal((n, 3)) * heard.row.moving[:, None]
    share[np.arange(n), np.repeat(np.arange(3), n // 3)] = 0.0
    return now._replace(
        share=share,
        known=0.01 * (share != 0),
        variance=variance,
        bias=now.bias + 0.3 * rng.standard_normal(n),
        beta=now.beta + 0.3 * rng.standard_normal(n) * heard.row.moving,
        eta=now.eta * np.exp(0.3 * rng.standard_normal(3)),
        tau2=now.tau2 * np.exp(0.3 * rng.standard_normal(3)),
    )


def with_rows_of(tracers, now):
    """The annotators of every dimension with these biases and noise."""
    bias, beta = now.bias.reshape(len(tracers), -1), now.beta.reshape(len(tracers), -1)
    return [
        one._replace(bias=bias[d], beta=beta[d], eta=float(now.eta[d]), tau2=float(now.tau2[d]))
        for d, one in enumerate(tracers)
    ]


def test_the_objective_of_leakage_equals_dense_densities(heard):
    data, scales, tracers, told = heard

    def dense(now):
        leak, rows = np.swapaxes(now.share.reshape(3, data.K, 3), 0, 1), with_rows_of(tracers, now)
        total, A = log_joint(data, scales, rows, LAG, leak, KAPPA, CORRELATION), told.A
        for one, row, own in zip(scales, rows, tracers, strict=True):
            for k in np.flatnonzero(one.levelled):
                spread = row.bias_variance[k] / row.tau2  # of what is known of the bias
                held = own.bias_weight[k]  # that the origin is none of their own
                total += held * (norm(0.0, np.sqrt(row.tau2)).logpdf(row.bias[k]) - 0.5 * spread)
                if one.moving[k]:
                    kinds = own.prior.weigh(own.square[k])[1]  # held
                    d = np.array([row.alpha[k], row.beta[k]]) - row.prior.mean
                    total -= 0.5 * d @ np.einsum("s,sde->de", kinds, row.prior.precision) @ d
            for value, usual in [(row.eta, 1.0), (row.tau2, trace_priors.BIAS_VARIANCE)]:
                total -= 0.5 * 4 * (np.log(value) + usual / value)  # four imaginary levels, four biases
        unit = [np.exp(own.alpha) for own in tracers]
        squares = [
            (now.share[d * data.K + k, e] ** 2 + now.known[d * data.K + k, e]) * A[e] / A[d] / unit[d][k] ** 2
            for d in range(3)
            for k in np.flatnonzero(scales[d].moving)
            for e in range(3)
            if e != d
        ] + [trace_priors.LEAKAGE_SD**2] * 4
        return total - 0.5 * sum(square / now.variance + np.log(now.variance) for square in squares)

    one, other = some_leakage(tracers, told, 0, 0.02), some_leakage(tracers, told, 1, 0.05)
    found = objective(told, other) - objective(told, one)
    np.testing.assert_allclose(found, dense(other) - dense(one), rtol=1e-8)


def test_no_step_falls_and_none_is_left_to_take(heard):
    _, scales, tracers, told = heard
    found, values = leakages(told, nobody_leaks(tracers))
    assert len(values) > 2
    assert np.diff(values).min() > -1e-9
    assert values[-1] > values[0] + 0.01
    share = found.share.reshape(3, -1, 3)
    scale = told.row.scale.reshape(3, -1, 1)
    np.testing.assert_allclose((share / scale).sum(axis=1), 0.0, atol=1e-12)  # what all have in common is truth
    assert not share[[0, 1, 2], :, [0, 1, 2]].any()
    assert not share[2, 4].any()  # who does not move does not leak
    rng, best = np.random.default_rng(0), objective(told, found)
    for _ in range(20):
        away = np.where(share != 0, rng.standard_normal(share.shape), 0.0)
        for d in range(3):
            moving = scales[d].moving
            away[d, moving] -= away[d, moving].mean(axis=0)
            away[d] *= scale[d]
            away[d, ~moving] = 0.0
            away[d, :, d] = 0.0
        moved = found._replace(share=found.share + 0.05 * away.reshape(found.share.shape))
        assert objective(told, moved) < best
    for d, (one, now) in enumerate(zip(scales, tracers, strict=True)):
        held = np.where(one.levelled, now.bias_weight, 0.0)
        square = held @ (found.bias.reshape(3, -1)[d] ** 2 + now.bias_variance) + 4 * trace_priors.BIAS_VARIANCE
        assert found.tau2[d] == pytest.approx(square / (held.sum() + 4), rel=1e-12)
    free = found.beta > told.row.least + 1e-6  # who counts for as much as anybody may is held there
    for _ in range(20):
        away = rng.standard_normal(len(found.beta))
        assert objective(told, found._replace(bias=found.bias + 0.05 * away * told.row.levelled)) < best
        assert objective(told, found._replace(beta=found.beta + 0.1 * away * (told.row.moving & free))) < best
        assert objective(told, found._replace(tau2=found.tau2 * np.exp(0.1 * away[:3]))) < best
        assert objective(told, found._replace(eta=found.eta * np.exp(0.1 * away[:3]))) < best


def test_leakage_is_found_where_there_is_some_and_nowhere_else():
    for truth in (LEAK, 0 * LEAK):
        data = leaking(0, truth)
        fit = fit_two_scales(data, RATE, Settings(window=0.0))
        found = fit.params.F.sum(axis=1)
        assert np.abs(found[:, 1, 0]).max() < 0.12
        assert np.abs(found[:, 0, 1] - truth).max() < 0.2  # drawn to nobody's leaking
        assert np.abs(found[:, 0, 1] - truth).max() < 0.5 * np.abs(truth).max() + 0.1
        np.testing.assert_allclose(fit.levels.leak[:, 0, 1], found[:, 0, 1], rtol=1e-12)
        assert np.diff(fit.trace.objective).min() > -1e-9


def test_a_truth_with_leakage_equals_the_dense_posterior():
    data = leaking(1, LEAK, T=40, M=2)
    fit = fit_two_scales(data, RATE, Settings(window=0.0, memory=10.0))
    levels = fit.levels._replace(lasting=np.zeros(2))  # nothing is shrunk
    found = two_scale_truth(data, fit.params, fit.structure, levels, fit.spread)
    A, noise = fit.params.sigma / (1 - fit.params.phi**2), np.diagonal(fit.params.N, axis1=1, axis2=2)
    weight = trace_weights(data, fit.params, levels.kappa, levels.freedom).reshape(2, 6, 2)
    assert weight.min() < 0.9
    for m, y in enumerate(data.y.reshape(2, 6, 40, 2)):
        course = dense_leaking_course(
            y - y.mean(axis=1, keepdims=True), fit.params.F.sum(axis=1), noise / weight[m], A, fit.params.phi
        )
        np.testing.assert_allclose(found.course[40 * m : 40 * (m + 1)], course, rtol=1e-8, atol=1e-10)


def test_left_out_annotators_are_expected_to_leak():
    data = leaking(1, LEAK, T=40, M=1)
    fit = fit_two_scales(data, RATE, Settings(window=0.0, memory=10.0))
    levels = fit.levels._replace(lasting=np.zeros(2), kappa=np.zeros(2))  # every trace as usual of its annotator
    A, noise = fit.params.sigma / (1 - fit.params.phi**2), np.diagonal(fit.params.N, axis1=1, axis2=2)
    F, y, found = fit.params.F.sum(axis=1), data.y.reshape(6, 40, 2), np.zeros(2)
    y = y - y.mean(axis=1, keepdims=True)
    for out in ([0, 3], [1, 4], [2, 5]):
        others = np.setdiff1d(np.arange(6), out)
        course = dense_leaking_course(y[others], F[others], noise[others], A, fit.params.phi)
        one, other = (np.diagonal(F[k]) / noise[k] * (y[k] - course @ F[k].T) for k in out)
        found += 2 * np.sum(one * other, axis=0)
    told = left_out(HeldParts(data), fit.params, fit.structure, levels, ~np.isnan(fit.noise)).products
    np.testing.assert_allclose(told.found, found, rtol=1e-8)


def test_expected_traces_move_with_the_zero_of_the_scale():
    data, left = leaking(2, LEAK), []
    for zero in (0.0, 5.0):
        moved = data._replace(y=data.y + zero)
        fit = fit_two_scales(moved, RATE, Settings(window=0.0))
        truth = two_scale_truth(moved, fit.params, fit.structure, fit.levels, fit.spread).mean.reshape(4, 1, 300, 2)
        expected = np.einsum("kde,mkte->mktd", fit.params.F.sum(axis=1), np.tile(truth, (1, 6, 1, 1)))
        left.append(moved.y.reshape(4, 6, 300, 2) - expected - fit.params.b[:, None])
    np.testing.assert_allclose(left[1], left[0], atol=1e-6)
    assert np.abs(left[0].mean(axis=(0, 2))).max() < 0.05


def test_what_was_noise_and_bias_while_nobody_leaked_is_neither_when_somebody_does():
    for seed in range(3):
        fit = fit_two_scales(leaking(seed, LEAK), RATE, Settings(window=0.0))
        noise = np.diagonal(fit.params.N, axis1=1, axis2=2)
        assert noise[0, 0] < 1.5 * noise[2, 0]  # who leaks most is as exact as who hardly leaks
        # A truth of 0 on the other dimension is leaked as 0: what lies between it and its centre is bias.
        np.testing.assert_allclose((fit.levels.bias - fit.params.mu)[:, 0], LEAK * fit.params.mu[1], atol=0.07)


def test_levels_follow_the_unit_of_the_truth():
    data = leaking(3, LEAK, T=20)
    levels = fit_two_scales(data, RATE, Settings(window=0.0, memory=10.0)).levels
    given, factor = data.y.reshape(-1, 20, 2).mean(axis=1), np.array([3.0, 0.5])
    expected, _, _ = level_posterior(data, given, levels)
    found, _, _ = level_posterior(data, given, rescaled_levels(levels, factor))
    np.testing.assert_allclose(found, expected * factor, rtol=1e-9)
