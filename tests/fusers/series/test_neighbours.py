"""Methods of others for traces: names and order do not matter, and each does what it is for."""

import numpy as np
import pytest

import unisono as un
from trace_world import pearson, trace_world
from unisono.fusers import make_fuser
from unisono.tables.ratings import Ratings

NEIGHBOURS = ("lag-mi", "dtw-mean", "windowed-ewe", "rank-mean", "fpca", "dpcca", "dpctw")


@pytest.fixture(scope="module")
def world():
    return trace_world(seed=1)


def renamed(ratings, order):
    """Annotators in another order, under other names; dimensions the other way round, recordings too."""
    K, names = ratings.K, [f"z{i}" for i in range(ratings.K)]
    length = ratings.length[::-1]
    blocks = [np.arange(ratings.offset[j], ratings.offset[j + 1]) for j in range(ratings.J)]
    rows = np.lexsort((np.array(order)[ratings.annotator_of], ratings.M - 1 - ratings.item_of))
    return Ratings.from_judgements(
        ratings.value[np.concatenate([blocks[j] for j in rows])][:, ::-1],
        (ratings.M - 1 - ratings.item_of)[rows],
        np.array(order)[ratings.annotator_of][rows],
        items=ratings.items[::-1],
        annotators=names[:K],
        dimensions=ratings.dimensions[::-1],
        length=length,
        clock=type(ratings.clock)(ratings.clock.rate, ratings.clock.start[::-1]),
    )


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_order_and_names_do_not_matter(name, world):
    one = un.fuse(world.ratings, model=name).fused
    other = un.fuse(renamed(world.ratings, [2, 0, 3, 1]), model=name).fused
    ends = np.cumsum(world.ratings.length[::-1])[:-1]
    for numbers, moved in ((one.mean, other.mean), (one.sd, other.sd)):
        back = np.concatenate(np.split(moved, ends)[::-1])[:, ::-1]
        np.testing.assert_allclose(back, numbers, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", ["dpcca", "dpctw"])
def test_the_objective_never_falls(name, world):
    fuser = make_fuser(name, series=True, tol=0.0, max_iter=40)
    with pytest.warns(un.ConvergenceWarning):
        fuser.fit(world.ratings, features=world.features)
    assert fuser.trace_.iterations == 40
    assert len(fuser.trace_.falls) == 0


def test_delays_by_information(world):
    """With features those behind them; without, relative to the others."""
    found = un.fuse(world.ratings, model="lag-mi", features=world.features)
    assert np.abs(found.fuser.lag_ - world.lag).max() <= 1
    assert found.fuser.notes()["delay_convention"] == "features"
    assert np.nanmax(np.abs(found.described.delay - world.lag / 5.0)) < 0.21
    alone = un.fuse(world.ratings, model="lag-mi").fuser.lag_
    away = alone - world.lag
    assert np.abs(away - np.median(away, axis=0)).max() <= 1
    assert not np.array_equal(alone, world.lag)
    mean = un.fuse(world.ratings, model="mean").fused.mean
    assert (pearson(found.fused.mean, world.truth.value) > pearson(mean, world.truth.value) + 0.02).all()


def test_who_falls_asleep_counts_less_from_then_on():
    ratings, truth = trace_world(lengths=(300, 300), gaps=False)[:2]
    value, who = ratings.value.copy(), np.repeat(ratings.annotator_of, ratings.length[ratings.item_of])
    late = (who == 0) & np.tile(np.arange(300) >= 150, ratings.J)
    value[late] = 2.5 * np.random.default_rng(0).standard_normal((late.sum(), 2))
    after = np.tile(np.arange(300) >= 150, 2)
    windows, plain = (un.fuse(ratings.with_value(value), model=name).fused.mean for name in ("windowed-ewe", "mean"))
    awake = un.fuse(ratings, model="windowed-ewe").fused.mean
    np.testing.assert_allclose(windows[~after][:100], awake[~after][:100], atol=0.2)
    better = pearson(windows[after], truth.value[after]) - pearson(plain[after], truth.value[after])
    assert better.min() > 0.02


def test_ranks_do_not_know_how_a_scale_is_bent(world):
    value = world.ratings.value.copy()
    own = np.repeat(world.ratings.annotator_of, world.ratings.length[world.ratings.item_of]) == 1
    value[own] = np.exp(value[own])
    bent = world.ratings.with_value(value)
    before, after = (un.fuse(r, model="rank-mean").fused.mean for r in (world.ratings, bent))
    assert pearson(before, after).min() > 0.9999
    before, after = (un.fuse(r, model="mean").fused.mean for r in (world.ratings, bent))
    assert pearson(before, after).min() < 0.98


def test_a_curve_unlike_the_others_is_left_out():
    world = trace_world(K=7, gaps=False)
    ratings = world.ratings
    value, frames = ratings.value.copy(), ratings.length[ratings.item_of]
    odd = np.repeat((ratings.annotator_of == 3) & (ratings.item_of == 0), frames)
    value[odd] = 4.0 * np.cos(np.arange(90) / 7.0)[:, None]
    with_odd = un.fuse(ratings.with_value(value), model="fpca").fused.mean[:90]
    value = value.copy()
    value[odd] = np.nan
    without = un.fuse(ratings.with_value(value), model="fpca").fused.mean[:90]
    np.testing.assert_allclose(with_odd, without, atol=0.3)
    assert np.abs(with_odd - without).mean() < 0.1


def test_a_curve_says_nothing_where_nobody_rated_it(world):
    value = world.ratings.value.copy()
    first = slice(0, 40)
    value[first] = np.nan
    gap = un.fuse(world.ratings.with_value(value), model="fpca").fused.mean
    others = value.copy()
    others[:90] = np.nan
    without = un.fuse(world.ratings.with_value(others), model="fpca").fused.mean
    np.testing.assert_allclose(gap[first], without[first], atol=0.1)


def test_features_drive_what_is_shared(world):
    """Where ratings are few, features help; those of other recordings have to be given too."""
    r = world.ratings
    value = r.value.copy()
    value[np.repeat(r.annotator_of > 1, r.length[r.item_of])] = np.nan
    noisy = r.with_value(value + 1.2 * np.random.default_rng(0).standard_normal(value.shape))
    alone, driven = un.fuse(noisy, model="dpcca"), un.fuse(noisy, model="dpcca", features=world.features)
    truth = world.truth.value
    assert pearson(driven.fused.mean, truth).mean() > pearson(alone.fused.mean, truth).mean() + 0.005
    with pytest.raises(un.DataError, match="fitted with features"):
        driven.fuser.fuse(noisy)


def test_newcomers_are_average_annotators(world):
    r = world.ratings
    first = r.select_judgements(r.annotator_of != 3)
    for name in NEIGHBOURS:
        fuser = make_fuser(name, series=True).fit(first)
        assert pearson(fuser.fuse(r).mean[:90], world.truth.value[:90]).mean() > 0.75, name
