"""trials.csv: one row per answered page, joined with the ratings by item and rater."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from collect_support import Rater, collect, make_app, rate_study, trace_study
from unisono.collect.export.doubts import browser_of, kind_of

PHONE = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 "
    "Mobile Safari/537.36"
)
CHECK = '\n[[checks]]\nafter = 2\ntext = "Far right."\nexpected = { saturation = 100 }\n'


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "out" / name).open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    now = [1_700_000_000_000]
    monkeypatch.setattr("unisono.collect.app.api.now_ms", lambda: now[0])
    return now


def say(rater: Rater, width: int) -> None:
    rater.do("device", screen=[390, 844], window=[width, 700], ratio=3, touch=True, agent=PHONE)


def test_a_row_per_page_that_joins_with_the_ratings(tmp_path: Path, clock: list[int]) -> None:
    folder = rate_study(tmp_path / "s", extra=CHECK)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        say(rater, 390)
        for number, slot in enumerate(rater.slots):
            if number == 3:
                say(rater, 844)
            clock[0] += 2500
            event = rater.rating(slot, 10 * number, 50)
            sources = {"saturation": "touch", "brightness": "key"}
            rater.send(event | {"shown_ms": 2000 + number, "sources": sources})
        # A correction counts, and how long the first answer took stays.
        clock[0] += 900
        rater.send(rater.rating(rater.slots[0], 77, 50) | {"shown_ms": 800})
        rater.do("finish")
    assert collect("export", tmp_path / "s", "--out", tmp_path / "s" / "out").returncode == 0
    trials, ratings = table(tmp_path / "s", "trials.csv"), table(tmp_path / "s", "ratings.csv")
    assert [row["position"] for row in trials] == [str(n) for n in range(1, 8)]
    assert [row["role"] for row in trials].count("check") == 1
    rated = {(row["item"], row["annotator"]): row for row in ratings}
    for row in trials:
        if row["role"] == "item":
            joined = rated.pop((row["item"], row["annotator"]))
            assert (row["saturation"], row["brightness"]) == (joined["saturation"], joined["brightness"])
    assert rated == {}
    first, second = trials[:2]
    assert (first["saturation"], first["times_answered"], first["response_seconds"]) == ("77", "2", "2")
    assert (second["response_seconds"], second["confirmed_seconds"]) == ("2.001", "2.001")
    assert (second["by_saturation"], second["by_brightness"]) == ("touch", "key")
    assert float(second["start_saturation"]) == rater.slots[1]["start"]["saturation"]
    assert [row["window"] for row in trials[1:5]] == ["390x700"] * 2 + ["844x700"] * 2
    person = table(tmp_path / "s", "raters.csv")[0]
    assert (person["browser"], person["device"]) == ("Chrome 126", "phone")


def test_traces_have_their_pauses_and_stalls(tmp_path: Path) -> None:
    folder = trace_study(tmp_path / "s")
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        for slot in rater.slots:
            ids: dict[str, Any] = {"slot": slot["id"], "attempt": "a"}
            for name in ("play", "pause", "play"):
                rater.do("note", name=name, slot=slot["id"])
            rater.do("note", name="stall", slot=slot["id"], lasted_ms=1500)
            rows = [[40.0 * n, 40.0 * n, 0, 50.0] for n in range(75)]
            rater.do("samples", first=0, rows=rows, **ids)
            assert rater.do("pass", samples=75, seconds=3, start={}, by="key", **ids)["rejected"] == []
    assert collect("export", tmp_path / "s", "--out", tmp_path / "s" / "out").returncode == 0
    trials = table(tmp_path / "s", "trials.csv")
    assert [row["pass"] for row in trials] == ["saturation", "brightness"]
    named = ("response_seconds", "plays", "pauses", "stalls", "stalled_seconds", "by")
    assert [trials[0][name] for name in named] == ["3", "2", "1", "1", "1.5", "key"]


@pytest.mark.parametrize(
    ("agent", "touch", "browser", "device"),
    [
        (PHONE, True, "Chrome 126", "phone"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", False, "Firefox 128", "computer"),
        (PHONE.replace("Mobile ", "") + " Edg/126.0", True, "Edge 126", "tablet"),
        ("Mozilla/5.0 (Macintosh) AppleWebKit/605 (KHTML) Version/17.4 Safari/605", True, "Safari 17", "tablet"),
        ("Mozilla/5.0 (Macintosh) AppleWebKit/605 (KHTML) Version/17.4 Safari/605", False, "Safari 17", "computer"),
        ("curl/8", False, "", "computer"),
    ],
)
def test_browsers_and_devices(agent: str, touch: bool, browser: str, device: str) -> None:
    assert (browser_of(agent), kind_of(agent, touch)) == (browser, device)
