"""Warping, barycentres, weights by windows, ranks, curves and information against slow and obvious versions."""

import numpy as np
import pytest
from scipy.stats import chi2, rankdata

from reference.naive_neighbours import (
    naive_barycentre,
    naive_information,
    naive_path,
    naive_usual_curves,
    naive_window_weights,
)
from unisono.maths.series import trace_averages as averages
from unisono.maths.series.trace_warping import barycentre, warp_paths


@pytest.mark.parametrize("reach", [0, 2, 5])
def test_the_path_is_the_cheapest_of_the_full_table(reach):
    rng = np.random.default_rng(reach)
    *traces, target = rng.standard_normal((4, 14, 2))
    for trace, (there, here) in zip(traces, warp_paths(np.array(traces), target, reach), strict=True):
        path, cost = naive_path(trace, target, reach)
        assert list(zip(there.tolist(), here.tolist(), strict=True)) == path
        assert ((trace[here] - target[there]) ** 2).sum() == pytest.approx(cost, rel=1e-10)


def test_the_barycentre_equals_the_naive_one_and_ends_where_paths_repeat():
    y = np.cumsum(np.random.default_rng(1).standard_normal((4, 16, 2)), axis=1)
    found = barycentre(y, 4)
    rounds = [naive_barycentre(y, 4, n) for n in (10, 11)]
    np.testing.assert_allclose(found, rounds[0], rtol=1e-8)
    np.testing.assert_allclose(rounds[0], rounds[1], rtol=1e-8)


def test_traces_at_other_paces_come_together():
    t = np.arange(200)
    base = np.sin(t / 9.0) + 0.5 * np.sin(t / 4.0)
    y = np.stack([np.interp(t + 5 * np.sin(t / 25 + f), t, base) for f in (0.0, 2.1, 4.2)])[:, :, None]
    apart = [np.std(one - one.mean(axis=0)) for one in (y, barycentre(y, 12), barycentre(y, 0))]
    assert apart[1] < 0.4 * apart[0]
    assert apart[2] == apart[0]
    assert np.corrcoef(barycentre(y, 12).mean(axis=0)[:, 0], base)[0, 1] > 0.97


@pytest.mark.parametrize("width", [6, 40])
def test_weights_by_windows(width):
    rng = np.random.default_rng(2)
    y = np.cumsum(rng.standard_normal((4, 30, 2)), axis=1)
    y[1, 5:12] = np.nan
    y[3, :, 1] = 2.0
    np.testing.assert_allclose(averages.window_weights(y, width), naive_window_weights(y, width), rtol=1e-8, atol=1e-9)


def test_ranks_are_those_of_all_answers():
    y = np.random.default_rng(3).integers(0, 9, 201).astype(float)  # as many as quantiles are kept: ranks are exact
    y[5] = np.nan
    quantiles = averages.quantiles_of(y[:, None], np.zeros(201, dtype=int), 1)[0, :, 0]
    known = ~np.isnan(y)
    found = averages.ranks(y, quantiles)
    assert np.isnan(found[5])
    expected = np.sqrt(12.0) * ((rankdata(y[known]) - 1) / (known.sum() - 1) - 0.5)
    assert np.abs(found[known] - expected).max() < 0.02
    z = np.random.default_rng(4).standard_normal(201)
    exact = averages.ranks(z, averages.quantiles_of(z[:, None], np.zeros(201, dtype=int), 1)[0, :, 0])
    np.testing.assert_allclose(exact, np.sqrt(12.0) * ((rankdata(z) - 1) / 200 - 0.5), rtol=1e-8, atol=1e-9)


def test_principal_components_of_curves():
    rng = np.random.default_rng(5)
    y = np.cumsum(rng.standard_normal((9, 60, 2)), axis=1) / 6
    y[4] += 3.0 * np.sin(np.arange(60) / 5)[:, None]
    curve = averages.smooth_curves(y, 6.0)
    distance, L = naive_usual_curves(curve)
    limit = max(np.sort(distance)[4], chi2.ppf(0.975, L))
    np.testing.assert_array_equal(averages.usual_curves(curve), distance <= limit)
    assert not averages.usual_curves(curve)[4]


def test_curves_go_through_what_splines_can_show_and_over_gaps():
    t = np.arange(80) / 20
    y = (0.3 * t**3 - t**2 + 4.0)[None, :, None].copy()
    expected = y[0, :, 0].copy()
    y[0, 30:36] = np.nan
    curve = averages.smooth_curves(y, 10.0)[0, :, 0]
    assert np.abs(curve - expected).max() < 0.02


def test_information_of_kinds():
    rng = np.random.default_rng(6)
    a = rng.integers(-1, 8, 200)
    b = np.where(rng.random(200) < 0.5, a, rng.integers(-1, 8, 200))
    assert averages.mutual_information(a, b) == pytest.approx(naive_information(a, b), rel=1e-9)
    x = rng.standard_normal(80)
    assert np.bincount(averages.kinds_of_answers(x)).tolist() == [10] * 8
    alone = [averages.mutual_information(rng.integers(0, 8, 300), rng.integers(0, 8, 300)) for _ in range(200)]
    assert abs(np.mean(alone)) < 0.01


def test_the_delay_of_a_curved_answer_is_found():
    """Information sees what correlation does not: the answer is the feature's square."""
    rng = np.random.default_rng(7)
    traces, signals = [], []
    for T in (300, 200):
        x = np.convolve(rng.standard_normal(T + 40), np.ones(9) / 3, "valid")[:T]
        traces.append(np.concatenate([np.full(7, np.nan), x[:-7] ** 2]))
        signals.append(np.stack([x, rng.standard_normal(T)], axis=1))
    assert averages.informative_lag(traces, signals, 0, 20) == 7
    assert averages.informative_lag(traces, signals, -20, 20) == 7
