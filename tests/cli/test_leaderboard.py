"""`unisono leaderboard` on the command line."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest

import unisono as un
from command_line import unisono_here
from system_worlds import drawn_scores, score_table

SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "leaderboard.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("board")
    score_table(drawn_scores(0, (0.0, 1.0, -1.0), prompts=30)).write_csv(place / "scores.csv")
    return place


def test_tables_are_those_of_python(folder):
    done = unisono_here("leaderboard", "scores.csv", "--by", "system", "--prompt", "prompt", "--out", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = un.leaderboard(folder / "scores.csv", by="system", prompt="prompt")
    written = pl.read_csv(folder / "out" / "systems.csv")
    assert written.columns == found.systems.columns
    np.testing.assert_allclose(written["mean"], found.systems["mean"])
    assert pl.read_csv(folder / "out" / "differences.csv").columns == found.differences.columns
    assert all(len(line) <= 80 for line in done.stdout.split("\n\n")[1].splitlines())
    assert "differences clear" in done.stdout
    page = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert page.count('r="3.6"') == 3
    for name in found.systems["system"]:
        assert f">{name}</text>" in page
    assert "differences clear" in page
    assert "http" not in page


def test_json_weights_and_words(folder):
    base = ("leaderboard", "scores.csv", "--by", "system", "--prompt", "prompt")
    done = unisono_here(*base, "--weight", "quality=2", "--these", "people", "--set", "level=.8", "--json", cwd=folder)
    found = json.loads(done.stdout)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.validate(found, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found | {"systems": [{**found["systems"][0], "score": 1}]}, schema)
    assert found["level"] == 0.8
    assert {row["dimension"] for row in found["systems"]} == {"quality", "overall"}
    assert unisono_here(*base, "--weight", "quality", cwd=folder).returncode == 2
    assert unisono_here(*base, "--these", "cats", cwd=folder).returncode == 2
    wrong = unisono_here("leaderboard", "scores.csv", "--by", "model", cwd=folder)
    assert wrong.returncode == 3
    assert "no column 'model'" in wrong.stderr


def test_strict_fails_where_systems_are_confounded(folder):
    base = ("--by", "system", "--prompt", "prompt", "--strict")
    assert unisono_here("leaderboard", "scores.csv", *base, cwd=folder).returncode == 0
    own = pl.read_csv(folder / "scores.csv").filter(pl.col("annotator") == "h" + pl.col("system").str.slice(1))
    own.write_csv(folder / "own.csv")
    done = unisono_here("leaderboard", "own.csv", *base, cwd=folder)
    assert done.returncode == 1
    assert "confounded" in done.stdout
