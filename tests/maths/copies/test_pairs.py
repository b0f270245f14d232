"""Copies: found whatever the scale, not seen where annotators are merely good, alike or lazy."""

import numpy as np
import pytest

from copied_crowds import area_under_curve, crowd, with_copy
from reference import naive_copies
from unisono.maths.copies import answer_chances as chance
from unisono.maths.copies import copy_meetings
from unisono.maths.copies import copy_pairs as pairs
from unisono.maths.copies.answer_chances import answer_chances
from unisono.maths.copies.copy_pairs import copy_pairs

CROWDS = {
    "five points": {"items": 100, "annotators": 20, "per_item": 5},
    "few items": {"items": 30},
    "three dimensions, twenty items": {"items": 20, "dims": 3},
    "high agreement": {"noise": 0.25},
    "three points, high agreement": {"levels": 3, "noise": 0.3},
    "at the end of the scale": {"items": 100, "noise": 0.5, "skew": 1.2, "dims": 2},
    "nearly everything at the end": {
        "items": 300,
        "annotators": 12,
        "per_item": 3,
        "dims": 3,
        "noise": 0.5,
        "skew": 2.5,
    },
    "slider": {"items": 40, "annotators": 20, "per_item": 9, "levels": 101, "noise": 0.5},
    "slider, high agreement": {"items": 50, "annotators": 20, "per_item": 10, "levels": 101, "noise": 0.1},
    "three raters": {"items": 200, "annotators": 3, "dims": 2},
    "twelve dimensions": {"items": 30, "annotators": 15, "per_item": 6, "dims": 12},
    "two hundred annotators": {"items": 400, "annotators": 200, "per_item": 5, "dims": 3, "levels": 7},
}


def odds(planted):
    found = copy_pairs(*planted[:4])
    is_copy = (found.pair == [planted.original, planted.copy]).all(axis=1)
    return found.log_odds[is_copy], found.log_odds[~is_copy]


@pytest.mark.parametrize("settings", CROWDS.values(), ids=CROWDS)
def test_copies_with_a_tenth_of_their_answers_changed_stand_out(settings):
    seeds = range(6 if settings.get("annotators") == 200 else 16)
    found = [odds(with_copy(np.random.default_rng(seed), **settings)) for seed in seeds]
    copies, honest = (np.concatenate(part) for part in zip(*found, strict=True))
    assert len(copies) == len(seeds)
    assert area_under_curve(copies, honest) > 0.99
    assert (honest > np.log(9)).mean() <= 0.001  # a probability of .9


def test_who_differs_often_is_no_copy_however_many_answers_they_share():
    """Two of three experts who agree on most answers because most are the same one."""
    for seed in range(3):
        value, item_of, who, _ = crowd(
            np.random.default_rng(seed), items=600, annotators=3, dims=4, noise=0.5, skew=1.5
        )
        assert copy_pairs(value, item_of, who, 3).probability.max() < 0.5


@pytest.mark.parametrize("seed", [71, 141])
def test_two_who_differ_on_a_third_of_their_answers_are_two_opinions(seed):
    """Two of five see a quarter of the cells in a way of their own, and agree there on what nobody else answers."""
    rng = np.random.default_rng(seed)
    truth, theirs = rng.normal(size=(2, 100, 5))
    apart = rng.random((100, 5)) < 0.25
    item_of, who = np.repeat(np.arange(100), 5), np.tile(np.arange(5), 100)
    own = np.isin(who, [0, 3])[:, None] & apart[item_of]
    seen = np.where(own, 1.6 * np.sign(theirs[item_of]), 0.8 * truth[item_of])
    value = np.clip(np.round(seen + np.where(own, 0.3, 0.55) * rng.normal(size=seen.shape) + 1), 0, 2)
    found = copy_pairs(value, item_of, who, 5)
    pair = (found.pair == [0, 3]).all(axis=1)
    assert 0.65 < found.equal[pair] < 0.7
    assert found.probability[pair] < 0.5


def test_exact_copies_are_certain():
    for seed in range(5):
        planted = with_copy(np.random.default_rng(seed), changed=0.0)
        copy, honest = odds(planted)
        assert copy > np.log(99)
        assert (honest < np.log(9)).all()


def test_chances_are_those_of_the_naive_reference():
    rng = np.random.default_rng(4)
    value, item_of, who, _ = crowd(rng, items=12, annotators=6, per_item=3)
    for y in (value[:, 0], np.where(value[:, 0] > 3, 3.0, value[:, 0])):
        expected = naive_copies.answer_chance(y.tolist(), item_of.tolist(), who.tolist(), 6)
        np.testing.assert_allclose(answer_chances(y, item_of, who, 6), expected, rtol=1e-10)


