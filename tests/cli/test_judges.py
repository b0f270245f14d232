"""`unisono judges` on the command line."""

import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest

from command_line import unisono_here
from judged_tables import judged_frame

SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "judges.json"


@pytest.fixture
def table(tmp_path):
    frame = judged_frame(items=40, labels=20)
    system = pl.when(pl.col("item").str.slice(-1).cast(pl.Int64) % 2 == 0).then(pl.lit("even")).otherwise(pl.lit("odd"))
    frame.with_columns(system=system).write_csv(tmp_path / "ratings.csv")
    return tmp_path


def test_judges_writes_its_tables(table):
    done = unisono_here("judges", "ratings.csv", "--by", "system", "--out", "report", cwd=table)
    assert done.returncode == 0, done.stderr
    assert "Judges beside 'human', who rated 20 items" in done.stdout
    assert "People should rate next" in done.stderr
    names = {path.name for path in (table / "report").iterdir()}
    assert names == {
        "judges.csv",
        "groups.csv",
        "next_items.csv",
        "people.csv",
        "summary.json",
        "summary.txt",
        "systems.csv",
        "differences.csv",
        "variances.csv",
        "needed.csv",
        "report.html",
    }
    board = pl.read_csv(table / "report" / "systems.csv")
    assert sorted(board["system"].unique()) == ["even", "odd"]


def test_judges_as_json(table):
    done = unisono_here("judges", "ratings.csv", "--by", "system", "--json", cwd=table)
    found = json.loads(done.stdout)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.validate(found, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found | {"judges": [found["judges"][0] | {"verdict": "good"}]}, schema)
    assert found["reference"] == "human"
    assert len(found["judges"]) == 6 * 2


def test_judges_without_people(table):
    done = unisono_here("judges", "ratings.csv", "--humans", "nobody", "--out", "report", cwd=table)
    assert done.returncode == 3
    assert "no annotator fits 'nobody'" in done.stderr
    assert not (table / "report").exists()


def test_effects_of_batches_are_shown(table):
    frame = pl.read_csv(table / "ratings.csv")
    late = pl.col("item") >= "i020"
    kinder = pl.when(late & (pl.col("kind") == "judge")).then(pl.col("d0") + 2).otherwise("d0")
    batch = pl.when(late).then(pl.lit("may")).otherwise(pl.lit("june"))
    frame.with_columns(batch=batch, d0=kinder).write_csv(table / "batches.csv")
    done = unisono_here("judges", "batches.csv", "--covariate", "batch", cwd=table)
    assert done.returncode == 0, done.stderr
    assert "of 20 effects of covariates are clear of 0: change of the answer per unit" in done.stdout
    shown = [line for line in done.stdout.splitlines() if "batch=may" in line]
    assert sum("gpt-" in line and " d0 " in line for line in shown) == 6


def test_people_who_are_needed_are_counted_and_a_plan_says_who_is_asked(table):
    done = unisono_here("judges", "ratings.csv", cwd=table)
    assert "beside these judges, for a correlation of 0.9: d0 " in done.stdout
    assert unisono_here("fuse", "ratings.csv", "--dim", "d0", "--dim", "d1", "--out", "out", cwd=table).returncode == 0
    plan = unisono_here("plan", "out", cwd=table)
    assert "by ratings per item by 'human', beside those of 'judge'" in plan.stdout


def test_what_is_too_low_or_has_changed_fails_in_ci(table):
    command = ("judges", "ratings.csv", "--dim", "d0", "--dim", "d1")
    assert unisono_here(*command, "--fail-under", "correlation=-1", cwd=table).returncode == 0
    low = unisono_here(*command, "--fail-under", "correlation=.999", "--json", "--out", "first", cwd=table)
    assert low.returncode == 1
    assert "below 0.999" in json.loads(low.stdout)["failed"][0]
    wrong = unisono_here(*command, "--fail-under", "charm=1", cwd=table)
    assert wrong.returncode == 2
    assert "no figure 'charm'" in wrong.stderr
    same = unisono_here(*command, "--earlier", "first/judges.csv", "--json", cwd=table)
    assert json.loads(same.stdout)["changed"] == []
    frame = pl.read_csv(table / "first" / "judges.csv")
    before = pl.when(pl.col("judge") == "gpt-0").then(-0.9).otherwise("correlation")
    frame.with_columns(correlation=before).write_csv(table / "before.csv")
    changed = unisono_here(*command, "--earlier", "before.csv", "--strict", cwd=table)
    assert changed.returncode == 1
    assert "Correlation of gpt-0 with people on d0 was -0.90, is " in changed.stdout


def test_repeated_answers_are_a_level_under_a_judge(table):
    frame = pl.read_csv(table / "ratings.csv")
    judge = pl.col("kind") == "judge"
    again = frame.filter(judge).with_columns(d0=pl.col("d0") + 1)
    both = pl.concat([frame.with_columns(draw=pl.lit(1)), again.with_columns(draw=pl.lit(2))])
    both.write_csv(table / "twice.csv")
    done = unisono_here("judges", "twice.csv", "--set", "repeats=draw", "--out", "report", cwd=table)
    assert done.returncode == 0, done.stderr
    found = pl.read_csv(table / "report" / "judges.csv")
    on = found.filter(pl.col("dimension") == "d0")
    assert on["repeat_sd"].to_list() == pytest.approx([0.5**0.5] * 6)
    assert (found.filter(pl.col("dimension") == "d1")["consistency"] == 1).all()
    assert ((on["consistency"] > 0.3) & (on["consistency"] < 0.95)).all()
    assert unisono_here("judges", "twice.csv", cwd=table).returncode == 3
    refused = unisono_here("judges", "twice.csv", "--set", "repeats=draws", cwd=table)
    assert refused.returncode == 3
    assert "no column 'draws'" in refused.stderr


def test_figures_fail_under_a_bound_with_a_code_of_their_own(table):
    assert unisono_here("judges", "ratings.csv", "--fail-under", "reliability=.01", cwd=table).returncode == 0
    done = unisono_here("judges", "ratings.csv", "--fail-under", "reliability=.99", cwd=table)
    assert done.returncode == 1
    assert "reliability of gpt-0 on d0 is" in done.stdout
    assert unisono_here("judges", "ratings.csv", "--fail-under", "reliability", cwd=table).returncode == 2
