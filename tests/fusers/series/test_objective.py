"""The law of the objective on the default as it ships: delays searched, populations updated, frames discounted.

The trace of a fit is that of its climb, after signs and delays have been searched for: no step of it may fall.
"""

import numpy as np
import pytest

import unisono as un
from recorded_cases import film
from trace_world import trace_world, with_spoiled_annotator
from unisono.fusers import make_fuser

pytestmark = pytest.mark.slow

ROUNDING = 1e-8  # nats, of sums over ten thousands of frames

WORLDS = {
    **{f"clean {seed}": lambda seed=seed: trace_world(seed=seed, noise=0.1 * 3**seed).ratings for seed in range(3)},
    "drifting": lambda: with_spoiled_annotator(trace_world(seed=2).ratings, "drifting", 2),
    "random": lambda: with_spoiled_annotator(trace_world(seed=5).ratings, "random", 5),
    "reversed": lambda: with_spoiled_annotator(trace_world(seed=11).ratings, "reversed", 11),
}


def steps(ratings):
    """Changes of the objective from state to state."""
    trace = make_fuser("joint", series=True).fit(ratings).trace_
    assert trace.converged
    return np.diff(trace.objective)


@pytest.mark.parametrize("world", WORLDS)
def test_no_step_falls(world):
    assert steps(WORLDS[world]()).min() > -ROUNDING


@pytest.mark.parametrize("frames", [300, None])
def test_no_step_falls_on_a_real_film(frames):
    assert steps(un.load_dataset("forrest_gump") if frames is None else film("forrest_gump", frames)).min() > -ROUNDING
