"""What `--out` replaces and what it does not, places where nothing can be written, and readers that went away."""

from __future__ import annotations

import json
import subprocess

import pytest

from command_line import UNISONO, unisono_here

ROWS = "item,annotator,v\n" + "".join(f"i{m},a{k},{(3 * m + k * k) % 7}\n" for m in range(8) for k in range(4))
FUSE = ("fuse", "r.csv", "--model", "mean", "--out")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "r.csv").write_text(ROWS)
    return tmp_path


def test_files_that_no_fusion_wrote_stay(folder):
    mine = folder / "mine"
    mine.mkdir()
    (mine / "truth.csv").write_text("my own\n")
    done = unisono_here(*FUSE, "mine", cwd=folder)
    assert (done.returncode, done.stdout) == (3, "")
    assert "mine holds 'truth.csv', which no fusion wrote" in done.stderr
    assert (mine / "truth.csv").read_text() == "my own\n"
    assert [path.name for path in mine.iterdir()] == ["truth.csv"]
    assert unisono_here(*FUSE, "mine", "--overwrite", cwd=folder).returncode == 0
    assert (mine / "truth.csv").read_text().startswith("item,")


def test_a_folder_of_a_fusion_is_written_again_and_files_beside_stay(folder):
    (folder / "out").mkdir()
    (folder / "out" / "notes.txt").write_text("mine")
    assert unisono_here(*FUSE, "out", cwd=folder).returncode == 0
    assert unisono_here(*FUSE, "out", cwd=folder).returncode == 0
    assert (folder / "out" / "notes.txt").read_text() == "mine"


def test_a_summary_that_is_somebody_elses_is_none_of_a_fusion(folder):
    (folder / "out").mkdir()
    (folder / "out" / "summary.json").write_text(json.dumps({"mine": 1}))
    assert unisono_here(*FUSE, "out", cwd=folder).returncode == 3


@pytest.mark.parametrize("place", ["r.csv", "r.csv/out", "r.csv/a/b"])
def test_where_nothing_can_be_written_there_is_one_error(folder, place):
    done = unisono_here(*FUSE, place, cwd=folder)
    assert done.returncode in (2, 3)
    assert "Traceback" not in done.stderr
    assert "is a file" in done.stderr
    assert [path.name for path in folder.iterdir()] == ["r.csv"]


def test_an_output_file_that_cannot_be_written_is_one_error(folder):
    done = unisono_here("agreement", "r.csv", "--out", "r.csv/x.json", cwd=folder)
    assert (done.returncode, done.stdout) == (3, "")
    assert "r.csv/x.json cannot be written: " in done.stderr


@pytest.mark.parametrize("merged", [True, False], ids=["errors too", "output alone"])
def test_a_closed_pipe_does_not_keep_the_folder_from_being_written(folder, merged):
    command = f"{UNISONO} fuse r.csv --out out {'2>&1' if merged else ''} | head -c 1"
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, check=False, timeout=120)
    assert b"Traceback" not in done.stderr
    written = {path.name for path in (folder / "out").iterdir()}
    assert {"truth.csv", "annotators.csv", "summary.json", "report.html", "fit"} <= written


def test_a_fit_that_knows_nobody_is_no_start(folder):
    assert unisono_here("fuse", "r.csv", "--out", "one", cwd=folder).returncode == 0
    (folder / "s.csv").write_text(ROWS.replace(",a", ",A").replace("Annotator", "annotator"))
    done = unisono_here("fuse", "s.csv", "--start", "one", "--out", "two", cwd=folder)
    assert done.returncode == 3
    assert "s.csv has no annotator of the fit to start from" in done.stderr
    assert "Is 'A0' the earlier 'a0'?" in done.stderr
    assert not (folder / "two").exists()
    (folder / "t.csv").write_text(ROWS.replace(",a0", ",A0"))
    assert unisono_here("fuse", "t.csv", "--start", "one", "--out", "two", cwd=folder).returncode == 0
