"""A fit rests on its own data: nothing of an earlier one is left, neither gold, nor a start, nor anything learned."""

import numpy as np
import pytest

import unisono as un
from item_cases import ratings_of
from unisono.fusers import make_fuser
from unisono.tables.item_table import ItemTable


def crowd(seed=0, M=30, K=6):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(M, 2))
    item_of, annotator_of = np.repeat(np.arange(M), K), np.tile(np.arange(K), M)
    value = truth[item_of] + 0.3 * rng.normal(size=(K, 2))[annotator_of] + 0.7 * rng.normal(size=(M * K, 2))
    ratings = ratings_of(value, item_of, annotator_of)
    known = ItemTable.from_rows(1 + 2 * truth[:6], items=ratings.items[:6], columns=ratings.dimensions)
    return ratings, known


def learned(fuser):
    """Everything but the settings, as numbers."""
    return {name: np.asarray(value) for name, value in fuser.arrays().items()}


@pytest.mark.parametrize("model", ["auto", "independent"])
def test_a_refit_without_gold_reports_none(model):
    ratings, known = crowd()
    fuser = make_fuser(model).fit(ratings, gold=known)
    assert fuser.notes()["gold"]["items"] == 6
    fuser.fit(ratings)
    assert fuser.gold_ is None
    assert "gold" not in fuser.notes()


@pytest.mark.parametrize("model", ["auto", "independent", "paper-joint"])
def test_a_refit_equals_a_first_fit(model):
    (ratings, known), (other, _) = crowd(), crowd(1)
    again, first = make_fuser(model), make_fuser(model).fit(ratings)
    again.fit(other, gold=None if model == "paper-joint" else known).fuse()
    again.fit(ratings)
    np.testing.assert_array_equal(again.fuse().mean, first.fuse().mean)
    for name, value in learned(first).items():
        np.testing.assert_array_equal(learned(again)[name], value, err_msg=name)


def test_a_start_holds_for_one_fit():
    (ratings, _), (other, _) = crowd(), crowd(1)
    earlier, plain = make_fuser("auto").fit(other), make_fuser("auto").fit(ratings)
    fuser = make_fuser("auto").start_from(earlier).fit(ratings)
    assert fuser.judgements_.sum() == 2 * ratings.J
    fuser.fit(ratings)
    assert fuser.judgements_.sum() == ratings.J
    np.testing.assert_array_equal(fuser.fuse().mean, plain.fuse().mean)


def test_states_on_the_way_know_the_start_too():
    (ratings, _), (other, _) = crowd(), crowd(1)
    states = []
    fuser = make_fuser("auto").start_from(make_fuser("auto").fit(other))
    fuser.fit(ratings, on_state=lambda _, state: states.append(state))
    np.testing.assert_allclose(states[-1].fuse().mean, fuser.fuse().mean, rtol=1e-12)
    np.testing.assert_array_equal(states[-1].judgements_, fuser.judgements_)


def test_a_loaded_fit_forgets_what_was_there(tmp_path):
    ratings, known = crowd()
    un.fuse(ratings).save(tmp_path / "plain")
    fuser = make_fuser("auto").fit(ratings, gold=known)
    from unisono.fusers.saved_fit import load_fit

    fuser.restore(load_fit(tmp_path / "plain"))
    assert fuser.gold_ is None
