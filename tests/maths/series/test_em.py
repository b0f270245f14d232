"""What the models of series ask of the one EM loop: a fixed number of steps, and the state after the last of them."""

import numpy as np
import pytest

from unisono.maths.em_loop import never, not_before, relative_change, run_em


def halve(x):
    """A step from x to x / 2 with objective -x."""
    return x / 2, -x


@pytest.mark.parametrize(("keep", "state"), [("seen", 1.0), ("next", 0.5)])
def test_the_state_returned_is_the_last_seen_or_the_next(keep, state):
    found, trace = run_em(halve, 4.0, stop_when=never, max_iter=3, keep=keep)
    assert (found, trace.stop) == (state, "max_iter")
    np.testing.assert_array_equal(trace.objective, [-4.0, -2.0, -1.0])
    settled, trace = run_em(halve, 4.0, stop_when=relative_change(0.6), max_iter=30, keep=keep)
    assert (settled, trace.stop) == (2 * state, "converged")


@pytest.mark.parametrize(("tol", "stop"), [(0.6, "converged"), (0.4, "max_iter")])
def test_a_rule_not_before_the_end_says_only_whether_it_settled(tol, stop):
    _, trace = run_em(halve, 4.0, stop_when=not_before(5, relative_change(tol)), max_iter=5)
    assert (trace.iterations, trace.stop) == (5, stop)
