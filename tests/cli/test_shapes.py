"""The options of shape, cells and files hold for every command that reads tables."""

from __future__ import annotations

import json

import numpy as np
import pytest

from command_line import unisono_here

ITEMS, RATERS = 12, 4
rng = np.random.default_rng(3)
TRUE = rng.integers(1, 6, ITEMS)
GIVEN = np.clip(TRUE[:, None] + rng.integers(-1, 2, (ITEMS, RATERS)), 1, 5)
WORDS = ["awful", "poor", "so-so", "nice", "superb"]
LABELS = ", ".join(f"{word}={number}" for number, word in enumerate(WORDS, 1))


@pytest.fixture
def folder(tmp_path):
    """One study as a plain table, as words with people side by side and a row copied, and its reference."""
    names = ["anna", "ben", "carl", "dora"]
    tidy = [f"s{m % 3},{m // 3},{names[k]},{GIVEN[m, k]}" for m in range(ITEMS) for k in range(RATERS)]
    wide = [f"s{m % 3},{m // 3}," + ",".join(WORDS[v - 1] for v in GIVEN[m]) for m in range(ITEMS)]
    (tmp_path / "tidy.csv").write_text("\n".join(["system,prompt,annotator,quality", *tidy]))
    (tmp_path / "wide.csv").write_text("\n".join([f"system,prompt,{','.join(names)}", *wide, wide[0]]))
    known = [f"s{m % 3},{m // 3},{WORDS[TRUE[m] - 1]}" for m in range(ITEMS)]
    (tmp_path / "reference.csv").write_text("\n".join(["system,prompt,quality", *known]))
    return tmp_path


PLAIN = ("--item", "system,prompt")
SPREAD = (*PLAIN, "--annotators-in-columns", "anna,ben,carl,dora", "--dim", "quality", "--labels", LABELS)
COMMANDS = {
    "check": ("--json",),
    "fuse": ("--model", "mean"),
    "agreement": ("--bootstrap", "0", "--json"),
    "compare": ("--models", "mean,median", "--folds", "2", "--json"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_result_from_both_shapes(folder, command):
    one, other = (
        unisono_here(command, name, *say, *COMMANDS[command], cwd=folder)
        for name, say in (("tidy.csv", PLAIN), ("wide.csv", SPREAD))
    )
    assert (one.returncode, other.returncode) == (0, 0), other.stderr
    if command == "fuse":
        assert one.stdout == other.stdout
        assert one.stdout.startswith("item,system,prompt,quality,")
        return
    first, second = (_without_source(json.loads(done.stdout)) for done in (one, other))
    assert first == second


def _without_source(found):
    """Results without what tells the files, or the seconds it took."""
    if isinstance(found, dict):
        unlike = ("source", "reading", "seconds", "apa", "hed", "fragment")
        return {key: _without_source(value) for key, value in found.items() if key not in unlike}
    return [_without_source(value) for value in found] if isinstance(found, list) else found


def test_what_was_dropped_is_said_by_every_command(folder):
    for command, say in COMMANDS.items():
        done = unisono_here(command, "wide.csv", *SPREAD, *(word for word in say if word != "--json"), cwd=folder)
        assert "4 rows that repeat another one dropped." in done.stdout + done.stderr, command


def test_score_and_gold_know_the_options(folder):
    unisono_here("fuse", "tidy.csv", *PLAIN, "--model", "mean", "--out", "out", cwd=folder)
    scored = unisono_here("score", "out/truth.csv", "reference.csv", *PLAIN, "--labels", LABELS, "--json", cwd=folder)
    (row,) = json.loads(scored.stdout)["dimensions"]
    assert row["n"] == ITEMS
    assert row["rmse"] == pytest.approx(np.sqrt(np.mean((GIVEN.mean(axis=1) - TRUE) ** 2)))
    gold = unisono_here("fuse", "wide.csv", *SPREAD, "--gold", "reference.csv", cwd=folder)
    assert gold.returncode in (0, 4)
    compared = unisono_here(
        "compare", "wide.csv", "--reference", "reference.csv", *SPREAD, *COMMANDS["compare"], cwd=folder
    )
    assert compared.returncode == 0, compared.stderr


@pytest.mark.parametrize(
    ("say", "message"),
    [
        (("--labels", "good"), "labels: 'good' is not of the form WORD=NUMBER"),
        (("--duplicates", "best"), "'best' is not one of 'error', 'first', 'last', 'mean'"),
        (("--annotators-in-columns", "a", "--items-in-columns", "b"), "Either annotators or items are in columns"),
    ],
)
def test_options_that_make_no_sense_are_usage_errors(folder, say, message):
    done = unisono_here("check", "tidy.csv", *say, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
