"""What is a rating? Columns that describe the item, the person or the bookkeeping are left out, and it is said."""

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisono.errors import DataError, LeftOutWarning
from unisono.tables.item_table import reading_data, reading_lines
from unisono.tables.reading.column_roles import described_by_name, described_by_numbers, goes_with, words_of
from unisono.tables.reading.ratings_reader import read_item_table, read_ratings

ITEMS, RATERS = 12, 4


def crowd(**columns):
    """A table of 12 items by 4 raters with a rating 'valence'; columns are functions of item, rater and row."""
    item, rater = np.divmod(np.arange(ITEMS * RATERS), RATERS)
    rng = np.random.default_rng(0)
    frame = {"item": item, "rater": [f"r{k}" for k in rater], "valence": rng.integers(1, 8, len(item))}
    return pl.DataFrame(frame | {name: make(item, rater, np.arange(len(item))) for name, make in columns.items()})


def left_out(frame):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ratings = read_ratings(frame)
    assert sum(issubclass(one.category, LeftOutWarning) for one in caught) == bool(ratings.reading.left_out)
    return ratings.dimensions, {one.column: one.why for one in ratings.reading.left_out}


@pytest.mark.parametrize(
    ("column", "make", "why"),
    [
        ("words", lambda item, rater, row: 10 + item % 5, "describes the item"),
        ("group", lambda item, rater, row: rater % 2, "describes the person"),
        ("wave", lambda item, rater, row: 0 * item + 3, "the same everywhere"),
        ("coupleID", lambda item, rater, row: (item * 7 + rater) % 5, "an id"),
        ("birth_year", lambda item, rater, row: 1990 + (item + rater) % 9, "a year"),
        ("age", lambda item, rater, row: 20 + (item * rater) % 9, "an age"),
        ("Response time", lambda item, rater, row: 0.3 + (item * rater) % 7, "a duration"),
        ("RT", lambda item, rater, row: 0.3 + (item * rater) % 7, "a duration"),
        ("n_events", lambda item, rater, row: (item * rater) % 7, "a count"),
        ("trial", lambda item, rater, row: (item * 5) % ITEMS, "a trial number"),
        ("nr_in_list", lambda item, rater, row: (item * 5) % ITEMS, "a count"),
        ("seen", lambda item, rater, row: item + 1, "describes the item"),
        ("step", lambda item, rater, row: item + 3 * rater, "counts through the rows"),
        ("when", lambda item, rater, row: 1_700_000_000 + 61 * ((row * 7) % 50), "ids or time stamps"),
        ("valence_sd", lambda item, rater, row: 0.1 + (item * rater) % 7, "goes with 'valence'"),
        ("valence rank", lambda item, rater, row: (item * rater) % 7, "goes with 'valence'"),
    ],
)
def test_a_column_that_is_no_rating_is_left_out_with_the_reason(column, make, why):
    dimensions, aside = left_out(crowd(**{column: make}))
    assert dimensions == ("valence",)
    assert why in aside[column]


@pytest.mark.parametrize("column", ["arousal", "old", "worth", "role", "order of ideas", "idea", "vigour"])
def test_answers_stay(column):
    frame = crowd(**{column: lambda item, rater, row: 1 + (item * 3 + rater * rater) % 5})
    assert left_out(frame) == (("valence", column), {})


def test_whatever_is_asked_for_is_taken():
    frame = crowd(age=lambda item, rater, row: 20 + rater)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_ratings(frame, dims=["valence", "age"]).dimensions == ("valence", "age")


def test_a_string_is_one_dimension():
    frame = crowd(age=lambda item, rater, row: 20 + rater)
    assert read_ratings(frame, dims="age").dimensions == ("age",)
    assert read_item_table(pl.DataFrame({"item": list("ab"), "f": [1, 2]}), columns="f").columns == ("f",)


def test_two_people_who_agree_on_two_items_describe_nothing():
    frame = pl.DataFrame({"item": [1, 1, 2, 2], "rater": list("xyxy"), "v": [1, 2, 4, 3], "a": [2, 2, 1, 1]})
    assert left_out(frame) == (("v", "a"), {})


def test_features_of_items_may_be_counts_and_years_but_not_errors_of_others():
    own = {"n_words": [1, 2, 3], "year": [1, 2, 3], "f": [1, 2, 3], "f_sd": [1, 1, 2]}
    frame = pl.DataFrame({"item": list("abc")} | own)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_item_table(frame).columns == ("n_words", "year", "f")
        assert read_item_table(frame, companions=True).columns == ("n_words", "year", "f", "f_sd")


def test_nothing_but_descriptions_is_refused_with_the_way_out():
    frame = crowd(age=lambda item, rater, row: 20 + rater).drop("valence")
    with pytest.raises(
        DataError, match=r"no column that looks like a rating: 'age' \(by its name it is an age\).*dims=\[\"age\"\]"
    ):
        read_ratings(frame)


def test_what_everybody_shares_at_one_moment_describes_the_recording():
    T, K = 30, 3
    rows = [(k, t) for k in range(K) for t in range(T)]
    frame = pl.DataFrame(
        {
            "clip": ["a"] * len(rows),
            "rater": [f"r{k}" for k, _ in rows],
            "time": [t / 2 for _, t in rows],
            "tension": [np.sin(t / 5) + 0.1 * k for k, t in rows],
            "loudness": [np.cos(t / 3) for _, t in rows],
        }
    )
    dimensions, aside = left_out(frame)
    assert dimensions == ("tension",)
    assert "describes the item" in aside["loudness"]


def test_the_reading_is_said_in_words():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ratings = read_ratings(crowd(age=lambda item, rater, row: 20 + rater, note=lambda i, r, n: ["x"] * len(i)))
    assert reading_lines(reading_data(ratings)) == [
        "Read data frame: item 'item', annotator 'rater', dimension 'valence'.",
        "  scale 1 to 7 (inferred)",
        "  left out 'age': by its name it is an age",
        "  left out 'note': text",
        "  To choose the columns yourself name all that count, for example --dim valence --dim age",
    ]


def test_names_are_split_into_words():
    assert words_of("coupleID") == words_of("couple_id") == words_of("Couple-Id") == ["couple", "id"]
    assert described_by_name("HITId") == "by its name it is an id"
    assert described_by_name("idea") is None
    assert goes_with("sd", ["valence", "sd"]) is None


@settings(max_examples=60)
@given(st.data())
def test_what_remains_varies_within_items_and_within_annotators(data):
    M, K = data.draw(st.integers(3, 8)), data.draw(st.integers(3, 6))
    item, rater = np.divmod(np.arange(M * K), K)
    value = np.array(data.draw(st.lists(st.integers(0, 3), min_size=M * K, max_size=M * K)), dtype=float)
    mask = data.draw(st.sampled_from(["free", "by item", "by rater", "constant"]))
    value = {"free": value, "by item": value[item], "by rater": value[rater], "constant": 0 * value + 2}[mask]
    if described_by_numbers(value, item, rater) is None:
        for code in (item, rater):
            assert any(len(set(value[code == one])) > 1 for one in np.unique(code))
