"""The loop says why it stopped, and the trace says what the objective did on the way."""

import numpy as np
import pytest

from unisono.maths.em_loop import EmTrace, relative_change, run_em


def test_a_trace_knows_its_falls():
    trace = EmTrace(np.array([-10.0, -5.0, -6.0, -2.0, -4.5, -1.0]), "converged")
    np.testing.assert_array_equal(trace.falls, [3, 5])
    assert trace.largest_fall == pytest.approx(2.5)
    assert trace.path() == {"first": -10.0, "last": -1.0, "falls": 2, "largest_fall": 2.5, "largest_fall_at": 5}


@pytest.mark.parametrize("objective", [[], [3.0], [1.0, 2.0, 2.0], [1e9, 1e9 - 0.5, 1e9]])
def test_rising_traces_have_no_falls(objective):
    """Half a unit in a thousand million is rounding."""
    trace = EmTrace(np.array(objective), "converged")
    assert not len(trace.falls)
    assert trace.largest_fall == 0.0
    assert trace.path()["falls"] == 0
    assert trace.path()["largest_fall_at"] is None


def test_the_loop_returns_the_last_state_whose_objective_it_has_seen():
    def step(x):
        return x / 2, -(x**2)

    found, trace = run_em(step, 8.0, stop_when=relative_change(1e-30), max_iter=3)
    assert (found, trace.stop, trace.iterations) == (2.0, "max_iter", 3)
    np.testing.assert_array_equal(trace.objective, [-64.0, -16.0, -4.0])
    _, trace = run_em(step, 8.0, stop_when=relative_change(0.8), max_iter=30)
    assert (trace.stop, trace.iterations) == ("converged", 2)
