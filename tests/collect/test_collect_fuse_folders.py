"""A study, and the folder of its export, are fused and checked as they are; response times are looked at."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from collect_questions import QUESTIONS, question_study
from collect_support import Rater, collect, make_app, rate_study, trace_study
from command_line import unisono_here as run
from unisono.tables.reading.collected_folder import read_trials, words_of_study
from unisono.tables.reading.ratings_reader import read_ratings
from unisono.tables.response_times import time_alerts


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Six colours rated by four raters, who stay within the middle of the scale."""
    folder = rate_study(tmp_path / "colours")
    rng = np.random.default_rng(1)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        for number in range(4):
            rater = Rater.join(client, f"tab0000{number}")
            for slot in rater.slots:
                rater.rate(slot, *(float(value) for value in rng.integers(30, 70, 2)))
            rater.do("finish")
    return folder.path


def test_a_study_and_its_export_are_fused_to_the_same_truth(study: Path, tmp_path: Path) -> None:
    before = sorted(study.iterdir())
    of_study = run("fuse", study)
    assert of_study.returncode == 0, of_study.stderr
    assert sorted(path for path in study.iterdir() if not path.name.startswith("collect.db-")) == before
    collect("export", study, "--out", tmp_path / "out")
    of_export = run("fuse", tmp_path / "out")
    assert of_export.stdout == of_study.stdout
    assert len(of_study.stdout.splitlines()) == 1 + 6
    table = run(
        "fuse", tmp_path / "out" / "ratings.csv", "--scale", "0:100", "--dim", "saturation", "--dim", "brightness"
    )
    assert table.stdout == of_export.stdout


def test_the_study_says_where_its_scales_end(study: Path, tmp_path: Path) -> None:
    collect("export", study, "--out", tmp_path / "out")
    scales = json.loads(run("check", tmp_path / "out", "--json").stdout)["reading"]["scale"]
    assert {(one["low"], one["high"]) for one in scales.values()} == {(0, 100)}
    own = json.loads(run("check", tmp_path / "out", "--scale", "10:90", "--json").stdout)["reading"]["scale"]
    assert {(one["low"], one["high"]) for one in own.values()} == {(10, 90)}


def test_every_kind_of_question_is_read_as_what_it_is(tmp_path: Path) -> None:
    folder = question_study(tmp_path / "q", QUESTIONS)
    words = words_of_study(folder.path)
    kinds = {kind: [one.name for one in folder.study.dimensions if one.kind == kind] for kind in ("choice", "text")}
    assert list(words["categories"]) == kinds["choice"]
    assert not set(words["dims"]) & {*kinds["choice"], *kinds["text"]}
    scales = dict(text.split("=") for text in words["scale"])
    for one in folder.study.dimensions:
        if one.is_number:
            assert scales[one.name] == "{:g}:{:g}".format(*one.ends)
    assert words_of_study(trace_study(tmp_path / "t").path)["rate"] == 25


def test_folders_that_hold_no_ratings_are_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    found = run("fuse", tmp_path / "empty")
    assert (found.returncode, "ratings.csv or study.toml" in found.stderr) == (2, True)
    assert run("check", tmp_path / "empty").returncode == 2
    (tmp_path / "empty" / "comparisons.csv").write_text("annotator,left,right,dimension,answer\n")
    found = run("fuse", tmp_path / "empty")
    assert (found.returncode, "comparisons" in found.stderr) == (3, True)


