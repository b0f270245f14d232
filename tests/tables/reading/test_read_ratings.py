"""The layouts people have, and the one container that comes out of each."""

from __future__ import annotations

import gzip
import io
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisono.errors import DataWarning
from unisono.tables.reading.data_frames import frame_like, kind_of
from unisono.tables.reading.ratings_reader import read_item_table, read_ratings

WIDE = "item,annotator,valence,arousal\n10,x,1,2\n10,y,2.5,\n2,x,4,-1\n2,y,3,1e1\n"
LONG = (
    "item,annotator,dimension,value\n"
    "10,x,valence,1\n2,x,valence,4\n10,x,arousal,2\n10,y,valence,2.5\n2,x,arousal,-1\n2,y,valence,3\n2,y,arousal,1e1\n"
)


@pytest.fixture
def write(tmp_path):
    def write(text: str | bytes, name: str = "ratings.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def assert_is_the_example(ratings, dimensions=("valence", "arousal")):
    assert ratings.items == ("2", "10")
    assert ratings.annotators == ("x", "y")
    assert ratings.dimensions == dimensions
    np.testing.assert_array_equal(ratings.item_of, [0, 0, 1, 1])
    np.testing.assert_array_equal(ratings.annotator_of, [0, 1, 0, 1])
    by_name = dict(zip(ratings.dimensions, ratings.value.T, strict=True))
    np.testing.assert_array_equal(by_name["valence"], [4, 3, 1, 2.5])
    np.testing.assert_array_equal(by_name["arousal"], [-1, 10, 2, np.nan])


@pytest.mark.parametrize("separator", [",", "\t", ";"])
@pytest.mark.parametrize("name", ["ratings.csv", "ratings.tsv", "ratings.txt"])
def test_the_separator_is_told_from_the_header(write, separator, name):
    assert_is_the_example(read_ratings(write(WIDE.replace(",", separator), name)))


def test_gzip_is_told_from_the_content(write):
    assert_is_the_example(read_ratings(write(gzip.compress(WIDE.encode()), "ratings.csv.gz")))
    assert_is_the_example(read_ratings(write(gzip.compress(WIDE.encode()), "ratings.csv")))


def test_parquet_also_gzipped(write):
    buffer = io.BytesIO()
    pl.read_csv(WIDE.encode()).write_parquet(buffer)
    assert_is_the_example(read_ratings(write(buffer.getvalue(), "r.parquet")))
    assert_is_the_example(read_ratings(write(gzip.compress(buffer.getvalue()), "r.parquet.gz")))


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(WIDE.encode())))
    ratings = read_ratings("-")
    assert_is_the_example(ratings)
    assert ratings.source == "standard input"


@pytest.mark.parametrize("read", [lambda t: pl.read_csv(t), lambda t: pl.read_csv(t).lazy(), lambda t: pd.read_csv(t)])
def test_frames(read):
    assert_is_the_example(read_ratings(read(io.BytesIO(WIDE.encode()))))


def test_a_pandas_frame_of_objects_reads_like_a_file():
    frame = pd.read_csv(io.StringIO(WIDE)).astype(object)
    assert_is_the_example(read_ratings(frame))


def test_the_same_kind_of_frame_comes_back():
    for frame in (pl.DataFrame({"a": [1]}), pd.DataFrame({"a": [1]})):
        assert type(frame_like(kind_of(frame), {"a": np.array([1.0]), "b": ["x"]})) is type(frame)
    assert kind_of("ratings.csv") is None
    assert isinstance(frame_like(None, {"a": [1]}), pl.DataFrame)


def test_one_row_per_number_has_its_dimensions_sorted(write):
    assert_is_the_example(read_ratings(write(LONG)), ("arousal", "valence"))


def test_dimensions_of_a_long_table_can_be_chosen_and_renamed(write):
    ratings = read_ratings(write(LONG), dims={"v": "valence"})
    assert ratings.dimensions == ("v",)
    np.testing.assert_array_equal(ratings.value[:, 0], [4, 3, 1, 2.5])


def test_windows_line_ends_byte_order_mark_blank_lines_and_empty_rows(write):
    text = "\ufeff" + WIDE.replace("\n", "\r\n").replace("2,x,4", "\r\n\r\n,,,\r\n2,x,4") + "\r\n,,,\r\n"
    assert_is_the_example(read_ratings(write(text)))


def test_the_byte_order_mark_is_no_part_of_a_name(write):
    assert read_ratings(write("\ufeffv,item,annotator\n1,a,x\n")).dimensions == ("v",)


def test_no_line_end_at_the_end_and_old_line_ends(write):
    assert_is_the_example(read_ratings(write(WIDE.rstrip())))
    assert_is_the_example(read_ratings(write(WIDE.replace("\n", "\r"))))


def test_quoted_cells_may_hold_separators_quotes_and_line_ends(write):
    text = 'item,annotator,v\n"a, b",x,1\n"say ""c""\nagain",x,2\n'
    assert read_ratings(write(text)).items == ("a, b", 'say "c"\nagain')


