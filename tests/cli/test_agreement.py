"""`unisono agreement`: tables that fit a terminal, JSON, files, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import unisono as un
from command_line import unisono_here

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def folder(tmp_path):
    rows = [
        f"c{m},{who},{1 + (3 * m + shift * (m % 2)) % 7},{1 + (m + shift) % 5}"
        for m in range(12)
        for shift, who in enumerate("xyz")
    ]
    (tmp_path / "r.csv").write_text("item,annotator,valence,arousal\n" + "\n".join(rows) + "\n")
    return tmp_path


def test_tables_fit_eighty_columns_and_every_icc_has_its_interval(folder):
    done = unisono_here("agreement", "r.csv", "--bootstrap", 100, cwd=folder)
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    lines = done.stdout.splitlines()
    head = next(i for i, line in enumerate(lines) if "ICC(A,1) = (2,1)" in line)
    assert lines[head + 2].count("[") == 2
    assert "AC2" in done.stdout
    assert "Shrout and Fleiss" in " ".join(done.stdout.split())


def test_json_and_file_are_what_the_library_gives(folder):
    done = unisono_here("agreement", "r.csv", "--bootstrap", 50, "--json", "--out", "a.json", "--seed", 3, cwd=folder)
    found = json.loads(done.stdout)
    assert found == json.loads((folder / "a.json").read_text())
    expected = un.agreement(folder / "r.csv", draws=50, seed=3).dimensions[0].figures["ICC(A,1)"]
    assert found["dimensions"][0]["figures"]["ICC(A,1)"]["low"] == pytest.approx(expected.low)
    assert "heds" in found


def test_a_fit_and_pairs(folder):
    assert unisono_here("fuse", "r.csv", "--model", "mean", "--out", "out", cwd=folder).returncode == 0
    done = unisono_here("agreement", "r.csv", "--fit", "out", "--pairs", "--bootstrap", 0, "--json", cwd=folder)
    found = json.loads(done.stdout)
    assert found["reliability_of"] == "the fused estimate"
    assert found["dimensions"][0]["matrices"]["CCC"][0][0] is None
    assert found["dimensions"][0]["figures"]["ICC(A,1)"]["low"] is None


def test_bad_data_ends_with_code_3_and_writes_nothing(folder):
    (folder / "alone.csv").write_text("item,annotator,v\na,x,1\nb,y,2\n")
    done = unisono_here("agreement", "alone.csv", "--out", "a.json", cwd=folder)
    assert done.returncode == 3
    assert "two annotators" in done.stderr
    assert not (folder / "a.json").exists()
    assert unisono_here("agreement", "r.csv", "--fit", ".", cwd=folder).returncode == 3
    assert unisono_here("agreement", "r.csv", "--level", "2", cwd=folder).returncode == 2


def test_the_page_shows_what_is_printed(tmp_path):
    page = (ROOT / "docs" / "agreement.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(.*?)\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    example, paragraph = (text for kind, text in blocks if not kind)
    ratings = ROOT / "src" / "unisono" / "tables" / "datasets" / "squality" / "ratings.csv"
    done = unisono_here("agreement", ratings, cwd=tmp_path)
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    missing = [line for line in example.splitlines() if line not in printed]
    assert not missing
    assert " ".join(paragraph.removesuffix("...\n").split()) in " ".join(printed)
