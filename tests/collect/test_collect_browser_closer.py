"""A closer look and a quicker hand: images enlarged, digits as keys, a large plane, the code copied."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from collect_media import png
from collect_people import Mouse
from collect_support import Server
from unisono.collect.export.write import export_study
from unisono.collect.store.database import Database
from unisono.collect.studies import open_folder

pytestmark = pytest.mark.browser
OpenPage = Callable[..., Page]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
STUDY = """
title = "Pictures"
mode = "{mode}"
[texts]
instructions = "Judge."
[[dimensions]]
name = "valence"
question = "How pleasant?"
anchors = ["bad", "good"]
[[dimensions]]
name = "arousal"
question = "How exciting?"
anchors = ["calm", "exciting"]
[items]
source = "files"
media = "image"
[raters]
ask_comment = false
[limits]
requests_per_second = 100
"""
LARGE = '[[pads]]\nx = "valence"\ny = "arousal"\nsize = "large"\n'


def write_study(folder: Path, mode: str = "rate", extra: str = "", pictures: int = 1) -> Path:
    (folder / "media").mkdir(parents=True)
    (folder / "study.toml").write_text(STUDY.format(mode=mode) + extra)
    for number in range(pictures):
        (folder / "media" / f"p{number}.png").write_bytes(png(1600, 1200, 60 + 60 * number))
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(write_study(tmp_path_factory.mktemp("pictures") / "study")) as server:
        yield server


def begin(page: Page, server: Server) -> Mouse:
    page.goto(server.url)
    person = Mouse(page)
    for button in ("Begin", "Begin", "Continue"):
        person.press(button)
    page.locator(".panel:not([inert])").wait_for()
    return person


def ratings(server: Server) -> list[dict[str, Any]]:
    """What the rater who came last has said."""
    folder = open_folder(server.folder)
    database = Database(folder.database_url)
    export_study(folder, database, server.folder.parent / "out")
    database.close()
    lines = [json.loads(line) for line in (server.folder.parent / "out" / "log.jsonl").read_text().splitlines()]
    last = max(line["annotator"] for line in lines)
    return [line["data"] for line in lines if line["kind"] == "rating" and line["annotator"] == last]


def is_sound(page: Page) -> None:
    found = Axe().run(page)
    assert [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in found.response["violations"]] == []


def test_digits_put_a_slider_anywhere_and_the_help_says_so(server: Server, open_page: OpenPage) -> None:
    page = open_page()
    begin(page, server)
    slider = page.get_by_label("How pleasant?")
    expect(slider).to_be_focused()
    page.keyboard.press("Control+5")
    page.keyboard.press("0")
    assert slider.get_attribute("aria-valuetext") == "not answered yet"
    # Without Num Lock, the 3 of the number pad is Page Down.
    for key, value in (("1", 0), ("9", 100), ("5", 50), ("Numpad3", 40), ("3", 25)):
        page.keyboard.press(key)
        assert float(slider.input_value()) == value
    page.get_by_role("button", name="Keys").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 to 9 put it anywhere between its ends.")
    expect(page.get_by_role("dialog")).to_contain_text("Z enlarges the image")
    is_sound(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_label("How exciting?").press("9")
    page.keyboard.press("Enter")
    expect(page.locator("strong#code")).to_be_visible()
    (event,) = ratings(server)
    assert event["values"] == {"valence": 25, "arousal": 100}
    assert set(event["sources"].values()) == {"key"}


def test_a_key_at_the_end_of_the_scale_is_an_answer(tmp_path: Path, open_page: OpenPage) -> None:
    folder = write_study(tmp_path / "study")
    text = (folder / "study.toml").read_text()
    # Two steps: wherever the handle starts, it stands at an end.
    (folder / "study.toml").write_text(
        text.replace('question = "How pleasant?"', 'question = "How pleasant?"\nstep = 100')
    )
    with Server(folder) as server:
        page = open_page()
        begin(page, server)
        slider = page.get_by_label("How pleasant?")
        value = slider.input_value()
        assert value in ("0", "100")
        page.keyboard.press("Home" if value == "0" else "End")
        expect(slider).not_to_have_attribute("aria-valuetext", "not answered yet")
        assert slider.input_value() == value


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_an_enlarged_image_takes_the_keys_and_answers_nothing(
    server: Server, open_page: OpenPage, options: dict[str, Any]
) -> None:
    page = open_page(**options)
    person = begin(page, server)
    dialog, slider = page.get_by_role("dialog"), page.get_by_label("How pleasant?")
    small = page.locator(".stimulus img").bounding_box()
    if options:
        page.locator(".zoom").tap()
    else:
        page.keyboard.press("z")
    expect(dialog).to_be_visible()
    large = dialog.locator("img").bounding_box()
    assert small is not None
    assert large is not None
    assert large["width"] == 1600 > 1.5 * small["width"]
    is_sound(page)
    for key in ("5", "End", "ArrowRight", "Enter", "Tab", "7", "Tab", "3"):
        page.keyboard.press(key)
        # Whatever is pressed, the focus never gets out to the page behind.
        assert page.evaluate("document.activeElement === document.body || !!document.activeElement.closest('dialog')")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert slider.get_attribute("aria-valuetext") == "not answered yet"
    page.locator(".zoom").focus()
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Close").press("Enter")
    expect(dialog).to_have_count(0)
    assert page.evaluate("document.activeElement.className") == "zoom"
    page.locator(".zoom").click()
    dialog.locator("img").click(position={"x": 200, "y": 300})
    expect(dialog).to_have_count(0)
    assert slider.get_attribute("aria-valuetext") == "not answered yet"
    person.move(slider, 50)
    person.move(page.get_by_label("How exciting?"), 50)
    person.press("Next")
    expect(page.locator("strong#code")).to_be_visible()
    assert len(ratings(server)) == 1


def test_without_zoom_an_image_is_an_image(tmp_path: Path, open_page: OpenPage) -> None:
    with Server(write_study(tmp_path / "study", extra="[design]\nzoom = false\n")) as server:
        page = open_page()
        begin(page, server)
        assert page.locator(".zoom").count() == 0
        page.keyboard.press("z")
        assert page.get_by_role("dialog").count() == 0
        expect(page.get_by_role("img", name="The image to judge")).to_be_visible()


def test_each_of_two_images_can_be_enlarged(tmp_path: Path, open_page: OpenPage) -> None:
    with Server(write_study(tmp_path / "study", "compare", pictures=2)) as server:
        page = open_page()
        begin(page, server)
        boxes = [page.locator(".side img").nth(one).bounding_box() for one in (0, 1)]
        assert boxes[0] is not None
        assert boxes[1] is not None
        # Side by side, of one size, above the questions.
        assert boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]
        assert boxes[0]["width"] == boxes[1]["width"] > 300
        is_sound(page)
        page.locator(".zoom").nth(1).click()
        source = page.locator(".side img").nth(1).get_attribute("src")
        assert page.get_by_role("dialog").locator("img").get_attribute("src") == source


@pytest.fixture(scope="module")
def with_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(write_study(tmp_path_factory.mktemp("plane") / "study", extra=LARGE)) as server:
        yield server


@pytest.mark.parametrize("screen", [(1280, 800), (1280, 650), (390, 844), (844, 390)], ids=str)
def test_a_large_plane_and_the_image_are_both_in_view(
    with_plane: Server, open_page: OpenPage, screen: tuple[int, int]
) -> None:
    width, height = screen
    page = open_page(viewport={"width": width, "height": height})
    begin(page, with_plane)
    plane, image = page.locator(".pad").bounding_box(), page.locator(".stimulus img").bounding_box()
    assert plane is not None
    assert image is not None
    for box in (plane, image):
        assert box["x"] >= 0
        assert box["y"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= height
    assert image["width"] > 100
    if width == 1280:
        # A normal one is 280 wide at most.
        assert plane["width"] > (380 if height == 800 else 290)
        # And nothing that has to be pressed is out of sight.
        button = page.get_by_role("button", name="Next").bounding_box()
        assert button is not None
        assert button["y"] + button["height"] <= height
        assert image["x"] + image["width"] < plane["x"]
    page.mouse.click(plane["x"] + 0.25 * plane["width"], plane["y"] + 0.25 * plane["height"])
    assert abs(float(page.get_by_label("How pleasant?").input_value()) - 25) <= 2
    assert abs(float(page.get_by_label("How exciting?").input_value()) - 75) <= 2


def test_the_code_is_copied_and_selected_where_it_cannot_be(server: Server, open_page: OpenPage) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    person = begin(page, server)
    for slider in page.get_by_role("slider").all():
        person.move(slider, 20)
    person.press("Next")
    code = page.locator("strong#code").inner_text()
    is_sound(page)
    person.press("Copy the code")
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == code
    page.reload()
    page.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(); document.execCommand = () => false; }"
    )
    person.press("Copy the code")
    page.wait_for_timeout(100)
    expect(page.get_by_role("button", name="Copy the code")).to_be_visible()
    assert page.evaluate("getSelection().toString()") == code
