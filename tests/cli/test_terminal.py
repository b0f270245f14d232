"""Every table fits a terminal of 80 columns, and no name is cut."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from command_line import unisono_here
from terminal import lines_on_screen
from unisono.cli.terminal import cells, table_lines, wrapped

DIMENSIONS = [
    *("valence", "arousal", "dominance", "trustworthiness", "attractiveness", "competence", "warmth", "intelligence"),
    *("friendliness", "comprehensibility", "naturalness", "ευχαρίστηση"),
]
NAMES = ["Ελισάβετ-Παπαδοπούλου", "annotatör_with_a_long_name_2", "田中さくら花子", "r4", "Ælfgifu_of_Northampton"]
LONG = "a-name-that-does-not-fit-into-any-terminal-because-somebody-pasted-an-address@example.org"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ratings, a reference and a fit."""
    rng = np.random.default_rng(0)
    place = tmp_path_factory.mktemp("terminal")
    truth = rng.normal(size=(25, 12))
    items = [f"stimulus_{m:03d}_the_evening_news_in_full.mp4" for m in range(25)]
    answers = np.clip(np.round(4 + 1.5 * truth[:, None] + rng.normal(size=(25, 6, 12))), 1, 7).astype(int)
    rows = [(items[m], who, *answers[m, k]) for m in range(25) for k, who in enumerate([*NAMES, LONG])]
    write(place / "ratings.csv", [("item", "annotator", *DIMENSIONS), *rows])
    reference = [(item, *row) for item, row in zip(items, truth.round(3), strict=True)]
    write(place / "reference.csv", [("item", *DIMENSIONS), *reference])
    done = unisono_here("fuse", place / "ratings.csv", "--model", "mean", "--out", place / "out")
    assert done.returncode == 0, done.stderr
    return place


def write(path, rows):
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")


COMMANDS = {
    "check": ["check", "ratings.csv"],
    "fuse": ["fuse", "ratings.csv", "--model", "mean", "--out", "again"],
    "plan": ["plan", "out", "--most", 3],
    "next": ["next", "out", "--count", 6],
    "score": ["score", "out/truth.csv", "reference.csv"],
    "agreement": ["agreement", "ratings.csv", "--bootstrap", 20],
    "compare": ["compare", "ratings.csv", "--models", "mean,median", "--folds", 2, "--reference", "reference.csv"],
    "cross-validate": [
        "cross-validate",
        "ratings.csv",
        "--reference",
        "reference.csv",
        "--models",
        "mean,median",
        "--folds",
        3,
    ],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_everything_fits_into_eighty_columns(folder, command, monkeypatch):
    monkeypatch.chdir(folder)
    lines = lines_on_screen(*COMMANDS[command])
    assert not [line for line in lines if "Error" in line or "Traceback" in line]
    assert not [line for line in lines if cells(line) > 80 and line.strip(" ',.-") != LONG]
    shown = "\n".join(lines)
    assert "…" not in shown
    if command in ("check", "plan", "score"):
        assert all(dimension in shown for dimension in DIMENSIONS)
    if command == "next":
        assert all(name in shown for name in [*NAMES, LONG])


def test_columns_that_do_not_fit_go_into_another_table():
    columns = ["name", *(f"column {i}" for i in range(9))]
    rows = [["first", *"123456789"], ["second", *"abcdefghi"]]
    lines = table_lines(columns, rows, 40)
    assert max(map(len, lines)) <= 40
    assert sum(line.startswith("name") for line in lines) == 3
    assert [line.split()[-1] for line in lines if line.startswith("second")] == ["c", "f", "i"]
    assert len(table_lines(columns, rows)) == 4  # in a pipe nothing is split


def test_a_name_that_takes_half_the_width_stands_by_itself():
    lines = table_lines(["who", "x"], [["b" * 50, "1"], ["a", "2"]], 60)
    assert lines[2:] == ["b" * 50, "     1", "a    2"]


def test_wide_characters_count_twice_and_combining_ones_not_at_all():
    assert cells("田中") == 4
    assert cells("e\u0301") == 1
    assert table_lines(["n", "x"], [["田中", "1"], ["ab", "2"]])[2:] == ["田中  1", "ab    2"]


def test_text_is_broken_at_blanks_below_its_indent():
    assert wrapped("  - one two three", 11) == "  - one two\n    three"
    assert wrapped("one two three", None) == "one two three"
    assert wrapped("x " + "y" * 20, 10) == "x\n" + "y" * 20


def test_one_of_a_thing_is_not_called_several(tmp_path):
    table = "item,annotator,v\n" + "".join(
        f"i{m},{k},{(m * n) % 5}\n" for m in range(6) for k, n in (("a", 2), ("b", 3))
    )
    assert (
        "6 items, 2 annotators, 1 dimension, 12 judgements" in unisono_here("check", "-", stdin=table.encode()).stdout
    )
    frames = "recording,annotator,time,v\n" + "".join(
        f"r,{k},{t},{np.sin(t / 3 + n):.3f}\n" for k, n in (("a", 0), ("b", 0.3)) for t in range(40)
    )
    shown = unisono_here("check", "-", stdin=frames.encode()).stdout
    assert "1 recording, 2 annotators" in shown
    assert "brought to 1 frame per second" in shown


def test_every_command_prints_through_one_printer():
    root = Path(__file__).parents[2]
    for path in (root / "src" / "unisono" / "cli").glob("*.py"):
        assert "rich.table" not in path.read_text(), path.name
