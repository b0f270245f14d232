"""`unisono fuse`, `predict` and `simulate` through the real command."""

from __future__ import annotations

import json

import polars as pl
import pytest

from command_line import unisono_here
from unisono.fusers import MODELS, SERIES_MODELS

GOOD = "item,annotator,v,a\n1,x,1,2\n1,y,2,2\n2,x,4,1\n2,y,3,1\n3,x,5,0\n3,y,5,1\n"


@pytest.mark.parametrize("command", ["fuse", "compare"])
def test_help_lists_every_model(command):
    words = unisono_here(command, "--help").stdout.replace(",", " ").split()
    assert {*MODELS, *SERIES_MODELS} <= set(words)


@pytest.fixture
def world(tmp_path):
    done = unisono_here("simulate", "items", "--items", "40", "--features", "3", "--out", "sim", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path


def test_fuse_writes_what_it_promises(world):
    done = unisono_here("fuse", "sim/ratings.csv", "--features", "sim/features.csv", "--out", "out", cwd=world)
    assert done.returncode == 0, done.stderr
    assert "40 items by 10 annotators" in done.stdout
    assert sorted(path.name for path in (world / "out").iterdir()) == [
        "annotators.csv",
        "annotators_overall.csv",
        "fit",
        "report.html",
        "report.json",
        "summary.json",
        "truth.csv",
    ]
    truth = pl.read_csv(world / "out" / "truth.csv")
    per_dimension = [f"{d}{end}" for d in ("dim1", "dim2") for end in ("", "_sd", "_low", "_high")]
    assert [name for name in truth.columns if name != "unclear"] == ["item", *per_dimension]
    assert len(truth) == 40
    annotators = pl.read_csv(world / "out" / "annotators.csv")
    assert annotators.columns[:3] == ["annotator", "dimension", "ratings"]
    assert annotators["ratings"].to_list() == [40] * 20
    assert annotators["dimension"].to_list() == ["dim1", "dim2"] * 10
    assert {"bias", "gain", "noise", "reliability", "agreement", "from_dim1", "from_dim2"} <= set(annotators.columns)
    overall = pl.read_csv(world / "out" / "annotators_overall.csv")
    assert overall["ratings"].to_list() == [40] * 10
    assert overall.columns == ["annotator", "ratings", "reliability", "agreement", "spammer", "copy", "copy_set"]
    summary = json.loads((world / "out" / "summary.json").read_text())
    assert summary["provenance"]["seed"] == 0
    assert len(summary["provenance"]["data_sha256"]) == 64


def test_fuse_without_out_prints_the_truth(world):
    done = unisono_here("fuse", "-", cwd=world, stdin=GOOD.encode())
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("item,v,v_sd,v_low,v_high,a,")
    assert len(done.stdout.splitlines()) == 4
    assert "Fused 6 judgements" in done.stderr


def test_json_is_one_object(world):
    done = unisono_here("fuse", "sim/ratings.csv", "--json", cwd=world)
    found = json.loads(done.stdout)
    assert (found["items"], len(found["truth"])) == (40, 40)


@pytest.mark.slow
def test_predict_from_a_saved_fit(world):
    unisono_here("fuse", "sim/ratings.csv", "--features", "sim/features.csv", "--out", "out", cwd=world)
    done = unisono_here("predict", "out", "sim/features.csv", cwd=world)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 41
    done = unisono_here(
        "predict", "out/fit", "sim/features.csv", "--ratings", "sim/ratings.csv", "--out", "p.csv", cwd=world
    )
    assert done.returncode == 0, done.stderr
    again, first = pl.read_csv(world / "p.csv"), pl.read_csv(world / "out" / "truth.csv")
    assert (again["dim1"] - first["dim1"]).abs().max() < 1e-9


def test_not_converged_is_exit_code_4_with_the_files_written(world):
    done = unisono_here("fuse", "sim/ratings.csv", "--max-iter", "2", "--out", "out", cwd=world)
    assert done.returncode == 4
    assert "Warning: EM stopped after 2 iterations" in done.stderr
    assert (world / "out" / "truth.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--model", "jont"), "Did you mean 'joint'?"),
        (("--model", "mean", "--noise", "full"), "no settings to change"),
        (("--noise", "loud"), "'loud' is not one of"),
        (("--features", "none.csv"), "does not exist"),
        (("--max-iter", "0"), "0 is not in the range"),
    ],
)
def test_usage_errors(world, arguments, words):
    done = unisono_here("fuse", "sim/ratings.csv", *arguments, "--out", "out", cwd=world)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert not (world / "out").exists()


@pytest.mark.parametrize(
    ("option", "content", "words"),
    [
        ("--features", "item,f\n1,1\n2,2\n", ["f.csv", "no row for item '3'"]),
        ("--features", "item,f\n1,1\n2,\n3,1\n", ["f.csv row 3", "f"]),
        ("--gold", "item,v\n9,1\n", ["f.csv", "'9'"]),
        ("--gold", "item,q\n1,1\n", ["f.csv", "'q'", "'v' and 'a'"]),
    ],
)
def test_bad_tables_beside_the_ratings(tmp_path, option, content, words):
    (tmp_path / "r.csv").write_text(GOOD)
    (tmp_path / "f.csv").write_text(content)
    done = unisono_here("fuse", "r.csv", option, "f.csv", "--out", "out", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert len(done.stderr.splitlines()) == 1
    for word in words:
        assert word in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_fit_that_is_none(tmp_path):
    (tmp_path / "f.csv").write_text("item,f\n1,1\n")
    (tmp_path / "empty").mkdir()
    done = unisono_here("predict", "empty", "f.csv", cwd=tmp_path)
    assert done.returncode == 3
    assert "is not a saved fit" in done.stderr


def test_suspicious_annotators_warn_and_do_not_stop(tmp_path):
    rows = [f"{m},{k},{(m * 7 + len(k)) % 5},{3 + m * (k == 'zzz')}" for m in range(8) for k in ("x", "yy", "zzz")] + [
        "0,once,1,3",
        "p,q,1,2",
        "p,r,3,4",
    ]
    (tmp_path / "r.csv").write_text("item,annotator,v,a\n" + "\n".join(rows) + "\n")
    done = unisono_here("fuse", "r.csv", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for word in ("single item", "same value every time", "2 groups"):
        assert word in done.stdout


@pytest.mark.slow
def test_next_and_plan_read_a_saved_fit(world):
    unisono_here("fuse", "sim/ratings.csv", "--out", "out", cwd=world)
    done = unisono_here("next", "out", "--count", "3", "--json", cwd=world)
    found = json.loads(done.stdout)
    assert (len(found["items"]), len(found["annotators"])) == (3, 3)
    done = unisono_here("plan", "out", "--most", "4", cwd=world)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    shown = [line for line in done.stdout.splitlines() if line.strip()]
    assert len([line for line in shown if line[0].isdigit() and "enough" not in line]) == 2 * 4
    assert "enough for a correlation of 0.9" in done.stdout
    assert shown[0].startswith("Correlation")
    assert shown[7].startswith("Standard deviation of the truth that remains")
    assert "Needed: " in done.stdout
    found = json.loads(unisono_here("plan", "out", "--target", "1", "--json", cwd=world).stdout)
    assert found["enough"] is None
    assert set(found["enough_each"].values()) == {None}
