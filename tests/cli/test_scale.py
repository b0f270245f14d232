"""`--scale` on the command line: what is said of it, what is refused."""

from __future__ import annotations

import json

import polars as pl
import pytest

from command_line import unisono_here

LIKERT = "item,annotator,valence,arousal\n" + "".join(
    f"c{m},{who},{1 + (m * step) % 7},{1 + (m + step) % 7}\n" for m in range(14) for who, step in (("x", 1), ("y", 3))
)


def said(*arguments, table=LIKERT):
    done = unisono_here("check", "-", *arguments, stdin=table.encode())
    assert done.returncode == 0, done.stderr
    return [line.strip() for line in done.stdout.splitlines() if "scale" in line]


def test_check_says_which_scale_answers_are_on():
    assert said() == ["scale 1 to 7 (inferred)"]
    assert said("--scale", "1:9") == ["scale 1 to 9"]
    assert said("--scale", "none") == ["no scale"]
    assert said("--scale", "valence=1:9") == ["scale 1 to 9: 'valence'", "scale 1 to 7 (inferred): 'arousal'"]
    assert said("--scale", "valence=1:9,arousal=0:inf") == ["scale 1 to 9: 'valence'", "scale from 0: 'arousal'"]
    assert said("--scale", "1:9", "--scale", "arousal=none") == ["scale 1 to 9: 'valence'", "no scale: 'arousal'"]


def test_the_scale_is_in_the_json():
    done = unisono_here("check", "-", "--scale", "valence=1:9", "--json", stdin=LIKERT.encode())
    scale = json.loads(done.stdout)["reading"]["scale"]
    assert scale["valence"] == {"low": 1, "high": 9, "given": True, "words": "scale 1 to 9"}
    assert scale["arousal"]["given"] is False


def test_answers_outside_name_row_column_and_value():
    done = unisono_here("check", "-", "--scale", "arousal=1:6", stdin=LIKERT.encode())
    assert done.returncode == 3
    row = next(n for n, line in enumerate(LIKERT.splitlines(), 1) if line.endswith(",7"))
    assert f"standard input row {row}: arousal is 7, outside the scale 1 to 6." in done.stderr
    assert "--scale" in done.stderr


def test_answers_outside_in_traces():
    rows = "".join(f"film,{t},{who},{t / 10 - (who == 'b') * t % 2 / 20}\n" for who in "ab" for t in range(12))
    done = unisono_here("check", "-", "--scale", "0:1", stdin=("recording,time,annotator,v\n" + rows).encode())
    assert done.returncode == 3
    assert "row 13: v is 1.1, outside the scale 0 to 1" in done.stderr


@pytest.mark.parametrize("words", ["7:1", "seven", "valence=", "dominance=1:7"])
def test_words_that_make_no_sense_are_a_matter_of_usage(words):
    done = unisono_here("fuse", "-", "--scale", words, stdin=LIKERT.encode())
    assert done.returncode == 2
    assert "scale" in done.stderr


EXTREME = "item,annotator,joy\n" + "".join(
    f"c{m},{who},{(1, 5, 5, 1, 2, 4, 1)[(m * step) % 7]}\n"
    for m in range(9)
    for who, step in (("x", 1), ("y", 2), ("z", 5))
)


def spread_of(path):
    """The lowest and the highest number among estimates and interval ends."""
    table = pl.read_csv(path).select("joy", "joy_low", "joy_high")
    return table.min_horizontal().min(), table.max_horizontal().max()


@pytest.mark.parametrize("model", ["auto", "mean", "zscore-mean"])
def test_truth_and_predictions_keep_to_the_scale(model, tmp_path):
    (tmp_path / "ratings.csv").write_text(EXTREME)
    (tmp_path / "features.csv").write_text("item,f\n" + "".join(f"c{m},{m % 3}\n" for m in range(9)))
    (tmp_path / "new.csv").write_text("item,f\nn1,-90\nn2,90\n")
    fuse = ("fuse", "ratings.csv", "--features", "features.csv", "--model", model)
    assert unisono_here(*fuse, "--out", "cut", cwd=tmp_path).returncode == 0
    assert unisono_here(*fuse, "--out", "free", "--scale", "none", cwd=tmp_path).returncode == 0
    for out in ("cut", "free"):
        assert unisono_here("predict", out, "new.csv", "--out", f"{out}.csv", cwd=tmp_path).returncode == 0
    for name in ("cut/truth.csv", "cut.csv"):
        low, high = spread_of(tmp_path / name)
        assert low >= 1
        assert high <= 5
    for name in ("free/truth.csv", "free.csv"):
        low, high = spread_of(tmp_path / name)
        assert low < 1 or high > 5


def test_gold_outside_a_given_scale_names_the_item(tmp_path):
    (tmp_path / "ratings.csv").write_text(EXTREME)
    (tmp_path / "gold.csv").write_text("item,joy\nc1,3\nc2,6\n")
    done = unisono_here("fuse", "ratings.csv", "--gold", "gold.csv", "--scale", "1:5", cwd=tmp_path)
    assert done.returncode == 3
    assert "gold.csv: joy of item 'c2' is 6, outside the scale 1 to 5" in done.stderr
    assert unisono_here("fuse", "ratings.csv", "--gold", "gold.csv", cwd=tmp_path).returncode == 0
