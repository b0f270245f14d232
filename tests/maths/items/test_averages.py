"""Segmented means, medians, correlations and regressions equal plain loops."""

import numpy as np
import pytest

from unisono.maths.grouped_sums import (
    grouped_correlation,
    grouped_regression,
    median,
    median_of_others,
    segment_sum,
    weighted_mean,
    weighted_mean_of_others,
)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    item_of = np.sort(rng.integers(0, 12, size=60))
    value = rng.normal(size=(60, 2)).round(1)
    value[rng.random(value.shape) < 0.15] = np.nan
    return value, item_of


def test_medians_with_and_without_each_rating(table):
    value, item_of = table
    found, left_out = median(value, item_of, 13), median_of_others(value, item_of, 13)
    for d in range(2):
        for m in range(13):
            own = value[item_of == m, d]
            expected = np.nanmedian(own) if np.any(~np.isnan(own)) else np.nan
            np.testing.assert_allclose(found.mean[m, d], expected)
        for j in range(len(value)):
            others = value[(item_of == item_of[j]) & (np.arange(len(value)) != j), d]
            others = others[~np.isnan(others)]
            expected = np.median(others) if len(others) and not np.isnan(value[j, d]) else np.nan
            np.testing.assert_allclose(left_out[j, d], expected)


@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("equal", [True, False])
def test_weighted_means_with_and_without_each_rating(table, equal, missing):
    value, item_of = table
    value = value if missing else np.nan_to_num(value)
    weight = np.ones(value.shape) if equal else np.random.default_rng(1).uniform(0.1, 2, size=value.shape)
    found = weighted_mean(value, None if equal else weight, item_of, 13)
    left_out = weighted_mean_of_others(value, None if equal else weight, item_of, 13)
    given = np.stack([np.bincount(item_of, seen, minlength=13) for seen in ~np.isnan(value).T], axis=1)
    assert not equal or (found.n_eff == given).all()
    for d in range(2):
        for m in range(13):
            own = (item_of == m) & ~np.isnan(value[:, d])
            expected = np.average(value[own, d], weights=weight[own, d]) if own.any() else np.nan
            np.testing.assert_allclose(found.mean[m, d], expected)
        for j in range(len(value)):
            rest = (item_of == item_of[j]) & (np.arange(len(value)) != j) & ~np.isnan(value[:, d])
            expected = np.average(value[rest, d], weights=weight[rest, d]) if rest.any() else np.nan
            if not np.isnan(value[j, d]):
                np.testing.assert_allclose(left_out[j, d], expected)


def test_all_weights_zero_means_equal_weights():
    found = weighted_mean(np.array([[1.0], [3.0]]), np.zeros((2, 1)), np.array([0, 0]), 1)
    assert found.mean[0, 0] == 2.0


def test_correlation_and_regression_per_group(table):
    x, of = table
    y = 2 * x + np.random.default_rng(2).normal(size=x.shape)
    r = grouped_correlation(y, x, of, 13)
    bias, slope, left = grouped_regression(y, x, of, 13)
    for k in range(13):
        for d in range(2):
            own = (of == k) & ~np.isnan(x[:, d])
            if own.sum() < 3:
                assert np.isnan(r[k, d])
                continue
            np.testing.assert_allclose(r[k, d], np.corrcoef(x[own, d], y[own, d])[0, 1])
            line = np.polyfit(x[own, d], y[own, d], 1)
            np.testing.assert_allclose(slope[k, d], line[0])
            np.testing.assert_allclose(bias[k, d], np.mean(y[own, d] - x[own, d]))
            rest = y[own, d] - np.polyval(line, x[own, d])
            np.testing.assert_allclose(left[k, d], np.sqrt(rest @ rest / (own.sum() - 2)))


def test_segment_sum_of_nothing():
    assert segment_sum(np.zeros((0, 2)), np.zeros(0, dtype=int), 3).tolist() == [[0, 0]] * 3
