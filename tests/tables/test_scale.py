"""The scale of ratings: what users may say, how it is inferred, and how it stays with the ratings."""

from __future__ import annotations

import numpy as np
import pytest

import unisono as un
from unisono.tables.answer_scale import Scale, said_scale
from unisono.tables.ratings import Ratings
from unisono.tables.scale_inference import infer_scale


def ends_of(*columns):
    """What is inferred from columns of answers, cut to the same length."""
    n = min(len(column) for column in columns)
    value = np.stack([np.asarray(column, dtype=float)[:n] for column in columns], axis=1)
    return infer_scale(value, np.arange(n) % 4).ends


def rated(value, scale=None, dimensions=("v",)):
    value = np.asarray(value, dtype=float).reshape(-1, len(dimensions))
    J = len(value)
    return Ratings.from_judgements(
        value,
        np.arange(J) // 2,
        np.arange(J) % 2,
        items=[f"i{m}" for m in range((J + 1) // 2)],
        annotators=["x", "y"],
        dimensions=dimensions,
        scale=scale,
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (None, {}),
        ("1:7", {None: (1.0, 7.0)}),
        ((1, 7), {None: (1.0, 7.0)}),
        ([0, 100], {None: (0.0, 100.0)}),
        ("none", {None: None}),
        ("0:inf", {None: (0.0, np.inf)}),
        ("-1:1", {None: (-1.0, 1.0)}),
        ("valence=1:9, arousal=none", {"valence": (1.0, 9.0), "arousal": None}),
        (("1:5", "valence=1:9"), {None: (1.0, 5.0), "valence": (1.0, 9.0)}),
        ({"valence": (1, 9), "arousal": None, "joy": "0:1"}, {"valence": (1, 9), "arousal": None, "joy": (0, 1)}),
    ],
)
def test_what_users_may_say(words, said):
    assert said_scale(words) == said


@pytest.mark.parametrize(
    "words", ["7", "7:1", "1:1", "a:b", "1:2:3", "=1:7", "1:7,2:8", "v=1:7,v=1:7", (1,), 5, "nan:1"]
)
def test_what_makes_no_sense_is_a_settings_error(words):
    with pytest.raises(un.SettingsError, match="scale"):
        said_scale(words)


def test_a_scale_of_something_that_was_not_rated():
    with pytest.raises(un.SettingsError, match=r"no dimension 'valense'.*Did you mean 'valence'"):
        rated([1, 2, 3, 4], {"valense": (1, 7)}, ("valence",))


def test_given_scales_win_over_inferred_ones():
    ratings = rated([1, 5, 3, 4, 2, 2, 5, 1] * 3, "1:7")
    assert list(ratings.scale) == [(1.0, 7.0)]
    assert ratings.scale.given == (True,)
    assert list(ratings.with_scale("none").scale) == [None]
    assert ratings.with_scale(None) is ratings


def test_answers_outside_a_given_scale_are_refused_by_name():
    with pytest.raises(un.DataError, match="v is 8 by annotator 'y' on 'i1', outside the scale 1 to 7"):
        rated([1, 5, 3, 8], (1, 7))
    with pytest.raises(un.DataError, match="outside the scale"):
        rated([1, 5, 3, 8]).with_scale((1, 7))


def test_the_scale_stays_with_parts_of_the_ratings():
    value = np.array([[m % 7 + 1, m % 2] for m in range(60)], dtype=float)
    ratings = rated(value, {"a": (0, 10)}, ("a", "b"))
    assert list(ratings.scale) == [(0.0, 10.0), (0.0, 1.0)]
    few = ratings.select_items(["i3"])
    assert list(few.scale) == [(0.0, 10.0), (0.0, 1.0)]
    assert list(few.select_dimensions(["b", "a"]).scale) == [(0.0, 1.0), (0.0, 10.0)]
    assert few.select_dimensions(["b", "a"]).scale.given == (False, True)
    assert few.with_dimensions(["c", "d"]).scale == few.scale
    hidden = ratings.with_value(np.where(value > 2, np.nan, value))
    assert hidden.scale == ratings.scale
    assert ratings.select_judgements(ratings.annotator_of == 0).scale == ratings.scale


def test_other_numbers_have_another_scale():
    ratings = rated([1, 5, 3, 4, 2, 2, 5, 1] * 3)
    assert list(ratings.scale) == [(1.0, 5.0)]
    assert list(ratings.with_value(ratings.value * 1e4).scale) == [(1e4, 5e4)]
    assert list(ratings.with_value(ratings.value + np.linspace(0, 0.004, 24)[:, None]).scale) == [(1.0, 5.0)]
    assert list(ratings.with_value(ratings.value + np.linspace(0, 9, 24)[:, None]).scale) == [None]
    given = ratings.with_scale((0, 10))
    assert list(given.with_value(given.value + 1).scale) == [(0.0, 10.0)]
    assert given.with_value(given.value + 1e4).scale.given == (False,)


def test_known_truths_widen_what_was_inferred_and_contradict_what_was_given():
    known = np.array([[0.5], [np.nan], [5.5]])
    inferred, given = Scale(((1.0, 5.0),), (False,)), Scale(((1.0, 5.0),), (True,))
    assert inferred.widened(known, ("v",), "gold.csv").ends == ((0.5, 5.5),)
    with pytest.raises(un.DataError, match=r"gold.csv: v is 0.5, outside the scale 1 to 5"):
        given.widened(known, ("v",), "gold.csv")


# ---- inference


rng = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("answers", "ends"),
    [
        (rng.integers(1, 8, 300), (1, 7)),
        (rng.integers(1, 4, 100), (1, 3)),
        (rng.integers(0, 2, 40), (0, 1)),
        (rng.integers(-2, 3, 100), (-2, 2)),
        (rng.integers(1, 7, 200), (1, 6)),
        (rng.integers(2, 11, 500) / 2, (1, 5)),
        (rng.integers(0, 101, 400), (0, 100)),
        (np.clip(rng.normal(50, 40, 400), 0, 100), (0, 100)),
        (np.clip(rng.normal(0, 1, 4000), -1, 1), (-1, 1)),
        (rng.random(300), (0, 1)),
        (np.clip(rng.normal(0, 1, 500), 0, None), (0, np.inf)),
        (np.clip(rng.random(500), 0, 0.985), (0, 1)),
        (rng.normal(size=2000), None),
        (rng.integers(-400, 900, 500), None),
        (np.cumsum(rng.normal(size=500)), None),
        (np.full(20, 3.217), None),
        (np.full(5, np.nan), None),
    ],
)
def test_answers_look_like_a_scale_or_not(answers, ends):
    assert ends_of(answers) == (ends,)


