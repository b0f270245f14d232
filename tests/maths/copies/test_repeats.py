"""Answers that repeat in blocks."""

import numpy as np
import pytest

from copied_crowds import crowd
from unisono.maths.copies.answer_chances import find_repeats


def in_blocks(period, *, items=60, seed=0):
    value, _, who, _ = crowd(np.random.default_rng(seed), items=items, annotators=6)
    answer = value[:, 0].astype(int)
    block = np.arange(period) % 5
    answer[who == 3] = np.resize(block, items)
    return answer, who


@pytest.mark.parametrize("period", [2, 3, 5, 7])
def test_a_block_that_repeats_is_found(period):
    for seed in range(3):
        found = find_repeats(*in_blocks(period, seed=seed), 6)
        assert found.period.tolist() == [0, 0, 0, period, 0, 0]
        assert found.probability[3] > 0.99
        assert np.delete(found.probability, 3).max() < 0.1


def test_a_slip_now_and_then_does_not_hide_it():
    answer, who = in_blocks(4)
    answer[np.flatnonzero(who == 3)[[7, 31]]] = 2
    assert find_repeats(answer, who, 6).period[3] == 4


def test_items_that_come_in_blocks_are_nobodys_fault():
    rng = np.random.default_rng(1)
    truth = np.resize([0, 2, 4], 60)
    who = np.tile(np.arange(6), 60)
    answer = np.clip(np.repeat(truth, 6) + (rng.random(360) < 0.1), 0, 4)
    assert find_repeats(answer, who, 6).probability.max() < 0.5


def test_constant_answers_and_few_answers_are_no_blocks():
    who = np.repeat(np.arange(3), 40)
    assert find_repeats(np.full(120, 3), who, 3).probability.max() < 0.5
    assert find_repeats(np.array([1, 2, 1, 2, 1, 2, 1, 2]), np.zeros(8, dtype=int), 1).probability.max() == 0
    assert len(find_repeats(np.zeros(0, dtype=int), np.zeros(0, dtype=int), 2).period) == 2
