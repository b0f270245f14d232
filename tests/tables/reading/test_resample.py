"""Clock work against a loop over ticks, and the promises of the module."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisono.tables.reading.clock_alignment import SNAP, Grid, common_rate, default_gap, grid_of, on_grid, ordinary_step


def naive(t, y, grid, rate, max_gap):
    """The definition, tick by tick."""
    out = np.full(grid.length, np.nan)
    for i in range(grid.length):
        tick = grid.start + i / rate
        distance = np.abs(t - tick) * rate
        if distance.min() <= SNAP:
            out[i] = y[np.argmin(distance)]
        elif t[0] < tick < t[-1]:
            right = int(np.searchsorted(t, tick))
            gap = t[right] - t[right - 1]
            if gap <= max_gap:
                out[i] = y[right - 1] + (y[right] - y[right - 1]) * (tick - t[right - 1]) / gap
    return out


@settings(max_examples=300)
@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=25),
    st.integers(-300, 300),
    st.sampled_from([1.0, 3.0, 10.0]),
    st.sampled_from([0.35, 1.0, 7.0]),
    st.integers(0, 2**31),
)
def test_equals_the_loop(steps, begin, rate, max_gap, seed):
    t = (begin + np.cumsum(steps)) / 97.0
    y = np.random.default_rng(seed).normal(size=len(t))
    grid = Grid(np.floor(t[0]) - 1, int(np.ceil((t[-1] - t[0] + 3) * rate)))
    # Away from the edges of the rules, where rounding decides.
    distance = np.abs((t[:, None] - grid.start) * rate - np.arange(grid.length))
    nearest = np.sort(distance, axis=0)
    tied = len(t) > 1 and ((nearest[0] <= SNAP) & (np.ptp(nearest[:2], axis=0) < 1e-9)).any()
    if tied or (np.abs(distance - SNAP) < 1e-9).any() or (np.abs(np.diff(t) - max_gap) < 1e-9).any():
        return
    expected = naive(t, y, grid, rate, max_gap)
    np.testing.assert_allclose(on_grid(t, y[:, None], grid, rate, max_gap)[:, 0], expected, atol=1e-12)


@pytest.mark.parametrize("rate", [1.0, 5.0, 10.0, 25.0, 29.97, 30.0, 60.0])
@pytest.mark.parametrize("digits", [3, 6, 12])
def test_data_on_the_clock_come_out_as_they_went_in(rate, digits):
    t = np.round(7.25 + np.arange(4000) / rate, digits)
    y = np.random.default_rng(0).normal(size=(4000, 2))
    found = common_rate(np.array([ordinary_step(t)]))
    assert found == pytest.approx(rate, rel=1e-5)
    grid = grid_of(t[:1], t[-1:], rate)
    assert grid == (pytest.approx(7.25, abs=1e-3), 4000)
    np.testing.assert_array_equal(on_grid(t, y, grid, rate, default_gap(1 / rate, rate)), y)


def test_gaps_and_rounding_do_not_move_the_step():
    t = np.round(np.concatenate([np.arange(30), np.arange(500, 530)]) / 30, 3)
    assert common_rate(np.array([ordinary_step(t)])) == pytest.approx(30, rel=1e-3)
    assert np.isnan(ordinary_step(np.array([3.0])))


def test_the_common_rate_is_one_that_somebody_has():
    assert common_rate(1 / np.array([10.0, 25.0])) == 10
    assert common_rate(1 / np.array([10.0, 25.0, 30.0])) == 25
    assert common_rate(np.array([np.nan, 0.5])) == 2
    assert common_rate(np.array([np.nan])) == 1
    assert common_rate(np.array([4.0001])) == 0.25
    assert common_rate(np.array([1 / 29.97])) == pytest.approx(29.97, rel=1e-9)


def test_the_grid_keeps_step_with_most_traces():
    first, last = np.array([0.07, 0.03, 0.03]), np.array([5.0, 4.93, 4.93])
    grid = grid_of(first, last, 10.0)
    assert grid.start == pytest.approx(0.03)
    assert grid.length == 50
    assert grid_of(np.array([0.9999999999]), np.array([3.0]), 1.0) == (1.0, 3)
    assert grid_of(np.array([2.0]), np.array([2.0]), 10.0).length == 1


def test_short_gaps_are_bridged_and_long_ones_are_not():
    t, y = np.array([0.0, 1, 2, 4, 5, 9, 10]), np.arange(7.0)[:, None]
    found = on_grid(t, y, Grid(0.0, 11), 1.0, 2.0)[:, 0]
    np.testing.assert_allclose(found, [0, 1, 2, 2.5, 3, 4, np.nan, np.nan, np.nan, 5, 6])


def test_nothing_is_known_outside_the_samples():
    found = on_grid(np.array([2.0, 3.0]), np.ones((2, 1)), Grid(0.0, 6), 1.0, 9.0)[:, 0]
    np.testing.assert_array_equal(found, [np.nan, np.nan, 1, 1, np.nan, np.nan])
    assert np.isnan(on_grid(np.array([]), np.ones((0, 1)), Grid(0.0, 3), 1.0, 9.0)).all()


def test_jitter_is_bridged_by_default_and_a_missing_sample_is_not():
    assert 1.4 < default_gap(1.0, 1.0) < 2.0
    assert default_gap(0.1, 1.0) == default_gap(float("nan"), 1.0) == 1.5
    assert default_gap(3.0, 1.0) == 4.5
