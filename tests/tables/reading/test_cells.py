"""Cells that are no plain numbers: words, names beside numbers, per cent, commas. What is read is said."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unisono.errors import DataError, SettingsError
from unisono.tables.reading.cell_meanings import SCALES, families_of, parse_labels, plain_word, scale_of
from unisono.tables.reading.ratings_reader import read_item_table, read_ratings

pytestmark = pytest.mark.filterwarnings("ignore::unisono.errors.DataWarning")


def read(cells, **words):
    """Two items by as many annotators as it takes."""
    rows = len(cells)
    frame = {"item": [f"i{n % 2}" for n in range(rows)], "annotator": [f"a{n // 2}" for n in range(rows)]}
    return read_ratings(pl.DataFrame(frame | {"v": pl.Series(cells, dtype=pl.String)}), **words)


def numbers(cells, **words):
    found = read(cells, **words)
    who = zip(found.item_of, found.annotator_of, found.value[:, 0], strict=True)
    by_row = {(found.items[i], found.annotators[k]): v for i, k, v in who}
    return [by_row[f"i{n % 2}", f"a{n // 2}"] for n in range(len(cells))], found.reading.notes


@pytest.mark.parametrize(
    ("cells", "expected", "said"),
    [
        (["85%", "20 %", "7.5%", "0%"], [85, 20, 7.5, 0], "Per cent signs were taken off in 'v'."),
        (["3,5", "2", "1,25", "4"], [3.5, 2, 1.25, 4], "Commas were read as decimal points in 'v'."),
        (["1,500", "2", "1,25", "4"], [1.5, 2, 1.25, 4], "Commas were read as decimal points in 'v'."),
        (["4 - agree", "5 – strongly agree", "1: no", "4 - agree"], [4, 5, 1, 4], "count as their number"),
        (["1 (not at all)", "2", "3", "5 (very)"], [1, 2, 3, 5], "Cells such as '1 (not at all)' count as their"),
        (["agree (4)", "disagree (2)", "agree (4)", "NA"], [4, 2, 4, np.nan], "count as their number"),
        (["(1) bad", "(2) good", "(2) good", ""], [1, 2, 2, np.nan], "count as their number"),
        (["Agree", "strongly AGREE", "Neutral", "disagree"], [4, 5, 3, 2], "Words of agreement were coded in 'v': s"),
        (["agree", "somewhat agree", "neutral", "disagree"], [6, 5, 4, 2], "slightly disagree=3, neutral=4, some"),
        (["Strongly_Agree", "disagree", "agree", "agree"], [4, 2, 3, 3], "agree=3, strongly agree=4"),
        (["never", "always", "often", "rarely"], [1, 5, 4, 2], "Words of frequency"),
        (["bad", "poor", "excellent", "fair"], [1, 2, 5, 3], "bad=1, poor=2, fair=3, good=4, excellent=5"),
        (["very good", "fair", "excellent", "poor"], [4, 2, 5, 1], "poor=1, fair=2, good=3, very good=4"),
        (["Very satisfied", "satisfied", "dissatisfied", "neutral"], [5, 4, 2, 3], "Words of satisfaction"),
        (["very likely", "unlikely", "likely", "unlikely"], [5, 2, 4, 2], "Words of likelihood"),
        (["not at all", "extremely", "somewhat", "very"], [1, 5, 3, 4], "Words of degree"),
        (["yes", "no", "Yes", "no"], [1, 0, 1, 0], "Words of yes and no were coded in 'v': no=0, yes=1"),
        (["True", "False", "False", ""], [1, 0, 0, np.nan], "false=0, true=1"),
    ],
)  # fmt: skip
def test_what_a_cell_means(cells, expected, said):
    found, notes = numbers(cells)
    np.testing.assert_array_equal(found, expected)
    assert said in notes[0]


def test_points_in_semicolon_files_are_as_before(tmp_path):
    (tmp_path / "r.csv").write_text("item;annotator;v\n1;x;1,500\n1;y;2\n2;x;2.25\n2;y;,5\n")
    found = read_ratings(tmp_path / "r.csv")
    np.testing.assert_array_equal(found.value[:, 0], [1.5, 2, 2.25, 0.5])
    assert found.reading.notes == ()


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1,500", "2", "2,250", "4"], r"v is '1,500', which may be 1.500 or 1500"),
        (["85%", "0.9", "7%", "1"], r"v is '85%'.*say what it means: labels=\"85%=\" for missing"),
        (["agree", "4", "3", "2"], r"row 0 .*: v is 'agree'.* labels=\"agree=3\" for a number"),
        (["4 - agree", "4 - disagree", "3", "2"], "v is '4 - agree'"),
        (["1,234.5", "2", "3", "4"], "v is '1,234.5'"),
        (["12:30", "2", "3", "4"], "v is '12:30'"),
    ],
)
def test_what_may_mean_two_things_is_refused(cells, message):
    with pytest.raises(DataError, match=message):
        read(cells)


@pytest.mark.parametrize(
    "cells",
    [
        ["poor", "fair", "fair", "very poor", "excellent", "bad"],  # of two scales
        ["strongly agree", "completely agree", "agree", "agree"],  # two words for one level
        ["fair", "good", "excellent", "good"],  # numbers depend on the scale
        ["red", "green", "blue", "red"],
        ["good", "good", "good", "good"],  # one word is no scale
    ],
)
def test_words_without_a_known_order_stay_text(cells):
    with pytest.raises(DataError, match=r"'v' \(text\). If 'v' is one, say what its words mean: labels="):
        read(cells)


def test_labels_give_words_their_numbers():
    labels = {"red": 1, "Green": 2, "don't know": None}
    found, notes = numbers(["red", "green", "Don't know", " RED "], labels=labels)
    np.testing.assert_array_equal(found, [1, 2, np.nan, 1])
    assert notes == ()
    assert numbers(["red", "4", "n/a", "3"], labels="red=1, n/a=")[0][:2] == [1, 4]
    with pytest.raises(DataError, match=r"row 2 .*: v is 'blue'"):
        read(["red", "green", "blue", "red"], labels="red=1, green=2")


def test_labels_come_before_known_words():
    assert numbers(["good", "bad", "good", "bad"], labels={"good": 10, "bad": -10})[0] == [10, -10, 10, -10]


def test_labels_are_written_as_words_and_numbers():
    assert parse_labels("no, not at all=1, yes = 2.5;maybe=") == {"no, not at all": 1, "yes": 2.5, "maybe": None}
    for bad in ("good", "good=1, bad", "good=many"):
        with pytest.raises(SettingsError, match="WORD=NUMBER"):
            parse_labels(bad)


def test_one_word_is_one_number_in_the_whole_table():
    frame = pl.DataFrame(
        {
            "item": list("aabb"),
            "annotator": list("xyxy"),
            "v": ["agree", "disagree", "disagree", "agree"],
            "w": ["strongly agree", "neutral", "disagree", "agree"],
        }
    )
    found = read_ratings(frame)
    np.testing.assert_array_equal(found.value, [[4, 5], [2, 3], [2, 2], [4, 4]])
    assert "coded in 'v' and 'w'" in found.reading.notes[0]


def test_words_in_the_values_of_a_long_table():
    frame = pl.DataFrame(
        {"item": list("aabb"), "annotator": list("xyxy"), "dimension": ["d"] * 4, "value": ["no", "yes", "yes", "no"]}
    )
    np.testing.assert_array_equal(read_ratings(frame).value[:, 0], [0, 1, 1, 0])


def test_every_dimension_of_a_long_table_has_its_own_words():
    rows = [
        *(("a", "x", "clear", "agree"), ("a", "y", "clear", "strongly agree"), ("b", "x", "clear", "disagree")),
        *(("a", "x", "seen", "never"), ("a", "y", "seen", "often"), ("b", "x", "seen", "always")),
        *(("a", "x", "fun", "3"), ("a", "y", "fun", "4,5"), ("b", "x", "fun", "5")),
        *(("a", "x", "sure", "10%"), ("a", "y", "sure", "20%"), ("b", "x", "sure", "70%")),
    ]
    frame = pl.DataFrame(rows, schema=["item", "annotator", "dimension", "value"], orient="row")
    found = read_ratings(frame, dims=["clear", "seen", "fun", "sure"])
    np.testing.assert_array_equal(found.value, [[3, 1, 3, 10], [4, 3, 4.5, 20], [2, 4, 5, 70]])
    assert len(found.reading.notes) == 4
    worse = frame.vstack(pl.DataFrame([("b", "y", "fun", "agree")], schema=frame.schema, orient="row"))
    with pytest.raises(DataError, match=r"row 12 .*: value is 'agree'"):
        read_ratings(worse)


def test_gold_may_be_words():
    frame = pl.DataFrame({"item": ["a", "b"], "v": ["disagree", "strongly agree"]})
    np.testing.assert_array_equal(read_item_table(frame).value[:, 0], [2, 4])


def test_categories_of_a_frame_are_words():
    frame = pl.DataFrame({"item": list("aabb"), "annotator": list("xyxy"), "v": ["low", "high", "low", "low"]})
    found = read_ratings(frame.with_columns(pl.col("v").cast(pl.Categorical)))
    np.testing.assert_array_equal(found.value[:, 0], [1, 2, 1, 1])


def test_prose_is_left_alone():
    many = [f"comment {n}" for n in range(500)]
    frame = pl.DataFrame(
        {
            "item": [n // 2 for n in range(500)],
            "annotator": ["x", "y"] * 250,
            "v": [n % 7 for n in range(500)],
            "c": many,
        }
    )
    found = read_ratings(frame)
    assert found.dimensions == ("v",)
    assert [(one.column, one.why) for one in found.reading.left_out] == [("c", "text")]


def test_blocks_do_not_show(tmp_path, monkeypatch):
    """Words and commas are decided over the whole column, wherever blocks end."""
    words = ["agree", "disagree", "neutral", "strongly agree"]
    rows = [f'i{n // 3},a{n % 3},{words[n % 4]},"{n % 7},{n % 5}"' for n in range(300)]
    path = tmp_path / "r.csv"
    path.write_text("item,annotator,v,w\n" + "\n".join(rows))
    whole = read_ratings(path)
    monkeypatch.setattr("unisono.tables.reading.delimited_text.TextTable.__init__.__defaults__", (64,))
    blocks = read_ratings(path)
    assert blocks.data_hash == whole.data_hash
    assert blocks.reading == whole.reading
    assert whole.dimensions == ("v", "w")


@pytest.mark.parametrize("family", SCALES)
def test_every_scale_is_found_by_its_own_words(family):
    first = 0 if family.startswith(("yes and no", "true and false")) else 1
    for levels in SCALES[family]:
        words = {level[0] for level in levels}
        assert family in families_of(words)
        scale = scale_of(family, words)
        assert scale is not None
        assert [scale.number[level[0]] for level in levels] == list(range(first, first + len(levels)))
        assert all(word == plain_word(word) for level in levels for word in level)
