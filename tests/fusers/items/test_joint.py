"""The joint model does its job: recovery, calibration, and clear words when it cannot."""

import numpy as np
import polars as pl
import pytest

import unisono as un
from item_cases import drawn_from_the_model
from unisono.paper.simulation import simulate_items
from unisono.tables.item_table import ItemTable
from unisono.tables.ratings import Ratings


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"inference": "ml", "noise": "diagonal"}], ids=["bayes", "ml"])
def test_recovery_improves_with_items(settings):
    errors = []
    for M in (40, 160, 640):
        per_seed = []
        for seed in range(4):
            ratings, _, params = drawn_from_the_model(M, seed=seed)
            fitted = un.fuse(ratings, model="joint", **settings).fuser
            found = fitted.scaling_.restore_matrix(fitted.params_.F[: ratings.K])
            per_seed.append(np.sqrt(np.mean((found - params.F) ** 2)))
        errors.append(np.mean(per_seed))
    assert errors[0] > errors[1] > errors[2]


def test_ends_of_the_scale_are_the_numbers_that_people_gave():
    rng = np.random.default_rng(0)
    item_of = np.repeat(np.arange(40), 6)
    annotator_of = np.tile(np.arange(6), 40)
    truth = rng.normal(size=(40, 3))
    value = truth[item_of] + 0.5 * rng.normal(size=(240, 3))
    value = np.clip(np.round(3 + 1.5 * value), 1, 5)
    value = np.stack([(value[:, 0] - 1) / 10, 100 * value[:, 1], value[:, 2] / 1e9], axis=1)
    columns = un.fuse(
        pl.DataFrame(
            {
                "item": [f"i{m}" for m in item_of],
                "annotator": [f"a{k}" for k in annotator_of],
                **{name: value[:, d] for d, name in enumerate("abc")},
            }
        )
    ).fused.columns()
    for d, name in enumerate("abc"):
        assert min(columns[f"{name}_low"]) == value[:, d].min()
        assert max(columns[f"{name}_high"]) == value[:, d].max()
        assert min(columns[name]) >= value[:, d].min()
        assert max(columns[name]) <= value[:, d].max()


def test_intervals_cover_the_truth_nine_times_out_of_ten():
    inside, total = 0, 0
    for seed in range(12):
        ratings, truth, _ = drawn_from_the_model(150, seed=seed)
        low, high = un.fuse(ratings).fused.interval()
        inside += int(((low < truth) & (truth < high)).sum())
        total += truth.size
    assert 0.85 <= inside / total <= 0.95


def test_joint_beats_the_mean_on_its_own_data():
    better = []
    for seed in range(5):
        ratings, truth, _ = drawn_from_the_model(150, seed=seed)
        joint, mean = un.fuse(ratings).fused.mean, un.fuse(ratings, model="mean").fused.mean
        better.append(np.mean((mean - truth) ** 2) - np.mean((joint - truth) ** 2))
    assert min(better) > 0


def test_samples_look_like_the_ratings_the_model_was_fitted_to():
    ratings, _, _ = drawn_from_the_model(400, seed=3)
    fitted = un.fuse(ratings).fuser
    drawn = fitted.sample(ratings, np.random.default_rng(0))
    np.testing.assert_allclose(np.cov(drawn.value.T), np.cov(ratings.value.T), rtol=0.15, atol=0.1)


def test_gold_items_stay_at_their_known_values():
    world = simulate_items(items=60, features=0, seed=1)
    known = world.truth.select_items(world.truth.items[:10])
    result = un.fuse(world.ratings, gold=known)
    np.testing.assert_allclose(result.fused.mean[:10], known.value, atol=0.01)


