"""Every shape of table is the same ratings: annotators or items side by side, one row per number, names in pieces."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unisono as un
from unisono.errors import DataError, InterpretedWarning, SettingsError
from unisono.tables.reading.data_frames import FrameTable
from unisono.tables.reading.ratings_reader import read_item_table, read_ratings
from unisono.tables.reading.table_layout import join_columns, split_label

TIDY = """item,annotator,valence,arousal
c1,A1,1,5
c1,A2,2,4
c2,A1,4,1
c2,A2,3,
c3,A2,2,2
"""
pytestmark = pytest.mark.filterwarnings("ignore::unisono.errors.DataWarning")


def table(text: str) -> pl.DataFrame:
    return pl.read_csv(io.StringIO(text))


def read(text: str, **words):
    return read_ratings(table(text), **words)


TIDIED = read(TIDY)
WIDE = "item,valence_A1,valence_A2,arousal_A1,arousal_A2\nc1,1,2,5,4\nc2,4,3,1,\nc3,,2,,2\n"


def assert_same(found, expected=TIDIED):
    assert (found.items, found.annotators, found.dimensions) == (
        expected.items,
        expected.annotators,
        expected.dimensions,
    )
    np.testing.assert_array_equal(found.value, expected.value)
    np.testing.assert_array_equal(found.item_of, expected.item_of)


def test_a_column_for_each_dimension_and_annotator():
    with pytest.warns(InterpretedWarning, match=r"'valence_A1', .* were taken for 2 annotators, their cells for 'val"):
        assert_same(read_ratings(table(WIDE)))
    assert_same(
        read(
            WIDE.replace("valence_A1", "A1.valence")
            .replace("valence_A2", "A2.valence")
            .replace("arousal_A1", "A1.arousal")
            .replace("arousal_A2", "A2.arousal")
        )
    )
    assert_same(read(WIDE, annotators_in_columns="{dimension}_{annotator}"))
    assert_same(read(WIDE, items_in_columns=None, dims=["valence", "arousal"]))


def test_a_form_takes_names_that_say_nothing():
    text = WIDE.replace("_A1", "-x").replace("_A2", "-y")
    with pytest.raises(DataError, match=r"If columns stand for annotators, say annotators_in_columns=.\{dimension\}-"):
        read(text)
    found = read(text, annotators_in_columns="{dimension}-{annotator}")
    assert found.annotators == ("x", "y")
    np.testing.assert_array_equal(found.value, TIDIED.value)


ONE = "item,{0},{1},note\nc1,1,2,a\nc2,4,3,b\nc3,,2,c\n"


@pytest.mark.parametrize(
    "names",
    [("rater1", "rater2"), ("Rater A", "Rater B"), ("A1", "A2"), ("annotator_anna", "annotator_ben"), ("w01", "w02"),
     ("CoderA", "CoderB"), ("expert 1", "expert 2")],
)  # fmt: skip
def test_columns_that_are_annotators_by_their_names(names):
    found = read(ONE.format(*names))
    assert found.annotators == names
    assert found.dimensions == ("rating",)
    np.testing.assert_array_equal(found.value[:, 0], [1, 2, 4, 3, 2])
    assert "were taken for 2 annotators" in found.reading.notes[0]
    assert read(ONE.format(*names), dims="valence").dimensions == ("valence",)


@pytest.mark.parametrize("names", [("anna", "ben"), ("q1", "q2"), ("x1", "x2"), ("1", "2"), ("rating_1", "rating_2")])
def test_columns_that_may_be_anything_are_told_and_not_taken(names):
    text = ONE.format(*names)
    with pytest.raises(DataError, match=r"no column that looks like the annotator") as caught:
        read(text)
    pattern = str(caught.value).split('annotators_in_columns="')[1].split('"')[0]
    found = read(text, annotators_in_columns=pattern)
    np.testing.assert_array_equal(found.value[:, 0], [1, 2, 4, 3, 2])


def test_patterns():
    text = "item,anna,annette,ben\nc1,1,2,3\nc2,4,3,2\n"
    assert read(text, annotators_in_columns="ann*").annotators == ("anna", "annette")
    assert read(text, annotators_in_columns="anna, ben", dims="joy").dimensions == ("joy",)
    assert read(text.replace("ben", "b[1]"), annotators_in_columns="anna,b[1]").annotators == ("anna", "b[1]")
    named = "item,emo_joy_x,emo_joy_y\nc1,1,2\nc2,4,3\n"
    assert read(named, annotators_in_columns="{dimension}_{annotator}").dimensions == ("emo_joy",)
    assert read(named, annotators_in_columns="emo_joy_{annotator}").dimensions == ("emo_joy",)
    for bad, message in {
        "x*": "no column 'x\\*'",
        "{who}": "does not say which part",
        "q_{annotator}": "no column like",
    }.items():
        with pytest.raises(DataError, match=message):
            read(text, annotators_in_columns=bad)
    with pytest.raises(SettingsError, match=r"Either annotators or items"):
        read(text, annotators_in_columns="a*", items_in_columns="b*")


def test_items_side_by_side():
    text = "participant,clip1,clip2,clip3\nA1,1,4,\nA2,2,3,2\n"
    found = read(text)
    assert found.items == ("clip1", "clip2", "clip3")
    assert_same(found, read("item,annotator,rating\nclip1,A1,1\nclip1,A2,2\nclip2,A1,4\nclip2,A2,3\nclip3,A2,2\n"))
    with pytest.raises(DataError, match=r"items_in_columns=.sea,hill"):
        read("participant,sea,hill\nA1,1,4\nA2,2,3\n")


def test_several_questions_and_annotators_side_by_side():
    """What is left beside the columns of annotators may still name the dimension."""
    text = "item,question,rater1,rater2\na,joy,1,2\na,fear,3,4\nb,joy,5,4\nb,fear,1,1\n"
    found = read(text)
    assert found.dimensions == ("fear", "joy")
    np.testing.assert_array_equal(found.value, [[3, 1], [4, 2], [1, 5], [1, 4]])


def test_a_column_that_was_named_is_not_taken_for_something_else():
    """Judges may be what is rated."""
    found = read("judge,rater1,rater2\na,1,2\nb,3,5\n", item="judge")
    assert (found.items, found.annotators) == (("a", "b"), ("rater1", "rater2"))


def test_annotators_of_traces_side_by_side():
    rows = "".join(f"film,{t / 2},{t % 5},{(t + 1) % 5}\n" for t in range(12))
    found = read("recording,time,rater1,rater2\n" + rows)
    assert found.is_series
    assert found.annotators == ("rater1", "rater2")


def test_a_cell_of_a_wide_table_is_told_with_its_column():
    with pytest.raises(DataError, match=r"row 1 .* column 'rater2': rating is 'soon'"):
        read_ratings(pl.DataFrame({"item": ["a", "b"], "rater1": ["1", "2"], "rater2": ["3", "soon"]}))


def test_one_row_per_number_by_any_names():
    rows = [(i, k, d, v) for (i, k), row in zip([("c1", "A1"), ("c1", "A2"), ("c2", "A1"), ("c2", "A2"), ("c3", "A2")],
            TIDIED.value.tolist(), strict=True) for d, v in zip(("valence", "arousal"), row, strict=True)]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["item", "annotator", "facet", "points"], orient="row")
    found = read_ratings(frame, dimension="facet", value="points", dims=["valence", "arousal"])
    assert_same(found)
    assert_same(read_ratings(frame.rename({"points": "score"}), dimension="facet", dims=["valence", "arousal"]))
    with pytest.raises(DataError, match=r"no column looks like the one that holds the value; .* Say value=COLUMN"):
        read_ratings(frame, dimension="facet")
    with pytest.raises(DataError, match=r"that names the dimension; .* Say dimension=COLUMN"):
        read_ratings(frame, value="points")


IDS = "system,prompt,judge,quality\ng,1,x,3\ng,1,y,4\ng,2,x,1\ng,2,y,2\nh,1,x,5\nh,1,y,4\n"


@pytest.mark.parametrize("item", ["system,prompt", "system, prompt", ["system", "prompt"]])
def test_several_columns_name_an_item(item):
    found = read(IDS, item=item)
    assert found.items == ("g|1", "g|2", "h|1")
    assert found.dimensions == ("quality",)
    assert found.reading.item_parts == ("system", "prompt")


def test_results_of_items_with_several_columns_have_these_columns(tmp_path):
    result = un.fuse(read(IDS, item="system,prompt"), model="mean")
    assert result.truth["system"].to_list() == ["g", "g", "h"]
    assert list(result.truth.columns)[:4] == ["item", "system", "prompt", "quality"]
    result.save(tmp_path / "out")
    assert (tmp_path / "out" / "truth.csv").read_text().startswith("item,system,prompt,quality,")
    again = read_item_table(tmp_path / "out" / "truth.csv", item="system,prompt")
    assert (again.items, again.columns) == (("g|1", "g|2", "h|1"), ("quality",))


def test_an_annotator_may_have_several_columns_too():
    text = "item,lab,rater,v\n1,a,1,3\n1,b,1,4\n2,a,1,2\n2,b,1,5\n"
    assert read(text, annotator="lab,rater").annotators == ("a|1", "b|1")


def test_a_name_with_a_missing_piece_is_refused():
    with pytest.raises(DataError, match=r"row 1 .*: system,prompt is empty"):
        read(IDS.replace("g,1,y", ",1,y"), item="system,prompt")


@settings(max_examples=200)
@given(st.lists(st.tuples(*[st.text("ab|\\", min_size=1, max_size=4)] * 2), min_size=1, max_size=8))
def test_names_in_pieces_stay_apart_and_come_back(rows):
    frame = pl.DataFrame({"a": [a for a, _ in rows], "b": [b for _, b in rows]})
    joined, name, parts = join_columns(FrameTable("frame", frame, 0), "a,b")
    (part,) = joined.parts()
    labels = part.column(2).to_list()
    assert (name, parts) == ("a,b", ("a", "b"))
    assert [tuple(split_label(label)) for label in labels] == rows


def test_names_in_the_index_of_a_frame():
    frame = pd.read_csv(io.StringIO(TIDY))
    assert_same(read_ratings(frame.set_index(["item", "annotator"])))
    assert_same(read_ratings(frame.set_index("item")))
    assert_same(read_ratings(frame))
    assert_same(read_ratings(frame[frame.valence > 0]))
    series = frame.set_index(["item", "annotator"])["valence"]
    assert read_ratings(series).dimensions == ("valence",)
    wide = frame.pivot_table(index="item", columns="annotator", values=["valence", "arousal"])
    assert read_ratings(wide).annotators == ("A1", "A2")
    assert set(read_ratings(wide).dimensions) == {"valence", "arousal"}
    assert isinstance(un.fuse(frame.set_index(["item", "annotator"]), model="mean").truth, pd.DataFrame)


@settings(max_examples=40)
@given(st.integers(1, 5), st.integers(2, 5), st.integers(1, 3), st.randoms(use_true_random=False))
def test_wide_and_tidy_are_the_same_ratings(items, raters, dims, random):
    """The melted table against rows written one by one."""
    names = [f"d{d}x" for d in range(dims)]
    cell = {
        (m, k, d): random.choice([None, *range(9)]) for m in range(items) for k in range(raters) for d in range(dims)
    }
    cell |= {(0, 0, d): 3 for d in range(dims)}
    tidy = [
        {"item": f"m{m}", "annotator": f"A{k}"} | {names[d]: cell[m, k, d] for d in range(dims)}
        for m in range(items) for k in range(raters) if any(cell[m, k, d] is not None for d in range(dims))
    ]  # fmt: skip
    wide = [
        {"item": f"m{m}"} | {f"{names[d]}_A{k}": cell[m, k, d] for k in range(raters) for d in range(dims)}
        for m in range(items)
    ]
    one = read_ratings(pl.DataFrame(tidy, infer_schema_length=None), dims=names, scale=(0, 8))
    other = read_ratings(pl.DataFrame(wide, infer_schema_length=None), dims=names, scale=(0, 8))
    assert_same(other, one)
