"""Copies in shards are those in memory, on whatever rows they are looked for."""

import itertools

import numpy as np
import pytest

from sharded_cases import crowd_table, written
from unisono.maths.copies.copy_sets import disputes, find_opinions, member_distances, voice_sums
from unisono.maths.grouped_sums import add_paired
from unisono.scale.executors import SerialExecutor, Task, add_fields, pairwise_sum
from unisono.scale.shard_duplicates import find_copies
from unisono.scale.shard_parts import Source, make_part
from unisono.scale.shard_writer import write_shards
from unisono.scale.sharded_default import look_at_all
from unisono.tables.reading.ratings_reader import read_ratings


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copies")
    table = crowd_table(items=400, annotators=30)
    shards = write_shards(written(table, folder / "ratings.csv"), folder / "shards", rows=500)
    return read_ratings(table), shards


def found_in(shards):
    executor = SerialExecutor()
    places = zip(shards.paths(), shards.first_items(), strict=True)
    sources = [Source(path, shards.dimensions, len(shards.annotators), first) for path, first in places]
    parts = executor.load([Task(make_part, (source,)) for source in sources])
    return find_copies(executor, parts, look_at_all(executor, parts)[0])


def patched(monkeypatch, cells, enough=30):
    monkeypatch.setattr("unisono.maths.copies.copy_meetings.MOST_CELLS", cells)
    monkeypatch.setattr("unisono.scale.shard_duplicates.MOST_CELLS", cells)
    monkeypatch.setattr("unisono.maths.copies.copy_meetings.FIRST_CELLS", cells)
    monkeypatch.setattr("unisono.maths.copies.copy_sets.MOST_CELLS", cells)
    monkeypatch.setattr("unisono.maths.copies.copy_meetings.ENOUGH_CELLS", enough)


def assert_copies(found, ratings):
    one, other = (ratings.annotators.index(name) for name in ("rater5", "rater6"))
    expected = np.arange(ratings.K)
    expected[other] = one
    np.testing.assert_array_equal(found.voice, expected)


def test_small_tables_are_compared_as_in_memory(crowd):
    ratings, shards = crowd
    expected = find_opinions(ratings.value, ratings.item_of, ratings.annotator_of, ratings.K)
    found = found_in(shards)
    assert_copies(found, ratings)
    for own, known in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, known, atol=1e-9)


@pytest.mark.parametrize(
    ("cells", "enough"),
    [(6_000, 5), (4_000, 100_000)],
    ids=["some items", "neighbours and sketches"],
)
def test_large_tables_are_looked_at_in_part(crowd, monkeypatch, cells, enough):
    ratings, shards = crowd
    patched(monkeypatch, cells, enough)
    assert_copies(found_in(shards), ratings)


def test_whose_answer_counts_is_told_from_all_parts(crowd):
    """Distances of members that are summed part by part are those of the whole table."""
    ratings, _ = crowd
    rng = np.random.default_rng(3)
    voice = np.arange(ratings.K)
    voice[[6, 9]] = 5
    voice = np.unique(voice, return_inverse=True)[1]
    value = np.where(rng.random(ratings.value.shape) < 0.2, rng.integers(1, 8, ratings.value.shape), ratings.value)
    edges = [0, 100, 250, ratings.M]
    pieces = []
    for low, high in itertools.pairwise(edges):
        rows = (ratings.item_of >= low) & (ratings.item_of < high)
        pieces.append((value[rows], ratings.item_of[rows] - low, ratings.annotator_of[rows], voice))
    sums = pairwise_sum([voice_sums(*piece) for piece in pieces], add_paired)
    found = pairwise_sum([disputes(*piece, sums) for piece in pieces], add_fields).distance()
    expected = member_distances(value, ratings.item_of, ratings.annotator_of, voice)
    assert np.isfinite(expected).sum() == 3
    np.testing.assert_allclose(found, expected, rtol=1e-10)
