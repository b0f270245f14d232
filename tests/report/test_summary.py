"""The summary says whether estimates settled and what the objective did on the way, which are two things."""

import numpy as np
import pytest

import unisono as un
from trace_world import trace_world
from unisono.maths.em_loop import EmTrace
from unisono.report.summary import _convergence_line


def line(objective, stop="converged"):
    trace = EmTrace(np.array(objective, dtype=float), stop)
    return _convergence_line({"iterations": trace.iterations, "stop": stop, "objective": trace.path()})


@pytest.mark.parametrize(
    ("objective", "stop", "words"),
    [
        ([1, 2, 3], "converged", "Estimation converged after 3 iterations; the objective rose at every step."),
        ([1, 3, 2.5], "converged", "the objective fell once by 0.5 (iteration 3)."),
        ([1, 3, 2, 4, 3.5], "converged", "the objective fell 2 times, at most by 1 (iteration 3)."),
        ([1, 2], "max_iter", "Estimation stopped before it converged, after 2 iterations;"),
    ],
)
def test_convergence_in_words(objective, stop, words):
    assert words in line(objective, stop)


def test_the_bound_of_the_default_rises_and_it_is_said():
    result = un.fuse(un.load_dataset("squality"))
    path = result.summary_data["objective"]
    assert path["falls"] == 0
    assert "the objective rose at every step" in result.summary()
    assert result.fit.trace.path() == path


def test_an_average_has_no_objective_to_speak_of():
    result = un.fuse(un.load_dataset("squality"), model="mean")
    assert result.summary_data["objective"]["last"] is None
    assert "objective" not in result.summary()


def test_traces_say_it_too():
    result = un.fuse(trace_world().ratings)
    assert "the objective " in result.summary()
    assert result.summary_data["iterations"] == result.fuser.trace_.iterations
