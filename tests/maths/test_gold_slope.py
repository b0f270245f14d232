"""The slope of known truths on estimates: its interval, and what it refutes."""

import numpy as np
import pytest
from scipy import stats

from unisono.maths.gold_slope import CERTAIN, OTHER_UNIT, slope_of, slope_on


def pairs(n=12, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, x + noise * rng.normal(size=n)


def test_slope_and_interval_are_those_of_a_regression():
    x, g = pairs()
    found, known = slope_on(x, g), stats.linregress(x, g)
    reach = stats.t.ppf(0.5 + CERTAIN / 2, 10) * known.stderr
    np.testing.assert_allclose(
        (found.value, found.low, found.high), (known.slope, known.slope - reach, known.slope + reach)
    )
    assert found.known == 12


def test_missing_values_are_left_out():
    x, g = pairs()
    gaps = g.copy()
    gaps[[2, 5]] = np.nan
    keep = ~np.isnan(gaps)
    assert slope_on(x, gaps) == slope_on(x[keep], g[keep])


@pytest.mark.parametrize("g", [np.full(12, 3.0), np.r_[np.full(10, np.nan), 1.0, 2.0]], ids=["constant", "two"])
def test_nothing_is_said_of_what_has_no_slope(g):
    found = slope_on(pairs()[0], g)
    assert np.isnan(found.value)
    assert not found.refuted
    assert not slope_on(np.ones(12), pairs()[1]).refuted


@pytest.mark.parametrize("factor", [1.0, 2.0, 0.5])
def test_the_same_meaning_is_not_refuted(factor):
    assert not any(slope_on(x, factor * g).refuted for x, g in (pairs(seed=s) for s in range(50)))


@pytest.mark.parametrize("factor", [100.0, 0.01, 20.0, 0.05])
@pytest.mark.parametrize("sign", [1, -1])
def test_other_units_and_directions_are(factor, sign):
    for seed in range(20):
        x, g = pairs(seed=seed)
        found = slope_on(x, sign * factor * g + 7)
        assert found.other_unit
        assert found.upside_down == (sign < 0)
        assert slope_on(x, -g).upside_down


def test_errors_in_the_estimates_make_no_other_unit():
    """A slope of .2 by noise alone: the true one may be anything up to s / r."""
    x, g = pairs(400, noise=0.0)
    noisy = x + 2 * np.random.default_rng(1).normal(size=400)
    found = slope_on(noisy, g)
    assert found.high < 1 / OTHER_UNIT
    assert not found.refuted


def test_what_has_nothing_to_do_with_the_ratings_is_hardly_ever_refuted():
    refuted = [slope_on(*np.random.default_rng(seed).normal(size=(2, 15))).refuted for seed in range(1000)]
    assert np.mean(refuted) < 0.015


def test_neighbours_that_tell_the_same_count_less():
    assert slope_of(100, -0.5, 1.0).upside_down
    assert not slope_of(100, -0.5, 1.0, independent=5.0).upside_down
    assert not slope_of(100, -0.99, 1.0, independent=1.5).refuted
