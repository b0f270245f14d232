"""Sliders with a private warp: through the library, saved fits and the leaderboard."""

import numpy as np
import pytest
from scipy import stats

import unisono as un
from item_cases import ratings_of
from unisono.errors import DataError, SettingsError


def bent(seed, *, M=300, K=6):
    """Sliders from 0 to 100 that every annotator bends in a way of his own; everybody rates everything."""
    rng = np.random.default_rng(seed)
    item_of, who = np.divmod(np.arange(M * K), K)
    truth = rng.uniform(size=(M, 1))
    power = np.exp(0.7 * rng.normal(size=K))
    z = np.clip(truth[item_of] + 0.12 * rng.normal(size=(M * K, 1)), 0, 1)
    return ratings_of(np.round(100 * z ** power[who][:, None]), item_of, who), truth


def order_found(result, truth):
    """Rank correlation with the truth."""
    return stats.spearmanr(result.fused.uncut[:, 0], truth[:, 0])[0]


def test_truths_come_nearer_where_annotators_are_not_straight():
    gained = []
    for seed in range(3):
        ratings, truth = bent(seed)
        straight, found = un.fuse(ratings), un.fuse(ratings, response="warp")
        assert found.fuser.trace_.largest_fall == 0.0
        gained.append(order_found(found, truth) - order_found(straight, truth))
        assert found.summary_data["response"] == {"kind": "warp", "dimensions": 1, "annotators": 6}
    assert np.min(gained) > 0
    assert np.mean(gained) > 0.0015


def test_a_saved_fit_reads_ratings_of_old_and_new_annotators_alike(tmp_path):
    ratings, _ = bent(1, M=150)
    first, other = ratings.select_items(list(ratings.items[:120])), ratings.select_items(list(ratings.items[120:]))
    result = un.fuse(first, response="warp")
    again = un.load(result.save(tmp_path / "out"))
    np.testing.assert_array_equal(again.fuse(other).mean, result.fuser.fuse(other).mean)
    np.testing.assert_array_equal(again.fuse(other).cov, result.fuser.fuse(other).cov)
    strangers = ratings_of(other.value, other.item_of, 3 + other.annotator_of)  # some of them newcomers
    assert np.isfinite(again.fuse(strangers).mean).all()


def test_scales_with_steps_are_numbers():
    ratings, _ = bent(2, M=120)
    value = np.column_stack([ratings.value[:, 0], np.round(ratings.value[:, 0] / 25)])
    both = ratings_of(value, ratings.item_of, ratings.annotator_of)
    assert un.fuse(both, response="warp").summary_data["response"]["dimensions"] == 1
    steps = ratings_of(value[:, 1:], ratings.item_of, ratings.annotator_of)
    found, straight = un.fuse(steps, response="warp"), un.fuse(steps, censored=False)
    np.testing.assert_allclose(found.fused.mean, straight.fused.mean)


def test_what_a_response_needs_is_said():
    ratings, _ = bent(3, M=40)
    for refused in ({"response": "curved"}, {"response": "warp", "inference": "ml"}):
        with pytest.raises(SettingsError, match="response="):
            un.fuse(ratings, **refused)
    with pytest.raises(SettingsError, match="'auto' or 'joint'"):
        un.fuse(ratings, model="independent", response="warp")
    earlier = un.fuse(ratings, response="warp")
    assert earlier.fuser.ends_ is None
    with pytest.raises(DataError, match="response='linear'"):
        un.fuse(ratings, start=earlier.fuser)


def test_the_leaderboard_takes_a_response_with_a_plus():
    ratings, _ = bent(4, M=120)
    table = un.compare(ratings, models=["auto", "auto+warp", "mean"], folds=2)
    assert {row.model for row in table.rows} == {"auto", "auto+warp", "mean"}
    assert all(np.isfinite(row.log_density) for row in table.rows)
    with pytest.raises(SettingsError, match=r"auto\+nonsense"):
        un.compare(ratings, models=["auto+nonsense"])
