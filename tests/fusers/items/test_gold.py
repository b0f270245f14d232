"""Known truths that help, and known truths that ordinary tables have and that must not destroy a result."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unisono as un
from item_cases import drawn_from_the_model, random_raters, ratings_of
from unisono.fusers import make_fuser
from unisono.fusers.fusion_results import dimension_columns
from unisono.tables.datasets import load_dataset
from unisono.tables.item_table import ItemTable


def known(values, ratings, rows, dims=None):
    """Known truths (n, d) of these items, on some of the dimensions."""
    names = ratings.dimensions if dims is None else tuple(ratings.dimensions[d] for d in dims)
    return ItemTable.from_rows(values, items=[ratings.items[m] for m in rows], columns=names)


def correlation(a, b):
    return np.array([np.corrcoef(a[:, d], b[:, d])[0, 1] for d in range(a.shape[1])])


def plain_means(ratings):
    count = np.bincount(ratings.item_of, minlength=ratings.M)
    return np.stack([np.bincount(ratings.item_of, column, ratings.M) / count for column in ratings.value.T], axis=1)


def sliders(seed=0, M=150, K=6, D=7):
    """Sliders from 0 to 100 by six people on several emotions, most of which are 0."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(M, 1)) * rng.uniform(-0.5, 0.5, D) + rng.normal(size=(M, D))
    item_of, annotator_of = np.repeat(np.arange(M), K), np.tile(np.arange(K), M)
    gain = rng.lognormal(0, 0.3, size=(K, 1))
    value = gain[annotator_of] * (30 * truth[item_of] - 10) + 12 * rng.normal(size=(M * K, D))
    return ratings_of(np.clip(np.round(value), 0, 100), item_of, annotator_of), np.clip(30 * truth - 10, 0, 100)


# ---- dimensions of which nothing is known


def assert_untouched(found, blind, dims):
    """Bit by bit: estimates and their errors; up to rounding: what is said of annotators."""
    np.testing.assert_array_equal(found.fused.mean[:, dims], blind.fused.mean[:, dims])
    np.testing.assert_array_equal(found.fused.sd[:, dims], blind.fused.sd[:, dims])
    np.testing.assert_array_equal(
        np.array(found.fused.interval())[..., dims], np.array(blind.fused.interval())[..., dims]
    )
    for name in ("bias", "gain", "noise", "reliability", "agreement"):
        own, plain = (getattr(one.described, name)[:, dims] for one in (found, blind))
        np.testing.assert_allclose(own, plain, rtol=1e-8, atol=1e-10)


def test_truths_known_on_two_of_seven_emotions_leave_the_others_alone():
    ratings, truth = sliders()
    rows = np.random.default_rng(1).choice(150, 20, replace=False)
    blind, found = (
        un.fuse(ratings),
        un.fuse(ratings, gold=known(plain_means(ratings)[rows][:, [0, 6]], ratings, rows, [0, 6])),
    )
    assert_untouched(found, blind, [1, 2, 3, 4, 5])
    r, before = correlation(found.fused.mean, truth), correlation(blind.fused.mean, truth)
    assert (r > before - 0.003).all()


@settings(max_examples=12)
@given(
    seed=st.integers(0, 1000),
    D=st.integers(2, 4),
    open_=st.integers(1, 3),
    kind=st.sampled_from(["truth", "constant", "noise", "upside down", "other unit", "one"]),
    ends=st.booleans(),
    missing=st.sampled_from([0.0, 0.2]),
    mixing=st.booleans(),
)
def test_a_dimension_without_known_truths_stays_bit_by_bit(seed, D, open_, kind, ends, missing, mixing):
    rng = np.random.default_rng(seed)
    item_of, annotator_of = random_raters(rng, 25, 7, 4)
    truth = rng.normal(size=(25, D))
    F = rng.uniform(size=(7, D, D)) if mixing else np.tile(np.eye(D), (7, 1, 1))
    value = np.einsum("nij,nj->ni", F[annotator_of], truth[item_of]) + 0.3 * rng.normal(size=(100, D))
    value = np.clip(np.round(3 + value), 1, 5) if ends else value
    value[rng.random(value.shape) < missing] = np.nan
    value[np.isnan(value).all(axis=1), 0] = 3.0
    ratings = ratings_of(value, item_of, annotator_of)
    dims, rows = list(range(min(open_, D - 1), D)), np.arange(1 if kind == "one" else 12)
    values = {
        "constant": np.full((12, D), 4.0),
        "noise": rng.normal(size=(12, D)),
        "upside down": -truth[:12],
        "other unit": 100 * truth[:12],
    }.get(kind, truth[:12])[: len(rows), dims]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        blind = un.fuse(ratings)
        found = un.fuse(ratings, gold=known(values, ratings, rows, dims), gold_anyway=True)
    assert_untouched(found, blind, list(range(dims[0])))


