"""Variance components and intraclass correlations: established packages, dense algebra, laws, traps."""

from __future__ import annotations

import contextlib
import io
import warnings

import numpy as np
import pandas as pd
import pingouin
import pytest
from generalizit import GeneralizIT
from hypothesis import given, settings
from hypothesis import strategies as st

from rated_tables import crossed, known, sparse
from reference import naive_agreement
from unisono.maths.agreement.agreement_bootstrap import Blocks, bootstrap_weights, coded, make_blocks
from unisono.maths.agreement.intraclass_reliability import (
    NAMES,
    design_of,
    icc_draws,
    one_way_components,
    variance_components,
)


def components(y, unit, rater):
    return np.array(variance_components(coded(y, unit, rater)))[:, 0]


def icc(y, unit, rater):
    data = coded(y, unit, rater)
    return {name: float(value[0]) for name, value in icc_draws(data, design_of(data)).icc.items()}


@pytest.mark.parametrize("shape", [(20, 4), (7, 2), (5, 9)])
@pytest.mark.parametrize("bias", [0.5, 0.0])
def test_all_six_equal_pingouin_where_ratings_are_complete(shape, bias):
    y, unit, rater = crossed(3, *shape, bias=bias)
    frame = pd.DataFrame({"u": unit, "r": rater, "y": y})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = pingouin.intraclass_corr(frame, targets="u", raters="r", ratings="y")
    theirs = dict(zip(table["Type"], table["ICC"], strict=True))
    found = icc(y, unit, rater)
    older = {"ICC(1)": "ICC1", "ICC(k)": "ICC1k", "ICC(A,1)": "ICC2", "ICC(A,k)": "ICC2k"}
    older |= {"ICC(C,1)": "ICC3", "ICC(C,k)": "ICC3k"}
    newer = {name: also for name, also in NAMES.items() if also}
    for name, also in newer.items():
        (value,) = [theirs[key] for key in (name, also, also.replace("1,1", "1"), older[name]) if key in theirs][:1]
        assert found[name] == pytest.approx(value, rel=1e-8), name


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_components_equal_generalizit(missing):
    y, unit, rater = known(*crossed(8, 25, 6, missing))
    frame = pd.DataFrame({"item": unit.astype(str), "rater": rater.astype(str), "y": 1e4 * y})
    with contextlib.redirect_stdout(io.StringIO()):
        study = GeneralizIT(data=frame, design_str="item x rater", response="y")
        study.calculate_anova()
    table = study.design.anova_table["Variance"]
    theirs = [table["item"], table["rater"], table["item x rater"]]
    np.testing.assert_allclose(components(1e4 * y, unit, rater), theirs, rtol=1e-5)  # they round


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_components_equal_projections_written_out(missing):
    y, unit, rater = known(*crossed(5, 8, 5, missing))
    np.testing.assert_allclose(components(y, unit, rater), naive_agreement.components(y, unit, rater), rtol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_design_equals_a_loop_over_pairs_of_units(missing):
    y, unit, rater = known(*crossed(1, 12, 5, missing))
    np.testing.assert_allclose(
        design_of(coded(y, unit, rater)), naive_agreement.overlap_weight(unit, rater), atol=1e-12
    )


def test_the_mean_of_a_crossed_design_is_as_consistent_and_of_a_nested_one_as_absolute():
    found = icc(*crossed(2))
    assert found["G(q,k)"] == pytest.approx(found["ICC(C,k)"])
    y, unit, _ = crossed(2)
    nested = icc(y, unit, np.arange(len(y)))
    for name, one_way in (("ICC(A,1)", "ICC(1)"), ("ICC(A,k)", "ICC(k)"), ("G(q,k)", "ICC(k)")):
        assert nested[name] == pytest.approx(nested[one_way])
    assert np.isnan(nested["ICC(C,1)"])


def test_weights_that_are_counts_leave_components_unbiased():
    """Mean over random weights of the weighted components is that of the unweighted ones, also for few units."""
    rng = np.random.default_rng(0)
    y, unit, rater = crossed(7, 8, 3)
    data = coded(y, unit, rater)
    W = rng.multinomial(8, np.full(8, 1 / 8), size=40_000).astype(float)
    blocks = Blocks(np.arange(8), 8)
    drawn = np.array(variance_components(data, blocks, W))
    np.testing.assert_allclose(np.nanmean(drawn, axis=1), components(y, unit, rater), rtol=0.05)
    one = np.array(one_way_components(data, blocks, W))
    np.testing.assert_allclose(np.nanmean(one, axis=1), np.array(one_way_components(data))[:, 0], rtol=0.05)


def test_components_come_closer_with_more_units():
    truth = np.array([1.0, 0.36, 0.64])
    error = [
        np.mean([np.abs(components(*sparse(seed, units)) - truth) for seed in range(20)]) for units in (50, 200, 800)
    ]
    assert error[0] > error[1] > error[2]
    mean = np.mean([components(*sparse(seed, 200)) for seed in range(60)], axis=0)
    np.testing.assert_allclose(mean, truth, atol=0.05)


def test_many_raters_are_summed_in_parts_that_add_up(monkeypatch):
    import unisono.maths.agreement.intraclass_reliability as module

    rated = sparse(3, 100)
    whole = components(*rated)
    monkeypatch.setattr(module, "RATERS_AT_ONCE", 7)
    np.testing.assert_allclose(components(*rated), whole, rtol=1e-10)


def test_sparse_and_dense_sums_of_raters_are_the_same(monkeypatch):
    import unisono.maths.agreement.intraclass_reliability as module

    rng = np.random.default_rng(6)
    data = coded(rng.normal(size=300), rng.integers(0, 40, size=300), rng.integers(0, 60, size=300))
    blocks = make_blocks(np.arange(data.I), rng)
    W = bootstrap_weights(blocks.G, 20, rng)
    found = []
    for most in (0.0, 1.0):
        monkeypatch.setattr(module, "MOST_SPARSE", most)
        found.append(variance_components(data, blocks, W))
    np.testing.assert_allclose(*found, rtol=1e-10)


TABLES = st.integers(0, 10**6).flatmap(
    lambda seed: st.tuples(st.just(seed), st.integers(3, 10), st.integers(2, 5), st.sampled_from([0.0, 0.3, 0.6]))
)


@settings(max_examples=60)
@given(TABLES)
def test_nothing_exceeds_one(table):
    seed, units, raters, missing = table
    rng = np.random.default_rng(seed)
    y, unit, rater = crossed(seed, units, raters, missing, bias=rng.choice([0.0, 3.0]))
    for rounded in (y, np.round(y)):
        values = np.array(list(icc(rounded, unit, rater).values()))
        assert not np.any(values > 1 + 1e-12)


@settings(max_examples=30)
@given(TABLES, st.floats(0.01, 100), st.floats(-1e4, 1e4))
def test_order_names_and_units_do_not_matter(table, scale, shift):
    seed, units, raters, missing = table
    rng = np.random.default_rng(seed)
    y, unit, rater = crossed(seed, units, raters, missing)
    order = rng.permutation(len(y))
    first = icc(y, unit, rater)
    again = icc(
        shift + scale * y[order], rng.permutation(units + 5)[unit[order]], rng.permutation(raters + 3)[rater[order]]
    )
    np.testing.assert_allclose(list(again.values()), list(first.values()), rtol=1e-5, atol=1e-7)


def test_ratings_that_cannot_tell_give_nan_without_a_warning():
    apart = np.arange(5)
    cases = {
        "one rating per unit": (np.arange(5.0), apart, apart),
        "one rater": (np.arange(5.0), apart, np.zeros(5, dtype=int)),
        "nothing": (np.full(5, np.nan), apart, apart),
        "all equal": (np.full(6, 0.1), np.repeat(np.arange(3), 2), np.tile(np.arange(2), 3)),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, case in cases.items():
            values = icc(*case)
            assert np.isnan([values["ICC(A,1)"], values["ICC(C,1)"], values["ICC(A,k)"]]).all(), name


def test_perfect_agreement_and_worse_than_chance():
    unit, rater = np.repeat([0, 1, 2], 3), np.tile([0, 1, 2], 3)
    assert list(icc(np.repeat([1.0, 5, 3], 3), unit, rater).values()) == pytest.approx([1] * 7)
    opposed = icc(np.array([1.0, 5, 5, 1, 2, 4]), np.repeat([0, 1, 2], 2), np.tile([0, 1], 3))
    assert opposed["ICC(A,1)"] < 0
    assert opposed["ICC(C,1)"] < 0


def test_two_items_and_a_constant_rater_still_give_figures():
    two = icc(np.array([1.0, 2, 5, 4]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    assert 0 < two["ICC(A,1)"] <= 1
    y, unit, rater = crossed(0)
    y[rater == 0] = 3.0
    assert np.isfinite(list(icc(y, unit, rater).values())).all()


def test_sem_is_what_the_components_say():
    y, unit, rater = crossed(6, missing=0.2)
    data = coded(y, unit, rater)
    design = design_of(data)
    found = icc_draws(data, design)
    s2_i, s2_r, s2_e = components(y, unit, rater)
    assert found.sem[0] == pytest.approx(np.sqrt(s2_r + s2_e))
    assert found.sem_mean[0] == pytest.approx(np.sqrt(design.q * s2_r + s2_e / design.k))
    assert found.icc["G(q,k)"][0] == pytest.approx(s2_i / (s2_i + found.sem_mean[0] ** 2))
