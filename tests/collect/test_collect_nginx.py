"""Behind nginx, as Debian ships it: who comes is known by their own address, and an outage behind it loses nothing."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from collect_films import FILMS
from collect_media import write_wav
from collect_people import Mouse
from collect_support import Rater, Server, collect, free_port, rate_study
from nginx import Nginx

pytestmark = pytest.mark.slow

SIGN = "Waiting for the connection. It goes on by itself."
FEW = "\n[limits]\njoins_per_minute = 1\nrequests_per_second = 1000\n"


class Behind:
    """A study, its server, and nginx before it."""

    def __init__(self, place: Path, line: str = "") -> None:
        self.place = place
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.server = Server(place / "study", *self.options)
        self.nginx = Nginx(place / "nginx", self.server.port, self.port, line)

    @property
    def options(self) -> tuple[str, ...]:
        return ("--public-url", self.url, "--proxies", "127.0.0.1")

    def kill(self) -> None:
        self.server.process.kill()
        self.server.process.wait()

    def start(self) -> None:
        self.server = Server(self.place / "study", *self.options, port=self.server.port)

    def __enter__(self) -> Behind:
        return self

    def __exit__(self, *_: object) -> None:
        self.nginx.__exit__()
        self.server.stop()


@pytest.fixture
def behind(tmp_path: Path) -> Iterator[Behind]:
    rate_study(tmp_path / "study", extra=FEW)
    with Behind(tmp_path) as found:
        yield found


def coming_from(address: str, behind: Behind) -> httpx.Client:
    return httpx.Client(base_url=behind.url, transport=httpx.HTTPTransport(local_address=address))


def test_a_forged_address_is_not_believed(behind: Behind) -> None:
    with coming_from("127.0.0.2", behind) as client:
        forged = [client.post("/", headers={"X-Forwarded-For": f"6.6.6.{n}"}).status_code for n in range(12)]
    assert forged == [303] * 10 + [429] * 2
    # Others, who come by the same nginx, are not held to account.
    with coming_from("127.0.0.3", behind) as client:
        assert client.post("/").status_code == 303


def test_a_port_that_nginx_leaves_out_locks_nobody_out(behind: Behind) -> None:
    with httpx.Client(base_url=behind.url) as client:
        own = {"origin": behind.url, "sec-fetch-site": "same-origin"}
        assert client.post("/", headers=own).status_code == 303
        for other in ("http://evil.example", f"{behind.url}0", "null"):
            assert client.post("/", headers={"origin": other}).json() == {"error": "cross-site request"}


def test_what_is_sent_while_the_server_is_killed_is_there_once(behind: Behind) -> None:
    with httpx.Client(base_url=behind.url) as client:
        rater = Rater.join(client)
        behind.kill()
        first = rater.rating(rater.slots[0])
        # The page takes this for an outage, and sends it again.
        assert rater.send(first).status_code == 502
        behind.start()
        for _ in range(2):
            assert rater.send(first).json()["acked"] == [first["seq"]]
        for slot in rater.slots[1:]:
            rater.rate(slot)
        assert rater.do("finish")["state"] == "finished"
    assert collect("export", behind.place / "study", "--out", behind.place / "out").returncode == 0
    with (behind.place / "out" / "ratings.csv").open(newline="") as stream:
        assert len(list(csv.DictReader(stream))) == 6
    log = [json.loads(line) for line in (behind.place / "out" / "log.jsonl").read_text().splitlines()]
    assert len([line for line in log if line["kind"] == "rating"]) == 6


def test_a_sound_is_heard_in_pieces_and_an_outage_is_waited_for(tmp_path: Path, open_page: Callable[..., Page]) -> None:
    study = tmp_path / "study"
    (study / "media").mkdir(parents=True)
    write_wav(study / "media" / "a.wav", 3.0)
    (study / "study.toml").write_text(FILMS.format(mode="rate", media="audio"))
    with Behind(tmp_path) as behind:
        page = open_page()
        page.goto(behind.url)
        person = Mouse(page)
        for name in ("Begin", "Begin", "Continue"):
            person.press(name)
        page.locator("audio").evaluate("one => one.play()")
        page.locator(".panel:not([inert])").wait_for()
        for slider in page.get_by_role("slider").all():
            person.move(slider, 30)
        expect(page.get_by_text("Enter ↵ for the next one")).to_be_visible()
        # Pieces of the file come through, as players ask for them.
        media = page.locator("audio").get_attribute("src")
        piece = page.request.get(f"{behind.url}{media}", headers={"range": "bytes=10-19"})
        assert (piece.status, len(piece.body())) == (206, 10)
        behind.kill()
        person.submit()
        expect(page.locator("#saved")).to_contain_text("Not saved yet")
        behind.start()
        expect(page.locator("#saved")).to_have_text("All saved", timeout=30_000)


SLOW = "limit_rate 50k;"  # of sound that takes 88 kB a second


@pytest.fixture
def slow(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Behind]:
    study = tmp_path / "study"
    (study / "media").mkdir(parents=True)
    write_wav(study / "media" / "a.wav", 8.0, rate=44_100)
    (study / "study.toml").write_text(FILMS.format(mode=request.param, media="audio"))
    with Behind(tmp_path, SLOW) as found:
        yield found


def come(page: Page, behind: Behind) -> Mouse:
    page.goto(behind.url)
    person = Mouse(page)
    for name in ("Begin", "Begin", "Continue"):
        person.press(name)
    return person


def stalls(behind: Behind) -> tuple[int, float]:
    out = behind.place / "out"
    assert collect("export", behind.place / "study", "--out", out).returncode == 0
    with (out / "trials.csv").open(newline="") as stream:
        row = next(csv.DictReader(stream))
    return int(row["stalls"]), float(row["stalled_seconds"])


@pytest.mark.parametrize("slow", ["rate"], indirect=True)
def test_on_a_slow_line_a_stall_is_covered_and_counted_and_goes_on(
    slow: Behind, open_page: Callable[..., Page]
) -> None:
    """Who presses play before enough is there."""
    page = open_page()
    person = come(page, slow)
    page.locator("audio").evaluate("one => one.play()")
    expect(page.get_by_text(SIGN)).to_be_visible(timeout=30_000)
    expect(page.get_by_text(SIGN)).to_be_hidden(timeout=30_000)
    page.locator(".panel:not([inert])").wait_for(timeout=60_000)
    for slider in page.get_by_role("slider").all():
        person.move(slider, 30)
    expect(page.get_by_text("Enter ↵ for the next one")).to_be_visible(timeout=60_000)
    person.submit()
    expect(page.locator("#saved")).to_have_text("All saved")
    times, seconds = stalls(slow)
    assert times >= 1
    assert seconds > 1


@pytest.mark.parametrize("slow", ["trace"], indirect=True)
def test_on_a_slow_line_a_trace_begins_when_enough_is_there(slow: Behind, open_page: Callable[..., Page]) -> None:
    """Then nothing stands still."""
    page = open_page()
    person = come(page, slow)
    start = page.get_by_role("button", name="Start")
    start.wait_for(timeout=60_000)
    assert page.locator("audio").evaluate("one => one.buffered.end(0)") > 2.5
    person.press("Start")
    page.locator(".cover").wait_for(state="hidden")
    page.mouse.move(600, 700)
    page.mouse.move(640, 705)
    start.wait_for(timeout=60_000)  # the second dimension
    expect(page.locator("#saved")).to_have_text("All saved")
    assert stalls(slow) == (0, 0)
