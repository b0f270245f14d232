"""Agreement against the established packages where they reach, against naive formulas where they do not."""

from __future__ import annotations

import warnings

import krippendorff
import numpy as np
import pandas as pd
import pingouin
import pytest

from unisono.maths.agreement import agreement, icc, krippendorff_alpha, leave_one_out, variance_components
from unisono.maths.metrics import pearson


def crossed(seed, units=20, raters=4, missing=0.0, bias=0.5):
    """Ratings of every unit by every rater, some of them missing: value, unit, rater."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(units, 1)) + bias * rng.normal(size=(1, raters)) + 0.7 * rng.normal(size=(units, raters))
    table[rng.random(table.shape) < missing] = np.nan
    return table.ravel(), np.repeat(np.arange(units), raters), np.tile(np.arange(raters), units)


def sparse(seed, units, raters=60, each=4):
    """Every unit rated by a few raters drawn at random, with variances 1, 0.36 and 0.64."""
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(units), each)
    rater = np.concatenate([rng.choice(raters, each, replace=False) for _ in range(units)])
    noise = 0.8 * rng.normal(size=len(unit))
    return rng.normal(size=units)[unit] + 0.6 * rng.normal(size=raters)[rater] + noise, unit, rater


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_alpha_equals_krippendorff(seed, missing):
    y, unit, _ = crossed(seed, missing=missing)
    expected = krippendorff.alpha(y.reshape(20, 4).T, level_of_measurement="interval")
    assert krippendorff_alpha(y, unit) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("shape", [(20, 4), (7, 2), (5, 9)])
def test_icc_of_complete_ratings_equals_pingouin(shape):
    y, unit, rater = crossed(3, *shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = pingouin.intraclass_corr(
            pd.DataFrame({"u": unit, "r": rater, "y": y}), targets="u", raters="r", ratings="y"
        )
    expected = dict(zip(table["Type"], table["ICC"], strict=True))
    names = {"ICC(A,1)": "a1", "ICC(A,k)": "ak", "ICC(C,1)": "c1", "ICC(C,k)": "ck"}
    if "ICC(A,1)" not in expected:  # older releases use the notation of Shrout and Fleiss
        names = {"ICC2": "a1", "ICC2k": "ak", "ICC3": "c1", "ICC3k": "ck"}
    found = icc(y, unit, rater)
    for theirs, ours in names.items():
        assert getattr(found, ours) == pytest.approx(expected[theirs], rel=1e-8)


def test_components_expect_what_a_dense_computation_expects():
    """The coefficients of Henderson's equations, from the quadratic forms written out as matrices."""
    y, unit, rater = crossed(5, units=8, raters=5, missing=0.4)
    known = ~np.isnan(y)
    y, unit, rater = y[known], unit[known], rater[known]
    y = y - y.mean()
    one = np.ones((len(y), 1))
    Z = [np.eye(8)[unit][:, np.unique(unit)], np.eye(5)[rater][:, np.unique(rater)], np.eye(len(y))]
    project = lambda A: A @ np.linalg.pinv(A)  # noqa: E731
    forms = [project(A) - project(one) for A in Z]
    expected = np.array([[np.trace(Q @ A @ A.T) for A in Z] for Q in forms])
    naive = np.linalg.solve(expected, [y @ Q @ y for Q in forms])
    np.testing.assert_allclose(variance_components(y, unit, rater), naive, rtol=1e-9)


@pytest.mark.slow
def test_components_come_closer_with_more_units():
    truth = np.array([1.0, 0.36, 0.64])
    error = [
        np.mean([np.abs(np.array(variance_components(*sparse(seed, units))) - truth) for seed in range(20)])
        for units in (50, 200, 800)
    ]
    assert error[0] > error[1] > error[2]
    mean = np.mean([variance_components(*sparse(seed, 200)) for seed in range(60)], axis=0)
    np.testing.assert_allclose(mean, truth, atol=0.05)


def test_icc_needs_ratings_in_common():
    apart = np.arange(5)
    assert all(np.isnan(icc(np.arange(5.0), apart, apart)[:4]))
    assert all(np.isnan(icc(np.arange(5.0), apart, np.zeros(5, dtype=int))[:4]))
    assert all(np.isnan(icc(np.full(5, np.nan), apart, apart)))


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_leave_one_out_equals_a_loop(missing):
    y, unit, rater = crossed(2, missing=missing)
    table = y.reshape(20, 4)
    expected = []
    for k in range(4):
        others = np.delete(table, k, axis=1)
        mean = [np.nanmean(row) if np.isfinite(row).any() else np.nan for row in others]
        expected.append(pearson(table[:, k], np.array(mean)))
    np.testing.assert_allclose(leave_one_out(y, unit, rater, 4), expected, rtol=1e-10)


def test_undefined_is_nan_without_a_warning():
    y, unit, rater = np.array([1.0, 2, 0.1, 0.1, 5, np.nan]), np.array([0, 1, 0, 1, 2, 2]), np.array([0, 0, 1, 1, 2, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(leave_one_out(y, unit, rater, 4)).all()
        assert np.isnan(krippendorff_alpha(np.ones(4), np.array([0, 0, 1, 1])))
        assert np.isnan(krippendorff_alpha(np.arange(3.0), np.arange(3)))
        assert np.isnan(leave_one_out(np.arange(3.0), np.arange(3), np.arange(3), 3)).all()


def test_perfect_agreement():
    y, unit, rater = np.repeat([1.0, 5, 3], 3), np.repeat([0, 1, 2], 3), np.tile([0, 1, 2], 3)
    assert krippendorff_alpha(y, unit) == pytest.approx(1)
    assert icc(y, unit, rater)[:4] == pytest.approx((1, 1, 1, 1))
    np.testing.assert_allclose(leave_one_out(y, unit, rater, 3), 1)


def test_units_of_measurement_do_not_matter():
    y, unit, rater = crossed(4, missing=0.2)
    first, second = agreement(y[:, None], unit, rater, 4), agreement(1e6 + 1e3 * y[:, None], unit, rater, 4)
    np.testing.assert_allclose(first.alpha, second.alpha, rtol=1e-7)
    np.testing.assert_allclose(first.icc[0], second.icc[0], rtol=1e-6)
    np.testing.assert_allclose(first.others, second.others, rtol=1e-6)


def test_every_dimension_by_itself():
    y, unit, rater = crossed(6, missing=0.1)
    both = agreement(np.stack([y, -(y**3)], axis=1), unit, rater, 4)
    assert both.alpha[1] == krippendorff_alpha(-(y**3), unit)
    assert both.icc[0] == icc(y, unit, rater)
    assert both.others.shape == (4, 2)
