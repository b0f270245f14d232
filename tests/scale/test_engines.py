"""Every executor does the same: shards are made by tasks, results come in order, and a dead worker costs no number."""

import operator
import os
import platform
import resource
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import fields
from functools import partial

import numpy as np
import polars as pl
import pytest

from shard_work import (
    always_dies,
    complains,
    memory_limit,
    moved_sum,
    new_pages,
    numbers,
    process_of,
    sum_once_the_worker_died,
    weighted,
)
from unisono.api import fuse
from unisono.errors import EngineError, SettingsError
from unisono.maths.series.trace_parts import split
from unisono.paper.simulation import simulate_series
from unisono.scale.cluster_executors import shared_out
from unisono.scale.executors import Residents, Shard, Task, added, open_engine, pairwise_sum, run_tasks, summed_up

SIZES = [5, 50, 500, 7, 70, 3, 1]


def tasks(log=None):
    return [Task(numbers, (seed, size, log)) for seed, size in enumerate(SIZES)]


def expected(by):
    return [moved_sum(numbers(seed, size), by) for seed, size in enumerate(SIZES)]


def test_results_come_in_the_order_of_the_shards(executor):
    shards, seen = executor.load(tasks()), []
    found = list(executor.map(moved_sum, shards, 2.0, on_shard=lambda done, of: seen.append((done, of))))
    assert found == expected(2.0)
    assert seen == [(done, len(SIZES)) for done in range(1, len(SIZES) + 1)]


def test_shards_stay_where_they_are(executor, tmp_path):
    log = tmp_path / "made"
    shards = executor.load(tasks(str(log)))
    first, second = (list(executor.map(process_of, shards)) for _ in range(2))
    assert first == second
    made = [line.split() for line in log.read_text().splitlines()]
    assert sorted(int(seed) for seed, _ in made) == list(range(len(SIZES)))
    executor.forget(shards[1:])  # whatever their place among those to forget
    list(executor.map(process_of, shards))
    assert len(log.read_text().splitlines()) == 2 * len(SIZES) - 1


def test_a_worker_that_dies_costs_no_number(executor, tmp_path):
    if executor.name == "serial":
        pytest.skip("the only worker is the test itself")
    shards = executor.load(tasks())
    list(executor.map(moved_sum, shards, 0.0))
    found = list(executor.map(sum_once_the_worker_died, shards, str(tmp_path / "died")))
    assert (tmp_path / "died").exists()
    assert found == expected(0.0)


def test_what_a_function_raises_arrives(executor):
    with pytest.raises(ValueError, match="part of the ratings is wrong"):
        list(executor.map(complains, executor.load(tasks())))


def test_tasks_are_done_in_order_with_what_they_have_in_common(executor):
    seen, own, common = [], [(float(n), f"task {n}") for n in range(5)], (np.arange(4.0),)
    found = run_tasks(weighted, own, executor, lambda done, of: seen.append((done, of)), common=common)
    assert found == run_tasks(weighted, own, common=common) == [(f"task {n}", 6.0 * n) for n in range(5)]
    assert seen == [(done, 5) for done in range(1, 6)]


def test_no_processes_at_all_is_a_wrong_setting():
    with pytest.raises(SettingsError, match="jobs=0"):
        run_tasks(float, [(1,)], 0)


def test_functions_of_a_script_reach_processes():
    lines = ["from unisono.scale.executors import run_tasks", "def f(a, b): return a + b"]
    code = "\n".join([*lines, "print(run_tasks(f, [(1,), (2,)], 2, common=(3,)))"])
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[4, 5]"


@pytest.fixture(scope="module")
def traces():
    return simulate_series(recordings=4, frames=300, features=0, realistic=True, rate=10.0, window=8, seed=3).ratings


@pytest.fixture(scope="module")
def fused_here(traces):
    found = fuse(traces)
    return found, found.described


