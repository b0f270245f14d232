"""Scale of the estimate, known truths and earlier fits through the real command."""

from __future__ import annotations

import json

import polars as pl
import pytest

from command_line import unisono_here
from unisono.paper.simulation import simulate_items

pytestmark = pytest.mark.slow


def write_table(path, table, labels):
    path.write_text("\n".join([",".join(labels), *(",".join(map(str, row)) for row in table)]) + "\n")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Two batches of one crowd, and the truth of five items of the first."""
    folder = tmp_path_factory.mktemp("world")
    drawn = simulate_items(
        items=60, annotators=8, ratings_per_item=4, features=0, transform="near-identity", spread=0.1, bias=0.3, seed=3
    )
    ratings = drawn.ratings
    rows = [
        (ratings.items[m], ratings.annotators[k], *value)
        for m, k, value in zip(ratings.item_of, ratings.annotator_of, ratings.value, strict=True)
    ]
    labels = ("item", "annotator", "dim1", "dim2")
    first = set(ratings.items[:40])
    write_table(folder / "one.csv", [row for row in rows if row[0] in first], labels)
    write_table(folder / "two.csv", [row for row in rows if row[0] not in first], labels)
    write_table(folder / "other.csv", rows, ("item", "annotator", "dim1", "dim3"))
    known = [(item, *(value + 0.3)) for item, value in zip(drawn.truth.items[:5], drawn.truth.value, strict=False)]
    write_table(folder / "gold.csv", known, ("item", "dim1", "dim2"))
    done = unisono_here("fuse", "one.csv", "--out", "first", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def spread(world, *options):
    done = unisono_here("fuse", "one.csv", *options, cwd=world)
    assert done.returncode == 0, done.stderr
    return pl.read_csv(done.stdout.encode())["dim1"].std()


def test_the_estimate_has_the_scale_that_was_asked_for(world):
    default = spread(world)
    assert spread(world, "--estimate", "posterior") < default
    assert spread(world, "--panel", "inf") < default < spread(world, "--panel", "2")


def test_a_new_batch_starts_from_an_earlier_fit(world, tmp_path):
    options = ("--panel", "inf", "--out", tmp_path / "second")
    done = unisono_here("fuse", "two.csv", "--start", "first", *options, cwd=world)
    assert done.returncode == 0, done.stderr
    truth = pl.read_csv(tmp_path / "second" / "truth.csv")
    assert truth["item"].to_list() == [f"item{m}" for m in range(41, 61)]
    alone = pl.read_csv(unisono_here("fuse", "two.csv", "--panel", "inf", cwd=world).stdout.encode())
    assert (truth["dim1"] - alone["dim1"]).abs().max() > 1e-3
    done = unisono_here("fuse", "one.csv", "--start", tmp_path / "second" / "fit", cwd=world)  # and so on
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("two.csv", "--start", "nowhere"), 2, "'nowhere' does not exist"),
        (("two.csv", "--start", "."), 3, "is not a saved fit"),
        (("other.csv", "--start", "first"), 3, "'dim1' and 'dim3', the fit to start from has 'dim1' and 'dim2'"),
        (("two.csv", "--start", "first", "--model", "mean"), 3, "the model 'auto' or 'joint'"),
        (("two.csv", "--start", "first", "--anchor", "uncorrelated"), 3, "anchor='average'"),
        (("two.csv", "--start", "first", "--transform", "full"), 3, "equal settings"),
        (("two.csv", "--panel", "0"), 2, "0"),
        (("two.csv", "--model", "joint", "--inference", "ml", "--estimate", "matched"), 2, "inference='bayes'"),
    ],
)
def test_what_does_not_go_together_is_refused_and_nothing_is_written(world, tmp_path, arguments, code, words):
    done = unisono_here("fuse", *arguments, "--out", tmp_path / "out", cwd=world)
    assert (done.returncode, done.stdout) == (code, "")
    assert "Traceback" not in done.stderr
    assert words in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


def test_the_summary_says_what_known_truths_changed(world, tmp_path):
    done = unisono_here("fuse", "one.csv", "--gold", "gold.csv", "--out", tmp_path / "out", cwd=world)
    assert done.returncode == 0, done.stderr
    assert "Known truths of 5 items:" in done.stdout
    assert "moved the estimates by +" in done.stdout
    gold = json.loads((tmp_path / "out" / "summary.json").read_text())["gold"]
    assert gold["items"] == 5
    assert 0.05 < gold["dim1"]["offset"] < 0.4
    assert gold["dim1"]["slope_low"] < 1 < gold["dim1"]["slope_high"]
    truth = pl.read_csv(tmp_path / "out" / "truth.csv").filter(pl.col("item") == "item1")
    assert truth["dim1_sd"].item() == 0
    assert truth["dim1_low"].item() == truth["dim1_high"].item() == truth["dim1"].item()


def test_known_truths_in_another_unit_are_obeyed_if_asked(world, tmp_path):
    plain = unisono_here("fuse", "one.csv", "--out", tmp_path / "plain", cwd=world)
    assert plain.returncode == 0, plain.stderr
    rows = pl.read_csv(tmp_path / "plain" / "truth.csv").select("item", "dim1", "dim2").head(20)
    rows.with_columns(pl.col("dim1", "dim2") * -50).write_csv(tmp_path / "gold.csv")
    refused = unisono_here("fuse", "one.csv", "--gold", tmp_path / "gold.csv", cwd=world)
    assert (refused.returncode, refused.stdout) == (3, "")
    for words in (
        "'dim1' look as if they were in another unit and run against the ratings",
        "-50 (99%",
        "--gold-anyway",
    ):
        assert words in " ".join(refused.stderr.split())
    obeyed = unisono_here("fuse", "one.csv", "--gold", tmp_path / "gold.csv", "--gold-anyway", cwd=world)
    assert obeyed.returncode == 0, obeyed.stderr
    assert "obeyed as you asked" in obeyed.stderr + obeyed.stdout
