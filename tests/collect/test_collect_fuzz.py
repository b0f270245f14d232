"""Whatever is sent to whatever address: never a failure of ours."""

from __future__ import annotations

import json
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from collect_support import Rater, make_site, rate_study, trace_study
from unisono.collect.app.build import build

pytestmark = pytest.mark.slow

FEW = settings(max_examples=120, suppress_health_check=list(HealthCheck), database=None, derandomize=True)

numbers = st.one_of(
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, 1, -1, 2**31, 2**53, 2**64, 10**30]),
)
words = st.one_of(st.text(max_size=20), st.sampled_from(["saturation", "brightness", "x" * 300, "\x00", "\ud800"]))
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, words),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(words, inner, max_size=4)),
    max_leaves=12,
)


@pytest.fixture(scope="module", params=["rate", pytest.param("trace-on-postgres", marks=pytest.mark.postgres)])
def rater(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rater]:
    place: Path = tmp_path_factory.mktemp("fuzz") / "study"
    limits = "\n[limits]\nrequests_per_second = 100000\njoins_per_minute = 6000000\n"
    mturk = '\n[raters]\nsource = "mturk"\n'
    if request.param == "rate":
        site = make_site(rate_study(place, extra=limits + mturk))
    else:
        site = make_site(trace_study(place, extra=limits + mturk), request.getfixturevalue("postgres").fresh())
    with TestClient(build(site), base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        client.post("/admin/login", data={"token": site.keys.admin_token})
        yield Rater.join(client, workerId="w", assignmentId="a")


def is_fine(answer: Any) -> bool:
    return int(answer.status_code) < 500


@FEW
@given(body=st.one_of(st.binary(max_size=200), anything))
def test_any_body_for_events(rater: Rater, body: Any) -> None:
    url, headers = f"{rater.link}/events", {"content-type": "application/json"}
    if isinstance(body, bytes):
        assert is_fine(rater.client.post(url, content=body, headers=headers))
    else:
        assert is_fine(rater.client.post(url, content=json.dumps(body), headers=headers))


RIGHT: dict[str, dict[str, Any]] = {
    "rating": {"values": {"saturation": 5, "brightness": 5}, "start": {"saturation": 5}, "shown_ms": 5},
    "samples": {"attempt": "a", "first": 0, "rows": [[0, 0, 0, 5]]},
    "pass": {"attempt": "a", "samples": 1, "seconds": 1, "start": {"saturation": 5}},
    "practice": {"index": 0, "values": {"saturation": 5}},
    "note": {"name": "blur", "media_ms": 1},
    "device": {"screen": [1, 1], "window": [1, 1], "ratio": 1, "touch": True, "agent": "x"},
    "comment": {"text": "hi"},
    "consent": {"code": "c"},
    "step": {"name": "play"},
    "answers": {"when": "before", "values": {"age": 30}},
}
sizes = st.one_of(st.sampled_from([0, 1, 5, 50, 100, 101, -1, 0.5, 1e9, 2**31, 2**53]), numbers)
values = st.dictionaries(st.sampled_from(["saturation", "brightness", "x"]), sizes, min_size=1, max_size=3)
rows = st.lists(st.lists(st.one_of(st.just(0), sizes, st.none()), min_size=4, max_size=4), min_size=1, max_size=3)
# Each field drawn so that it can be decoded, most of the time, and is then judged.
DRAWN: dict[str, st.SearchStrategy[Any]] = {
    "values": values,
    "start": values,
    "rows": rows,
    "slot": st.sampled_from([0, 1, 2, 3, 10**6, 2**52, 2**53]),
    "seq": st.integers(0, 60),
}


@FEW
@given(data=st.data())
def test_events_that_are_nearly_right(rater: Rater, data: st.DataObject) -> None:
    """Right in all but one or two fields."""
    kind = data.draw(st.sampled_from([*RIGHT, "practice", "samples", "rating", "finish", "decline"]))
    event: dict[str, Any] = {"kind": kind, "seq": data.draw(st.integers(0, 50)), "at": 5, **RIGHT.get(kind, {})}
    if kind in ("rating", "samples", "pass"):
        event["slot"] = rater.slots[0]["id"]
    names = st.sampled_from([*RIGHT.get(kind, {}), *(name for name in ("slot", "seq") if name in event)])
    for name in data.draw(st.lists(names, min_size=1, max_size=2)):
        event[name] = data.draw(DRAWN.get(name, st.one_of(sizes, anything)))
    # Escaped, so that broken characters arrive as such.
    body, headers = json.dumps({"tab": rater.tab, "events": [event]}), {"content-type": "application/json"}
    assert is_fine(rater.client.post(f"{rater.link}/events", content=body, headers=headers))


@FEW
@given(
    path=st.text(string.ascii_letters + string.digits + "/.%-_?&=:;@~ é\u0000", max_size=40),
    start=st.sampled_from(["/", "/r/", "/admin/", "/static/", "LINK/", "LINK/media/", "LINK/practice/"]),
    method=st.sampled_from(["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"]),
)
def test_any_path_and_method(rater: Rater, path: str, start: str, method: str) -> None:
    url = start.replace("LINK", rater.link) + path.replace("\u0000", "%00").replace(" ", "%20")
    assert is_fine(rater.client.request(method, url, follow_redirects=False))


@FEW
@given(
    form=st.dictionaries(
        st.sampled_from(["workerId", "assignmentId", "hitId", "turkSubmitTo", "token", "phase", "x"]),
        st.one_of(words.filter(lambda text: "\ud800" not in text), st.sampled_from(["open", "https://[::", "%00%ff"])),
        max_size=5,
    ),
    raw=st.one_of(st.none(), st.binary(max_size=100)),
    path=st.sampled_from(["/", "/admin/login", "/admin/phase"]),
)
def test_any_form_at_any_door(rater: Rater, form: dict[str, str], raw: bytes | None, path: str) -> None:
    given_form: dict[str, Any] = {"content": raw} if raw is not None else {"data": form}
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert is_fine(rater.client.post(path, headers=headers, follow_redirects=False, **given_form))
    assert is_fine(rater.client.get("/", params=form))


@FEW
@given(
    name=st.sampled_from(
        ["host", "origin", "cookie", "content-length", "content-type", "range", "accept", "sec-fetch-site"]
    ),
    value=st.text(string.printable.strip() + " ", min_size=1, max_size=40),
)
def test_any_header(rater: Rater, name: str, value: str) -> None:
    headers = {name: value.strip() or "x"}
    for path in ("/", f"{rater.link}/state", "/admin/data", "/static/base.css"):
        assert is_fine(rater.client.get(path, headers=headers))
    if name != "content-length":
        headers = {"content-type": "application/json"} | headers
        assert is_fine(rater.client.post(f"{rater.link}/events", content=b"{}", headers=headers))


def test_after_all_of_it_the_study_still_works(rater: Rater) -> None:
    token = rater.client.app.state.site.keys.admin_token  # type: ignore[attr-defined]
    rater.client.post("/admin/login", data={"token": token})
    rater.client.post("/admin/phase", data={"phase": "open"})
    newcomer = Rater.join(rater.client, "tab99999", workerId="newcomer", assignmentId="b")
    assert newcomer.state["state"] == "active"
    assert rater.client.get("/admin/export.zip").status_code == 200
