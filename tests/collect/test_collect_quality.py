"""Figures about the ratings so far: made in another process, and whatever happens to that one harms nobody."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from collect_crowd import FAST, let_rate, let_trace
from collect_support import collect, make_app, rate_study, trace_study
from unisono.collect.app.quality import NICE, LiveQuality, Pace
from unisono.collect.studies import StudyFolder

GOOD = 'print(\'{"too_early": "", "raters": 3}\')'


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    # In a thread of its own: the browser of other tests has an event loop in this one.
    with ThreadPoolExecutor() as pool:
        pool.submit(lambda: asyncio.run(work())).result()


def live(code: str, turn: asyncio.Lock | None = None, **pace: Any) -> LiveQuality:
    return LiveQuality([sys.executable, "-c", code], {"UNISONO_DATABASE": "here"}, turn, Pace(**pace))


async def outcome(quality: LiveQuality, version: object = 1, now: bool = False) -> dict[str, Any]:
    """Asks, and waits until nothing is under way."""
    quality.look(version, now)
    while quality.is_running:
        await asyncio.sleep(0.01)
    return {**quality.look(version), "running": quality.is_running}


def test_figures_come_from_a_process_that_stands_back() -> None:
    told = "{'too_early': '', 'nice': os.nice(0), 'at': os.environ['UNISONO_DATABASE']}"
    code = f"import os, json; print(json.dumps({told}))"

    async def work() -> None:
        # The process is told to stand back when it has already begun.
        found = await outcome(live(f"import time; time.sleep(0.2); {code}"))
        assert found["figures"] == {"too_early": "", "nice": NICE, "at": "here"}
        assert not found["error"]
        assert not found["is_stale"]
        assert abs(found["made_at"] / 1000 - time.time()) < 60

    run(work)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; print('study.toml: wrong', file=sys.stderr); sys.exit(3)", "study.toml: wrong"),
        ("import sys; sys.exit(4)", "ended with code 4"),
        ("import os; os.kill(os.getpid(), 9)", "signal 9"),
        ("print('no json')", "cannot be read"),
        ("print('[1]')", "cannot be read"),
        ("print('{}')", "holds no figures"),
        ("print(' ' * 3000)", "3001 bytes"),
        ("", "cannot be read"),
    ],
)
def test_whatever_goes_wrong_is_said_and_the_last_figures_stay(tmp_path: Path, code: str, said: str) -> None:
    script = tmp_path / "script.py"
    script.write_text(GOOD)
    quality = LiveQuality([sys.executable, str(script)], pace=Pace(every=0, rest=0, most=2000))

    async def work() -> None:
        first = await outcome(quality)
        script.write_text(code)
        found = await outcome(quality, version=2)
        assert said in found["error"]
        assert found["is_stale"]
        assert (found["figures"], found["made_at"]) == (first["figures"], first["made_at"])
        script.write_text(GOOD)
        # What failed is tried again, though no rating has come in since.
        assert (await outcome(quality, version=2))["error"] == ""

    run(work)


def test_a_program_that_is_not_there_is_said(tmp_path: Path) -> None:
    async def work() -> None:
        found = await outcome(LiveQuality([str(tmp_path / "nowhere")]))
        assert "No such file" in found["error"]

    run(work)


def is_alive(mark: Path) -> bool:
    before = mark.read_text()
    time.sleep(0.15)
    return mark.read_text() != before


ENDLESS = """
import subprocess, sys
writer = "import time\\nwhile True:\\n    open({mark!r}, 'w').write(str(time.time())); time.sleep(0.02)"
subprocess.run([sys.executable, "-c", writer])
"""


@pytest.mark.parametrize("how", ["patience", "closed"])
def test_a_process_without_end_is_ended_with_all_it_started(tmp_path: Path, how: str) -> None:
    mark = tmp_path / "mark"
    quality = live(ENDLESS.format(mark=str(mark)), patience=1.5 if how == "patience" else 60)

    async def work() -> None:
        quality.look(1)
        while not mark.exists():
            assert quality.is_running
            await asyncio.sleep(0.01)
        if how == "closed":
            await quality.close()
        else:
            assert "after 1.5 seconds" in (await outcome(quality))["error"]

    run(work)
    assert not is_alive(mark)


def test_studies_of_a_server_take_turns(tmp_path: Path) -> None:
    log = tmp_path / "log"
    steps = "log.write('<'); log.flush(); time.sleep(0.2); log.write('>')"
    code = f"import time\nlog = open({str(log)!r}, 'a')\n{steps}\n{GOOD}"

    async def work() -> None:
        turn = asyncio.Lock()
        await asyncio.gather(*(outcome(live(code, turn)) for _ in range(3)))

    run(work)
    assert log.read_text() == "<><><>"


def test_figures_are_made_when_they_are_due(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = f"open({str(log)!r}, 'a').write('x')\n{GOOD}"
    patient, eager = live(code, every=60), live(code, every=0, rest=0)

    async def work() -> None:
        for version in (1, 1, 2):
            found = await outcome(patient, version)
        assert log.read_text() == "x"
        assert found["is_stale"]
        # Asked for, they are made at once.
        assert not (await outcome(patient, 2, now=True))["is_stale"]
        assert log.read_text() == "xx"
        for version in (1, 1, 2):
            await outcome(eager, version)
        assert log.read_text() == "xxxx"

    run(work)


@pytest.fixture
def crowd(tmp_path: Path) -> StudyFolder:
    folder = rate_study(tmp_path / "study", per_regime=8, extra=FAST)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        let_rate(client, folder, ["honest"] * 7 + ["reversed", "random"])
    return folder


def test_the_command_says_what_was_planted(crowd: StudyFolder) -> None:
    before = (crowd.path / "collect.db").read_bytes()
    shown = collect("quality", crowd.path)
    assert shown.returncode == 0, shown.stderr
    assert "144 judgements, 16 items, 9 raters" in shown.stdout
    found = json.loads(collect("quality", crowd.path, "--json").stdout)
    kinds = {(row["annotator"], row["kind"]) for row in found["unusual"]}
    assert {("r0008", "flipped"), ("r0009", "spammer")} <= kinds
    assert {name for name, _ in kinds} == {"r0008", "r0009"}
    for row in found["truth"]:
        item = crowd.catalogue.find(row["item"])
        assert item is not None
        for name, (value, _, _) in zip(crowd.study.names, row["values"], strict=True):
            assert value == pytest.approx(item.truth[name], abs=15)
    # To look is not to write.
    assert (crowd.path / "collect.db").read_bytes() == before


@pytest.mark.slow
def test_the_page_gets_figures_and_an_excluded_rater_is_out_of_them(crowd: StudyFolder) -> None:
    with TestClient(make_app(crowd), base_url="http://127.0.0.1") as client:
        assert client.get("/admin/quality").status_code == 401
        assert client.post("/admin/quality").status_code == 401
        site = client.app.state.site  # type: ignore[attr-defined]
        client.post("/admin/login", data={"token": site.keys.admin_token})
        found = settled(client)
        assert {row["annotator"] for row in found["figures"]["unusual"]} == {"r0008", "r0009"}
        # Only labels: nothing of who raters are elsewhere.
        assert "completion_code" not in json.dumps(found)
        again = client.get(f"/admin/quality?have={found['made_at']}").json()
        assert "figures" not in again
        client.post("/admin/exclude", data={"rater": "r0008", "excluded": "yes"})
        assert client.get("/admin/quality").json()["is_stale"]
        client.post("/admin/quality")
        assert {row["annotator"] for row in settled(client)["figures"]["unusual"]} == {"r0009"}
        # A study file that is wrong at this moment: said, while raters and figures go on.
        (crowd.path / "study.toml").write_text("title = 3")
        client.post("/admin/quality")
        found = settled(client)
        assert "study.toml" in found["error"]
        assert found["figures"]["raters"] == 8


def settled(client: TestClient) -> dict[str, Any]:
    """What the page is told when nothing is under way any more."""
    deadline = time.monotonic() + 120
    while (found := client.get("/admin/quality").json())["running"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    told: dict[str, Any] = found
    return told


def test_a_study_that_just_began_is_too_early(tmp_path: Path) -> None:
    folder = rate_study(tmp_path / "study", extra=FAST)
    for raters in (0, 1, 2):
        if raters:
            with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
                let_rate(client, folder, ["honest"])
        found = json.loads(collect("quality", folder.path, "--json").stdout)
        assert found["too_early"].startswith("Too early")
        assert (found["raters"], found["judgements"], found["truth"]) == (raters, 6 * raters, [])
    assert "Too early" in collect("quality", folder.path).stdout


CHOICES = """
[[dimensions]]
name = "mood"
question = "Which mood?"
kind = "choice"
choices = ["calm", "lively"]
"""


def test_choices_beside_numbers_are_left_to_fuse(tmp_path: Path) -> None:
    folder = rate_study(tmp_path / "study", per_regime=3, extra=CHOICES)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        let_rate(client, folder, ["honest"] * 3)
    found = json.loads(collect("quality", folder.path, "--json").stdout)
    assert [row["name"] for row in found["dimensions"]] == ["saturation", "brightness"]
    text = (folder.path / "study.toml").read_text()
    start, end = text.index("[[dimensions]]"), text.index("[items]")
    other = rate_study(tmp_path / "words", per_regime=3)
    (other.path / "study.toml").write_text((text[:start] + text[end:]).replace('"colours"', '"table"'))
    (other.path / "texts.csv").write_text("item,text\na,Good morning\n")
    assert "asks for no numbers" in collect("quality", other.path).stdout


def test_traces_have_quality_too(tmp_path: Path) -> None:
    folder = trace_study(tmp_path / "study", count=3, seconds=6, extra=FAST)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        let_trace(client, folder, ["honest"] * 5 + ["reversed"])
    found = json.loads(collect("quality", folder.path, "--json").stdout)
    assert (found["kind"], found["raters"], found["items"]) == ("series", 6, 3)
    assert {row["annotator"] for row in found["unusual"] if row["kind"] == "flipped"} == {"r0006"}
    walk = {item.name: item.walk for item in folder.catalogue.items}[found["truth"][0]["item"]]
    assert walk is not None
    misses = [
        abs(value - walk.saturation[min(round(at * walk.rate), len(walk.saturation) - 1)])
        for at, (value, _, _) in zip(found["truth"][0]["seconds"], found["truth"][0]["series"][0], strict=True)
    ]
    assert sum(misses) / len(misses) < 12
    assert "18 judgements, 3 recordings, 6 raters" in collect("quality", folder.path).stdout
