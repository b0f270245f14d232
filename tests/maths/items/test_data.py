"""Profiles of annotators: their sums, and their patterns of answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unisono.maths.items.item_data import (
    answer_patterns,
    index_type,
    no_features,
    prepare,
    profile_keys,
    rows_elsewhere,
)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_sums_by_annotator_equal_a_loop_and_are_a_copy(missing):
    rng = np.random.default_rng(0)
    value = rng.normal(size=(60, 3))
    value[rng.random(value.shape) < missing] = np.nan
    of = rng.permutation(np.arange(60) % 7)
    data = prepare(value, np.repeat(np.arange(20), 3), of, no_features(20), 7)

    answers = data.answers()
    total = data.by_annotator(data.Sy)

    for k in range(7):
        np.testing.assert_array_equal(answers[k], (~np.isnan(value[of == k])).sum(axis=0))
        np.testing.assert_allclose(total[k], np.nansum(value[of == k], axis=0), rtol=1e-12)
    assert not np.shares_memory(total, data.Sy)


@pytest.mark.parametrize(
    "answered", [np.ones((4, 2), dtype=bool), np.array([[1, 0], [1, 1], [1, 0], [0, 0]], dtype=bool)]
)
def test_patterns_of_answers_cover_every_profile_once(answered):
    seen = np.zeros(answered.shape, dtype=int)
    found = []
    for dims, profiles in answer_patterns(answered):
        found += profiles.tolist()
        seen[np.ix_(profiles, dims)] += 1

    assert sorted(found) == list(range(len(answered)))
    np.testing.assert_array_equal(seen, answered)


@given(st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_profiles_are_the_pairs_of_annotator_and_pattern_that_occur(data):
    D, K = data.draw(st.integers(1, 200)), data.draw(st.integers(1, 10**6))
    J = data.draw(st.integers(0, 30))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    patterns = rng.random((4, D)) < data.draw(st.sampled_from([0.02, 0.5, 0.98, 1.0]))
    answered = patterns[rng.integers(0, 4, J)]
    annotator_of = rng.choice([0, K // 2, K - 1], J).astype(np.int32)
    value = np.where(answered, rng.normal(size=(J, D)), np.nan)

    found = prepare(value, np.arange(J), annotator_of, no_features(J), K)

    pairs = [(k, tuple(row)) for k, row in zip(annotator_of.tolist(), answered.tolist(), strict=True)]
    profiles = [(k, tuple(row)) for k, row in zip(found.annotator.tolist(), found.answered.tolist(), strict=True)]
    assert len(set(profiles)) == len(profiles)
    assert [profiles[of] for of in found.profile_of] == pairs
    assert set(profiles) == set(pairs)
    assert (np.diff(found.annotator) >= 0).all()
    said = answered.any(axis=1)  # a judgement without answers is none
    np.testing.assert_array_equal(found.judgements, np.bincount(found.profile_of[said], minlength=len(profiles)))


@given(st.integers(1, 200), st.integers(1, 10**6), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_keys_are_the_same_in_every_shard_and_say_all_of_a_profile(D, K, seed):
    rng = np.random.default_rng(seed)
    answered = rng.random((5, D)) < 0.5
    value = np.where(answered[rng.integers(0, 5, 24)], 1.0, np.nan)
    annotator_of = rng.choice([0, K // 3, K - 1], 24)
    whole, one, other = (
        prepare(value[rows], np.zeros(len(value[rows]), dtype=int), annotator_of[rows], no_features(1), K)
        for rows in (slice(None), slice(0, 10), slice(10, 24))
    )

    joined = np.unique(np.concatenate([profile_keys(one), profile_keys(other)]))

    np.testing.assert_array_equal(joined, profile_keys(whole))
    np.testing.assert_array_equal(joined[np.searchsorted(joined, profile_keys(one))], profile_keys(one))
    read = rows_elsewhere(joined, whole.judgements, whole.Sy, whole.Syy, no_features(1), K)
    np.testing.assert_array_equal(read.annotator, whole.annotator)
    np.testing.assert_array_equal(read.answered, whole.answered)


def test_more_judgements_than_small_integers_count_are_counted_in_large_ones():
    assert index_type(2**31 - 1) is np.int32
    assert index_type(2**31) is np.int64
