"""Sounds and films that are rated: first they play, all of them and at their own speed."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from collect_films import FILMS
from collect_media import write_films, write_wav
from collect_people import Mouse
from collect_support import Server, collect

OpenPage = Callable[..., Page]


def come(page: Page, server: Server) -> Mouse:
    page.goto(server.url)
    person = Mouse(page)
    person.press("Begin")
    person.press("Begin")
    person.press("Continue")
    page.locator(".panel:not([inert])").wait_for()
    for slider in page.get_by_role("slider").all():
        person.move(slider, 30)
    return person


@pytest.mark.parametrize("media", ["audio", "video"])
def test_next_waits_for_the_end_and_no_menu_makes_it_faster(
    media: str, tmp_path: Path, browser: Browser, open_page: OpenPage
) -> None:
    study = tmp_path / "study"
    (study / "media").mkdir(parents=True)
    if media == "audio":
        write_wav(study / "media" / "a.wav", 2.0)
    else:
        write_films(study / "media", browser, ms=1200)
        for name in ("4x3", "1x1", "9x16"):
            (study / "media" / f"{name}.webm").unlink()
    (study / "study.toml").write_text(FILMS.format(mode="rate", media=media))
    with Server(study) as server:
        page = open_page()
        person = come(page, server)
        clip = page.locator(f".stimulus {media}")
        person.submit()
        expect(page.get_by_text("Please play it through first.")).to_be_visible()
        assert page.locator("h1").inner_text() == "1 of 1"
        # Skipping to the end is not playing, and four times as fast is not either.
        clip.evaluate("one => { one.playbackRate = 4; one.currentTime = 1; }")
        expect(clip).to_have_js_property("playbackRate", 1)
        person.submit()
        expect(page.get_by_text("Please play it through first.")).to_be_visible()
        clip.evaluate("one => { one.currentTime = 0; return one.play(); }")
        expect(page.get_by_text("Enter ↵ for the next one")).to_be_visible()
        person.submit()
        assert len(page.locator("strong#code").inner_text()) == 8
    assert collect("export", study, "--out", study / "out").returncode == 0
    (event,) = [
        json.loads(line) for line in (study / "out" / "log.jsonl").read_text().splitlines() if '"kind":"rating"' in line
    ]
    ((played, length),) = event["data"]["played"]
    assert played >= 0.9 * length > 0.9
    with (study / "out" / "raters.csv").open(newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert (row["pages_unseen"], row["doubts"]) == ("0", "")
    assert row["browser"].startswith("Chrome ")
    assert row["device"] == "computer"
    with (study / "out" / "trials.csv").open(newline="") as stream:
        (trial,) = csv.DictReader(stream)
    assert (trial["window"], trial["by_valence"], trial["plays"]) == ("1280x800", "mouse", "1")
    assert float(trial["response_seconds"]) > 1


def test_a_speed_menu_does_not_reach_traces(tmp_path: Path, browser: Browser, open_page: OpenPage) -> None:
    study = tmp_path / "study"
    (study / "media").mkdir(parents=True)
    write_wav(study / "media" / "a.wav", 2.0)
    (study / "study.toml").write_text(FILMS.format(mode="trace", media="audio"))
    with Server(study) as server:
        page = open_page()
        page.goto(server.url)
        person = Mouse(page)
        for name in ("Begin", "Begin", "Continue"):
            person.press(name)
        page.locator("audio").evaluate("one => { one.playbackRate = 4; }")
        person.press("Start")
        expect(page.locator("audio")).to_have_js_property("playbackRate", 1)
