"""`check` and `score`: what goes to stdout, what to stderr, and the exit codes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from command_line import unisono_here
from unisono.maths.metrics import ccc

RATINGS = "clip,who,comment,v\n" + "".join(
    f"c{m},{name},fine,{3 * m % 7 + lenient}\n" for m in range(6) for name, lenient in (("x", 0), ("y", 1), ("z", 0))
)


def test_check_prints_the_overview_and_says_how_the_table_was_read():
    done = unisono_here("check", "-", "--annotator", "who", stdin=RATINGS.encode())
    assert done.returncode == 0
    assert "standard input: 6 items, 3 annotators, 1 dimension, 18 judgements" in done.stdout
    assert "Nothing looks suspicious" in done.stdout
    assert done.stdout.startswith("Read standard input: item '")
    assert "left out 'comment': text" in done.stdout
    assert done.stderr == ""


def test_check_as_json():
    done = unisono_here("check", "-", "--annotator", "who", "--dim", "valence=v", "--json", stdin=RATINGS.encode())
    found = json.loads(done.stdout)
    assert (found["items"], found["annotators"], found["kind"]) == (6, 3, "items")
    assert found["dimensions"][0]["name"] == "valence"
    assert found["annotators_per_item"] == [3, 3, 3]
    assert done.stderr == ""


def test_undefined_figures_are_null_in_json():
    done = unisono_here("check", "-", "--json", stdin=b"item,annotator,v\n1,x,2\n1,y,2\n")
    assert json.loads(done.stdout)["dimensions"][0]["alpha"] is None


def test_strict_turns_alerts_into_exit_code_1():
    constant = "".join(f"{m},x,3\n{m},y,{m}\n" for m in range(5))
    for arguments, code in ((["--strict"], 1), ([], 0)):
        done = unisono_here("check", "-", *arguments, stdin=("item,annotator,v\n" + constant).encode())
        assert done.returncode == code
        assert "warning: Annotator gives v the same value every time: 'x'." in done.stdout
    done = unisono_here("check", "-", "--annotator", "who", "--strict", stdin=RATINGS.encode())
    assert done.returncode == 0


@pytest.fixture
def tables(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 9))
    truth = [f"i{i},{float(x[i])!r},1,0,2\n" for i in range(8)]
    reference = [f"i{i},{float(y[i])!r},1\n" for i in range(8, 1, -1)]
    (tmp_path / "truth.csv").write_text("item,v,v_sd,v_low,v_high\n" + "".join(truth))
    (tmp_path / "ref.csv").write_text("item,v,extra\n" + "".join(reference))
    return tmp_path, x[2:8], y[2:8]


def test_score_joins_on_the_item_and_tells_what_did_not_join(tables):
    folder, x, y = tables
    done = unisono_here("score", "truth.csv", "ref.csv", "--json", cwd=folder)
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert [row["name"] for row in found["dimensions"]] == ["v"]
    assert found["dimensions"][0]["n"] == found["items"] == 6
    assert found["dimensions"][0]["ccc"] == pytest.approx(ccc(x, y), rel=1e-12)
    assert "2 items only in the truth: 'i0' and 'i1'." in done.stderr
    assert "1 item only in the reference: 'i8'." in done.stderr
    assert "1 dimension only in the reference: 'extra'." in done.stderr


def test_score_prints_a_table(tables):
    folder, x, y = tables
    done = unisono_here("score", "truth.csv", "ref.csv", cwd=folder)
    row = next(line for line in done.stdout.splitlines() if line.strip().startswith("v "))
    assert row.split()[1:3] == ["6", f"{ccc(x, y):.3f}"]


def test_check_recognises_a_series():
    rows = "".join(f"f,{1000 * i / 4},{who},{(i + (who == 'y')) % 5}\n" for who in "xy" for i in range(20))
    stdin = ("recording,time,annotator,v\n" + rows).encode()
    done = unisono_here("check", "-", "--time-unit", "ms", stdin=stdin)
    assert "1 recording, 2 annotators" in done.stdout
    assert "5.0 seconds in all, brought to 4 frames per second" in done.stdout
    done = unisono_here("check", "-", "--time-unit", "ms", "--rate", 2, "--json", stdin=stdin)
    found = json.loads(done.stdout)
    assert (found["kind"], found["rate"], found["dimensions"][0]["ratings"]) == ("series", 2, 20)


def test_score_joins_series_on_time(tmp_path):
    t = (np.arange(40) / 10).tolist()
    truth = [f"{r},{s!r},{float(np.sin(s))!r},1,0,2\n" for r in "ab" for s in t]
    reference = [f"b,{s!r},{float(np.sin(s))!r}\n" for s in (np.arange(15) / 5).tolist()]
    (tmp_path / "t.csv").write_text("recording,time,v,v_sd,v_low,v_high\n" + "".join(truth))
    (tmp_path / "r.csv").write_text("recording,time,v\n" + "".join(reference))
    done = unisono_here("score", "t.csv", "r.csv", "--json", cwd=tmp_path)
    row = json.loads(done.stdout)["dimensions"][0]
    assert row["n"] == 29  # to 2.8 seconds
    assert row["rmse"] < 0.005
    assert "1 item only in the truth: 'a'." in done.stderr
    assert "11 frames of the truth lie outside the times of the reference." in done.stderr
