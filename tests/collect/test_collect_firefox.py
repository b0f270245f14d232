"""The image and the video task in Firefox, by mouse and by keyboard: the same answers arrive as from other browsers."""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collect_media import RECORD, SHAPES, png
from collect_support import Server, collect
from firefox import Firefox
from firefox_people import FirefoxKeyboard, FirefoxMouse

pytestmark = [pytest.mark.browser, pytest.mark.slow]
STUDY = """
title = "Films"
mode = "{mode}"
[texts]
instructions = "Judge."
consent = "Do you agree?"
[[dimensions]]
name = "valence"
question = "How pleasant is it?"
anchors = ["very unpleasant", "neutral", "very pleasant"]
[[dimensions]]
name = "arousal"
question = "How exciting is it?"
anchors = ["calm", "in between", "exciting"]
[items]
source = "files"
media = "{media}"
[design]
order = "listed"
[raters]
ask_comment = false
[trace]
countdown = 0
[limits]
requests_per_second = 100
"""
PEOPLE = pytest.mark.parametrize(("kind", "source"), [(FirefoxMouse, "mouse"), (FirefoxKeyboard, "key")])
# What is shown and the first scale, and whether one covers the other or is out of sight.
_SEEN = """() => {
  const [shown, scale] = [".stimulus > *, .stage video", "input[type=range]"].map((words) =>
    document.querySelector(words).getBoundingClientRect());
  const inside = [shown, scale].every((box) => box.top >= -1 && box.bottom <= innerHeight + 1 && box.height > 5);
  return inside && (shown.bottom <= scale.top + 1 || shown.right <= scale.left + 1 || scale.right <= shown.left + 1);
}"""


def write_study(folder: Path, mode: str, media: str) -> Path:
    (folder / "media").mkdir(parents=True)
    (folder / "study.toml").write_text(STUDY.format(mode=mode, media=media))
    return folder


def exported(study: Path) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    assert collect("export", study, "--out", study / "out").returncode == 0
    with (study / "out" / "ratings.csv").open(newline="") as stream:
        ratings = list(csv.DictReader(stream))
    return ratings, [json.loads(line) for line in (study / "out" / "log.jsonl").read_text().splitlines()]


def begin(firefox: Firefox, server: Server, kind: type[FirefoxMouse]) -> FirefoxMouse:
    page = firefox.open()
    page.goto(server.url)
    person = kind(page)
    for button in ("Begin", "I agree", "Continue"):
        person.press(button)
    return person


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    study = write_study(tmp_path / "study", "rate", "image")
    for shade, size in enumerate(SHAPES.values()):
        (study / "media" / f"{shade}.png").write_bytes(png(*size, 60 * shade))
    with Server(study) as server:
        yield server


@PEOPLE
def test_images_from_door_to_code(firefox: Firefox, server: Server, kind: type[FirefoxMouse], source: str) -> None:
    firefox.complaints.clear()
    person = begin(firefox, server, kind)
    given = [(10.0, 80.0), (35.0, 60.0), (52.0, 41.0), (97.0, 3.0)]
    for values in given:
        person.sliders()
        assert person.page.see(_SEEN)
        person.rate(*values)
    assert len(person.code()) == 8
    ratings, log = exported(server.folder)
    assert [row["item"] for row in ratings] == ["0.png", "1.png", "2.png", "3.png"]
    for row, values in zip(ratings, given, strict=True):
        assert [float(row["valence"]), float(row["arousal"])] == pytest.approx(list(values), abs=1.5)
    answers = [line["data"] for line in log if line["kind"] == "rating"]
    assert {used for one in answers for used in one["sources"].values()} == {source}
    assert firefox.complaints == []


@PEOPLE
def test_films_from_door_to_code(firefox: Firefox, tmp_path: Path, kind: type[FirefoxMouse], source: str) -> None:
    study = write_study(tmp_path / "study", "trace", "video")
    firefox.complaints.clear()
    blank = firefox.open()
    (film,) = blank.see(RECORD, [[SHAPES["9x16"]], 1500])
    (study / "media" / "clip.webm").write_bytes(base64.b64decode(film))
    with Server(study) as server:
        person = begin(firefox, server, kind)
        for _ in ("valence", "arousal"):
            person.trace()
        assert len(person.code()) == 8
        ratings, log = exported(study)
    ends = [line["data"] for line in log if line["kind"] == "pass"]
    assert len(ends) == 2
    code = {"mouse": 1, "key": 2}[source]
    for end in ends:
        parts = [one["data"] for one in log if one["kind"] == "samples" and one["data"]["attempt"] == end["attempt"]]
        rows = [row for part in parts for row in part["rows"]]
        times = [row[0] for row in rows]
        assert len(rows) == end["samples"]
        assert times == sorted(times)
        assert 1.0 < end["seconds"] < 3.0
        assert code in {row[2] for row in rows}
    assert {row["recording"] for row in ratings} == {"clip.webm"}
    assert len({row["valence"] for row in ratings}) > 3
    assert firefox.complaints == []
