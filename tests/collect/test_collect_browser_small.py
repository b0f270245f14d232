"""Small comforts in a browser: another tab, a link to keep, the Enter key, a reload, a phone on its side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from collect_people import Mouse
from collect_support import Server, rate_study

OpenPage = Callable[..., Page]
EXTRA = '\n[design]\nbreak_every = 1\norder = "listed"\n[raters]\nask_code = "Your code"\n'
PAD = '\n[[pads]]\nx = "saturation"\ny = "brightness"\n'


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    rate_study(tmp_path / "study", per_regime=1, extra=EXTRA)
    with Server(tmp_path / "study") as server:
        yield server


def test_from_the_door_to_the_items_with_little_effort(server: Server, browser: Browser, open_page: OpenPage) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = open_page(context)
    page.goto(server.url)
    person = Mouse(page)
    person.press("Begin")
    # The code may not be left empty, nor look so.
    page.get_by_label("Your code").fill("\u200b ")
    person.press("I agree")
    expect(page.get_by_text("it cannot be left empty")).to_be_visible()
    page.get_by_label("Your code").fill("P-17")
    person.press("I agree")
    expect(page.get_by_role("heading", name="What you will do")).to_be_visible()
    person.press("Copy the link")
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    link = page.url
    # Another tab of this browser goes on with the same place.
    other = open_page(context)
    other.goto(server.url)
    Mouse(other).press("Begin")
    expect(other.get_by_role("heading", name="What you will do")).to_be_visible()
    assert other.url == link
    # Enter goes on from a page that is only read.
    other.keyboard.press("Enter")
    expect(other.locator("h1")).to_have_text("1 of 2")
    # One of two sliders survives a reload, with its value and as an answer.
    first = other.get_by_role("slider").first
    Mouse(other).move(first, 30)
    value = first.input_value()
    other.reload()
    expect(other.locator("input.untouched")).to_have_count(1)
    assert other.get_by_role("slider").first.input_value() == value
    Mouse(other).move(other.get_by_role("slider").nth(1), 60)
    Mouse(other).submit()
    # Two pages and a break after each: none before the last.
    expect(other.locator("h1")).to_have_text("2 of 2")
    context.close()


def test_a_pad_fits_a_phone_on_its_side(tmp_path: Path, open_page: OpenPage) -> None:
    rate_study(tmp_path / "study", per_regime=1, extra=PAD)
    with Server(tmp_path / "study") as server:
        page = open_page(viewport={"width": 740, "height": 340}, has_touch=True, is_mobile=True)
        page.goto(server.url)
        Mouse(page).begin()
        page.locator(".pad").wait_for()
        # The plane, what is judged, both sliders and the button.
        for part in page.locator(".pad, .stimulus canvas, input[type=range], button.primary").all():
            box = part.bounding_box()
            assert box
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= 340
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
