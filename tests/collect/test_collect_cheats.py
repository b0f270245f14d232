"""Scripts that want the money without the work: a real server, and nobody who cheats is on the list of who is paid."""

from __future__ import annotations

import csv
import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from collect_media import png, write_wav
from collect_support import Rater, Server, collect, trace_study

pytestmark = pytest.mark.slow

STUDY = """
title = "Pictures"
mode = "rate"
[texts]
instructions = "Judge each picture."
[[dimensions]]
name = "valence"
question = "How pleasant?"
anchors = ["bad", "good"]
[items]
source = "files"
folder = "media"
[[checks]]
after = 3
text = "Far right."
expected = { valence = 100 }
[limits]
requests_per_second = 1000
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    folder = tmp_path / "study"
    (folder / "media").mkdir(parents=True)
    for number in range(10):
        (folder / "media" / f"p{number}.png").write_bytes(png(8, 8, 10 * number))
    (folder / "study.toml").write_text(STUDY)
    with Server(folder) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url) as client:
        yield client


def pay(folder: Path, *words: str) -> dict[str, list[list[str]]]:
    """The lists by name, without their headings."""
    assert collect("pay", folder, *words).returncode == 0
    lists = {}
    for name in ("approve", "reject", "look"):
        with (folder / "pay" / f"{name}.csv").open(newline="") as stream:
            lists[name] = list(csv.reader(stream))[1:]
    return lists


def raters(folder: Path) -> list[dict[str, str]]:
    assert collect("export", folder, "--out", folder / "out").returncode == 0
    with (folder / "out" / "raters.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def broken(rater: Rater, slot: dict[str, Any]) -> list[str]:
    """Says that a page could not be shown; why it was not believed."""
    return [one["why"] for one in rater.do("note", name="broken", slot=slot["id"])["rejected"]]


def ask(rater: Rater, slot: dict[str, Any]) -> None:
    if "url" in slot:
        assert rater.client.get(f"{rater.link}/{slot['url']}").status_code == 200


def test_one_answer_and_ten_broken_pages_buy_nothing(server: Server, client: httpx.Client) -> None:
    cheat = Rater.join(client)
    first, *others = [slot for slot in cheat.slots if slot["media"] != "check"]
    (check,) = [slot for slot in cheat.slots if slot["media"] == "check"]
    ask(cheat, first)
    cheat.rate(first)
    assert broken(cheat, check) == ["only media can be broken"]
    assert broken(cheat, others[0]) == ["its file was never asked for"]
    for slot in others:
        ask(cheat, slot)
        assert broken(cheat, slot) == []
    cheat.rate(check, 100)
    # Two answers and nine pages that are said to be broken: no code.
    assert [one["why"] for one in cheat.do("finish")["rejected"]] == ["too many pages could not be shown"]
    found = cheat.look()
    assert (found["finish"], found["stuck"]) == (None, True)
    # Trying again brings the pages back.
    cheat.do("note", name="again")
    assert sum(not slot["done"] for slot in cheat.look()["slots"]) == 9
    assert not cheat.state["stuck"]
    for slot in others[:5]:
        cheat.rate(slot)
    for slot in others[5:]:
        assert broken(cheat, slot) == []
    # Enough for the code, and still nothing that is paid without a look.
    assert cheat.do("finish")["rejected"] == []
    row = raters(server.folder)[0]
    counts = [row[name] for name in ("pages", "pages_done", "pages_broken", "pages_broken_alone")]
    assert counts == ["11", "7", "4", "4"]
    lists = pay(server.folder)
    assert (lists["approve"], lists["reject"]) == ([], [])
    assert "4 of 11 pages said to be broken" in lists["look"][0][-1]
    (person,) = json.loads(collect("status", server.folder, "--json").stdout)["people"]
    assert (person["pages"], person["done"], person["broken"]) == (11, 7, 4)
    assert person["doubts"]


SOUNDS = (
    STUDY.replace('folder = "media"', 'folder = "media"\nmedia = "audio"').partition("[[checks]]")[0]
    + "[limits]\nrequests_per_second = 1000\n"
)


@pytest.fixture
def sounds(tmp_path: Path) -> Iterator[Server]:
    folder = tmp_path / "sounds"
    (folder / "media").mkdir(parents=True)
    for number in range(4):
        write_wav(folder / "media" / f"s{number}.wav", 5.0)
    (folder / "study.toml").write_text(SOUNDS)
    with Server(folder) as server:
        yield server


def refused(rater: Rater, **fields: Any) -> list[str]:
    receipt = rater.send(rater.rating(rater.slots[0], 50) | fields).json()
    return [one["why"] for one in receipt["rejected"]]


def test_sounds_that_were_not_heard_are_not_rated(sounds: Server) -> None:
    with httpx.Client(base_url=sounds.url) as client:
        cheat = Rater.join(client)
        assert refused(cheat) == ["it was not played"]
        assert refused(cheat, played=[[1.0, 5.0]], shown_ms=9000) == ["not enough of it was played"]
        # The file says how long it is, whatever the browser does.
        assert refused(cheat, played=[[1.0, 1.0]], shown_ms=9000) == ["not enough of it was played"]
        assert refused(cheat, played=[[5.0, 5.0]], shown_ms=1250) == ["it was played faster than it is"]
        # A script that lies about everything is taken, since it could be true, and seen through.
        for slot in cheat.slots:
            lie = cheat.rating(slot, 50) | {"played": [[5.0, 5.0]], "shown_ms": 6000}
            assert cheat.send(lie).json()["rejected"] == []
        assert cheat.do("finish")["state"] == "finished"
    lists = pay(sounds.folder)
    assert lists["approve"] == []
    assert "4 of 4 pages answered unseen" in lists["look"][0][-1]
    assert "claims 24.0 seconds" in lists["look"][0][-1]
    assert raters(sounds.folder)[0]["pages_unseen"] == "4"


def test_a_trace_of_a_clip_that_played_four_times_as_fast_is_refused(tmp_path: Path) -> None:
    trace_study(tmp_path / "traces", seconds=4)
    with Server(tmp_path / "traces") as server, httpx.Client(base_url=server.url) as client:
        cheat = Rater.join(client)
        ids = {"slot": cheat.slots[0]["id"]}

        def trace(attempt: str, speed: float, value: float | None = 50.0) -> list[str]:
            rows = [[40.0 * n, 40.0 * n / speed, 0, value] for n in range(100)]
            cheat.do("samples", attempt=attempt, first=0, rows=rows, **ids)
            receipt = cheat.do("pass", attempt=attempt, samples=100, seconds=4.0, start={}, **ids)
            return [one["why"] for one in receipt["rejected"]]

        assert trace("fast", 4) == ["it was played faster than it is"]
        assert trace("away", 1, None) == ["the handle was never touched"]
        # Faster clocks than that do not exist; one that is a little off does.
        assert trace("true", 1.005) == []
        cheat.look()
        for slot in cheat.slots[1:]:
            ids["slot"] = slot["id"]
            assert trace("true", 1) == []
        assert cheat.do("finish")["state"] == "finished"
    lists = pay(tmp_path / "traces", "--min-seconds", "2")
    assert lists["approve"] == []
    assert "too fast" in lists["reject"][0][-1]


def hurry(rater: Rater, seconds: float) -> dict[str, Any]:
    """Everything in one request, with the times that are expected of somebody who works."""
    ratings = [rater.rating(slot, 100) | {"shown_ms": 1000 * seconds} for slot in rater.slots]
    receipt: dict[str, Any] = rater.send(*ratings, rater.event("finish")).json()
    return receipt


def test_eleven_ratings_in_the_second_of_joining_are_not_paid(server: Server, client: httpx.Client) -> None:
    cheat = Rater.join(client)
    for slot in cheat.slots:
        ask(cheat, slot)
    assert hurry(cheat, 6)["state"] == "finished"
    assert pay(server.folder)["approve"] == []
    # A rule about seconds is a rule about those that the server has seen.
    (rejected,) = pay(server.folder, "--min-seconds", "2")["reject"]
    assert "too fast: 0." in rejected[-1]
    row = raters(server.folder)[0]
    assert float(row["median_seconds"]) == 6
    assert float(row["confirmed_seconds"]) < 1
    assert float(row["time_confirmed_percent"]) < 15
    assert "claims 66.0 seconds" in row["doubts"]


def test_claims_of_no_time_at_all_are_not_paid_either(server: Server, client: httpx.Client) -> None:
    cheat = Rater.join(client)
    for slot in cheat.slots:
        ask(cheat, slot)
    hurry(cheat, 0.01)
    assert "faster than anybody reacts" in pay(server.folder)["look"][0][-1]


def test_waiting_first_and_sending_all_at_once_is_looked_at(server: Server, client: httpx.Client) -> None:
    cheat = Rater.join(client)
    for slot in cheat.slots:
        ask(cheat, slot)
    time.sleep(3)
    hurry(cheat, 0.25)
    lists = pay(server.folder)
    assert lists["approve"] == []
    assert "10 of 11 pages came in one go" in lists["look"][0][-1]


def test_correcting_one_page_at_leisure_makes_up_for_no_other(server: Server, client: httpx.Client) -> None:
    cheat = Rater.join(client)
    for slot in cheat.slots:
        ask(cheat, slot)
    for _ in range(12):
        time.sleep(0.3)
        cheat.send(cheat.rating(cheat.slots[0], 50) | {"shown_ms": 300})
    rest = [cheat.rating(slot, 100) | {"shown_ms": 300} for slot in cheat.slots[1:]]
    assert cheat.send(*rest, cheat.event("finish")).json()["state"] == "finished"
    lists = pay(server.folder)
    assert lists["approve"] == []
    assert "of 11 pages came in one go" in lists["look"][0][-1]


def test_a_file_that_nobody_can_see_is_held_against_nobody(server: Server, client: httpx.Client) -> None:
    people = [Rater.join(client, f"tab{number:05}") for number in range(2)]
    for rater in people:
        for slot in rater.slots:
            ask(rater, slot)
    with sqlite3.connect(server.folder / "collect.db") as connection:
        names = dict(connection.execute("SELECT id, item FROM slot"))
    for rater in people:
        for slot in rater.slots:
            if names[slot["id"]] in ("p1.png", "p2.png", "p3.png"):
                assert broken(rater, slot) == []
            else:
                rater.rate(slot, 100)
        assert rater.do("finish")["rejected"] == []
    assert [row["pages_broken_alone"] for row in raters(server.folder)] == ["0", "0"]
