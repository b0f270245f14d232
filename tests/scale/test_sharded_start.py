"""Shards that start from an earlier fit: as a table in memory does, whoever rates again and whoever does not."""

import warnings

import numpy as np
import polars as pl
import pytest

from sharded_cases import crowd_table, written
from unisono.api import fuse, load
from unisono.errors import DataError
from unisono.scale.executors import SerialExecutor
from unisono.scale.shard_writer import write_shards
from unisono.scale.sharded_fusion import fuse_shards


@pytest.fixture(scope="module")
def batches(tmp_path_factory):
    """Folder with an earlier fit, a later table and its shards; two annotators of the first batch rate no more."""
    folder = tmp_path_factory.mktemp("batches")
    later = crowd_table(items=120, seed=1).with_columns(item=pl.concat_str(pl.lit("late"), "item"))
    later = later.filter(~pl.col("annotator").is_in(["rater1", "rater9"]))
    written(later, folder / "later.csv")
    first = fuse_quietly(str(written(crowd_table(items=200), folder / "first.csv")))
    first.save(folder / "first", report=False)
    write_shards(folder / "later.csv", folder / "shards", rows=150)
    return folder


def fuse_quietly(*arguments, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fuse(*arguments, **settings)


def shards_of(folder):
    from unisono.scale.shard_folder import open_shards

    return open_shards(str(folder / "shards"))


@pytest.mark.parametrize("copies", ["merge", "keep"])
def test_it_is_the_fit_in_memory(batches, tmp_path, copies):
    expected = fuse_quietly(str(batches / "later.csv"), start=batches / "first", copies=copies)
    found = fuse_shards(shards_of(batches), SerialExecutor(), start=batches / "first", copies=copies)
    a, b = found.fuser.arrays(), expected.fuser.arrays()
    assert set(a) == set(b)
    for name in a:
        np.testing.assert_allclose(a[name], b[name], rtol=0, atol=1e-9, err_msg=name)
    assert found.fuser.annotators_ == expected.fuser.annotators_
    assert {"rater1", "rater9"} <= set(found.fuser.annotators_)
    found.save(tmp_path / "shards", report=False)
    expected.save(tmp_path / "memory", report=False)
    truth = pl.read_parquet(tmp_path / "shards" / "truth" / "*.parquet").sort("item")
    table = pl.DataFrame(expected.fused.columns()).sort("item")
    assert truth["item"].to_list() == table["item"].to_list()
    np.testing.assert_allclose(truth.drop("item").to_numpy(), table.drop("item").to_numpy(), atol=1e-8)
    same, known = (pl.read_csv(tmp_path / name / "annotators.csv") for name in ("shards", "memory"))
    assert same.columns == known.columns
    for column in known.columns:
        assert same[column].to_list() == known[column].to_list(), column


def test_an_earlier_fit_counts(batches):
    alone = fuse_shards(shards_of(batches), SerialExecutor())
    found = fuse_shards(shards_of(batches), SerialExecutor(), start=load(batches / "first"))
    assert found.fuser.items_behind_ == alone.fuser.items_behind_ + 200
    assert found.fuser.judgements_.sum() > 2 * alone.fuser.judgements_.sum()


def test_engines_give_the_same_bytes(batches, executor):
    serial = fuse_shards(shards_of(batches), SerialExecutor(), start=batches / "first")
    found = fuse_shards(shards_of(batches), executor, start=batches / "first")
    a, b = serial.fuser.arrays(), found.fuser.arrays()
    assert {name: value.tobytes() for name, value in a.items()} == {name: value.tobytes() for name, value in b.items()}


def test_a_checkpoint_knows_where_the_fit_started(batches, tmp_path):
    def interrupt(iteration, objective):
        if iteration == 1:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fuse_shards(
            shards_of(batches), SerialExecutor(), start=batches / "first", checkpoint=tmp_path, on_step=interrupt
        )
    with pytest.raises(DataError, match="belongs to a fit of other ratings or with other settings"):
        fuse_shards(shards_of(batches), SerialExecutor(), checkpoint=tmp_path, resume=True)


def test_an_earlier_fit_of_something_else_is_refused(batches, tmp_path):
    other = crowd_table(items=60).rename({"arousal": "dominance"})
    fuse_quietly(str(written(other, tmp_path / "other.csv"))).save(tmp_path / "other", report=False)
    with pytest.raises(DataError, match="they have to be the same, in the same order"):
        fuse_shards(shards_of(batches), SerialExecutor(), start=tmp_path / "other")
    fuse_quietly(str(batches / "first.csv"), model="mean").save(tmp_path / "mean", report=False)
    with pytest.raises(DataError, match="not of 'mean'"):
        fuse_shards(shards_of(batches), SerialExecutor(), start=tmp_path / "mean")
