"""Copies at the command line: named with a probability, counted once, kept when asked."""

import csv
import io
import json

import numpy as np
import pytest

from command_line import unisono_here
from copied_crowds import with_copy


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    planted = with_copy(np.random.default_rng(3), items=60, annotators=4, levels=7, dims=2)
    text = io.StringIO()
    rows = zip(planted.item_of, planted.annotator_of, planted.value, strict=True)
    csv.writer(text).writerows([("item", "annotator", "v", "a"), *((f"i{i}", f"w{k}", *y) for i, k, y in rows)])
    path = tmp_path_factory.mktemp("copies") / "ratings.csv"
    path.write_text(text.getvalue())
    return path, f"w{planted.original}", f"w{planted.copy}"


def test_check_names_copies_with_a_probability(table):
    path, original, copy = table
    done = unisono_here("check", path)
    assert (
        f"Annotators '{original}' and '{copy}' look like duplicates of one annotator (probability 0.999)."
        in done.stdout
    )
    found = json.loads(unisono_here("check", path, "--json").stdout)
    assert found["copies"][0]["annotators"] == [original, copy]
    assert found["copies"][0]["equal"] > 0.8 > found["copies"][0]["by_chance"]
    assert unisono_here("check", path, "--strict").returncode == 1


def test_fuse_counts_them_once_and_says_so(table, tmp_path):
    path, original, copy = table
    done = unisono_here("fuse", path, "--out", tmp_path / "merged")
    assert "They are merged and weighted as one annotator; --copies keep" in done.stdout
    assert "duplicates of one annotator" in done.stderr
    kept = unisono_here("fuse", path, "--copies", "keep", "--out", tmp_path / "kept")
    assert "They are kept apart, as was asked for." in kept.stdout
    truths = [(tmp_path / name / "truth.csv").read_text() for name in ("merged", "kept")]
    assert truths[0] != truths[1]
    rows = (tmp_path / "merged" / "annotators.csv").read_text()
    assert copy in rows
    ranked = unisono_here("next", tmp_path / "merged").stdout
    asked = [line.split()[0] for line in ranked.split("information")[1].splitlines() if line.startswith("w")]
    assert original in asked
    assert copy not in asked


def test_compare_counts_them_once(table):
    path, _, _ = table
    few = ("--models", "mean,median", "--folds", 2, "--json")
    merged, kept = (
        json.loads(unisono_here("compare", path, *few, "--copies", how).stdout) for how in ("merge", "keep")
    )
    assert merged["annotators"] == kept["annotators"] - 1


def test_a_wrong_word_is_a_usage_error(table):
    assert unisono_here("fuse", table[0], "--copies", "drop").returncode == 2
