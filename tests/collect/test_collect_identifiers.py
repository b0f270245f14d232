"""Who somebody is elsewhere: signed by the platform, or, where it cannot sign, decided by the researcher."""

from __future__ import annotations

import csv
import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Page, expect
from starlette.testclient import TestClient

from collect_support import Rater, Server, collect, make_app, rate_study

SIGNED = '\n[raters]\nsource = "signed"\nreturn_url = "https://panel.example/done?who={id}&code={code}"\n'
PROLIFIC = '\n[raters]\nsource = "prolific"\ncompletion_code = "DONE1"\n'
FIRST = {"PROLIFIC_PID": "pid1", "SESSION_ID": "s1"}
SECOND = {"PROLIFIC_PID": "pid1", "SESSION_ID": "s2"}


def serving(folder: Path, extra: str) -> TestClient:
    return TestClient(make_app(rate_study(folder, extra=extra)), base_url="http://127.0.0.1")


def signed_by_the_platform(folder: Path, outside: str) -> dict[str, str]:
    """As a platform does it that was given the key and knows nothing else of us."""
    key = collect("links", folder, "--key").stdout.strip()
    return {"id": outside, "sig": hmac.new(key.encode(), outside.encode(), hashlib.sha256).hexdigest()}


def sign_in(client: TestClient) -> None:
    token = client.app.state.site.keys.admin_token  # type: ignore[attr-defined]
    client.post("/admin/login", data={"token": token})


