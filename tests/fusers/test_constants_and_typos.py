"""What must not matter: constants of annotators, however large, and answers that nobody can have meant."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from item_cases import random_raters, ratings_of
from unisono import fuse
from unisono.errors import DataWarning
from unisono.fusers import Joint
from unisono.tables.coverage_and_outliers import wild_answers, without_wild
from unisono.tables.rating_checks import check_ratings


def crowd(seed, *, M=80, K=12, per_item=4, decimals=3):
    """Ratings (J, 2), items and annotators; biases and gains as usual."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(M, 2)) @ np.array([[1.0, 0.5], [0.0, 0.9]])
    item_of, of = random_raters(rng, M, K, per_item)
    bias, gain = 0.4 * rng.normal(size=(K, 2)), 1 + 0.15 * rng.normal(size=(K, 1))
    value = gain[of] * truth[item_of] + bias[of] + 0.7 * rng.normal(size=(len(of), 2))
    return np.round(50 + 12 * value, decimals), item_of, of, truth


def fused(value, item_of, of):
    return Joint().fit(ratings_of(value, item_of, of)).fuse().mean


def least_correlation(one, other):
    return min(np.corrcoef(a, b)[0, 1] for a, b in zip(one.T, other.T, strict=True))


@pytest.mark.parametrize("constant", [40.0, 4e3, 4e5])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_constant_of_one_annotator_however_large_leaves_the_truth_as_it_was(seed, constant):
    value, item_of, of, _ = crowd(seed)
    assert np.bincount(of).min() >= 15
    moved = value + constant * (of == seed)[:, None]
    assert least_correlation(fused(value, item_of, of), fused(moved, item_of, of)) > 0.995


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_constant_of_one_annotator_on_a_scale_of_two_answers_leaves_the_truth_as_it_was(seed):
    """His answers lie between the ends of all others, who have none there."""
    value, item_of, of, _ = crowd(seed, M=150, K=11, per_item=5)
    graded = np.column_stack([np.clip(np.round(value[:, 0] / 10), 0, 5), value[:, 1] > 65]).astype(float)
    moved = graded + np.array([2.9, 0.53]) * (of == seed)[:, None]
    assert least_correlation(fused(graded, item_of, of), fused(moved, item_of, of)) > 0.995


@pytest.mark.parametrize("apart", [0.0, 1.0, 2.0, 20.0])
def test_three_raters_may_lie_as_far_apart_as_they_like(apart):
    found, plain = [], []
    for seed in range(6):
        value, item_of, of, truth = crowd(seed, M=50, K=3, per_item=3)
        value = value + 12 * apart * np.array([-1.0, 0.0, 1.0])[of][:, None]
        estimate = fused(value, item_of, of)
        mean = value.reshape(50, 3, 2).mean(axis=1)
        found += [np.corrcoef(a, b)[0, 1] for a, b in zip(estimate.T, truth.T, strict=True)]
        plain += [np.corrcoef(a, b)[0, 1] for a, b in zip(mean.T, truth.T, strict=True)]
    assert np.mean(found) > np.mean(plain) - 0.003


@given(seed=st.integers(0, 2**32 - 1), noise=st.floats(0.5, 1.5), D=st.integers(2, 5), per_item=st.integers(3, 5))
@settings(max_examples=10, deadline=None, derandomize=True)
def test_items_with_one_rating_somebody_at_random_and_a_random_dimension_hardly_change_the_truth(
    seed, noise, D, per_item
):
    rng = np.random.default_rng(seed)
    item_of, of = random_raters(rng, 120, 25, per_item)
    truth = rng.normal(size=(120, D)) @ (0.6 * np.eye(D) + 0.4)
    bias, scale = 0.4 * rng.normal(size=(25, D)), np.exp(0.3 * rng.normal(size=25))
    value = truth[item_of] + bias[of] + noise * scale[of, None] * rng.normal(size=(len(of), D))
    plain = fused(value, item_of, of)
    again = rng.integers(len(of), size=120)
    single = np.vstack([value, value[again]]), np.append(item_of, 120 + np.arange(120)), np.append(of, of[again])
    assert least_correlation(plain, fused(*single)[:120]) > 0.98
    order = np.argsort(np.append(item_of, np.arange(120)), kind="stable")
    guest = (
        np.vstack([value, rng.permuted(value[:120], axis=0)]),
        np.append(item_of, np.arange(120)),
        np.append(of, 25 + 0 * again),
    )
    assert least_correlation(plain, fused(*(part[order] for part in guest))) > 0.98
    assert (
        least_correlation(plain, fused(np.column_stack([value, rng.permutation(value[:, 0])]), item_of, of)[:, :D])
        > 0.98
    )