def test_semicolons_go_with_decimal_commas(write):
    ratings = read_ratings(write("item;annotator;v\n1;x;1,5\n1;y;-,5\n2;x;2.25\n2;y;3\n"))
    np.testing.assert_array_equal(ratings.value[:, 0], [1.5, -0.5, 2.25, 3])


@pytest.mark.parametrize("word", ["", " ", "NA", "na", "NaN", "nan", "NULL", '""'])
def test_words_for_missing(write, word):
    ratings = read_ratings(write(f"item,annotator,v\n1,x,{word}\n1,y,2\n"))
    np.testing.assert_array_equal(ratings.value[:, 0], [np.nan, 2])


def test_labels_are_text_without_blanks_and_keep_their_letters(write):
    text = "item,annotator,v\n 007 ,Žofie,1\n7.0,NA,2\n007,null,3\n"
    ratings = read_ratings(write(text))
    # 007 and 7 are the same number, and the shorter label comes first.
    assert ratings.items == ("007", "7.0")
    assert ratings.annotators == ("NA", "null", "Žofie")


def test_whole_numbers_of_a_frame_become_plain_labels():
    frame = pd.DataFrame({"item": [7.0, 8.0], "annotator": [1, 1], "v": [1.0, 2.0]})
    ratings = read_ratings(frame)
    assert (ratings.items, ratings.annotators) == (("7", "8"), ("1",))
    mixed = pd.DataFrame({"item": [7.0, "b"], "annotator": [1, 1], "v": [1.0, 2.0]})
    assert read_ratings(mixed).items == ("7", "b")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Clip,Rater,v", ("Clip", "Rater")),
        ("WorkerId,video_id,v", ("video_id", "WorkerId")),
        ("stimulus,Participant ID,v", ("stimulus", "Participant ID")),
        ("INPUT:image,ASSIGNMENT:worker_id,v", ("INPUT:image", "ASSIGNMENT:worker_id")),
        ("id,user,v", ("id", "user")),
    ],
)
def test_columns_are_known_by_what_people_call_them(write, header, expected):
    rows = pl.read_csv((header + "\ni1,a1,1\n").encode())
    ratings = read_ratings(write(header + "\ni1,a1,1\n"))
    assert ratings.items == (rows[expected[0]][0],)
    assert ratings.annotators == (rows[expected[1]][0],)
    assert ratings.dimensions == ("v",)


def test_columns_can_be_named(write):
    text = "q,who,Answer.val,Answer.aro,n\n1,x,5,6,7\n"
    ratings = read_ratings(
        write(text), item="q", annotator="WHO", dims={"valence": "Answer.val", "arousal": "Answer.aro"}
    )
    assert ratings.dimensions == ("valence", "arousal")
    np.testing.assert_array_equal(ratings.value, [[5, 6]])


def test_text_and_bookkeeping_columns_are_left_out_with_a_warning(write):
    text = "item,annotator,comment,v,session_id\n1,x,good,5,3\n1,y,,6,4\n"
    with pytest.warns(DataWarning, match=r"ratings.csv: left out 'session_id' .* and 'comment' \(text\)"):
        assert read_ratings(write(text)).dimensions == ("v",)


def test_a_clean_table_gives_no_warning(write):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_ratings(write(WIDE))


def test_blocks_do_not_show(write, monkeypatch):
    rows = [f'"i\n{i}",a{i % 7},{i},{i / 2}' for i in range(2000)] + [f"{'long' * 99},x,1,2"]
    path = write("item,annotator,v,w\n" + "\n".join(rows))
    whole = read_ratings(path)
    monkeypatch.setattr("unisono.tables.reading.delimited_text.TextTable.__init__.__defaults__", (64,))
    assert read_ratings(path).data_hash == whole.data_hash


@settings(max_examples=50)
@given(st.randoms(use_true_random=False), st.integers(1, 30), st.integers(1, 6))
def test_row_order_does_not_reach_the_ratings(random, items, annotators):
    rows = [(f"i{i}", f"w{k}", random.random(), random.random()) for i in range(items) for k in range(annotators)]
    schema = ["item", "annotator", "v", "a"]
    before = read_ratings(pl.DataFrame(rows, schema=schema, orient="row"), dims=["v", "a"])
    random.shuffle(rows)
    shuffled = pl.DataFrame(rows, schema=schema, orient="row")
    assert read_ratings(shuffled, dims=["v", "a"]).data_hash == before.data_hash


def test_item_tables(write):
    table = read_item_table(write("clip,f1,f2,text\nb10,1,2,hello\nb2,3,,you\n", "features.csv"), columns=["f2", "f1"])
    assert (table.items, table.columns, table.source) == (("b2", "b10"), ("f2", "f1"), "features.csv")
    np.testing.assert_array_equal(table.value, [[np.nan, 3], [2, 1]])
