"""Profiles of annotators: their sums, and their patterns of answers."""

import numpy as np
import pytest

from unisono.maths.items.data import answer_patterns, prepare
from unisono.maths.items.predictor import no_features


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
