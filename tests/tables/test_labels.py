"""The canonical order of labels."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from unisono.tables.labels import listed, nearest, sort_labels
from unisono.tables.reading.label_and_number_columns import _in_order

LABELS = st.one_of(
    st.text(max_size=8),
    st.from_regex(r"[ab-]{0,2}[0-9]{1,4}[x_]{0,2}", fullmatch=True),
    st.integers(0, 10**20).map(str),
)


def test_numbers_inside_labels_count_as_numbers():
    mixed = ["clip10", "clip2", "clip", "clip02", "clip2b", "Clip1", "10", "9", "a-1", "a1"]
    expected = ("9", "10", "Clip1", "a-1", "a1", "clip", "clip02", "clip2", "clip2b", "clip10")
    assert sort_labels([*mixed, "10"]) == expected


@given(st.lists(LABELS), st.randoms())
def test_the_order_does_not_depend_on_the_order_before(labels, random):
    before = sort_labels(labels)
    assert sorted(before) == sorted(set(labels))
    random.shuffle(labels)
    assert sort_labels(labels) == before


@given(st.sets(LABELS, min_size=1), st.sampled_from(["", "a", "a0", "x-"]))
def test_the_quick_way_of_reading_gives_the_same_order(labels, word):
    for found in (labels, {word + label for label in labels}, {f"{word}{len(label)}" for label in labels}):
        assert tuple(_in_order(pl.Series(sorted(found), dtype=pl.String))[0].to_list()) == sort_labels(found)


@given(st.sets(st.integers(0, 2000), min_size=1), st.sampled_from(["", "a", "a0", "x-"]), st.integers(1, 5))
def test_numbers_filled_up_with_zeros_are_read_in_the_same_order(numbers, word, width):
    found = {f"{word}{number:0{width}d}" for number in numbers}
    assert tuple(_in_order(pl.Series(sorted(found), dtype=pl.String))[0].to_list()) == sort_labels(found)


def test_words_for_messages():
    assert listed(["a"]) == "'a'"
    assert listed(["a", "b"]) == "'a' and 'b'"
    assert listed(list("abcdefg"), 3) == "'a', 'b', 'c' and 4 more"
    assert nearest("anotator", ["item", "annotator"]) == "annotator"
    assert nearest("zzz", ["item"]) is None
