"""Who is paid: lists in the form of each platform, every rejection with its reason."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from collect_support import Rater, collect, make_app, rate_study

pytestmark = pytest.mark.slow

CHECK = '\n[[checks]]\nafter = 1\ntext = "Far right."\nexpected = { saturation = 100, brightness = 100 }\n'
REFERENCE = "\n[reference]\nevery = 3\nvalues = { saturation = 50, brightness = 70 }\n"
SOURCES = {
    "prolific": '\n[raters]\nsource = "prolific"\ncompletion_code = "CODE1"\n',
    "mturk": '\n[raters]\nsource = "mturk"\n',
    "open": "",
}


def given(source: str, name: str) -> dict[str, str]:
    if source == "prolific":
        return {"PROLIFIC_PID": name, "SESSION_ID": f"s-{name}"}
    return {"workerId": name, "assignmentId": f"s-{name}"} if source == "mturk" else {}


class Clock:
    """The server's clock, which passes as raters say."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


def rate(clock: Clock, rater: Rater, check: float, reference: tuple[float, float], ms: int) -> None:
    for slot in rater.slots:
        values = (check, check) if slot["media"] == "check" else reference
        event = rater.rating(slot, *values) | {"shown_ms": ms}
        clock.now += ms
        assert rater.send(event).json()["rejected"] == []
    rater.do("finish")


@pytest.fixture(params=SOURCES)
def study(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    """good, blind (fails the check), hasty, odd (a spammer, says the fit), and one who has not finished."""
    folder = rate_study(tmp_path / "s", extra=CHECK + REFERENCE + SOURCES[request.param])
    clock = Clock()
    monkeypatch.setattr("unisono.collect.app.api.now_ms", clock)
    ways = {
        "good": (100, (50, 70), 4000),
        "blind": (0, (50, 70), 4000),
        "hasty": (100, (50, 70), 300),
        "odd": (100, (5, 5), 4000),
    }
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        for number, (name, (check, reference, ms)) in enumerate(ways.items()):
            rate(clock, Rater.join(client, f"tab{number:05}", **given(request.param, name)), check, reference, ms)
        Rater.join(client, "tab99999", **given(request.param, "midway"))
    return request.param, folder.path


def lines(path: Path) -> list[list[str]]:
    with path.open(newline="") as stream:
        return list(csv.reader(stream))


def test_lists_are_as_the_platform_takes_them(study: tuple[str, Path], tmp_path: Path) -> None:
    source, folder = study
    (tmp_path / "annotators_overall.csv").write_text("annotator,spammer\nr0001,0.01\nr0004,0.97\n")
    words = (
        "--max-failed",
        "0",
        "--min-seconds",
        "2",
        "--annotators",
        tmp_path / "annotators_overall.csv",
        "--bonus",
        "0.5",
    )
    run = collect("pay", folder, *words, "--bonus-error", "10")
    assert run.returncode == 0, run.stderr
    assert "1 to approve, 3 to reject, 0 to look at first, 1 with a bonus" in run.stderr
    approve, reject, bonus = (lines(folder / "pay" / f"{name}.csv") for name in ("approve", "reject", "bonus"))
    reasons = [row[-1] for row in reject[1:]]
    for reason, said in zip(
        reasons, ("1 of 1 attention checks failed", "too fast: 0.3", "probability 0.97"), strict=True
    ):
        assert said in reason
    if source == "prolific":
        assert (approve, bonus) == ([["good"]], [["good", "0.50"]])
        assert [row[:2] for row in reject[1:]] == [[name, f"s-{name}"] for name in ("blind", "hasty", "odd")]
    if source == "mturk":
        assert approve == [["AssignmentId", "WorkerId", "Approve", "Reject"], ["s-good", "good", "x", ""]]
        assert bonus[1][:3] == ["good", "s-good", "0.50"]
    if source == "open":
        assert approve[1][0] == "r0001"
        assert len(approve[1][2]) == 8


def test_without_rules_everybody_who_finished_is_approved(study: tuple[str, Path]) -> None:
    _, folder = study
    assert "4 to approve, 0 to reject, 0 to look at first, 0 with a bonus" in collect("pay", folder).stderr


def test_codes_are_in_the_export_and_in_the_status(study: tuple[str, Path]) -> None:
    source, folder = study
    people = json.loads(collect("status", folder, "--json").stdout)["people"]
    codes = [person["completion_code"] for person in people]
    assert all(codes[:4])
    assert codes[4] == ""
    assert (set(codes[:4]) == {"CODE1"}) == (source == "prolific")
    assert collect("export", folder, "--out", folder / "out").returncode == 0
    with (folder / "out" / "raters.csv").open(newline="") as stream:
        assert [row["completion_code"] for row in csv.DictReader(stream)] == codes


def test_the_table_by_dimension_is_not_the_one_to_give(study: tuple[str, Path], tmp_path: Path) -> None:
    _, folder = study
    (tmp_path / "annotators.csv").write_text("annotator,dimension,gain\nr0001,joy,1\n")
    run = collect("pay", folder, "--annotators", tmp_path / "annotators.csv")
    assert run.returncode == 3
    assert "Give annotators_overall.csv" in run.stderr
