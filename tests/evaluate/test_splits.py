"""Splits hide what they should, keep what they must, and depend on the seed alone."""

import numpy as np
import pytest

import unisono as un
from unisono.evaluate.held_out_ratings import ItemFold, annotator_folds, item_folds, judgement_folds
from unisono.paper.simulation import simulate_items
from unisono.tables.ratings import Ratings


def sparse_world(seed=0):
    return simulate_items(items=60, annotators=25, features=0, ratings_per_item=3, seed=seed).ratings


@pytest.mark.parametrize("seed", range(5))
def test_every_item_and_annotator_keeps_a_judgement_in_every_fold(seed):
    ratings = sparse_world(seed)
    fold = judgement_folds(ratings, 4, np.random.default_rng(seed))
    for f in range(4):
        kept = fold != f
        assert set(ratings.item_of[kept]) == set(ratings.item_of)
        assert set(ratings.annotator_of[kept]) == set(ratings.annotator_of)
    assert np.bincount(fold[fold >= 0], minlength=4).min() > 0.8 * (fold >= 0).sum() / 4
    assert (fold >= 0).mean() > 0.9


def test_the_only_judgement_of_an_item_or_annotator_is_never_hidden_nor_an_empty_one():
    pairs = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0), (3, 3), (3, 0), (1, 2)]
    item_of, annotator_of = map(np.array, zip(*sorted(pairs), strict=True))
    value = np.arange(len(pairs), dtype=float)[:, None]
    value[0] = np.nan
    labels = [str(i) for i in range(4)]
    ratings = Ratings.from_judgements(value, item_of, annotator_of, items=labels, annotators=labels, dimensions=["d"])
    for seed in range(10):
        fold = judgement_folds(ratings, 2, np.random.default_rng(seed))
        assert fold[0] == -1
        assert fold[(item_of == 2) & (annotator_of == 0)] == -1
        assert fold[(item_of == 3) & (annotator_of == 3)] == -1


def test_one_rating_per_item_cannot_be_hidden():
    one = simulate_items(items=5, annotators=3, features=0, ratings_per_item=1).ratings
    with pytest.raises(un.DataError, match="no rating can be hidden"):
        judgement_folds(one, 2, np.random.default_rng(0))


def test_annotators_are_left_out_once_each():
    groups = annotator_folds(sparse_world(), 4, np.random.default_rng(0))
    assert len(groups) == 4
    assert sorted(np.concatenate(groups)) == sorted(set(sparse_world().annotator_of))
    two = simulate_items(items=5, annotators=2, features=0).ratings
    assert annotator_folds(two, 4, np.random.default_rng(0)) == []


def test_every_item_is_tested_once_and_validates_once():
    items = tuple(f"i{m}" for m in range(17))
    rounds = item_folds(items, 5, np.random.default_rng(1))
    assert sorted(item for fold in rounds for item in fold.test) == sorted(items)
    assert sorted(item for fold in rounds for item in fold.validation) == sorted(items)
    assert all(len(fold.train) + len(fold.validation) + len(fold.test) == 17 for fold in rounds)


def test_too_few_folds_or_items_say_so():
    with pytest.raises(un.DataError, match="at least 3"):
        item_folds(("a", "b", "c"), 2, np.random.default_rng(0))
    with pytest.raises(un.DataError, match="2 items with a reference cannot make 3 folds"):
        item_folds(("a", "b"), 3, np.random.default_rng(0))


def test_an_item_in_two_parts_is_a_leak():
    with pytest.raises(ValueError, match="both in the validation and in the test part"):
        ItemFold(("a",), ("b", "c"), ("c",))
