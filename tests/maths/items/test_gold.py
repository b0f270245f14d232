"""Known truths: level and scale where annotators are good, a linear map where they mix everything."""

import numpy as np
import pytest

from item_cases import climb, default_settings, random_raters
from unisono.maths.items.data import prepare
from unisono.maths.items.estep import posterior
from unisono.maths.items.gold import fit_with_gold, level_map
from unisono.maths.items.predictor import no_features
from unisono.maths.items.priors import IMAGINARY_ANSWERS, IMAGINARY_ITEMS
from unisono.maths.items.start import bayes_start
from unisono.simulate import simulate_items

SCALE, OFFSET = np.array([2.0, 0.5]), np.array([-1.0, 3.0])


def test_many_truths_set_level_and_scale_exactly():
    estimate = np.random.default_rng(0).normal(size=(40_000, 2))
    scale, offset = level_map(estimate, SCALE * estimate + OFFSET)
    np.testing.assert_allclose(scale, SCALE, rtol=1e-3)
    np.testing.assert_allclose(offset, OFFSET, atol=2e-3)


def test_few_truths_are_drawn_to_no_change():
    estimate = np.random.default_rng(1).normal(size=(4, 2))
    gold = SCALE * estimate + OFFSET
    scale, offset = level_map(estimate, gold)
    share = (4 * SCALE**2 + IMAGINARY_ITEMS) / (4 + IMAGINARY_ITEMS)
    np.testing.assert_allclose(scale, np.sqrt(share), rtol=1e-12)
    moved = (scale * estimate + offset - estimate).mean(axis=0)
    np.testing.assert_allclose(moved, (gold - estimate).mean(axis=0) * 4 / (4 + IMAGINARY_ANSWERS), rtol=1e-12)


def test_dimensions_without_known_truths_stay_untouched():
    estimate = np.random.default_rng(2).normal(size=(10, 2))
    gold = np.column_stack([np.full(10, np.nan), np.r_[np.full(7, np.nan), 4.0, 5.0, 6.0]])
    scale, offset = level_map(estimate, gold)
    assert (scale[0], offset[0]) == (1.0, 0.0)
    assert scale[1] != 1.0
    assert offset[1] > 1.0


@pytest.mark.parametrize("estimate", [np.full((6, 2), 0.7), np.full((1, 2), 0.7)], ids=["equal", "one"])
def test_estimates_without_spread_are_moved_and_not_stretched(estimate):
    gold = np.linspace(2, 4, len(estimate))[:, None] * np.ones(2)
    scale, offset = level_map(estimate, gold)
    np.testing.assert_array_equal(scale, 1.0)
    n = len(estimate)
    np.testing.assert_allclose(offset, (gold.mean(axis=0) - 0.7) * n / (n + IMAGINARY_ANSWERS), rtol=1e-9)


def test_known_truths_that_happen_to_lie_close_together_do_not_stretch_everything():
    estimate = np.random.default_rng(3).normal(size=(50, 2))
    estimate[:2] = [[0.1, 0.2], [0.101, 0.201]]
    gold = np.full((50, 2), np.nan)
    gold[:2] = [[-1.0, -1.0], [1.0, 1.0]]
    assert level_map(estimate, gold)[0].max() < 1.2


def near_crowd(seed, known):
    """Annotators near the identity; experts, who know the truth of the first items, use another level and scale."""
    rng = np.random.default_rng(seed)
    item_of, annotator_of = random_raters(rng, 100, 20, 5)
    truth = rng.normal(size=(100, 2))
    F = np.eye(2) + 0.1 * rng.normal(size=(20, 2, 2))
    value = np.einsum("nij,nj->ni", F[annotator_of], truth[item_of]) + 0.5 * rng.normal(size=(500, 2))
    value += 0.3 * rng.normal(size=(20, 2))[annotator_of]
    gold = np.full((100, 2), np.nan)
    gold[:known] = 1.3 * truth[:known] + 0.8
    return with_gold(value, item_of, annotator_of, gold)


def with_gold(value, item_of, annotator_of, gold):
    loc, scale = value.mean(axis=0), value.std(axis=0)
    data = prepare((value - loc) / scale, item_of, annotator_of, no_features(len(gold)), annotator_of.max() + 1)
    return data._replace(gold=(gold - loc) / scale)


@pytest.mark.slow
@pytest.mark.parametrize(("known", "seed"), [(2, 0), (10, 0), (10, 1)])
def test_a_good_crowd_is_fitted_without_the_known_truths(known, seed):
    data = near_crowd(seed, known)
    fit = fit_with_gold(data, default_settings(data), climb)
    assert fit.way == "calibrate"
    blind = data._replace(gold=None)
    settings = default_settings(blind)
    without, _ = climb(blind, bayes_start(blind, settings), settings)
    np.testing.assert_array_equal(fit.state.mean, without.mean)


def test_a_crowd_that_mixes_everything_is_straightened_by_ten_known_items():
    found = []
    for seed in range(3):
        world = simulate_items(features=0, seed=seed)
        gold = np.full((100, 2), np.nan)
        gold[:10] = world.truth.value[:10]
        data = with_gold(world.ratings.value, world.ratings.item_of, world.ratings.annotator_of, gold)
        fit = fit_with_gold(data, default_settings(data), climb)
        assert fit.way == "rotate"
        mean = posterior(data, fit.state.params).mean
        found.append([np.corrcoef(mean[10:, d], world.truth.value[10:, d])[0, 1] for d in range(2)])
    assert np.mean(found, axis=0).min() >= 0.93


def test_a_mixing_that_everybody_shares_is_found_from_known_items():
    rng = np.random.default_rng(0)
    F = np.array([[1.0, 0.5], [0.5, 1.0]])
    item_of, annotator_of = random_raters(rng, 100, 100, 10)
    truth = rng.uniform(-1, 1, size=(100, 2))
    value = truth[item_of] @ F.T + 0.3 * rng.normal(size=(1000, 2))
    gold = np.full((100, 2), np.nan)
    gold[:20] = truth[:20]
    data = with_gold(value, item_of, annotator_of, gold)
    fit = fit_with_gold(data, default_settings(data), climb)
    assert fit.way == "rotate"
    mean = posterior(data, fit.state.params).mean
    # Who knew F could reach .976 on average; without known items it is .88.
    assert min(np.corrcoef(mean[20:, d], truth[20:, d])[0, 1] for d in range(2)) > 0.95
    scale = value.std(axis=0)
    average = scale[:, None] * fit.state.params.F.mean(axis=0) / scale
    np.testing.assert_allclose(average, F, atol=0.1)