@pytest.mark.parametrize("far", [600.0, 2100.0, -1e6])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_typing_error_hardly_changes_the_truth(seed, far):
    value, item_of, of, _ = crowd(seed)
    wrong = value.copy()
    wrong[np.random.default_rng(seed).integers(len(of)), 0] = far
    assert least_correlation(fused(value, item_of, of), fused(wrong, item_of, of)) > 0.99


def test_wild_answers_are_found_and_honest_ones_are_not():
    value, item_of, of, _ = crowd(0)
    assert not wild_answers(ratings_of(value.copy(), item_of, of)).any()
    value[7, 1], value[of == 3, 0] = 2100.0, 4000.0 + value[of == 3, 0]
    wild = wild_answers(ratings_of(value, item_of, of))
    assert np.argwhere(wild).tolist() == [[7, 1]]  # annotator 3 answers there as a rule
    heavy = np.random.default_rng(0).standard_t(3, size=value.shape)
    assert wild_answers(ratings_of(heavy, item_of, of)).mean() < 0.003


@pytest.mark.parametrize("rare", [0.3, 0.05, 0.01, 0.002])
def test_rare_answers_on_a_scale_of_few_are_meant(rare):
    _, item_of, of, _ = crowd(0, M=500)
    value = (np.random.default_rng(1).random((len(of), 2)) < rare).astype(float)
    assert not wild_answers(ratings_of(value, item_of, of)).any()


def test_an_answer_on_a_scale_that_was_given_is_meant():
    value, item_of, of, _ = crowd(0)
    value[7, 1] = 2100.0
    ratings = ratings_of(value, item_of, of)
    assert wild_answers(ratings).sum() == 1
    assert np.nanmax(without_wild(ratings).value) < 200
    assert not wild_answers(ratings.with_scale((-100, 2500))).any()


def test_a_wild_answer_is_named():
    value, item_of, of, _ = crowd(0)
    value[7, 1] = 2100.0
    ratings = ratings_of(value, item_of, of)
    (alert,) = (alert for alert in check_ratings(ratings) if alert.kind == "wild-values")
    who, item = ratings.annotators[of[7]], ratings.items[item_of[7]]
    assert f"dim2 is 2100 by annotator '{who}' on '{item}'" in alert.message
    assert alert.labels == (who,)
    with pytest.warns(DataWarning, match="2100"):
        fuse(ratings)


def test_a_dimension_of_noise_or_somebody_at_random_hardly_changes_what_few_answers_of_many_tell():
    """Seventy annotators with nine answers each, a third of whom follow nothing: no gain may prove itself right."""
    noise, stray = [], []
    for seed in (1, 3, 4, 5):
        rng = np.random.default_rng([11, seed])
        truth = rng.normal(size=(200, 3)) @ np.linalg.cholesky(0.5 + 0.5 * np.eye(3)).T
        item_of, of = random_raters(rng, 200, 70, 3)
        gain = np.where(np.arange(70) < 24, 0.0, 1.0)[of][:, None]
        value = gain * truth[item_of] + 0.5 * rng.normal(size=(70, 3))[of] + 1.1 * rng.normal(size=(600, 3))
        plain = fused(value, item_of, of)
        more = fused(np.column_stack([value, rng.permutation(value[:, 0])]), item_of, of)
        noise.append(least_correlation(plain, more[:, :3]))
        order = np.argsort(where := np.append(item_of, np.arange(200)), kind="stable")
        with_stray = np.concatenate([value, rng.permutation(value)[:200]])[order]
        stray.append(least_correlation(plain, fused(with_stray, where[order], np.append(of, np.full(200, 70))[order])))
    assert min(noise) > 0.996
    assert np.mean(stray) > 0.9885


@pytest.mark.parametrize(("items", "differ"), [(1, 0.0), (1, 1.0), (2, 0.0), (3, 0.0)])
def test_equal_answers_to_a_few_items_are_their_truth(items, differ):
    """Where answers are the same nothing has a variance: no division warns of it. The scale may end beside them."""
    value = np.array([[1.0, 2.0], [1.0 + differ, 2.0]] * items)
    found = fuse(ratings_of(value, np.repeat(np.arange(items), 2), np.tile([0, 1], items))).fused.mean
    np.testing.assert_allclose(found, np.tile([1.0 + differ / 2, 2.0], (items, 1)), atol=0.15)
