"""Whatever bytes come in: ratings come out, or a DataError. Never anything else."""

from __future__ import annotations

import csv
import io
import warnings

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from unisono.errors import DataError, DataWarning
from unisono.tables.ratings import Ratings
from unisono.tables.reading.open_table import table_of_bytes
from unisono.tables.reading.ratings_reader import read_ratings

HEADER = b"item,annotator,v,w\n"
CELLS = st.text(alphabet='01a,;" \n\r\t.-e\x00é', max_size=6)
PIECES = st.sampled_from(['"', '""', ",", ";", "\n", "\r\n", "\t", "1", "2", "x", " ", "nan", "1e200", "é", "-", "\r"])


def read_bytes(content: bytes, folder) -> Ratings | None:
    path = folder / "fuzz.csv"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            return read_ratings(path)
        except DataError:
            return None


@settings(max_examples=400)
@given(st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=40).map(lambda parts: "".join(parts).encode())))
@example(b'"')
@example(b"\xef\xbb\xbf")
@example(b"\r")
def test_any_bytes_below_a_header_or_alone(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("fuzz")
    for whole in (content, HEADER + content):
        found = read_bytes(whole, folder)
        if found is not None:
            assert np.isfinite(found.value[~np.isnan(found.value)]).all()
            assert "" not in found.items
            assert "" not in found.annotators


@settings(max_examples=300)
@given(
    st.lists(
        st.lists(CELLS.map(lambda cell: cell.replace("\x00", "")), min_size=3, max_size=3), min_size=1, max_size=8
    ),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_cells_are_those_of_the_csv_module(rows, separator, line_end):
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows(
        [["a", "b", "c"], *rows]
    )
    table = table_of_bytes("fuzz.csv", np.frombuffer(text.getvalue().encode(), dtype=np.uint8))
    found = [tuple(cell or "" for cell in row) for part in table.parts() for row in part.frame.rows()]
    assert found == [tuple(row) for row in rows]
