"""What disturbs what plays: nothing arrives, a key on a headset, an outage. It is said, it is stored, it goes on."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from collect_films import FILMS
from collect_media import png, write_wav
from collect_people import Mouse
from collect_support import Server, collect

OpenPage = Callable[..., Page]
SIGN = "Waiting for the connection. It goes on by itself."


def study_of(folder: Path, mode: str, media: str) -> Path:
    (folder / "media").mkdir(parents=True)
    if media == "audio":
        write_wav(folder / "media" / "a.wav", 4.0)
    else:
        for number in range(4):
            (folder / "media" / f"p{number}.png").write_bytes(png(40, 40, 50 * number))
    (folder / "study.toml").write_text(FILMS.format(mode=mode, media=media))
    return folder


def come(page: Page, server: Server) -> Mouse:
    page.goto(server.url)
    person = Mouse(page)
    for name in ("Begin", "Begin", "Continue"):
        person.press(name)
    return person


def exported(study: Path, name: str) -> dict[str, str]:
    assert collect("export", study, "--out", study / "out").returncode == 0
    with (study / "out" / name).open(newline="") as stream:
        return next(csv.DictReader(stream))


@pytest.mark.parametrize("mode", ["trace", "rate"])
def test_a_stall_is_covered_and_counted(mode: str, tmp_path: Path, open_page: OpenPage) -> None:
    study = study_of(tmp_path / "study", mode, "audio")
    with Server(study) as server:
        page = open_page()
        person = come(page, server)
        clip = page.locator("audio")
        if mode == "trace":
            person.press("Start")
            page.locator(".cover").wait_for(state="hidden")
            page.mouse.move(600, 700)
            page.mouse.move(640, 705)
        else:
            page.locator(".panel:not([inert])").wait_for()
            for slider in page.get_by_role("slider").all():
                person.move(slider, 30)
            clip.evaluate("one => one.play()")
            page.wait_for_timeout(500)
        # As a browser tells that nothing arrives, and that something does again.
        clip.evaluate("one => { one.dispatchEvent(new Event('waiting')); }")
        expect(page.get_by_text(SIGN)).to_be_visible()
        page.wait_for_timeout(700)
        clip.evaluate("one => { one.dispatchEvent(new Event('playing')); }")
        expect(page.get_by_text(SIGN)).to_be_hidden()
        if mode == "rate":
            expect(page.get_by_text("Enter ↵ for the next one")).to_be_visible()
            person.submit()
        else:
            page.get_by_role("button", name="Start").wait_for()  # the second dimension
        expect(page.locator("#saved")).to_have_text("All saved")
    for name in ("trials.csv", "raters.csv"):
        row = exported(study, name)
        assert row["stalls"] == "1", name
        assert 0.6 < float(row["stalled_seconds"]) < 5, name


def test_a_pause_from_outside_is_a_pause(tmp_path: Path, open_page: OpenPage) -> None:
    study = study_of(tmp_path / "study", "trace", "audio")
    with Server(study) as server:
        page = open_page()
        person = come(page, server)
        person.press("Start")
        page.locator(".cover").wait_for(state="hidden")
        page.mouse.move(600, 700)
        page.mouse.move(640, 705)
        page.locator("audio").evaluate("one => one.pause()")
        expect(page.get_by_text("Paused.")).to_be_visible()
        # The same key does not start it behind the cover.
        page.locator("audio").evaluate("one => { one.play().catch(() => {}); }")
        expect(page.locator("audio")).to_have_js_property("paused", True)
        person.press("Go on")
        page.get_by_role("button", name="Start").wait_for()
        expect(page.locator("#saved")).to_have_text("All saved")
    row = exported(study, "trials.csv")
    assert (row["pauses"], row["plays"]) == ("1", "2")


def test_two_pages_are_fetched_ahead(tmp_path: Path, open_page: OpenPage) -> None:
    study = study_of(tmp_path / "study", "rate", "image")
    with Server(study) as server:
        page = open_page()
        asked: set[str] = set()
        page.on("request", lambda request: asked.add(request.url) if "/media/" in request.url else None)
        person = come(page, server)
        page.locator(".panel:not([inert])").wait_for()
        page.wait_for_timeout(500)
        assert len(asked) == 3
        # With these two nobody waits for the line.
        page.context.set_offline(True)
        for _ in range(2):
            before = page.locator("h1").inner_text()
            for slider in page.get_by_role("slider").all():
                person.move(slider, 30)
            person.submit()
            expect(page.locator("h1")).not_to_have_text(before)
            page.locator(".panel:not([inert])").wait_for()
        page.context.set_offline(False)


def test_a_page_that_failed_during_an_outage_comes_by_itself(tmp_path: Path, open_page: OpenPage) -> None:
    study = study_of(tmp_path / "study", "rate", "image")
    with Server(study) as server:
        page = open_page()
        page.goto(server.url)
        person = Mouse(page)
        person.press("Begin")
        person.press("Begin")
        page.get_by_role("button", name="Continue").wait_for()
        page.context.set_offline(True)
        person.press("Continue")
        expect(page.get_by_text("This one could not be loaded")).to_be_visible()
        page.wait_for_timeout(1000)
        page.context.set_offline(False)
        # Nobody presses anything.
        page.locator(".panel:not([inert])").wait_for()
