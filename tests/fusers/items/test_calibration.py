"""Intervals where annotators may share nothing: a mixture of the posterior and of knowing nothing, without a cliff."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm, t

import unisono as un
from unisono.fusers.fusion_results import INTERVAL
from unisono.fusers.item_posteriors import Calibration, doubted_variance
from unisono.fusers.learned_arrays import packed, unpacked
from unisono.maths.items.item_estimates import half_width


@pytest.mark.parametrize("freedom", [np.inf, 7.0])
def test_the_interval_holds_its_share_of_the_mixture(freedom):
    shared = np.array([0.0, 0.2, 0.85, 0.9, 0.99, 1 - 1e-9, 1.0])
    variance = np.array([[0.01], [0.3], [2.0]]) * np.ones(7)
    found = doubted_variance(variance, Calibration(1.0, freedom, None, np.full(7, 9.0), shared))
    x = half_width(INTERVAL, freedom) * np.sqrt(found)
    law = norm if np.isinf(freedom) else t(freedom)
    inside = shared * (2 * law.cdf(x / np.sqrt(variance)) - 1) + (1 - shared) * (2 * law.cdf(x / 3.0) - 1)
    np.testing.assert_allclose(inside, INTERVAL, rtol=1e-8)
    np.testing.assert_array_equal(found[:, -1], variance[:, -1])
    np.testing.assert_allclose(found[:, 0], 9.0, rtol=1e-8)


def test_widths_fall_with_the_probability_of_a_signal_and_never_jump():
    shared = np.linspace(0, 1, 2001)
    calibration = Calibration(1.0, 40.0, None, np.full(2001, 9.0), shared)
    width = np.sqrt(doubted_variance(np.full((1, 2001), 0.05), calibration))[0]
    assert (np.diff(width) < 0).all()
    assert np.abs(np.diff(width)).max() < 0.02 * width[0]


def test_an_error_wider_than_the_scale_stays_as_it_is():
    found = doubted_variance(np.array([[4.0]]), Calibration(1.0, np.inf, None, np.array([1.0]), np.array([0.3])))
    assert found[0, 0] == 4.0


def test_saved_calibrations_are_read():
    one = Calibration(1.2, 30.0, None, np.array([4.0, 5.0]), np.array([0.5, 1.0]))
    again = unpacked(Calibration, packed(one, "one"), "one")
    np.testing.assert_array_equal(again.shared, one.shared)
    np.testing.assert_array_equal(again.least_variance, one.least_variance)
    assert (again.ratio, again.freedom, again.rescaling, again.level) == (1.2, 30.0, None, None)


def table_of_products(people: int, first: float, seed: int) -> pl.DataFrame:
    """Everybody rates twenty products from 1 to 9; the first is better than the others by so much."""
    rng = np.random.default_rng(seed)
    y = 5 + 0.8 * rng.normal(size=(1, people)) + 1.6 * rng.normal(size=(20, people))
    y[0] += first
    m, k = np.divmod(np.arange(20 * people), people)
    names = {"item": [f"product {i:02d}" for i in m], "annotator": [f"person {i:03d}" for i in k]}
    return pl.DataFrame({**names, "liking": np.clip(np.round(y), 1, 9).ravel()})


@pytest.mark.parametrize("people", [30, pytest.param(268, marks=pytest.mark.slow)])
def test_a_crowd_that_agrees_on_one_product_of_twenty_agrees(people):
    result = un.fuse(table_of_products(people, 4.0, 0))
    low, high = result.fused.interval()
    assert not [alert for alert in result.alerts if alert.kind == "no-shared-signal"]
    assert (high - low).max() < 2.0
    assert result.fused.mean[:, 0].argmax() == 0


def test_a_crowd_in_which_nobody_agrees_has_intervals_as_wide_as_the_scale():
    with pytest.warns(un.DataWarning, match="do not clearly agree"):
        result = un.fuse(table_of_products(30, 0.0, 0))
    low, high = result.fused.interval()
    assert (high - low).min() > 0.9 * 8
