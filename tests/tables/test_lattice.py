"""The step that people answer in: told by where answers lie, and by nothing that a small disturbance changes."""

import numpy as np
import pytest

from unisono.tables.scale_inference import NUMBERS, answer_lattice, phases_of, shown_by_several


def lattice_of(answers, low, high):
    return answer_lattice(*np.unique(answers, return_counts=True), low, high)


def grades(steps, n=600, seed=0):
    """Answers in so many steps from 0 to 10, piled up at the upper end."""
    rng = np.random.default_rng(seed)
    return np.clip(np.round(steps * rng.normal(0.7, 0.3, n)), 0, steps) * 10 / steps


@pytest.mark.parametrize("steps", [2, 4, 6, 10])
def test_grades_are_kinds_and_their_step_is_found(steps):
    found = lattice_of(grades(steps), 0.0, 10.0)
    assert found.step == pytest.approx(10 / steps)
    assert found.weight == 1.0


def test_sliders_are_numbers():
    rng = np.random.default_rng(1)
    for answers in (np.clip(rng.normal(70, 40, 500), 0, 100), grades(100) * 10, 10 * grades(20)):
        assert lattice_of(answers, 0.0, 100.0).weight == 0.0


def test_the_finer_the_steps_the_less_they_are_kinds():
    weight = [lattice_of(grades(steps, n=3000), 0.0, 10.0).weight for steps in range(9, 22)]
    assert weight[0] == weight[1] == 1.0
    assert weight[-2] == weight[-1] == 0.0
    assert (np.diff(weight) <= 0).all()
    assert np.diff(weight).min() > -0.2


def test_where_all_answers_are_at_an_end_nothing_is_beyond():
    yes_or_no = np.repeat([0.0, 1.0], 50)
    assert lattice_of(yes_or_no, 0.0, 1.0).weight == 0.0
    one_hesitates = lattice_of(np.append(yes_or_no, 0.5), 0.0, 1.0).weight
    assert one_hesitates < 0.05
    assert lattice_of(np.append(yes_or_no, np.full(50, 0.5)), 0.0, 1.0).weight == 1.0


def test_nothing_that_hardly_changes_the_answers_changes_how_they_are_read():
    rng = np.random.default_rng(2)
    answers = grades(4)
    plain = lattice_of(answers, 0.0, 10.0)
    for disturbed in (
        answers + 1e-6 * rng.normal(size=len(answers)),
        answers + 0.1 * rng.normal(size=len(answers)),  # a twenty-fifth of a step
        np.append(answers, [1.3, 7.7, 250.0]),  # typing errors
        np.where(np.arange(len(answers)) % 6 == 0, answers + 3.3, answers),  # one of six has an origin of his own
        10 - answers,
        np.tile(answers, 40) + 1e-6 * rng.normal(size=40 * len(answers)),  # more than are looked at
    ):
        found = lattice_of(disturbed, 0.0, 10.0)
        assert found.step == plain.step
        assert found.weight == pytest.approx(plain.weight, abs=1e-9)


def test_an_end_that_there_is_not_is_where_the_last_answer_is():
    counts = np.repeat(np.arange(9.0), 5)
    assert lattice_of(counts, 0.0, np.inf).step == pytest.approx(1.0)
    assert lattice_of(np.full(4, 2.0), 2.0, np.inf) == NUMBERS
    assert lattice_of(np.zeros(0), 0.0, 1.0) == NUMBERS


def test_it_is_the_mean_cosine():
    """Against the sum as it stands in the equation, for answers that are nothing but disturbed."""
    rng = np.random.default_rng(3)
    u = np.clip(np.round(5 * rng.random(200)) / 5 + 0.025 * rng.normal(size=200), 0, 1)
    inside = (u > 0.025) & (u < 0.975)
    R = np.cos(2 * np.pi * 5 * u[inside]).sum() / (inside.sum() + 0.02 * len(u))
    assert 0.5 < R < 0.75
    assert lattice_of(u, 0.0, 1.0).weight == pytest.approx((R - 0.5) / 0.25, rel=1e-9)


def by_several(answers, of, low, high):
    found = lattice_of(answers, low, high)
    return shown_by_several(found, (low, high), phases_of(answers, of, of.max() + 1, (low, high), found.step))


def test_what_only_one_annotator_answers_makes_no_kinds():
    """Yes or no, but for one of eleven, who has an origin of his own: nobody came between the ends."""
    of = np.arange(1100) % 11
    answers = (np.random.default_rng(4).random(1100) < 0.1).astype(float)
    own = np.where(of == 3, answers + 0.53, answers)
    assert lattice_of(own, 0.0, 1.0).weight > 0.9
    assert by_several(own, of, 0.0, 1.0).weight == 0.0
    hesitant = np.where((of == 3) | (of == 7), 0.5, answers)
    assert by_several(hesitant, of, 0.0, 1.0).weight == 1.0


@pytest.mark.parametrize("steps", [2, 4, 10])
def test_kinds_that_all_answer_in_stay_kinds_without_any_one_of_them(steps):
    answers, of = grades(steps), np.arange(600) % 5
    assert by_several(answers, of, 0.0, 10.0) == lattice_of(answers, 0.0, 10.0)
    assert by_several(answers, of % 2, 0.0, 10.0) == lattice_of(answers, 0.0, 10.0)  # of two, neither is odd
