"""Questions of every kind in a real browser: by mouse, keyboard and finger, after a reload, without a connection."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from collect_people import Mouse
from collect_questions import PAIRS, QUESTIONS, pair_study, question_study
from collect_support import Server
from unisono.collect.export.write import export_study
from unisono.collect.store.database import Database
from unisono.collect.studies import open_folder

OpenPage = Callable[..., Page]
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
DARK: dict[str, Any] = {"color_scheme": "dark"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("questions") / "study"
    question_study(folder, QUESTIONS + "[design]\nitems_per_rater = 2\n")
    with Server(folder) as server:
        yield server


def exported(server: Server, name: str) -> list[dict[str, str]]:
    """A table of the export, of the rater who came last."""
    folder = open_folder(server.folder)
    database = Database(folder.database_url)
    export_study(folder, database, server.folder.parent / "out")
    database.close()
    with (server.folder.parent / "out" / name).open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return [row for row in rows if row["annotator"] == max(one["annotator"] for one in rows)]


def is_sound(page: Page) -> None:
    found = Axe().run(page)
    assert [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in found.response["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def come(page: Page, server: Server) -> Mouse:
    """From the door to the questions about the rater."""
    page.goto(server.url)
    person = Mouse(page)
    person.press("Begin")
    person.press("Begin")
    expect(page.get_by_role("heading", name="About you")).to_be_visible()
    return person


def saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text("All saved")


@pytest.mark.parametrize("options", [{}, DARK, PHONE], ids=["desktop", "dark", "phone"])
def test_every_kind_of_question_from_door_to_code(server: Server, open_page: OpenPage, options: dict[str, Any]) -> None:
    page = open_page(**options)
    person = come(page, server)
    is_sound(page)
    person.press("Continue")
    expect(page.get_by_text("Please answer what is marked.")).to_be_visible()
    is_sound(page)
    page.get_by_label("How old are you?").fill("170")
    page.get_by_text("village").click()
    person.press("Continue")
    expect(page.get_by_text("Please write a number from 18 to 120.")).to_be_visible()
    page.get_by_label("How old are you?").fill("٣٣,٥")
    person.press("Continue")
    person.press("Continue")
    for number in (1, 2):
        expect(page.locator("#progress-text")).to_have_text(f"{number} of 2")
        person.press("Next")
        expect(page.get_by_text("Please answer every question.")).to_be_visible()
        is_sound(page)
        person.move(page.get_by_role("slider"), 30)
        page.get_by_role("radio", name="5, very much").check(force=True)
        person.press("Next")
        expect(page.get_by_text("One question is still to answer.")).to_be_visible()
        page.get_by_text("something else").click()
        if number == 1:
            page.get_by_label("Anything odd?").fill("=odd")
        is_sound(page)
        person.press("Next")
    expect(page.get_by_role("heading", name="A few last questions")).to_be_visible()
    is_sound(page)
    page.get_by_role("radio", name="2").check(force=True)
    person.press("Continue")
    assert len(person.finish()) == 8
    rows = exported(server, "ratings.csv")
    assert [(row["clear"], row["topic"]) for row in rows] == [("5", "something else")] * 2
    assert [float(row["joy"]) for row in rows] == pytest.approx([30, 30], abs=3)
    assert [row["remark"] for row in exported(server, "remarks.csv")] == ["'=odd"]
    (told,) = exported(server, "questionnaire.csv")
    assert (told["age"], told["place"], told["tired"], told["guess"]) == ("33.5", "village", "2", "")


def test_by_keyboard_alone_with_digits_and_a_reload_in_between(server: Server, open_page: OpenPage) -> None:
    page = open_page()
    come(page, server)
    page.keyboard.press("Tab")
    page.keyboard.type("40")
    page.keyboard.press("Tab")
    page.keyboard.press("1")
    assert page.get_by_role("radio", name="city").is_checked()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What you will do")).to_be_visible()
    saved(page)
    page.reload()
    # What was answered is not asked again.
    expect(page.get_by_role("heading", name="What you will do")).to_be_visible()
    page.get_by_role("button", name="Continue").press("Enter")
    slider = page.get_by_role("slider")
    expect(slider).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    page.keyboard.press("9")
    assert page.get_by_role("radio", checked=True).count() == 0
    page.keyboard.press("4")
    page.keyboard.press("Tab")
    page.keyboard.press("2")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")
    page.keyboard.type("two\n123")
    expect(page.locator("#progress-text")).to_have_text("1 of 2")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#progress-text")).to_have_text("2 of 2")
    saved(page)
    page.reload()
    page.get_by_role("button", name="Back").click()
    expect(page.locator("#progress-text")).to_have_text("1 of 2")
    assert page.get_by_role("radio", name="4", exact=True).is_checked()
    assert page.get_by_role("radio", name="something else").is_checked()
    assert page.get_by_label("Anything odd?").input_value() == "two\n123"
    page.get_by_label("Anything odd?").fill("")
    page.get_by_role("button", name="Next").click()
    expect(page.locator("#progress-text")).to_have_text("2 of 2")
    saved(page)
    (row,) = exported(server, "ratings.csv")
    assert (row["joy"], row["clear"], row["topic"]) == ("100", "4", "something else")
    # A remark that was taken back is no remark.
    assert [one for one in exported(server, "remarks.csv") if one["annotator"] == row["annotator"]] == []


def test_answers_without_a_connection_survive_a_closed_page(server: Server, open_page: OpenPage) -> None:
    page = open_page()
    person = come(page, server)
    link = page.url
    saved(page)
    page.context.set_offline(True)
    page.get_by_label("How old are you?").fill("50")
    page.get_by_text("village").click()
    person.press("Continue")
    person.press("Continue")
    person.move(page.get_by_role("slider"), 70)
    page.get_by_role("radio", name="3, partly").check(force=True)
    page.get_by_text("home").click()
    person.press("Next")
    expect(page.locator("#saved")).to_have_text("Not saved yet, retrying…")
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('gone')); }")
    page.close()
    page.context.set_offline(False)
    again = open_page(page.context)
    again.goto(link)
    expect(again.locator("#progress-text")).to_have_text("2 of 2")
    assert [row["topic"] for row in exported(server, "ratings.csv")] == ["home"]
    assert [row["age"] for row in exported(server, "questionnaire.csv")] == ["50"]


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_answers_run_from_right_to_left_where_reading_does(
    tmp_path: Path, open_page: OpenPage, options: dict[str, Any]
) -> None:
    folder = question_study(tmp_path / "study", QUESTIONS)
    text = (folder.path / "study.toml").read_text()
    (folder.path / "study.toml").write_text('language = "fa"\n' + text)
    with Server(folder.path, verb="preview") as server:
        page = open_page(**options)
        person = come(page, server)
        is_sound(page)
        page.get_by_label("How old are you?").fill("50")
        page.get_by_text("village").click()
        person.press("Continue")
        person.press("Continue")
        places = [page.locator(".likert .option").nth(number).bounding_box() for number in (0, 4)]
        assert places[0] is not None
        assert places[1] is not None
        assert places[0]["x"] > places[1]["x"]
        first = page.locator(".sparse + .anchors span").first.bounding_box()
        assert first is not None
        assert first["x"] + first["width"] <= places[0]["x"] + places[0]["width"] + 1
        is_sound(page)
    assert not (folder.path / "collect.db").exists()


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_two_are_compared_side_by_side(tmp_path: Path, open_page: OpenPage, options: dict[str, Any]) -> None:
    check = '[[checks]]\nafter = 3\ntext = "Say B."\nexpected = { joy = "right" }\n'
    folder = pair_study(tmp_path / "study", check)
    texts = {item.text: item.name for item in folder.catalogue.members}
    said = []
    with Server(folder.path) as server:
        page = open_page(**options)
        page.goto(server.url)
        person = Mouse(page)
        for button in ("Begin", "Begin", "Continue"):
            person.press(button)
        for number in range(3):
            expect(page.locator("#progress-text")).to_have_text(f"{number + 1} of 4")
            shown = [texts[text] for text in page.locator(".side").all_inner_texts()]
            places = [page.locator("figure").nth(one).bounding_box() for one in (0, 1)]
            assert places[0] is not None
            assert places[1] is not None
            # Texts are put below each other where there is no room for both.
            assert places[0]["y" if options else "x"] < places[1]["y" if options else "x"]
            joy, calm = page.get_by_role("group", name="joy"), page.get_by_role("group", name="calmer")
            # The item that comes first in the alphabet, on whatever side it is.
            choice = "A" if shown[0] < shown[1] else "B"
            joy.get_by_text(choice, exact=True).click()
            said.append((shown[0], shown[1], "left" if choice == "A" else "right"))
            person.press("Next")
            expect(page.get_by_text("One question is still to answer.")).to_be_visible()
            calm.get_by_text("No difference").click()
            is_sound(page)
            person.press("Next")
            if number == 1:
                saved(page)
                page.reload()
        expect(page.get_by_text("Say B.")).to_be_visible()
        person.press("Back")
        expect(page.locator("#progress-text")).to_have_text("3 of 4")
        assert page.get_by_role("group", name="joy").get_by_role("radio", name=choice, exact=True).is_checked()
        person.press("Next")
        for group in page.get_by_role("group").all():
            group.get_by_text("B", exact=True).click()
        person.press("Next")
        person.finish()
        rows = [row for row in exported(server, "comparisons.csv") if row["dimension"] == "joy"]
    assert [(row["left"], row["right"], row["answer"]) for row in rows] == said


def go_on(page: Page) -> None:
    """To the next page, whose button looks as that of this one, which stays while answers are stored."""
    button = page.locator("button.primary").element_handle()
    button.click()
    page.wait_for_function("button => !button.isConnected", arg=button)


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_four_are_compared_and_one_cannot_be_most_and_least(
    tmp_path: Path, open_page: OpenPage, options: dict[str, Any]
) -> None:
    text = PAIRS.replace('more joy?"', 'most joy?"\nleast = "Which has least of it?"').replace(
        'name = "calm"\nquestion = "Which is calmer?"', 'name = "calm"\nkind = "text"\nquestion = "Calm?"'
    )
    folder = pair_study(tmp_path / "study")
    (folder.path / "study.toml").write_text('language = "he"\n' + text + "[compare]\ntogether = 4\n")
    (folder.path / "texts.csv").write_text("item,text\na,I waited.\nb,We got it!\nc,It is moved.\nd,Goodbye.\n")
    with Server(folder.path) as server:
        page = open_page(**options)
        page.goto(server.url)
        page.locator("button.primary").click()
        page.get_by_role("button", name="התחלה").click()
        page.get_by_role("button", name="המשך").click()
        expect(page.locator("figure")).to_have_count(4)
        shown = page.locator(".side").all_inner_texts()
        assert page.locator("figcaption").all_inner_texts() == ["א", "ב", "ג", "ד"]
        most, least = page.get_by_role("group", name="most joy"), page.get_by_role("group", name="least of it")
        most.get_by_text("ג", exact=True).click()
        least.get_by_text("ג", exact=True).click()
        page.locator("button.primary").click()
        expect(page.locator(".hint.bad")).to_contain_text("אי אפשר")
        least.get_by_text("ד", exact=True).click()
        is_sound(page)
        for _ in range(2):
            go_on(page)
        expect(page.locator(".code")).to_be_visible()
        (row,) = exported(server, "comparisons.csv")
    assert [row[f"item_{n}"] for n in range(1, 5)] == [
        {"I waited.": "a", "We got it!": "b", "It is moved.": "c", "Goodbye.": "d"}[text] for text in shown
    ]
    assert (row["best"], row["worst"]) == (row["item_3"], row["item_4"])
