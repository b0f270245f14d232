"""The application, spoken to as a browser speaks: from the door to the code."""

from __future__ import annotations

import csv
import io
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from collect_support import Rater, make_app, rate_study, trace_study

pytestmark = pytest.mark.slow

BOTH = "\n[reference]\nevery = 2\nvalues = { saturation = 50, brightness = 70 }\n"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    folder = rate_study(tmp_path / "study", extra=BOTH)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        yield client


def sign_in(client: TestClient) -> None:
    token = client.app.state.site.keys.admin_token  # type: ignore[attr-defined]
    answer = client.post("/admin/login", data={"token": token})
    assert answer.status_code == 200


def test_from_the_door_to_the_code(client: TestClient) -> None:
    rater = Rater.join(client)
    assert len(rater.slots) == 6 + 3
    assert rater.state["finish"] is None
    rater.rate_all()
    finish = rater.look()["finish"]
    assert rater.state["state"] == "finished"
    assert len(finish["code"]) == 8


def test_nothing_tells_a_reference_from_an_item(client: TestClient) -> None:
    slots = Rater.join(client).slots
    assert {frozenset(slot) for slot in slots} == {frozenset(slots[0])}
    assert "reference" not in str(slots)
    assert "truth" not in str(slots)


def test_looking_at_the_door_stores_nothing(client: TestClient) -> None:
    assert "Begin" in client.get("/").text
    sign_in(client)
    assert client.get("/admin/data").json()["people"] == []


def test_the_handle_starts_where_it_started_before_a_reload(client: TestClient) -> None:
    rater = Rater.join(client)
    starts = [slot["start"] for slot in rater.slots]
    assert [slot["start"] for slot in rater.look()["slots"]] == starts
    assert len({str(start) for start in starts}) > 1


def test_a_reload_shows_what_was_answered(client: TestClient) -> None:
    rater = Rater.join(client)
    rater.rate(rater.slots[0], 12, 34)
    again = Rater(client, rater.link, "tab11111")
    slot = again.look()["slots"][0]
    assert slot["done"]
    assert slot["values"] == {"saturation": 12, "brightness": 34}


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"saturation": 101, "brightness": 5}, "saturation must lie between"),
        ({"saturation": -1, "brightness": 5}, "saturation must lie between"),
        ({"saturation": 1}, "every dimension"),
        ({"saturation": 1, "brightness": 2, "x": 3}, "every dimension"),
    ],
)
def test_values_off_the_scale_are_refused_for_good(client: TestClient, values: dict[str, float], why: str) -> None:
    rater = Rater.join(client)
    slot = rater.slots[0]
    receipt = rater.do("rating", slot=slot["id"], values=values, start=slot["start"], shown_ms=1)
    assert receipt["acked"] == []
    assert why in receipt["rejected"][0]["why"]
    assert not rater.look()["slots"][0]["done"]


def test_two_events_with_one_number_are_one_event(client: TestClient) -> None:
    rater = Rater.join(client)
    first, second = rater.rating(rater.slots[0], 10, 10), rater.rating(rater.slots[1], 500, 500)
    second["seq"] = first["seq"]
    receipt = rater.send(second, first).json()
    assert receipt["rejected"][0]["why"].startswith("saturation")
    values = [slot["values"] for slot in rater.look()["slots"]]
    assert values[:2] == [{"saturation": 10, "brightness": 10}, None]


def test_pausing_stops_arrivals_but_loses_nothing(client: TestClient) -> None:
    rater = Rater.join(client)
    sign_in(client)
    assert client.post("/admin/phase", data={"phase": "paused"}).json() == {"phase": "paused"}
    assert "not open" in client.post("/", follow_redirects=False).text
    receipt = rater.rate(rater.slots[0])
    assert receipt["phase"] == "paused"
    assert len(receipt["acked"]) == 1
    assert client.post("/admin/phase", data={"phase": "sideways"}).status_code == 422


def test_the_researchers_page_has_progress_references_and_dropouts(client: TestClient) -> None:
    rater = Rater.join(client)
    for slot in rater.slots:
        rater.rate(slot, 50, 60)
    Rater.join(client)
    sign_in(client)
    data = client.get("/admin/data").json()
    assert data["ratings"] == 6
    assert data["raters"]["active"] == 2
    assert [item["done"] for item in data["items"]] == [1] * 6
    person = data["people"][0]
    assert person["median_seconds"] == 1.23
    # Saturation was given its true value; brightness was 10 off, on a scale of 100.
    assert person["reference_error"] == 5.0
    assert data["people"][1]["done"] == 0


def test_the_export_can_be_downloaded(client: TestClient) -> None:
    rater = Rater.join(client)
    rater.rate_all()
    sign_in(client)
    archive = zipfile.ZipFile(io.BytesIO(client.get("/admin/export.zip").content))
    assert {"ratings.csv", "truth.csv", "features.csv", "references.csv", "raters.csv", "log.jsonl", "study.toml"} <= {
        *archive.namelist()
    }
    rows = list(csv.DictReader(io.StringIO(archive.read("ratings.csv").decode())))
    assert len(rows) == 6
    assert list(rows[0]) == ["item", "annotator", "saturation", "brightness"]


