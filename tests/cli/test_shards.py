"""`unisono shard` and `unisono fuse` of shards, as a user types them."""

import json
import signal
import subprocess
import time

import numpy as np
import polars as pl
import pytest

from command_line import UNISONO, unisono, unisono_here
from sharded_cases import crowd_table, written


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("shards")
    written(crowd_table(), path / "ratings.csv")
    done = unisono_here("shard", "ratings.csv", "-o", "shards", "--rows", "400", cwd=path)
    assert done.returncode == 0, done.stderr
    assert "1,778 judgements of 300 items by 24 annotators (valence, arousal) in 5 shards: shards" in done.stdout
    return path


def test_shards_are_fused_part_by_part(folder, tmp_path):
    done = unisono_here("fuse", "shards", "--out", tmp_path / "out", "--no-report", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Written to" in done.stdout
    assert len(list((tmp_path / "out" / "truth").iterdir())) == 5
    known = unisono_here("fuse", "ratings.csv", "--out", tmp_path / "memory", "--no-report", cwd=folder)
    assert known.returncode == 0
    found = pl.read_parquet(tmp_path / "out" / "truth" / "*.parquet").sort("item")
    expected = pl.read_csv(tmp_path / "memory" / "truth.csv").sort("item")
    assert found.columns == expected.columns
    np.testing.assert_allclose(found.drop("item").to_numpy(), expected.drop("item").to_numpy(), atol=1e-3)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"truth", "annotators.csv", "annotators_overall.csv", "summary.json", "fit"}


def test_a_table_with_an_engine_writes_what_it_always_writes(folder, tmp_path):
    for name, more in (("memory", ()), ("engine", ("--engine", "processes", "--workers", "2"))):
        done = unisono_here("fuse", "ratings.csv", "--out", tmp_path / name, "--no-report", *more, cwd=folder)
        assert done.returncode == 0, done.stderr
    tables = [pl.read_csv(tmp_path / name / "truth.csv").sort("item") for name in ("memory", "engine")]
    assert tables[0].equals(tables[1])
    one, other = ((tmp_path / name / "annotators.csv").read_text() for name in ("memory", "engine"))
    assert one == other


def test_traces_with_an_engine_write_what_they_always_write(tmp_path):
    rng = np.random.default_rng(0)
    truth = np.cumsum(rng.standard_normal((3, 80)), axis=1) / 3
    rows = [
        {"recording": f"film {m}", "time": t / 4, "annotator": f"rater {k}", "valence": round(truth[m, t] + noise, 3)}
        for m in range(3)
        for k in range(4)
        for t, noise in enumerate(0.3 * rng.standard_normal(80))
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "traces.csv")
    words = {"memory": (), "engine": ("--engine", "processes", "--workers", "2"), "serial": ("--engine", "serial")}
    for name, more in words.items():
        done = unisono_here("fuse", "traces.csv", "--out", name, "--no-report", *more, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    for file in ("truth.csv", "annotators.csv", "annotators_overall.csv"):
        assert len({(tmp_path / name / file).read_bytes() for name in words}) == 1
    done = unisono_here("fuse", "traces.csv", "--engine", "serial", "--checkpoint", "kept", cwd=tmp_path)
    assert done.returncode == 2
    assert "for shards of items" in done.stderr
    models = ("--models", "mean,median", "--folds", "2", "--json")
    alone = unisono_here("compare", "traces.csv", *models, cwd=tmp_path)
    two = unisono_here("compare", "traces.csv", *models, "--engine", "processes", "--jobs", "2", cwd=tmp_path)
    assert two.returncode == 0, two.stderr
    one, other = (json.loads(done.stdout)["rows"] for done in (alone, two))
    assert [row | {"seconds": 0} for row in one] == [row | {"seconds": 0} for row in other]


def test_a_pattern_for_parquet_files(folder, tmp_path):
    pl.read_csv(folder / "ratings.csv").write_parquet(tmp_path / "one.parquet")
    for source in (folder / "shards" / "*.parquet", tmp_path / "*.parquet"):
        done = unisono_here("fuse", source, "--out", tmp_path / "out", "--no-report", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["judgements"] == 1778


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--kind", "judge=rater1", "--out", "o"), "--kind is for tables in memory"),
        (("--model", "mean", "--out", "o"), "'auto' or 'joint', not with 'mean'"),
        (("--item", "item", "--out", "o"), "--item is for tables in memory"),
        (("--window", "3", "--out", "o"), "--window is for tables in memory"),
        ((), "give --out DIR"),
        (("--resume", "--out", "o"), "--resume needs --checkpoint"),
        (("--engine", "spark", "--out", "o"), "'spark' is not one of"),
        (("--engine", "serial", "--workers", "2", "--out", "o"), "'processes' has several"),
        (("--scheduler", "tcp://a:1", "--out", "o"), "has no scheduler"),
    ],
)
def test_what_makes_no_sense_is_a_matter_of_usage(folder, arguments, words):
    done = unisono_here("fuse", "shards", *arguments, cwd=folder)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (folder / "o").exists()


