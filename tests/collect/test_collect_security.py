"""One test per promise: who may read, who may write, what may run, what is kept out of the log."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from collect_support import COMMAND, Rater, Server, make_app, rate_study, token_of, trace_study
from unisono.collect.app.guard import masked, policy
from unisono.collect.app.serve import Address, is_loopback
from unisono.collect.studies import Keys

pytestmark = pytest.mark.slow

EVIL = "<script>alert(1)</script>"
POSTS = ["/", "/admin/login", "/admin/logout", "/admin/phase"]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    limits = "\n[limits]\nrequests_per_second = 100\n"
    app = make_app(rate_study(tmp_path / "study", extra=limits), hosts=frozenset({"127.0.0.1"}))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


def admin_token(client: TestClient) -> str:
    return str(client.app.state.site.keys.admin_token)  # type: ignore[attr-defined]


# Binding and names


def listening_on(port: int) -> set[str]:
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:] + Path("/proc/net/tcp6").read_text().splitlines()[1:]
    listening = [line.split()[1] for line in lines if line.split()[3] == "0A"]
    return {address.partition(":")[0] for address in listening if int(address.partition(":")[2], 16) == port}


def test_it_binds_to_loopback_unless_told_otherwise(tmp_path: Path) -> None:
    rate_study(tmp_path / "study")
    with Server(tmp_path / "study") as server:
        assert listening_on(server.port) == {"0100007F"}
    assert Address().host == "127.0.0.1"
    assert [is_loopback(host) for host in ("localhost", "::1", "0.0.0.0", "10.0.0.1")] == [True, True, False, False]


def test_another_name_for_this_machine_is_refused(client: TestClient) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    assert Address(public_url="https://study.example/x").hosts >= {"study.example", "localhost"}
    assert Address(host="0.0.0.0").hosts == frozenset()


# Links


def test_links_cannot_be_guessed_or_forged(client: TestClient) -> None:
    rater = Rater.join(client)
    name, _, proof = token_of(rater.link).partition(".")
    assert len(proof) == 40
    other = name[:-1] + ("1" if name[-1] == "0" else "0")  # another name whatever the last digit was
    for wrong in (name, f"{name}.", f"{name}.{'0' * 40}", f"{other}.{proof}", f"{name}.{proof[:-1]}x"):
        assert client.get(f"/r/{wrong}/state").status_code in (404, 429)


def test_guessing_is_slowed_down(client: TestClient) -> None:
    statuses = [client.get(f"/r/{number:012x}.{number:040x}/state").status_code for number in range(30)]
    assert statuses[0] == 404
    assert statuses[-1] == 429


def test_the_admin_token_is_needed_for_everything_behind_it(client: TestClient) -> None:
    for path in ("/admin/data", "/admin/export.zip"):
        assert client.get(path).status_code == 401
    assert client.get("/admin", follow_redirects=False).headers["location"] == "/admin/login"
    assert client.post("/admin/phase", data={"phase": "closed"}).status_code == 401
    wrong = [client.post("/admin/login", data={"token": f"{n:040x}"}).status_code for n in range(30)]
    assert wrong[0] == 403
    assert wrong[-1] == 429
    client.cookies.set("unisono_admin", admin_token(client))
    assert client.get("/admin/data").status_code == 401


def test_the_admin_cookie_cannot_be_read_or_sent_from_elsewhere(client: TestClient) -> None:
    answer = client.post("/admin/login", data={"token": admin_token(client)}, follow_redirects=False)
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert admin_token(client) not in cookie
    assert client.get("/admin/data").status_code == 200


# Rater A and rater B


def test_rater_a_never_reads_or_writes_what_is_rater_bs(client: TestClient) -> None:
    a, b = Rater.join(client, "tabaaaaa"), Rater.join(client, "tabbbbbb")
    b.rate(b.slots[0], 11, 22)
    before = b.look()
    stolen = a.event(
        "rating", slot=b.slots[1]["id"], values={"saturation": 1, "brightness": 1}, start={"x": 1}, shown_ms=1
    )
    # The tab and the numbers of B are no key either: the log is by rater first.
    a.tab = "tabbbbbb"
    receipt = a.send(stolen).json()
    assert receipt["acked"] == []
    assert receipt["rejected"][0]["why"] == "not your slot"
    assert b.look() == before
    assert {slot["id"] for slot in a.slots}.isdisjoint(slot["id"] for slot in b.slots)


def test_rater_a_never_sees_the_media_of_rater_b(tmp_path: Path) -> None:
    with TestClient(make_app(trace_study(tmp_path / "study")), base_url="http://127.0.0.1") as client:
        a, b = Rater.join(client), Rater.join(client)
        assert client.get(f"{a.link}/media/{a.slots[0]['id']}").status_code == 200
        assert client.get(f"{a.link}/media/{b.slots[0]['id']}").status_code == 404


# Cross-site


@pytest.mark.parametrize(
    "headers", [{"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}]
)
@pytest.mark.parametrize("path", POSTS)
def test_no_other_site_can_write(client: TestClient, path: str, headers: dict[str, str]) -> None:
    client.post("/admin/login", data={"token": admin_token(client)})
    answer = client.post(path, headers=headers, data={"phase": "closed"}, follow_redirects=False)
    assert answer.status_code == 403
    assert answer.json() == {"error": "cross-site request"}
    assert client.get("/admin/data").json()["phase"] == "open"


def test_a_form_of_another_site_cannot_send_ratings(client: TestClient) -> None:
    rater = Rater.join(client)
    answer = client.post(f"{rater.link}/events", content=b"{}", headers={"content-type": "text/plain"})
    assert answer.status_code == 415


def test_our_own_forms_are_let_in(client: TestClient) -> None:
    own = {"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}
    assert client.post("/", headers=own, follow_redirects=False).status_code == 303


# What may run


def test_every_answer_has_the_policy(client: TestClient) -> None:
    rater = Rater.join(client)
    paths = [
        "/",
        rater.link,
        f"{rater.link}/state",
        "/admin/login",
        "/static/base.css",
        "/nothing",
        "/r/x",
        "/admin/data",
    ]
    for path in paths:
        headers = client.get(path).headers
        assert headers["content-security-policy"] == policy("open")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
    rules = dict(rule.strip().split(" ", 1) for rule in policy("open").split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == "'self'"
    assert rules["frame-ancestors"] == "'none'"
    assert "unsafe" not in policy("mturk")
    assert "frame-ancestors https://www.mturk.com https://workersandbox.mturk.com" in policy("mturk")


def test_study_texts_stay_text(tmp_path: Path) -> None:
    folder = rate_study(tmp_path / "study")
    text = (tmp_path / "study" / "study.toml").read_text().replace('"Colours"', f'"{EVIL}"')
    text = text.replace('instructions = "Judge', f'welcome = "{EVIL}"\ncontact = "{EVIL}"\ninstructions = "{EVIL}')
    (tmp_path / "study" / "study.toml").write_text(text)
    from unisono.collect.studies import open_folder

    with TestClient(make_app(open_folder(folder.path)), base_url="http://127.0.0.1") as client:
        for path in ("/", "/admin/login", "/r/nobody"):
            page = client.get(path, headers={"accept": "text/html"}).text
            assert EVIL not in page
            assert "&lt;script&gt;" in page
        rater = Rater.join(client)
        answer = client.get(f"{rater.link}/state")
        assert answer.headers["content-type"] == "application/json"


def test_identifiers_from_the_link_stay_text(tmp_path: Path) -> None:
    extra = '\n[raters]\nsource = "mturk"\n'
    with TestClient(make_app(rate_study(tmp_path / "study", extra=extra)), base_url="http://127.0.0.1") as client:
        page = client.get("/", params={"workerId": '"><script>', "assignmentId": "a"}).text
        assert "<script>" not in page


# Files


@pytest.mark.parametrize(
    "path",
    [
        "/static/../../secret.key", "/static/%2e%2e/%2e%2e/study.toml", "/static/..%2f..%2fcollect.db",
        "/static//etc/passwd", "/media/../secret.key", "/secret.key", "/study.toml", "/collect.db",
    ],
)  # fmt: skip
def test_nothing_but_media_leaves_the_folder(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("slot", ["0", "-1", "999999", "1e3", "..%2fstudy.toml", "9" * 5000])
def test_media_are_named_by_slot_only(client: TestClient, slot: str) -> None:
    rater = Rater.join(client)
    assert client.get(f"{rater.link}/media/{slot}").status_code == 404
    assert client.get(f"{rater.link}/practice/{slot}").status_code == 404


# Limits


def test_bodies_are_limited_with_and_without_a_length(client: TestClient) -> None:
    rater = Rater.join(client)
    headers = {"content-type": "application/json"}
    large = b"x" * (600 * 1024)
    assert client.post(f"{rater.link}/events", content=large, headers=headers).status_code == 413
    chunks = (large[:100_000] for _ in range(7))
    assert client.post(f"{rater.link}/events", content=chunks, headers=headers).status_code == 413


def test_one_sender_cannot_take_all(tmp_path: Path) -> None:
    extra = "\n[limits]\nrequests_per_second = 2\njoins_per_minute = 12\n"
    with TestClient(make_app(rate_study(tmp_path / "study", extra=extra)), base_url="http://127.0.0.1") as client:
        rater, other = Rater.join(client), Rater.join(client)
        statuses = [client.get(f"{rater.link}/state").status_code for _ in range(40)]
        assert statuses[-1] == 429
        assert client.get(f"{other.link}/state").status_code == 200
        joins = [client.post("/", follow_redirects=False).status_code for _ in range(30)]
        assert joins[-1] == 429


def test_batches_and_rows_are_limited(client: TestClient) -> None:
    rater = Rater.join(client)
    notes = [rater.event("note", name="blur") for _ in range(201)]
    assert rater.send(*notes).status_code == 422
    assert rater.send(rater.event("comment", text="x" * 2001)).status_code == 422


# Logs


def test_no_secret_is_ever_logged(tmp_path: Path) -> None:
    rate_study(tmp_path / "study")
    with Server(tmp_path / "study") as server, httpx.Client(base_url=server.url) as client:
        rater = Rater.join(client)
        rater.rate_all()
        client.get(f"{rater.link}/nothing")
        client.get("/r/" + "0" * 12 + "." + "f" * 40)
        client.post("/admin/login", data={"token": server.admin_token()})
        client.post("/admin/login", data={"token": "wrong-but-close"})
        log = server.log.read_text()
        secrets = [token_of(rater.link), server.admin_token(), (tmp_path / "study" / "secret.key").read_text().strip()]
    log += server.log.read_text()
    assert "Colours" in log
    for secret in secrets:
        assert secret not in log
    assert masked(rater.link) == "/r/..."
    assert (tmp_path / "study" / "admin-link.txt").stat().st_mode & 0o777 == 0o600


def test_the_password_of_a_database_is_not_shown(tmp_path: Path) -> None:
    rate_study(tmp_path / "study")
    address = "postgresql://me:hunter2@127.0.0.1:1/none"
    words = [*COMMAND, "collect", "status", str(tmp_path / "study"), "--database", address]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == 3
    assert "hunter2" not in run.stderr
    assert "Traceback" not in run.stderr
    assert "cannot be opened" in run.stderr


def test_a_copy_of_the_database_opens_no_link(tmp_path: Path) -> None:
    folder = rate_study(tmp_path / "study")
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
    stored = b"".join(path.read_bytes() for path in (tmp_path / "study").glob("collect.db*"))
    assert token_of(rater.link).encode() not in stored
    assert Keys.of(tmp_path / "study").admin_token.encode() not in stored
