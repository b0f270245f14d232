"""Sets of copies."""

import numpy as np

from copied_crowds import crowd, with_copy
from unisono.maths.copies.copy_sets import find_opinions


def test_a_copy_and_the_original_are_one_opinion():
    planted = with_copy(np.random.default_rng(0), dims=2)
    found = find_opinions(*planted[:4])
    expected = np.arange(planted.K)
    expected[planted.copy] = planted.original
    np.testing.assert_array_equal(found.voice, expected)
    in_set = np.isin(np.arange(planted.K), [planted.original, planted.copy])
    assert (found.probability[in_set] > 0.9).all()
    assert (found.probability[~in_set] < 0.9).all()
    assert (found.equal[in_set] > 0.85).all()


def test_a_ring_is_one_set_though_its_members_agree_with_many():
    rng = np.random.default_rng(1)
    value, item_of, who, _ = crowd(rng, items=60, annotators=9, dims=2)
    ring = [1, 4, 6, 7]
    for k in ring[1:]:
        value[who == k] = value[who == ring[0]]
        changed = (who == k) & (rng.random(len(who)) < 0.05)
        value[changed] = rng.integers(0, 5, size=(changed.sum(), 2))
    voice = find_opinions(value, item_of, who, 9).voice
    np.testing.assert_array_equal(voice, [0, 1, 2, 3, 1, 5, 1, 1, 8])
