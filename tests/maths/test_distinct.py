"""Answers that nobody would tell apart are equal."""

import numpy as np
import pytest

from unisono.maths.rating_values import close_pairs, same_answers


@pytest.mark.parametrize("seed", range(3))
def test_answers_are_the_same_that_nobody_would_tell_apart(seed):
    rng = np.random.default_rng(seed)
    answers = rng.integers(1, 6, (300, 2)).astype(float)
    answers[rng.random(answers.shape) < 0.1] = np.nan
    np.testing.assert_array_equal(same_answers(answers), answers)
    found = same_answers(answers + 1e-6 * rng.normal(size=answers.shape))
    np.testing.assert_allclose(found, answers, atol=1e-5)
    assert all(len(np.unique(column[~np.isnan(column)])) == 5 for column in found.T)
    # A scale so densely used that all answers are next to each other stays as it is.
    dense = np.linspace(0, 1, 60_000)[:, None]
    np.testing.assert_array_equal(same_answers(dense), dense)


def test_close_pairs_are_all_pairs_that_close():
    values, times = np.array([0.0, 0.5, 0.6, 2.0]), np.array([3, 1, 2, 4])
    every = np.repeat(values, times)
    apart = np.abs(every[:, None] - every)
    assert close_pairs(values, times, 0.0) == ((apart == 0).sum() - 10, 0)
    assert sum(close_pairs(values, times, 0.2)) == (apart <= 0.2).sum() - 10
