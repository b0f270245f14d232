"""The leaderboard: the same for any number of workers, right about planted answers, careful in its words."""

import dataclasses
import json

import numpy as np
import pytest

import unisono as un
from unisono.evaluate.comparison_results import CAVEAT, ONE_DIMENSION, contrast, in_words
from unisono.evaluate.model_comparison import compare_models, distinct_models, same_model
from unisono.maths.metrics import PairedT
from unisono.paper.simulation import simulate_items

FEW = ["auto", "independent", "mean"]


def world(seed=0, **settings):
    default = {"items": 60, "annotators": 8, "features": 0, "ratings_per_item": 4, "bias": 0.3, "noise": 0.4}
    return simulate_items(**(default | {"transform": "near-identity", "spread": 0.2} | settings), seed=seed)


def timeless(found):
    """Everything but the clock."""
    return [dataclasses.replace(row, seconds=0.0) for row in found.rows], found.contrasts, found.answer


@pytest.mark.slow
def test_the_number_of_workers_does_not_matter():
    w = world()
    one = compare_models(w.ratings, reference=w.truth, models=["auto", "mean"], folds=3, seed=5)
    two = compare_models(w.ratings, reference=w.truth, models=["auto", "mean"], folds=3, seed=5, jobs=2)
    assert repr(timeless(one)) == repr(timeless(two))


def test_another_seed_hides_other_ratings():
    w = world()
    one, two = (compare_models(w.ratings, models=["mean"], folds=3, seed=seed) for seed in (1, 2))
    assert one.rows[0].log_density != two.rows[0].log_density


@pytest.mark.slow
def test_the_default_is_found_to_beat_the_mean_where_annotators_have_a_bias():
    w = world(seed=3, items=150, bias=1.0)
    found = un.compare(w.ratings, reference=w.truth, models=FEW)
    (default,) = (c for c in found.contrasts if c.question == "default")
    assert default.verdict == "yes"
    assert default.sureness == "very sure"
    assert default.log_density.wins == 5
    assert default.ccc_share > 0.95
    assert found.rows[0].ccc == max(row.ccc for row in found.rows)
    assert [row.model for row in found.rows][-1] == "mean"
    assert "Yes" in found.answer


@pytest.mark.slow
def test_without_a_reference_rows_follow_the_held_out_ratings():
    found = compare_models(world(seed=1, bias=1.0).ratings, models=FEW, folds=3)
    density = [row.log_density for row in found.rows]
    assert density == sorted(density, reverse=True)
    assert np.isnan(found.rows[0].ccc)
    assert "reference" not in found.answer.replace(CAVEAT, "")


@pytest.mark.slow
def test_the_joint_question_needs_two_dimensions():
    found = compare_models(world(dimensions=1).ratings, models=FEW, folds=3)
    assert ONE_DIMENSION in found.answer
    assert "Does it help" not in found.answer


@pytest.mark.slow
def test_every_different_model_is_tried_once():
    names = distinct_models()
    assert {"auto", "independent", "paper-joint", "mean", "ewe"} <= set(names)
    assert not [(a, b) for a in names for b in names if a < b and same_model(a, b)]
    found = compare_models(world(items=20).ratings, folds=2)
    assert {row.model for row in found.rows} == set(names)
    assert {c.question for c in found.contrasts} == {"joint", "default"}
    assert json.dumps(found.to_dict(), default=str)


def test_two_annotators_have_nobody_to_leave_out():
    found = compare_models(world(annotators=2, ratings_per_item=2).ratings, models=["mean", "auto"], folds=2)
    assert all(np.isnan(row.agreement) for row in found.rows)
    assert "left-out annotators" not in found.answer


def test_words_say_how_sure_and_when_the_reference_disagrees():
    nothing = PairedT(float("nan"), float("nan"), float("nan"), 0, 0)
    strong = PairedT(0.2, 0.02, 0.001, 5, 5)
    yes = contrast("default", ("auto", "mean"), strong, nothing)
    assert yes.verdict == "yes"
    assert "very sure" in in_words(yes)
    assert "better than 'mean' by 0.200" in in_words(yes)
    no = contrast("joint", ("joint", "independent"), strong._replace(mean=-0.2, wins=0), nothing)
    assert no.verdict == "no"
    unclear = contrast("joint", ("joint", "independent"), strong._replace(p=0.4), nothing)
    assert "cannot tell" in in_words(unclear)
    assert "disagree" in in_words(contrast("default", ("auto", "mean"), strong, nothing, (0.01, 0.3)))
    assert "disagree" not in in_words(contrast("default", ("auto", "mean"), strong, nothing, (0.9, 0.9)))


def test_a_wrong_model_name_is_refused_before_anything_is_fitted():
    with pytest.raises(ValueError, match="Did you mean 'mean'"):
        compare_models(world().ratings, models=["mean", "meen"], on_task=lambda *_: pytest.fail("fitted"))


def test_a_reference_of_other_items_is_refused_before_anything_is_fitted():
    w = world()
    strange = un.ItemTable.from_rows(w.truth.value, items=[f"u{m}" for m in range(60)], columns=w.truth.columns)
    with pytest.raises(un.DataError, match="look at the item column"):
        compare_models(w.ratings, reference=strange, on_task=lambda *_: pytest.fail("fitted"))


def test_a_reference_may_know_some_items_and_dimensions_only():
    w = world(items=30)
    some = w.truth.select_items(w.truth.items[5:25]).select_columns(["dim2"])
    found = compare_models(w.ratings, reference=some, models=["auto", "mean"], folds=2)
    assert [score.name for score in found.rows[0].dimensions] == ["dim2"]
    assert found.rows[0].dimensions[0].n == 20
    assert 0 <= found.contrasts[0].ccc_share <= 1
