"""Small promises: steps of sliders, codes, checks that nobody meets, cells like formulas, who may read files."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from collect_support import Rater, collect, make_app, rate_study, trace_study
from unisono.collect.studies import open_folder

CHECK = '\n[[checks]]\nafter = 10\ntext = "Far right."\nexpected = { saturation = 100 }\n'


@pytest.mark.parametrize(("value", "fine"), [(50, True), (50.5, False), (100, True), (0, True), (99.999, False)])
def test_answers_lie_on_a_step(tmp_path: Path, value: float, fine: bool) -> None:
    with TestClient(make_app(rate_study(tmp_path / "s")), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        rejected = rater.rate(rater.slots[0], value, 50)["rejected"]
        assert [one["why"] for one in rejected] == ([] if fine else ["saturation must lie on a step of 1"])


def test_so_do_samples_of_traces(tmp_path: Path) -> None:
    with TestClient(make_app(trace_study(tmp_path / "s")), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        slot = rater.slots[0]["id"]
        receipt = rater.do("samples", slot=slot, attempt="a", first=0, rows=[[0, 0, 0, 50.5]])
        assert "step" in receipt["rejected"][0]["why"]


def test_steps_of_a_tenth_and_ends_between_steps(tmp_path: Path) -> None:
    rate_study(tmp_path / "s")
    text = (tmp_path / "s" / "study.toml").read_text()
    (tmp_path / "s" / "study.toml").write_text(
        text.replace('name = "saturation"', 'name = "saturation"\nstep = 0.1', 1)
    )
    folder = open_folder(tmp_path / "s")
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        for value in (0.1, 0.3, 29.7, 99.9):
            assert rater.rate(rater.slots[0], value, 50)["rejected"] == []
        assert rater.rate(rater.slots[0], 0.15, 50)["rejected"] != []


def test_a_code_that_is_asked_for_is_not_left_empty(tmp_path: Path) -> None:
    folder = rate_study(tmp_path / "s", extra='\n[raters]\nask_code = "Your code"\n')
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        assert rater.state["state"] == "joined"
        for empty in ("  ", "\u200b", "\u2800", "-"):
            assert rater.do("consent", code=empty)["rejected"][0]["why"] == "the code is missing"
        assert rater.do("consent", code="P-17")["state"] == "active"


def test_a_check_that_nobody_meets_is_pointed_out(tmp_path: Path) -> None:
    rate_study(tmp_path / "s", extra=CHECK)
    run = collect("check", tmp_path / "s")
    assert run.returncode == 0
    told = "warning: an attention check comes after 10 items, and a rater gets 6"
    assert told in run.stdout + run.stderr
    rate_study(tmp_path / "t", extra=CHECK.replace("10", "3", 1))
    run = collect("check", tmp_path / "t")
    assert "warning" not in run.stdout + run.stderr


TEXTS = """
title = "Texts"
mode = "rate"
[texts]
instructions = "Judge."
[[dimensions]]
name = "joy"
question = "How joyful?"
min = -5
max = 5
anchors = ["little", "much"]
[[dimensions]]
name = "topic"
question = "What is it about?"
kind = "choice"
choices = ["@home", "-work"]
[items]
source = "table"
"""


def test_no_cell_is_a_formula_and_files_with_people_in_them_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "study.toml").write_text(TEXTS)
    (folder / "texts.csv").write_text("item,text\n=1+1,One.\n-x.txt,Two.\n")
    with TestClient(make_app(open_folder(folder)), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        for slot in rater.slots:
            event = rater.event(
                "rating", slot=slot["id"], values={"joy": -5, "topic": "@home"}, start=slot["start"], shown_ms=900
            )
            assert rater.send(event).json()["rejected"] == []
        rater.do("finish")
    assert collect("export", folder, "--out", folder / "out").returncode == 0
    assert collect("pay", folder).returncode == 0
    for name in ("ratings.csv", "trials.csv"):
        with (folder / "out" / name).open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert {row["item"] for row in rows} == {"'=1+1", "'-x.txt"}
        # Numbers below zero are numbers.
        assert {(row["joy"], row["topic"]) for row in rows} == {("-5", "'@home")}
    private = ("out/raters.csv", "out/log.jsonl", "pay/approve.csv", "pay/look.csv")
    assert {oct((folder / name).stat().st_mode & 0o777) for name in private} == {"0o600"}
