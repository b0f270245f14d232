"""Relative delays by cross-correlation."""

import numpy as np

from unisono.maths.series.delay_search import advanced, masked_correlation, relative_lags
from unisono.maths.series.trace_data import SeriesData, recordings_of


def delayed(lags, T=400, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    truth = np.cumsum(rng.standard_normal(T + 20))
    y = [truth[20 - lag : 20 - lag + T] + 0.3 * rng.standard_normal(T) for lag in lags]
    y = np.concatenate(y)[:, None]
    y[rng.random(y.shape) < missing] = np.nan
    K = len(lags)
    return SeriesData(y, np.zeros(K, int), np.arange(K), np.array([T]), np.zeros((T, 0)), K)


def test_masked_correlation_equals_a_loop():
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal(50).cumsum(), rng.standard_normal(50).cumsum()
    x[rng.random(50) < 0.2], y[rng.random(50) < 0.2] = np.nan, np.nan
    r, count = masked_correlation(x, y, 6)
    for i, lag in enumerate(range(-6, 7)):
        both = [(x[t + lag], y[t]) for t in range(50) if 0 <= t + lag < 50]
        pairs = np.array([p for p in both if not np.isnan(p).any()])
        assert count[i] == len(pairs)
        np.testing.assert_allclose(r[i], np.corrcoef(pairs.T)[0, 1], rtol=1e-9)


def test_a_constant_trace_has_no_correlation():
    r, _ = masked_correlation(np.full(20, 0.1), np.sqrt(np.arange(20.0)), 2)
    np.testing.assert_array_equal(r, 0.0)


def test_relative_lags_are_found_with_missing_frames():
    lags = np.array([3, 0, 7, 5, 4])
    data = delayed(lags, missing=0.1)
    got = relative_lags(data, 10)[:, 0]
    np.testing.assert_array_equal(got - got.min(), lags - lags.min())
    assert np.median(got) == 0


def test_the_median_delay_is_none():
    data = delayed(np.array([0, 6]))
    np.testing.assert_array_equal(relative_lags(data, 10)[:, 0], [-3, 3])


def test_advanced_leaves_nan_where_nothing_is_left():
    np.testing.assert_array_equal(advanced(np.arange(4.0), 1), [1, 2, 3, np.nan])
    np.testing.assert_array_equal(advanced(np.arange(4.0), -2), [np.nan, np.nan, 0, 1])
    assert np.isnan(advanced(np.arange(4.0), 9)).all()


def test_recordings_hold_what_was_rated():
    data = SeriesData(
        np.arange(10.0)[:, None], np.array([0, 1]), np.array([1, 0]), np.array([4, 6]), np.zeros((10, 0)), 2
    )
    first, second = recordings_of(data)
    assert np.isnan(first[0]).all()
    np.testing.assert_array_equal(first[1, :, 0], np.arange(4.0))
    np.testing.assert_array_equal(second[0, :, 0], np.arange(4.0, 10.0))


def test_nobody_else_rated_means_no_delay():
    data = delayed(np.array([4]))
    np.testing.assert_array_equal(relative_lags(data, 10), 0)
