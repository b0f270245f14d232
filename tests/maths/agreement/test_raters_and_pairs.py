"""Pairs of raters, raters against the others, and their fit: loops, dense algebra, invariances."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

import unisono.maths.agreement.rater_agreement as pairs_module
from rated_tables import crossed, discrete, known, sparse
from reference import naive_agreement
from unisono.maths.agreement.agreement_bootstrap import coded
from unisono.maths.agreement.intraclass_reliability import variance_components
from unisono.maths.agreement.rater_agreement import (
    against_others,
    pair_figures,
    pair_meetings,
    rater_fit,
    spread_over_pairs,
)
from unisono.maths.metrics import ccc, pearson


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_pairs_equal_a_loop(missing):
    y, unit, rater = discrete(2, 30, 5, missing)
    table = y.reshape(30, 5)
    found = pair_figures(coded(y, unit, rater), matrix=True)
    for a in range(5):
        assert np.isnan(found.ccc[a, a])
        for b in set(range(5)) - {a}:
            both = ~np.isnan(table[:, a]) & ~np.isnan(table[:, b])
            x, z = table[both, a], table[both, b]
            assert found.shared[a, b] == both.sum()
            assert found.ccc[a, b] == pytest.approx(ccc(x, z), rel=1e-9)
            assert found.pearson[a, b] == pytest.approx(pearson(x, z), rel=1e-9)
            assert found.kappa[a, b] == pytest.approx(naive_agreement.linear_kappa(x, z), rel=1e-9)


def test_kappas_equal_those_of_scikit_learn():
    y, unit, rater = discrete(1, 40, 2)
    x, z = y.reshape(40, 2).T.astype(int)
    found = pair_figures(coded(y, unit, rater))
    assert found.ccc[0] == pytest.approx(cohen_kappa_score(x, z, weights="quadratic"), rel=1e-9)
    assert set(x) | set(z) == {1, 2, 3, 4, 5}
    assert found.kappa[0] == pytest.approx(cohen_kappa_score(x, z, weights="linear"), rel=1e-9)


def test_sparse_and_dense_give_the_same_pairs(monkeypatch):
    y, unit, rater = sparse(0, 400, raters=20)
    data = coded(np.round(2 * y).clip(-4, 4), unit, rater)
    dense = pair_figures(data)
    monkeypatch.setattr(pairs_module, "DENSE_RATERS", 1)
    monkeypatch.setattr(pairs_module, "CELLS_AT_ONCE", 500)
    thin = pair_figures(data)
    enough = dense.shared >= pairs_module.LEAST_SHARED
    for one, other in zip(dense, thin, strict=True):
        np.testing.assert_allclose(one[enough], other, rtol=1e-9, atol=1e-12)


def test_meetings_of_one_dimension_serve_another_with_the_same_cells(monkeypatch):
    monkeypatch.setattr(pairs_module, "DENSE_RATERS", 1)
    y, unit, rater = sparse(0, 400, raters=20)
    met = pair_meetings(coded(y, unit, rater))
    other = coded(np.round(3 * y[::-1]), unit, rater)
    assert met is not None
    for reused, anew in zip(pair_figures(other, met), pair_figures(other), strict=True):
        np.testing.assert_array_equal(reused, anew)


def test_pairs_with_few_units_in_common_do_not_count():
    y, unit, rater = discrete(3, 4, 3)
    found = pair_figures(coded(y, unit, rater))
    assert spread_over_pairs(found.ccc).pairs == 0
    assert np.isnan(spread_over_pairs(found.ccc).mean)


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_others_equal_a_loop(missing):
    y, unit, rater = discrete(2, 20, 4, missing)
    table = y.reshape(20, 4)
    found = against_others(coded(y, unit, rater))
    for k in range(4):
        others = np.delete(table, k, axis=1)
        mean = np.array([np.nanmean(row) if np.isfinite(row).any() else np.nan for row in others])
        assert found.pearson[k] == pytest.approx(pearson(table[:, k], mean), rel=1e-9)
        assert found.ccc[k] == pytest.approx(ccc(table[:, k], mean), rel=1e-9)
        apart = np.abs(others - table[:, [k]])
        apart = apart[~np.isnan(apart)]
        assert found.exact[k] == pytest.approx(np.mean(apart == 0))
        assert found.adjacent[k] == pytest.approx(np.mean(apart <= 1))


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_fit_equals_the_mixed_model_written_out(missing):
    y, unit, rater = known(*crossed(3, 15, 5, missing))
    data = coded(y, unit, rater)
    s2 = [max(float(part[0]), 0.0) for part in variance_components(data)]
    severity, infit, outfit = naive_agreement.rater_fit(y, unit, rater, *s2)
    found = rater_fit(data)
    np.testing.assert_allclose(found.severity, severity, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.infit, infit, rtol=1e-5)
    np.testing.assert_allclose(found.outfit, outfit, rtol=1e-5)


def test_a_careless_rater_has_a_large_infit_and_the_others_one_about_one():
    y, unit, rater = sparse(1, 600, raters=12)
    y[rater == 5] += 1.5 * np.random.default_rng(2).normal(size=np.sum(rater == 5))
    found = rater_fit(coded(y, unit, rater))
    assert found.infit.argmax() == 5
    assert found.infit[5] > 2
    rest = np.delete(found.infit, 5)
    assert np.all((rest > 0.6) & (rest < 1.3))


def test_severity_is_in_rating_units():
    y, unit, rater = crossed(0, 200, 4, bias=0.0)
    y = 10 * y + 5.0 * (rater == 2)
    found = rater_fit(coded(y, unit, rater))
    assert found.severity[2] - np.delete(found.severity, 2).mean() == pytest.approx(5.0, abs=1.5)
    np.testing.assert_allclose(rater_fit(coded(3 * y + 7, unit, rater)).infit, found.infit, rtol=1e-6)


def test_undefined_is_nan_without_a_warning():
    y, unit, rater = np.array([1.0, 2, 0.1, 0.1, 5, np.nan]), np.array([0, 1, 0, 1, 2, 2]), np.array([0, 0, 1, 1, 2, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = against_others(coded(y, unit, rater))
        assert np.isnan(found.pearson[2])
        assert np.isnan(against_others(coded(np.arange(3.0), np.arange(3), np.arange(3))).ccc).all()
        assert np.isnan(rater_fit(coded(np.ones(4), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))).infit).all()
        constant = coded(np.tile([3.0, 1, 3, 2, 3, 5], 2), np.repeat(np.arange(6), 2), np.tile([0, 1], 6))
        assert np.isnan(pair_figures(constant).pearson).all()
        assert pair_figures(constant).ccc == pytest.approx([0.0])
