"""A study is edited while raters have it on their screens, large and small: all of them go on, to the code."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from collect_media import SHAPES, png
from collect_people import Mouse
from collect_support import Server, collect

pytestmark = [pytest.mark.browser, pytest.mark.slow]
SCREENS = [(1280, 800), (1280, 650), (390, 844), (844, 390)]
STUDY = """
title = "Pictures"
mode = "rate"
[texts]
instructions = "{instructions}"
[[dimensions]]
name = "valence"
question = "How pleasant?"
anchors = ["bad", "good"]
[items]
source = "files"
[design]
order = "listed"
[raters]
ask_comment = false
[limits]
requests_per_second = 100
"""
CHECK = '\n[[checks]]\nafter = 2\ntext = "Far left."\nexpected = { valence = 0 }\n'


def answer(page: Page, person: Mouse) -> None:
    before = page.locator("h1").inner_text()
    page.locator(".panel:not([inert])").wait_for()
    slider = page.get_by_role("slider")
    slider.scroll_into_view_if_needed()
    person.move(slider, 30)
    person.submit()
    expect(page.locator("h1")).not_to_have_text(before)


def test_checks_and_pictures_come_and_go_under_raters_at_work(tmp_path: Path, open_page: Callable[..., Page]) -> None:
    study = tmp_path / "study"
    (study / "media").mkdir(parents=True)
    for name, size in zip("abcd", SHAPES.values(), strict=True):
        (study / "media" / f"{name}.png").write_bytes(png(*size))
    (study / "study.toml").write_text(STUDY.format(instructions="Judge.") + CHECK)
    with Server(study) as server:
        pages = [open_page(viewport={"width": width, "height": height}) for width, height in SCREENS]
        people = [Mouse(page) for page in pages]
        for page, person in zip(pages, people, strict=True):
            page.goto(server.url)
            for button in ("Begin", "Begin", "Continue"):
                person.press(button)
            answer(page, person)
    # The check goes, a picture goes, another comes, and the words are others.
    (study / "study.toml").write_text(STUDY.format(instructions="Judge each of them."))
    (study / "media" / "c.png").unlink()
    (study / "media" / "e.png").write_bytes(png(64, 64))
    assert collect("status", study).returncode == 0
    with Server(study, port=server.port):
        for page, person in zip(pages, people, strict=True):
            page.reload()
            for _ in range(2):
                answer(page, person)
            assert len(page.locator("strong#code").inner_text()) == 8
        assert collect("export", study, "--out", study / "out").returncode == 0
    with (study / "out" / "ratings.csv").open(newline="") as stream:
        rows = [(row["annotator"], row["item"]) for row in csv.DictReader(stream)]
    assert rows == [(f"r{k:04d}", f"{name}.png") for k in range(1, 5) for name in "abd"]
