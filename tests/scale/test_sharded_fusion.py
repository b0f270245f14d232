"""The default on shards is the default in memory, with any engine, any number of shards, and workers that die."""

import os
import signal
import sys
import warnings

import numpy as np
import polars as pl
import pytest

from sharded_cases import crowd_table, written
from unisono.api import fuse, load
from unisono.errors import DataError, SettingsError
from unisono.scale.executors import SerialExecutor, open_engine
from unisono.scale.shard_writer import write_shards
from unisono.scale.sharded_fusion import fuse_shards


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return written(crowd_table(), tmp_path_factory.mktemp("table") / "ratings.csv")


@pytest.fixture(scope="module")
def shards(table):
    return write_shards(table, table.parent / "shards", rows=400)


@pytest.fixture(scope="module")
def in_memory(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fuse(str(table))


@pytest.fixture(scope="module")
def serial(shards):
    return fuse_shards(shards, SerialExecutor())


def assert_same_fit(found, expected, atol):
    a, b = found.fuser.arrays(), expected.fuser.arrays()
    assert set(a) == set(b)
    for name in a:
        np.testing.assert_allclose(a[name], b[name], rtol=0, atol=atol, err_msg=name)


def assert_same_bytes(found, expected):
    a, b = found.fuser.arrays(), expected.fuser.arrays()
    assert {name: value.tobytes() for name, value in a.items()} == {name: value.tobytes() for name, value in b.items()}
    assert found.fuser.trace_.objective.tobytes() == expected.fuser.trace_.objective.tobytes()


def truth_of(result, folder):
    result.save(folder, report=False)
    return pl.read_parquet(folder / "truth" / "*.parquet").sort("item")


def test_it_is_the_default_in_memory(serial, in_memory, tmp_path):
    assert len(serial.folder.files) == 5
    assert_same_fit(serial, in_memory, 1e-10)
    expected = pl.DataFrame(in_memory.fused.columns()).sort("item")
    found = truth_of(serial, tmp_path / "out")
    assert found["item"].to_list() == expected["item"].to_list()
    np.testing.assert_allclose(found.drop("item").to_numpy(), expected.drop("item").to_numpy(), atol=1e-8)


def test_answers_that_cannot_be_meant_and_levels_of_their_own_are_treated_as_in_memory(tmp_path):
    table = crowd_table(items=120, per_item=5).with_row_index("row")
    wild, own = pl.col("row") == 17, pl.col("annotator") == "rater9"
    valence = pl.when(wild).then(2100.0).when(own).then(pl.col("valence") + 500).otherwise(pl.col("valence"))
    path = written(table.with_columns(valence=valence).drop("row"), tmp_path / "ratings.csv")
    found = fuse_shards(write_shards(path, tmp_path / "shards", rows=200), SerialExecutor())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = fuse(str(path))
    assert_same_fit(found, expected, 1e-9)
    (one,), (other,) = ([a for a in result.alerts if a.kind == "wild-values"] for result in (found, expected))
    assert one == other
    assert "valence is 2100" in one.message


def test_everything_that_is_said_of_annotators_is_the_same(serial, in_memory, tmp_path):
    in_memory.save(tmp_path / "memory", report=False)
    serial.save(tmp_path / "shards", report=False)
    for name in ("annotators.csv", "annotators_overall.csv"):
        assert (tmp_path / "shards" / name).read_text() == (tmp_path / "memory" / name).read_text()
    assert [alert.kind for alert in serial.alerts] == [alert.kind for alert in in_memory.alerts]
    same = {"provenance", "objective", "alerts"}
    found, expected = serial.summary_data, in_memory.summary_data
    assert {k: v for k, v in found.items() if k not in same} == {k: v for k, v in expected.items() if k not in same}
    assert found["objective"]["last"] == pytest.approx(expected["objective"]["last"], rel=1e-12)
    assert "look like duplicates" in serial.summary()


@pytest.mark.parametrize(
    "settings", [{"copies": "keep"}, {"estimate": "posterior", "transform": "full"}, {"tol": 1e-5}]
)
def test_settings_mean_the_same(table, shards, settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = fuse(str(table), **settings)
    assert_same_fit(fuse_shards(shards, SerialExecutor(), **settings), expected, 1e-9)


@pytest.mark.parametrize("rows", [10_000, 150])
def test_any_number_of_shards_gives_the_same_parameters(table, serial, tmp_path, rows):
    other = write_shards(table, tmp_path / "shards", rows=rows)
    assert len(other.files) != 5
    assert_same_fit(fuse_shards(other, SerialExecutor()), serial, 1e-10)


def test_memory_that_is_short_costs_no_number(shards, serial, monkeypatch):
    monkeypatch.setattr("unisono.scale.executors._residents.most_bytes", 1)
    assert_same_bytes(fuse_shards(shards, SerialExecutor()), serial)


def kill_a_worker(executor):
    if executor.name == "processes":
        os.kill(executor.process_ids()[0], signal.SIGKILL)
    elif executor.name == "dask":
        os.kill(next(iter(executor.client.run(os.getpid).values())), signal.SIGKILL)
    else:
        sys.modules["ray"].kill(executor.actors[0], no_restart=False)


@pytest.mark.slow
def test_a_worker_killed_during_the_fit_costs_no_bit(shards, serial, executor):
    if executor.name == "serial":
        pytest.skip("the only worker is the test itself")
    killed = []

    def on_step(iteration, objective):
        if iteration == 2:
            kill_a_worker(executor)
            killed.append(iteration)

    assert_same_bytes(fuse_shards(shards, executor, on_step=on_step), serial)
    assert killed == [2]


@pytest.mark.slow
def test_a_worker_that_joins_takes_part(shards, serial):
    with open_engine("dask", 1) as executor:

        def on_step(iteration, objective):
            if iteration == 1:
                executor._cluster.scale(2)
                executor.client.wait_for_workers(2, timeout=30)

        assert_same_bytes(fuse_shards(shards, executor, on_step=on_step), serial)


def test_an_interrupted_fit_is_continued_to_the_same_bytes(shards, serial, tmp_path):
    def interrupt(iteration, objective):
        if iteration == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fuse_shards(shards, SerialExecutor(), checkpoint=tmp_path, on_step=interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.npz"]
    seen = []
    found = fuse_shards(
        shards, SerialExecutor(), checkpoint=tmp_path, resume=True, on_step=lambda iteration, _: seen.append(iteration)
    )
    assert seen[0] == 3
    assert_same_bytes(found, serial)
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_belongs_to_its_ratings_and_settings(shards, tmp_path):
    def interrupt(iteration, objective):
        if iteration == 3:
            raise KeyboardInterrupt

    with pytest.raises(DataError, match="holds no checkpoint"):
        fuse_shards(shards, SerialExecutor(), checkpoint=tmp_path, resume=True)
    with pytest.raises(KeyboardInterrupt):
        fuse_shards(shards, SerialExecutor(), checkpoint=tmp_path, on_step=interrupt)
    with pytest.raises(DataError, match="other settings"):
        fuse_shards(shards, SerialExecutor(), checkpoint=tmp_path, resume=True, tol=1e-3)
    (tmp_path / "checkpoint.npz").write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(DataError, match="is damaged"):
        fuse_shards(shards, SerialExecutor(), checkpoint=tmp_path, resume=True)


def test_the_driver_holds_no_rows(serial):
    data = serial.fitted.found.rows.data
    assert data.M == 300
    for rows in (data.y, data.item_ptr, data.profile_of):
        assert set(rows.strides) == {0}


def test_a_saved_fit_fuses_further_ratings(serial, in_memory, tmp_path, table):
    serial.save(tmp_path, report=False)
    again = load(tmp_path).fuse(str(table))
    known = load_in_memory(in_memory, tmp_path / "memory").fuse(str(table))
    np.testing.assert_allclose(again.mean, known.mean, atol=1e-9)


def load_in_memory(result, folder):
    result.save(folder, report=False)
    return load(folder)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model": "mean"}, "'auto' or 'joint', not with 'mean'"),
        ({"inference": "ml"}, "inference='ml' is for tables in memory"),
        ({"anchor": "none"}, "anchor='none' is for tables in memory"),
        ({"paper": True}, "paper=True is for tables in memory"),
        ({"copies": "some"}, "choose one of merge, keep"),
    ],
)
def test_what_there_is_not_for_shards(shards, settings, words):
    with pytest.raises(SettingsError, match=words):
        fuse_shards(shards, SerialExecutor(), **settings)


def test_ratings_that_contradict_themselves(tmp_path, shards):
    table = crowd_table(items=30).unique("item")
    alone = write_shards(written(table, tmp_path / "alone.csv"), tmp_path / "alone")
    with pytest.raises(DataError, match="No item has ratings by two annotators"):
        fuse_shards(alone, SerialExecutor())
    with pytest.raises(DataError, match="valence is 7, outside the scale"):
        fuse_shards(shards, SerialExecutor(), scale={"valence": (1, 6)})


def test_the_report_shows_a_sample_and_says_so(shards, tmp_path, monkeypatch):
    monkeypatch.setattr("unisono.scale.sharded_fusion.SHOWN_ITEMS", 100)
    result = fuse_shards(shards, SerialExecutor())
    result.save(tmp_path)
    page = (tmp_path / "report.html").read_text()
    shown = len(result.sample[0].items)
    assert 60 < shown < 140
    assert f"{shown} of\n300 items, one in 3, without pattern" in page
    assert "1,778 judgements of\n300 items" in page.replace("  ", " ")
