"""Scores against their definitions, and at the edges where definitions end."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from unisono.maths.metrics import ccc, pearson, rmse, spearman

METRICS = (ccc, pearson, spearman, rmse)
NUMBERS = st.lists(st.tuples(*[st.floats(-1e3, 1e3).map(lambda x: round(x, 3))] * 2), min_size=3, max_size=30)


@pytest.fixture
def pair():
    rng = np.random.default_rng(1)
    x = rng.normal(size=50)
    return x, 0.7 * x + 0.4 * rng.normal(size=50) + 0.3


def test_ccc_is_the_formula_of_the_paper():
    x, y = np.array([1.0, 2, 3, 4]), np.array([2.0, 2, 4, 6])
    # s_xy = 1.75, s_x2 = 1.25, s_y2 = 2.75, means 2.5 and 3.5
    assert ccc(x, y) == pytest.approx(2 * 1.75 / (1.25 + 2.75 + 1.0), rel=1e-14)


def test_pearson_and_spearman_equal_scipy(pair):
    assert pearson(*pair) == pytest.approx(scipy.stats.pearsonr(*pair).statistic, rel=1e-12)
    x, y = np.round(pair, 1)  # with ties
    assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic, rel=1e-12)


def test_rmse():
    assert rmse(np.array([0.0, 0.0]), np.array([3.0, 4.0])) == pytest.approx(np.sqrt(12.5), rel=1e-14)


@pytest.mark.parametrize("metric", METRICS)
def test_pairs_with_a_missing_number_are_left_out(metric, pair):
    x, y = (z.copy() for z in pair)
    x[3] = y[7] = np.nan
    known = [i for i in range(50) if i not in (3, 7)]
    assert metric(x, y) == metric(pair[0][known], pair[1][known])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("x", "y"), [([], []), ([1.0], [np.nan])])
def test_nothing_to_compare_is_nan_without_a_warning(metric, x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(metric(np.array(x), np.array(y)))


def test_no_variation():
    flat, other = np.full(3, 0.1), np.array([1.0, 2, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(pearson(flat, other))
        assert np.isnan(spearman(other, flat))
        assert np.isnan(ccc(flat, flat))
        assert ccc(flat, other) == pytest.approx(0.0, abs=1e-15)
        assert rmse(flat, flat) == 0
        assert np.isnan(pearson(np.array([1.0]), np.array([2.0])))


@given(NUMBERS)
def test_laws(pairs):
    x, y = np.array(pairs).T
    concordance, correlation = ccc(x, y), pearson(x, y)
    if np.isfinite(correlation):
        assert abs(concordance) <= abs(correlation) + 1e-9
        assert ccc(y, x) == pytest.approx(concordance, abs=1e-9)
        assert pearson(5 * x - 3, y) == pytest.approx(correlation, abs=1e-6)
        assert ccc(x, x) == pytest.approx(1.0)


@pytest.mark.parametrize("metric", METRICS)
def test_shapes_must_agree(metric):
    with pytest.raises(ValueError, match="one length"):
        metric(np.zeros(3), np.zeros(4))
    with pytest.raises(ValueError, match="1-d"):
        metric(np.zeros((2, 2)), np.zeros((2, 2)))
