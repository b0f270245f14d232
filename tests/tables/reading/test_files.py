"""Files of every kind hold the same table: packed, in any encoding, as JSON, as a workbook."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import sys
import zipfile

import numpy as np
import polars as pl
import pytest
import xlsxwriter

from unisono.errors import DataError
from unisono.tables.reading.delimited_text import as_utf8
from unisono.tables.reading.ratings_reader import read_ratings

try:
    from compression import zstd
except ImportError:
    from backports import zstd

ROWS = [("clip10", "Zoë", 1.5, 2), ("clip10", "ben", 2.5, None), ("clip2", "Zoë", 4, 1), ("clip2", "ben", 3, 5)]
NAMES = ("item", "annotator", "valence", "arousal")
TEXT = ",".join(NAMES) + "\n" + "\n".join(",".join("" if x is None else str(x) for x in row) for row in ROWS) + "\n"
RECORDS = [dict(zip(NAMES, row, strict=True)) for row in ROWS]

pytestmark = pytest.mark.filterwarnings("ignore::unisono.errors.InterpretedWarning")


def zipped(**members: bytes) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return whole.getvalue()


def workbook(*sheets: tuple[str, list[list[object]]], merged: tuple[str, ...] = ()) -> bytes:
    whole = io.BytesIO()
    book = xlsxwriter.Workbook(whole, {"in_memory": True})
    for title, rows in sheets:
        sheet = book.add_worksheet(title)
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                if cell is not None:
                    sheet.write(number, column, cell)
        for place in merged:
            sheet.merge_range(place, "")
    book.close()
    return whole.getvalue()


SHEET: list[list[object]] = [list(NAMES), *map(list, ROWS)]


@pytest.fixture
def read(tmp_path):
    def read(content: bytes, name: str = "ratings.csv", **words):
        path = tmp_path / name
        path.write_bytes(content)
        return read_ratings(path, **words)

    return read


def assert_is_the_table(ratings):
    assert (ratings.items, ratings.annotators) == (("clip2", "clip10"), ("Zoë", "ben"))
    assert ratings.dimensions == ("valence", "arousal")
    np.testing.assert_array_equal(ratings.value, [[4, 1], [3, 5], [1.5, 2], [2.5, np.nan]])


PACKED = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "Zstandard": zstd.compress,
    "zip": lambda content: zipped(ratings__csv=content),
    "zip beside a note": lambda content: zipped(README=b"hello", ratings__csv=content, __MACOSX=b""),
    "gzip in a zip": lambda content: zipped(ratings__csv__gz=gzip.compress(content)),
}


@pytest.mark.parametrize("pack", PACKED)
@pytest.mark.parametrize("form", ["text", "json", "parquet", "xlsx"])
def test_packed_in_any_way(read, pack, form):
    buffer = io.BytesIO()
    pl.DataFrame(RECORDS).write_parquet(buffer)
    content = {
        "text": TEXT.encode(),
        "json": json.dumps(RECORDS).encode(),
        "parquet": buffer.getvalue(),
        "xlsx": workbook(("Sheet1", SHEET)),
    }[form]
    assert_is_the_table(read(PACKED[pack](content)))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("form", ["text", "json lines"])
def test_every_encoding_gives_the_same_table(read, encoding, form):
    lines = "\n".join(json.dumps(record, ensure_ascii=False) for record in RECORDS)
    ratings = read((TEXT if form == "text" else lines).encode(encoding))
    assert_is_the_table(ratings)
    said = {"utf-8": (), "utf-8-sig": ()}.get(encoding)
    assert (ratings.reading.notes == ()) == (said == ())
    if encoding == "cp1252":
        assert "Windows-1252 (Latin-1)" in ratings.reading.notes[0]
    if encoding.startswith(("utf-16", "utf-32")):
        assert ratings.reading.notes == (f"It is {encoding[:6].upper()} text.",)


def test_text_that_is_mostly_utf8_is_not_garbled():
    with pytest.raises(DataError, match=r"row 2: byte 0xff is not UTF-8"):
        as_utf8("r.csv", np.frombuffer("é,ü\nö".encode() + b"\xff\n", dtype=np.uint8))


@pytest.mark.parametrize(
    "document",
    [
        RECORDS,
        {name: [record[name] for record in RECORDS] for name in NAMES},
        {name: {str(i): record[name] for i, record in enumerate(RECORDS)} for name in NAMES},
        {"columns": list(NAMES), "index": [0, 1, 2, 3], "data": ROWS},
        {"study": "one", "data": RECORDS},
        {"ratings": RECORDS},
    ],
    ids=["records", "columns", "pandas", "pandas split", "under data", "under ratings"],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_json(read, document, indent):
    assert_is_the_table(read(json.dumps(document, indent=indent).encode()))


def test_json_lines_are_counted_as_lines(read):
    lines = [json.dumps(record) for record in RECORDS]
    assert_is_the_table(read("\n".join(lines).encode()))
    assert_is_the_table(read(("\n\n".join(lines) + "\n\n").encode()))
    bad = [*lines, '{"item": "clip3", "annotator": "ben", "valence": "soon"}']
    with pytest.raises(DataError, match=r"ratings.csv line 6: valence is 'soon'"):
        read(("\n" + "\n".join(bad)).encode())
    with pytest.raises(DataError, match=r"ratings.csv line 3: this is not JSON"):
        read("\n".join([*lines[:2], lines[2][:-4]]).encode())


def test_json_labels_stay_labels(read):
    records = [{"item": i, "annotator": k, "v": i + k} for i in (7, 2**70) for k in (1, 2)]
    ratings = read(json.dumps(records).encode())
    assert ratings.items == ("7", str(2**70))


def test_json_of_another_shape_is_refused_with_the_way_out(read):
    with pytest.raises(DataError, match=r"neither a list of records nor columns .* `unisono import json`"):
        read(b'{"a": {"b": 1}, "c": 3}')


def test_a_workbook(read):
    assert_is_the_table(read(workbook(("Sheet1", SHEET))))


def test_a_title_above_the_header_and_empty_rows(read):
    rows = [["Our study"], [], *SHEET[:3], [], *SHEET[3:]]
    ratings = read(workbook(("Sheet1", rows)))
    assert_is_the_table(ratings)
    assert ratings.reading.notes == ("The header is row 3.",)


def test_rows_of_a_workbook_are_counted_as_it_counts_them(read):
    rows = [["Our study"], [], *SHEET, ["clip2", "carl", "soon", 1]]
    with pytest.raises(DataError, match=r"ratings.csv row 8: valence is 'soon'"):
        read(workbook(("Sheet1", rows)))


def test_merged_cells_over_the_header_become_part_of_the_names(read):
    rows = [
        ["clip", "valence", None, "arousal", None],
        [None, "A1", "A2", "A1", "A2"],
        ["one", 1, 2, 3, 4],
        ["two", 4, 4, 1, 2],
    ]
    ratings = read(workbook(("Sheet1", rows)))
    assert ratings.dimensions == ("valence", "arousal")
    assert ratings.annotators == ("A1", "A2")
    assert ratings.reading.notes[0] == "The header is rows 1 and 2, joined."
    np.testing.assert_array_equal(ratings.value, [[1, 3], [2, 4], [4, 1], [4, 2]])


def test_two_merged_cells_are_no_row_of_answers(read):
    rows = [["clip", "joy", None], [None, "A1", "A2"], ["one", 1, 2], ["two", 4, 4]]
    assert read(workbook(("Sheet1", rows))).dimensions == ("joy",)


def test_sheets(read):
    notes = ("Notes", [["written in May"]])
    assert_is_the_table(read(workbook(notes, ("Ratings", SHEET))))
    several = workbook(("Pilot", [list(NAMES), ["a", "b", 1, 2]]), ("Main", SHEET), ("Empty", []))
    assert read(several).reading.notes == ("The table is sheet 'Pilot'; for 'Main' say --sheet.",)
    assert_is_the_table(read(several, sheet="Main"))
    with pytest.raises(
        DataError, match=r"no sheet 'Mian'; it has 'Pilot', 'Main' and 'Empty'. Did you mean sheet=.Main"
    ):
        read(several, sheet="Mian")
    with pytest.raises(DataError, match=r"sheet 'Empty', is empty"):
        read(several, sheet="Empty")


def test_files_of_an_archive(read):
    several = zipped(one__csv=b"item,annotator,v\n1,x,1\n", two__csv=TEXT.encode())
    with pytest.raises(DataError, match=r"holds 2 files: 'one.csv' and 'two.csv'. Say sheet=.one.csv"):
        read(several)
    with pytest.raises(DataError, match=r"There is no 'tow.csv'. Say sheet=.two.csv"):
        read(several, sheet="tow.csv")
    assert_is_the_table(read(several, sheet="two.csv"))
    with pytest.raises(DataError, match=r"the zip archive is empty"):
        read(zipped())


@pytest.mark.parametrize(("module", "content", "extra"), [("fastexcel", workbook(("a", SHEET)), "excel")])
def test_a_package_that_is_not_there_is_named(read, monkeypatch, module, content, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DataError, match=rf"pip install 'unisono\[{extra}\]'"):
        read(content)


def test_zstandard_without_its_package(read, monkeypatch):
    for module in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DataError, match=r"pip install 'unisono\[zstd\]'; or unpack it first"):
        read(zstd.compress(TEXT.encode()))


@pytest.mark.parametrize("separator", ["|", ";", "\t"])
def test_a_separator_that_excel_announces(read, separator):
    assert_is_the_table(read(("sep=" + separator + "\n" + TEXT.replace(",", separator)).encode()))


def test_bars_in_the_names_of_columns_do_not_separate(read):
    ratings = read(b"item,annotator,good|bad|ugly|odd\n1,x,1\n1,y,2\n")
    assert ratings.dimensions == ("good|bad|ugly|odd",)
