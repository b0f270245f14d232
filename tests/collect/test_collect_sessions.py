"""The researcher's sessions, and what strangers can hold open, fill in or leave behind."""

from __future__ import annotations

import csv
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from collect_support import Rater, Server, collect, make_app, rate_study
from unisono.collect.app.context import now_ms
from unisono.collect.app.guard import ImpatientProtocol
from unisono.collect.store import raters

pytestmark = pytest.mark.slow


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with TestClient(make_app(rate_study(tmp_path / "study")), base_url="http://127.0.0.1") as client:
        yield client


def site_of(client: TestClient) -> Any:
    return client.app.state.site  # type: ignore[attr-defined]


def sign_in(client: TestClient, token: str = "") -> Any:
    return client.post(
        "/admin/login", data={"token": token or site_of(client).keys.admin_token}, follow_redirects=False
    )


def test_signing_out_ends_the_session_for_every_copy_of_its_cookie(client: TestClient) -> None:
    words = []
    for _ in range(2):
        client.cookies.clear()
        sign_in(client)
        words.append("; ".join(f"{name}={value}" for name, value in client.cookies.items()))
    client.post("/admin/logout")
    client.cookies.clear()
    # The other browser that is signed in stays signed in.
    statuses = [client.get("/admin/data", headers={"cookie": word}).status_code for word in words]
    assert statuses == [200, 401]


def test_every_study_has_a_cookie_of_its_own(client: TestClient, tmp_path: Path) -> None:
    here = sign_in(client).headers["set-cookie"]
    with TestClient(make_app(rate_study(tmp_path / "other")), base_url="http://127.0.0.1") as other:
        there = sign_in(other).headers["set-cookie"]
    assert here.partition("=")[0] != there.partition("=")[0]
    assert "path=/admin" in here.lower()


def test_a_session_runs_out(client: TestClient) -> None:
    database, now = site_of(client).database, now_ms()
    with database.write() as connection:
        raters.open_session(connection, "old", now + 1, now)
        assert raters.is_open(connection, "old", now)
        assert not raters.is_open(connection, "old", now + 1)
        raters.open_session(connection, "new", now + 100, now + 2)
        assert not raters.is_open(connection, "old", now)


def test_after_many_wrong_tokens_not_even_the_right_one_is_heard(client: TestClient) -> None:
    statuses = [sign_in(client, f"{number:040x}").status_code for number in range(15)]
    assert (statuses[0], statuses[-1]) == (403, 429)
    assert sign_in(client).status_code == 429
    # Unknown links of raters are another matter: nobody locks the researcher out with them.
    site_of(client).limiter._buckets.clear()
    for number in range(30):
        client.get(f"/r/{number:012x}.{number:040x}/state")
    assert sign_in(client).status_code == 303


@pytest.mark.parametrize("path", ["/", "/admin/login", "/admin/phase"])
def test_a_form_of_too_many_fields_is_a_bad_request(client: TestClient, path: str) -> None:
    sign_in(client)
    answer = client.post(path, data={f"field{number}": "x" for number in range(21)}, follow_redirects=False)
    assert answer.status_code == 400


@pytest.mark.parametrize("first", ["collect", "invite"])
def test_the_database_is_its_owners(first: str, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    rate_study(folder)
    if first == "invite":
        assert collect("invite", folder, "anna").returncode == 0
    with TestClient(make_app(rate_study(folder)), base_url="http://127.0.0.1") as client:
        Rater.join(client)
        modes = {path.name: path.stat().st_mode & 0o777 for path in folder.glob("collect.db*")}
    assert len(modes) == 3
    assert set(modes.values()) == {0o600}


FORMULAS = ["=1", "+1", "-1", "@x", "\t=1", "\n=1", "\r\n=1", "  =1", "＝1", "＋1", "－1", "＠x", "\n ＝1"]


def test_no_form_of_a_formula_runs_in_a_spreadsheet(tmp_path: Path) -> None:
    folder = rate_study(tmp_path / "study")
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        for number, text in enumerate([*FORMULAS, "fine = 1"]):
            Rater.join(client, f"tab{number:05}").do("comment", text=text)
    assert collect("export", folder.path, "--out", tmp_path / "out").returncode == 0
    with (tmp_path / "out" / "raters.csv").open(newline="") as stream:
        said = [row["comment"] for row in csv.DictReader(stream)]
    assert said == [*(f"'{text}" for text in FORMULAS), "fine = 1"]


def test_connections_on_which_nothing_comes_are_closed(tmp_path: Path) -> None:
    """With a server whose patience is a second; half a head, half a body, and nothing at all."""
    assert ImpatientProtocol.patience <= 60
    rate_study(tmp_path / "study")
    code = (
        "from unisono.collect.app.guard import ImpatientProtocol as P; P.patience = 1.0;"
        "from unisono.cli.main import run; run()"
    )
    with Server(tmp_path / "study", code=code) as server:
        begun = [
            b"",
            b"GET / HTTP/1.1\r\nHost: 127",
            b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nab",
        ]
        lines = [socket.create_connection(("127.0.0.1", server.port)) for _ in begun]
        started = time.monotonic()
        for line, text in zip(lines, begun, strict=True):
            line.sendall(text)
            line.settimeout(20)
        for line in lines:
            assert hung_up(line)
        assert time.monotonic() - started < 15


def hung_up(line: socket.socket) -> bool:
    try:
        return line.recv(1000) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def test_answers_on_a_connection_that_stays_open_do_not_wait(tmp_path: Path) -> None:
    """Without TCP_NODELAY each one waits for 40 ms, however fast the server is."""
    rate_study(tmp_path / "study")
    with Server(tmp_path / "study") as server, httpx.Client(base_url=server.url) as client:
        took = []
        for _ in range(40):
            began = time.monotonic()
            assert client.get("/admin/data").status_code == 401
            took.append(time.monotonic() - began)
    # The fastest half: a busy machine may hold up any single one.
    assert sorted(took)[20] < 0.02
