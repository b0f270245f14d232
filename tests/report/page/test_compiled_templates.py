"""Compiled templates of the report are kept as Python keeps its modules, and made anew where they cannot be."""

import sys

import pytest

from unisono.report import report_page


@pytest.fixture(autouse=True)
def kept_in(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    return tmp_path


def test_the_second_page_finds_what_the_first_one_compiled(kept_in, monkeypatch):
    report_page._environment().get_template("report.html")
    assert len(list(kept_in.rglob("templates/*.pyc"))) == 1
    monkeypatch.setattr(report_page._environment().__class__, "compile", None)
    assert report_page._environment().get_template("report.html")


def test_what_is_damaged_is_compiled_anew(kept_in):
    report_page._environment().get_template("report.html")
    for path in kept_in.rglob("templates/*.pyc"):
        path.write_bytes(path.read_bytes()[:-1000])
    assert report_page._environment().get_template("report.html")


@pytest.mark.parametrize("wanted", [False, True])
def test_nothing_is_kept_where_nothing_may_be_written(kept_in, monkeypatch, wanted):
    monkeypatch.setattr(sys, "dont_write_bytecode", not wanted)
    if wanted:
        monkeypatch.setattr(sys, "pycache_prefix", str(kept_in / "a file"))
        (kept_in / "a file").write_text("")
    assert report_page._environment().get_template("report.html")
    assert not list(kept_in.rglob("templates/*.pyc"))