class Way:
    """Twelve raters of forty items in random orders, as tables of ratings and trials."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        self.folder, self.rng = folder, np.random.default_rng(seed)
        folder.mkdir(exist_ok=True)
        self.truth = self.rng.uniform(20, 80, 40)
        self.ratings: list[list[object]] = []
        self.trials: list[list[object]] = []

    def add(self, name: str, noise: tuple[float, float], seconds: tuple[float, float]) -> None:
        """Noise and median seconds in the first and in the last half."""
        for place, item in enumerate(self.rng.permutation(40)):
            half = int(place >= 20)
            value = self.truth[item] + self.rng.normal(0, noise[half])
            took = seconds[half] * np.exp(self.rng.normal(0, 0.3))
            self.ratings.append([f"i{item}", name, round(value, 1)])
            self.trials.append([f"i{item}", name, "item", place + 1, round(took, 3)])

    def write(self) -> list[tuple[str, tuple[str, ...]]]:
        """Kind and labels of the alerts."""
        heads = (["item", "annotator", "joy"], ["item", "annotator", "role", "position", "response_seconds"])
        for name, head, rows in zip(("ratings.csv", "trials.csv"), heads, (self.ratings, self.trials), strict=True):
            with (self.folder / name).open("w", newline="") as stream:
                csv.writer(stream).writerows([head, *rows])
        found = time_alerts(read_trials(self.folder / "trials.csv"), read_ratings(self.folder / "ratings.csv"))
        return [(one.kind, one.labels) for one in found]


def test_nobody_is_named_where_all_take_their_time(tmp_path: Path) -> None:
    for seed in range(20):
        way = Way(tmp_path / "w", seed)
        for number in range(12):
            # Everybody gets a little faster; that is practice.
            way.add(f"r{number}", (8, 8), (5, 4))
        assert way.write() == []


def test_fast_answers_and_fatigue_are_named_with_figures(tmp_path: Path) -> None:
    way = Way(tmp_path / "w")
    for number in range(9):
        way.add(f"r{number}", (6, 6), (5, 4.5))
    way.add("racer", (6, 6), (1.2, 1.2))
    way.add("robot", (6, 6), (0.2, 0.2))
    way.add("sleeper", (6, 35), (5, 2))
    assert way.write() == [
        ("impossible-times", ("robot",)),
        ("fast-answers", ("robot",)),
        ("fast-answers", ("racer",)),
        ("fatigue", ("sleeper",)),
    ]
    printed = run("check", tmp_path / "w").stdout
    assert "Annotator 'racer' takes 1." in printed.replace("\n  ", " ")
    assert "seems to tire" in printed
    shutil.move(tmp_path / "w" / "trials.csv", tmp_path / "elsewhere.csv")
    kinds = {one["kind"] for one in json.loads(run("check", tmp_path / "w", "--json").stdout)["alerts"]}
    assert not kinds & {"fatigue", "fast-answers"}
    given = run("check", tmp_path / "w", "--trials", tmp_path / "elsewhere.csv", "--json")
    assert "fatigue" in {one["kind"] for one in json.loads(given.stdout)["alerts"]}


def test_a_study_in_which_everybody_tires_is_too_long(tmp_path: Path) -> None:
    way = Way(tmp_path / "w")
    for number in range(12):
        way.add(f"r{number}", (6, 9), (5, 5))
    assert ("fatigue-of-all", ()) in way.write()


def test_trials_of_an_export_join_with_its_ratings(study: Path, tmp_path: Path) -> None:
    collect("export", study, "--out", tmp_path / "out")
    trials = read_trials(tmp_path / "out" / "trials.csv")
    ratings = read_ratings(tmp_path / "out" / "ratings.csv")
    pairs = {
        (ratings.items[m], ratings.annotators[k]) for m, k in zip(ratings.item_of, ratings.annotator_of, strict=True)
    }
    assert set(zip(trials.item, trials.annotator, strict=True)) == pairs
    # Answers of these tests arrive in no time, and that is seen.
    kinds = {one["kind"] for one in json.loads(run("check", study, "--json").stdout)["alerts"]}
    assert "impossible-times" in kinds


def test_a_table_of_trials_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "trials.csv").write_text("item,annotator\na,b\n")
    with pytest.raises(Exception, match="no column position"):
        read_trials(tmp_path / "trials.csv")
    (tmp_path / "trials.csv").write_text("item,annotator,position,response_seconds\na,b,1,soon\n")
    with pytest.raises(Exception, match="row 2: response_seconds is 'soon'"):
        read_trials(tmp_path / "trials.csv")
