"""Every mistake in a table is named with its place, its cell and the way out."""

from __future__ import annotations

import bz2
import gzip

import pandas as pd
import polars as pl
import pytest

from unisono.errors import DataError, in_shell
from unisono.tables.reading.ratings_reader import read_item_table, read_ratings

H = "item,annotator,v,a\n"
GOOD = "1,x,1,2\n1,y,2,2\n2,x,4,1\n2,y,3,1\n"

BAD = {
    "empty": ("", "r.csv is empty"),
    "blank": (" \n\n", "r.csv is empty"),
    "header only": (H, "r.csv has a header but no rows"),
    "header and empty rows": (H + ",,,\n\n", "r.csv has a header but no rows"),
    "text": (
        H + "1,x,1,2\n1,y,n/a,2\n",
        "r.csv row 3: v is 'n/a'. Leave the cell empty if the rating is missing, or say what it means: --labels",
    ),
    "text far down": (H + "\n" + GOOD + "3,x,1,oops\n", "r.csv row 7: a is 'oops'"),
    "number in text": (H + "1,x,1,good\n1,y,2,bad\n2,x,4,5\n", "r.csv row 4: a is '5', but most rows hold text"),
    "a comma that may mean two things": (
        H + '1,x,1,2\n1,y,"1,500",2\n',
        "r.csv row 3: v is '1,500', which may be 1.500",
    ),
    "duplicates": (H + GOOD + "2,y,1,1\n1,x,1,1\n", "r.csv row 5 and row 6: annotator 'y' rated item '2' twice"),
    "infinity": (H + GOOD + "3,x,1,-inf\n", "r.csv row 6: a is '-inf', not a finite number"),
    "overflow": (H + GOOD + "3,x,1e999,1\n", "r.csv row 6: v is '1e999', not a finite number"),
    "huge": (H + GOOD + "3,x,-1e308,1\n", "r.csv row 6: v is -1e308, too large to square"),
    "duplicate": (H + GOOD + " 1 ,y,9,9\n", "r.csv row 3 and row 6: annotator 'y' rated item '1' twice"),
    "no annotator": ("item,v,a\n1,1,2\n", "no column that looks like the annotator; it has 'item', 'v' and 'a'"),
    "no item": ("annotator,v,a\nx,1,2\n", "no column that looks like the item"),
    "few cells": (H + "1,x,1,2\n1,y,2\n", "r.csv row 3 has too few cells: 3 where the header has 4"),
    "many cells": (H + "1,x,1,2\n1,y,2,3,4\n", "r.csv row 3 has too many cells: 5 where the header has 4"),
    "open quote": (H + '1,x,1,2\n"1,y,2,3\n', "r.csv row 3: a quotation mark is opened"),
    "empty item": (H + GOOD + ",x,1,2\n", "r.csv row 6: item is empty"),
    "empty annotator": (H + GOOD + "7,  ,1,2\n", "r.csv row 6: annotator is empty"),
    "same name": ("item,annotator,v,v\n1,x,1,2\n", "r.csv row 1: columns 3 and 4 are both called 'v'"),
    "labels only": ("item,annotator\n1,x\n", "no column of numbers"),
    "text only": (
        "item,annotator,c\n1,x,good\n",
        "no column that looks like a rating: 'c' (text). If 'c' is one, say what its words mean: --labels \"good=1\".",
    ),
    "a broken byte in UTF-8": ((H + "1,Žofie,1,2\n1,Žan").encode() + b"\xff,1,2\n", "row 3: byte 0xff is not UTF-8"),
    "a byte of no Western letter": (b"item,annotator,v\n1,\x81,2\n", "r.csv row 2: byte 0x81 is not UTF-8"),
    "half a UTF-16": ((H + GOOD).encode("utf-16")[:-1], "its UTF-16 text is damaged"),
    "binary": (bytes(range(256)) * 9, "it holds binary data"),
    "binary without zeros": (bytes(range(1, 256)) * 9, "it holds binary data"),
    "half a zip": (b"PK\x03\x04" + bytes(100), "its zip data is damaged"),
    "half an old Excel": (b"\xd0\xcf\x11\xe0" + bytes(100), "the workbook is damaged"),
    "half a bzip2": (bz2.compress((H + GOOD).encode())[:30], "its bzip2 data is damaged"),
    "PDF": (b"%PDF-1.7 ...", "it is a PDF. Save it as CSV"),
    "half a JSON": ('[{"item": 1,\n "annotator"', "r.csv line 2: this is not JSON"),
    "JSON of numbers": ("[1, 2]", "r.csv record 1 is a number where a record is expected"),
    "nested JSON": ('[{"item": 1, "annotator": {"id": 3}, "v": 2}]', "record 1: 'annotator' holds a list or an object"),
    "half a gzip": (gzip.compress((H + GOOD).encode())[:30], "its gzip data is damaged"),
    "half a Parquet": (b"PAR1" + bytes(50), "its Parquet data is damaged"),
    "prose": ("Dear all,\nplease find the ratings below\n", "no column that looks like the item"),
}


