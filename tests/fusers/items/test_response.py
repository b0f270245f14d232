"""Ratings as ordered answers or as sliders with a private warp: through the library, saved fits and the leaderboard."""

import numpy as np
import pytest
from scipy import stats

import unisono as un
from item_cases import random_raters, ratings_of
from unisono.errors import DataError, SettingsError
from unisono.fusers.standardisation import Curve
from unisono.tables.item_table import ItemTable


def styled(seed, *, M=300, K=15, per_item=5):
    """Answers from 1 to 5 by annotators with thresholds of their own, most of them high: and the truth."""
    rng = np.random.default_rng(seed)
    item_of, who = random_raters(rng, M, K, per_item)
    truth = rng.normal(size=(M, 2))
    cuts = np.sort(np.array([-2.0, -1.4, -0.8, 0.0]) + 0.5 * rng.normal(size=(K, 4)), axis=1)
    z = truth[item_of] + 0.6 * rng.normal(size=(len(who), 2))
    return ratings_of(1.0 + (z[:, :, None] > cuts[who][:, None]).sum(axis=2), item_of, who), truth


def bent(seed, *, M=300, K=6):
    """Sliders from 0 to 100 that every annotator bends in a way of his own; everybody rates everything."""
    rng = np.random.default_rng(seed)
    item_of, who = np.divmod(np.arange(M * K), K)
    truth = rng.uniform(size=(M, 1))
    power = np.exp(0.7 * rng.normal(size=K))
    z = np.clip(truth[item_of] + 0.12 * rng.normal(size=(M * K, 1)), 0, 1)
    return ratings_of(np.round(100 * z ** power[who][:, None]), item_of, who), truth


def order_found(result, truth):
    """Rank correlation with the truth: ordinal answers have no other scale."""
    found = result.fused.uncut
    return np.mean([stats.spearmanr(found[:, d], truth[:, d])[0] for d in range(truth.shape[1])])


@pytest.mark.parametrize(("response", "drawn"), [("ordinal", styled), ("warp", bent)])
def test_truths_come_nearer_where_annotators_are_not_straight(response, drawn):
    gained = []
    for seed in range(3):
        ratings, truth = drawn(seed)
        straight, found = un.fuse(ratings), un.fuse(ratings, response=response)
        assert found.fuser.trace_.largest_fall == 0.0
        gained.append(order_found(found, truth) - order_found(straight, truth))
        assert found.summary_data["response"]["kind"] == response
        assert f"Ratings of {truth.shape[1]} of {truth.shape[1]} dimensions are" in found.summary()
        assert found.summary_data["response"]["dimensions"] == truth.shape[1]
    assert np.min(gained) > 0
    assert np.mean(gained) > 0.0015


def test_estimates_and_intervals_stay_on_the_scale():
    ratings, _ = styled(0)
    fused = un.fuse(ratings, response="ordinal").fused
    low, high = fused.interval()
    assert low.min() >= 1
    assert high.max() <= 5
    assert (low < high).all()
    assert fused.mean.max() > 4.7


def test_estimates_are_mean_answers_of_typical_annotators():
    ratings, _ = styled(0, M=80)
    fuser = un.fuse(ratings, response="ordinal").fuser
    scaling, params, cuts = fuser.scaling_, fuser.params_, fuser.reading_.reading.cuts
    rng = np.random.default_rng(0)
    sd = np.sqrt(np.diagonal(params.N[-1]) + params.cov[-1, :, -1, -1])
    for score in (-1.0, 0.0, 0.7):
        drawn = score + sd[0] * rng.normal(size=400_000)
        answers = 1.0 + (drawn[:, None] > cuts[0]).sum(axis=1)
        found = scaling.restore_mean(np.full((1, 2), score))[0, 0]
        assert found == pytest.approx(answers.mean(), abs=0.01)


def test_known_truths_stay_what_they_are():
    ratings, _ = styled(1, M=80)
    known = ratings_of(np.tile([1.5, 4.0], (6, 1)), np.arange(6), np.zeros(6, dtype=int)).value
    gold = ItemTable.from_rows(known, items=ratings.items[:6], columns=ratings.dimensions)
    fused = un.fuse(ratings, gold=gold, response="ordinal").fused
    np.testing.assert_allclose(fused.mean[:6], known, atol=1e-2)


@pytest.mark.parametrize(("response", "drawn"), [("ordinal", styled), ("warp", bent)])
def test_a_saved_fit_reads_ratings_of_old_and_new_annotators_alike(tmp_path, response, drawn):
    ratings, _ = drawn(1, M=120)
    first, other = ratings.select_items(list(ratings.items[:100])), ratings.select_items(list(ratings.items[100:]))
    result = un.fuse(first, response=response)
    again = un.load(result.save(tmp_path / "out"))
    np.testing.assert_array_equal(again.fuse(other).mean, result.fuser.fuse(other).mean)
    np.testing.assert_array_equal(again.fuse(other).cov, result.fuser.fuse(other).cov)
    strangers = ratings_of(other.value, other.item_of, 3 + other.annotator_of)  # some of them newcomers
    assert np.isfinite(again.fuse(strangers).mean).all()


def test_dimensions_with_many_different_answers_are_numbers():
    ratings, _ = styled(2, M=60)
    value = np.column_stack([ratings.value[:, 0], ratings.value[:, 1] + np.linspace(0, 1, ratings.J)])
    mixed = un.fuse(ratings.with_value(value), response="ordinal")
    assert mixed.summary_data["response"]["dimensions"] == 1
    with pytest.raises(DataError, match=r"more than 12 different answers.*'warp' or 'linear'"):
        un.fuse(ratings.with_value(value[:, [1, 1]] + np.array([0.0, 1.0])), response="ordinal")


def test_what_a_response_needs_is_said():
    ratings, _ = styled(3, M=40)
    with pytest.raises(SettingsError, match="response='ordinal'"):
        un.fuse(ratings, response="ordinal", inference="ml")
    assert un.fuse(ratings, response="ordinal").fuser.ends_ is None  # thresholds read the ends already
    with pytest.raises(SettingsError, match="'auto' or 'joint'"):
        un.fuse(ratings, model="independent", response="warp")
    earlier = un.fuse(ratings, response="ordinal")
    with pytest.raises(DataError, match="response='linear'"):
        un.fuse(ratings, start=earlier.fuser)


def test_the_leaderboard_takes_a_response_with_a_plus():
    ratings, _ = styled(4, M=80)
    table = un.compare(ratings, models=["auto", "auto+ordinal", "mean"], folds=2)
    assert {row.model for row in table.rows} == {"auto", "auto+ordinal", "mean"}
    assert all(np.isfinite(row.log_density) for row in table.rows)
    with pytest.raises(SettingsError, match=r"auto\+nonsense"):
        un.compare(ratings, models=["auto+nonsense"])


def test_a_curve_goes_there_and_back_and_on_beyond_its_ends():
    curve = Curve(np.array([[1.0, 2.0, 3.0, np.nan], [np.nan] * 4]), np.array([[0.5, 2.0, 4.0, np.nan], [np.nan] * 4]))
    value = np.array([[1.0, 7.0], [2.5, -3.0], [4.0, 0.0], [0.0, np.nan]])
    np.testing.assert_allclose(curve.forward(value), [[0.5, 7], [3, -3], [6, 0], [-1, np.nan]])
    np.testing.assert_allclose(curve.back(curve.forward(value)), value)
