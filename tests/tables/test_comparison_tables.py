"""Tables of comparisons: every layout becomes pairs with sides, and a bad row is an error that names it."""

import pandas as pd
import polars as pl
import pytest

import unisono as un
from unisono.errors import DataError


def pairs(table):
    found = un.read_comparisons(table)
    said = zip(found.left, found.right, found.annotator_of, found.dimension_of, found.answer, strict=True)
    return found, sorted(
        (found.items[i], found.items[j], found.annotators[k], found.dimensions[d], ("left", "tie", "right")[a])
        for i, j, k, d, a in said
    )


LAYOUTS = {
    "sides": (
        {"annotator": ["k", "m"], "left": ["x", "y"], "right": ["y", "z"], "q": ["left", "tie"]},
        [("x", "y", "k", "q", "left"), ("y", "z", "m", "q", "tie")],
        True,
    ),
    "two dimensions, one answer missing": (
        {"annotator": ["k", "k"], "left": ["x", "y"], "right": ["y", "z"], "q": ["left", None], "r": ["Right", "tie"]},
        [("x", "y", "k", "q", "left"), ("x", "y", "k", "r", "right"), ("y", "z", "k", "r", "tie")],
        True,
    ),
    "one row per dimension": (
        {
            "annotator": ["k", "k"],
            "left": ["x", "x"],
            "right": ["y", "y"],
            "dimension": ["q", "r"],
            "answer": ["left", "tie"],
        },
        [("x", "y", "k", "q", "left"), ("x", "y", "k", "r", "tie")],
        True,
    ),
    "arena": (
        {"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["model_b", "tie (bothbad)"], "judge": ["k", "m"]},
        [("x", "y", "k", "comparison", "right"), ("y", "z", "m", "comparison", "tie")],
        True,
    ),
    "arena, winners by name": (
        {"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["x", "z"], "judge": ["k", "m"]},
        [("x", "y", "k", "comparison", "left"), ("y", "z", "m", "comparison", "right")],
        True,
    ),
    "preference": (
        {"prompt": ["p", "p"], "chosen": ["x", "y"], "rejected": ["y", "z"]},
        [("x", "y", "all", "comparison", "left"), ("y", "z", "all", "comparison", "left")],
        False,
    ),
    "strengths": (
        {"annotator": ["k", "k", "m"], "left": ["x", "y", "x"], "right": ["y", "z", "z"], "score": [-3, 0, 1]},
        [("x", "y", "k", "score", "left"), ("x", "z", "m", "score", "right"), ("y", "z", "k", "score", "tie")],
        True,
    ),
    "ranking, long": (
        {
            "ranking": [1, 1, 1, 2, 2],
            "annotator": ["k"] * 5,
            "item": ["x", "y", "z", "z", "x"],
            "rank": [1, 2, 2, 1, 2],
        },
        [
            ("x", "y", "k", "comparison", "left"),
            ("x", "z", "k", "comparison", "left"),
            ("y", "z", "k", "comparison", "tie"),
            ("z", "x", "k", "comparison", "left"),
        ],
        False,
    ),
    "ranking, wide": (
        {"item_1": ["x"], "item_2": ["y"], "item_3": ["z"], "rank_1": [2], "rank_2": [1], "rank_3": [3]},
        [
            ("x", "y", "all", "comparison", "right"),
            ("x", "z", "all", "comparison", "left"),
            ("y", "z", "all", "comparison", "left"),
        ],
        False,
    ),
    "best and worst": (
        {"annotator": ["k"], **{f"item_{i + 1}": [x] for i, x in enumerate("wxyz")}, "best": ["y"], "worst": ["w"]},
        [
            ("w", "x", "k", "comparison", "right"),
            ("w", "y", "k", "comparison", "right"),
            ("w", "z", "k", "comparison", "right"),
            ("x", "y", "k", "comparison", "right"),
            ("y", "z", "k", "comparison", "left"),
        ],
        False,
    ),
    "counts": (
        {"winner": ["x", "y"], "loser": ["y", "z"], "n": [2, 1]},
        [("x", "y", "all", "comparison", "left")] * 2 + [("y", "z", "all", "comparison", "left")],
        False,
    ),
}


@pytest.mark.parametrize(("columns", "expected", "sided"), LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame, "csv"], ids=["polars", "pandas", "csv"])
def test_layouts(columns, expected, sided, frame, tmp_path):
    if frame == "csv":
        table = tmp_path / "pairs.csv"
        pl.DataFrame(columns).write_csv(table)
    else:
        table = frame(columns)
    found, said = pairs(table)
    assert said == expected
    assert found.sided is sided


BAD = {
    "no answer": (
        {"left": ["x", "y", "z"], "right": ["y", "z", "x"], "q": ["left", "lfet", "tie"]},
        r"row 3: q is 'lfet'",
    ),
    "itself": ({"left": ["x", "y"], "right": ["y", "y"], "q": ["left", "tie"]}, r"row 3 compares 'y' with itself"),
    "no name": ({"left": ["x", ""], "right": ["y", "y"], "q": ["left", "tie"]}, r"row 3: the left item has no name"),
    "nobody": (
        {"annotator": ["k", ""], "left": ["x", "y"], "right": ["y", "x"], "q": ["left", "tie"]},
        "row 3: 'annotator'",
    ),
    "no pair": ({"clip": ["x", "y"], "q": ["left", "tie"]}, "no two columns that look like the items of a pair"),
    "no answers": ({"left": ["x", "y"], "right": ["y", "x"], "note": ["good", "bad"]}, "no column of answers"),
    "rank": ({"ranking": [1, 1], "item": ["x", "y"], "rank": ["1", "first"]}, r"row 3: rank is 'first'"),
    "best": ({"item_1": ["x"], "item_2": ["y"], "best": ["z"], "worst": ["y"]}, r"row 2: best is 'z'"),
    "both": (
        {"item_1": ["x"], "item_2": ["y"], "best": ["y"], "worst": ["y"]},
        r"row 2: 'y' is the best and the worst",
    ),
    "count": ({"winner": ["x", "y"], "loser": ["y", "z"], "n": ["2", "1.5"]}, r"row 3: n is '1.5'"),
    "all positive": ({"left": ["x", "y"], "right": ["y", "x"], "score": [1, 2]}, "no number below 0"),
    "nothing": ({"left": ["x", "y"], "right": ["y", "x"], "q": [None, None]}, "no column of answers"),
}


@pytest.mark.parametrize(("columns", "message"), BAD.values(), ids=BAD)
def test_bad_rows_are_refused(columns, message, tmp_path):
    pl.DataFrame(columns, strict=False).write_csv(tmp_path / "pairs.csv")
    with pytest.raises(DataError, match=message):
        un.read_comparisons(tmp_path / "pairs.csv")


def test_columns_by_name():
    table = pl.DataFrame({"who": ["k", "m"], "one": ["x", "y"], "two": ["y", "z"], "better": ["left", "right"]})
    found = un.read_comparisons(table, annotator="who", left="one", right="two", dims=["better"])
    assert (found.annotators, found.dimensions) == (("k", "m"), ("better",))


def test_winners_on_one_side_have_no_order_effect():
    found = un.read_comparisons(pl.DataFrame({"left": ["x", "y"] * 15, "right": ["y", "z"] * 15, "q": ["left"] * 30}))
    assert not found.sided
    assert any("sides were not drawn" in note for note in found.notes)


def test_order_of_rows_changes_nothing():
    table = pl.DataFrame(LAYOUTS["two dimensions, one answer missing"][0])
    assert un.read_comparisons(table).data_hash == un.read_comparisons(table.reverse()).data_hash


def test_a_folder_of_an_export_is_read(tmp_path):
    columns = {
        "annotator": ["k"],
        "left": ["x"],
        "right": ["y"],
        "dimension": ["q"],
        "answer": ["left"],
        "seconds": [2.5],
    }
    pl.DataFrame(columns).write_csv(tmp_path / "comparisons.csv")
    assert un.read_comparisons(tmp_path).dimensions == ("q",)
