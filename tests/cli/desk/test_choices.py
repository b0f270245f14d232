"""What is chosen at the desk as a command, as Python, and as the buttons under a refusal."""

from __future__ import annotations

import json
import shlex

import numpy as np
import polars as pl
import pytest

from command_line import unisono_here
from museum import MUSEUM
from unisono.cli.desk.choices import as_command, as_python, checked, command_words, ways_out
from unisono.cli.desk.look import look_at
from unisono.cli.desk.pages import difference
from unisono.errors import DataError, SettingsError
from unisono.tables.datasets import dataset_path

# What has no overlap is read, and refused by what fuses.
REFUSED = [one for one in MUSEUM if one.refusal and not one.say and "No item has ratings by two" not in one.refusal]
READ = [piece for piece in MUSEUM if piece.refusal is None and not piece.say]
TABLE = "clip,who,good,other\n" + "".join(
    f"{m},{k},{(m * 3 + i) % 5 + 1},{m}\n" for m in range(9) for i, k in enumerate("xyz")
)


@pytest.fixture
def place(tmp_path):
    (tmp_path / "r.csv").write_text(TABLE)
    return tmp_path


CHOICES = {
    "item": "clip", "annotator": "who", "dims": {"joy": "good"}, "scale": {"joy": "1:5"}, "missing": "-99",
    "without": ["z"], "model": "mean", "duplicates": "first", "time": "none",
}  # fmt: skip


def test_the_command_and_the_python_do_the_same(place, monkeypatch):
    words = command_words("fuse", "r.csv", checked(CHOICES))
    assert shlex.split(as_command(words)) == ["unisono", *words]
    assert unisono_here(*words, cwd=place).returncode == 0
    by_shell = (place / "result" / "truth.csv").read_text()
    assert len(by_shell.splitlines()) == 10
    assert "joy" in by_shell
    (place / "result").rename(place / "first")
    monkeypatch.chdir(place)
    exec(as_python("fuse", "r.csv", checked(CHOICES)), {"print": lambda *_: None})  # the lines that the page shows
    assert (place / "result" / "truth.csv").read_text() == by_shell


@pytest.mark.parametrize(
    "given",
    [{"out": "/etc"}, {"start": "x"}, {"item": {"a": "b"}}, {"without": [1]}, [], {"dims": {"a": 1}}, {"gold": "f"}],
)
def test_nothing_else_can_be_chosen(given):
    with pytest.raises(SettingsError):
        checked(given)


def test_a_value_that_looks_like_an_option_is_a_value():
    words = command_words("fuse", "r.csv", checked({"item": "--overwrite"}))
    assert words[2] == "--item=--overwrite"


@pytest.mark.parametrize("piece", REFUSED, ids=lambda piece: piece.name)
def test_refused_tables_are_told_alike_and_their_ways_out_are_buttons(piece, tmp_path):
    (tmp_path / "r.csv").write_bytes(piece.content)
    seen = look_at(str(tmp_path / "r.csv"), {})
    assert seen["refused"]["message"] == piece.refusal
    named = "Say " in piece.refusal or "say " in piece.refusal
    ways = seen["refused"]["ways"]
    assert bool(ways) == (named and "`unisono import json`" not in piece.refusal), ways
    for way in ways:
        if not way["field"]:
            after = look_at(str(tmp_path / "r.csv"), checked(way["choices"]))
            assert after.get("refused", {}).get("message") != piece.refusal, way


@pytest.mark.parametrize("piece", READ, ids=lambda piece: piece.name)
def test_tables_are_understood_as_the_command_understands_them(piece, tmp_path):
    (tmp_path / "r.csv").write_bytes(piece.content)
    seen = look_at(str(tmp_path / "r.csv"), {})
    assert (seen["items"], len(seen["annotators"]), seen["answers"]) == piece.counts
    assert {one["name"]: (one["least"], one["most"]) for one in seen["dimensions"]} == {
        name: (low, high) for name, (low, _, high) in piece.dims.items()
    }
    assert seen["notes"] == list(piece.notes)
    assert {one["name"]: one["why"] for one in seen["columns"] if one["why"]} == piece.left_out
    json.dumps(seen)


@pytest.mark.parametrize(
    ("message", "ways"),
    [
        ("Say --duplicates first, last or mean, or --item a,COLUMN.",
         [{"duplicates": "first"}, {"duplicates": "last"}, {"duplicates": "mean"}, {}]),
        ("r.zip holds 2 files: 'a.csv' and 'b.csv'. Say --sheet 'a.csv'.", [{"sheet": "a.csv"}, {"sheet": "b.csv"}]),
        ("say --annotator who --dimension facet --value points.",
         [{"annotator": "who", "dimension": "facet", "value": "points"}]),
        ("or say what it means: --labels \"n/a=\" for missing, --labels \"n/a=3\" for a number.",
         [{"labels": "n/a="}, {"labels": "n/a=3"}]),
        ("If it means missing, say --missing -99; if it is an answer, say --scale 1:7.",
         [{"missing": "-99"}, {"scale": "1:7"}]),
        ("give them with --comparisons FILE (comparisons=... in Python).", [{"comparisons": True}]),
        ("To take them for ratings nevertheless, say --dim 'my rank'.", [{"dims": {"my rank": "my rank"}}]),
        ("Leave the cell empty.", []),
    ],
)  # fmt: skip
def test_ways_out_of_a_message(message, ways):
    assert [way.choices for way in ways_out(message)] == ways


def test_differences_are_those_of_the_files(tmp_path):
    for name, mean, word in (("a", [1.0, 2, 3], 0.5), ("b", [1.5, 2, 2], 0.7)):
        (tmp_path / name).mkdir()
        columns = {"item": ["x", "y", "z"], "v": mean, "v_sd": [1.0] * 3}
        pl.DataFrame(columns | {"v_low": [0.9, 1, 2.5], "v_high": [1.4, 3, 4]}).write_csv(tmp_path / name / "truth.csv")
        (tmp_path / name / "summary.json").write_text(json.dumps({"agreement": {"v": word}}))
    (found,) = difference(tmp_path / "a", tmp_path / "b")["dimensions"]
    assert found["correlation"] == pytest.approx(np.corrcoef([1, 2, 3], [1.5, 2, 2])[0, 1])
    assert (found["mean"], found["most"], found["inside"]) == pytest.approx((0.5, 1, 1 / 3))
    assert (found["before"], found["after"]) == (0.5, 0.7)
    assert [(row["item"], row["moved"]) for row in found["items"]] == [("z", -1.0), ("x", 0.5), ("y", 0.0)]
    with pytest.raises(DataError):
        difference(tmp_path / "a", tmp_path)


@pytest.mark.parametrize(
    ("name", "there", "not_there"), [("squality", "zscore-mean", "dpcca"), ("green_intensity", "dpcca", "types")]
)
def test_models_that_can_be_chosen_are_those_for_such_ratings(name, there, not_there):
    models = look_at(str(dataset_path(name)), {})["models"]
    assert there in models
    assert not {not_there, "auto", "pairwise"} & set(models)
