"""A study edited while it runs: checks and files come and go, and nobody is held up; looking changes nothing."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from collect_support import Rater, Server, collect, make_app
from unisono.collect.studies import open_folder

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
[design]
order = "listed"
"""
LEFT = '\n[[checks]]\nafter = 1\ntext = "Far left."\nexpected = { valence = 0 }\n'
RIGHT = '\n[[checks]]\nafter = 2\ntext = "Far right."\nexpected = { valence = 100 }\n'
REFERENCE = '\n[reference]\nevery = 2\nitems = ["a.png"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "study"
    (place / "media").mkdir(parents=True)
    for name in "abcd":
        (place / "media" / f"{name}.png").write_bytes(b"no real picture")
    write(place, LEFT, RIGHT)
    return place


def write(folder: Path, *parts: str) -> None:
    (folder / "study.toml").write_text(STUDY + "".join(parts))


def serving(folder: Path) -> TestClient:
    return TestClient(make_app(open_folder(folder)), base_url="http://127.0.0.1")


def at_right(rater: Rater) -> Rater:
    """Answers every page with 100: right for one check, wrong for the other."""
    for slot in rater.slots:
        assert rater.rate(slot, 100)["rejected"] == []
    return rater


def exported(folder: Path, name: str) -> list[dict[str, str]]:
    run = collect("export", folder, "--out", folder / "out")
    assert run.returncode == 0, run.stderr
    with (folder / "out" / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_check_that_is_deleted_takes_no_other_with_it(folder: Path) -> None:
    with serving(folder) as client:
        done, midway = at_right(Rater.join(client)), Rater.join(client, "tab11111")
        assert [slot.get("text") for slot in midway.slots if slot["media"] == "check"] == ["Far left.", "Far right."]
    write(folder, RIGHT)
    with serving(folder) as client:
        midway.client = done.client = client
        midway.look()
        assert [slot.get("text") for slot in midway.slots if slot["media"] == "check"] == ["Far right."]
        assert at_right(midway).do("finish")["state"] == "finished"
        token = client.app.state.site.keys.admin_token  # type: ignore[attr-defined]
        client.post("/admin/login", data={"token": token})
        people = client.get("/admin/data").json()["people"]
    # The verdict on the check that is gone stays with those who answered it.
    assert [(one["checks_passed"], one["checks_failed"]) for one in people] == [(1, 1), (1, 0)]
    assert [row["checks_failed"] for row in exported(folder, "raters.csv")] == ["1", "0"]
    assert collect("status", folder).returncode == 0


def test_a_check_keeps_its_verdicts_when_others_come_before_it(folder: Path) -> None:
    write(folder, RIGHT)
    with serving(folder) as client:
        at_right(Rater.join(client))
    write(folder, LEFT, RIGHT)
    assert [(row["checks_passed"], row["checks_failed"]) for row in exported(folder, "raters.csv")] == [("1", "0")]


def test_two_checks_of_one_id_are_refused(folder: Path) -> None:
    write(folder, LEFT + 'id = "look"\n', RIGHT + 'id = "look"\n')
    run = collect("status", folder)
    assert (run.returncode, "checks[2].id is 'look'" in run.stderr) == (3, True)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_media_file_that_is_deleted_holds_nobody_up(folder: Path, restarted: bool) -> None:
    with serving(folder) as client:
        first, second = at_right(Rater.join(client)), Rater.join(client, "tab11111")
        (folder / "media" / "c.png").unlink()
        if not restarted:
            goes_on(client, first, second)
    if restarted:
        with serving(folder) as client:
            goes_on(client, first, second)
    rows = exported(folder, "ratings.csv")
    assert [row["item"] for row in rows if row["annotator"] == "r0001"] == ["a.png", "b.png", "c.png", "d.png"]
    assert [row["item"] for row in rows if row["annotator"] == "r0002"] == ["a.png", "b.png", "d.png"]
    found = json.loads(collect("status", folder, "--json").stdout)
    assert {item["name"]: item["done"] for item in found["items"]} == {"a.png": 2, "b.png": 2, "d.png": 2, "c.png": 1}


def goes_on(client: TestClient, first: Rater, second: Rater) -> None:
    first.client = second.client = client
    assert len(first.look()["slots"]) == len(second.look()["slots"]) == 3 + 2
    second.rate_all()
    assert first.do("finish")["state"] == "finished"
    assert client.get(f"{second.link}/media/{second.slots[0]['id']}").status_code == 200


def test_a_reference_that_is_deleted_is_still_exported(folder: Path) -> None:
    write(folder, REFERENCE)
    with serving(folder) as client:
        at_right(Rater.join(client))
    (folder / "media" / "a.png").unlink()
    assert [row["item"] for row in exported(folder, "references.csv")] == ["a.png"]
    assert collect("status", folder).returncode == 0
    # Nothing is served before the file is right.
    assert "reference.items is 'a.png'" in collect("serve", folder).stderr


def test_a_file_that_is_added_breaks_nobody(folder: Path) -> None:
    with Server(folder) as server, httpx.Client(base_url=server.url) as client:
        before = Rater.join(client)
        (folder / "media" / "e.png").write_bytes(b"no real picture")
        assert json.loads(collect("status", folder, "--json").stdout)["items"][-1]["name"] == "e.png"
        exported(folder, "ratings.csv")
        after = Rater.join(client, "tab11111")
        assert len(before.look()["slots"]) == len(after.slots) == 4 + 2
        after.rate_all()


def dumped(folder: Path) -> Iterator[str]:
    with sqlite3.connect(folder / "collect.db") as connection:
        yield from connection.iterdump()


def test_status_and_export_write_nothing_and_invite_only_its_raters(folder: Path) -> None:
    for words in (("status", folder), ("status", folder, "--json"), ("export", folder, "--out", folder / "out")):
        assert collect(*words).returncode == 0
    assert not (folder / "collect.db").exists()
    assert not (folder / "secret.key").exists()
    with serving(folder) as client:
        at_right(Rater.join(client))
    before, files = list(dumped(folder)), sorted(folder.iterdir())
    content = (folder / "collect.db").read_bytes()
    # An edited file: what a server would write down when it starts, looking must not.
    (folder / "media" / "b.png").unlink()
    (folder / "media" / "e.png").write_bytes(b"no real picture")
    for words in (("status", folder), ("export", folder, "--out", folder / "out")):
        assert collect(*words).returncode == 0
    assert (folder / "collect.db").read_bytes() == content
    assert sorted(folder.iterdir()) == files
    assert collect("invite", folder, "anna").returncode == 0
    changed = set(dumped(folder)) ^ set(before)
    assert len(changed) == 1
    assert "anna" in next(iter(changed))
