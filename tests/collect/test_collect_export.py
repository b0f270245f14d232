"""What comes out is what went in: the last answer of each, on the clock of the media, with everything in the log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from collect_exports import exported, table
from collect_support import Rater, make_app, rate_study, trace_study
from unisono.collect.export.answers import held
from unisono.collect.studies import StudyFolder

pytestmark = pytest.mark.slow

REFERENCE = "\n[reference]\nevery = 3\nvalues = { saturation = 50, brightness = 70 }\n"


@pytest.fixture
def rated(tmp_path: Path) -> tuple[StudyFolder, Path]:
    folder = rate_study(tmp_path / "study", extra=REFERENCE)
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        for shift in (0, 1):
            rater = Rater.join(client)
            for number, slot in enumerate(rater.slots):
                rater.rate(slot, 10 + number, 20 + shift)
            rater.rate(rater.slots[0], 99, 98)
            rater.do("comment", text="=HYPERLINK(1)")
            rater.do("finish")
    return folder, exported(folder, tmp_path / "out")


def test_ratings_hold_the_last_answer_of_each_item(rated: tuple[StudyFolder, Path]) -> None:
    folder, out = rated
    rows = table(out / "ratings.csv")
    assert len(rows) == 2 * 6
    assert {row["item"] for row in rows} == {item.name for item in folder.catalogue.items}
    assert next(row["saturation"] for row in rows if row["annotator"] == "r0001") == "99"
    assert sorted({row["annotator"] for row in rows}) == ["r0001", "r0002"]


def test_truth_and_features_are_those_of_the_colours_shown(rated: tuple[StudyFolder, Path]) -> None:
    folder, out = rated
    truth = {row["item"]: row for row in table(out / "truth.csv")}
    features = {row["item"]: row for row in table(out / "features.csv")}
    for item in folder.catalogue.items:
        assert float(truth[item.name]["saturation"]) == item.truth["saturation"]
        assert item.colour is not None
        rgb = [round(255 * float(features[item.name][channel])) for channel in ("red", "green", "blue")]
        assert tuple(rgb) == item.colour.rgb


def test_regimes_are_exported_by_themselves_with_the_dimension_that_varies(rated: tuple[StudyFolder, Path]) -> None:
    _, out = rated
    for regime in ("saturation", "brightness"):
        assert len(table(out / regime / "ratings.csv")) == 2 * 3
        assert list(table(out / regime / "truth.csv")[0]) == ["item", regime]
        assert len(table(out / regime / "features.csv")) == 3


def test_references_stay_out_of_the_ratings(rated: tuple[StudyFolder, Path]) -> None:
    _, out = rated
    assert not [row for row in table(out / "ratings.csv") if row["item"].startswith("reference")]
    rows = table(out / "references.csv")
    assert len(rows) == 2 * 2
    assert list(rows[0]) == ["item", "annotator", "repetition", "saturation", "brightness"]


def test_the_log_has_every_answer_in_order(rated: tuple[StudyFolder, Path]) -> None:
    _, out = rated
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == sorted(line["id"] for line in lines)
    mine = [line for line in lines if line["annotator"] == "r0001"]
    assert [line["seq"] for line in mine] == list(range(len(mine)))
    said = [line["data"]["values"]["saturation"] for line in mine if line["kind"] == "rating"]
    assert said == [*range(10, 18), 99]
    starts = [line["data"]["start"] for line in mine if line["kind"] == "rating"]
    assert all(set(start) == {"saturation", "brightness"} for start in starts)


def test_what_strangers_type_cannot_run_in_a_spreadsheet(rated: tuple[StudyFolder, Path]) -> None:
    _, out = rated
    rows = table(out / "raters.csv")
    assert [row["comment"] for row in rows] == ["'=HYPERLINK(1)"] * 2
    assert [row["state"] for row in rows] == ["finished"] * 2


def test_values_are_held_until_the_next_and_empty_until_touched() -> None:
    samples = [[0.0, 0, 0, None], [81.0, 0, 1, 5.0], [95.0, 0, 1, 6.0], [161.0, 0, 0, 6.0], [170.0, 0, 1, 9.0]]
    # Frames at 0, 40, 80, 120, 160, 200 ms; a tick a little after its frame still belongs to it.
    assert held(samples, 3, 25, 6) == [None, None, 6.0, 6.0, 9.0, 9.0]
    assert held([[0.0, 0, 0, 1.0]], 3, 25, 3) == [1.0, 1.0, 1.0]
    assert held([], 3, 25, 2) == [None, None]


def trace(rater: Rater, number: int, attempt: str, level: float, end: bool = True) -> None:
    slot = rater.slots[number]
    rows = [[40.0 * n + 3, 40.0 * n, 0, None if n < 5 else level + n // 2] for n in range(75)]
    rater.do("samples", slot=slot["id"], attempt=attempt, first=0, rows=rows[:50])
    if end:
        rater.do("samples", slot=slot["id"], attempt=attempt, first=50, rows=rows[50:])
        rater.do("pass", slot=slot["id"], attempt=attempt, samples=75, seconds=3, start=slot["start"])


def test_traces_come_out_on_the_clock_of_the_media(tmp_path: Path) -> None:
    folder = trace_study(tmp_path / "study")
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        trace(rater, 0, "broken", 80, end=False)
        trace(rater, 0, "whole", 30)
        trace(rater, 1, "whole", 60)
    out = exported(folder, tmp_path / "out")
    rows = table(out / "ratings.csv")
    assert list(rows[0]) == ["recording", "time", "annotator", "saturation", "brightness"]
    assert [float(row["time"]) for row in rows] == [n / 25 for n in range(5, 75)]
    assert [float(row["saturation"]) for row in rows] == pytest.approx([30 + n // 2 for n in range(5, 75)])
    assert [float(row["brightness"]) for row in rows] == pytest.approx([60 + n // 2 for n in range(5, 75)])
    truth, features = table(out / "truth.csv"), table(out / "features.csv")
    assert len(truth) == len(features) == 75
    walk = folder.catalogue.items[0].walk
    assert walk is not None
    assert [float(row["saturation"]) for row in truth] == walk.saturation
    assert round(255 * float(features[40]["green"])) == walk.frames[40][1]


def test_traces_of_hidden_references_are_measured_against_their_truth(tmp_path: Path) -> None:
    folder = trace_study(tmp_path / "study", count=2, extra='\n[reference]\nevery = 1\nitems = ["walk-02"]\n')
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        rater = Rater.join(client)
        walk = folder.catalogue.references[0].walk
        assert walk is not None
        for slot, truth in zip(rater.slots[2:], (walk.saturation, walk.brightness), strict=True):
            # The slider stands on whole numbers, the truth between them.
            said = [round(value - 5 if value > 50 else value + 5) for value in truth]
            rows = [[40.0 * n, 40.0 * n, 0, value] for n, value in enumerate(said)]
            rater.do("samples", slot=slot["id"], attempt="a", first=0, rows=rows)
            rater.do("pass", slot=slot["id"], attempt="a", samples=75, seconds=3, start=slot["start"])
    out = exported(folder, tmp_path / "out")
    assert float(table(out / "raters.csv")[0]["reference_error_percent"]) == pytest.approx(5, abs=0.2)
    assert table(out / "ratings.csv") == []
    assert len(table(out / "references.csv")) == 75


def test_a_pass_that_is_missing_leaves_its_dimension_empty(tmp_path: Path) -> None:
    folder = trace_study(tmp_path / "study")
    with TestClient(make_app(folder), base_url="http://127.0.0.1") as client:
        trace(Rater.join(client), 0, "whole", 30)
    rows = table(exported(folder, tmp_path / "out") / "ratings.csv")
    assert {row["brightness"] for row in rows} == {""}
    assert len(rows) == 70
