"""`fuse --out` writes the report, `report` makes it again."""

import json

import pytest

from category_cases import crowd
from command_line import unisono_here
from unisono.tables.datasets import dataset_path


@pytest.fixture(scope="module")
def fused(tmp_path_factory):
    out = tmp_path_factory.mktemp("out") / "fused"
    done = unisono_here("fuse", dataset_path("squality"), "--out", out)
    assert done.returncode == 0
    assert "report.html" in done.stdout
    return out


def test_fuse_writes_a_page_and_its_numbers(fused):
    page = (fused / "report.html").read_text(encoding="utf-8")
    data = json.loads((fused / "report.json").read_text(encoding="utf-8"))
    assert page.startswith("<!doctype html>")
    assert data["command"].startswith("unisono fuse ")
    assert data["summary"] == json.loads((fused / "summary.json").read_text(encoding="utf-8"))


def test_the_page_can_be_left_away(tmp_path):
    done = unisono_here("fuse", dataset_path("squality"), "--out", tmp_path / "x", "--no-report")
    assert done.returncode == 0
    assert "report" not in done.stdout
    assert not list((tmp_path / "x").glob("report*"))


def test_report_makes_the_same_page_again(fused, tmp_path):
    done = unisono_here("report", fused, "-o", tmp_path / "again.html")
    assert done.returncode == 0
    assert (tmp_path / "again.html").read_bytes() == (fused / "report.html").read_bytes()


def test_categories_alone_have_a_report_too(tmp_path):
    crowd(2, M=25, K=6, C=3).frame().write_csv(tmp_path / "feelings.csv")
    done = unisono_here("fuse", tmp_path / "feelings.csv", "--out", tmp_path / "out", "--category-model", "majority")
    assert done.returncode == 0
    assert "report.html" in done.stdout
    first = (tmp_path / "out" / "report.html").read_bytes()
    assert b"Kinds of annotators" not in first
    assert unisono_here("report", tmp_path / "out").returncode == 0
    assert (tmp_path / "out" / "report.html").read_bytes() == first
    options = ("--category-model", "majority", "--no-report")
    assert unisono_here("fuse", tmp_path / "feelings.csv", "--out", tmp_path / "bare", *options).returncode == 0
    assert not list((tmp_path / "bare").glob("report*"))


@pytest.mark.parametrize(
    ("text", "words"),
    [(None, "holds no report.json"), ("{", "is damaged"), ('{"format": 99}', "another version"), ("[]", "is damaged")],
)
def test_a_folder_without_its_numbers_is_refused(tmp_path, text, words):
    if text is not None:
        (tmp_path / "report.json").write_text(text, encoding="utf-8")
    done = unisono_here("report", tmp_path)
    assert done.returncode == 3
    assert words in done.stderr
    assert "--out" in done.stderr or "Fuse again" in done.stderr
    assert not (tmp_path / "report.html").exists()
