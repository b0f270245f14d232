"""The image task in a real browser: by mouse, by keyboard alone, by finger; reloads, tabs, a server that goes away."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from collect_people import Finger, Keyboard, Mouse, Person
from collect_support import Server, rate_study
from unisono.collect.export.write import export_study
from unisono.collect.store.database import Database
from unisono.collect.studies import open_folder

EXTRA = """
[reference]
every = 3
values = { saturation = 50, brightness = 70 }
[practice]
play = true
count = 1
[design]
break_every = 5
[limits]
requests_per_second = 100
"""
PAGES = 6 + 2
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
OpenPage = Callable[..., Page]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    rate_study(tmp_path / "study", extra=EXTRA)
    with Server(tmp_path / "study") as server:
        yield server


def exported(server: Server) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """Ratings and log."""
    folder = open_folder(server.folder)
    out = server.folder.parent / "out"
    database = Database(folder.database_url)
    export_study(folder, database, out)
    database.close()
    with (out / "ratings.csv").open(newline="") as stream:
        ratings = list(csv.DictReader(stream))
    return ratings, [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


def come(page: Page, server: Server, kind: type[Person]) -> Person:
    """From the door to the first item."""
    page.goto(server.url)
    person = kind(page)
    person.begin()
    person.play()
    person.practise(1)
    return person


def saved(page: Page) -> None:
    expect(page.locator("#saved")).to_have_text("All saved")


@pytest.mark.parametrize(
    ("kind", "options", "source"), [(Mouse, {}, "mouse"), (Keyboard, {}, "key"), (Finger, PHONE, "touch")]
)
def test_the_image_task_from_door_to_code(
    server: Server, open_page: OpenPage, kind: type[Person], options: dict[str, Any], source: str
) -> None:
    page = open_page(**options)
    person = come(page, server, kind)
    person.rate(5)
    person.press("Go on")
    person.rate(PAGES - 5)
    code = person.finish()
    assert len(code) == 8
    ratings, log = exported(server)
    assert len(ratings) == 6
    truth = {item.name: item.truth for item in open_folder(server.folder).catalogue.items}
    for row in ratings:
        for name in ("saturation", "brightness"):
            # The person sees what is on the screen and answers within a few points of it.
            assert float(row[name]) == pytest.approx(truth[row["item"]][name], abs=14)
    events = [line for line in log if line["kind"] == "rating"]
    assert len(events) == PAGES
    assert {used for line in events for used in line["data"]["sources"].values()} == {source}
    assert [line["kind"] for line in log].count("finish") == 1


def test_nothing_counts_until_it_is_touched(server: Server, open_page: OpenPage) -> None:
    page = open_page()
    person = come(page, server, Mouse)
    sliders = page.get_by_role("slider")
    assert sliders.first.get_attribute("aria-valuetext") == "not answered yet"
    heading = page.locator("h1").inner_text()
    person.press("Next")
    expect(page.get_by_text("Move every slider once.")).to_be_visible()
    # A press on the handle where it stands is an answer, though it moves nothing.
    start = float(sliders.first.input_value())
    person.move(sliders.first, start)
    expect(sliders.first).not_to_have_attribute("aria-valuetext", "not answered yet")
    person.press("Next")
    expect(page.get_by_text("One scale is still to answer.")).to_be_visible()
    assert page.locator("h1").inner_text() == heading
    person.move(sliders.nth(1), 40)
    person.press("Next")
    saved(page)
    _, log = exported(server)
    (event,) = [line["data"] for line in log if line["kind"] == "rating"]
    assert event["values"]["saturation"] == event["start"]["saturation"] == start


def test_a_reload_goes_on_where_it_stopped(server: Server, open_page: OpenPage) -> None:
    page = open_page()
    person = come(page, server, Mouse)
    person.rate(2)
    page.reload()
    expect(page.locator("#progress-text")).to_have_text(f"3 of {PAGES}")
    person.rate(3)
    person.press("Go on")
    person.rate(PAGES - 5)
    person.finish()
    ratings, log = exported(server)
    assert len(ratings) == 6
    assert [line["kind"] for line in log].count("rating") == PAGES


def test_going_back_corrects_and_keeps_the_first_answer(server: Server, open_page: OpenPage) -> None:
    page = open_page()
    person = come(page, server, Mouse)
    person.rate(1)
    person.press("Back")
    expect(page.locator("#progress-text")).to_have_text(f"1 of {PAGES}")
    person.move(page.get_by_role("slider").first, 3)
    person.press("Next")
    expect(page.locator("#progress-text")).to_have_text(f"2 of {PAGES}")
    # Back and on again without a change is no correction.
    person.press("Back")
    person.press("Next")
    saved(page)
    _, log = exported(server)
    answers = [line["data"]["values"]["saturation"] for line in log if line["kind"] == "rating"]
    assert len(answers) == 2
    assert answers[1] == pytest.approx(3, abs=1)


def test_what_was_rated_offline_survives_a_closed_page(server: Server, open_page: OpenPage) -> None:
    page = open_page()
    person = come(page, server, Mouse)
    link = page.url
    person.rate(1)
    saved(page)
    page.context.set_offline(True)
    person.rate(2)
    expect(page.locator("#saved")).to_have_text("Not saved yet, retrying…")
    # As in a crash: not even the last request of a page that closes gets out.
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('gone')); }")
    page.close()
    page.context.set_offline(False)
    again = open_page(page.context)
    again.goto(link)
    expect(again.locator("#progress-text")).to_have_text(f"4 of {PAGES}")
    _, log = exported(server)
    events = [line for line in log if line["kind"] == "rating"]
    assert len(events) == 3
    assert [line["sent_at"] for line in events] == sorted(line["sent_at"] for line in events)


def test_a_server_that_is_away_is_waited_for(server: Server, open_page: OpenPage) -> None:
    page = open_page()
    person = come(page, server, Mouse)
    server.process.kill()
    server.process.wait()
    person.rate(5)
    person.press("Go on")
    person.rate(PAGES - 5)
    expect(page.locator("#saved")).to_have_text("Not saved yet, retrying…")
    person.press("Finish")
    expect(page.get_by_text("Saving your answers")).to_be_visible()
    assert page.locator("strong#code").count() == 0
    with Server(server.folder, port=server.port):
        expect(page.locator("strong#code")).to_be_visible(timeout=20_000)
        ratings, log = exported(server)
    assert len(ratings) == 6
    assert [line["kind"] for line in log].count("rating") == PAGES


def test_of_two_tabs_with_one_link_only_one_rates(server: Server, open_page: OpenPage) -> None:
    first = open_page()
    person = come(first, server, Mouse)
    person.rate(2)
    saved(first)
    second = open_page(first.context)
    second.goto(first.url)
    expect(first.get_by_text("You went on in another tab")).to_be_visible()
    Mouse(second).rate(2)
    saved(second)
    first.bring_to_front()
    person.press("Go on here instead")
    expect(second.get_by_text("You went on in another tab")).to_be_visible()
    expect(first.locator("#progress-text")).to_have_text(f"5 of {PAGES}")
    person.rate(1)
    person.press("Go on")
    person.rate(PAGES - 5)
    person.finish()
    _, log = exported(server)
    slots = [line["slot_id"] for line in log if line["kind"] == "rating"]
    assert len(slots) == len(set(slots)) == PAGES


def test_a_paused_study_waits_and_goes_on(server: Server, open_page: OpenPage) -> None:
    page = open_page()
    person = come(page, server, Mouse)
    admin = open_page()
    admin.goto(f"{server.url}/admin/login#{server.admin_token()}")
    admin.get_by_role("button", name="Paused").click()
    expect(admin.get_by_role("button", name="Paused")).to_have_attribute("aria-pressed", "true")
    person.rate(1)
    saved(page)
    person.judge()
    person.submit()
    expect(page.get_by_text("A short pause")).to_be_visible()
    admin.get_by_role("button", name="Open", exact=True).click()
    expect(page.locator("#progress-text")).to_have_text(f"3 of {PAGES}")
    assert server.admin_token() not in admin.url
    expect(admin.locator("#people tr")).to_have_count(1)


def test_refusing_consent_stores_nothing_more(server: Server, open_page: OpenPage) -> None:
    page = open_page()
    page.goto(server.url)
    person = Mouse(page)
    person.press("Begin")
    person.press("I do not agree")
    expect(page.get_by_text("You chose not to take part")).to_be_visible()
    saved(page)
    _, log = exported(server)
    assert [line["kind"] for line in log] == ["decline"]
    page.reload()
    expect(page.get_by_text("You chose not to take part")).to_be_visible()