def test_traces_are_fused_as_they_are_here_though_a_worker_dies(executor, traces, fused_here, monkeypatch, tmp_path):
    """In four parts instead of one, by every engine; a worker dies in an iteration, and its parts are made again."""
    monkeypatch.setattr("unisono.fusers.trace_data.split", partial(split, rows=1000))
    numbers_too = executor.load(tasks())

    def on_step(iteration, objective):
        if executor.name != "serial":
            list(executor.map(sum_once_the_worker_died, numbers_too, str(tmp_path / "died")))

    found, (here, described) = fuse(traces, executor=executor, on_step=on_step), fused_here
    assert (tmp_path / "died").exists() or executor.name == "serial"
    a, b = found.fuser.arrays(), here.fuser.arrays()
    assert a.keys() == b.keys()
    for name in a:
        if a[name].dtype.kind == "f":
            np.testing.assert_allclose(a[name], b[name], rtol=0, atol=1e-10, err_msg=name)
    np.testing.assert_allclose(found.fused.mean, here.fused.mean, atol=1e-10)
    np.testing.assert_allclose(found.fused.cov, here.fused.cov, atol=1e-10)
    for one in fields(described):
        value = getattr(described, one.name)
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(getattr(found.described, one.name), value, atol=1e-9, err_msg=one.name)


def test_pieces_that_a_worker_does_not_see():
    with open_engine("processes", 1) as executor:
        shards = executor.keep([1, 2], float)
        shutil.rmtree(os.path.dirname(shards[0].task.arguments[0]))
        with pytest.raises(EngineError, match=r"does not see .* set TMPDIR"):
            list(executor.map(moved_sum, shards, 0.0))


def test_workers_keep_the_memory_they_freed(executor):
    """Elsewhere than with glibc there is nothing to set, and nothing to see."""
    if executor.name not in ("processes", "dask"):
        pytest.skip("set where we start the process ourselves")
    (pages,) = executor.map(new_pages, executor.keep([0], float))
    filled = 5 * 8 * 8 * (1 << 20) // resource.getpagesize()
    assert platform.libc_ver()[0] != "glibc" or pages < filled / 10


def test_an_executor_of_items_is_refused_with_the_way_out():
    table = pl.DataFrame({"item": [1, 1, 2, 2], "annotator": ["a", "b"] * 2, "x": [1, 2, 3, 4]})
    with open_engine("serial") as executor, pytest.raises(SettingsError, match="fuse_shards"):
        fuse(table, executor=executor)


def test_a_shard_that_kills_every_process_is_named():
    with open_engine("processes", 2) as executor, pytest.raises(EngineError, match=r"part 1 .* died 3 times"):
        list(executor.map(always_dies, executor.load(tasks())))


def test_processes_are_several_and_may_hold_much(executor):
    if executor.name != "processes":
        pytest.skip("the limit is joblib's")
    shards = executor.load(tasks())
    assert len(set(executor.map(process_of, shards))) == 2
    assert set(executor.map(memory_limit, shards)) == {float("inf")}


@pytest.mark.parametrize(("engine", "library"), [("dask", "distributed"), ("ray", "ray")])
def test_an_engine_that_is_not_installed_names_its_extra(engine, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(SettingsError, match=rf"pip install 'unisono\[{engine}\]'"):
        open_engine(engine, 2)


def test_a_scheduler_that_does_not_answer(monkeypatch):
    monkeypatch.setattr("unisono.scale.cluster_executors.WAIT", "1s")
    with pytest.raises(EngineError, match=r"No Dask scheduler .* tcp://127.0.0.1:9"):
        open_engine("dask", scheduler="tcp://127.0.0.1:9")


def test_a_scheduler_that_is_lost_in_the_middle():
    with open_engine("dask", 1) as executor:
        shards = executor.load(tasks())
        results = executor.map(moved_sum, shards, 0.0)
        next(results)
        executor._cluster.close()
        with pytest.raises(EngineError, match="was lost"):
            list(executor.map(moved_sum, shards, 1.0))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"name": "spark"}, "choose one of serial, processes, dask, ray"),
        ({"name": "serial", "workers": 2}, "'processes' has several"),
        ({"name": "processes", "workers": 0}, "at least 1"),
        ({"name": "processes", "scheduler": "tcp://a:1"}, "has no scheduler"),
    ],
)
def test_settings_that_make_no_sense(how, words):
    with pytest.raises(SettingsError, match=words):
        open_engine(**how)


