"""Categories in tables with a column per annotator, alone and beside numbers."""

import pandas as pd
import pytest

import unisono as un
from unisono.tables.reading.categories_reader import read_answers

TOPICS = ("cats", "dogs", "birds")


@pytest.fixture
def wide():
    """Ten items, three annotators; the third errs on some."""
    topic = [TOPICS[i % 3] for i in range(10)]
    erring = [TOPICS[0] if i % 4 == 0 else word for i, word in enumerate(topic)]
    return pd.DataFrame({"clip": range(10), "topic_A1": topic, "topic_A2": topic, "topic_A3": erring})


def test_words_side_by_side_are_categories(wide):
    ratings, categories = read_answers(wide.set_axis(["clip", "rater1", "rater2", "rater3"], axis=1))
    assert ratings is None
    assert categories.names == ("rating",)
    assert categories.annotators == ("rater1", "rater2", "rater3")
    assert categories["rating"].n == 30
    assert any("taken for 3 annotators" in note for note in categories.reading.notes)


def test_words_and_numbers_side_by_side(wide):
    numbers = {f"joy_A{k}": [1 + (i + (k == 3) * (i % 2)) % 5 for i in range(10)] for k in (1, 2, 3)}
    ratings, categories = read_answers(wide.assign(**numbers))
    assert ratings.dimensions == ("joy",)
    assert categories.names == ("topic",)
    assert ratings.annotators == categories.annotators == ("A1", "A2", "A3")
    result = un.fuse(wide.assign(**numbers), model="mean", category_model="majority")
    assert result.truth["clip"].tolist() == list(range(10))
    assert list(result.annotators_overall["annotator"]) == ["A1", "A2", "A3"]


def test_codes_side_by_side_are_categories_when_asked(wide):
    codes = wide.replace({word: number for number, word in enumerate(TOPICS)}).set_axis(["clip", *"xyz"], axis=1)
    _, categories = read_answers(codes, categories="rating", annotators_in_columns="x,y,z")
    assert categories["rating"].classes == ("0", "1", "2")
    assert categories.annotators == ("x", "y", "z")
