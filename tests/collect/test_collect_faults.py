"""The server is killed, the disk fills up, the database is locked: nothing acknowledged is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect
from sqlalchemy.event import listen as event_listen
from starlette.testclient import TestClient

import collect_support
from collect_people import Mouse
from collect_support import Rater, Server, free_port, make_site, rate_study
from unisono.collect.app.build import build
from unisono.collect.export.write import export_study
from unisono.collect.store.database import Database
from unisono.collect.studies import open_folder

KILLS, RATERS = 50, 20
LIMITS = "\n[limits]\nrequests_per_second = 1000\njoins_per_minute = 60000\n"
NOT_SAVED = "Not saved yet, retrying…"


def exported(folder: Path) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    study = open_folder(folder)
    database = Database(study.database_url)
    export_study(study, database, folder.parent / "out")
    database.close()
    with (folder.parent / "out" / "ratings.csv").open(newline="") as stream:
        ratings = list(csv.DictReader(stream))
    return ratings, [json.loads(line) for line in (folder.parent / "out" / "log.jsonl").read_text().splitlines()]


class Launcher:
    """Keeps one server alive after another, until told to stop."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.words = "\t".join(["collect", "serve", str(folder), "--port", str(self.port)])
        script = Path(collect_support.__file__).with_name("collect_launcher.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def start(self) -> int:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(self.words + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(10)


class Insistent:
    """A rater that sends every rating until it is acknowledged, as the page does, and remembers what was."""

    def __init__(self, client: httpx.AsyncClient, number: int) -> None:
        self.client = client
        self.number = number
        self.acked: list[tuple[int, int, float]] = []  # seq, slot, value
        self.link = ""

    async def insist(self, method: str, path: str, **more: Any) -> httpx.Response:
        while True:
            with contextlib.suppress(httpx.TransportError):
                answer = await self.client.request(method, path, **more)
                if answer.status_code < 500:
                    return answer
            await asyncio.sleep(0.02)

    async def send(self, event: dict[str, Any]) -> None:
        body = {"tab": f"tab{self.number:05d}", "events": [{"at": 1_700_000_000_000, **event}]}
        receipt = (await self.insist("POST", f"{self.link}/events", json=body)).json()
        assert receipt["acked"] == [event["seq"]], receipt

    async def work(self, stop: asyncio.Event) -> None:
        answer = await self.insist("POST", "/")
        self.link = answer.headers["location"]
        await self.send({"kind": "consent", "seq": 0})
        slots = (await self.insist("GET", f"{self.link}/state")).json()["slots"]
        rng, seq = Random(self.number), 0
        while not stop.is_set():
            seq += 1
            slot = slots[seq % len(slots)]
            value = seq % 101
            both = {"saturation": value, "brightness": 100 - value}
            await self.send(
                {"kind": "rating", "seq": seq, "slot": slot["id"], "values": both, "start": both, "shown_ms": 1}
            )
            self.acked.append((seq, slot["id"], value))
            await asyncio.sleep(rng.random() * 0.05)


def work_done(people: list[Insistent]) -> int:
    return sum(len(person.acked) for person in people)


async def storm(launcher: Launcher) -> tuple[list[Insistent], int]:
    """Raters at work while the server dies again and again; how many lives saw work."""
    rng, stop = Random(7), asyncio.Event()
    limits = httpx.Limits(max_connections=RATERS * 2)
    busy = 0
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{launcher.port}", timeout=20, limits=limits) as client:
        people = [Insistent(client, number) for number in range(RATERS)]
        tasks = [asyncio.create_task(person.work(stop)) for person in people]
        child = launcher.start()
        for life in range(KILLS):
            before = work_done(people)
            # A third are killed at any moment, also while they start; the others when they are at work.
            deadline = time.monotonic() + (0.3 * rng.random() if life % 3 == 0 else 10)
            while time.monotonic() < deadline and work_done(people) == before:
                await asyncio.sleep(0.005)
            await asyncio.sleep(0.2 * rng.random())
            os.kill(child, signal.SIGKILL)
            busy += work_done(people) > before
            child = launcher.start()
        await asyncio.sleep(0.5)
        stop.set()
        await asyncio.wait_for(asyncio.gather(*tasks), 60)
        os.kill(child, signal.SIGKILL)
    return people, busy


@pytest.mark.slow
def test_fifty_kills_while_twenty_raters_send(tmp_path: Path) -> None:
    rate_study(tmp_path / "study", per_regime=10, extra=LIMITS)
    launcher = Launcher(tmp_path / "study")
    try:
        # In a thread of its own: the browser of other tests has an event loop in this one.
        with ThreadPoolExecutor() as pool:
            people, busy = pool.submit(lambda: asyncio.run(storm(launcher))).result()
    finally:
        launcher.close()
    ratings, log = exported(tmp_path / "study")
    assert busy > KILLS / 2
    assert work_done(people) > 2 * KILLS
    by_tab: dict[str, list[dict[str, Any]]] = {}
    for line in log:
        if line["kind"] == "rating":
            by_tab.setdefault(line["tab"], []).append(line)
    for person in people:
        lines = by_tab[f"tab{person.number:05d}"]
        stored = [(line["seq"], line["slot_id"], line["data"]["values"]["saturation"]) for line in lines]
        # Every acknowledged rating exactly once, and in the order it was given.
        assert stored == person.acked
        last = {slot: value for _, slot, value in person.acked}
        items = {line["slot_id"]: line["item"] for line in lines}
        mine = {row["item"]: float(row["saturation"]) for row in ratings if row["annotator"] == lines[0]["annotator"]}
        assert mine == {items[slot]: value for slot, value in last.items()}


def come(page: Page, url: str) -> Mouse:
    page.goto(url)
    person = Mouse(page)
    person.begin()
    person.rate(1)
    expect(page.locator("#saved")).to_have_text("All saved")
    return person


def test_a_locked_database_is_waited_for(tmp_path: Path, open_page: Callable[..., Page]) -> None:
    folder = tmp_path / "study"
    rate_study(folder, extra=LIMITS)
    with Server(folder) as server:
        page = open_page()
        person = come(page, server.url)
        lock = sqlite3.connect(folder / "collect.db", isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
        person.rate(2)
        expect(page.locator("#saved")).to_have_text(NOT_SAVED)
        lock.execute("ROLLBACK")
        lock.close()
        expect(page.locator("#saved")).to_have_text("All saved")
        assert "database is locked" in server.log.read_text()
    _, log = exported(folder)
    assert [line["seq"] for line in log if line["kind"] == "rating"] == [2, 3, 4]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[str, ...]]:
    """Words that run a command where `study` is a disk of its own, of one megabyte."""
    mount = 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$@"'
    prefix = ("unshare", "--map-root-user", "--mount", "sh", "-c", mount, str(tmp_path / "disk"))
    (tmp_path / "disk").mkdir()
    if not shutil.which("unshare") or subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not allowed here")
    return prefix


def test_a_full_disk_is_waited_for(tmp_path: Path, small_disk: tuple[str, ...], open_page: Callable[..., Page]) -> None:
    folder, disk = tmp_path / "study", tmp_path / "disk"
    rate_study(folder, extra=LIMITS)
    database = f"sqlite:///{disk / 'collect.db'}"
    with Server(folder, "--database", database, prefix=small_disk) as server:
        page = open_page()
        person = come(page, server.url)
        # The disk of the server as the server sees it.
        inside = Path(f"/proc/{server.process.pid}/root") / disk.relative_to("/")
        with (inside / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
            while True:
                filler.write(bytes(4096))
        person.rate(3)
        expect(page.locator("#saved")).to_have_text(NOT_SAVED)
        assert httpx.get(f"{server.url}/health").status_code == 200
        (inside / "filler").unlink()
        expect(page.locator("#saved")).to_have_text("All saved")
        assert "full" in server.log.read_text()
        shutil.copytree(inside, tmp_path / "copy")
    with sqlite3.connect(tmp_path / "copy" / "collect.db") as connection:
        rows = connection.execute("SELECT seq FROM event WHERE kind = 'rating' ORDER BY id").fetchall()
    assert [seq for (seq,) in rows] == [2, 3, 4, 5]


def test_a_full_database_gives_503_and_takes_the_same_rating_later(tmp_path: Path) -> None:
    folder = rate_study(tmp_path / "study", extra=LIMITS)
    site = make_site(folder)
    most = [1_000_000]
    # The limit belongs to a connection, so every connection gets it whenever it is used.
    limit = lambda found, *_: found.execute(f"PRAGMA max_page_count = {most[0]}").close()  # noqa: E731
    event_listen(site.database._engine, "checkout", limit)
    with TestClient(build(site), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        most[0] = site.database.read(lambda connection: connection.exec_driver_sql("PRAGMA page_count").scalar_one())
        events = [rater.rating(rater.slots[n % 6], n % 100, 5) for n in range(200)]
        statuses = []
        for event in events:
            statuses.append(rater.send(event).status_code)
            if statuses[-1] == 503:
                break
        assert statuses[-1] == 503
        failed = events[len(statuses) - 1]
        assert rater.send(failed).json() == {"error": "not saved yet", "retry": True}
        most[0] = 1_000_000
        assert rater.send(failed).json()["acked"] == [failed["seq"]]
    _, log = exported(folder.path)
    stored = [line["seq"] for line in log if line["kind"] == "rating"]
    assert stored == [event["seq"] for event in events[: len(statuses)]]


@pytest.mark.slow
def test_the_server_stops_soon_when_told_and_has_everything(tmp_path: Path) -> None:
    rate_study(tmp_path / "study", extra=LIMITS)
    with Server(tmp_path / "study") as server, httpx.Client(base_url=server.url) as client:
        rater = Rater.join(client)
        rater.rate_all()
        started = time.monotonic()
    assert time.monotonic() - started < 8
    ratings, _ = exported(tmp_path / "study")
    assert len(ratings) == 6