@pytest.mark.parametrize("name", BAD)
def test_mistake(tmp_path, name):
    content, message = BAD[name]
    path = tmp_path / "r.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as caught:
        read_ratings(path)
    assert message in in_shell(caught.value)


def test_rows_are_counted_as_an_editor_counts_lines(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text('item,annotator,v\n"two\nlines",x,1\n\n,,\n3,x,oops\n')
    with pytest.raises(DataError, match="row 6: v is 'oops'"):
        read_ratings(path)


def test_rows_of_frames_are_counted_from_zero():
    frame = pd.DataFrame({"item": ["1", "1"], "annotator": ["x", "x"], "v": [1.0, 2.0]})
    with pytest.raises(DataError, match=r"data frame row 0 \(counted from 0\) and row 1 \(counted from 0\)"):
        read_ratings(frame)
    with pytest.raises(DataError, match=r"row 1 .*: v is 'inf'"):
        read_ratings(pl.DataFrame({"item": ["1", "2"], "annotator": ["x", "x"], "v": [1.0, float("inf")]}))


def test_pandas_frame_with_two_columns_of_one_name():
    frame = pd.DataFrame([["1", "x", 1.0, 2.0]], columns=["item", "annotator", "v", "v"])
    with pytest.raises(DataError, match="'v'"):
        read_ratings(frame)


def test_something_that_is_no_table():
    with pytest.raises(DataError, match="Cannot read ratings from a int"):
        read_ratings(3)


def test_an_unknown_column_suggests_the_nearest(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(H + GOOD)
    with pytest.raises(DataError, match=r"r.csv has no column 'anotator'.* Did you mean 'annotator'\?"):
        read_ratings(path, annotator="anotator")
    with pytest.raises(DataError, match="no column 'valence'"):
        read_ratings(path, dims=["valence"])
    with pytest.raises(DataError, match="column 'v' cannot be 'one' and 'two' at once"):
        read_ratings(path, dims={"one": "v", "two": "v"})


def test_a_column_that_was_asked_for_must_hold_numbers(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item,annotator,v,c,e\n1,x,1,sweet,\n1,y,1,sour,\n")
    message = r"row 2: c is 'sweet'. The column holds text throughout; .*: labels=\"sweet=1, sour=2\"."
    with pytest.raises(DataError, match=message):
        read_ratings(path, dims=["v", "c"])
    with pytest.raises(DataError, match="column 'e' is empty in every row"):
        read_ratings(path, dims=["v", "e"])


def test_long_tables(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item,annotator,dimension,value\n1,x,v,1\n1,x,a,1\n1,x,v,3\n")
    with pytest.raises(DataError, match=r"r.csv row 2 and row 4: annotator 'x' rated v of item '1' twice"):
        read_ratings(path)
    path.write_text("item,annotator,dimension,value\n1,x,v,1\n1,x,a,one\n")
    with pytest.raises(DataError, match="row 3: value is 'one'"):
        read_ratings(path)
    path.write_text("item,annotator,dimension,value\n1,x,v,1\n1,x,a,1\n")
    with pytest.raises(DataError, match="no column 'w'; it has 'a' and 'v'"):
        read_ratings(path, dims=["w"])


def test_item_tables(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("item,f\n1,1\n2,2\n1,3\n")
    with pytest.raises(DataError, match=r"f.csv row 2 and row 4 both describe item '1'"):
        read_item_table(path)
    path.write_text("item,f,g\n1,1,\n2,,2\n")
    with pytest.raises(DataError, match=r"f.csv row 3: f is empty"):
        read_item_table(path, complete=True)


def test_a_path_that_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_ratings(tmp_path / "nothere.csv")
    with pytest.raises(IsADirectoryError):
        read_ratings(tmp_path)
