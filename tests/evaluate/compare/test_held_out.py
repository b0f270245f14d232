"""Held-out scores: nothing hidden is looked at, predictions are calibrated where the model holds, sense beats noise."""

import numpy as np
import pytest

import unisono as un
from unisono.evaluate.held_out_ratings import judgement_folds, left_out_agreement, score_hidden
from unisono.fusers import make_fuser
from unisono.paper.simulation import simulate_items


def world(seed=0, **settings):
    default = {"items": 120, "annotators": 12, "features": 0, "ratings_per_item": 6, "bias": 0.3, "noise": 0.4}
    return simulate_items(**(default | {"transform": "near-identity", "spread": 0.2} | settings), seed=seed)


def hide(ratings, seed=0):
    return judgement_folds(ratings, 5, np.random.default_rng(seed)) == 0


@pytest.mark.parametrize("name", un.MODELS)
def test_every_model_predicts_hidden_ratings_better_than_their_mean_would(name):
    ratings = world().ratings
    found = score_hidden(make_fuser(name), ratings, None, hide(ratings))
    assert found.numbers > 250
    # In standard deviations of the ratings, "always the mean" has 1.
    assert found.rmse < 0.95
    assert 0.75 < found.coverage <= 1
    assert -2.0 < found.log_density < -0.5


@pytest.mark.parametrize("name", ["auto", "paper-independent", "zscore-mean", "median"])
def test_predictions_do_not_depend_on_the_hidden_values(name):
    ratings = world(seed=2).ratings
    hidden = hide(ratings)
    fuser = make_fuser(name).fit(ratings.select_judgements(~hidden))
    asked = ratings.select_judgements(hidden)
    first, second = fuser.predict_ratings(asked), fuser.predict_ratings(asked.with_value(asked.value * 100))
    np.testing.assert_array_equal(first.mean, second.mean)
    np.testing.assert_array_equal(first.variance, second.variance)


def test_the_default_covers_nine_of_ten_hidden_ratings_of_its_own_model():
    covered = [
        score_hidden(make_fuser("auto"), w, None, hide(w)).coverage for w in (world(s).ratings for s in range(4))
    ]
    assert np.mean(covered) == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("name", ["auto", "mean", "zscore-mean", "paper-joint"])
def test_units_move_predictions_along(name):
    ratings = world(seed=1, items=40).ratings
    hidden = hide(ratings)
    scaled = ratings.with_value(ratings.value * 1000.0)
    one = make_fuser(name).fit(ratings.select_judgements(~hidden)).predict_ratings(ratings)
    two = make_fuser(name).fit(scaled.select_judgements(~hidden)).predict_ratings(scaled)
    np.testing.assert_allclose(two.mean, one.mean * 1000, rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(two.variance, one.variance * 1e6, rtol=1e-5)


def test_an_item_that_was_not_fitted_says_so():
    ratings = world().ratings
    fuser = make_fuser("mean").fit(ratings.select_items(list(ratings.items[:100])))
    with pytest.raises(un.DataError, match="not in the fit"):
        fuser.predict_ratings(ratings)


def test_left_out_annotators_agree_with_the_others_unless_they_answer_at_random():
    ratings = world(noise=0.2).ratings
    value = ratings.value.copy()
    spammer = ratings.annotator_of == 4
    value[spammer] = np.random.default_rng(0).normal(size=(spammer.sum(), 2))
    found = left_out_agreement(make_fuser("mean"), ratings.with_value(value), None, np.array([3, 4, 7]))
    assert abs(found[1]) < 0.3
    assert found[[0, 2]].min() > 0.7


def test_items_without_other_raters_do_not_count_as_agreement():
    ratings = world(items=20, annotators=4, ratings_per_item=4).ratings
    alone = ratings.select_judgements((ratings.annotator_of == 0) | (ratings.item_of < 2))
    assert np.isnan(left_out_agreement(make_fuser("mean"), alone, None, np.array([0]))[0])