@pytest.mark.parametrize("how", [{"anchor": "uncorrelated"}, {"model": "independent"}])
def test_so_it_does_with_other_models(how):
    ratings, truth, _ = drawn_from_the_model(60, seed=3)
    ratings = ratings.with_value(np.clip(np.round(2 * ratings.value), -2, 2))
    blind, found = (
        un.fuse(ratings, **how),
        un.fuse(ratings, gold=known(np.clip(2 * truth[:12, 1:], -2, 2), ratings, range(12), [1]), **how),
    )
    np.testing.assert_array_equal(found.fused.mean[:, 0], blind.fused.mean[:, 0])
    np.testing.assert_array_equal(found.fused.sd[:, 0], blind.fused.sd[:, 0])


# ---- known truths that are no news, and that are none


def test_plain_means_of_the_raters_as_known_truths_change_next_to_nothing():
    ratings = load_dataset("squality")
    ratings = ratings.select_items(ratings.items[:150])
    means, blind = plain_means(ratings), un.fuse(ratings).fused.mean
    for seed in range(2):
        rows = np.random.default_rng(seed).choice(150, 20, replace=False)
        found = un.fuse(ratings, gold=known(means[rows], ratings, rows)).fused.mean
        assert correlation(found, blind).min() > 0.99
        assert (correlation(found, means) > correlation(blind, means) - 0.002).all()


def test_known_truths_shuffled_among_their_items_turn_nothing_and_are_doubted_aloud():
    ratings = load_dataset("squality")
    ratings = ratings.select_items(ratings.items[:150])
    means, blind = plain_means(ratings), un.fuse(ratings).fused.mean
    rng = np.random.default_rng(0)
    rows = rng.choice(150, 20, replace=False)
    with pytest.warns(un.DataWarning, match=r"differ from the estimates by .* Are they really known\?"):
        result = un.fuse(ratings, gold=known(means[rng.permutation(rows)], ratings, rows))
    rest = np.setdiff1d(np.arange(150), rows)
    assert correlation(result.fused.mean[rest], blind[rest]).min() > 0.999


def copies(seed=0, M=400, D=2):
    """Scores up to 100 of many items, of which thirty are perfect copies."""
    rng = np.random.default_rng(seed)
    truth = np.clip(75 + 15 * rng.normal(size=(M, 1)) + 8 * rng.normal(size=(M, D)), 0, 100)
    truth[:30] = 100
    item_of, annotator_of = random_raters(rng, M, 12, 3)
    bias = 5 * rng.normal(size=(12, D))
    value = np.clip(truth[item_of] + bias[annotator_of] + 8 * rng.normal(size=(M * 3, D)), 0, 100)
    return ratings_of(value, item_of, annotator_of), truth


def test_thirty_perfect_copies_do_not_make_everything_perfect():
    ratings, truth = copies()
    blind = un.fuse(ratings)
    found = un.fuse(ratings, gold=known(truth[:30], ratings, range(30)))
    np.testing.assert_allclose(found.fused.mean[:30], 100)
    rest = slice(30, None)
    assert (
        correlation(found.fused.mean[rest], truth[rest]) > correlation(blind.fused.mean[rest], truth[rest]) - 0.01
    ).all()
    assert (found.fused.mean[rest].std(axis=0) > 0.9 * blind.fused.mean[rest].std(axis=0)).all()
    assert not found.summary_data["gold"]["dim1"]["turned"]
    assert found.summary_data["gold"]["dim1"]["scale"] == 1


# ---- known truths that mean something else


def good_crowd():
    ratings, truth, _ = drawn_from_the_model(100, seed=2)
    ratings = ratings.with_value(50 + 15 * ratings.value)
    return ratings, 50 + 15 * truth


def test_known_truths_upside_down_are_refused_with_the_figures_and_obeyed_if_asked():
    ratings, truth = good_crowd()
    gold = known(100 - truth[:20], ratings, range(20))
    words = r"of 'v' run against the ratings: their slope .* is -\d[.\d]* \(99% interval .*Turn them round "
    words += ".*gold_anyway=True"
    with pytest.raises(un.DataError, match=words):
        un.fuse(ratings, gold=gold)
    found = un.fuse(ratings, gold=gold, gold_anyway=True)
    assert (correlation(found.fused.mean[20:], truth[20:]) < -0.9).all()
    assert "another meaning, obeyed as you asked" in found.summary()


@pytest.mark.parametrize(("unit", "offset"), [(0.01, 0.0), (0.05, 1.0), (20.0, 0.0)])
def test_known_truths_in_another_unit_are_refused_and_obeyed_if_asked(unit, offset):
    ratings, truth = good_crowd()
    gold = known(unit * truth[:20] + offset, ratings, range(20))
    with pytest.raises(
        un.DataError, match=r"look as if they were in another unit: .* about .* times as large .*gold_anyway=True"
    ):
        un.fuse(ratings, gold=gold)
    found = un.fuse(ratings, gold=gold, gold_anyway=True, scale="none")
    error = (found.fused.mean - (unit * truth + offset))[20:]
    assert np.sqrt(np.mean(error**2)) < 0.5 * unit * truth.std()


