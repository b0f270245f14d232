"""Weights instead of resampled tables, blocks instead of units, and intervals that hold what they promise."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from rated_tables import crossed, discrete, known, sparse
from reference import naive_agreement
from unisono.maths.agreement.agreement_bootstrap import (
    MOST_BLOCKS,
    Blocks,
    bca_interval,
    bootstrap,
    bootstrap_weights,
    coded,
    make_blocks,
    reach,
)
from unisono.maths.agreement.chance_corrected import gwet_ac2, interval_alpha, ordinal_alpha
from unisono.maths.agreement.intraclass_reliability import design_of, estimate_reliability, icc_draws
from unisono.maths.agreement.multivariate_agreement import multivariate_agreement, standardised


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_weighing_units_equals_repeating_them(missing):
    """Alpha and AC2 of a table in which unit i stands w_i times."""
    y, unit, rater = discrete(1, 12, 4, missing)
    table = y.reshape(12, 4)
    data = coded(y, unit, rater)
    W = bootstrap_weights(data.I, 5, np.random.default_rng(0))
    blocks = Blocks(np.arange(data.I), data.I)
    alpha, ac2 = interval_alpha(data, blocks, W), gwet_ac2(data, blocks, W)
    for row, w in enumerate(W[1:6].astype(int), start=1):
        again = np.repeat(table[data.units], w, axis=0)
        assert alpha[row] == pytest.approx(naive_agreement.alpha(again), rel=1e-9)
        if len(np.unique(again[~np.isnan(again)])) == len(np.unique(y[~np.isnan(y)])):
            assert ac2[row] == pytest.approx(naive_agreement.ac2(again), rel=1e-9)


def test_leaving_a_unit_out_equals_figures_without_it():
    y, unit, rater = known(*crossed(4, 10, 4, 0.3))
    data = coded(y, unit, rater)
    blocks = Blocks(np.arange(data.I), data.I)
    W = bootstrap_weights(data.I, 1, np.random.default_rng(0))[-data.I :]
    design = design_of(data)
    found = icc_draws(data, design, blocks, W).icc
    for i in range(data.I):
        keep = data.unit != i
        part = coded(y[keep], unit[keep], rater[keep])
        alone = icc_draws(part, design).icc
        for name, value in found.items():
            assert value[i] == pytest.approx(alone[name][0], rel=1e-9), name


def test_few_clusters_stay_and_many_are_dealt_out_evenly():
    rng = np.random.default_rng(0)
    few = make_blocks(np.array([7, 7, 3, 9]), rng)
    assert (few.G, few.of.tolist()) == (3, [1, 1, 0, 2])
    many = make_blocks(np.arange(10 * MOST_BLOCKS), rng)
    assert set(np.bincount(many.of)) == {10}


def test_blocks_give_the_interval_that_units_give(monkeypatch):
    rated = sparse(0, 2000)
    data = coded(*rated)
    design = design_of(data)
    widths = {}
    for most in (2000, 200):
        monkeypatch.setattr("unisono.maths.agreement.agreement_bootstrap.MOST_BLOCKS", most)
        rng = np.random.default_rng(1)
        blocks = make_blocks(data.units, rng)
        (found,) = bootstrap(
            lambda W, blocks=blocks: icc_draws(data, design, blocks, W).icc["ICC(A,1)"][:, None],
            blocks.G,
            400,
            0.95,
            rng,
        )
        widths[most] = found.high - found.low
    assert widths[200] == pytest.approx(widths[2000], rel=0.2)


def test_bca_equals_scipy():
    rng = np.random.default_rng(0)
    x = rng.exponential(size=30)
    wider = 2 * scipy.stats.norm.cdf(reach(0.95, 30)) - 1  # 30 values are few: theirs stays as narrow as with many
    theirs = scipy.stats.bootstrap(
        (x,), np.mean, n_resamples=20_000, method="BCa", rng=1, confidence_level=wider
    ).confidence_interval
    (ours,) = bootstrap(lambda W: (W @ x / W.sum(axis=1))[:, None], 30, 20_000, 0.95, rng)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.02)
    assert ours.value == pytest.approx(x.mean())


def test_ends_reach_as_far_as_students_t_and_with_many_blocks_as_the_normal():
    assert reach(0.95, 12) == pytest.approx(np.sqrt(12 / 11) * scipy.stats.t.ppf(0.975, 11))
    assert reach(0.95, 10**6) == pytest.approx(scipy.stats.norm.ppf(0.975), rel=1e-4)


def test_an_undefined_figure_has_no_interval_and_neither_have_few_units():
    nan = bca_interval(float("nan"), np.zeros(10), np.zeros(5), 0.95)
    assert np.isnan(nan).all()
    mostly = bca_interval(0.5, np.r_[np.full(9, np.nan), 0.4], np.zeros(5), 0.95)
    assert np.isnan(mostly.low)
    (few,) = bootstrap(lambda W: W[:, :1], 4, 100, 0.95, np.random.default_rng(0))
    assert few.value == 1
    assert np.isnan(few.low)


@pytest.mark.parametrize("figure", ["ICC(C,1)", "alpha", "ordinal"])
def test_intervals_hold_the_truth_about_as_often_as_they_say(figure):
    """40 units by 5 raters without severity, 150 tables: 95 % intervals, give or take three standard errors."""
    rng = np.random.default_rng(5)
    truth = {"ICC(C,1)": 0.5, "alpha": 0.5, "ordinal": 0.4825}[figure]  # ordinal: 6 / pi asin(r / 2) for normal ranks
    hits = 0
    for _ in range(150):
        table = rng.normal(size=(40, 1)) + rng.normal(size=(40, 5))
        data = coded(table.ravel(), *(code.ravel() for code in np.indices(table.shape)))
        design, blocks = design_of(data), Blocks(np.arange(40), 40)
        of = {
            "ICC(C,1)": lambda W, d=data, g=design, b=blocks: icc_draws(d, g, b, W).icc["ICC(C,1)"],
            "alpha": lambda W, d=data, b=blocks: interval_alpha(d, b, W),
            "ordinal": lambda W, d=data, b=blocks: ordinal_alpha(d, b, W),
        }[figure]
        (found,) = bootstrap(lambda W, of=of: of(W)[:, None], 40, 300, 0.95, rng)
        hits += found.low <= truth <= found.high
    assert 0.88 <= hits / 150 <= 0.99


def test_multivariate_agreement_of_known_components():
    """Two independent dimensions of reliability .8 and .2: their share is the mean, composites are the dimensions."""
    rng = np.random.default_rng(0)
    I, R = 3000, 4
    parts = [np.sqrt(r) * rng.normal(size=(I, 1)) + np.sqrt(1 - r) * rng.normal(size=(I, R)) for r in (0.8, 0.2)]
    value = np.stack([part.ravel() for part in parts], axis=1)
    unit, rater = np.repeat(np.arange(I), R), np.tile(np.arange(R), I)
    one = Blocks(np.zeros(I, dtype=int), 1), np.ones((1, 1))
    found = multivariate_agreement(standardised(value, unit, rater), *one)[0]
    np.testing.assert_allclose(found, [0.5, 0.2, 0.8], atol=0.03)
    mixed = value @ np.array([[3.0, 1.0], [-1.0, 20.0]]) + 5
    np.testing.assert_allclose(
        multivariate_agreement(standardised(mixed, unit, rater), *one)[0, 1:], found[1:], rtol=1e-6
    )
    doubled = np.column_stack([value[:, 0], value[:, 0]])
    assert np.isnan(multivariate_agreement(standardised(doubled, unit, rater), *one)).all()


def test_reliability_of_an_estimate_is_its_squared_correlation_with_the_truth():
    rng = np.random.default_rng(0)
    truth, error = rng.normal(size=50_000), 0.5 * rng.normal(size=50_000)
    mean = truth + error
    blocks, W = Blocks(np.zeros(len(mean), dtype=int), 1), np.ones((1, 1))
    expected = np.corrcoef(truth, mean)[0, 1] ** 2
    plain = estimate_reliability(mean, np.full(len(mean), 0.25), blocks, W, shrunk=False)
    assert plain[0] == pytest.approx(expected, abs=0.01)
    posterior = estimate_reliability(0.8 * mean, np.full(len(mean), 0.2), blocks, W, shrunk=True)
    assert posterior[0] == pytest.approx(expected, abs=0.01)
