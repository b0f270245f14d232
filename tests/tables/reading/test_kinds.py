"""The column `kind` of a table of ratings."""

import polars as pl
import pytest

import unisono as un

WIDE = {
    "item": ["a", "a", "b", "b"],
    "annotator": ["ann", "gpt", "ann", "gpt"],
    "kind": ["human", "judge", "human", "judge"],
    "x": [1.0, 2.0, 3.0, 5.0],
}


def test_kinds_are_read():
    assert un.read_ratings(pl.DataFrame(WIDE)).kinds == ("human", "judge")
    long = pl.DataFrame(WIDE).rename({"x": "value", "kind": "Kind"}).with_columns(dimension=pl.lit("x"))
    assert un.read_ratings(long).kinds == ("human", "judge")
    assert un.read_ratings(pl.DataFrame(WIDE).drop("kind")).kinds is None


def test_an_empty_cell_is_filled_from_the_annotators_other_rows():
    assert un.read_ratings(pl.DataFrame(WIDE | {"kind": ["human", "judge", None, "judge"]})).kinds == ("human", "judge")
    assert un.read_ratings(pl.DataFrame(WIDE | {"kind": [None] * 4})).kinds is None
    with pytest.raises(un.DataError, match=r"row 0 .*: kind is empty, in all rows of annotator 'ann'"):
        un.read_ratings(pl.DataFrame(WIDE | {"kind": ["", "judge", "", "judge"]}))


def test_an_annotator_of_two_kinds_in_a_table_is_refused():
    with pytest.raises(un.DataError, match=r"row 2 .*: annotator 'ann' is of the kinds 'human' and 'judge'"):
        un.read_ratings(pl.DataFrame(WIDE | {"kind": ["human", "judge", "judge", "judge"]}))


def test_kinds_of_items_and_ratings_of_kindness_are_no_kinds_of_annotators():
    photographs = un.read_ratings(pl.DataFrame(WIDE | {"kind": ["photo", "photo", "painting", "painting"]}))
    assert photographs.kinds is None
    kindness = un.read_ratings(pl.DataFrame(WIDE | {"kind": [4, 3, 1, 2]}))
    assert kindness.kinds is None
    assert kindness.dimensions == ("kind", "x")
