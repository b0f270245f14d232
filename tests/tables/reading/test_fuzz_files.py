"""Whatever JSON comes in, and however a packed file or a workbook is damaged: ratings come out, or a DataError."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import warnings
import zipfile

import numpy as np
import pytest
import xlsxwriter
from hypothesis import example, given, settings
from hypothesis import strategies as st

from unisono.errors import DataError, DataWarning
from unisono.tables.reading.open_table import table_of_bytes

TEXT = b"item,annotator,v\n1,x,1\n1,y,2\n2,x,4\n2,y,3\n"
CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just("\ud800"), st.just(10**400)
)
KEYS = st.sampled_from(["item", "annotator", "v", "data", "columns", "ratings", "", " v"])
ROWS = st.lists(st.dictionaries(KEYS, CELLS, max_size=4), max_size=4)
DOCUMENTS = st.recursive(
    st.one_of(CELLS, ROWS), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
)


def read_all(data: bytes) -> None:
    """Opens a table and goes through its cells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            table = table_of_bytes("fuzz", np.frombuffer(data, dtype=np.uint8))
            for part in table.parts():
                table.where(part.record(0))
        except DataError:
            pass


@settings(max_examples=300)
@given(DOCUMENTS)
@example({"columns": [[1]], "data": [[1]]})
@example([{"v": "\ud800"}])
@example([{"v": 10**400}])
def test_any_json(document):
    read_all(json.dumps(document).encode())


@settings(max_examples=200)
@given(st.lists(st.sampled_from(list('{}[]":, \n1e') + ["null", '"item"', '{"v": 1}\n']), max_size=20))
def test_what_looks_like_json(pieces):
    read_all("".join(["{", *pieces]).encode())
    read_all("".join(["[", *pieces]).encode())


def zipped() -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ratings.csv", TEXT)
    return whole.getvalue()


def workbook() -> bytes:
    whole = io.BytesIO()
    book = xlsxwriter.Workbook(whole, {"in_memory": True})
    sheet = book.add_worksheet()
    for row, line in enumerate(TEXT.decode().splitlines()):
        sheet.write_row(row, 0, line.split(","))
    book.close()
    return whole.getvalue()


PACKED = {"gzip": gzip.compress(TEXT), "bzip2": bz2.compress(TEXT), "zip": zipped(), "xlsx": workbook()}


@pytest.mark.parametrize("kind", PACKED)
@settings(max_examples=60)
@given(data=st.data())
def test_damaged_files(kind, data):
    content = bytearray(PACKED[kind])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    read_all(bytes(content[: data.draw(st.integers(4, len(content)))]))
    read_all(bytes(content))
