"""Places: who has gone gives theirs back within minutes, and "all places are taken" is said when it is true."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from starlette.testclient import TestClient

from collect_people import Mouse
from collect_support import Rater, Server, make_app, rate_study
from unisono.collect.store import arrivals, assign, log, raters, reading
from unisono.collect.store.database import Database
from unisono.collect.studies import open_folder

MINUTE = 60_000
FIVE = "\n[limits]\nraters = 5\nrequests_per_second = 1000\n"
PROLIFIC = '\n[raters]\nsource = "prolific"\ncompletion_code = "DONE1"\nfull_code = "FULL1"\n'


class Clock:
    """The server's clock, moved by hand."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    for module in ("api", "signup", "context"):
        monkeypatch.setattr(f"unisono.collect.app.{module}.now_ms", found)
    return found


def serving(folder: Path, extra: str) -> TestClient:
    return TestClient(make_app(rate_study(folder, extra=extra)), base_url="http://127.0.0.1")


def sweep(client: TestClient, clock: Clock) -> int:
    """What the server does every half minute."""
    site: Any = client.app.state.site  # type: ignore[attr-defined]
    with site.database.write() as connection:
        return assign.free_idle(connection, clock.now - site.patience)


def again(rater: Rater) -> str:
    rater.do("note", name="again")
    return str(rater.look()["state"])


def test_five_visitors_do_not_close_a_study_of_five(tmp_path: Path, clock: Clock) -> None:
    with serving(tmp_path / "s", FIVE) as client:
        # Who only opens the door takes no place.
        for _ in range(7):
            assert client.post("/", follow_redirects=False).status_code == 303
        gone = [Rater.join(client, f"tab{number:05}") for number in range(5)]
        assert {rater.state["state"] for rater in gone} == {"active"}
        clock.now += 3 * MINUTE
        late = Rater.join(client, "tab00009")
        assert late.state["state"] == "full"
        assert late.state["full"]["minutes"] == 7
        # Looking at the page is no sign of work.
        clock.now += 6 * MINUTE
        gone[0].look()
        gone[1].rate(gone[1].slots[0])
        assert sweep(client, clock) == 0
        clock.now += 2 * MINUTE
        assert sweep(client, clock) == 4
        assert again(late) == "active"
        # Back after all: there is a place for them, too, as long as there is one.
        assert gone[0].look()["state"] == "active"


def test_a_page_that_is_left_open_takes_no_place_back(tmp_path: Path, clock: Clock) -> None:
    with serving(tmp_path / "s", "\n[design]\nratings_per_item = 1\n") as client:
        gone = Rater.join(client)
        clock.now += 11 * MINUTE
        assert sweep(client, clock) == 1
        # Turned on its side, or told late where it is: nobody has come back.
        sizes = {"screen": [390, 844], "window": [844, 390], "ratio": 2, "touch": True, "agent": "phone"}
        assert gone.do("device", **sizes)["state"] == "left"
        assert len(Rater.join(client, "tab00001").slots) == 6
        assert gone.look()["state"] == "full"


def test_all_places_are_taken_when_they_are(tmp_path: Path, clock: Clock) -> None:
    with serving(tmp_path / "s", "\n[design]\nratings_per_item = 1\n") as client:
        first = Rater.join(client)
        late = Rater.join(client, "tab00001")
        assert late.state["full"]["minutes"] == 10
        first.rate_all()
        assert again(late) == "full"
        assert late.state["full"] == {"minutes": None, "code": "", "return_url": ""}
        assert client.post("/", follow_redirects=False).status_code == 403


def test_a_rater_from_prolific_who_is_too_many_gets_the_code_for_that(tmp_path: Path, clock: Clock) -> None:
    with serving(tmp_path / "s", PROLIFIC + "\n[design]\nratings_per_item = 1\n") as client:
        Rater.join(client, PROLIFIC_PID="a", SESSION_ID="s").rate_all()
        late = Rater.join(client, "tab00001", PROLIFIC_PID="b", SESSION_ID="t")
    address = "https://app.prolific.com/submissions/complete?cc=FULL1"
    assert late.state["full"] == {"minutes": None, "code": "FULL1", "return_url": address}
    assert late.state["finish"] is None


def test_a_place_is_kept_as_long_as_the_longest_recording_takes(tmp_path: Path) -> None:
    folder = rate_study(tmp_path / "s")
    assert folder.patience_ms == 10 * MINUTE
    text = (tmp_path / "s" / "study.toml").read_text().replace('mode = "rate"', 'mode = "trace"')
    changed = text.replace('source = "colours"', 'source = "walks"\nseconds = 1800')
    (tmp_path / "s" / "study.toml").write_text(changed)
    assert open_folder(tmp_path / "s").patience_ms == 60 * MINUTE


def test_three_hundred_raters_of_whom_a_third_leave(database: Database) -> None:
    """Every item gets its ratings, no more than one over, and nobody is told that it is over before it is."""
    plan = assign.Plan(tuple(f"i{n:02}" for n in range(20)), ratings_per_item=30, items_per_rater=4)
    rng, now, patience = Random(3), 1_700_000_000_000, 10 * MINUTE
    book = log.Book(plan, 10_000, Random(1))
    with database.write() as connection:
        assign.sync_items(connection, plan)
        early = 0
        for number in range(300):
            now += 30_000
            assign.free_idle(connection, now - patience)
            arrivals.join(connection, raters.Arrival(f"r{number}", "open"), lambda c: False, now)
            rater_id = raters.find(connection, f"r{number}").id
            state = log.append(connection, rater_id, "tab", [log.Entry(0, "consent", now, "{}")], book, now).state
            over = assign.is_over(connection, plan, 10**6)
            if state == "full" and not over:
                early += 1
                assert 0 <= assign.free_in(connection, patience, now) <= patience
            if state == "active" and rng.random() > 1 / 3:
                for at, mine in enumerate(reading.slots_of(connection, rater_id), 1):
                    entry = log.Entry(at, "rating", now, '{"values":{},"shown_ms":1}', mine.id, completes=True)
                    log.append(connection, rater_id, "tab", [entry], book, now)
        done = [row.done for row in reading.item_rows(connection)]
        assert done == [30] * 20
        assert assign.is_over(connection, plan, 10**6)
    # Who leaves holds a place for ten minutes, in which twenty come; a third of those who follow leave as well.
    assert early <= 40


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[Server]:
    extra = "\n[design]\nratings_per_item = 1\nfree_after_minutes = 0.1\n"
    rate_study(tmp_path / "study", extra=extra)
    with Server(tmp_path / "study") as server:
        yield server


def test_the_page_of_who_waits_goes_on_by_itself(crowded: Server, open_page: Any) -> None:
    first, second = open_page(), open_page()
    for page in (first, second):
        page.goto(crowded.url)
        person = Mouse(page)
        person.press("Begin")
        person.press("I agree")
    expect(second.get_by_text("No place is free just now")).to_be_visible()
    expect(second.get_by_text("come back in 1 min")).to_be_visible()
    wait_for_place(second)


def wait_for_place(page: Page) -> None:
    """Presses the button until the place of the one who has gone is free."""
    for _ in range(60):
        page.wait_for_timeout(1000)
        again = page.get_by_role("button", name="Try again")
        if not again.is_visible():
            break
        again.click()
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
