"""Alpha against krippendorff and loops over pairs; AC2 against counts of answers and a published value."""

from __future__ import annotations

import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rated_tables import KRIPPENDORFF, crossed, discrete
from reference import naive_agreement
from unisono.maths.agreement.agreement_bootstrap import coded
from unisono.maths.agreement.chance_corrected import dominant_share, gwet_ac2, interval_alpha, ordinal_alpha


def in_rows(table):
    """A table (units, raters) as ratings end to end."""
    return coded(table.ravel(), *(code.ravel() for code in np.indices(table.shape)))


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_interval_alpha_equals_krippendorff(seed, missing):
    y, unit, rater = crossed(seed, missing=missing)
    expected = krippendorff.alpha(y.reshape(20, 4).T, level_of_measurement="interval")
    assert interval_alpha(coded(y, unit, rater))[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_ordinal_alpha_equals_krippendorff_and_a_loop(seed, missing):
    y, unit, rater = discrete(seed, missing=missing)
    table = y.reshape(20, 4)
    found = ordinal_alpha(coded(y, unit, rater))[0]
    assert found == pytest.approx(krippendorff.alpha(table.T, level_of_measurement="ordinal"), rel=1e-10)
    assert found == pytest.approx(naive_agreement.alpha(table, "ordinal"), rel=1e-10)


def test_published_values():
    data = in_rows(KRIPPENDORFF.T)
    assert interval_alpha(data)[0] == pytest.approx(0.849, abs=5e-4)
    assert ordinal_alpha(data)[0] == pytest.approx(0.815, abs=5e-4)
    assert naive_agreement.ac2(KRIPPENDORFF.T, "identity") == pytest.approx(0.77544, abs=5e-6)


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
def test_ac2_equals_counts_of_answers(missing):
    y, unit, rater = discrete(4, 30, 5, missing)
    assert gwet_ac2(coded(y, unit, rater))[0] == pytest.approx(naive_agreement.ac2(y.reshape(30, 5)), rel=1e-10)
    assert gwet_ac2(in_rows(KRIPPENDORFF.T))[0] == pytest.approx(naive_agreement.ac2(KRIPPENDORFF.T), rel=1e-10)


def test_ac2_stays_high_where_one_answer_dominates():
    table = np.ones((100, 3))
    table[:3, 0] = 2.0
    data = in_rows(table)
    assert dominant_share(data) == 0.99
    assert interval_alpha(data)[0] < 0.01
    assert gwet_ac2(data)[0] > 0.97


def test_undefined_is_nan_without_a_warning():
    equal = coded(np.full(4, 0.1), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    alone = coded(np.arange(3.0), np.arange(3), np.arange(3))
    continuous = coded(*crossed(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for data in (equal, alone):
            assert np.isnan([interval_alpha(data)[0], ordinal_alpha(data)[0], gwet_ac2(data)[0]]).all()
        assert np.isnan(gwet_ac2(continuous)[0])


def test_perfect_agreement_is_one():
    data = coded(np.repeat([1.0, 5, 3], 3), np.repeat([0, 1, 2], 3), np.tile([0, 1, 2], 3))
    assert [interval_alpha(data)[0], ordinal_alpha(data)[0], gwet_ac2(data)[0]] == pytest.approx([1, 1, 1])


def test_ordinal_alpha_asks_for_the_order_alone():
    y, unit, rater = discrete(2, missing=0.2)
    np.testing.assert_allclose(ordinal_alpha(coded(y, unit, rater)), ordinal_alpha(coded(y**5, unit, rater)), rtol=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.4]), st.floats(0.01, 100), st.floats(-1e3, 1e3))
def test_order_names_and_units_do_not_matter(seed, missing, scale, shift):
    rng = np.random.default_rng(seed)
    y, unit, rater = discrete(seed, 8, 3, missing)
    order = rng.permutation(len(y))
    first = coded(y, unit, rater)
    again = coded(
        (np.round(y * 2) / 2 * scale + shift)[order], rng.permutation(12)[unit[order]], rng.permutation(5)[rater[order]]
    )
    for figure in (interval_alpha, ordinal_alpha, gwet_ac2):
        np.testing.assert_allclose(figure(again), figure(first), rtol=1e-6, atol=1e-8)
