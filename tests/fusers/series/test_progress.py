"""What a fit of traces tells whoever watches: one count of tasks over all of it, and phases beside EM."""

from __future__ import annotations

import pytest

from trace_world import trace_world
from unisono.fusers import series

pytestmark = pytest.mark.slow


class Recorder:
    """Somebody who watches and remembers."""

    def __init__(self):
        self.steps, self.tasks, self.phases = [], [], []

    def __call__(self, iteration, objective):
        self.steps.append(iteration)

    def task(self, done, total):
        self.tasks.append((done, total))

    def phase(self, what, done, total):
        self.phases.append((what, done, total))


@pytest.fixture(scope="module")
def world():
    return trace_world(lengths=(130, 120), K=3)


def watched(fuser, world, **tables):
    seen = Recorder()
    fuser.fit(world.ratings, on_step=seen, **tables)
    return seen


@pytest.mark.filterwarnings("ignore::unisono.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    ("fuser", "total"),
    [
        (series.Independent(max_iter=2), 2),
        (series.PaperJoint(restarts=3, max_iter=1), 2 * 4 + 3),
        (series.PaperJoint(restarts=3, width=5, max_iter=2), 3),
        (series.PaperIndependent(restarts=3, max_iter=1), 2 * 4 + 2 * 3),
    ],
    ids=["independent", "widths", "width", "widths, one by one"],
)
def test_one_count_over_the_whole_fit(world, fuser, total):
    seen = watched(fuser, world)
    done = [count for count, _ in seen.tasks]
    assert {whole for _, whole in seen.tasks} == {total}
    assert done == sorted(set(done))  # rises, and never says the same thing twice
    assert (done[0], done[-1]) == (0, total)


@pytest.mark.filterwarnings("ignore::unisono.errors.ConvergenceWarning")
def test_processes_count_alike(world):
    alone, two = (watched(series.PaperJoint(restarts=3, width=5, max_iter=2, jobs=jobs), world) for jobs in (1, 2))
    assert alone.tasks == two.tasks == [(done, 3) for done in range(4)]


@pytest.mark.filterwarnings("ignore::unisono.errors.ConvergenceWarning")
def test_features_and_gold_are_a_single_run(world):
    fuser = series.Joint(max_iter=2, lag=0.4)
    assert not watched(fuser, world, features=world.features).tasks
    assert not watched(fuser, world, gold=world.truth).tasks


@pytest.mark.filterwarnings("ignore::unisono.errors.ConvergenceWarning")
@pytest.mark.parametrize("fuser", [series.Joint(max_iter=3), series.PaperJoint(restarts=1, width=5, max_iter=3)])
def test_a_single_run_is_told_by_its_iterations(world, fuser):
    seen = watched(fuser, world)
    assert seen.tasks == []
    assert seen.steps == list(range(len(seen.steps)))
    assert len(seen.steps) >= 2


def test_the_search_for_delays_and_their_intervals_are_told(world):
    fuser = series.Joint()
    seen = watched(fuser, world)
    assert {what for what, _, _ in seen.phases} == {"delays"}
    looks = [(done, total) for _, done, total in seen.phases]
    assert [done for done, _ in looks] == list(range(1, len(looks) + 1))
    assert looks[-1][0] == looks[-1][1] >= 3  # 3 annotators; more where one has moved
    assert all(done <= total for done, total in looks)
    described = Recorder()
    fuser.describe(described)
    agreement = [("agreement of annotators", 1, 1)]  # a few short recordings are one part
    assert described.phases == agreement  # the search gave the intervals
    other = series.Joint()
    watched(other, world, features=world.features)
    other.describe(described := Recorder())
    assert described.phases == agreement


def test_a_plain_function_may_watch(world):
    steps = []
    fuser = series.PaperJoint(restarts=2, width=5, max_iter=2)
    with pytest.warns(match="before it converged"):
        fuser.fit(world.ratings, on_step=lambda iteration, objective: steps.append(iteration))
    fuser.describe(lambda iteration, objective: steps.append(iteration))
    assert steps == []  # tasks are no iterations
