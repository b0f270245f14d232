"""Flipped and other unusual traces from labelled ratings to columns and words; gold says which way is up."""

import numpy as np
import pytest

import unisono as un
from trace_world import pearson, trace_world

pytestmark = pytest.mark.slow


def world(flipped, seed=3):
    """Six annotators, some of whom trace upside down, one of whom never moves."""
    made = trace_world(seed=seed, K=6, lengths=(200, 200, 200), gaps=False)
    value = made.ratings.value.copy()
    own = np.repeat(made.ratings.annotator_of, made.ratings.length[made.ratings.item_of])
    value[np.isin(own, flipped)] *= -1
    value[own == 5] = 0.25
    return made._replace(ratings=made.ratings.with_value(value))


@pytest.fixture(scope="module")
def result():
    return un.fuse(world([1]).ratings)


def test_columns_and_words_name_them(result):
    table = result.annotators
    for dimension in ("valence", "arousal"):
        own = table.filter(table["dimension"] == dimension)
        assert (own["flipped"] > 0.9).to_list() == [False, True, False, False, False, False]
        assert (own["flat"] > 0.9).to_list() == [False] * 5 + [True]
        assert (own["gain"] < 0).to_list() == [False, True, False, False, False, False]
    text = result.summary()
    assert "Reversed traces (probability above 0.9): 'rater 1'" in text
    assert "Which way is up is what most annotators do." in text
    assert "Traces that do not move (probability above 0.9): 'rater 5'" in text
    assert {"annotator": "rater 1", "dimension": "valence", "kind": "flipped", "probability": 0.999} in (
        result.summary_data["tracing"]
    )


def test_flipped_traces_cost_little(result):
    made = world([1])
    good = un.fuse(world([]).ratings)
    flipped, clean = (pearson(one.fused.mean, made.truth.value) for one in (result, good))
    assert (flipped > clean - 0.01).all()
    assert (flipped > pearson(un.fuse(made.ratings, model="mean").fused.mean, made.truth.value)).all()


def test_gold_turns_a_crowd_that_is_mostly_flipped():
    made = world([0, 1, 2, 3])
    plain = un.fuse(made.ratings)
    assert (pearson(plain.fused.mean, made.truth.value) < -0.8).all()
    known = made.truth.select_items(["clip 0"])
    with pytest.raises(un.DataError, match=r"run against the ratings: .* obey them if it is most annotators who are"):
        un.fuse(made.ratings, gold=known)
    gold = un.fuse(made.ratings, gold=known, gold_anyway=True)
    assert (pearson(gold.fused.mean[200:], made.truth.value[200:]) > 0.8).all()
    assert "Which way is up is what the known frames say" in gold.summary()
    own = gold.annotators.filter(gold.annotators["dimension"] == "valence")
    assert (own["flipped"] > 0.5).to_list() == [True] * 4 + [False, False]


def test_nobody_is_named_where_nobody_is_unusual():
    made = trace_world(seed=1, K=6, lengths=(200, 200, 200), gaps=False)
    result = un.fuse(made.ratings)
    assert result.summary_data["tracing"] == []
    assert "No annotator's traces look unusual (probability above 0.9)." in result.summary()
    assert un.fuse(made.ratings, model="mean").summary_data["tracing"] is None
