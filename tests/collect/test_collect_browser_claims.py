"""Browsers that claim what is not so, on every screen: what the server received counts, and what came last."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Route, expect

from collect_people import Mouse
from collect_support import Server, collect, rate_study, trace_study
from unisono.collect.app.context import now_ms
from unisono.collect.store.assign import free_idle
from unisono.collect.store.database import Database
from unisono.collect.studies import open_folder

pytestmark = pytest.mark.browser
SCREENS = [(1280, 800), (1280, 650), (390, 844), (844, 390)]
ONE_PASS = '\n[[pads]]\nx = "saturation"\ny = "brightness"\n[raters]\nask_comment = false\n'
LIMITS = "\n[limits]\nrequests_per_second = 100\n"
Event = dict[str, Any]


class Visitor(Mouse):
    """Somebody at a screen, whose page may be made to say other things than it means."""

    def __init__(self, context: BrowserContext) -> None:
        super().__init__(context.new_page())
        self.refusals: list[str] = []
        self.page.on("console", lambda message: self.hear(message.text))

    def hear(self, text: str) -> None:
        """The page writes down what the server did not accept."""
        if text.startswith("not accepted: "):
            self.refusals.append(text.removeprefix("not accepted: "))

    def twist(self, change: Callable[[Event], Event]) -> None:
        """Changes every event on its way to the server."""

        def pass_on(route: Route) -> None:
            batch = json.loads(route.request.post_data or "")
            route.continue_(post_data=json.dumps(batch | {"events": [change(event) for event in batch["events"]]}))

        self.page.route("**/events", pass_on)

    def come(self, server: Server, *buttons: str) -> None:
        """From the door to the first item."""
        self.page.goto(server.url)
        for button in buttons:
            self.press(button)

    def answer(self, value: float) -> None:
        """Puts all sliders of a page to one value and goes on."""
        before = self.page.locator("h1").inner_text()
        for slider in self.page.get_by_role("slider").all():
            slider.scroll_into_view_if_needed()
            self.move(slider, value)
        self.submit()
        expect(self.page.locator("h1")).not_to_have_text(before)

    def sees_code(self) -> bool:
        """Whether the completion code is on the page."""
        return self.page.locator("strong#code").count() == 1


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[[tuple[int, int]], Visitor]]:
    """Somebody new at a screen of this size."""
    contexts: list[BrowserContext] = []

    def come(screen: tuple[int, int]) -> Visitor:
        contexts.append(browser.new_context(viewport={"width": screen[0], "height": screen[1]}))
        contexts[-1].set_default_timeout(30_000)
        return Visitor(contexts[-1])

    yield come
    for context in contexts:
        context.close()


Visit = Callable[[tuple[int, int]], Visitor]


def exported(study: Path) -> tuple[list[str], list[dict[str, Any]]]:
    """The lines of the ratings and the log."""
    assert collect("export", study, "--out", study / "out").returncode == 0
    log = (study / "out" / "log.jsonl").read_text().splitlines()
    return (study / "out" / "ratings.csv").read_text().splitlines(), [json.loads(line) for line in log]


def far_away(rows: list[list[float]]) -> list[list[float]]:
    return [[1e8, *row[1:]] for row in rows]


# kind of the event, what is changed in it, and the reason for which the pass is refused
LIES: list[tuple[str, Callable[[Event], Event], str]] = [
    ("pass", lambda event: event | {"seconds": 100_000}, "the recording is not that long"),
    ("pass", lambda event: event | {"seconds": 0.1}, "the recording is not that long"),
    ("pass", lambda event: event | {"samples": event["samples"] + 50}, "samples of this pass are missing"),
    ("samples", lambda event: event | {"rows": event["rows"][:1]}, "samples of this pass are missing"),
    ("samples", lambda event: event | {"rows": far_away(event["rows"])}, "a sample has no valid time or code"),
]


def watch(visitors: list[Visitor]) -> None:
    """All follow the colour at the same time, each at a screen of their own, until the film is over."""
    for visitor in visitors:
        visitor.press("Start")
        visitor.page.locator(".cover").wait_for(state="hidden")
        box = visitor.page.locator(".pad").bounding_box()
        assert box
        for share in (0.3, 0.6):
            visitor.page.mouse.move(box["x"] + share * box["width"], box["y"] + share * box["height"])


def test_a_trace_counts_when_its_samples_are_there_and_it_is_as_long_as_the_film(tmp_path: Path, visit: Visit) -> None:
    study = tmp_path / "study"
    trace_study(study, seconds=2.5, extra=ONE_PASS + LIMITS)
    lie: tuple[str, Callable[[Event], Event]] | None = None

    def tell(event: Event) -> Event:
        return lie[1](event) if lie and event["kind"] == lie[0] else event

    with Server(study) as server:
        visitors = [visit(screen) for screen in SCREENS]
        for visitor in visitors:
            visitor.twist(tell)
            visitor.come(server, "Begin", "Begin", "Continue")
        for kind, change, why in LIES:
            lie = (kind, change)
            watch(visitors)
            for visitor in visitors:
                # Not taken, so there is no end and no code: the same film once more.
                visitor.page.get_by_role("button", name="Start").wait_for()
                assert visitor.page.locator("h1").inner_text() == "1 of 1"
                assert why in visitor.refusals
                assert visitor.refusals[-1] == "not all items are rated yet"
                visitor.refusals.clear()
        lie = None
        watch(visitors)
        for visitor in visitors:
            visitor.page.locator("strong#code").wait_for()
            assert visitor.refusals == []
        ratings, log = exported(study)
    passes = [line["data"]["seconds"] for line in log if line["kind"] == "pass"]
    assert passes == pytest.approx([2.5] * len(SCREENS), abs=0.2)
    # 25 a second at most, of what was really played; not of what was claimed.
    assert len(SCREENS) * 40 < len(ratings) <= len(SCREENS) * 65


def test_an_older_answer_that_comes_late_changes_nothing_and_the_end_is_final(tmp_path: Path, visit: Visit) -> None:
    study = tmp_path / "study"
    final = "\n[design]\nfinal = true\n[raters]\nask_comment = false\n"
    rate_study(study, per_regime=1, extra=final + LIMITS)
    with Server(study) as server:
        for screen in SCREENS:
            early, late = visit(screen), visit(screen)
            early.come(server, "Begin", "I agree", "Continue")
            early.page.get_by_role("slider").first.wait_for()
            expect(early.page.locator("#saved")).to_have_text("All saved")
            # One answer without a connection; then a newer one to the same item, at another machine.
            early.page.context.set_offline(True)
            early.answer(10)
            late.page.goto(early.page.url)
            late.answer(80)
            expect(late.page.locator("#saved")).to_have_text("All saved")
            early.page.context.set_offline(False)
            expect(early.page.locator("#saved")).to_have_text("All saved")
            late.page.reload()
            late.press("Back")
            for slider in late.page.get_by_role("slider").all():
                assert float(slider.input_value()) == pytest.approx(80, abs=3)
            late.press("Next")
            late.answer(60)
            late.page.locator("strong#code").wait_for()
            # Finished there: an answer to the last item that comes from here is one too many.
            early.answer(20)
            early.page.locator("strong#code").wait_for()
            assert early.refusals == ["the study is finished and its answers are final"]
            assert late.refusals == []
        ratings, log = exported(study)
    # The log keeps the late one, the ratings do not.
    assert len([line for line in log if line["kind"] == "rating"]) == 3 * len(SCREENS)
    values = sorted(round(float(value), -1) for line in ratings[1:] for value in line.split(",")[-2:])
    assert values == [60] * 2 * len(SCREENS) + [80] * 2 * len(SCREENS)


def test_no_code_without_an_answer_whatever_the_page_says(tmp_path: Path, visit: Visit) -> None:
    study = tmp_path / "study"
    few = "\n[design]\nratings_per_item = 1\n[raters]\nask_comment = false\n"
    rate_study(study, per_regime=1, extra=few + LIMITS)
    with Server(study) as server:
        away = [visit(screen) for screen in SCREENS]
        for visitor in away:
            # Having read the instructions is said to be the end.
            visitor.twist(lambda event: finish(event) if event["kind"] == "step" else event)
            visitor.come(server, "Begin", "I agree")
            with visitor.page.expect_console_message(lambda message: "not all items are rated yet" in message.text):
                visitor.press("Continue")
            visitor.page.reload()
            visitor.page.get_by_role("button", name="Continue").wait_for()
            assert not visitor.sees_code()
            free_all(study)
        # Gone for too long, and somebody else did it all: nothing is left, and nothing was answered.
        other = visit(SCREENS[0])
        other.come(server, "Begin", "I agree", "Continue")
        for value in (30, 70):
            other.answer(value)
        other.page.locator("strong#code").wait_for()
        for visitor in away:
            visitor.page.reload()
            expect(visitor.page.get_by_text("All places are taken")).to_be_visible()
            assert not visitor.sees_code()
        ratings, log = exported(study)
    assert len(ratings) == 1 + 2
    assert len([line for line in log if line["kind"] == "finish"]) == 1


def finish(event: Event) -> Event:
    return {"kind": "finish", "seq": event["seq"], "at": event["at"]}


def free_all(study: Path) -> None:
    """As the server does after a while without a sign of them: their items are free again."""
    database = Database(open_folder(study).database_url)
    with database.write() as connection:
        assert free_idle(connection, now_ms() + 1) == 1
    database.close()
