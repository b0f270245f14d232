"""The server is killed, the disk fills up, the database is locked: nothing acknowledged is lost, nothing is doubled."""

from __future__ import annotations

import contextlib
import csv
import json
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect
from sqlalchemy.event import listen as event_listen
from starlette.testclient import TestClient

from collect_people import Mouse
from collect_storm import Storm
from collect_support import Rater, Server, make_site, rate_study
from unisono.collect.app.build import build
from unisono.collect.export.write import export_study
from unisono.collect.store.database import Database
from unisono.collect.studies import open_folder

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


# The full count is run by tools/kill_collect.py; a handful finds most of what can break.
KILLS, RATERS = 12, 12


@pytest.mark.slow
def test_kills_while_raters_send_the_study_is_edited_and_others_look(tmp_path: Path, database_url: str) -> None:
    found = Storm(tmp_path / "study", database_url, KILLS, RATERS).blow()
    assert found.busy > KILLS / 2
    assert found.ratings > 2 * KILLS
    assert min(found.edits, found.looks, found.exports) > 3


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
    assert [line["seq"] for line in log if line["kind"] == "rating"] == [3, 4, 5]


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
    assert [seq for (seq,) in rows] == [3, 4, 5, 6]


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
