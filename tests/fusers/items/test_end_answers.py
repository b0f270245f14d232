"""Answers of few kinds at the ends of the scale: which they are, what a fit makes of them, and what it keeps."""

import numpy as np
import pytest

import unisono as un
from item_cases import random_raters, ratings_of
from unisono.fusers.item_preparation import answer_kinds, find_ends
from unisono.fusers.standardisation import Scaling
from unisono.tables.answer_scale import Scale
from unisono.tables.item_table import ItemTable
from unisono.tables.scale_inference import NUMBERS, Lattice


def crowd(seed, M=120, K=15, n=5, level=3.0, D=2):
    """Whole numbers from 1 to 5 around truths, which are on the same scale."""
    rng = np.random.default_rng(seed)
    item_of, annotator_of = random_raters(rng, M, K, n)
    truth = level + rng.normal(size=(M, D))
    value = truth[item_of] + 0.3 * rng.normal(size=(K, D))[annotator_of] + 0.6 * rng.normal(size=(M * n, D))
    return np.clip(np.round(value), 1, 5), item_of, annotator_of, truth


def test_kinds_are_looked_for_on_the_scale_of_their_dimension():
    table = np.full((52, 5), np.nan)
    table[:40, 0] = np.tile([1.0, 2.0, 3.0, 5.0], 10)  # nobody answered 4
    table[:40, 1] = np.tile([0.0, 0.5, 1.0, 3.0], 10)
    table[:, 2] = np.linspace(0, 100, 52)
    table[:40, 3] = np.tile([0.0, 1.0], 20)  # yes or no: every answer is at an end
    table[:40, 4] = np.tile([1.0, 2.0, 3.0, 5.0], 10)
    scale = Scale(((1.0, 5.0), (0.0, 3.0), (0.0, 100.0), (0.0, 1.0), None), (False,) * 5)
    found = answer_kinds(table, np.arange(len(table)) // 4 % 5, 5, scale)
    assert [own.weight for own in found] == [1.0, 1.0, 0.0, 0.0, 0.0]
    np.testing.assert_allclose([own.step for own in found[:2]], [1.0, 0.5])


def test_only_ends_of_the_scale_are_ends():
    scale = Scale(((1.0, 5.0), None, (0.0, np.inf), (0.0, 100.0)), (False,) * 4)
    scaling = Scaling(np.full(4, 3.0), np.full(4, 2.0))
    found = find_ends([Lattice(1.0, 1.0), NUMBERS, Lattice(1.0, 0.4), NUMBERS], scale, scaling)
    np.testing.assert_array_equal(found.low, [-1.0, -np.inf, -1.5, -np.inf])
    np.testing.assert_array_equal(found.high, [1.0, np.inf, np.inf, np.inf])
    np.testing.assert_array_equal(found.cuts.high, [0.75, np.inf, np.inf, np.inf])
    np.testing.assert_array_equal(found.cuts.low, [-0.75, -np.inf, -1.25, -np.inf])
    np.testing.assert_array_equal(found.cuts.lowest, [-1.25, -np.inf, -1.75, -np.inf])
    np.testing.assert_array_equal(found.weight, [1.0, 0.0, 0.4, 0.0])
    assert find_ends([NUMBERS] * 4, scale, scaling) is None


def truths_with(value, item_of, annotator_of):
    return un.fuse(ratings_of(value, item_of, annotator_of)).fused.mean


@pytest.mark.parametrize("grades", [3, 5, 11])
def test_a_disturbance_that_nobody_sees_leaves_the_truth_as_it_is(grades):
    value, item_of, annotator_of, _ = crowd(7, M=60)
    value = np.round((value - 1) / 4 * (grades - 1))
    tiny = 1e-6 * np.random.default_rng(0).normal(size=value.shape)
    before, after = (truths_with(answers, item_of, annotator_of) for answers in (value, value + tiny))
    np.testing.assert_allclose(after, before, atol=1e-4 * grades)


def test_one_typing_error_leaves_the_ends_of_the_scale_where_they_are():
    value, item_of, annotator_of, _ = crowd(7, M=60)
    wrong = value.copy()
    wrong[11, 0] = 55.0
    fuser = un.fuse(ratings_of(wrong, item_of, annotator_of)).fuser
    assert fuser.scale_.ends[0] == (1.0, 5.0)
    assert fuser.ends_.ends.weight[0] == 1.0
    assert fuser.ends_.ends.step[0] * fuser.scaling_.scale[0] == pytest.approx(1.0)


@pytest.mark.parametrize("model", ["auto", "independent"])
def test_the_default_reads_the_ends_and_sliders_as_they_are(model):
    value, item_of, annotator_of, _ = crowd(0)
    value[:, 1] += 0.01 * np.arange(len(value))
    fuser = un.fuse(ratings_of(value, item_of, annotator_of), model=model).fuser
    assert np.isfinite(fuser.ends_.ends.low).tolist() == [True, False]
    sliders = un.fuse(ratings_of(value[:, [1]], item_of, annotator_of), model=model)
    assert sliders.fuser.ends_ is None
    numbers = un.fuse(ratings_of(value[:, [1]], item_of, annotator_of), model=model, censored=False)
    np.testing.assert_array_equal(sliders.fused.mean, numbers.fused.mean)


@pytest.mark.parametrize("settings", [{"inference": "ml"}, {"anchor": "uncorrelated"}])
def test_where_the_scale_has_no_ends_answers_are_as_before(settings):
    ratings = ratings_of(*crowd(1, M=40)[:3])
    plain, asked = (un.fuse(ratings, model="joint", censored=how, **settings) for how in (False, True))
    np.testing.assert_array_equal(plain.fused.mean, asked.fused.mean)


def test_the_summary_and_the_methods_say_how_ends_are_read(tmp_path):
    value, item_of, annotator_of, _ = crowd(0)
    value[:, 1] += 0.01 * np.arange(len(value))
    ratings = ratings_of(value, item_of, annotator_of)
    result = un.fuse(ratings)
    assert result.summary_data["response"] == {"kind": "ends", "dimensions": 1}
    assert "are treated as censored on 1 of 2 dimensions." in result.summary()
    result.report(tmp_path / "report.html")
    assert "were treated as censored" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "response" not in un.fuse(ratings, censored=False).summary_data


@pytest.mark.slow
def test_a_ceiling_costs_less():
    """Where half of the answers lie at the upper end, errors against the mean answer of a large panel are smaller."""
    gains = []
    for seed in range(4):
        value, item_of, annotator_of, truth = crowd(seed, level=4.5)
        rng = np.random.default_rng(100 + seed)
        panel = np.clip(np.round(truth + 0.7 * rng.normal(size=(400, *truth.shape))), 1, 5).mean(axis=0)
        ratings = ratings_of(value, item_of, annotator_of)
        error = [np.mean((un.fuse(ratings, censored=how).fused.mean - panel) ** 2) for how in (False, True)]
        gains.append(1 - error[1] / error[0])
    assert np.mean(gains) > 0.01
    assert min(gains) > -0.02


def test_predictions_and_samples_are_answers():
    value, item_of, annotator_of, truth = crowd(2, level=4.5, M=60)
    ratings = ratings_of(value, item_of, annotator_of)
    features = ItemTable.from_rows(truth, items=ratings.items, columns=("f", "g"))
    fuser = un.fuse(ratings, features=features).fuser
    predicted = fuser.predict_ratings(ratings)
    assert predicted.mean.max() < 5
    assert np.sqrt(np.mean((predicted.mean - value) ** 2)) < 0.6
    drawn = fuser.sample(ratings, np.random.default_rng(0), features).value
    assert drawn.min() >= 1
    assert 0.2 < np.mean(drawn == 5) < 0.6
    assert not ((drawn > 4.5) & (drawn < 5)).any()
    far = ItemTable.from_rows(np.array([[30.0, 4.4]]), items=["new"], columns=("f", "g"))
    assert 4.9 < fuser.predict(far).uncut[0, 0] <= 5


def test_the_score_has_probabilities_at_the_ends():
    """Answers at an end have no unit: in other units the score moves by the logarithm of the others' share alone."""
    value, item_of, annotator_of, _ = crowd(3, M=50)
    one, ten = (un.fuse(ratings_of(unit * value, item_of, annotator_of), scale=(unit, 5 * unit)) for unit in (1, 10))
    inside = np.mean((value > 1) & (value < 5))
    difference = one.fuser.score(ratings_of(value, item_of, annotator_of)) - ten.fuser.score(
        ratings_of(10 * value, item_of, annotator_of)
    )
    assert difference == pytest.approx(inside * np.log(10), rel=1e-6)


def test_a_later_batch_is_read_as_the_first():
    value, item_of, annotator_of, _ = crowd(4)
    first = un.fuse(ratings_of(value, item_of, annotator_of))
    odd = np.where(value == 2, 1.0, np.where(value == 4, 5.0, value))  # nobody answers 2 or 4
    later = un.fuse(ratings_of(odd, item_of, annotator_of), start=first.fuser).fuser
    np.testing.assert_allclose(later.ends_.ends.step, first.fuser.ends_.ends.step, rtol=1e-12)
    alone = un.fuse(ratings_of(odd, item_of, annotator_of)).fuser
    np.testing.assert_allclose(alone.ends_.ends.step * alone.scaling_.scale, 2.0)
    numbers = un.fuse(ratings_of(value, item_of, annotator_of), censored=False).fuser
    assert un.fuse(ratings_of(odd, item_of, annotator_of), start=numbers).fuser.ends_ is None


def test_known_truths_move_typical_answers_along(tmp_path):
    value, item_of, annotator_of, truth = crowd(6, level=4.5)
    ratings = ratings_of(value, item_of, annotator_of)
    gold = ItemTable.from_rows(truth[:20], items=ratings.items[:20], columns=ratings.dimensions)
    result = un.fuse(ratings, gold=gold)
    assert not result.fuser.gold_.observed.any()
    assert (np.abs(result.fuser.ends_.scale - 1) > 0.02).all()
    again = un.load(result.save(tmp_path / "out"))
    rest = ratings.select_items(ratings.items[20:])
    np.testing.assert_allclose(again.fuse(rest).mean, result.fused.mean[20:], rtol=0, atol=1e-6)
