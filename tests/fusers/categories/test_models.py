"""crowd-kit behind one function: its numbers, whatever the order of rows and the names; the choice of a model."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from crowdkit.aggregation.classification import GLAD, MACE, DawidSkene

from category_cases import crowd
from unisono.errors import DataError, SettingsError
from unisono.fusers import category_models
from unisono.fusers.category_models import CATEGORY_MODELS, choose, class_probabilities, find_category_model
from unisono.maths.category_votes import Votes

THEIRS = {"glad": GLAD, "mace": lambda: MACE(n_restarts=1, random_state=3), "dawid-skene": DawidSkene}


def shuffled(votes: Votes, seed: int) -> Votes:
    order = np.random.default_rng(seed).permutation(votes.n)
    return votes._replace(item=votes.item[order], annotator=votes.annotator[order], answer=votes.answer[order])


@pytest.mark.slow
@pytest.mark.parametrize("name", THEIRS)
def test_probabilities_are_those_of_crowd_kit(name):
    votes = crowd(1, M=12, K=6).votes
    # In this order, codes appear sorted, so that crowd-kit pairs them rightly.
    first = np.argsort(np.lexsort((votes.annotator, votes.item)))
    data = pd.DataFrame({"task": votes.item, "worker": votes.annotator, "label": votes.answer})
    data = data.iloc[np.argsort(first, kind="stable")]
    codes = {column: pd.factorize(data[column]) for column in data}
    plain = pd.DataFrame({column: code for column, (code, _) in codes.items()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = THEIRS[name]().fit_predict_proba(plain)
    expected = expected.reindex(index=sorted(expected.index), columns=sorted(expected.columns)).to_numpy()
    found = class_probabilities(name, votes.only(first.argsort()), seed=3)
    by_code = found[np.ix_(codes["task"][1], codes["label"][1])]
    np.testing.assert_allclose(by_code, expected, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", CATEGORY_MODELS)
def test_every_model_gives_probabilities_and_finds_the_classes(name):
    found = crowd(2, M=40, K=8)
    p = class_probabilities(name, found.votes, seed=0)
    assert p.shape == (40, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-9)
    assert (p >= 0).all()
    assert np.mean(p.argmax(axis=1) == found.truth) > 0.85
    np.testing.assert_array_equal(p, class_probabilities(name, found.votes, seed=0))


@pytest.mark.slow
@pytest.mark.parametrize("name", CATEGORY_MODELS)
def test_names_of_items_annotators_and_classes_do_not_matter(name):
    votes = crowd(3, M=12, K=6).votes
    rng = np.random.default_rng(0)
    item, annotator, answer = (rng.permutation(n) for n in (votes.M, votes.K, votes.C))
    renamed = votes._replace(item=item[votes.item], annotator=annotator[votes.annotator], answer=answer[votes.answer])
    found = class_probabilities(name, renamed, seed=0)[np.ix_(item, answer)]
    np.testing.assert_allclose(found, class_probabilities(name, votes, seed=0), atol=1e-6)


@pytest.mark.slow
def test_mace_with_mixed_up_rows_still_tells_spammers():
    """Left to itself, crowd-kit pairs MACE's annotators wrongly when rows do not come sorted."""
    found = crowd(4, M=80, K=9, spammers=4)
    p = class_probabilities("mace", shuffled(found.votes, 1), seed=0)
    votes = class_probabilities("majority", found.votes, seed=0)
    right = [np.mean(one.argmax(axis=1) == found.truth) for one in (p, votes)]
    assert right[0] > right[1] + 0.03


def test_items_without_answers_get_the_shares_of_all():
    votes = crowd(5, M=10).votes._replace(M=11)
    for name in ("dawid-skene", "majority"):
        np.testing.assert_allclose(
            class_probabilities(name, votes, seed=0)[10], np.bincount(votes.answer) / votes.n, rtol=1e-12
        )


def test_auto_counts_votes_where_annotators_cannot_be_told_apart():
    assert choose("auto", crowd(0).votes).name == "glad"
    two = crowd(0, K=2, per_item=2).votes
    assert choose("auto", two) == ("majority", "two annotators cannot be told apart where they differ")
    strangers = crowd(0, M=20, K=60, per_item=4).votes
    assert choose("auto", strangers).name == "majority"
    assert choose("mace", two).name == "mace"


def test_a_wrong_name_is_answered_with_the_nearest():
    with pytest.raises(SettingsError, match=r"no model of categories 'dawid'.*Did you mean 'dawid-skene'"):
        find_category_model("dawid")


def test_without_crowd_kit_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(category_models, "installed", lambda: False)
    votes = crowd(0).votes
    with pytest.raises(DataError, match=r'pip install "unisono\[categories\]"'):
        class_probabilities("glad", votes, seed=0)
    assert class_probabilities("majority", votes, seed=0).shape == (60, 3)


def test_mace_refuses_items_whose_products_underflow():
    n = category_models.MOST_FACTORS + 1
    votes = Votes(np.zeros(n, dtype=int), np.arange(n), np.arange(n) % 2, 1, n, 2)
    with pytest.raises(DataError, match="Choose another category_model"):
        class_probabilities("mace", votes, seed=0)
