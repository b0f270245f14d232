"""Shards hold the rows of a table, each item in one part, whatever it was written in; nothing is half written."""

import json

import numpy as np
import polars as pl
import pytest

from sharded_cases import crowd_table, written
from unisono.errors import DataError
from unisono.scale.shard_folder import is_sharded, item_labels, open_shards, read_part
from unisono.scale.shard_writer import write_shards


def rows_of(folder):
    """All rows again, with the annotators' names."""
    tables = [pl.read_parquet(path) for path in folder.paths()]
    names = pl.Series(folder.annotators)
    return pl.concat(tables).with_columns(names.gather(pl.concat(tables)["annotator"]).alias("annotator"))


def test_shards_hold_the_rows_of_the_table(tmp_path):
    table = crowd_table(items=80)
    found = write_shards(written(table, tmp_path / "ratings.csv"), tmp_path / "shards", rows=100)
    assert rows_of(found).sort("item", "annotator").equals(table.sort("item", "annotator"))
    assert sum(found.judgements) == table.height
    assert sum(found.items) == table["item"].n_unique()
    assert found.annotators[:3] == ("rater0", "rater1", "rater2")
    assert 3 <= len(found.files) <= 6
    labels = [item_labels(path) for path in found.paths()]
    assert [len(own) for own in labels] == list(found.items)
    assert [item for own in labels for item in own] == sorted(set(table["item"]))


def test_every_source_makes_the_same_shards(tmp_path, monkeypatch):
    monkeypatch.setattr("unisono.scale.shard_writer.STRETCH", 37)
    monkeypatch.setattr("unisono.scale.shard_writer.TOGETHER", 2)
    table = crowd_table(items=60)
    written(table, tmp_path / "ratings.csv")
    table.write_parquet(tmp_path / "one.parquet")
    (tmp_path / "several").mkdir()
    for n, part in enumerate(table.iter_slices(100)):
        part.write_parquet(tmp_path / "several" / f"{n}.parquet")
    table.write_csv(tmp_path / "tabs.tsv", separator="\t")
    sources = ["ratings.csv", "one.parquet", "several/*.parquet", "tabs.tsv"]
    found = [write_shards(str(tmp_path / name), tmp_path / f"out{n}", rows=90) for n, name in enumerate(sources)]
    first = rows_of(found[0]).sort("item", "annotator")
    for other in found[1:]:
        assert rows_of(other).sort("item", "annotator").equals(first)
        assert other.annotators == found[0].annotators


def test_columns_are_recognised_or_named(tmp_path):
    table = crowd_table(items=30).rename({"item": "clip", "annotator": "worker_id", "valence": "v"})
    path = written(table, tmp_path / "ratings.csv")
    found = write_shards(path, tmp_path / "a", item="clip", annotator="worker_id", dims={"mood": "v"})
    assert found.dimensions == ("mood",)
    assert found.roles == {"item": "clip", "annotator": "worker_id", "dimensions": {"mood": "v"}}
    value, item_of, annotator_of, items = read_part(found.paths()[0], found.dimensions)
    assert value.shape == (table.height, 1)
    assert np.isnan(value).sum() == table["v"].null_count()
    assert items == 30
    assert item_of.max() == 29
    assert annotator_of.dtype == np.int32


def bad(lines):
    return "item,annotator,joy\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (bad(["a,x,1", "a,y,2", "b,x,3", "b,y,?"]), r"ratings.csv row 5: joy is '\?'"),
        (bad(["a,x,1", ",y,2"]), "ratings.csv row 3: item is empty"),
        (bad(["a,x,1", "a,,2"]), "ratings.csv row 3: annotator is empty"),
        (bad(["a,x,1", "a,x,2"]), "annotator 'x' rated item 'a' more than once"),
        (bad(["a,x,1", "a,x,2,7"]), "ratings.csv row 3"),
        ("item,annotator,time,joy\na,x,0,1\na,x,1,2\na,y,0,1\na,y,1,3\n", "one row per judgement"),
        ("item,ann1,ann2\na,1,2\nb,2,3\n", "annotator"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(tmp_path, text, words):
    (tmp_path / "ratings.csv").write_text(text)
    with pytest.raises(DataError, match=words):
        write_shards(tmp_path / "ratings.csv", tmp_path / "shards")
    assert [path.name for path in tmp_path.iterdir()] == ["ratings.csv"]


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path):
    path = written(crowd_table(items=30), tmp_path / "ratings.csv")
    write_shards(path, tmp_path / "shards")
    with pytest.raises(DataError, match="not empty"):
        write_shards(path, tmp_path / "shards")


def test_what_is_no_folder_of_shards_says_what_to_do(tmp_path):
    found = write_shards(written(crowd_table(items=30), tmp_path / "ratings.csv"), tmp_path / "shards", rows=60)
    assert is_sharded(str(tmp_path / "shards"))
    assert is_sharded(str(tmp_path / "shards" / "*.parquet"))
    assert open_shards(str(tmp_path / "shards" / "*.parquet")) == found
    assert not is_sharded(str(tmp_path))
    with pytest.raises(DataError, match="unisono shard"):
        open_shards(str(tmp_path))
    (tmp_path / "shards" / found.files[1]).rename(tmp_path / "elsewhere")
    with pytest.raises(DataError, match=f"lacks {found.files[1]}"):
        open_shards(str(tmp_path / "shards"))
    manifest = tmp_path / "shards" / "shards.json"
    manifest.write_text(json.dumps({"format": 99}))
    with pytest.raises(DataError, match="another version"):
        open_shards(str(tmp_path / "shards"))
    manifest.write_text("{")
    with pytest.raises(DataError, match="damaged"):
        open_shards(str(tmp_path / "shards"))
