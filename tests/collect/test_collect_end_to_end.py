"""The whole way: people rate colours, the export is checked, fused and scored against the truth of the colours."""

from __future__ import annotations

import colorsys
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page

from collect_people import Keyboard, Mouse, Person
from collect_support import Rater, Server, rate_study, trace_study
from command_line import unisono_here

LIMITS = "\n[limits]\nrequests_per_second = 1000\njoins_per_minute = 6000\n"


def unisono(*words: str | Path) -> str:
    run = unisono_here(*words)
    assert run.returncode == 0, run.stderr
    return run.stdout


class Eye:
    """How one rater sees: a gain, an offset and noise per dimension."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.gain = {name: 0.8 + 0.3 * self.rng.random() for name in ("saturation", "brightness")}
        self.offset = {name: self.rng.uniform(-6, 6) for name in ("saturation", "brightness")}

    def judge(self, rgb: list[int]) -> dict[str, float]:
        _, saturation, value = colorsys.rgb_to_hsv(*(channel / 255 for channel in rgb))
        seen = {"saturation": 100 * saturation, "brightness": 100 * value}
        said = {n: 50 + self.gain[n] * (v - 50) + self.offset[n] + self.rng.gauss(0, 5) for n, v in seen.items()}
        return {name: float(round(min(100.0, max(0.0, value)))) for name, value in said.items()}


def rate_by_protocol(url: str, seed: int) -> None:
    eye = Eye(seed)
    with httpx.Client(base_url=url) as client:
        rater = Rater.join(client, f"tab{seed:05d}")
        for slot in rater.slots:
            assert rater.rate(slot, *eye.judge(slot["rgb"]).values())["rejected"] == []
        rater.do("finish")


def rate_in_browser(page: Page, url: str, kind: type[Person], count: int) -> None:
    page.goto(url)
    person = kind(page)
    person.begin()
    person.rate(count)
    person.finish()


def scores(truth: Path, reference: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(unisono("score", truth, reference, "--json"))
    return found


def pearson(found: dict[str, Any], name: str) -> float:
    value: float = next(row["pearson"] for row in found["dimensions"] if row["name"] == name)
    return value


def test_images_are_rated_checked_fused_and_scored(tmp_path: Path, open_page: Callable[..., Page]) -> None:
    reference = "\n[reference]\nevery = 10\nvalues = { saturation = 50, brightness = 70 }\n"
    rate_study(tmp_path / "study", per_regime=10, extra=reference + LIMITS)
    with Server(tmp_path / "study") as server:
        for seed in range(4):
            rate_by_protocol(server.url, seed)
        rate_in_browser(open_page(), server.url, Mouse, 22)
        rate_in_browser(open_page(), server.url, Keyboard, 22)
    out = tmp_path / "export"
    listed = unisono("collect", "export", tmp_path / "study", "--out", out).split()
    assert str(out / "ratings.csv") in listed
    unisono("check", out / "ratings.csv")
    unisono("fuse", out / "ratings.csv", "--features", out / "features.csv", "--out", tmp_path / "fused")
    found = scores(tmp_path / "fused" / "truth.csv", out / "truth.csv")
    assert pearson(found, "saturation") > 0.9
    assert pearson(found, "brightness") > 0.9
    # One regime by itself, as in the paper: the dimension that varies is the one to recover.
    for regime in ("saturation", "brightness"):
        unisono("fuse", out / regime / "ratings.csv", "--out", tmp_path / regime)
        assert pearson(scores(tmp_path / regime / "truth.csv", out / regime / "truth.csv"), regime) > 0.9


def trace_by_protocol(url: str, seed: int) -> None:
    eye, delay = Eye(seed), 5 + 3 * seed
    with httpx.Client(base_url=url) as client:
        rater = Rater.join(client, f"tab{seed:05d}")
        for slot in rater.slots:
            hexes = client.get(f"{rater.link}/{slot['url']}").json()["frames"]
            colours = [[int(hexes[at + n : at + n + 2], 16) for n in (0, 2, 4)] for at in range(0, len(hexes), 6)]
            said = [eye.judge(colours[max(0, n - delay)])[slot["dimensions"][0]] for n in range(len(colours))]
            rows = [[40.0 * n, 40.0 * n, 0, None if n < 5 else value] for n, value in enumerate(said)]
            rater.do("samples", slot=slot["id"], attempt="a", first=0, rows=rows)
            rater.do(
                "pass", slot=slot["id"], attempt="a", samples=len(rows), seconds=len(rows) / 25, start=slot["start"]
            )
        rater.do("finish")


@pytest.mark.slow
def test_videos_are_traced_checked_fused_and_scored(tmp_path: Path) -> None:
    trace_study(tmp_path / "study", count=4, seconds=20, extra=LIMITS)
    with Server(tmp_path / "study") as server:
        for seed in range(5):
            trace_by_protocol(server.url, seed)
    out = tmp_path / "export"
    unisono("collect", "export", tmp_path / "study", "--out", out)
    unisono("check", out / "ratings.csv")
    unisono("fuse", out / "ratings.csv", "--features", out / "features.csv", "--out", tmp_path / "fused")
    found = scores(tmp_path / "fused" / "truth.csv", out / "truth.csv")
    assert pearson(found, "saturation") > 0.7
    assert pearson(found, "brightness") > 0.7
