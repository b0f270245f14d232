"""Annotators who are set aside: the table is read as if their rows were not there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unisono as un
from command_line import unisono_here

ROWS = {
    "item": ["a", "a", "a", "b", "b", "b"],
    "rater": [1, 2, 3, 1, 2, 3],
    "mood": ["joy", "fear", "joy", "fear", "fear", "joy"],
    "v": [1.0, 2, 9, 4, 5, 0],
}
WIDE = {"item": ["a", "b"], "rater1": [1, 4], "rater2": [2, 5], "rater3": [9, 0]}


@pytest.mark.parametrize("frame", [pd.DataFrame(ROWS), pl.DataFrame(ROWS), pd.DataFrame(ROWS).astype({"rater": float})])
@pytest.mark.parametrize("without", ["3", ["3"], [3]])
def test_rows_of_an_annotator_who_is_set_aside_are_not_there(frame, without):
    found = un.read_ratings(frame, without=without)
    assert found.annotators == ("1", "2")
    np.testing.assert_array_equal(found.value[:, 0], [1, 2, 4, 5])
    assert "1 annotator set aside: '3'." in found.reading.notes


def test_categories_and_annotators_in_columns_alike():
    choices = un.read_categories(pd.DataFrame(ROWS), categories="mood", without="1")
    assert choices.annotators == ("2", "3")
    side_by_side = un.read_ratings(pd.DataFrame(WIDE), without="rater3")
    assert "3" not in " ".join(side_by_side.annotators)


def test_one_who_is_not_there_is_an_error_that_names_the_nearest():
    with pytest.raises(un.DataError, match=r"no annotator 'ratr3' to set aside\. Did you mean 'rater3'"):
        un.read_ratings(pd.DataFrame(WIDE), without="ratr3")


def test_names_that_hold_a_comma_are_one_name():
    frame = pd.DataFrame(ROWS | {"rater": ["x", "y", "Roe, Jo"] * 2})
    assert un.read_ratings(frame, without="Roe, Jo").annotators == ("x", "y")


def test_in_the_shell(tmp_path):
    pd.DataFrame(ROWS | {"rater": list("xyz") * 2}).drop(columns="mood").to_csv(tmp_path / "r.csv", index=False)
    done = unisono_here("fuse", "r.csv", "--read", "without=z", "--model", "mean", cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[1].split(",")[:2]) == (0, ["a", "1.5"])
    assert "1 annotator set aside: 'z'." in done.stderr
