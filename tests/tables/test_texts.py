"""Tables of text: what the reader of ratings reads, cell by cell, with the same errors."""

import gzip

import polars as pl
import pytest

from unisono.errors import DataError
from unisono.tables.reading.side_information import read_item_texts

TABLE = 'item,text\n501,"A ""quoted"", line"\nb, over \n'


@pytest.fixture
def write(tmp_path):
    def write(text, name="texts.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.mark.parametrize(
    "content",
    [
        TABLE,
        "\ufeff" + TABLE.replace("\n", "\r\n"),
        TABLE.replace("\nb", "\n\n,\nb"),
        gzip.compress(TABLE.encode()),
        'item;text\n501;"A ""quoted"", line"\nb;over\n',
    ],
    ids=["plain", "Windows", "empty rows", "gzip", "semicolons"],
)
def test_texts_come_in_their_order_whatever_the_file_looks_like(write, content):
    assert list(read_item_texts(write(content)).items()) == [("501", 'A "quoted", line'), ("b", "over")]


def test_frames_are_read_like_files():
    frame = pl.DataFrame({"item": [501, 7], "text": ["a", None]})
    assert read_item_texts(frame) == {"501": "a", "7": ""}


def test_texts_keep_their_lines_and_rows_know_their_place(write):
    rows = 'item,text,x\na,"two\nlines",1\n\n,,\n'
    assert read_item_texts(write(rows + "b,,2\n")) == {"a": "two\nlines", "b": ""}
    with pytest.raises(DataError, match=r"texts.csv row 2 and row 6 both describe item 'a'"):
        read_item_texts(write(rows + "a,,2\n"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("item,txt\na,b\n", r"texts.csv has no column 'text'; it has 'item' and 'txt'. Did you mean 'txt'\?"),
        ("item,text\na,b\n\n,c\n", "texts.csv row 4: item is empty"),
        ("item,text\na,b\nc,d\na,e\n", "texts.csv row 2 and row 4 both describe item 'a'"),
        ("item,text\na,b,c\n", "texts.csv row 2 has too many cells"),
        ("item,text\n,\n", "texts.csv has a header but no rows"),
        ("", "texts.csv is empty"),
        (b"item,text\na,\x81\n", "texts.csv row 2: byte 0x81 is not UTF-8"),
    ],
)
def test_bad_tables_are_told_with_row_and_column(write, content, said):
    with pytest.raises(DataError, match=said):
        read_item_texts(write(content))
