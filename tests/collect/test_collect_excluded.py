"""A rater who is excluded counts for nothing, until taken back; links are made once for every name."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from collect_support import Rater, collect, make_app, rate_study, trace_study
from unisono.collect.app.context import now_ms
from unisono.collect.store import assign

ONE = "\n[design]\nratings_per_item = 1\n"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(make_app(rate_study(tmp_path / "s", extra=ONE)), base_url="http://127.0.0.1") as client:
        token = client.app.state.site.keys.admin_token  # type: ignore[attr-defined]
        client.post("/admin/login", data={"token": token})
        yield client


def exclude(client: TestClient, rater: str, word: str = "yes") -> Any:
    return client.post("/admin/exclude", data={"rater": rater, "excluded": word})


def exported(client: TestClient, name: str) -> list[dict[str, str]]:
    folder = client.app.state.site.folder.path  # type: ignore[attr-defined]
    assert collect("export", folder, "--out", folder / "out").returncode == 0
    with (folder / "out" / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def counts(client: TestClient) -> list[tuple[int, int]]:
    return [(item["done"], item["active"]) for item in client.get("/admin/data").json()["items"]]


def test_an_excluded_rater_is_left_out_and_their_items_go_to_others(client: TestClient) -> None:
    bad = Rater.join(client)
    bad.rate_all()
    # Everything has its ratings: nobody more is let in.
    refused = client.post("/")
    assert (refused.status_code, "All places are taken" in refused.text) == (403, True)
    assert exclude(client, "r0001").json() == {"rater": "r0001", "excluded": True}
    assert exported(client, "ratings.csv") == []
    assert [row["excluded"] for row in exported(client, "raters.csv")] == ["yes"]
    assert counts(client) == [(0, 0)] * 6
    # The log keeps everything, and the place is free again.
    folder = client.app.state.site.folder.path  # type: ignore[attr-defined]
    lines = [json.loads(line) for line in (folder / "out" / "log.jsonl").read_text().splitlines()]
    assert sum(line["kind"] == "rating" for line in lines) == 6
    assert len(Rater.join(client, "tab22222").slots) == 6
    exclude(client, "r0001", "no")
    assert len(exported(client, "ratings.csv")) == 6
    assert counts(client) == [(1, 1)] * 6


def test_what_an_excluded_rater_still_does_counts_for_nothing(client: TestClient) -> None:
    rater = Rater.join(client)
    rater.rate(rater.slots[0])
    exclude(client, "r0001")
    rater.rate(rater.slots[1])
    site = client.app.state.site  # type: ignore[attr-defined]
    with site.database.write() as connection:
        assign.free_idle(connection, now_ms() + 1)
    rater.look()
    assert counts(client) == [(0, 0)] * 6
    exclude(client, "r0001", "no")
    assert sorted(counts(client)) == [(0, 1)] * 4 + [(1, 0)] * 2


def test_only_known_raters_can_be_excluded_and_only_by_the_researcher(client: TestClient) -> None:
    Rater.join(client)
    for wrong in ("r0009", "", "x", "r1; drop", "9" * 40):
        assert exclude(client, wrong).status_code == 422
    client.cookies.clear()
    assert exclude(client, "r0001").status_code == 401


def test_traces_of_an_excluded_rater_are_left_out(tmp_path: Path) -> None:
    with TestClient(make_app(trace_study(tmp_path / "s")), base_url="http://127.0.0.1") as client:
        token = client.app.state.site.keys.admin_token  # type: ignore[attr-defined]
        client.post("/admin/login", data={"token": token})
        rater = Rater.join(client)
        slot = rater.slots[0]
        rows = [[40.0 * n, 40.0 * n, 0, 5.0] for n in range(75)]
        rater.do("samples", slot=slot["id"], attempt="a", first=0, rows=rows)
        rater.do("pass", slot=slot["id"], attempt="a", samples=75, seconds=3, start=slot["start"])
        assert len(exported(client, "ratings.csv")) == 75
        exclude(client, "r0001")
        assert exported(client, "ratings.csv") == []


def test_invitations_from_a_table_are_quoted_and_issued_once(tmp_path: Path) -> None:
    folder = rate_study(tmp_path / "s", extra='\n[raters]\nsource = "invited"\n').path
    table = tmp_path / "people.csv"
    table.write_text('name,mail\n"Ng, Ann",a@x\nguest-2,b@x\n', encoding="utf-8")
    run = collect("invite", folder, "--from", table)
    links = dict(csv.reader(run.stdout.splitlines()))
    assert list(links) == ["Ng, Ann", "guest-2"]
    assert dict(csv.reader(collect("invite", folder, "--from", table).stdout.splitlines())) == links
    guests = dict(csv.reader(collect("invite", folder, "--count", "3").stdout.splitlines()))
    assert list(guests) == ["guest-1", "guest-3", "guest-4"]
    assert not set(guests.values()) & set(links.values())
    table.write_text("name\nann\nann\n")
    run = collect("invite", folder, "--from", table)
    assert (run.returncode, "people.csv row 3: name is 'ann'" in run.stderr) == (3, True)
    people = json.loads(collect("status", folder, "--json").stdout)["people"]
    assert people[0]["name"] == "Ng, Ann"
