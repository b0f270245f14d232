"""Slips and unclear items, features and known truths on shards: as in memory, though a worker dies in the middle."""

import os
import signal
import sys
import warnings
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

from sharded_cases import hard_table, mixed_table, written
from unisono.api import fuse
from unisono.errors import DataError
from unisono.scale.executors import SerialExecutor, open_engine
from unisono.scale.shard_em import _weighed
from unisono.scale.shard_folder import ShardFolder
from unisono.scale.shard_writer import write_shards
from unisono.scale.sharded_fusion import fuse_shards


class Case(NamedTuple):
    """A table, its shards, what else is known of its items, and the fusion in memory."""

    shards: ShardFolder
    beside: dict
    expected: object


def case_of(folder, world, beside, rows=400):
    folder.mkdir(exist_ok=True)
    path = written(world.ratings, folder / "ratings.csv")
    beside = {name: getattr(world, name) if name in ("features", "gold") else value for name, value in beside.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = fuse(str(path), **beside)
    return Case(write_shards(path, folder / "shards", rows=rows), beside, expected)


ONES = {
    "slips": (hard_table, {}),
    "gold": (hard_table, {"gold": ..., "slips": False}),
    "features": (hard_table, {"features": ..., "slips": False}),
    "gold that turns": (mixed_table, {"gold": ...}),
    "gold that turns two of three": (mixed_table, {"gold": ..., "features": ...}),
    "all": (hard_table, {"gold": ..., "features": ...}),
}


@pytest.fixture(scope="module", params=ONES)
def case(request, tmp_path_factory):
    make, beside = ONES[request.param]
    world = make(3) if "two of three" in request.param else make()
    return case_of(tmp_path_factory.mktemp("case"), world, beside)


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    return case_of(tmp_path_factory.mktemp("all"), hard_table(), {"gold": ..., "features": ...}, rows=200)


def assert_same(found, expected, folder):
    a, b = found.fuser.arrays(), expected.fuser.arrays()
    assert set(a) == set(b)
    for name in a:
        if a[name].dtype.kind == "U":
            assert a[name].tolist() == b[name].tolist()
        else:
            np.testing.assert_allclose(a[name], b[name], rtol=0, atol=1e-8, err_msg=name)
    found.save(folder / "shards", report=False)
    expected.save(folder / "memory", report=False)
    truth = pl.read_parquet(folder / "shards" / "truth" / "*.parquet").sort("item")
    table = pl.DataFrame(expected.fused.columns()).sort("item")
    assert truth.columns == table.columns
    assert truth["item"].to_list() == table["item"].to_list()
    np.testing.assert_allclose(truth.drop("item").to_numpy(), table.drop("item").to_numpy(), atol=1e-8)
    for name in ("annotators.csv", "annotators_overall.csv"):
        assert (folder / "shards" / name).read_text() == (folder / "memory" / name).read_text()
    same = {"provenance", "objective", "alerts"}
    one, other = found.summary_data, expected.summary_data
    assert {k: v for k, v in one.items() if k not in same} == {k: v for k, v in other.items() if k not in same}


def test_it_is_the_fusion_in_memory(case, tmp_path):
    found = fuse_shards(case.shards, SerialExecutor(), **case.beside)
    assert_same(found, case.expected, tmp_path)


def test_the_cases_are_what_they_are_called(tmp_path):
    slips = case_of(tmp_path / "one", hard_table(), {})
    assert np.isfinite(slips.expected.fuser.params_.tails).any()
    assert "unclear" in slips.expected.fused.columns()
    turned = case_of(tmp_path / "two", mixed_table(), {"gold": ...})
    assert turned.expected.fuser.turned_.everything(2)
    assert len(case_of(tmp_path / "three", mixed_table(3), {"gold": ...}).expected.fuser.turned_.dims) == 2


def assert_same_bytes(found, expected):
    a, b = found.fuser.arrays(), expected.fuser.arrays()
    assert {name: value.tobytes() for name, value in a.items()} == {name: value.tobytes() for name, value in b.items()}


def kill_a_worker(executor):
    if executor.name == "processes":
        os.kill(executor.process_ids()[0], signal.SIGKILL)
    elif executor.name == "dask":
        os.kill(next(iter(executor.client.run(os.getpid).values())), signal.SIGKILL)
    elif executor.name == "ray":
        sys.modules["ray"].kill(executor.actors[0], no_restart=False)


@pytest.mark.slow
def test_a_worker_killed_when_judgements_are_weighed_costs_no_bit(everything, executor):
    serial = fuse_shards(everything.shards, SerialExecutor(), **everything.beside)
    iterations = []

    def on_step(iteration, objective):
        iterations.append(iteration)
        if iterations.count(2) == 2 and iteration == 2:  # of the second climb, which weighs judgements
            kill_a_worker(executor)

    assert_same_bytes(fuse_shards(everything.shards, executor, on_step=on_step, **everything.beside), serial)
    assert iterations.count(2) >= 2


def test_weights_that_are_lost_are_found_again_to_the_same_bits(everything):
    serial = fuse_shards(everything.shards, SerialExecutor(), **everything.beside)
    lost = []

    def on_step(iteration, objective):
        if _weighed and iteration in (1, 2, 5):
            for key in list(_weighed)[iteration % 2 :: 2]:
                lost.append(_weighed.pop(key))

    found = fuse_shards(everything.shards, SerialExecutor(), on_step=on_step, **everything.beside)
    assert len(lost) > 6
    assert_same_bytes(found, serial)
    assert not _weighed


def test_two_processes_turn_the_same_dimensions(tmp_path):
    turned = case_of(tmp_path / "case", mixed_table(3), {"gold": ..., "features": ...})
    serial = fuse_shards(turned.shards, SerialExecutor(), **turned.beside)
    with open_engine("processes", 2) as executor:
        found = fuse_shards(turned.shards, executor, **turned.beside)
        assert_same_bytes(found, serial)
        assert_same(found, turned.expected, tmp_path)


@pytest.mark.parametrize("climb", [1, 2])
def test_an_interrupted_fit_is_continued_to_the_same_bytes(everything, tmp_path, climb):
    serial = fuse_shards(everything.shards, SerialExecutor(), **everything.beside)
    seen = []

    def interrupt(iteration, objective):
        seen.append(iteration)
        if seen.count(4) == climb:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fuse_shards(everything.shards, SerialExecutor(), checkpoint=tmp_path, on_step=interrupt, **everything.beside)
    seen.clear()
    how = {"checkpoint": tmp_path, "resume": True, "on_step": lambda iteration, _: seen.append(iteration)}
    assert_same_bytes(fuse_shards(everything.shards, SerialExecutor(), **how, **everything.beside), serial)
    assert seen[0] == 4


def test_memory_that_is_short_costs_no_number(everything, monkeypatch):
    serial = fuse_shards(everything.shards, SerialExecutor(), **everything.beside)
    monkeypatch.setattr("unisono.scale.executors._residents.most_bytes", 1)
    assert_same_bytes(fuse_shards(everything.shards, SerialExecutor(), **everything.beside), serial)


def test_known_truths_and_features_that_cannot_be_used(everything):
    gold, features = everything.beside["gold"], everything.beside["features"]
    strange = gold.with_columns(item=pl.concat_str(pl.lit("x"), "item"))
    with pytest.raises(DataError, match="not among the items of"):
        fuse_shards(everything.shards, SerialExecutor(), gold=strange)
    with pytest.raises(DataError, match="has no row for item"):
        fuse_shards(everything.shards, SerialExecutor(), features=features.head(20))
    upside_down = gold.with_columns(valence=8 - pl.col("valence"))
    with pytest.raises(DataError, match="valence"):
        fuse_shards(everything.shards, SerialExecutor(), gold=upside_down)
