"""Images, videos, questions and pairs in Firefox, by mouse and by keyboard: the same answers arrive as from others."""

from __future__ import annotations

import base64
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collect_films import FILMS, asking_consent
from collect_media import RECORD, SHAPES, png
from collect_questions import BEFORE, CLEAR_AND_TOPIC
from collect_support import Server, collect
from firefox import Firefox, wait_for
from firefox_people import FirefoxKeyboard, FirefoxMouse

pytestmark = [pytest.mark.browser, pytest.mark.slow]
STUDY = asking_consent(FILMS)
# Who answers, how the log calls it, and its code in samples; one after the other, on one page.
PEOPLE = [(FirefoxMouse, "mouse", 1), (FirefoxKeyboard, "key", 2)]
# What is shown and the first scale, and whether one covers the other or is out of sight.
_SEEN = """() => {
  const [shown, scale] = [".stimulus > *, .stage video", "input[type=range]"].map((words) =>
    document.querySelector(words).getBoundingClientRect());
  const inside = [shown, scale].every((box) => box.top >= -1 && box.bottom <= innerHeight + 1 && box.height > 5);
  return inside && (shown.bottom <= scale.top + 1 || shown.right <= scale.left + 1 || scale.right <= shown.left + 1);
}"""


ASKED = f"""
title = "Films"
mode = "rate"
[texts]
instructions = "Judge."
consent = "Do you agree?"
{CLEAR_AND_TOPIC}
{BEFORE}
[items]
source = "files"
media = "image"
[design]
order = "listed"
[raters]
ask_comment = false
"""
_READY = "() => Boolean(document.querySelector('.panel:not([inert])'))"
_OPTION = """(question, label) => {
  const asks = (one) => one.querySelector(".asked").innerText === question;
  const options = [...document.querySelectorAll("fieldset")].find(asks).querySelectorAll(".option");
  const option = [...options].find((one) => one.innerText.trim() === label);
  const { x, y, width, height } = option.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}"""


def write_study(folder: Path, mode: str, media: str, text: str = STUDY) -> Path:
    (folder / "media").mkdir(parents=True)
    (folder / "study.toml").write_text(text.format(mode=mode, media=media))
    return folder


def write_pictures(study: Path, count: int) -> None:
    for shade in range(count):
        (study / "media" / f"{shade}.png").write_bytes(png(240, 320, 60 * shade))


def exported(study: Path, table: str = "ratings.csv") -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    assert collect("export", study, "--out", study / "out").returncode == 0
    with (study / "out" / table).open(newline="") as stream:
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


def test_images_from_door_to_code(firefox: Firefox, server: Server) -> None:
    firefox.complaints.clear()
    person = begin(firefox, server, FirefoxKeyboard)
    given = [(10.0, 80.0), (35.0, 60.0), (52.0, 41.0), (97.0, 3.0)]
    for values, (kind, *_) in zip(given, 2 * PEOPLE, strict=True):
        person.sliders()
        assert person.page.see(_SEEN)
        kind(person.page).rate(*values)
    assert len(person.code()) == 8
    ratings, log = exported(server.folder)
    assert [row["item"] for row in ratings] == ["0.png", "1.png", "2.png", "3.png"]
    for row, values in zip(ratings, given, strict=True):
        assert [float(row["valence"]), float(row["arousal"])] == pytest.approx(list(values), abs=1.5)
    answers = [line["data"] for line in log if line["kind"] == "rating"]
    assert [set(one["sources"].values()) for one in answers] == 2 * [{source} for _, source, _ in PEOPLE]
    assert firefox.complaints == []


def test_films_from_door_to_code(firefox: Firefox, tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", "trace", "video")
    firefox.complaints.clear()
    blank = firefox.open()
    (film,) = blank.see(RECORD, [[SHAPES["9x16"]], 1500])
    (study / "media" / "clip.webm").write_bytes(base64.b64decode(film))
    with Server(study) as server:
        person = begin(firefox, server, FirefoxMouse)
        for kind, *_ in PEOPLE:
            kind(person.page).trace()
        assert len(person.code()) == 8
        ratings, log = exported(study)
    ends = [line["data"] for line in log if line["kind"] == "pass"]
    for end, (*_, code) in zip(ends, PEOPLE, strict=True):
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


def test_questions_by_keyboard(firefox: Firefox, tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", "rate", "image", ASKED)
    write_pictures(study, 2)
    firefox.complaints.clear()
    with Server(study) as server:
        page = firefox.open()
        page.goto(server.url)
        person = FirefoxKeyboard(page)
        for button in ("Begin", "I agree"):
            person.press(button)
        wait_for(lambda: person.title() == "About you")
        for key in ("Tab", "4", "1", "Tab", "2", "Enter"):
            page.key(key)
        wait_for(lambda: person.title() == "What you will do")
        person.press("Continue")
        for number, digits in ((1, "43"), (2, "21")):
            wait_for(lambda number=number: person.title() == f"{number} of 2" and page.see(_READY))
            for key in (digits[0], "Tab", digits[1], "Enter"):
                page.key(key)
        assert len(person.code()) == 8
        ratings, log = exported(study)
    assert [(row["clear"], row["topic"]) for row in ratings] == [("4", "something else"), ("2", "home")]
    answers = [line["data"] for line in log if line["kind"] == "rating"]
    assert {used for one in answers for used in one["sources"].values()} == {"key"}
    assert [line["data"]["values"] for line in log if line["kind"] == "answers"] == [{"age": 41, "place": "village"}]
    assert firefox.complaints == []


def test_pairs_by_mouse(firefox: Firefox, tmp_path: Path) -> None:
    study = write_study(tmp_path / "study", "compare", "image")
    write_pictures(study, 3)
    firefox.complaints.clear()
    with Server(study) as server:
        person = begin(firefox, server, FirefoxMouse)
        for number, labels in enumerate((("A", "B"), ("No difference", "A"), ("B", "B")), start=1):
            wait_for(lambda number=number: person.title() == f"{number} of 3" and person.page.see(_READY))
            for question, label in zip(("How pleasant is it?", "How exciting is it?"), labels, strict=True):
                person.page.click(*person.page.see(_OPTION, question, label))
            person.press("Next")
        assert len(person.code()) == 8
        compared, log = exported(study, "comparisons.csv")
    said = [("left", "right"), ("tie", "left"), ("right", "right")]
    assert [row["answer"] for row in compared] == [answer for page in said for answer in page]
    answers = [line["data"] for line in log if line["kind"] == "rating"]
    assert {used for one in answers for used in one["sources"].values()} == {"mouse"}
    assert firefox.complaints == []
