"""What a study will ask of its raters, said before anybody has come."""

from __future__ import annotations

import json
from pathlib import Path

from collect_support import collect, rate_study, trace_study

REFERENCE = "\n[reference]\nevery = 3\nvalues = { saturation = 50, brightness = 70 }\n"
DESIGN = "\n[design]\nratings_per_item = 5\nitems_per_rater = 3\n"


def test_pages_minutes_raters_and_cost(tmp_path: Path) -> None:
    rate_study(tmp_path / "s", extra=REFERENCE + DESIGN)
    words = ("check", tmp_path / "s", "--seconds-per-answer", "5", "--pay-per-hour", "12", "--json")
    found = json.loads(collect(*words).stdout)
    # Three items and a reference, two answers of five seconds each, and a minute and a half around them.
    assert (found["items"], found["references"], found["pages_per_rater"]) == (6, 2, 4)
    assert found["minutes_per_rater"] == round((90 + 4 * 10) / 60, 1)
    assert found["raters"] == 10
    assert found["cost"] == round(10 * 130 / 3600 * 12, 2)
    shown = collect(*words[:-1]).stdout
    assert "6 items" in shown
    assert "10 raters" in shown
    assert not (tmp_path / "s" / "collect.db").exists()


def test_traces_take_as_long_as_they_play(tmp_path: Path) -> None:
    trace_study(tmp_path / "s", count=4, seconds=60)
    found = json.loads(collect("check", tmp_path / "s", "--seconds-per-answer", "0", "--json").stdout)
    assert found["minutes_per_rater"] == round((90 + 4 * 2 * 60) / 60, 1)
    assert (found["raters"], found["cost"]) == (None, None)


def test_files_that_are_no_items_are_listed_and_mistakes_are_said(tmp_path: Path) -> None:
    folder = rate_study(tmp_path / "s").path
    text = (folder / "study.toml").read_text().replace('source = "colours"', 'source = "files"')
    (folder / "study.toml").write_text(text)
    (folder / "media").mkdir()
    for name in ("a.jpg", "notes.docx", "b.jpg.part"):
        (folder / "media" / name).write_bytes(b"x")
    run = collect("check", folder)
    assert run.returncode == 0
    assert "b.jpg.part, notes.docx" in run.stdout
    (folder / "media" / "c.heic").write_bytes(b"x")
    assert collect("check", folder).returncode == 3
