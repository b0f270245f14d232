"""Bad input through the command line: exit code 3 (2 for usage), one message, no traceback, nothing written.

Commands run inside this process, which is quick; one test makes sure that a process of its own says the same.
"""

from __future__ import annotations

import pytest

from command_line import unisono, unisono_here

H = "item,annotator,v,a\n"
GOOD = H + "1,x,1,2\n1,y,2,2\n2,x,4,1\n2,y,3,1\n"

# Commands that read ratings, with what else they need to run.
COMMANDS = {"check": (), "fuse": ("--out", "out")}

# name: (content of r.csv, what the message has to contain)
BAD_RATINGS = {
    "missing column": ("item,v,a\n1,1,2\n2,1,2\n", ["r.csv", "annotator", "--annotator"]),
    "text": (H + "1,x,1,2\n1,y,oops,2\n", ["r.csv row 3", "v is 'oops'", "Leave the cell empty"]),
    "infinity": (H + "1,x,1,2\n1,y,inf,2\n", ["r.csv row 3", "v is 'inf'"]),
    "duplicate": (GOOD + "1,x,1,3\n", ["r.csv row 2 and row 6", "'x'", "'1'", "--duplicates", "--item item,COLUMN"]),
    "empty": ("", ["r.csv is empty"]),
    "header only": (H, ["r.csv", "no rows"]),
    "no overlap": (H + "1,x,1,2\n2,y,1,2\n3,z,2,2\n", ["r.csv", "two annotators"]),
    "few cells": (H + "1,x,1,2\n1,y,2\n", ["r.csv row 3", "too few cells"]),
    "many cells": (H + "1,x,1,2\n1,y,2,3,4\n", ["r.csv row 3", "too many cells"]),
    "no table": (bytes(range(256)), ["r.csv", "not a table"]),
    "not UTF-8": (H.encode() + b"1,x\x81,1,2\n", ["r.csv row 2", "UTF-8"]),
    "huge": (H + "1,x,1,2\n1,y,2,2\n2,x,1e308,1\n", ["r.csv row 4", "v is 1e308", "too large"]),
}

T = "recording,time,annotator,v\n" + "".join(
    f"f,{i},{who},{(i + (who == 'y')) % 7}\n" for who in "xy" for i in range(20)
)
BAD_RATINGS |= {
    "two rows at one time": (T + "f,3,x,1\n", ["r.csv row 5 and row 42", "'x'", "time 3"]),
    "a time without a number": (T + "f,soon,x,1\n", ["r.csv row 42", "time is 'soon'"]),
    "mixed units": (T + "".join(f"f,{i * 1000},z,1\n" for i in range(20)), ["r.csv", "'z'", "--time-unit"]),
    "a leap in time": (T + "f,9000,x,1\n", ["r.csv", "'x'", "time leaps"]),
    "traces that never meet": (
        "recording,time,annotator,v\n" + "".join(f"f,{i},{'xy'[i // 9]},{i % 4}\n" for i in range(18)),
        ["r.csv", "two annotators"],
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", BAD_RATINGS)
def test_bad_ratings(tmp_path, command, name):
    content, words = BAD_RATINGS[name]
    (tmp_path / "r.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    done = unisono_here(command, "r.csv", *COMMANDS[command], cwd=tmp_path)
    assert done.returncode == 3
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    for word in ["Error: ", *words]:
        assert word in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_process_of_its_own_says_the_same(tmp_path, command):
    (tmp_path / "r.csv").write_text(BAD_RATINGS["text"][0])
    own, here = (run(command, "r.csv", *COMMANDS[command], cwd=tmp_path) for run in (unisono, unisono_here))
    assert (own.returncode, own.stdout, own.stderr) == (here.returncode, here.stdout, here.stderr)
    assert own.returncode == 3
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


@pytest.mark.parametrize("command", COMMANDS)
def test_usage_errors(tmp_path, command):
    (tmp_path / "ratings.csv").write_text(GOOD)
    (tmp_path / "notes").mkdir()
    for name, word in [
        ("rating.csv", "Did you mean 'ratings.csv'?"),
        ("notes", "is a folder without shards.json" if command == "fuse" else "is a folder without ratings.csv"),
        ("zzz", "does not exist"),
    ]:
        done = unisono_here(command, name, *COMMANDS[command], cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert word in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_only_suspicious_is_a_warning(tmp_path, command):
    rows = T + "".join(f"f,{i},late,{i % 3}\n" for i in range(30, 40)) + "f,1,empty,\nf,0,empty,\n"
    (tmp_path / "r.csv").write_text(rows)
    done = unisono_here(command, "r.csv", *COMMANDS[command], cwd=tmp_path)
    assert done.returncode == 0
    talk = done.stdout + done.stderr
    assert "r.csv row 53: time goes back within a trace" in talk
    assert "Traces that overlap in time with nobody else's: 'late on f'" in talk
    assert "Traces without a single number: 'empty on f'" in talk


def test_an_unknown_command_is_answered_with_the_nearest():
    done = unisono("chekc")
    assert done.returncode == 2
    assert "Did you mean 'check'?" in done.stderr


@pytest.mark.parametrize(
    ("truth", "reference", "word"),
    [
        ("item,v\n1,2\n2,x\n", "item,v\n1,2\n", "t.csv row 3: v is 'x'"),
        ("item,v\n1,2\n", "item,a\n1,2\n", "t.csv and r.csv have no dimension in common: 'v' against 'a'"),
        ("item,v\n1,2\n", "item,v\n3,2\n", "t.csv and r.csv have no item in common: '1' against '3'"),
        ("item,v\n1,2\n", "item,v\n1,2\n1,3\n", "r.csv row 2 and row 3 both describe item '1'"),
    ],
)
def test_bad_tables_to_score(tmp_path, truth, reference, word):
    (tmp_path / "t.csv").write_text(truth)
    (tmp_path / "r.csv").write_text(reference)
    done = unisono_here("score", "t.csv", "r.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert word in done.stderr
    assert "Traceback" not in done.stderr