def prolific(tmp_path: Path) -> TestClient:
    extra = '\n[raters]\nsource = "prolific"\ncompletion_code = "C1X2"\n'
    return TestClient(make_app(rate_study(tmp_path / "study", extra=extra)), base_url="http://127.0.0.1")


def test_prolific_participants_come_back_to_their_own_place(tmp_path: Path) -> None:
    ids = {"PROLIFIC_PID": "p1", "SESSION_ID": "s1", "STUDY_ID": "t"}
    with prolific(tmp_path) as client:
        assert "missing from the link" in client.get("/").text
        assert 'value="p1"' in client.get("/", params=ids).text
        rater = Rater.join(client, **ids)
        rater.rate_all()
        assert Rater.join(client, "tab22222", **ids).link == rater.link
        stranger = client.post("/", data={**ids, "SESSION_ID": "guessed"}, follow_redirects=False)
        assert "asking the researchers" in stranger.text
        assert rater.look()["finish"] == {
            "code": "C1X2", "return_url": "https://app.prolific.com/submissions/complete?cc=C1X2", "submit": None,
        }  # fmt: skip


def test_mturk_preview_shows_instructions_and_stores_nothing(tmp_path: Path) -> None:
    app = make_app(rate_study(tmp_path / "study", extra='\n[raters]\nsource = "mturk"\n'))
    preview = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "h", "workerId": "w"}
    real = {"assignmentId": "a", "hitId": "h", "workerId": "w", "turkSubmitTo": "https://www.mturk.com"}
    with TestClient(app, base_url="http://127.0.0.1") as client:
        page = client.get("/", params=preview).text
        assert "Judge each colour." in page
        assert "<button" not in page
        assert client.post("/", data=preview, follow_redirects=False).status_code == 403
        sign_in(client)
        assert client.get("/admin/data").json()["people"] == []
        rater = Rater.join(client, **real)
        rater.rate_all()
        submit = rater.look()["finish"]["submit"]
        assert submit == {"url": "https://www.mturk.com/mturk/externalSubmit", "assignment": "a"}
        evil = Rater.join(client, **{**real, "workerId": "v", "turkSubmitTo": "https://www.mturk.com.evil.org"})
        evil.rate_all()
        assert evil.look()["finish"]["submit"] is None


def test_walks_are_served_frame_by_frame(tmp_path: Path) -> None:
    with TestClient(make_app(trace_study(tmp_path / "study")), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        assert [slot["dimensions"] for slot in rater.slots] == [["saturation"], ["brightness"]]
        walk = client.get(f"{rater.link}/{rater.slots[0]['url']}").json()
        assert len(walk["frames"]) == 6 * 3 * 25
        assert walk["seconds"] == 3


@pytest.mark.parametrize(
    "row",
    [[0, 0, None, 5], [None, 0, 0, 5], [-1, 0, 0, 5], [0, 0, 4, 5], [0, 0, 1e30, 5], [0, 0, 0, 101], [0, 0, 0, 5, 5]],
)
def test_samples_off_the_clock_or_the_scale_are_refused(tmp_path: Path, row: list[float | None]) -> None:
    with TestClient(make_app(trace_study(tmp_path / "study")), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        good = {"slot": rater.slots[0]["id"], "attempt": "a", "first": 0}
        receipt = rater.do("samples", **good, rows=[[0, 0, 0, None], row])
        assert receipt["acked"] == []
        assert receipt["rejected"][0]["why"].startswith(("a sample has", "saturation must lie"))


def test_checks_say_what_to_do_and_are_judged(tmp_path: Path) -> None:
    extra = '\n[[checks]]\nafter = 2\ntext = "All the way."\nexpected = { saturation = 100 }\ntolerance = 5\n'
    with TestClient(make_app(rate_study(tmp_path / "study", extra=extra)), base_url="http://127.0.0.1") as client:
        for value in (96, 60):
            rater = Rater.join(client)
            check = rater.slots[2]
            assert (check["media"], check["text"]) == ("check", "All the way.")
            rater.rate(check, value, 0)
        sign_in(client)
        people = client.get("/admin/data").json()["people"]
        assert [(one["checks_passed"], one["checks_failed"]) for one in people] == [(1, 0), (0, 1)]


def test_items_of_a_rater_who_is_gone_are_given_to_the_next(tmp_path: Path) -> None:
    extra = "\n[design]\nratings_per_item = 1\nfree_after_minutes = 0.05\n"
    with TestClient(make_app(rate_study(tmp_path / "study", extra=extra)), base_url="http://127.0.0.1") as client:
        gone = Rater.join(client)
        gone.rate(gone.slots[0])
        deadline = time.monotonic() + 30
        while (newcomer := Rater.join(client)).state["state"] == "full" and time.monotonic() < deadline:
            time.sleep(0.2)
        assert len(newcomer.slots) == 5
        back = gone.look()
        assert [slot["done"] for slot in back["slots"]] == [True]
        assert gone.do("finish")["rejected"] == []


def test_invited_raters_need_their_link(tmp_path: Path) -> None:
    app = make_app(rate_study(tmp_path / "study", extra='\n[raters]\nsource = "invited"\n'))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert "by invitation" in client.get("/").text
        assert client.post("/", follow_redirects=False).status_code == 403
