"""The error that traces of so many annotators leave: equal to dense posteriors, and falling with every annotator."""

import numpy as np

from trace_crowds import crowd
from unisono.maths.series import trace_priors
from unisono.maths.series.trace_em_fit import Settings
from unisono.maths.series.trace_truth import TraceDesign, course_error, error_to_expect, level_error, stretches_of
from unisono.maths.series.tracer_fit import fit_two_scales


def design(K=4, lasting=0.0):
    one = np.full((K, 1), 2.0)
    return TraceDesign(one, 0.5 * one, np.array([1.5]), np.array([0.7]), np.array([lasting]), np.ones(1), 0.9)


def test_errors_equal_those_of_a_dense_chain():
    T, phi, A, Q = 301, 0.9, 1.5, 2.0
    prior = A * phi ** np.abs(np.subtract.outer(np.arange(T), np.arange(T)))
    dense = np.linalg.inv(np.linalg.inv(prior) + Q * np.eye(T))[T // 2, T // 2]
    np.testing.assert_allclose(course_error(np.array([Q]), design())[0], dense, rtol=1e-8)
    np.testing.assert_allclose(course_error(np.array([Q]), design(lasting=1.0))[0], 1 / (1 / A + Q), rtol=1e-12)
    np.testing.assert_allclose(level_error(np.array([Q]), design())[0], 1 / (1 / 0.7 + Q), rtol=1e-12)
    wide = design()._replace(widening=np.full(1, 1.3))
    np.testing.assert_allclose(course_error(np.array([Q]), wide)[0], 1.3 * dense, rtol=1e-8)


def test_so_many_equal_annotators_leave_what_their_sum_leaves():
    counts, known = np.array([1, 2, 4]), design(lasting=0.4)
    found = error_to_expect(known, counts, np.random.default_rng(0))[:, 0]
    expected = [course_error(np.array([2.0 * n]), known)[0] + level_error(np.array([n]), known)[0] for n in counts]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    uneven = known._replace(course=known.course * np.array([[0.1], [1.0], [2.0], [np.nan]]))
    assert np.all(np.diff(error_to_expect(uneven, np.arange(1, 4), np.random.default_rng(0))[:, 0]) < 0)


def test_stretches_know_who_rated_them():
    data, _, _ = crowd(2, K=4, lengths=(60, 40), gaps=False)
    y = data.y.copy()
    y[20:40] = np.nan  # the first annotator, the first recording
    data = data._replace(y=(y - np.nanmean(y)) / np.nanstd(y))
    fit = fit_two_scales(data, 2.0, Settings(memory=trace_priors.MEMORY, window=0.0))
    known = stretches_of(data, fit.params, fit.levels, 20)
    assert known.recording.tolist() == [0, 0, 0, 1, 1]
    assert known.last.tolist() == [20, 40, 60, 20, 40]
    q = np.diagonal(fit.params.F.sum(axis=1), axis1=1, axis2=2)[:, 0] ** 2 / fit.params.N[:, 0, 0]
    np.testing.assert_allclose(known.course[0], q.sum(), rtol=1e-8)
    np.testing.assert_allclose(known.course[1], q[1:].sum(), rtol=1e-8)
    ql = fit.levels.gain[:, 0] ** 2 / fit.levels.noise[:, 0]
    np.testing.assert_allclose(known.level, ql.sum(), rtol=1e-8)
