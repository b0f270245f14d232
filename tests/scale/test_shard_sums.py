"""What is counted part by part adds up to what is counted at once."""

import itertools

import numpy as np
import pytest

from sharded_cases import crowd_table
from unisono.maths.raters.rater_signal import centred_sums, joined_sums
from unisono.scale.shard_parts import Part, Tally, _at, groups_of, joined_looks, joined_tallies, look_at, tallied
from unisono.scale.shard_preparation import scale_of
from unisono.scale.shard_sums import joined_moments, moments_of
from unisono.tables.coverage_and_outliers import connected_groups
from unisono.tables.rating_checks import check_ratings
from unisono.tables.reading.ratings_reader import read_ratings
from unisono.tables.scale_inference import infer_scale


def parts_of(ratings, pieces):
    """Parts of some items each."""
    edges = np.linspace(0, ratings.M, pieces + 1).astype(int)
    found = []
    for low, high in itertools.pairwise(edges.tolist()):
        rows = (ratings.item_of >= low) & (ratings.item_of < high)
        own = ratings.value[rows], ratings.item_of[rows] - low, ratings.annotator_of[rows]
        found.append(Part(*own, int(high - low), ratings.K, int(low)))
    return found


@pytest.fixture(scope="module")
def ratings():
    return read_ratings(crowd_table(items=90))


def test_looks_add_up(ratings):
    (whole,) = (look_at(part) for part in parts_of(ratings, 1))
    one, two, three = (look_at(part) for part in parts_of(ratings, 3))
    added = joined_looks(joined_looks(one, two), three)
    for name, value in whole._asdict().items():
        if name != "digest":
            np.testing.assert_equal(getattr(added, name), value, err_msg=name)
    counts = np.bincount(np.unique(ratings.item_of, return_counts=True)[1])
    assert whole.per_item.sum() == ratings.M
    assert whole.pairs == sum(n * (n - 1) // 2 * items for n, items in enumerate(counts))


def test_groups_that_share_no_item_are_found_across_parts():
    rng = np.random.default_rng(0)
    table = crowd_table(items=40).filter(crowd_table(items=40)["annotator"] != "nobody")
    ratings = read_ratings(table)
    keep = np.where(ratings.item_of < 20, ratings.annotator_of < 10, ratings.annotator_of >= 10)
    ratings = ratings.select_judgements(keep)
    order = rng.permutation(ratings.M)
    ratings = ratings.select_items(order)
    looks = [look_at(part) for part in parts_of(ratings, 4)]
    tied = joined_looks(joined_looks(looks[0], looks[1]), joined_looks(looks[2], looks[3])).tied
    found, expected = groups_of(tied), connected_groups(ratings)
    assert len(expected) == 2
    assert [group.tolist() for group in found] == [group.tolist() for group in expected]
    assert "disconnected-groups" in {alert.kind for alert in check_ratings(ratings)}


@pytest.mark.parametrize("values", [[1, 2, 7, 7, 7, 1, 1], [0.5, 0.25, 100.0, 100.0, 3], [-1e9, 2.5, 2.5], []])
def test_scales_are_inferred_from_parts(values):
    column = np.array([*values, np.nan] * 9, dtype=float)
    annotator_of = np.arange(len(column)) % 4
    parts = [
        Part(column[rows, None], np.arange(len(column[rows])), annotator_of[rows], len(column[rows]), 4, 0)
        for rows in (slice(11), slice(11, None))
    ]
    look, (tally,) = joined_looks(*map(look_at, parts)), joined_tallies(*map(tallied, parts))
    expected = infer_scale(column[:, None], annotator_of)
    assert scale_of(look, [tally], {}, None) == expected


def test_the_ends_of_a_slider_are_found_where_not_all_answers_are_kept():
    column = np.clip(np.random.default_rng(0).normal(50, 40, 4000), 0, 100)
    part = Part(column[:, None], np.arange(4000), np.arange(4000) % 9, 4000, 9, 0)
    (tally,) = tallied(part)
    for level in (0, 3):
        assert scale_of(look_at(part), [_at(tally, level)], {}, None).ends == ((0.0, 100.0),)


def test_tallies_are_those_of_all_answers(ratings):
    tallies = [tallied(part) for part in parts_of(ratings, 3)]
    added = joined_tallies(joined_tallies(tallies[0], tallies[1]), tallies[2])
    for d, tally in enumerate(added):
        column = ratings.value[~np.isnan(ratings.value[:, d]), d]
        n = np.unique(column, return_counts=True)[1]
        assert tally.equal_pairs() == (n * (n - 1)).sum()
        shares = [0.0, 0.05, 0.25, 0.5, 0.77, 1.0]
        np.testing.assert_allclose(tally.quantiles(shares), np.quantile(column, shares), rtol=1e-12)


def test_a_tally_of_very_many_answers_keeps_some_and_still_tells(monkeypatch):
    monkeypatch.setattr("unisono.scale.shard_parts.MOST_ANSWERS", 500)
    rng = np.random.default_rng(1)
    value = np.repeat(rng.normal(size=8000), rng.integers(1, 4, 8000))
    cut = rng.permutation(value).reshape(-1, 1)
    parts = [Part(own, np.arange(len(own)), np.zeros(len(own), int), len(own), 1, 0) for own in np.array_split(cut, 3)]
    one, two, three = (tallied(part) for part in parts)
    (tally,) = joined_tallies(joined_tallies(one, two), three)
    (other,) = joined_tallies(one, joined_tallies(two, three))
    assert isinstance(tally, Tally)
    assert len(tally.value) <= 500
    np.testing.assert_array_equal(tally.value, other.value)
    n = np.unique(value, return_counts=True)[1]
    assert tally.equal_pairs() == pytest.approx((n * (n - 1)).sum(), rel=0.2)
    assert tally.quantiles([0.5])[0] == pytest.approx(np.median(value), abs=0.15)


def test_centred_sums_and_moments_add_up(ratings):
    rng = np.random.default_rng(2)
    truth = rng.normal(size=ratings.value.shape) + 100
    rows = np.arange(ratings.J) < 200
    both = [centred_sums(ratings.value[own], truth[own], ratings.annotator_of[own], ratings.K) for own in (rows, ~rows)]
    whole = centred_sums(ratings.value, truth, ratings.annotator_of, ratings.K)
    for found, expected in zip(joined_sums(*both), whole, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-9)
    value = ratings.value + 1e4
    found = joined_moments(moments_of(value[rows]), moments_of(value[~rows]))
    np.testing.assert_allclose(found.mean, np.nanmean(value, axis=0), rtol=1e-14)
    np.testing.assert_allclose(found.squares / found.n, np.nanvar(value, axis=0), rtol=1e-9)
