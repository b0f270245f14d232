"""The end of the way: who gets the code, which answer counts, and what can no longer be changed."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from collect_support import Rater, make_app, rate_study
from unisono.collect.app.context import now_ms
from unisono.collect.store import assign, reading

FINAL = "\n[design]\nfinal = true\n"


def serving(folder: Path, extra: str = "") -> TestClient:
    return TestClient(make_app(rate_study(folder, extra=extra)), base_url="http://127.0.0.1")


def site_of(client: TestClient) -> Any:
    return client.app.state.site  # type: ignore[attr-defined]


def test_nothing_answered_no_code(tmp_path: Path) -> None:
    with serving(tmp_path / "s", "\n[design]\nratings_per_item = 1\n") as client:
        away = Rater.join(client)
        with site_of(client).database.write() as connection:
            assert assign.free_idle(connection, now_ms() + 1) == 1
        Rater.join(client, "tab11111").rate_all()
        # Back too late: all items have gone to the other one.
        assert away.look()["state"] == "full"
        receipt = away.do("finish")
        assert [one["why"] for one in receipt["rejected"]] == ["nothing was answered"]
        assert away.look()["finish"] is None
        # Asking again changes nothing while nothing is needed.
        away.do("consent")
        assert away.look()["state"] == "full"


def test_the_same_ticket_is_the_same_rater(tmp_path: Path) -> None:
    with serving(tmp_path / "s") as client:
        found = re.search(r'name="ticket" id="ticket" value="([0-9a-f]{32})"', client.get("/").text)
        assert found
        links = [client.post("/", data={"ticket": found[1]}, follow_redirects=False).headers["location"] for _ in "ab"]
        assert links[0] == links[1]
        # Without a ticket, or with one that is none, everybody is somebody new.
        given: tuple[dict[str, str], ...] = ({}, {"ticket": "x"})
        others = [client.post("/", data=data, follow_redirects=False).headers["location"] for data in given]
        assert len({links[0], *others}) == 3


def values_of(client: TestClient) -> dict[str, float]:
    rows = site_of(client).database.read(lambda connection: reading.latest(connection, "rating"))
    found: dict[str, float] = msgspec.json.decode(rows[0].payload)["values"]
    return found


@pytest.mark.parametrize("clock", [0, -3_600_000, 3_600_000], ids=["right", "slow", "fast"])
def test_an_older_answer_that_comes_late_overrides_nothing(tmp_path: Path, clock: int) -> None:
    """A tab that was offline delivers after a newer one; whether its clock is right does not matter."""
    with serving(tmp_path / "s") as client:
        new = Rater.join(client, "tab22222")
        old = Rater(client, new.link, "tab11111")
        slot, now = new.slots[0], now_ms()
        newer = new.rating(slot, 80, 80) | {"at": now - 1_000}
        older = old.rating(slot, 10, 10) | {"at": now - 60_000 + clock}
        for rater, event, sent in ((new, newer, now), (old, older, now + clock)):
            body = {"tab": rater.tab, "now": sent, "events": [event]}
            assert client.post(f"{rater.link}/events", json=body).json()["rejected"] == []
        assert values_of(client) == {"saturation": 80, "brightness": 80}
        assert new.look()["slots"][0]["values"] == {"saturation": 80, "brightness": 80}


def test_within_a_tab_the_numbers_decide_and_not_the_clock(tmp_path: Path) -> None:
    with serving(tmp_path / "s") as client:
        rater = Rater.join(client)
        first, second = rater.rating(rater.slots[0], 1, 1), rater.rating(rater.slots[0], 2, 2)
        rater.send(second | {"at": first["at"] - 5_000})
        rater.send(first)
        assert values_of(client) == {"saturation": 2, "brightness": 2}


def test_answers_are_final_after_finishing_if_the_study_says_so(tmp_path: Path) -> None:
    for name, extra, refused in (("final", FINAL, True), ("open", "", False)):
        with serving(tmp_path / name, extra) as client:
            rater = Rater.join(client)
            last = [rater.rating(slot, 50, 50) for slot in rater.slots]
            rater.send(*last)
            rater.do("finish")
            # Sent again because the receipt was lost: stored in time, so acknowledged.
            assert len(rater.send(*last).json()["acked"]) == len(last)
            receipt = rater.rate(rater.slots[0], 1, 1)
            assert bool(receipt["rejected"]) == refused
            assert values_of(client)["saturation"] == (50 if refused else 1)


def test_finishing_twice_keeps_the_first_moment(tmp_path: Path) -> None:
    with serving(tmp_path / "s") as client:
        rater = Rater.join(client)
        rater.rate_all()
        rows = [site_of(client).database.read(reading.rater_rows)[0].finished_at]
        time.sleep(0.01)
        rater.do("finish")
        rows.append(site_of(client).database.read(reading.rater_rows)[0].finished_at)
        assert rows[0] == rows[1]