def test_few_answers_are_held_by_a_usual_scale():
    assert ends_of([2, 3, 4]) == ((1, 5),)
    assert ends_of([1, 2, 2, 1]) == ((1, 5),)
    assert ends_of([2, 6, 5, 3]) == ((1, 7),)
    assert ends_of([0, 3, 8]) == ((0, 10),)
    assert ends_of([12, 88, 43.5, 61]) == (None,)


def test_dimensions_of_one_questionnaire_help_each_other():
    seven, low = rng.integers(1, 8, 300), rng.integers(1, 6, 300)
    # Nobody went beyond 5 on the third, while most go to 7; alone it is on its own.
    assert ends_of(seven, seven[::-1], low) == ((1, 7),) * 3
    assert ends_of(low) == ((1, 5),)
    rare = np.where(np.arange(300) == 7, 2, 0)
    assert ends_of(rng.integers(0, 3, 300), rare) == ((0, 2), (0, 2))
    assert ends_of(rng.integers(0, 101, 300), rng.integers(3, 90, 300)) == ((0, 100), (0, 100))
    assert ends_of(rng.integers(0, 101, 300), rng.integers(1, 8, 300)) == ((0, 100), (1, 7))


# ---- what must not matter


def people(seed=0, K=6, n=40, grades=5):
    """Grades from 1 to `grades` by K annotators, with who gave them."""
    rng = np.random.default_rng(seed)
    value = np.clip(np.round((1 + grades) / 2 + 1.5 * rng.normal(size=K * n)), 1, grades)
    return value, np.repeat(np.arange(K), n)


def slider(value):
    """The same answers on a slider from 0 to 100, many of them at its ends."""
    return np.clip(25 * (value - 1) + 9 * np.random.default_rng(1).normal(size=len(value)), 0, 100)


def scale_by(value, annotator_of):
    (ends,) = infer_scale(value[:, None], annotator_of).ends
    return ends


@pytest.mark.parametrize("seed", range(3))
def test_a_disturbance_that_nobody_sees_leaves_the_scale_as_it_is(seed):
    value, annotator_of = people(seed)
    for answers, ends in ((value, (1.0, 5.0)), (slider(value), (0.0, 100.0))):
        tiny = 1e-6 * answers.std() * np.random.default_rng(seed).normal(size=len(answers))
        assert scale_by(answers, annotator_of) == scale_by(answers + tiny, annotator_of) == ends


@pytest.mark.parametrize("wild", [55.0, 2100.0, -400.0])
def test_a_typing_error_does_not_stretch_the_scale(wild):
    value, annotator_of = people()
    for answers, ends in ((value, (1.0, 5.0)), (slider(value), (0.0, 100.0))):
        answers = answers.copy()
        answers[17] = wild if ends[1] == 5 else 10 * wild
        assert scale_by(answers, annotator_of) == ends


@pytest.mark.parametrize("K", [4, 12])
def test_an_annotator_with_an_origin_of_his_own_does_not_stretch_the_scale(K):
    value, annotator_of = people(K=K)
    for answers, ends in ((value, (1.0, 5.0)), (slider(value), (0.0, 100.0))):
        own = answers + 2.9 * answers.std() * (annotator_of == 2)
        assert scale_by(own, annotator_of) == ends


def test_a_grade_that_one_annotator_alone_uses_is_on_the_scale():
    value, annotator_of = people(grades=6)
    value = np.where((value == 6) & (annotator_of > 0), 5.0, value)
    assert scale_by(value, annotator_of)[1] >= 6


def test_a_truth_may_go_where_an_origin_of_ones_own_brings_it_and_nowhere_else():
    scale = Scale(((1.0, 5.0), (1.0, 5.0), (1.0, 5.0), None), (False, False, True, False))
    low, high = np.full((3, 4), 1.0), np.full((3, 4), 5.0)
    low[1], high[1] = 3.5, 8.0  # an origin of his own
    high[2, 1] = 55.0  # a typing error: the lower end is where it was
    wide = scale.for_origins(low, high)
    assert wide.ends == ((1.0, 8.0), (1.0, 8.0), (1.0, 5.0), None)
    assert scale.for_origins(low[[0]], high[[0]]) == scale
