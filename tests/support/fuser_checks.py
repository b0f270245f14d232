"""Checks that every fuser has to pass, whatever it is made of. Each takes a function that makes the fuser."""

from __future__ import annotations

import warnings

import numpy as np

import unisono as un
from unisono.paper.simulation import simulate_items
from unisono.tables.ratings import Ratings


def small_world(seed=0, **settings):
    """30 items, 6 annotators, 2 dimensions, 4 ratings each, some answers missing, 3 features."""
    default = {"items": 30, "annotators": 6, "features": 3, "ratings_per_item": 4, "missing": 0.1, "bias": 0.3}
    return simulate_items(**(default | {"transform": "near-identity"} | settings), seed=seed)


def fitted(make, ratings, **tables):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.ConvergenceWarning)
        return make().fit(ratings, **tables)


def shuffled(ratings: Ratings, rng) -> Ratings:
    """The same ratings with rows in another order."""
    order = rng.permutation(ratings.J)
    return Ratings.from_judgements(
        ratings.value[order],
        ratings.item_of[order],
        ratings.annotator_of[order],
        items=ratings.items,
        annotators=ratings.annotators,
        dimensions=ratings.dimensions,
    )


def check_results_are_finite_and_ordered(make):
    ratings = small_world().ratings
    fused = fitted(make, ratings).fuse()
    assert fused.items == ratings.items
    assert np.isfinite(fused.mean).all()
    assert (fused.sd > 0).all()
    low, high = fused.interval()
    assert (low < fused.mean).all()
    assert (fused.mean < high).all()


def check_row_order_does_not_matter(make):
    ratings = small_world().ratings
    first = fitted(make, ratings).fuse()
    second = fitted(make, shuffled(ratings, np.random.default_rng(1))).fuse()
    np.testing.assert_array_equal(second.mean, first.mean)
    np.testing.assert_array_equal(second.cov, first.cov)


def check_names_do_not_matter(make):
    ratings = small_world().ratings
    M, K = ratings.M, ratings.K
    renamed = Ratings.from_judgements(
        ratings.value,
        M - 1 - ratings.item_of,
        K - 1 - ratings.annotator_of,
        items=[f"Ünit {m}" for m in range(M)],
        annotators=[f"评分者{k}" for k in range(K)],
        dimensions=("x y", "z,ü"),
    )
    first, second = fitted(make, ratings).fuse(), fitted(make, renamed).fuse()
    np.testing.assert_allclose(second.mean[::-1], first.mean, rtol=1e-6, atol=1e-8)


def check_units_do_not_matter(make, *, per_dimension):
    """Ratings in other units give the truth in these units; the paper's model allows one common unit only."""
    ratings = small_world().ratings
    scale = np.array([1e6, 1e-9]) if per_dimension else np.array([1e6, 1e6])
    shift = np.array([5e6, -3e-9]) if per_dimension else np.zeros(2)
    first = fitted(make, ratings).fuse()
    second = fitted(make, ratings.with_value(ratings.value * scale + shift)).fuse()
    np.testing.assert_allclose((second.mean - shift) / scale, first.mean, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(second.sd / scale, first.sd, rtol=1e-6)


def check_fitting_twice_forgets_the_first(make):
    one, two = small_world(0).ratings, small_world(1).ratings
    fuser = fitted(make, one)
    np.testing.assert_array_equal(fuser.fit(two).fuse().mean, fitted(make, two).fuse().mean)


def check_known_annotators_on_new_items(make):
    world = small_world()
    fuser = fitted(make, world.ratings)
    again = fuser.fuse(world.ratings)
    np.testing.assert_allclose(again.mean, fuser.fuse().mean, rtol=1e-7, atol=1e-9)
    some = world.ratings.select_items(list(world.ratings.items[:7]))
    np.testing.assert_allclose(fuser.fuse(some).mean, fuser.fuse().mean[:7], rtol=1e-7, atol=1e-9)


def check_prediction_from_features(make):
    world = small_world(features=2)
    target = world.truth.value
    features = un.ItemTable.from_rows(target + 0.01, items=world.truth.items, columns=("f", "g"))
    rated = world.ratings.select_items(list(world.ratings.items[:24]))
    fuser = fitted(make, rated, features=features)
    new = features.select_items(features.items[24:])
    predicted = fuser.predict(new)
    assert predicted.items == new.items
    found = np.corrcoef(predicted.mean[:, 0], target[24:, 0])[0, 1]
    assert found > 0.8
    assert np.isfinite(predicted.sd).all()


def check_scores_prefer_sense_to_noise(make):
    world = small_world(items=60)
    train = world.ratings.select_items(list(world.ratings.items[:40]))
    test = world.ratings.select_items(list(world.ratings.items[40:]))
    rng = np.random.default_rng(2)
    nonsense = test.with_value(np.where(np.isnan(test.value), np.nan, 3 * rng.standard_normal(test.value.shape)))
    fuser = fitted(make, train)
    assert np.isfinite(fuser.score(test))
    assert fuser.score(test) > fuser.score(nonsense)


def check_annotators_are_described(make):
    world = small_world(items=80, ratings_per_item=6, missing=0.0, noise=0.2)
    flipped = world.ratings.value.copy()
    who = world.ratings.annotator_of == 2
    flipped[who] = np.random.default_rng(0).normal(size=(who.sum(), 2))
    table = fitted(make, world.ratings.with_value(flipped)).describe()
    assert table.annotators == world.ratings.annotators
    assert table.ratings.sum() == world.ratings.J
    assert np.nanmean(table.agreement, axis=1).argmin() == 2
    assert np.nanmean(table.reliability, axis=1).argmin() == 2
    assert ((table.reliability >= 0) & (table.reliability <= 1)).all()


def check_awkward_annotators(make):
    """One rating only, always the same answer, a group of their own, a dimension never answered."""
    rng = np.random.default_rng(0)
    rows = [(m, k) for m in range(12) for k in range(4)] + [(0, 4)] + [(m, k) for m in (12, 13) for k in (5, 6)]
    item_of, annotator_of = map(np.array, zip(*sorted(rows), strict=True))
    value = rng.normal(size=(14, 2))[item_of] + 0.3 * rng.normal(size=(len(item_of), 2))
    value[annotator_of == 1] = 3.0
    value[annotator_of == 2, 1] = np.nan
    ratings = Ratings.from_judgements(
        value,
        item_of,
        annotator_of,
        items=[str(m) for m in range(15)],
        annotators=[str(k) for k in range(7)],
        dimensions=("a", "b"),
    )
    fuser = fitted(make, ratings)
    fused, table = fuser.fuse(), fuser.describe()
    assert np.isfinite(fused.mean).all()
    assert np.isfinite(fused.cov).all()
    assert table.ratings.tolist() == [12, 12, 12, 12, 1, 2, 2]


ALL = [
    check_results_are_finite_and_ordered,
    check_row_order_does_not_matter,
    check_names_do_not_matter,
    check_fitting_twice_forgets_the_first,
    check_known_annotators_on_new_items,
    check_prediction_from_features,
    check_scores_prefer_sense_to_noise,
    check_annotators_are_described,
    check_awkward_annotators,
]
