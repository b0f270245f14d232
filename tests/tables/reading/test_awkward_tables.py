"""Every awkward table is read right, or refused with ways out that work when they are pasted."""

from __future__ import annotations

import json
import shlex

import pytest

from awkward_tables import TABLES, Outcome, ways_out
from command_line import unisono_here


def test_there_are_sixty_of_them():
    assert len(TABLES) >= 60
    assert len({table.name for table in TABLES}) == len(TABLES)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_table_is_read_right_or_its_way_out_works(tmp_path, table):
    (tmp_path / "r.csv").write_bytes(table.content)
    if table.outcome is not None:
        came_out(tmp_path, table.say, table.outcome)
        return
    done = unisono_here("check", "r.csv", *table.say, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert table.refusal in done.stderr
    if "--comparisons FILE" in done.stderr:
        assert unisono_here("check", "--comparisons", "r.csv", cwd=tmp_path).returncode == 0
    ways = ways_out(done.stderr)
    assert len(ways) == len(table.ways), done.stderr
    for way, outcome in zip(ways, table.ways, strict=True):
        came_out(tmp_path, (*table.say, *shlex.split(way)), outcome)


def came_out(folder, say: tuple[str, ...], outcome: Outcome) -> None:
    done = unisono_here("check", "r.csv", *say, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    answers = sum(row["ratings"] for row in found["dimensions"])
    assert (found["items"], found["annotators"], answers) == outcome.counts
    assert {row["name"]: (row["low"], row["high"]) for row in found["dimensions"]} == outcome.ends
    how = found["reading"]
    for name, words in (outcome.scale or {}).items():
        assert how["scale"][name]["words"] == words
    for words in outcome.notes:
        assert words in " ".join(how["notes"])
    assert outcome.left_out is None or set(how["left_out"]) == outcome.left_out
    assert found["kind"] == ("series" if outcome.traces else "items")


def test_ways_out_are_found_in_messages():
    message = "Say --missing -99; or --scale 'a b=1:9,c=0:2'. Or say --item x,y (--annotator \"the one\" --dim v), "
    message += "not --item COLUMN."
    assert ways_out(message) == [
        "--missing -99",
        "--scale 'a b=1:9,c=0:2'",
        "--item x,y",
        '--annotator "the one" --dim v',
    ]
