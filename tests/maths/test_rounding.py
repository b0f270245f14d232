"""Six significant digits, in decimal."""

import numpy as np

from unisono.maths.rating_values import significant


def test_digits_are_those_that_are_written():
    given = np.array([[123456789.0, 0.000123456789], [-2.5000005, 1.0], [0.0, 1234565.0]])
    expected = [[123457000.0, 0.000123457], [-2.5, 1.0], [0.0, 1234560.0]]
    assert significant(given).tolist() == expected
    assert significant(np.array([2 / 3]), 2).tolist() == [0.67]


def test_what_is_not_finite_stays():
    assert np.isnan(significant(np.array([np.nan]))[0])
    assert significant(np.array([np.inf, -np.inf])).tolist() == [np.inf, -np.inf]


def test_nothing_is_rounded_twice():
    given = np.random.default_rng(0).normal(size=1000) * 10.0 ** np.random.default_rng(1).integers(-9, 9, 1000)
    once = significant(given)
    np.testing.assert_array_equal(significant(once), once)
    np.testing.assert_allclose(once, given, rtol=5e-6)
