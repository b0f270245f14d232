"""A column that says what annotators are is read past; one of that name that holds numbers is a dimension."""

from __future__ import annotations

import warnings

import polars as pl
import pytest

from unisono import read_ratings
from unisono.errors import DataWarning

ROWS = {"item": ["1", "1", "2", "2"], "annotator": ["x", "y", "x", "y"], "v": [1.0, 2.0, 3.0, 4.0]}


@pytest.mark.parametrize("name", ["kind", "Kind"])
def test_text_is_read_past_without_a_word(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        ratings = read_ratings(pl.DataFrame(ROWS | {name: ["human", "judge", "human", "judge"]}))
    assert ratings.dimensions == ("v",)


def test_numbers_are_a_dimension():
    assert read_ratings(pl.DataFrame(ROWS | {"kind": [5.0, 6.0, 7.0, 8.0]})).dimensions == ("v", "kind")


def test_other_text_is_still_told():
    with pytest.warns(DataWarning, match="left out 'note'"):
        read_ratings(pl.DataFrame(ROWS | {"note": ["a", "b", "c", "d"], "kind": ["human"] * 4}))