def asks(client: TestClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/admin/data").json()["asks"]
    return found


def settle(client: TestClient, answer: str) -> None:
    said = client.post("/admin/session", data={"ask": asks(client)[0]["ask"], "answer": answer})
    assert said.json() == {"answer": answer}


def test_a_signed_identifier_opens_its_place_and_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    with serving(folder, SIGNED) as client:
        anna = signed_by_the_platform(folder, "anna / 1")
        rater = Rater.join(client, **anna)
        assert Rater.join(client, "tab00001", **anna).link == rater.link
        ben = signed_by_the_platform(folder, "ben")
        assert Rater.join(client, "tab00002", **ben).link != rater.link
        for wrong in ({**anna, "id": "ben"}, {**anna, "sig": ""}, {"id": "anna / 1"}, {**anna, "sig": "0" * 64}):
            assert client.post("/", data=wrong, follow_redirects=False).status_code == 403
            assert "does not work" in client.get("/", params=wrong).text
        assert "missing from the link" in client.get("/").text
        rater.rate_all()
        finish = rater.look()["finish"]
    assert finish["return_url"] == f"https://panel.example/done?who=anna%20%2F%201&code={finish['code']}"


def test_links_are_printed_for_a_list_of_ids_and_as_a_pattern(tmp_path: Path) -> None:
    folder = rate_study(tmp_path / "s", extra=SIGNED).path
    people = tmp_path / "people.csv"
    people.write_text("id,mail\nanna,a@x\nben & co,b@x\n")
    words = ("links", folder, "--public-url", "https://study.example/s/")
    assert collect(*words).stdout == "https://study.example/s/?id={id}&sig={signature}\n"
    printed = dict(csv.reader(collect(*words, "--from", people).stdout.splitlines()))
    for outside, link in printed.items():
        given = {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}
        assert given == signed_by_the_platform(folder, outside)
    assert list(printed) == ["anna", "ben & co"]
    assert dict(csv.reader(collect(*words, "anna").stdout.splitlines())) == {"anna": printed["anna"]}


def test_other_sources_have_an_address_and_sign_nothing(tmp_path: Path) -> None:
    prolific = rate_study(tmp_path / "p", extra=PROLIFIC).path
    pattern = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    assert collect("links", prolific).stdout.endswith(pattern + "\n")
    run = collect("links", prolific, "pid1")
    assert (run.returncode, 'source = "signed"' in run.stderr) == (2, True)
    assert not (prolific / "secret.key").exists()


def test_the_key_for_signing_opens_nothing_else(tmp_path: Path) -> None:
    with serving(tmp_path / "s", SIGNED) as client:
        key = collect("links", tmp_path / "s", "--key").stdout.strip()
        assert client.post("/admin/login", data={"token": key}).status_code == 403


def test_a_second_session_waits_for_the_researcher_and_is_asked_about_once(tmp_path: Path) -> None:
    with serving(tmp_path / "s", PROLIFIC) as client:
        Rater.join(client, **FIRST)
        for _ in range(3):
            answer = client.post("/", data=SECOND, follow_redirects=False)
            assert (answer.status_code, "asking the researchers" in answer.text) == (409, True)
        sign_in(client)
        assert [(one["name"], one["annotator"], one["begun_session"], one["session"]) for one in asks(client)] == [
            ("pid1", "r0001", "s1", "s2")
        ]
        assert "1 second session to decide about" in collect("status", tmp_path / "s").stdout
        # A stranger learns and changes nothing.
        client.cookies.clear()
        assert client.post("/admin/session", data={"ask": "x", "answer": "same"}).status_code == 401


def test_the_same_person_goes_on_where_they_stopped(tmp_path: Path) -> None:
    with serving(tmp_path / "s", PROLIFIC) as client:
        first = Rater.join(client, **FIRST)
        first.rate(first.slots[0])
        client.post("/", data=SECOND)
        sign_in(client)
        settle(client, "same")
        back = Rater.join(client, "tab00001", **SECOND)
        assert back.link == first.link
        assert [slot["done"] for slot in back.slots].count(True) == 1
        back.rate_all()
        assert asks(client) == []
    assert collect("pay", tmp_path / "s").returncode == 0
    raters = (tmp_path / "s" / "pay" / "look.csv").read_text() + (tmp_path / "s" / "pay" / "approve.csv").read_text()
    assert "pid1" in raters
    assert "s1" not in raters


def test_the_owner_of_an_identifier_begins_anew_and_nobody_else_is_paid_for_it(tmp_path: Path) -> None:
    with serving(tmp_path / "s", PROLIFIC) as client:
        thief = Rater.join(client, **FIRST)
        thief.rate_all()
        client.post("/", data=SECOND)
        sign_in(client)
        settle(client, "anew")
        owner = Rater.join(client, "tab00001", **SECOND)
        assert owner.link != thief.link
        assert not any(slot["done"] for slot in owner.slots)
        # The first session is the second one now.
        assert client.post("/", data=FIRST, follow_redirects=False).status_code == 409
        owner.rate_all()
    collect("pay", tmp_path / "s")
    lists = "".join((tmp_path / "s" / "pay" / name).read_text() for name in ("approve.csv", "reject.csv", "look.csv"))
    assert (lists.count("pid1"), "pid1 (1)" in lists) == (1, False)


def test_whoever_is_refused_stays_out_and_a_flood_is_not_kept(tmp_path: Path) -> None:
    with serving(tmp_path / "s", PROLIFIC + "\n[limits]\njoins_per_minute = 10000\n") as client:
        Rater.join(client, **FIRST)
        client.post("/", data=SECOND)
        sign_in(client)
        wrong = [{"ask": asks(client)[0]["ask"], "answer": "maybe"}, {"ask": "unknown", "answer": "same"}]
        assert [client.post("/admin/session", data=one).status_code for one in wrong] == [422, 422]
        settle(client, "refused")
        answer = client.post("/", data=SECOND, follow_redirects=False)
        assert (answer.status_code, "already begun" in answer.text) == (403, True)
        for number in range(30):
            client.post("/", data={**FIRST, "SESSION_ID": f"guess{number}"})
        assert len(asks(client)) == 19


@pytest.mark.slow
def test_the_researcher_decides_on_their_page(tmp_path: Path, open_page: Callable[..., Page]) -> None:
    rate_study(tmp_path / "s", extra=PROLIFIC)
    with Server(tmp_path / "s") as server:
        with httpx.Client(base_url=server.url) as client:
            Rater.join(client, **FIRST)
        owner, admin = open_page(), open_page()
        owner.goto(f"{server.url}/?PROLIFIC_PID=pid1&SESSION_ID=s2")
        owner.get_by_role("button", name="Begin").click()
        owner.get_by_role("heading", name="We are asking the researchers").wait_for()
        admin.goto((tmp_path / "s" / "admin-link.txt").read_text().strip())
        admin.get_by_role("button", name="Begin anew: pid1").click()
        expect(admin.locator("#asks")).to_be_hidden()
        owner.get_by_role("button", name="Try again").click()
        owner.get_by_role("button", name="I agree").wait_for()
