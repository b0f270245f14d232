"""Intervals of items allow for level and unit of all of them, which annotators leave open; differences for the unit."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import unisono as un
from unisono.errors import DataError, SettingsError
from unisono.fusers.item_posteriors import Calibration
from unisono.fusers.learned_arrays import packed, unpacked

PAIRS = [(m, m + 10) for m in range(10)]


def crowd(seed, *, M=30, K=3, bias=0.6, noise=0.4, units=0.0):
    """Everybody rates every item; annotators are drawn from a population whose average member has no bias, and gain 1.

    Their units, in which they err as well, have logarithms with the standard deviation `units`.
    """
    rng = np.random.default_rng([7, seed])
    t = rng.normal(size=(M, 2))
    m, k = np.divmod(np.arange(M * K), K)
    y = t[m] + bias * rng.normal(size=(K, 2))[k] + noise * rng.normal(size=(M * K, 2))
    if units:
        y *= np.exp(units * rng.normal(size=K) - units**2 / 2)[k, None]
    names = {"item": [f"i{i:02d}" for i in m], "annotator": [f"a{a}" for a in k]}
    return pl.DataFrame(names | {"x": 50 + 10 * y[:, 0], "y": 3 * y[:, 1]}), t * [10, 3] + [50, 0]


def inside(fused, t, level=0.9):
    low, high = fused.interval(level)
    return np.mean((low <= t) & (t <= high))


def test_intervals_of_items_hold_their_level_and_differences_theirs():
    absolute, relative, differences = [], [], []
    for seed in range(25):
        frame, t = crowd(seed)
        result = un.fuse(frame)
        absolute.append(inside(result.fused, t))
        relative.append(inside(un.fuse(frame, interval="relative").fused, t))
        for a, b in PAIRS:
            found = result.fused.difference(f"i{a:02d}", f"i{b:02d}")
            differences.append(np.mean((found.low <= t[a] - t[b]) & (t[a] - t[b] <= found.high)))
    assert 0.84 < np.mean(absolute) < 0.96
    assert np.mean(relative) < 0.75  # what the level leaves open is most of it
    assert 0.86 < np.mean(differences) < 0.95


def test_differences_know_no_level_and_are_where_the_estimates_are():
    frame, _ = crowd(0)
    result, other = un.fuse(frame), un.fuse(frame, interval="relative")
    one, two = result.fused.difference("i03", "i07"), other.fused.difference("i03", "i07")
    np.testing.assert_array_equal(result.fused.mean, other.fused.mean)
    np.testing.assert_array_equal(one.mean, two.mean)
    np.testing.assert_allclose(one.mean, result.fused.mean[3] - result.fused.mean[7])
    np.testing.assert_allclose(two.sd**2, other.fused.sd[3] ** 2 + other.fused.sd[7] ** 2)
    np.testing.assert_allclose(one.sd**2, two.sd**2 + result.fused.level.unit * one.mean**2)
    assert (one.sd**2 < 0.8 * (result.fused.sd[3] ** 2 + result.fused.sd[7] ** 2)).all()
    np.testing.assert_array_equal(result.fused.difference("i07", "i03").mean, -one.mean)
    same = result.fused.difference("i03", "i03")
    assert not same.sd.any()
    assert not same.mean.any()
    assert result.difference("i03", "i07").columns == ["dimension", "difference", "sd", "low", "high"]


def test_intervals_and_differences_hold_where_units_of_three_differ():
    covered, differences, without = [], [], []
    for seed in range(20):
        frame, t = crowd(seed, M=60, bias=0.2, noise=0.25, units=0.3)
        fused = un.fuse(frame).fused
        covered.append(inside(fused, t))
        without.append(inside(replace(fused, level=fused.level._replace(unit=0.0)), t))
        for a, b in PAIRS:
            found = fused.difference(f"i{a:02d}", f"i{b:02d}")
            differences.append(np.mean((found.low <= t[a] - t[b]) & (t[a] - t[b] <= found.high)))
    assert np.mean(without) + 0.03 < np.mean(covered)
    assert 0.84 < np.mean(covered) < 0.95
    assert 0.79 < np.mean(differences) < 0.95


def test_a_unit_is_open_where_few_who_follow_the_truth_differ_in_it():
    """The error is that of truths far from the middle; annotators who agree on the unit, and many, leave little."""
    alike, apart, many = (un.fuse(crowd(3, **how)[0]).fused for how in ({}, {"units": 0.6}, {"units": 0.6, "K": 30}))
    assert (apart.level.unit > 4 * alike.level.unit).all()
    assert (apart.level.unit > 2 * many.level.unit).all()
    middle, far = np.abs(apart.mean[:, 0] - apart.level.center[0]).argsort()[[0, -1]]
    assert np.ptp(apart.interval(), axis=0)[far, 0] > 1.3 * np.ptp(apart.interval(), axis=0)[middle, 0]
    relative = un.fuse(crowd(3, units=0.6)[0], interval="relative").fused
    assert relative.level is None


def test_differences_are_of_items_that_there_are():
    result = un.fuse(crowd(0)[0])
    with pytest.raises(DataError, match="no item 'i99' among the 30 fused items"):
        result.difference("i03", "i99")
    with pytest.raises(SettingsError, match="absolute, relative"):
        un.fuse(crowd(0)[0], interval="either")


def test_the_more_annotators_the_less_the_level_leaves_open():
    open_ = [np.diagonal(un.fuse(crowd(1, K=K)[0]).fused.level.cov)[0] for K in (3, 10, 40)]
    assert open_[0] > 2 * open_[1] > 4 * open_[2]
    assert open_[2] == pytest.approx(10**2 * 0.6**2 / 40, rel=0.5)


def test_known_truths_tell_the_level():
    frame, t = crowd(2)
    gold = pl.DataFrame({"item": [f"i{m:02d}" for m in range(12)], "x": t[:12, 0]})
    blind, known = un.fuse(frame).fused, un.fuse(frame, gold=gold).fused
    assert known.level.cov[0, 0] < 0.5 * blind.level.cov[0, 0]
    np.testing.assert_allclose(known.level.cov[1, 1], blind.level.cov[1, 1])
    assert not known.sd[:12, 0].any()


def test_a_saved_fit_keeps_what_the_level_leaves_open(tmp_path):
    frame, _ = crowd(3)
    result = un.fuse(frame)
    result.save(tmp_path / "out")
    again = un.load(tmp_path / "out").fuse(frame)
    np.testing.assert_allclose(again.level.cov, result.fused.level.cov, rtol=1e-9)
    assert again.level.freedom == result.fused.level.freedom == pytest.approx(7, abs=1e-3)
    np.testing.assert_allclose(again.level.unit, result.fused.level.unit, rtol=1e-9)
    np.testing.assert_allclose(again.sd, result.fused.sd, rtol=1e-9)
    np.testing.assert_array_equal(result.fit.fused().sd, result.fused.sd)
    assert unpacked(Calibration, packed(Calibration(), "one"), "one").level is None


def test_each_dimension_by_itself_has_a_level_too():
    frame, _ = crowd(4)
    level = un.fuse(frame, model="independent").fused.level.cov
    assert (np.diagonal(level) > 0).all()
    assert level[0, 1] == 0


def test_a_spammer_is_no_reason_to_doubt_the_level():
    frame, _ = crowd(5, M=60, K=8, bias=0.15)
    own = frame["annotator"] == "a0"
    always = frame.with_columns(
        pl.when(own).then(far).otherwise(name).alias(name) for name, far in (("x", 80.0), ("y", 9.0))
    )
    honest = np.sqrt(np.diagonal(un.fuse(frame).fused.level.cov))
    assert (np.sqrt(np.diagonal(un.fuse(always).fused.level.cov)) < 1.6 * honest).all()