def test_missing_answers_are_as_if_they_were_not_there(monkeypatch):
    rng = np.random.default_rng(5)
    value, item_of, who, _ = crowd(rng, items=20)
    gone = rng.random(len(value)) < 0.2
    y = np.where(gone, np.nan, value[:, 0])
    found = answer_chances(y, item_of, who, 10)
    left = answer_chances(y[~gone], item_of[~gone], who[~gone], 10)
    np.testing.assert_allclose(np.stack(found)[:, ~gone], left)
    assert np.isnan(np.stack(found)[:, gone]).all()
    # Sparse tables of counts give the same numbers.
    monkeypatch.setattr(chance, "MOST_COUNTS", 0)
    np.testing.assert_allclose(answer_chances(y[~gone], item_of[~gone], who[~gone], 10), left)


def test_units_and_the_order_of_annotators_do_not_matter():
    planted = with_copy(np.random.default_rng(6), items=40)
    found = copy_pairs(*planted[:4])
    np.testing.assert_allclose(copy_pairs(0.1 * planted.value - 3, *planted[1:4]).log_odds, found.log_odds, rtol=1e-9)
    turned = planted.K - 1 - planted.annotator_of
    order = np.lexsort((turned, planted.item_of))
    again = copy_pairs(planted.value[order], planted.item_of[order], turned[order], planted.K)
    place = {tuple(pair): i for i, pair in enumerate(again.pair)}
    row = [place[planted.K - 1 - b, planted.K - 1 - a] for a, b in found.pair]
    np.testing.assert_allclose(again.log_odds[row], found.log_odds, rtol=1e-9)


def test_two_who_always_say_the_same_are_lazy_and_no_copies():
    value, item_of, who, _ = crowd(np.random.default_rng(7), items=60)
    value[(who == 2) | (who == 5)] = 3.0
    found = copy_pairs(value, item_of, who, 10)
    assert found.equal[(found.pair == [2, 5]).all(axis=1)] == 1.0
    assert found.probability.max() < 0.01


def test_a_crowd_that_agrees_on_everything_has_no_copies():
    truth = np.random.default_rng(8).integers(1, 6, size=50)
    item_of, who = np.repeat(np.arange(50), 6), np.tile(np.arange(6), 50)
    assert copy_pairs(truth[item_of][:, None].astype(float), item_of, who, 6).probability.max() < 0.5


def test_pure_noise_has_no_copies():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        item_of, who = np.repeat(np.arange(40), 8), np.tile(np.arange(8), 40)
        assert copy_pairs(rng.integers(1, 4, size=(320, 2)).astype(float), item_of, who, 8).probability.max() < 0.5


def test_tables_without_pairs():
    for table in (np.zeros((0, 1)), np.ones((3, 1)), np.full((3, 2), np.nan)):
        J = len(table)
        found = copy_pairs(table, np.arange(J), np.zeros(J, dtype=int), 1)
        assert len(found.pair) == len(found.probability) == 0


@pytest.mark.parametrize("enough", [1, 10**9], ids=["some items", "rare answers"])
def test_bounded_work_finds_the_same_copies(monkeypatch, enough):
    """A table that is too large to compare everything: a first look, then a closer one at whoever is suspicious."""
    monkeypatch.setattr(copy_meetings, "MOST_CELLS", 20_000)
    monkeypatch.setattr(copy_meetings, "FIRST_CELLS", 20_000)
    monkeypatch.setattr(copy_meetings, "ENOUGH_CELLS", enough)
    looks = []
    first_look = pairs.first_look
    monkeypatch.setattr(pairs, "first_look", lambda *table: looks.append(first_look(*table)) or looks[-1])
    planted = with_copy(np.random.default_rng(9), items=150, annotators=60, dims=2, levels=7)
    copy, honest = odds(planted)
    assert copy > np.log(99)
    assert (honest < np.log(9)).all()
    assert not looks[0].every_item
    assert looks[0].every_pair == (enough == 1)
    assert len(looks[0].meetings.of) * 2 <= 40_000


def test_one_typing_error_makes_nobody_a_copy():
    """Levels of items are steps of the answers' range: one wild answer is no reason to see one level in all items."""
    for seed in range(4):
        value, item_of, who, _ = crowd(
            np.random.default_rng(seed), items=250, annotators=12, per_item=3, dims=2, noise=0.5, skew=2.0
        )
        before = copy_pairs(value, item_of, who, 12)
        value[np.random.default_rng(seed).integers(len(value)), 0] = value[:, 0].max() + 20 * np.ptp(value[:, 0])
        after = copy_pairs(value, item_of, who, 12)
        np.testing.assert_array_equal(after.pair, before.pair)
        assert np.median(np.abs(after.expected - before.expected)) < 1e-3
