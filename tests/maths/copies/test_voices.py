"""The answers of a set of copies as one voice: one of theirs, never a mixture."""

import numpy as np

from copied_crowds import crowd, with_copy
from reference import naive_copies
from unisono.maths.copies.copy_sets import member_distances, one_voice


def voice_of(planted):
    voice = np.arange(planted.K)
    voice[planted.copy] = planted.original
    return voice


def test_the_voice_is_that_of_the_naive_reference():
    rng = np.random.default_rng(0)
    value, item_of, who, _ = crowd(rng, items=25, annotators=8, per_item=5, dims=2)
    value[rng.random(value.shape) < 0.15] = np.nan
    voice = np.array([0, 1, 0, 3, 1, 5, 0, 7])
    merged, item, by = one_voice(value, item_of, who, voice)
    expected = naive_copies.voices(value.tolist(), item_of.tolist(), who.tolist(), voice.tolist())
    assert list(zip(item.tolist(), by.tolist(), strict=True)) == list(expected)
    np.testing.assert_array_equal(merged, list(expected.values()))


def test_changed_answers_leave_no_trace():
    """Over all that is disputed, the one whose answers were changed lies farther from the others."""
    for seed in range(10):
        planted = with_copy(np.random.default_rng(seed), items=60, annotators=6, dims=2)
        voice = voice_of(planted)
        distance = member_distances(planted.value, planted.item_of, planted.annotator_of, voice)
        assert distance[planted.original] < distance[planted.copy]
        merged, _, by = one_voice(planted.value, planted.item_of, planted.annotator_of, voice)
        own = planted.value[planted.annotator_of == planted.original]
        np.testing.assert_array_equal(merged[by == planted.original], own)


def test_of_three_the_majority_answers():
    value = np.array([[1.0], [4.0], [4.0], [2.0], [5.0], [5.0], [5.0], [3.0]])
    item_of, who = np.repeat([0, 1], 4), np.tile([0, 1, 2, 3], 2)
    merged, item, by = one_voice(value, item_of, who, np.array([0, 0, 0, 3]))
    np.testing.assert_array_equal(merged[:, 0], [4.0, 2.0, 5.0, 3.0])
    np.testing.assert_array_equal(item, [0, 0, 1, 1])
    np.testing.assert_array_equal(by, [0, 3, 0, 3])


def test_a_member_alone_answers_for_the_voice():
    value = np.array([[1.0, np.nan], [3.0, 4.0], [5.0, 5.0], [2.0, np.nan]])
    merged, item, by = one_voice(value, np.array([0, 0, 0, 1]), np.array([0, 1, 2, 1]), np.array([0, 0, 2]))
    np.testing.assert_array_equal(merged, [[1.0, 4.0], [5.0, 5.0], [2.0, np.nan]])
    np.testing.assert_array_equal(item, [0, 0, 1])
    np.testing.assert_array_equal(by, [0, 2, 0])


def test_without_copies_the_ratings_are_as_they_were():
    value, item_of, who, _ = crowd(np.random.default_rng(1), items=10)
    merged, item, by = one_voice(value, item_of, who, np.arange(10))
    assert merged is value
    np.testing.assert_array_equal(by, who)
    np.testing.assert_array_equal(item, item_of)
