"""`unisono fuse` with several kinds of annotators."""

import json

import polars as pl
import pytest

from command_line import unisono_here
from judged_tables import judged_frame


@pytest.fixture
def table(tmp_path):
    judged_frame(items=60, labels=25).write_csv(tmp_path / "ratings.csv")
    judged_frame(items=60, labels=25).drop("kind").write_csv(tmp_path / "bare.csv")
    return tmp_path


def test_fuse_writes_the_groups(table):
    done = unisono_here("fuse", "ratings.csv", "--out", "out", cwd=table)
    assert done.returncode == 0, done.stderr
    assert "groups.csv" in done.stdout
    assert "Truth is what 'human' would say; they rated 25 items." in done.stdout
    groups = pl.read_csv(table / "out" / "groups.csv")
    assert groups.filter(pl.col("kind") == "judge")["effective"].max() < 6
    summary = json.loads((table / "out" / "summary.json").read_text())
    assert summary["kinds"]["reference"] == "human"
    named = unisono_here("fuse", "bare.csv", "--kind", "judge=gpt-*", "--out", "named", cwd=table)
    assert named.returncode == 0, named.stderr
    assert (table / "named" / "truth.csv").read_bytes() == (table / "out" / "truth.csv").read_bytes()


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--kind", "judge"), 2, "'judge' is not KIND=PATTERN"),
        (("--kind", "a=x", "--kind", "a=y"), 2, "'a' is given twice"),
        (("--kind", "judge=claude*"), 3, "no annotator fits 'claude*'"),
        (("--humans", "h*", "--kind", "judge=h0"), 3, "annotator 'h0' is of the kinds"),
        (("--humans", "h*", "--reference-kind", "people"), 3, "no annotator is of the reference kind 'people'"),
        (("--shared", "1"), 2, "--shared"),
        (("--model", "joint", "--shared", ".2"), 2, "no setting shared"),
    ],
)
def test_wrong_words_about_kinds(table, options, code, words):
    done = unisono_here("fuse", "bare.csv", *options, "--out", "out", cwd=table)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not (table / "out").exists()