def test_a_later_batch_starts_from_an_earlier_fit(folder, tmp_path):
    done = unisono_here("fuse", "ratings.csv", "--out", tmp_path / "first", "--no-report", cwd=folder)
    assert done.returncode == 0, done.stderr
    arguments = ("--start", tmp_path / "first", "--no-report", "--json")
    done = unisono_here("fuse", "shards", "--out", tmp_path / "later", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    first, later = (json.loads((tmp_path / name / "fit" / "fit.json").read_text()) for name in ("first", "later"))
    assert later["annotators"] == first["annotators"]
    behind = [np.load(tmp_path / name / "fit" / "arrays.npz")["items_behind"] for name in ("first", "later")]
    assert behind == [300, 600]


def test_features_and_known_truths_come_along(folder, tmp_path):
    items = pl.read_csv(folder / "ratings.csv")["item"].unique().sort()
    pl.DataFrame({"item": items, "length": np.arange(len(items)) % 7.0}).write_csv(tmp_path / "features.csv")
    pl.DataFrame({"item": items[:5], "valence": [3.0, 4.0, 5.0, 4.0, 3.0]}).write_csv(tmp_path / "gold.csv")
    beside = ("--features", tmp_path / "features.csv", "--gold", tmp_path / "gold.csv", "--no-report", "--json")
    for source in ("ratings.csv", "shards"):
        done = unisono_here("fuse", source, *beside, "--out", tmp_path / source, cwd=folder)
        assert done.returncode == 0, done.stderr
    one, other = (json.loads((tmp_path / name / "summary.json").read_text()) for name in ("ratings.csv", "shards"))
    assert one["gold"] == other["gold"]
    assert one["gold"]["items"] == 5
    assert json.loads((tmp_path / "shards" / "fit" / "fit.json").read_text())["features"] == ["length"]


def test_a_folder_without_shards(folder):
    (folder / "nothing").mkdir(exist_ok=True)
    done = unisono_here("fuse", "nothing", "--out", "o", cwd=folder)
    assert done.returncode == 2
    assert "`unisono shard` makes shards of a table" in done.stderr


def test_a_table_that_cannot_be_made_into_shards(folder, tmp_path):
    done = unisono_here("shard", "nothing.csv", "-o", tmp_path / "a", cwd=folder)
    assert done.returncode == 3
    assert "nothing.csv is no file" in done.stderr


@pytest.mark.slow
def test_ctrl_c_leaves_a_checkpoint_that_leads_to_the_same_bytes(folder, tmp_path):
    command = ["fuse", folder / "shards", "--no-report", "--tol", "1e-300", "--max-iter", "40"]
    whole = unisono(*command, "--out", tmp_path / "whole")
    kept = tmp_path / "kept"
    again = [*command, "--checkpoint", kept, "--out", tmp_path / "again"]
    running = subprocess.Popen([UNISONO, *map(str, again)], stderr=subprocess.PIPE, text=True)
    while not (kept / "checkpoint.npz").exists():
        assert running.poll() is None
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    assert "run the same again with --resume" in running.communicate(timeout=60)[1]
    assert running.returncode == 130
    assert not (tmp_path / "again").exists()
    assert unisono(*again, "--resume").returncode == whole.returncode
    for name in ("fit/arrays.npz", "annotators.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
