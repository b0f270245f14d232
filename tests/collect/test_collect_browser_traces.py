"""The video task in a real browser: by mouse without a button, by keyboard, by finger; offline, reload, real files."""

from __future__ import annotations

import base64
import csv
import json
import math
import struct
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from collect_people import Finger, Keyboard, Mouse, Person
from collect_support import TRACE_STUDY, Server, trace_study
from unisono.collect.export.write import export_study
from unisono.collect.store.database import Database
from unisono.collect.studies import open_folder

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
OpenPage = Callable[..., Page]
LIMITS = "\n[limits]\nrequests_per_second = 100\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    trace_study(tmp_path / "study", seconds=2, countdown=1, extra=LIMITS)
    with Server(tmp_path / "study") as server:
        yield server


def exported(server: Server) -> tuple[Path, list[dict[str, str]], list[dict[str, Any]]]:
    folder = open_folder(server.folder)
    out = server.folder.parent / "out"
    database = Database(folder.database_url)
    export_study(folder, database, out)
    database.close()
    with (out / "ratings.csv").open(newline="") as stream:
        ratings = list(csv.DictReader(stream))
    return out, ratings, [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


def come(page: Page, server: Server, kind: type[Person]) -> Person:
    page.goto(server.url)
    person = kind(page)
    person.press("Begin")
    person.press("Begin")
    person.press("Continue")
    return person


def passes(log: list[dict[str, Any]]) -> list[list[list[float]]]:
    """The samples of every finished pass, put together by number; each number exactly once."""
    found = []
    for end in (line["data"] for line in log if line["kind"] == "pass"):
        parts = [
            line["data"] for line in log if line["kind"] == "samples" and line["data"]["attempt"] == end["attempt"]
        ]
        numbers = [number for part in parts for number in range(part["first"], part["first"] + len(part["rows"]))]
        assert numbers == list(range(end["samples"]))
        found.append([row for part in parts for row in part["rows"]])
    return found


def check_samples(rows: list[list[float]], code: int, seconds: float) -> None:
    times = [row[0] for row in rows]
    assert times == sorted(times)
    assert times[-1] == pytest.approx(1000 * seconds, abs=60)
    ticks = [row for row in rows if row[2] == 0]
    # 25 a second; a busy machine skips frames, and never makes any up.
    assert 5 * seconds < len(ticks) <= 25 * seconds + 2
    assert code in {row[2] for row in rows}


@pytest.mark.parametrize(("kind", "options", "code"), [(Mouse, {}, 1), (Keyboard, {}, 2), (Finger, PHONE, 3)])
def test_the_video_task_from_door_to_code(
    server: Server, open_page: OpenPage, kind: type[Person], options: dict[str, Any], code: int
) -> None:
    page = open_page(**options)
    person = come(page, server, kind)
    person.trace("saturation")
    person.trace("brightness")
    assert len(person.finish()) == 8
    out, ratings, log = exported(server)
    for rows in passes(log):
        check_samples(rows, code, 2)
    with (out / "truth.csv").open(newline="") as stream:
        truth = {row["time"]: row for row in csv.DictReader(stream)}
    assert {row["time"] for row in ratings} <= set(truth)
    late = [row for row in ratings if float(row["time"]) >= 1]
    assert len(late) == 25
    if kind is not Keyboard:
        # The hand follows the eye within a few frames, and a walk moves at most two points a frame.
        misses = [
            abs(float(row[name]) - float(truth[row["time"]][name]))
            for row in late
            for name in ("saturation", "brightness")
        ]
        assert sum(misses) / len(misses) < 20


def move_until(page: Page, box: dict[str, float], is_over: Callable[[int], bool]) -> None:
    """Moves the mouse to and fro over the slider."""
    for number in range(400):
        if is_over(number):
            return
        page.mouse.move(box["x"] + 50 + 4 * (number % 90), box["y"] + 10)
        page.wait_for_timeout(50)
    raise TimeoutError


def test_going_offline_in_the_middle_of_a_video_loses_and_doubles_nothing(tmp_path: Path, open_page: OpenPage) -> None:
    trace_study(tmp_path / "study", seconds=6, extra=LIMITS)
    with Server(tmp_path / "study") as server:
        page = open_page()
        person = come(page, server, Mouse)
        page.locator(".cover button").wait_for()
        person.press("Start")
        page.locator(".cover").wait_for(state="hidden")
        box = dict(page.get_by_role("slider").bounding_box() or {})
        move_until(page, box, lambda moved: moved == 15)
        page.context.set_offline(True)
        move_until(page, box, lambda _: page.locator("#saved").inner_text() == "Not saved yet, retrying…")
        page.context.set_offline(False)
        move_until(page, box, lambda _: page.locator(".cover").is_visible())
        page.get_by_role("button", name="Start").wait_for()
        expect(page.locator("#saved")).to_have_text("All saved")
        _, ratings, log = exported(server)
    (rows,) = passes(log)
    check_samples(rows, 1, 6)
    keys = [(line["tab"], line["seq"]) for line in log]
    assert len(keys) == len(set(keys))
    assert len(ratings) > 140


def test_a_reload_in_a_pass_starts_it_again_and_keeps_the_passes_before(server: Server, open_page: OpenPage) -> None:
    page = open_page()
    person = come(page, server, Mouse)
    person.trace("saturation")
    person.press("Start")
    page.locator(".cover").wait_for(state="hidden")
    slider = page.get_by_role("slider")
    person.move(slider, 80)
    page.wait_for_timeout(700)
    page.reload()
    expect(page.locator("#progress-text")).to_have_text("2 of 2")
    person.trace("brightness")
    person.finish()
    _, _, log = exported(server)
    assert len(passes(log)) == 2
    brightness = {line["data"]["attempt"] for line in log if line["kind"] == "samples" and line["part"] == 1}
    assert len(brightness) == 2


def test_losing_the_window_pauses_and_counts_down_again(server: Server, open_page: OpenPage) -> None:
    page = open_page()
    person = come(page, server, Mouse)
    person.press("Start")
    expect(page.locator(".count")).to_have_text("1")
    page.locator(".cover").wait_for(state="hidden")
    person.move(page.get_by_role("slider"), 30)
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    expect(page.get_by_text("Paused.")).to_be_visible()
    pixel = "() => document.querySelector('.clock .line div').style.width"
    before = page.evaluate(pixel)
    page.wait_for_timeout(400)
    assert page.evaluate(pixel) == before
    person.press("Go on")
    expect(page.locator(".count")).to_have_text("1")
    page.locator(".cover").wait_for(state="hidden")
    page.keyboard.press("Space")
    expect(page.get_by_text("Paused.")).to_be_visible()
    page.keyboard.press("Space")
    page.locator(".cover").wait_for(state="hidden")
    page.get_by_role("button", name="Start").wait_for()
    expect(page.locator("#saved")).to_have_text("All saved")
    _, _, log = exported(server)
    notes = [line["data"]["name"] for line in log if line["kind"] == "note" and line["part"] == 0]
    assert notes == ["play", "blur", "play", "pause", "play"]
    (rows,) = passes(log)
    check_samples(rows, 1, 2)


def test_a_pass_without_a_touch_is_asked_for_again(tmp_path: Path, open_page: OpenPage) -> None:
    trace_study(tmp_path / "study", seconds=2, extra=LIMITS)
    with Server(tmp_path / "study") as server:
        page = open_page()
        person = come(page, server, Keyboard)
        person.press("Start")
        expect(page.get_by_text("The slider was not moved")).to_be_visible()
        person.press("Watch again")
        page.locator(".cover").wait_for(state="hidden")
        page.keyboard.press("ArrowRight")
        page.get_by_role("button", name="Start").wait_for()
        expect(page.locator("#saved")).to_have_text("All saved")
        _, ratings, _ = exported(server)
    assert 0 < len(ratings) <= 50


def write_sound(path: Path, seconds: float) -> None:
    """A tone, as a file that every browser plays."""
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        tone = (int(3000 * math.sin(2 * math.pi * 440 * n / 8000)) for n in range(int(8000 * seconds)))
        sound.writeframes(b"".join(struct.pack("<h", value) for value in tone))


_RECORD = """async () => {
  const canvas = Object.assign(document.createElement("canvas"), {width: 64, height: 48});
  const context = canvas.getContext("2d");
  const recorder = new MediaRecorder(canvas.captureStream(25), {mimeType: "video/webm"});
  const parts = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  recorder.start();
  for (let n = 0; n < 50; n += 1) {
    context.fillStyle = `rgb(${5 * n} 80 80)`;
    context.fillRect(0, 0, 64, 48);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  await new Promise((resolve) => { recorder.onstop = resolve; recorder.stop(); });
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}"""


def write_video(path: Path, browser: Browser) -> None:
    """Two seconds of video, recorded by the browser itself; such files do not say how long they are."""
    page = browser.new_page()
    page.goto("about:blank")
    path.write_bytes(base64.b64decode(page.evaluate(_RECORD)))
    page.close()


FILES = TRACE_STUDY.replace('source = "walks"', 'source = "files"\nmedia = "{media}"')


@pytest.mark.parametrize("media", ["audio", "video"])
def test_files_of_the_researcher_are_traced_on_their_own_clock(
    media: str, tmp_path: Path, browser: Browser, open_page: OpenPage
) -> None:
    study = tmp_path / "study"
    (study / "media").mkdir(parents=True)
    if media == "audio":
        write_sound(study / "media" / "tone.wav", 2)
    else:
        write_video(study / "media" / "clip.webm", browser)
    pad = '\n[[pads]]\nx = "saturation"\ny = "brightness"\n' + LIMITS
    (study / "study.toml").write_text(FILES.format(media=media, count=1, seconds=9, countdown=0) + pad)
    with Server(study) as server:
        page = open_page()
        person = come(page, server, Mouse)
        person.press("Start")
        page.locator(".cover").wait_for(state="hidden")
        box = page.locator(".pad").bounding_box()
        assert box
        for number in range(100):
            if page.get_by_text("One last thing").is_visible():
                break
            page.mouse.move(box["x"] + box["width"] * min(number, 10) / 13, box["y"] + box["height"] / 4)
            page.wait_for_timeout(40)
        assert len(person.finish()) == 8
        _, ratings, log = exported(server)
    (rows,) = passes(log)
    check_samples(
        rows, 1, 2 if media == "audio" else next(line for line in log if line["kind"] == "pass")["data"]["seconds"]
    )
    assert float(ratings[-1]["brightness"]) == pytest.approx(75, abs=2)
    assert float(ratings[-1]["saturation"]) > 50
    assert 1.5 < float(ratings[-1]["time"]) < 2.5
