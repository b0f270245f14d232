"""The paper's protocol: every item tested once, test labels never looked at before, planted leaks caught."""

import json

import numpy as np
import pytest

import unisono as un
from unisono.evaluate import cross_validation
from unisono.evaluate.cross_validation import cross_validate_models, differences, model_result
from unisono.evaluate.held_out_ratings import item_folds
from unisono.paper.simulation import simulate_items

pytestmark = pytest.mark.slow

FOLDS = 4


def world(seed=0, **settings):
    return simulate_items(**({"items": 48, "annotators": 6, "features": 0} | settings), seed=seed)


def run(w, truth=None, **settings):
    default = {"models": ["paper-joint"], "folds": FOLDS, "seed": 1}
    return cross_validate_models(w.ratings, w.truth if truth is None else truth, **(default | settings))


def rounds(w):
    return item_folds(w.truth.items, FOLDS, np.random.default_rng(1))


def with_labels(w, items, value):
    changed = w.truth.value.copy()
    changed[[w.truth.items.index(item) for item in items]] = value
    return un.ItemTable.from_rows(changed, items=w.truth.items, columns=w.truth.columns)


def is_blind_to_test_labels(w):
    """Whether predictions of a fold's test items stay the same, bit by bit, when their labels become nonsense."""
    before = run(w).predictions["paper-joint"]
    for part in rounds(w):
        nonsense = np.random.default_rng(0).normal(size=(len(part.test), 2))
        after = run(w, with_labels(w, part.test, nonsense)).predictions["paper-joint"]
        if not np.array_equal(before.select_items(part.test).value, after.select_items(part.test).value):
            return False
    return True


def test_choosing_an_iteration_never_touches_the_test_fold_and_a_planted_leak_is_seen(monkeypatch):
    w = world()
    assert is_blind_to_test_labels(w)

    def leaky(known, part):
        own = known.select_items(part.validation)
        return un.ItemTable.from_rows(
            known.select_items(part.test).value, items=own.items, columns=own.columns
        )  # test labels under the names of validation items

    monkeypatch.setattr(cross_validation, "visible_labels", leaky)
    assert not is_blind_to_test_labels(w)


def test_showing_test_labels_openly_is_refused(monkeypatch):
    monkeypatch.setattr(cross_validation, "visible_labels", lambda known, part: known)
    with pytest.raises(AssertionError, match="about to be shown"):
        run(world())


def test_validation_labels_do_matter():
    w = world()
    part = rounds(w)[0]
    nonsense = np.random.default_rng(0).normal(size=(len(part.validation), 2))
    changed = run(w, with_labels(w, part.validation, nonsense)).predictions["paper-joint"].select_items(part.test)
    assert not np.array_equal(changed.value, run(w).predictions["paper-joint"].select_items(part.test).value)


def test_every_item_is_predicted_once_whatever_the_number_of_workers():
    w = world()
    one, two = run(w, models=["auto", "mean"]), run(w, models=["auto", "mean"], jobs=2)
    assert json.dumps(one.to_dict()) == json.dumps(two.to_dict())
    for name in ("auto", "mean"):
        assert one.predictions[name].items == w.truth.items
        np.testing.assert_array_equal(one.predictions[name].value, two.predictions[name].value)
    np.testing.assert_allclose(one.predictions["mean"].value, un.items.Mean().fit(w.ratings).fuse().mean)


def test_items_without_a_truth_train_and_are_not_predicted():
    w = world()
    some = w.truth.select_items(w.truth.items[:40])
    found = run(w, some, models=["auto"])
    assert found.items == 40
    assert found.predictions["auto"].items == some.items
    alone = cross_validate_models(w.ratings.select_items(list(some.items)), some, models=["auto"], folds=FOLDS, seed=1)
    assert not np.array_equal(alone.predictions["auto"].value, found.predictions["auto"].value)


@pytest.mark.slow
def test_the_papers_joint_model_wins_and_gold_items_win_more():
    w = world(seed=4, items=100, annotators=10)
    found = run(w, models=["paper-joint", "paper-independent", "auto+gold"])
    joint, independent, gold = found.models
    assert joint.pearson > independent.pearson + 0.05
    assert gold.ccc > joint.ccc
    better = {(row.first, row.second, row.metric, row.dimension): row.better for row in found.differences}
    assert better["paper-joint", "paper-independent", "pearson", "dim1"] == "paper-joint"
    assert better["paper-independent", "auto+gold", "ccc", "dim2"] == "auto+gold"
    assert {len(fold.iterations) for fold in independent.folds} == {2}


def test_without_selection_the_converged_model_is_taken():
    w = world()
    found = run(w, models=["auto"], select_iteration=False)
    part = rounds(w)[0]
    fitted = un.items.Joint().fit(w.ratings.select_items(list(part.train)))
    np.testing.assert_allclose(
        found.predictions["auto"].select_items(part.test).value,
        fitted.fuse(w.ratings.select_items(list(part.test))).mean,
    )
    assert found.models[0].folds[0].iterations == (fitted.trace_.iterations - 1,)


def test_fusers_under_a_name_of_ones_own():
    found = un.cross_validate(
        world().ratings,
        world().truth,
        models={"mine": [un.items.Mean(), un.items.Joint()], "mean": un.items.Mean()},
        folds=3,
    )
    assert [row.model for row in found.models] == ["mine", "mean"]
    assert {fold.candidates[0] for fold in found.models[0].folds} <= {0, 1}


def test_series_are_compared_by_a_paired_t_test_over_folds():
    w = world()
    found = run(w, models=["auto", "mean"])
    rows = differences(found.models, found.predictions, w.truth, 0, series=True)
    assert all(np.isnan(row.share) for row in rows)
    worse = [
        type(fold)(**(vars(fold) | {"ccc": tuple(x - 0.2 - 0.01 * i for x in fold.ccc)}))
        for i, fold in enumerate(found.models[0].folds)
    ]
    second = model_result("worse", found.predictions["auto"], w.truth, worse)
    clear = differences([found.models[0], second], found.predictions, w.truth, 0, series=True)
    assert {(row.metric, row.better) for row in clear} == {("ccc", "auto"), ("pearson", None)}


def test_a_model_does_not_beat_itself():
    w = world()
    found = run(w, models={"one": un.items.Mean(), "two": un.items.Mean()})
    assert all(row.better is None for row in found.differences)


def test_no_common_dimension_or_item_says_so():
    w = world()
    other = un.ItemTable.from_rows(w.truth.value, items=w.truth.items, columns=("x", "y"), source="truth.csv")
    with pytest.raises(un.DataError, match="no dimension in common"):
        run(w, other)
    strange = un.ItemTable.from_rows(w.truth.value, items=[f"u{m}" for m in range(48)], columns=w.truth.columns)
    with pytest.raises(un.DataError, match="look at the item column"):
        run(w, strange)
    with pytest.raises(un.DataError, match="cannot use gold"):
        run(w, models=["mean+gold"])
    with pytest.raises(un.DataError, match="needs a reference"):
        un.cross_validate(w.ratings, None)