def test_upside_down_is_not_taken_for_a_mixing():
    """Of two dimensions, a map with minus ones would explain known truths that are both upside down."""
    ratings, truth = good_crowd()
    with pytest.raises(un.DataError, match=r"'v' run against .* 'a' run against"):
        un.fuse(ratings, gold=known(100 - truth[:40], ratings, range(40)))


def test_one_dimension_upside_down_is_named_alone():
    ratings, truth = good_crowd()
    values = np.column_stack([truth[:20, 0], 100 - truth[:20, 1]])
    with pytest.raises(un.DataError) as refused:
        un.fuse(ratings, gold=known(values, ratings, range(20)))
    assert "'a'" in str(refused.value)
    assert "'v'" not in str(refused.value)


def test_a_refused_fit_leaves_nothing_behind():
    ratings, truth = good_crowd()
    fuser = make_fuser("auto")
    with pytest.raises(un.DataError, match="run against"):
        fuser.fit(ratings, gold=known(100 - truth[:20], ratings, range(20)))
    with pytest.raises(un.NotFittedError):
        fuser.fuse()


def test_a_mixing_crowd_with_known_truths_in_another_unit_is_refused():
    ratings, truth = mixed(clean=0)
    with pytest.raises(un.DataError, match="in another unit"):
        un.fuse(ratings, gold=known(truth[:30] / 100, ratings, range(30)))


# ---- dimensions that known truths turn, beside others


def mixed(clean=1, seed=0):
    """Everybody mixes two dimensions by half; the others are as they are."""
    rng = np.random.default_rng(seed)
    F = np.eye(2 + clean)
    F[:2, :2] = [[1.0, 0.5], [0.5, 1.0]]
    item_of, annotator_of = random_raters(rng, 100, 20, 10)
    truth = rng.uniform(-1, 1, size=(100, 2 + clean))
    return ratings_of(truth[item_of] @ F.T + 0.3 * rng.normal(size=(1000, 2 + clean)), item_of, annotator_of), truth


@pytest.fixture(scope="module")
def partly():
    ratings, truth = mixed()
    features = ItemTable.from_rows(truth @ np.ones((3, 1)), items=ratings.items, columns=["sum"])
    gold = known(truth[:20, :2], ratings, range(20), [0, 1])
    blind = un.fuse(ratings, features=features)
    return ratings, truth, features, blind, un.fuse(ratings, features=features, gold=gold)


def test_two_dimensions_are_turned_and_the_third_is_as_it_was(partly):
    _, truth, _, blind, found = partly
    assert [found.summary_data["gold"][name]["turned"] for name in ("dim1", "dim2", "dim3")] == [True, True, False]
    assert_untouched(found, blind, [2])
    r, before = correlation(found.fused.mean[20:], truth[20:]), correlation(blind.fused.mean[20:], truth[20:])
    assert (r[:2] > before[:2] + 0.04).all()
    assert np.diff(found.fuser.trace_.objective).min() > -1e-6


def test_everything_else_of_a_partly_turned_fit_is_of_both_parts(partly):
    ratings, _, features, blind, found = partly
    F = found.fuser.parameters().F[:-1].mean(axis=0)
    assert (np.abs(F[[0, 1], [1, 0]]) > 0.2).all()
    assert (F[2, :2] == 0).all()
    columns = dimension_columns(found.described)
    assert len(columns["annotator"]) == 60
    predicted, plain = (one.fuser.predict(features).mean for one in (found, blind))
    np.testing.assert_allclose(predicted[:, 2], plain[:, 2], rtol=1e-9)
    assert np.abs(predicted[:, :2] - plain[:, :2]).max() > 0.01
    answers, before = found.fuser.predict_ratings(ratings), blind.fuser.predict_ratings(ratings)
    np.testing.assert_allclose(answers.mean[:, 2], before.mean[:, 2], rtol=1e-9)
    assert np.isfinite(answers.variance).all()
    assert np.isfinite(found.fuser.score(ratings, features))


def test_a_saved_partly_turned_fit_comes_back(partly, tmp_path):
    ratings, _, features, _, found = partly
    again = un.load(found.save(tmp_path / "out"))
    some, own = ratings.select_items(ratings.items[40:60]), features.select_items(features.items[40:60])
    for name in ("mean", "cov"):
        one, two = (getattr(fuser.fuse(some, own), name) for fuser in (again, found.fuser))
        np.testing.assert_allclose(one, two, rtol=1e-12)
    np.testing.assert_allclose(again.parameters().F, found.fuser.parameters().F, rtol=1e-12)
