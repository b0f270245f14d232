"""Everybody can use every page: an automated accessibility check of each, in light, and in dark on a phone.

And nobody can abuse one: texts of a study that look like script are shown, never run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from collect_people import Mouse
from collect_support import RATE_STUDY, Server, rate_study, trace_study

OpenPage = Callable[..., Page]
LIGHT: dict[str, Any] = {"color_scheme": "light"}
DARK: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
EXTRA = """
[practice]
play = true
count = 1
[design]
break_every = 1
[[checks]]
after = 1
text = "Set both to the left."
expected = { saturation = 0 }
[limits]
requests_per_second = 100
[raters]
ask_code = "Your participant code"
"""


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("access") / "study"
    rate_study(folder, per_regime=1, extra=EXTRA)
    with Server(folder) as server:
        yield server


def is_accessible(page: Page) -> None:
    found = Axe().run(page)
    problems = [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in found.response["violations"]]
    assert problems == []
    # Nothing sticks out sideways.
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("options", [LIGHT, DARK], ids=["light", "dark phone"])
def test_every_page_of_the_image_task(items: Server, open_page: OpenPage, options: dict[str, Any]) -> None:
    page = open_page(**options)
    person = Mouse(page)
    page.goto(items.url)
    is_accessible(page)
    person.press("Begin")
    page.get_by_label("Your participant code").fill("P-17")
    is_accessible(page)
    person.press("I agree")
    for button in ("Continue", None, "Start practising"):
        page.get_by_role("heading").first.wait_for()
        page.get_by_role("button").first.wait_for()
        is_accessible(page)
        if button is None:
            person.play()
        else:
            person.press(button)
    person.judge()
    person.submit()
    page.get_by_text("true:").first.wait_for()
    is_accessible(page)
    person.press("Go on")
    is_accessible(page)
    person.press("Begin")
    is_accessible(page)
    person.press("Next")
    expect(page.get_by_text("Move every slider once.")).to_be_visible()
    is_accessible(page)
    person.rate(1)
    expect(page.get_by_text("Time for a short break")).to_be_visible()
    is_accessible(page)
    person.press("Go on")
    expect(page.get_by_text("Set both to the left.")).to_be_visible()
    is_accessible(page)
    for slider in page.get_by_role("slider").all():
        person.move(slider, 0)
    person.submit()
    # No break one page before the end.
    person.rate(1)
    is_accessible(page)
    person.finish()
    is_accessible(page)


def test_every_page_of_the_video_task(tmp_path: Path, open_page: OpenPage) -> None:
    trace_study(tmp_path / "study", seconds=2, countdown=1)
    with Server(tmp_path / "study") as server:
        page = open_page()
        page.goto(server.url)
        person = Mouse(page)
        for button in ("Begin", "Begin", "Continue"):
            person.press(button)
        page.get_by_role("button", name="Start").wait_for()
        is_accessible(page)
        person.press("Start")
        page.locator(".cover").wait_for(state="hidden")
        is_accessible(page)
        page.keyboard.press("Space")
        expect(page.get_by_text("Paused.")).to_be_visible()
        is_accessible(page)


@pytest.mark.parametrize("options", [LIGHT, DARK], ids=["light", "dark phone"])
def test_the_researchers_pages(items: Server, open_page: OpenPage, options: dict[str, Any]) -> None:
    page = open_page(**options)
    page.goto(f"{items.url}/admin")
    is_accessible(page)
    page.get_by_label("Admin token").fill("wrong")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("alert")).to_be_visible()
    is_accessible(page)
    page.goto(f"{items.url}/admin/login#{items.admin_token()}")
    expect(page.locator("#tiles .tile").first).to_be_visible()
    page.get_by_text("As a table").click()
    is_accessible(page)
    page.goto(f"{items.url}/r/lost")
    is_accessible(page)


def test_a_screen_reader_hears_what_the_slider_means(items: Server, open_page: OpenPage) -> None:
    page = open_page()
    page.goto(items.url)
    person = Mouse(page)
    person.press("Begin")
    page.get_by_label("Your participant code").fill("P-17")
    person.press("I agree")
    person.press("Continue")
    slider = page.get_by_role("slider", name="Brightness")
    assert slider.get_attribute("aria-valuetext") == "not answered yet"
    slider.focus()
    page.keyboard.press("End")
    assert slider.get_attribute("aria-valuetext") == "100, as bright as can be"
    page.keyboard.press("PageDown")
    assert slider.get_attribute("aria-valuetext") == "90, a little below as bright as can be"
    person.move(page.get_by_role("slider", name="Saturation"), 30)
    person.press("I have seen enough")
    assert page.evaluate("document.activeElement.id") == "page"
    person.press("Start practising")
    assert page.evaluate("document.activeElement.type") == "range"
    assert page.locator("#spoken").inner_text() == "Practice 1 of 1"


def test_texts_that_look_like_script_are_shown_and_never_run(tmp_path: Path, open_page: OpenPage) -> None:
    evil = "<img src=x onerror=hacked=1><script>hacked=1</script>"
    text = RATE_STUDY.format(per_regime=1)
    for word in ("Colours", "Judge each colour.", "Do you agree?", "How saturated?", "How bright?", "grey", "bright"):
        text = text.replace(f'"{word}"', f'"{evil}{word}"')
    (tmp_path / "study").mkdir()
    thanks = f'[texts]\nthanks = "{evil}"\ncontact = "{evil}"\nwelcome = "{evil}"'
    (tmp_path / "study" / "study.toml").write_text(text.replace("[texts]", thanks))
    with Server(tmp_path / "study") as server:
        page = open_page()
        person = Mouse(page)
        page.goto(server.url)
        person.begin()
        expect(page.get_by_text(evil).first).to_be_visible()
        assert page.evaluate("typeof hacked") == "undefined"
        person.rate(2)
        person.finish()
        expect(page.get_by_text(evil).first).to_be_visible()
        page.goto(f"{server.url}/admin/login#{server.admin_token()}")
        expect(page.get_by_role("heading", name=evil)).to_be_visible()
        assert page.evaluate("typeof hacked") == "undefined"
        assert page.locator("img").count() == 0
