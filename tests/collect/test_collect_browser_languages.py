"""Every page in every language: nothing left in English, nothing that sticks out, and scales that run as one reads."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from collect_people import Mouse
from collect_questions import QUESTIONS, question_study
from collect_support import RATE_STUDY, Server, trace_study
from unisono.collect.languages.sentences import INCLUDED, included

OpenPage = Callable[..., Page]
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
"""
_SHOWN = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement, data } = walker.currentNode;
    if (parentElement.tagName !== "NOSCRIPT") found.push(data);
  }
  for (const name of ["aria-label", "aria-valuetext", "title", "alt", "placeholder"])
    for (const node of document.querySelectorAll(`[${name}]`)) found.push(node.getAttribute(name));
  return found;
}"""


def write_study(folder: Path, language: str, own: dict[str, str] | None = None, extra: str = "") -> Path:
    folder.mkdir()
    text = f'language = "{language}"\n' + RATE_STUDY.format(per_regime=1) + extra
    (folder / "study.toml").write_text(text, encoding="utf-8")
    write_sentences(folder, own or {})
    return folder


def write_sentences(folder: Path, own: dict[str, str]) -> None:
    lines = (f'{key} = "{text}"\n' for key, text in own.items())
    (folder / "lang.toml").write_text("".join(lines), encoding="utf-8")


def is_sound(page: Page, language: str) -> None:
    """Nothing sticks out in any language; what axe looks at differs between the two ways to read."""
    if language in ("ar", "de"):
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("language", INCLUDED)
def test_pages_are_accessible_and_fit_in_every_language(tmp_path: Path, open_page: OpenPage, language: str) -> None:
    say = included(language)
    items = write_study(tmp_path / "items", language)
    traces = trace_study(tmp_path / "traces", seconds=20).path
    (traces / "study.toml").write_text(f'language = "{language}"\n' + (traces / "study.toml").read_text())
    with Server(items, str(traces)) as server:
        page = open_page(viewport={"width": 390, "height": 844})
        person = Mouse(page)

        def press(*keys: str) -> None:
            for key in keys:
                page.get_by_role("button", name=say[key], exact=True).wait_for()
                is_sound(page, language)
                person.press(say[key])

        page.goto(f"{server.url}/items/")
        assert page.locator("html").get_attribute("lang") == language
        press("begin", "agree")
        expect(page.locator("h1")).to_have_text(say["instructions_heading"])
        press("continue")
        for _ in range(2):
            page.get_by_role("slider").first.wait_for()
            for slider in page.get_by_role("slider").all():
                slider.focus()
                page.keyboard.press("End")
            press("next")
        press("finish")
        expect(page.locator("strong#code")).to_be_visible()
        is_sound(page, language)
        page.goto(f"{server.url}/traces/")
        for key in ("begin", "begin", "continue"):
            person.press(say[key])
        press("start")
        page.locator(".cover").wait_for(state="hidden")
        page.keyboard.press("Space")
        page.get_by_text(say["paused"]).wait_for()
        is_sound(page, language)


def bracketed() -> dict[str, str]:
    """A language that shows whether a text is one of its sentences."""
    return {key: f"⟦{text}⟧" for key, text in included("en").items()}


def nothing_is_outside(page: Page, known: set[str]) -> None:
    for text in page.evaluate(_SHOWN):
        rest = re.sub(r"⟦[^⟧]*⟧", "", text)
        for one in sorted(known, key=len, reverse=True):
            rest = rest.replace(one, "")
        assert not re.search(r"[A-Za-z]", rest), text


def test_no_page_of_items_says_anything_outside_the_sentences(tmp_path: Path, open_page: OpenPage) -> None:
    folder = write_study(tmp_path / "study", "en", bracketed(), EXTRA)
    # What the study says itself.
    known = {"Colours", "Judge each colour.", "Do you agree?", "How saturated?", "How bright?", "Set both to the left."}
    known |= {"grey", "medium", "pure", "black", "bright", "saturation", "brightness"}
    with Server(folder) as server:
        page = open_page()
        person = Mouse(page)
        page.goto(server.url)

        def press(key: str) -> None:
            button = page.get_by_role("button", name=f"⟦{included('en')[key]}⟧", exact=True)
            button.wait_for()
            nothing_is_outside(page, known)
            button.click()

        def answer() -> None:
            for slider in page.get_by_role("slider").all():
                person.move(slider, 30)

        for key in ("begin", "agree", "continue"):
            press(key)
        press("seen_enough")
        answer()
        for key in ("seen_enough", "start_practising", "next"):
            press(key)
        answer()
        for key in ("next", "go_on", "begin"):
            press(key)
        for number in range(3):
            before = page.locator("h1").inner_text()
            answer()
            press("next")
            expect(page.locator("h1")).not_to_have_text(before)
            # A break after every page, but not before the last.
            if number < 1:
                press("go_on")
        press("finish")
        code = page.locator("strong#code").inner_text()
        nothing_is_outside(page, known | {code})


def test_no_page_of_traces_says_anything_outside_the_sentences(tmp_path: Path, open_page: OpenPage) -> None:
    folder = trace_study(tmp_path / "study", seconds=1, countdown=1).path
    write_sentences(folder, bracketed())
    known = {"Moving colours", "Follow the colour.", "How saturated now?", "How bright now?"}
    known |= {"grey", "medium", "pure", "black", "bright"}
    with Server(folder) as server:
        page = open_page()
        person = Mouse(page)
        page.goto(server.url)
        for key in ("begin", "begin", "continue", "start", "watch_again"):
            button = page.get_by_role("button", name=f"⟦{included('en')[key]}⟧", exact=True)
            button.wait_for()
            nothing_is_outside(page, known)
            button.click()
        page.locator(".cover").wait_for(state="hidden")
        nothing_is_outside(page, known)
        page.keyboard.press("Space")
        page.get_by_text(f"⟦{included('en')['paused']}⟧").wait_for()
        nothing_is_outside(page, known)
        person.press(f"⟦{included('en')['go_on']}⟧")


def test_no_page_of_questions_says_anything_outside_the_sentences(tmp_path: Path, open_page: OpenPage) -> None:
    folder = question_study(tmp_path / "study", QUESTIONS + "[design]\nitems_per_rater = 1\n")
    write_sentences(folder.path, bracketed())
    study = folder.study
    known = {study.title, study.texts.instructions, *(item.text for item in folder.catalogue.items)}
    known |= {asked.question for asked in (*study.dimensions, *study.questions)} | {"none", "a lot"}
    known |= {choice for asked in (*study.dimensions, *study.questions) for choice in asked.choices if choice}
    say = {key: f"⟦{text}⟧" for key, text in included("en").items()}
    with Server(folder.path, verb="preview") as server:
        page = open_page()
        page.goto(server.url)

        def press(key: str) -> None:
            page.get_by_role("button", name=say[key], exact=True).click()

        press("begin")
        press("begin")
        for age in ("", "x", "5"):
            page.get_by_label("How old are you?").fill(age)
            press("continue")
            nothing_is_outside(page, known)
        page.get_by_label("How old are you?").fill("50")
        page.get_by_text("village").click()
        press("continue")
        press("continue")
        press("next")
        page.get_by_text(say["some_unanswered"]).wait_for()
        nothing_is_outside(page, known)
        press("keys")
        page.get_by_role("dialog").wait_for()
        nothing_is_outside(page, known)
        press("close")
        page.get_by_role("slider").press("5")
        page.get_by_role("radio", name="very much").check(force=True)
        page.get_by_text("work").click()
        press("next")
        page.get_by_text(say["questions_after_heading"]).wait_for()
        nothing_is_outside(page, known)


@pytest.mark.parametrize("language", ["ar", "he"])
def test_scales_and_planes_run_from_right_to_left(tmp_path: Path, open_page: OpenPage, language: str) -> None:
    say = included(language)
    extra = '\n[[pads]]\nx = "saturation"\ny = "brightness"\n'
    with Server(write_study(tmp_path / "study", language, extra=extra)) as server:
        page = open_page()
        person = Mouse(page)
        page.goto(server.url)
        assert page.locator("html").get_attribute("dir") == "rtl"
        for key in ("begin", "agree", "continue"):
            person.press(say[key])
        slider = page.locator("#scale-saturation")
        box = slider.bounding_box()
        assert box is not None
        # Near the right end is little, and there the first label stands.
        page.mouse.click(box["x"] + box["width"] - 14 - 0.1 * (box["width"] - 28), box["y"] + box["height"] / 2)
        assert abs(float(slider.input_value()) - 10) <= 2
        # The arrow that points to the left leads to more.
        before = float(slider.input_value())
        slider.press("ArrowLeft")
        assert float(slider.input_value()) == before + 1
        labels = page.locator(".scale", has=slider).locator(".anchors span")
        first, last = labels.first.bounding_box(), labels.last.bounding_box()
        assert first is not None
        assert last is not None
        assert last["x"] < first["x"]
        assert last["x"] >= box["x"] - 1
        assert first["x"] + first["width"] <= box["x"] + box["width"] + 1
        # The same on the plane, whose point is where it was pressed.
        plane = page.locator(".pad").bounding_box()
        assert plane is not None
        at = (plane["x"] + 0.25 * plane["width"], plane["y"] + 0.25 * plane["height"])
        page.mouse.click(*at)
        assert abs(float(slider.input_value()) - 75) <= 2
        point = page.locator(".pad-point").bounding_box()
        assert point is not None
        assert abs(point["x"] + point["width"] / 2 - at[0]) <= 4


def test_a_trace_follows_the_mouse_from_right_to_left(tmp_path: Path, open_page: OpenPage) -> None:
    folder = trace_study(tmp_path / "study", seconds=20).path
    (folder / "study.toml").write_text('language = "ar"\n' + (folder / "study.toml").read_text())
    with Server(folder) as server:
        page = open_page()
        person = Mouse(page)
        page.goto(server.url)
        for key in ("begin", "begin", "continue", "start"):
            person.press(included("ar")[key])
        page.locator(".cover").wait_for(state="hidden")
        slider = page.get_by_role("slider")
        box = slider.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 14 + 0.2 * (box["width"] - 28), box["y"] + box["height"] / 2)
        assert abs(float(slider.input_value()) - 80) <= 2


def test_numbers_are_written_as_the_language_does(tmp_path: Path, open_page: OpenPage) -> None:
    folder = write_study(tmp_path / "study", "de")
    text = (folder / "study.toml").read_text(encoding="utf-8")
    (folder / "study.toml").write_text(
        text.replace('source = "colours"', 'source = "table"')
        .replace("How saturated?", "Wie viel?")
        .replace('anchors = ["grey"', 'min = -0.5\nmax = 2.5\nstep = 0.25\nanchors = ["grey"'),
        encoding="utf-8",
    )
    (folder / "texts.csv").write_text("item,text\na,Guten Tag\n")
    with Server(folder) as server:
        page = open_page()
        person = Mouse(page)
        page.goto(server.url)
        for key in ("begin", "agree", "continue"):
            person.press(included("de")[key])
        slider = page.get_by_label("Wie viel?")
        slider.focus()
        page.keyboard.press("Home")
        expect(page.locator(".scale-value").first).to_have_text("−0,5")
        assert slider.get_attribute("aria-valuetext") == "−0,5, grey"
