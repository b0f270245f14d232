"""Tempering: nothing at 1, an order that stays, a likelihood equal to loops, and overconfidence found and undone."""

from __future__ import annotations

import numpy as np
import pytest

from category_cases import crowd
from reference import naive_categories
from unisono.maths.category_votes import (
    CROWD_ANSWERS,
    FLOOR,
    LEAST_HELD_OUT,
    Votes,
    best_temperature,
    held_out_likelihood,
    hold_out,
    temper,
    vote_counts,
)
from unisono.maths.metrics import calibration_error


def test_one_changes_nothing_and_the_order_of_classes_stays():
    p = np.random.default_rng(0).dirichlet([0.3] * 4, 30)
    np.testing.assert_array_equal(temper(p, 1.0), p)
    milder = temper(p, 3.0)
    np.testing.assert_allclose(milder, naive_categories.tempered(p, 3.0, FLOOR), rtol=1e-12)
    np.testing.assert_array_equal(milder.argmax(axis=1), p.argmax(axis=1))
    assert (milder.max(axis=1) < p.max(axis=1)).all()


@pytest.mark.parametrize("temperature", [1.0, 2.0, 7.0])
def test_likelihood_equals_loops(temperature):
    votes = crowd(1, M=10, K=5).votes
    held = hold_out(votes, np.random.default_rng(0))
    seen, unseen = votes.only(~held), votes.only(held)
    p = np.random.default_rng(1).dirichlet(np.ones(3), 10)
    lists = [list(zip(one.item, one.annotator, one.answer, strict=True)) for one in (seen, unseen)]
    expected = naive_categories.held_out_likelihood(p, *lists, temperature, CROWD_ANSWERS, FLOOR)
    found = held_out_likelihood(p, seen, unseen, np.array([temperature]))[0]
    assert found == pytest.approx(expected, rel=1e-10)


def test_one_answer_of_every_item_with_three_is_held_out():
    votes = Votes(np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 0, 1, 0]), np.zeros(6, dtype=int), 3, 3, 2)
    for seed in range(5):
        held = hold_out(votes, np.random.default_rng(seed))
        assert held.sum() == 1
        assert votes.item[held] == [0]


def world(seed: int, counted: float, M: int = 1500):
    """What three answers tell of an item, counted so many times; the answers, those of a fourth annotator, truths."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, M)
    item, annotator = np.repeat(np.arange(M), 4), np.tile(np.arange(4), M)
    answer = np.where(rng.random(4 * M) < 0.55, truth[item], rng.integers(0, 3, 4 * M))
    votes = Votes(item, annotator, answer, M, 4, 3)
    seen, unseen = votes.only(annotator < 3), votes.only(annotator == 3)
    odds = (0.55 + 0.15) / 0.15
    weight = odds ** (counted * vote_counts(seen))
    return weight / weight.sum(axis=1, keepdims=True), seen, unseen, truth


def test_honest_probabilities_are_left_alone():
    p, seen, unseen, _ = world(0, 1.0)
    assert best_temperature(p, seen, unseen) == 1.0


def test_overconfidence_is_found_and_undone():
    p, seen, unseen, truth = world(1, 3.0)
    temperature = best_temperature(p, seen, unseen)
    assert 2.5 <= temperature <= 5.0
    off = [calibration_error(q.max(axis=1), q.argmax(axis=1) == truth) for q in (p, temper(p, temperature))]
    assert off[1] < 0.6 * off[0]


def test_a_handful_of_answers_decides_nothing():
    p, seen, unseen, _ = world(2, 10.0)
    few = unseen.only(np.arange(unseen.n) < LEAST_HELD_OUT - 1)
    assert best_temperature(p, seen, few) == 1.0
