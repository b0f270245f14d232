"""`unisono import` as a command: what it lists, refuses and writes, and what single presets make of their traps."""

from __future__ import annotations

import gzip
import subprocess
import sys

import polars as pl
import pytest

from command_line import unisono_here
from importing_cases import CASES, SAMPLES, arguments
from unisono.tables.importing.import_kinds import KINDS

LINES = '{"i": 1, "w": "x", "v": "good"}\n{"i": 1, "w": "y", "v": "bad"}\n{"i": 2, "w": "x", "v": "n/a"}\n'
JSON = ("--item", "i", "--annotator", "w", "--dim", "v")


def test_the_list_names_every_kind(tmp_path):
    done = unisono_here("import", "--list", cwd=tmp_path)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(KINDS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("labelstudio", "in.jsonl"), "Did you mean label-studio?"),
        (("mturk", "in.jsonl", "--records", "x"), "--records means nothing for mturk"),
        (("json", "in.jsonl"), "--item PATH"),
        (("json", "in.jsonl", "--item", "i", "--annotator", "w"), "--dim NAME=PATH"),
        (("json", "in.jsonl", *JSON[:4], "--dim", "v=a..b"), "is not a path"),
        (("json", "in.jsonl", *JSON, "--labels", "good"), "WORD=NUMBER"),
        (("carma", "in.jsonl", "--names", "{rater}.csv"), "--names takes"),
        (("json", "missing.jsonl", *JSON), "does not exist"),
    ],
)
def test_usage_errors(tmp_path, words, message):
    (tmp_path / "in.jsonl").write_text(LINES)
    done = unisono_here("import", *words, "-o", "out.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert not (tmp_path / "out.csv").exists()


def test_words_become_numbers_and_the_table_goes_to_standard_output(tmp_path):
    (tmp_path / "in.jsonl").write_text(LINES)
    done = unisono_here("import", "json", "in.jsonl", *JSON, "--labels", "good=1,bad=-1,n/a=", cwd=tmp_path)
    assert done.stdout == "item,annotator,v\n1,x,1\n1,y,-1\n"
    assert "Dropped 1: v is 'n/a', which counts as missing (in.jsonl line 3)" in done.stderr


def test_text_throughout_is_refused_with_the_way_out(tmp_path):
    (tmp_path / "in.jsonl").write_text(LINES)
    done = unisono_here("import", "json", "in.jsonl", *JSON, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "v is text (3). First: in.jsonl line 1." in done.stderr
    assert "--labels 'good=1'" in done.stderr


def test_everything_left_out_is_written_where_asked(tmp_path):
    done = unisono_here(*arguments(CASES["mturk"], SAMPLES), "--dropped", "left.csv", "-o", "r.csv", cwd=tmp_path)
    assert done.returncode == 0
    left = pl.read_csv(tmp_path / "left.csv")
    assert left.rows()[0] == ("batch.csv row 17", "the assignment was rejected")
    assert left.height == 16


def test_gzip_and_standard_input(tmp_path):
    data = (SAMPLES / "prodigy" / "clips.jsonl").read_bytes()
    (tmp_path / "clips.jsonl.gz").write_bytes(gzip.compress(data))
    plain = unisono_here("import", "prodigy", SAMPLES / "prodigy" / "clips.jsonl", cwd=tmp_path)
    assert unisono_here("import", "prodigy", "clips.jsonl.gz", cwd=tmp_path).stdout == plain.stdout
    assert unisono_here("import", "prodigy", "-", cwd=tmp_path, stdin=data).stdout == plain.stdout
    (tmp_path / "cut.gz").write_bytes(gzip.compress(data)[:-40])
    done = unisono_here("import", "prodigy", "cut.gz", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "cut.gz line" in done.stderr


def test_help_and_list_import_no_readers(tmp_path):
    code = (
        "import sys; from unisono.cli.main import run\ntry: run()\nexcept SystemExit: pass\n"
        "print(sorted(m for m in sys.modules if 'importing' in m or m == 'polars'), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def table_of(name, folder):
    done = unisono_here(*arguments(CASES[name], SAMPLES), cwd=folder)
    return pl.read_csv(done.stdout.encode())


def test_people_and_judges_are_told_apart(tmp_path):
    kinds = {
        name: dict(table_of(name, tmp_path).select("annotator", "kind").iter_rows()) for name in ("inspect", "mlflow")
    }
    assert kinds["inspect"] == {"lab/judge-1": "judge", "lab/judge-2": "judge", "includes": "code"}
    assert kinds["mlflow"] == {"anna@example.org": "human", "judge-1": "judge", "judge-2": "judge"}
    studio = dict(table_of("label-studio", tmp_path).select("annotator", "kind").iter_rows())
    assert studio["judge-1"] == "judge"
    assert studio["ben@example.org"] == "human"


def test_several_items_of_a_hit(tmp_path):
    table = table_of("mturk several items", tmp_path)
    assert sorted(table.get_column("item").unique()) == ["clip1", "clip2", "clip3", "clip4"]


def test_the_newest_feedback_counts(tmp_path):
    table = table_of("langsmith", tmp_path).filter(pl.col("item") == "run-q1", pl.col("annotator") == "Anna")
    assert table.get_column("fluency").to_list() == [0.99]


def test_sessions_of_one_participant_are_apart(tmp_path):
    people = table_of("pagan", tmp_path).get_column("annotator").unique(maintain_order=True).to_list()
    assert people == ["p1", "p2/sB", "p2/sC", "p3"]


def test_values_on_a_tier_hold_until_the_end(tmp_path):
    table = table_of("elan", tmp_path).filter(pl.col("annotator") == "ben")
    assert (table.get_column("time").min(), table.get_column("time").max()) == (0.1, 10.0)
    assert table.filter(pl.col("time").is_between(0.05, 1.05)).get_column("valence").n_unique() == 1
    assert table.get_column("item").unique().to_list() == ["talk 1"]


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="zipfile unpacks zstd there")
def test_logs_packed_with_zstd_come_with_the_way_out(tmp_path):
    data = bytearray((SAMPLES / "inspect" / "log.eval").read_bytes())
    # The method of packing stands at byte 8 of a local header and at byte 10 of an entry in the directory.
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = data.find(mark)
        while at >= 0:
            data[at + offset : at + offset + 2] = (93).to_bytes(2, "little")
            at = data.find(mark, at + 4)
    (tmp_path / "log.eval").write_bytes(data)
    done = unisono_here("import", "inspect", "log.eval", "-o", "out.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert "log.eval is packed in a way" in done.stderr
    assert "inspect log convert --to json" in done.stderr
