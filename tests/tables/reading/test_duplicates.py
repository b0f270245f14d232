"""The same thing rated twice: copies go, contradictions are settled as the user says."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisono.errors import DataError, DataWarning, InterpretedWarning, SettingsError
from unisono.tables.reading.ratings_reader import read_item_table, read_ratings

ROWS = [("1", "x", 1.0, 2.0), ("1", "y", 2.0, None), ("2", "x", 4.0, 1.0), ("2", "y", 3.0, 5.0)]


def frame(*more):
    return pl.DataFrame([*ROWS, *more], schema=["item", "annotator", "v", "w"], orient="row")


def test_copies_of_a_row_are_dropped_with_a_line():
    with pytest.warns(InterpretedWarning, match=r"data frame: 2 rows that repeat another one dropped."):
        found = read_ratings(frame(("1", "y", 2.0, None), ("2", "x", 4.0, 1.0)))
    assert found.data_hash == read_ratings(frame()).data_hash


def test_rows_that_contradict_are_refused_unless_told_otherwise():
    table = frame(("1", "x", 1.0, 2.0), ("2", "y", 3.0, 1.0), ("1", "x", 7.0, 2.0))
    for words in ({}, {"duplicates": "error"}):
        with pytest.raises(
            DataError, match=r"row 3 .* and row 5 .*: annotator 'y' rated item '2' twice. Say which one"
        ):
            read_ratings(table, **words)
    with pytest.raises(SettingsError, match=r"error, first, last, mean, not 'best'"):
        read_ratings(table, duplicates="best")


@pytest.mark.filterwarnings("ignore::unisono.errors.InterpretedWarning")
@pytest.mark.parametrize(
    ("policy", "expected"), [("first", [1, 2, 4, 3]), ("last", [7, 2, 4, 1]), ("mean", [3, 2, 4, 2])]
)
def test_policies(policy, expected):
    table = frame(("1", "x", 1.0, 2.0), ("2", "y", 1.0, 5.0), ("1", "x", 7.0, 2.0))
    found = read_ratings(table, duplicates=policy)
    np.testing.assert_array_equal(found.value[:, 0], expected)
    assert found.reading.notes[-1].endswith("holds where somebody answered more than once (2).")


def test_a_time_stamp_does_not_make_traces_of_somebody_who_answered_again():
    table = frame(("1", "x", 5.0, 2.0)).with_columns(pl.Series("timestamp", [100, 110, 120, 130, 140]))
    with (
        pytest.warns(DataWarning, match="'timestamp' left out, since hardly anything is rated at two times"),
        pytest.raises(DataError, match=r"row 0 .* and row 4 .*: annotator 'x' rated item '1' twice"),
    ):
        read_ratings(table)
    with pytest.warns(DataWarning, match="hardly anything"):
        assert not read_ratings(table, duplicates="last").is_series


@pytest.mark.filterwarnings("ignore::unisono.errors.InterpretedWarning")
def test_rows_that_complete_each_other_have_a_mean():
    found = read_ratings(frame(("3", "x", 1.0, None), ("3", "x", None, 6.0)), duplicates="mean")
    np.testing.assert_array_equal(found.value[-1], [1, 6])


@pytest.mark.filterwarnings("ignore::unisono.errors.InterpretedWarning")
def test_long_tables_and_traces_and_items():
    long = pl.DataFrame(
        {"item": ["a"] * 4, "annotator": list("xxyx"), "dimension": list("vwvv"), "value": [1.0, 5.0, 2.0, 3.0]}
    )
    np.testing.assert_array_equal(read_ratings(long, duplicates="mean").value, [[2, 5], [2, np.nan]])
    traces = pl.DataFrame(
        {
            "recording": ["f"] * 9,
            "annotator": ["x"] * 5 + ["y"] * 4,
            "time": [0.0, 1, 2, 3, 3, 0, 1, 2, 3],
            "v": [1.0, 2, 3, 4, 8, 0, 0, 1, 1],
        }
    )
    with pytest.raises(
        DataError, match=r"row 3 .* and row 4 .*: annotator 'x' on recording 'f' has two rows at time 3"
    ):
        read_ratings(traces)
    np.testing.assert_array_equal(read_ratings(traces, duplicates="last").value[:4, 0], [1, 2, 3, 8])
    items = pl.DataFrame({"item": list("aba"), "f": [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(read_item_table(items, duplicates="mean").value[:, 0], [2, 2])
    with pytest.raises(DataError, match=r"both describe item 'a'"):
        read_item_table(items)


@pytest.mark.filterwarnings("ignore::unisono.errors.InterpretedWarning")
@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from([None, 1.0, 2.0, 3.0])), min_size=1
    ),
    st.sampled_from(["first", "last", "mean"]),
)
def test_against_one_row_after_the_other(rows, policy):
    rows = [*rows, ("c", "x", 5.0)]
    found = read_ratings(
        pl.DataFrame(rows, schema={"item": pl.String, "annotator": pl.String, "v": pl.Float64}, orient="row"),
        dims=["v"],
        duplicates=policy,
    )
    answers: dict[tuple[str, str], list[float]] = {}
    for item, annotator, value in rows:
        answers.setdefault((item, annotator), []).append(np.nan if value is None else value)
    pick = {
        "first": lambda v: v[0],
        "last": lambda v: v[-1],
        "mean": lambda v: np.mean([x for x in v if x == x] or [np.nan]),
    }
    expected = [pick[policy](answers[key]) for key in sorted(answers)]
    np.testing.assert_allclose(found.value[:, 0], expected)
