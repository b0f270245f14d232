"""The container of categories: order, refusals, selection, hash."""

from __future__ import annotations

import numpy as np
import pytest

from unisono.errors import DataError
from unisono.tables.categories import Categories


def made(item=(0, 0, 1), annotator=(0, 1, 0), answer=(1, 0, 1), classes=("a", "b")):
    codes = (np.array(code) for code in (item, annotator, answer))
    return Categories.from_answers(
        {"topic": (classes, *codes)}, items=["x", "y"], annotators=["p", "q"], source="t.csv"
    )


def test_answers_are_sorted_and_frozen():
    one, other = made(), made((1, 0, 0), (0, 1, 0), (1, 0, 1))
    np.testing.assert_array_equal(one["topic"].answer, other["topic"].answer)
    assert one.data_hash == other.data_hash
    assert one.data_hash != made(answer=(1, 1, 0)).data_hash
    with pytest.raises(ValueError, match="read-only"):
        one["topic"].answer[0] = 0


def test_introduction_names_dimensions_and_frequent_classes():
    assert "topic" in repr(made())
    assert "2 items by 2 annotators" in repr(made())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": (0, 0, 0), "classes": ("a",)}, "everybody who answered chose 'a' for 'topic'"),
        ({"item": (0, 1), "annotator": (0, 1), "answer": (0, 1)}, "no item has answers to 'topic' by two annotators"),
        ({"item": (0, 1), "annotator": (0, 0), "answer": (0, 1)}, "no item has answers to 'topic' by two annotators"),
        ({"item": (), "annotator": (), "answer": ()}, "nobody answered 'topic'"),
    ],
)
def test_what_cannot_be_fused_is_refused(changes, message):
    with pytest.raises(DataError, match=message):
        made(**changes)


def test_an_unknown_dimension_is_answered_with_the_nearest():
    with pytest.raises(DataError, match=r"no categories 'tpic'; it has 'topic'. Did you mean 'topic'"):
        made().select_dimensions(["tpic"])
