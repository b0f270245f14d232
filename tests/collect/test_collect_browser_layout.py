"""What is judged and what it is judged with, together on every screen: no film, whatever its shape, covers a scale."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from collect_films import FILMS
from collect_media import SHAPES, png, write_films
from collect_people import Mouse
from collect_support import Server, collect

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
SCREENS = [(1280, 800), (1280, 650), (390, 844), (844, 390)]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
PAD = '[[pads]]\nx = "valence"\ny = "arousal"\n'

# Where things are: what is judged, the plane, the sliders; and whether the page has to be scrolled sideways.
_PLACES = """() => {
  const all = (words) => [...document.querySelectorAll(words)].map((node) => {
    const { left, top, right, bottom } = node.getBoundingClientRect();
    return [left, top, right, bottom];
  });
  return {
    shown: all(".stimulus > *, .stage video")[0],
    plane: all(".pad"),
    sliders: all("input[type=range]"),
    sideways: document.documentElement.scrollWidth > window.innerWidth,
  };
}"""
Box = list[float]


def overlaps(a: Box, b: Box) -> bool:
    return a[0] < b[2] - 1 and b[0] < a[2] - 1 and a[1] < b[3] - 1 and b[1] < a[3] - 1


def faults(page: Page, screen: tuple[int, int]) -> list[str]:
    """What is wrong with the page on a screen of this size."""
    width, height = screen
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_timeout(60)
    found = page.evaluate(_PLACES)
    shown = found["shown"]
    wrong = [f"{name} covered" for name in ("plane", "sliders") for box in found[name] if overlaps(shown, box)]
    # One has to see what one judges while one judges it: the plane, or the first slider where there is none.
    main = (found["plane"] or found["sliders"])[0]
    for name, box in (("what is judged", shown), ("the scale", main)):
        if box[0] < -1 or box[1] < -1 or box[2] > width + 1 or box[3] > height + 1:
            wrong.append(f"{name} out of sight: {box}")
    if shown[3] - shown[1] < 90 or shown[2] - shown[0] < 50:
        wrong.append(f"too small: {shown}")
    return wrong + (["sideways"] if found["sideways"] else [])


def ready(page: Page) -> None:
    page.locator(".panel:not([inert])").wait_for()


def begin(page: Page, server: Server) -> Mouse:
    page.goto(server.url)
    person = Mouse(page)
    person.press("Begin")
    person.press("Begin")
    person.press("Continue")
    return person


@pytest.mark.parametrize("controls", ["sliders", "pad"])
@pytest.mark.parametrize("mode", ["rate", "trace"])
def test_films_of_any_shape_never_cover_the_scales(
    mode: str, controls: str, tmp_path: Path, browser: Browser, open_page: OpenPage
) -> None:
    study = tmp_path / "study"
    write_films(study / "media", browser)
    (study / "study.toml").write_text(FILMS.format(mode=mode, media="video") + (PAD if controls == "pad" else ""))
    wrong: dict[tuple[str, tuple[int, int]], list[str]] = {}
    with Server(study) as server:
        page = open_page()
        person = begin(page, server)
        pages = 1 if mode == "rate" or controls == "pad" else 2
        for shape in sorted(SHAPES, key=lambda name: int(name.partition("x")[0])):
            for part in range(pages):
                if mode == "rate":
                    ready(page)
                else:
                    page.get_by_role("button", name="Start").wait_for()
                if part == 0:
                    for screen in SCREENS:
                        if found := faults(page, screen):
                            wrong[shape, screen] = found
                answer(page, person, mode)
    assert wrong == {}


@pytest.mark.parametrize("pad", ["", PAD], ids=["sliders", "pad"])
def test_pictures_of_any_shape_never_cover_the_scales(pad: str, tmp_path: Path, open_page: OpenPage) -> None:
    study = tmp_path / "study"
    (study / "media").mkdir(parents=True)
    for name, (width, height) in SHAPES.items():
        # Larger than any screen, as photographs are.
        (study / "media" / f"{name}.png").write_bytes(png(8 * width, 8 * height))
    (study / "study.toml").write_text(FILMS.format(mode="rate", media="image") + pad)
    wrong: dict[tuple[int, tuple[int, int]], list[str]] = {}
    with Server(study) as server:
        page = open_page()
        person = begin(page, server)
        for number in range(len(SHAPES)):
            ready(page)
            for screen in SCREENS:
                if found := faults(page, screen):
                    wrong[number, screen] = found
            answer(page, person, "rate")
        assert len(page.locator("strong#code").inner_text()) == 8
    assert wrong == {}


def play(page: Page) -> None:
    """Watches the film that is judged."""
    page.locator(".stimulus video").evaluate("film => film.play()")
    expect(page.get_by_text("Enter ↵ for the next one")).to_be_visible()


def answer(page: Page, person: Mouse, mode: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    before = page.locator("h1").inner_text()
    if mode == "trace":
        person.press("Start")
        page.locator(".cover").wait_for(state="hidden")
        page.mouse.move(600, 700)
        page.mouse.move(640, 705)
    else:
        for slider in page.get_by_role("slider").all():
            person.move(slider, 30)
        if page.locator(".stimulus video").count():
            play(page)
        person.submit()
    expect(page.locator("h1")).not_to_have_text(before)


def test_pictures_that_are_not_there_cannot_be_judged(tmp_path: Path, open_page: OpenPage) -> None:
    study = tmp_path / "study"
    (study / "media").mkdir(parents=True)
    for name in ("a", "c", "d", "e", "f", "g"):
        (study / "media" / f"{name}.png").write_bytes(png(240, 320))
    (study / "media" / "b.png").write_bytes(b"no picture at all")
    # Names in another script are names too: two scales, two ids.
    text = FILMS.format(mode="rate", media="image").replace('"valence"', '"快乐"').replace('"arousal"', '"悲伤"')
    (study / "study.toml").write_text(text, encoding="utf-8")
    with Server(study) as server:
        page = open_page()
        waiting: list[Route] = []
        page.route("**/media/1", lambda route: waiting.append(route))
        person = begin(page, server)
        # Still on its way: nothing to judge yet, and the clock stands.
        expect(page.get_by_text("Loading…")).to_be_visible()
        page.wait_for_timeout(1500)
        for slider in page.get_by_role("slider", include_hidden=True).all():
            person.move(slider, 70)
        page.locator("button.primary").click()
        assert page.locator("h1").inner_text() == "1 of 7"
        assert page.evaluate("document.querySelectorAll('input.untouched').length") == 2
        assert len({slider.get_attribute("id") for slider in page.locator("input[type=range]").all()}) == 2
        waiting[0].continue_()
        ready(page)
        for screen in SCREENS:
            assert faults(page, screen) == []
        answer(page, person, "rate")
        # Broken: said, tried again, and then gone on without it.
        expect(page.get_by_text("This one could not be loaded")).to_be_visible()
        person.press("Try again")
        person.press("Go on without it")
        ready(page)
        assert page.locator("h1").inner_text() == "2 of 6"
        # Taken away while the rater is on the way: trying again leaves it out.
        # Further away than the two that were fetched ahead.
        (study / "media" / "g.png").unlink()
        for _ in range(3):
            answer(page, person, "rate")
            ready(page)
        answer(page, person, "rate")
        expect(page.get_by_text("This one could not be loaded")).to_be_visible()
        person.press("Try again")
        assert len(page.locator("strong#code").inner_text()) == 8
        export = exported(study)
    assert [row["item"] for row in export["ratings.csv"]] == [f"{name}.png" for name in "acdef"]
    assert export["raters.csv"][0]["pages_broken"] == "1"
    assert 0 < float(export["raters.csv"][0]["median_seconds"]) < 1.4 + 3


def exported(study: Path) -> dict[str, list[dict[str, str]]]:
    assert collect("export", study, "--out", study / "out").returncode == 0
    tables = {}
    for name in ("ratings.csv", "raters.csv"):
        with (study / "out" / name).open(newline="") as stream:
            tables[name] = list(csv.DictReader(stream))
    return tables


def swipe(page: Page, x: float, y: float, dx: float, dy: float) -> None:
    """A finger that comes down, moves in small steps, and leaves."""
    session = page.context.new_cdp_session(page)
    for step in range(11):
        points = [{"x": x + dx * step / 10, "y": y + dy * step / 10}]
        kind = "touchMove" if step else "touchStart"
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.wait_for_timeout(16)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(100)


@pytest.mark.parametrize("pad", ["", PAD], ids=["sliders", "pad"])
def test_a_swipe_up_scrolls_and_never_answers(pad: str, tmp_path: Path, open_page: OpenPage) -> None:
    study = tmp_path / "study"
    (study / "media").mkdir(parents=True)
    (study / "media" / "a.png").write_bytes(png(240, 320))
    (study / "study.toml").write_text(FILMS.format(mode="rate", media="image") + pad)
    with Server(study) as server:
        page = open_page(**PHONE | {"viewport": {"width": 390, "height": 420}})
        begin(page, server)
        ready(page)
        target = page.locator(".pad" if pad else "#scale-valence")
        page.evaluate("document.querySelector('.pad, #scale-valence').scrollIntoView({block: 'center'})")
        box = target.bounding_box()
        assert box
        x, y = box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2
        before = page.evaluate("[window.scrollY, document.querySelector('#scale-valence').value]")
        swipe(page, x, y, 0, -120)
        after = page.evaluate("[window.scrollY, document.querySelector('#scale-valence').value]")
        assert page.evaluate("document.querySelectorAll('input.untouched').length") == 2
        assert after[0] > before[0] + 20
        assert after[1] == before[1]
        # The same on whole screens, upright and on the side, whether or not there is anything to scroll.
        for width, height in ((390, 844), (844, 390)):
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate("document.querySelector('.pad, #scale-valence').scrollIntoView({block: 'center'})")
            box = target.bounding_box()
            assert box
            middle = box["y"] + box["height"] / 2
            swipe(page, box["x"] + box["width"] * 0.8, middle, 0, 60 - middle)
            assert page.evaluate("document.querySelectorAll('input.untouched').length") == 2
        page.set_viewport_size({"width": 390, "height": 420})
        # Sideways, and by a tap, it does answer.
        page.evaluate("document.querySelector('.pad, #scale-valence').scrollIntoView({block: 'center'})")
        box = target.bounding_box()
        assert box
        swipe(page, box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2, 90, 0)
        assert page.evaluate("document.querySelector('#scale-valence').className") == ""
        assert float(page.locator("#scale-valence").input_value()) > 60


def test_tracing_goes_on_when_the_mouse_leaves_the_panel(tmp_path: Path, browser: Browser, open_page: OpenPage) -> None:
    study = tmp_path / "study"
    write_films(study / "media", browser, ms=1500)
    text = FILMS.format(mode="trace", media="video")
    one, rest = text.index("[[dimensions]]", text.index("[[dimensions]]") + 1), text.index("[items]")
    (study / "study.toml").write_text(text[:one] + text[rest:])
    with Server(study) as server:
        page = open_page()
        person = begin(page, server)
        # A film of another shape on every screen.
        for width, height in SCREENS:
            page.set_viewport_size({"width": width, "height": height})
            page.get_by_role("button", name="Start").wait_for()
            before = page.locator("h1").inner_text()
            slider = page.locator("#scale-valence").bounding_box()
            assert slider
            person.press("Start")
            page.locator(".cover").wait_for(state="hidden")
            # Above the panel, over the film, and far to the side.
            for share, y in ((0.25, 0.25 * height), (0.75, 0.04 * height)):
                page.mouse.move(slider["x"] + 14 + (slider["width"] - 28) * share, y, steps=3)
                assert float(page.locator("#scale-valence").input_value()) == pytest.approx(100 * share, abs=4)
            page.mouse.move(2, 0.4 * height)
            assert float(page.locator("#scale-valence").input_value()) == 0
            expect(page.locator("h1")).not_to_have_text(before)
        assert len(page.locator("strong#code").inner_text()) == 8
