"""Tables of items that call them as the ratings do, whatever that is, are read without a word about it."""

import numpy as np
import pandas as pd
import pytest

import unisono as un


@pytest.fixture
def tables():
    rng = np.random.default_rng(0)
    length = rng.normal(size=20)
    shots = pd.DataFrame({"reel": np.repeat([1, 2], 10), "shot": np.tile(np.arange(10), 2), "length": length})
    rows = [
        (*shots.loc[m, ["reel", "shot"]].astype(int), w, length[m] + 0.4 * rng.normal())
        for m in range(20)
        for w in "abc"
    ]
    return pd.DataFrame(rows, columns=["reel", "shot", "rater", "score"]), shots


def test_features_gold_and_reference_by_the_name_of_the_ratings(tables):
    ratings, shots = (table.assign(take=10 * table.reel + table.shot) for table in tables)
    ratings, shots = ratings.drop(columns=["reel", "shot"]), shots.drop(columns=["reel", "shot"])
    gold = shots.rename(columns={"length": "score"}).head(6)
    result = un.fuse(ratings, item="take", features=shots, gold=gold, max_iter=3)
    assert result.fuser.feature_columns == ("length",)
    assert len(shots.merge(result.truth, on="take")) == 20
    assert un.compare(ratings, item="take", reference=gold, models=["mean"], folds=2).reference


def test_names_made_of_several_columns(tables):
    ratings, shots = tables
    result = un.fuse(ratings, item=["reel", "shot"], features=shots, max_iter=3)
    assert result.fuser.feature_columns == ("length",)
    joined = shots.merge(result.truth, on=["reel", "shot"])
    assert len(joined) == 20
    assert joined[["reel", "shot"]].dtypes.tolist() == [np.dtype("int64")] * 2


def test_another_name_is_recognised_as_ever(tables):
    ratings, shots = (table.assign(take=10 * table.reel + table.shot) for table in tables)
    named = shots[["take", "length"]].rename(columns={"take": "item"})
    assert un.fuse(ratings.drop(columns=["reel", "shot"]), item="take", features=named, max_iter=3).fit.items