def test_ml_and_newcomers():
    ratings, _, _ = drawn_from_the_model(30, seed=0)
    stranger = Ratings.from_judgements(
        np.zeros((1, 2)),
        np.array([0]),
        np.array([0]),
        items=["new"],
        annotators=["stranger"],
        dimensions=("v", "a"),
        source="new.csv",
    )
    with pytest.raises(un.DataError, match="'stranger' was not in the fit"):
        un.fuse(ratings, model="joint", inference="ml").fuser.fuse(stranger)
    known = un.fuse(ratings).fuser
    assert known.fuse(stranger).sd[0, 0] > known.fuse().sd[:, 0].max()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r, f: un.fuse(r, features=f.select_items(f.items[:3])), "no row for item"),
        (lambda r, f: un.fuse(r, gold=ItemTable.from_rows(np.ones((1, 1)), items=["zz"], columns=["v"])), "'zz'"),
        (lambda r, f: un.fuse(r, gold=ItemTable.from_rows(np.ones((1, 1)), items=["i0"], columns=["q"])), "'q'"),
        (lambda r, f: un.fuse(r, model="mean", gold=f), "cannot use gold"),
        (lambda r, f: un.fuse(r, model="joint", inference="ml", gold=f), "inference 'bayes'"),
        (lambda r, f: un.fuse(r).fuser.predict(f), "without features"),
        (lambda r, f: un.fuse(r, features=f).fuser.fuse(r), "fitted with features"),
    ],
)
def test_what_contradicts_is_refused_in_words(call, words):
    ratings, truth, _ = drawn_from_the_model(12, seed=0)
    features = ItemTable.from_rows(truth, items=ratings.items, columns=("f", "g"), source="f.csv")
    with pytest.raises(un.DataError, match=words):
        call(ratings, features)


def test_using_an_unfitted_fuser_says_so():
    with pytest.raises(un.NotFittedError, match="call fit"):
        un.items.Joint().fuse()


def test_running_out_of_iterations_warns():
    ratings, _, _ = drawn_from_the_model(30, seed=0)
    with pytest.warns(un.ConvergenceWarning, match="stopped after 2 iterations"):
        result = un.fuse(ratings, max_iter=2)
    assert result.summary_data["stop"] == "max_iter"


def pearson(x, y):
    return [np.corrcoef(x[:, d], y[:, d])[0, 1] for d in range(x.shape[1])]


def test_ten_known_items_straighten_annotators_who_mix_everything():
    """F_k ~ U(0, 1): without known items the truth cannot be told from a mixture of it."""
    found, plain = [], []
    for seed in range(3):
        world = simulate_items(features=0, seed=seed)
        known = world.truth.select_items(world.truth.items[:10])
        rest = slice(10, None)
        fused = un.fuse(world.ratings, gold=known).fused.mean
        found.append(pearson(fused[rest], world.truth.value[rest]))
        plain.append(pearson(un.fuse(world.ratings, model="mean").fused.mean[rest], world.truth.value[rest]))
    assert np.mean(found, axis=0).min() > 0.93
    assert np.mean(plain, axis=0).max() < 0.8


def test_known_items_do_no_harm_where_annotators_are_good():
    ratings, truth, _ = drawn_from_the_model(100, seed=2)
    known = ItemTable.from_rows(truth[:8], items=ratings.items[:8], columns=ratings.dimensions)
    with_gold = un.fuse(ratings, gold=known).fused.mean
    without = un.fuse(ratings).fused.mean
    rest = slice(8, None)
    assert np.mean((with_gold - truth)[rest] ** 2) < 1.1 * np.mean((without - truth)[rest] ** 2)


def test_uncorrelated_anchor_undoes_a_mixture_that_all_share():
    world = simulate_items(annotators=100, ratings_per_item=10, features=0, transform="shared", spread=0.5, seed=1)
    turned = un.fuse(world.ratings, anchor="uncorrelated").fused.mean
    separate = un.fuse(world.ratings, model="independent").fused.mean
    assert np.mean(pearson(turned, world.truth.value)) > 0.95
    assert np.mean(pearson(separate, world.truth.value)) < 0.9


def test_an_anchor_that_cannot_turn_says_so():
    ratings, _, _ = drawn_from_the_model(12, seed=0)
    with pytest.raises(ValueError, match="transform='full'"):
        un.fuse(ratings, anchor="uncorrelated", transform="gain")
