"""Sums of groups of rows can be added, and are then those of all rows."""

import numpy as np

from unisono.maths.grouped_sums import add_paired, correlation_of_sums, grouped_correlation, paired_sums


def test_sums_of_two_halves_are_those_of_the_whole():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 2)) + 1e3  # far from zero: sums of raw squares would lose the correlation
    y, of = x + rng.standard_normal((60, 2)), rng.integers(0, 4, 60)
    x[rng.random((60, 2)) < 0.2] = np.nan
    of[:25] %= 3  # one group is in the second half alone
    halves = [paired_sums(x[half], y[half], of[half], 5) for half in (slice(0, 25), slice(25, 60))]
    both = add_paired(*halves)
    for found, expected in zip(both, paired_sums(x, y, of, 5), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    correlation = correlation_of_sums(both.n, both.xx, both.yy, both.xy)
    np.testing.assert_allclose(correlation, grouped_correlation(x, y, of, 5), rtol=1e-9)
    naive = [np.corrcoef(x[keep, 0], y[keep, 0])[0, 1] for keep in [(of == 1) & ~np.isnan(x[:, 0])]]
    np.testing.assert_allclose(correlation[1, 0], naive[0], rtol=1e-9)
