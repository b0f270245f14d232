"""Traces through the real command: fuse, check, score, predict, compare, evaluate, and what goes wrong."""

from __future__ import annotations

import json

import polars as pl
import pytest

from command_line import unisono_here
from trace_world import trace_world
from unisono.tables.exporting.result_folder import item_columns, rating_columns

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ratings, reference, features and some gold of a small world, as files."""
    path = tmp_path_factory.mktemp("traces")
    world = trace_world(lengths=(60, 50), K=3)
    pl.DataFrame(rating_columns(world.ratings)).fill_nan(None).write_csv(path / "ratings.csv")
    pl.DataFrame(item_columns(world.truth)).write_csv(path / "reference.csv")
    pl.DataFrame(item_columns(world.features)).write_csv(path / "features.csv")
    pl.DataFrame(item_columns(world.truth.select_items(["clip 0"]))).write_csv(path / "gold.csv")
    return path


@pytest.fixture(scope="module")
def fused(folder):
    done = unisono_here("fuse", "ratings.csv", "--features", "features.csv", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done


def test_fuse_writes_what_it_promises(folder, fused):
    assert "Fused 6 traces of 2 recordings (22 s at 5 frames per second) by 3 annotators" in fused.stdout
    assert "Time: Ratings show only how late annotators are relative to each other." in fused.stdout
    truth = pl.read_csv(folder / "out" / "truth.csv")
    ends = ("", "_sd", "_low", "_high")
    assert truth.columns == ["recording", "time", *(f"{d}{end}" for d in ("valence", "arousal") for end in ends)]
    assert len(truth) == 110
    assert truth["time"][60] == pytest.approx(0.4)
    annotators = pl.read_csv(folder / "out" / "annotators.csv")
    assert {"delay", "delay_low", "delay_high"} <= set(annotators.columns)
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert (summary["rate"], summary["seconds"]) == (5.0, 22.0)
    assert summary["delay_convention"] == "earliest"
    assert "relative" in summary["delay_words"]


@pytest.mark.slow
def test_truth_is_scored_and_predicted(folder, fused):
    done = unisono_here("score", "out/truth.csv", "reference.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    for word in ("at the best lag", "late by (s)", "clip 0", "arousal"):
        assert word in done.stdout
    found = json.loads(unisono_here("score", "out/truth.csv", "reference.csv", "--json", cwd=folder).stdout)
    assert all(row["pearson"] > 0.9 for row in found["at_best_lag"])
    assert len(found["recordings"]) == 4
    done = unisono_here("predict", "out", "features.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("recording,time,valence,valence_sd")
    assert len(done.stdout.splitlines()) == 111
    done = unisono_here("predict", "out", "features.csv", "--ratings", "ratings.csv", "--out", "again.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    again, first = pl.read_csv(folder / "again.csv"), pl.read_csv(folder / "out" / "truth.csv")
    assert (again["valence"] - first["valence"]).abs().max() < 1e-6


def test_the_lag_is_the_users(folder):
    done = unisono_here("fuse", "ratings.csv", "--lag", "0.8", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["delay_convention"] == "given"
    assert found["mean_delay"] == pytest.approx(0.8, abs=0.11)
    assert found["truth"][0]["recording"] == "clip 0"


@pytest.mark.slow
def test_gold_and_averages(folder):
    found = json.loads(unisono_here("fuse", "ratings.csv", "--gold", "gold.csv", "--json", cwd=folder).stdout)
    assert found["delay_convention"] == "gold"
    found = json.loads(unisono_here("fuse", "ratings.csv", "--model", "aligned-mean", "--json", cwd=folder).stdout)
    assert "moved onto each other" in found["delay_words"]
    done = unisono_here("fuse", "ratings.csv", "--model", "mean", cwd=folder)
    assert "as late as its annotators are" in done.stderr


@pytest.mark.slow
def test_a_published_model_says_how_it_chose(folder):
    words = ("--model", "paper-joint", "--restarts", "1", "--max-iter", "3", "--seed", "3", "--json")
    done = unisono_here("fuse", "ratings.csv", *words, cwd=folder)
    assert done.returncode == 4, done.stderr  # three iterations are not enough
    found = json.loads(done.stdout)
    assert [row["name"] for row in found["windows_tried"]] == ["5 frames", "10 frames", "20 frames", "50 frames"]


def test_rate_and_unit(folder):
    rows = pl.read_csv(folder / "ratings.csv").with_columns(pl.col("time") * 1000)
    rows.write_csv(folder / "ms.csv")
    done = unisono_here("fuse", "ms.csv", "--time-unit", "ms", "--rate", "2.5", "--model", "mean", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "22 s at 2.5 frames per second" in done.stderr


def test_compare_and_evaluate(folder):
    words = ("--models", "mean,median", "--folds", "2", "--json")
    done = unisono_here("compare", "ratings.csv", "--reference", "reference.csv", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["kind"], len(found["rows"])) == ("series", 2)
    done = unisono_here("compare", "ratings.csv", "--models", "mean", "--folds", "2", cwd=folder)
    assert "2 recordings, 3 annotators" in done.stdout
    done = unisono_here("cross-validate", "ratings.csv", "--reference", "reference.csv", "--models", "mean", cwd=folder)
    assert done.returncode == 3
    assert "2 items with a reference cannot make 5 folds" in done.stderr


def test_advice_on_recordings_and_annotators(folder, fused):
    done = unisono_here("next", "out", cwd=folder)
    assert done.returncode == 3
    assert "without features" in done.stderr
    assert unisono_here("fuse", "ratings.csv", "--out", "plain", cwd=folder).returncode == 0
    done = unisono_here("next", "plain", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "stretch" in done.stdout
    assert "one more typical annotator removes" in done.stdout
    done = unisono_here("plan", "plain", "--target", "0.5", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "by annotators per recording" in done.stdout
    assert "enough for a correlation of 0.5" in done.stdout
    assert "stretches" in json.loads(unisono_here("next", "plain", "--json", cwd=folder).stdout)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "anchor=none"), "no setting anchor"),
        (("--model", "mean", "--lag", "1"), "no settings to change: leave out lag"),
        (("--window", "wide"), "is not a valid float"),
        (("--window", "1", "--lag", "2"), "does not fit into a window"),
        (("--lag", "nan"), "lag=nan: give seconds from 0 on, or leave it out."),
        (("--window", "inf"), "window=inf: give seconds from 0 on"),
        (("--tol", "nan"), "tol=nan: give a relative change"),
    ],
)
def test_usage_errors(folder, arguments, words):
    done = unisono_here("fuse", "ratings.csv", *arguments, "--out", "none", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert not (folder / "none").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--transform", "delay"), "'delay' is not one of"),
        (("--lag", "1"), "no setting lag"),
        (("--model", "aligned-mean"), "for traces over time"),
    ],
)
def test_words_of_traces_are_not_for_items(tmp_path, arguments, words):
    (tmp_path / "r.csv").write_text("item,annotator,v\n1,x,1\n1,y,2\n2,x,4\n2,y,3\n")
    done = unisono_here("fuse", "r.csv", *arguments, "--out", "none", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert not (tmp_path / "none").exists()


H = "recording,time,f\n"


@pytest.mark.parametrize(
    ("option", "content", "words"),
    [
        ("--features", H + "clip 0,0,1\nclip 0,1,2\n", ["x.csv", "no row for item 'clip 1'"]),
        ("--features", "item,f\nclip 0,1\nclip 1,1\n", ["x.csv", "time column"]),
        ("--features", H + "".join(f"clip {m},{100 + t},1\n" for m in (0, 1) for t in range(60)), ["x.csv", "covers"]),
        (
            "--features",
            H + "".join(f"clip {m},{1000 * t},1\n" for m in (0, 1) for t in range(12)),
            ["x.csv", "different clocks"],
        ),
        ("--features", H + "clip 0,0,1\nclip 0,1,\n", ["x.csv row 3", "f"]),
        ("--gold", "recording,time,valence\nclip 9,0,1\nclip 9,1,1\n", ["x.csv", "'clip 9'"]),
        ("--gold", "recording,time,q\nclip 0,0,1\nclip 0,1,1\n", ["x.csv", "'q'", "'valence' and 'arousal'"]),
        ("--gold", "recording,time,valence\nclip 0,0,1\nclip 0,1,1\n", ["at least 10 frames", "valence"]),
    ],
)
def test_bad_tables_beside_the_traces(folder, tmp_path, option, content, words):
    (tmp_path / "r.csv").write_bytes((folder / "ratings.csv").read_bytes())
    (tmp_path / "x.csv").write_text(content)
    done = unisono_here("fuse", "r.csv", option, "x.csv", "--out", "out", cwd=tmp_path)
    assert done.returncode == 3
    errors = [line for line in done.stderr.splitlines() if not line.startswith("Warning")]
    assert len(errors) == 1
    for word in words:
        assert word in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_window_longer_than_every_recording(folder):
    done = unisono_here("fuse", "ratings.csv", "--window", "60", "--out", "none", cwd=folder)
    assert done.returncode == 3
    assert "a window of 60 s is longer than every recording, of which the longest has 12 s" in done.stderr
    done = unisono_here("fuse", "ratings.csv", "--model", "paper-joint", "--width", "500", "--out", "none", cwd=folder)
    assert done.returncode == 3
    assert "filters of 500 frames are wider than every recording" in done.stderr
    assert not (folder / "none").exists()