def test_memory_that_is_short_lets_go_of_the_shard_not_needed_for_longest():
    made = []

    def make(place):
        made.append(place)
        return np.zeros(1000)

    residents = Residents(most_bytes=2 * 8000)
    shards = [Shard(str(place), Task(make, (place,))) for place in range(3)]
    for place in (0, 1, 0, 2, 0, 1):
        residents.get(shards[place])
    assert made == [0, 1, 2, 1]
    assert len(residents) == 2


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13])
def test_sums_are_pairwise(count):
    words = [str(n) for n in range(count)]
    found = pairwise_sum(iter(words), lambda a, b: f"({a}{b})")
    assert "".join(c for c in found if c.isdigit()) == "".join(words)
    depth = max(found[:i].count("(") - found[:i].count(")") for i in range(1, len(found) + 1))
    assert depth <= np.ceil(np.log2(max(count, 1))) if count > 1 else depth == 0


def test_shards_are_shared_out_evenly_and_few_move_when_a_worker_joins():
    before, after = shared_out(400, ["a", "b", "c"]), shared_out(400, ["a", "b", "c", "d"])
    assert max(Counter(before).values()) == 134
    assert set(Counter(after).values()) == {100}
    moved = sum(was != now for was, now in zip(before, after, strict=True))
    assert 100 <= moved < 140


def test_engines_are_loaded_only_when_asked_for():
    code = "import unisono.scale.executors, sys; print({'ray', 'distributed', 'joblib'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_a_local_cluster_that_cannot_start_says_what_a_script_needs():
    code = "from unisono.scale.executors import open_engine\nwith open_engine('dask', workers=1) as one:\n    pass\n"
    done = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True, check=False)
    assert "EngineError: Workers of a local Dask cluster could not be started" in done.stderr
    assert "__name__ == '__main__'" in done.stderr


def test_sums_are_one_tree_whoever_adds(executor):
    """The same bits as pair by pair, with neighbours summed by one worker or not, and though a worker dies."""
    for count in (1, 2, 7, 40, 203):
        shards = executor.load([Task(numbers, (seed, 3 + seed % 4, None)) for seed in range(count)])
        expected = pairwise_sum([moved_sum(numbers(seed, 3 + seed % 4), 0.1) for seed in range(count)], operator.add)
        assert executor.total(moved_sum, shards, 0.1, add=operator.add) == expected
        executor.forget(shards)


def test_a_worker_that_dies_within_a_tree_costs_no_bit(executor, tmp_path):
    if executor.name == "serial":
        pytest.skip("the only worker is the test itself")
    shards = executor.load([Task(numbers, (seed, 5, None)) for seed in range(40)])
    expected = pairwise_sum([moved_sum(numbers(seed, 5), 0.0) for seed in range(40)], operator.add)
    assert executor.total(sum_once_the_worker_died, shards, str(tmp_path / "died"), add=operator.add) == expected
    assert (tmp_path / "died").exists()


@pytest.mark.parametrize("count", [*range(1, 40), 64, 65, 127, 200, 513])
@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_groups_of_neighbours_are_the_same_tree(count, size):
    leaves = [str(n) for n in range(count)]
    groups = [pairwise_sum(leaves[start : start + size], bracketed) for start in range(0, count, size)]
    assert summed_up(groups, lambda parts: added(bracketed, *parts)) == pairwise_sum(leaves, bracketed)


def bracketed(one, other):
    return f"({one}{other})"
