"""Known truths: level and scale where annotators are good, a linear map where they mix everything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from item_cases import climb, default_settings, random_raters
from unisono.maths.items.bayes_start import bayes_start
from unisono.maths.items.item_data import no_features, prepare
from unisono.maths.items.item_estep import posterior
from unisono.maths.items.item_gold import HiddenErrors, better_turned, level_map, turnable, turned_by_gold, turning_fit
from unisono.maths.items.item_priors import IMAGINARY_ANSWERS, IMAGINARY_ITEMS, MIXING_EVIDENCE
from unisono.paper.simulation import simulate_items

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


def turned(data):
    """What known truths turn, after a fit without them."""
    blind = data._replace(gold=None)
    how = default_settings(blind)
    state, trace = climb(blind, bayes_start(blind, how), how)
    return turned_by_gold(data, state, trace.objective[-1], how, climb)


@pytest.mark.slow
@pytest.mark.parametrize(("known", "seed"), [(2, 0), (10, 0), (10, 1), (20, 0)])
def test_a_good_crowd_is_fitted_without_the_known_truths(known, seed):
    assert turned(near_crowd(seed, known)) is None


def test_a_crowd_that_mixes_everything_is_straightened_by_ten_known_items():
    found = []
    for seed in range(3):
        world = simulate_items(features=0, seed=seed)
        gold = np.full((100, 2), np.nan)
        gold[:10] = world.truth.value[:10]
        data = with_gold(world.ratings.value, world.ratings.item_of, world.ratings.annotator_of, gold)
        fit = turned(data)
        assert fit.better.all()
        mean = posterior(data, fit.state.params).mean
        found.append([np.corrcoef(mean[10:, d], world.truth.value[10:, d])[0, 1] for d in range(2)])
    assert np.mean(found, axis=0).min() >= 0.93


def shared_mixing(clean=0):
    """Everybody mixes two dimensions in the same way, of which twenty truths are known; `clean` ones follow."""
    rng = np.random.default_rng(0)
    F = np.eye(2 + clean)
    F[:2, :2] = [[1.0, 0.5], [0.5, 1.0]]
    item_of, annotator_of = random_raters(rng, 100, 100, 10)
    truth = rng.uniform(-1, 1, size=(100, 2 + clean))
    value = truth[item_of] @ F.T + 0.3 * rng.normal(size=(1000, 2 + clean))
    gold = np.full(truth.shape, np.nan)
    gold[:20] = truth[:20]
    return with_gold(value, item_of, annotator_of, gold), truth, F, value


def test_a_mixing_that_everybody_shares_is_found_from_known_items():
    data, truth, F, value = shared_mixing()
    fit = turned(data)
    assert fit.better.all()
    mean = posterior(data, fit.state.params).mean
    # Who knew F could reach .976 on average; without known items it is .88.
    assert min(np.corrcoef(mean[20:, d], truth[20:, d])[0, 1] for d in range(2)) > 0.95
    scale = value.std(axis=0)
    average = scale[:, None] * fit.state.params.F.mean(axis=0) / scale
    np.testing.assert_allclose(average, F, atol=0.1)


def test_a_dimension_that_nobody_mixes_is_left_as_it_is():
    data, *_ = shared_mixing(clean=1)
    np.testing.assert_array_equal(turned(data).better, [True, True, False])


def test_dimensions_without_known_truths_are_no_part_of_the_turned_fit():
    data, *_ = shared_mixing(clean=1)
    data.gold[:, 2] = np.nan
    fit = turned(data)
    np.testing.assert_array_equal(fit.dims, [0, 1])
    assert fit.state.mean.shape == (100, 2)


# ---- what a map can be learned from


def test_constants_copies_and_dimensions_of_which_little_is_known_are_not_turned():
    rng = np.random.default_rng(0)
    gold = np.full((40, 5), np.nan)
    gold[:20, :3] = rng.normal(size=(20, 3))
    np.testing.assert_array_equal(turnable(gold), [0, 1, 2])
    gold[:3, 3] = rng.normal(size=3)
    np.testing.assert_array_equal(turnable(gold), [0, 1, 2])  # three are too few
    gold[:20, 4] = 7.0
    np.testing.assert_array_equal(turnable(gold), [0, 1, 2])  # a constant
    gold[:20, 4] = 3 * gold[:20, 0] - gold[:20, 1] + 2
    np.testing.assert_array_equal(turnable(gold[:, [0, 1, 4]]), [0, 1])  # made of the others
    np.testing.assert_array_equal(turnable(gold[:5, :2]), [0, 1])
    assert not len(turnable(gold[:4, :2]))  # a fold leaves three for the three unknowns of a row
    gold[:, :2] = np.nan
    gold[:20, 0], gold[20:, 1] = rng.normal(size=20), rng.normal(size=20)
    assert not len(turnable(gold[:, :2]))  # nothing is known of both together


def errors_of(line, turned, constant=1.0, n=20, D=2, seed=0):
    rng = np.random.default_rng(seed)
    return HiddenErrors(*(size * rng.normal(size=(n, D)) for size in (constant, line, turned)))


@pytest.mark.parametrize("evidence", [-100.0, 100.0])
def test_what_explains_no_more_than_a_constant_is_not_chosen(evidence):
    for seed in range(20):
        assert not better_turned(errors_of(line=3.0, turned=1.4, seed=seed), evidence).any()


def test_where_ratings_show_no_mixing_known_truths_have_to_show_it_clearly():
    slightly, clearly = errors_of(line=0.6, turned=0.5, seed=1), errors_of(line=1.0, turned=0.1, seed=1)
    assert better_turned(slightly, 2 * MIXING_EVIDENCE).all()
    assert not better_turned(slightly, 0.5 * MIXING_EVIDENCE).any()
    assert better_turned(clearly, -100.0).all()
    assert not better_turned(errors_of(line=0.1, turned=0.5), 1e6).any()


def test_each_dimension_has_to_gain_by_itself():
    errors = errors_of(line=1.0, turned=0.1, seed=2)
    line = errors.line.copy()
    line[:, 1] = 0.01
    np.testing.assert_array_equal(better_turned(errors._replace(line=line), 100.0), [True, False])


# ---- level and scale


def test_known_truths_that_are_all_equal_set_the_level_alone():
    estimate = np.random.default_rng(4).normal(size=(60, 1))
    gold = np.full((60, 1), np.nan)
    gold[:30] = 2.0
    scale, offset = level_map(estimate, gold)
    assert scale[0] == 1
    assert offset[0] == pytest.approx((2 - estimate[:30].mean()) * 30 / 34)


def test_known_truths_that_are_obeyed_whatever_they_say_count_alone():
    estimate = np.random.default_rng(5).normal(size=(60, 2))
    gold = np.full((60, 2), np.nan)
    gold[:8] = [-0.01, 40.0] * estimate[:8] + [0.5, 3.0]
    scale, offset = level_map(estimate, gold, direction=np.array([-1.0, 1.0]), obeyed=np.array([True, True]))
    np.testing.assert_allclose(scale, [-0.01, 40.0], rtol=1e-12)
    np.testing.assert_allclose(offset, [0.5, 3.0], rtol=1e-12)


# ---- the bound


@settings(max_examples=12)
@given(
    seed=st.integers(0, 10_000),
    D=st.integers(2, 3),
    known=st.integers(1, 12),
    unit=st.sampled_from([0.01, 1.0, -1.0, 30.0]),
    missing=st.sampled_from([0.0, 0.2]),
)
def test_the_bound_never_falls_with_known_truths_inside(seed, D, known, unit, missing):
    rng = np.random.default_rng(seed)
    item_of, annotator_of = random_raters(rng, 30, 8, 4)
    truth = rng.normal(size=(30, D))
    value = truth[item_of] + 0.5 * rng.normal(size=(120, D)) + rng.normal(size=(8, D))[annotator_of]
    value[rng.random(value.shape) < missing] = np.nan
    gold = np.full((30, D), np.nan)
    gold[:known] = unit * truth[:known]
    gold[rng.random(gold.shape) < missing] = np.nan
    loc, scale = np.nanmean(value, axis=0), np.nanstd(value, axis=0)
    data = prepare((value - loc) / scale, item_of, annotator_of, no_features(30), 8)._replace(gold=gold)
    fit, loose = turning_fit(data, default_settings(data._replace(gold=None)), climb)
    path = fit(data)[1].objective
    assert np.isfinite(loose)
    assert np.diff(path).min(initial=0.0) >= -1e-9 * np.abs(path).max()
