"""Windows look back, hold what there is at the start, and agree with SciPy."""

import numpy as np
from scipy import stats

from unisono.tables.media.media_features import FUNCTIONALS, window_ends, windowed_functionals, windowed_mean


def test_every_frame_of_the_clock_sees_what_was_there_by_then():
    np.testing.assert_array_equal(window_ends(10, 10.0, 5.0), [1, 3, 5, 7, 9])
    np.testing.assert_array_equal(window_ends(3, 1.0, 2.0), [1, 1, 2, 2, 3])
    np.testing.assert_array_equal(window_ends(1, 25.0, 4.0), [1])


def test_means_of_the_last_seconds():
    value = np.arange(8.0)[:, None]
    found = windowed_mean(value, 1.0, 1.0, 3.0)
    np.testing.assert_allclose(found[:, 0], [0, 0.5, 1, 2, 3, 4, 5, 6])


def test_functionals_are_those_of_scipy():
    x = np.random.default_rng(0).gamma(2.0, size=(40, 3))
    found = windowed_functionals(x, 10.0, 2.0, 2.0)
    last = x[16:36]  # the window of the clock's eighth frame, 3.5 s
    named = dict(zip(FUNCTIONALS, found[7].reshape(8, 3), strict=True))
    np.testing.assert_allclose(named["mean"], last.mean(axis=0))
    np.testing.assert_allclose(named["std"], last.std(axis=0))
    np.testing.assert_allclose(named["range"], np.ptp(last, axis=0))
    np.testing.assert_allclose(named["kurtosis"], stats.kurtosis(last))
    np.testing.assert_allclose(named["skewness"], stats.skew(last))
    np.testing.assert_allclose(named["iqr"], stats.iqr(last, axis=0))
    np.testing.assert_allclose(named["max"], last.max(axis=0))
    np.testing.assert_allclose(named["min"], last.min(axis=0))


def test_a_constant_has_no_shape():
    found = windowed_functionals(np.full((20, 1), 7.3), 10.0, 5.0, 1.0)
    np.testing.assert_array_equal(found[-1], [7.3, 7.3, 7.3, 0, 0, 0, 0, 0])
