"""Variances of truth, bias and error are recovered from moments; answers are stated where there is nothing to count."""

import numpy as np
import pytest

from item_cases import random_raters
from reference.naive_components import dense_reml, naive_item_levels, naive_levels, naive_pairs
from unisono.maths.items.annotator_levels import (
    AnnotatorMoments,
    annotator_levels,
    annotator_moments,
    profile_moments,
    tails,
    units_of,
)
from unisono.maths.items.bayes_start import (
    components,
    correlation_variance,
    drawn,
    pair_sums,
    positive_definite,
    variance_targets,
)
from unisono.maths.items.item_data import no_features, prepare
from unisono.maths.items.item_priors import BIAS_FREEDOM, LEAST_SHARE


def crowd(*, M=500, K=80, per_item=6, truth=(0.35, 0.55), bias=0.15, correlation=0.0, missing=0.0, seed=0):
    """Ratings of variance one, made of truth, bias and error with these shares: value, item_of, annotator_of."""
    rng = np.random.default_rng(seed)
    item_of, annotator_of = random_raters(rng, M, K, per_item)
    root = np.linalg.cholesky(np.array([[1, correlation], [correlation, 1]]))
    truth = np.array(truth)
    parts = (truth, M, item_of), (np.full(2, bias), K, annotator_of), (1 - truth - bias, M * per_item, slice(None))
    value = sum((np.sqrt(share) * (rng.normal(size=(n, 2)) @ root.T))[of] for share, n, of in parts)
    value[rng.random(value.shape) < missing] = np.nan
    return value, item_of, annotator_of


def data_of(value, item_of, annotator_of):
    """In the units that they are in."""
    return prepare(value, item_of, annotator_of, no_features(item_of.max() + 1), annotator_of.max() + 1)


def correlations(covariance):
    root = np.sqrt(np.diagonal(covariance))
    return covariance / root[:, None] / root


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_known_shares_are_recovered(missing):
    found = variance_targets(data_of(*crowd(missing=missing)), truths=False, biases=False)
    np.testing.assert_allclose(np.diagonal(found.latent), [0.35, 0.55], atol=0.05)
    np.testing.assert_allclose(np.diagonal(found.bias) * tails(BIAS_FREEDOM), 0.15, atol=0.06)
    np.testing.assert_allclose(np.diagonal(found.noise), [0.5, 0.3], atol=0.05)
    np.testing.assert_allclose(found.latent[0, 1], 0, atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_levels_and_pairs_are_those_of_loops_over_answers(missing):
    value, item_of, of = crowd(M=25, K=9, per_item=4, missing=missing)
    value[of == 2] += 40.0
    data = data_of(value, item_of, of)
    found = annotator_levels(profile_moments(data))
    centre, bias, within, away, tie, believed = naive_levels(value, of, data.K, BIAS_FREEDOM)
    naive = {"centre": centre, "bias": bias, "within": within, "away": away, "tie": tie, "believed": believed}
    for name, expected in naive.items():
        np.testing.assert_allclose(getattr(found, name), expected, rtol=1e-8, atol=1e-9, err_msg=name)
    sums = pair_sums(data, found)
    products, pairs = naive_pairs(value, item_of, of, centre + believed * away, found.factor)
    np.testing.assert_allclose(sums.products, products, rtol=1e-8)
    np.testing.assert_array_equal(sums.pairs, pairs)
    for part, expected in zip(sums.above, naive_item_levels(value - centre, item_of, of, data.K), strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-8, atol=1e-9)


def test_annotators_of_other_items_are_not_biased_for_that():
    """Every third of the items has annotators of its own, and lies elsewhere; somebody answers everything."""
    found, plain = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        of = np.concatenate([[12, *(rng.choice(4, 3, replace=False) + 4 * (m // 20))] for m in range(60)])
        item_of, block = np.repeat(np.arange(60), 4), np.repeat(np.arange(60) // 20 - 1, 4)
        truth, bias = rng.normal(size=(60, 2)), 0.4 * rng.normal(size=(13, 2))
        value = 1.5 * block[:, None] + truth[item_of] + bias[of] + 0.6 * rng.normal(size=(240, 2))
        data = data_of(value, item_of, of)
        plain.append(np.diagonal(variance_targets(data).bias) * tails(BIAS_FREEDOM))
        levels = annotator_levels(profile_moments(data))
        found.append(levels.bias * tails(BIAS_FREEDOM))
    assert np.mean(plain) == pytest.approx(0.16, abs=0.06)
    assert np.mean(found) > 0.5


def test_where_hardly_any_item_is_shared_means_tell_the_biases():
    """Of 200 items ten are answered twice; everybody answers ten others."""
    rng = np.random.default_rng(0)
    item_of = np.concatenate([np.arange(200), np.arange(10)])
    of = np.concatenate([np.arange(200) % 20, (np.arange(10) + 5) % 20])
    order = np.argsort(item_of, kind="stable")
    value = rng.normal(size=(200, 2))[item_of] + 2 * rng.normal(size=(20, 2))[of] + 0.5 * rng.normal(size=(210, 2))
    data = data_of(value[order], item_of[order], of[order])
    levels = annotator_levels(profile_moments(data))
    sums = pair_sums(data, levels)
    np.testing.assert_array_equal(sums.above.bias(np.full(2, 0.25), levels), levels.bias)


def test_moments_of_annotators_add_up():
    value, _, of = crowd(M=40, K=9, per_item=4, missing=0.2)
    rows = np.random.default_rng(0).random(len(of)) < 0.4
    added = annotator_moments(value[rows], of[rows], 9) + annotator_moments(value[~rows], of[~rows], 9)
    for a, b in zip(added, annotator_moments(value, of, 9), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    assert isinstance(added, AnnotatorMoments)


@pytest.mark.parametrize(("K", "per_item", "apart"), [(3, 3, 0.2), (3, 3, 8.0), (12, 4, 0.3)])
def test_components_are_about_those_of_restricted_maximum_likelihood(K, per_item, apart):
    for seed in range(3):
        value, item_of, of = crowd(M=60, K=K, per_item=per_item, truth=(0.4, 0.4), bias=apart * 0.6 / 8, seed=seed)
        value[:, 0] += apart * np.random.default_rng(seed).normal(size=K)[of]
        data = data_of(value, item_of, of)
        levels = annotator_levels(profile_moments(data))
        found = components(levels, pair_sums(data, levels))
        truth, _, error = dense_reml(value[:, 0], item_of, of)
        assert found.truth[0] == pytest.approx(truth, rel=0.15, abs=0.03)
        assert found.within[0] - found.truth[0] == pytest.approx(error, rel=0.15, abs=0.03)


@pytest.mark.parametrize("constant", [3.0, 300.0])
def test_constants_of_annotators_who_answer_much_change_nothing(constant):
    value, item_of, of = crowd(M=60, K=3, per_item=3, correlation=0.4)
    moved = value + constant * np.array([-1.0, 0.0, 1.0])[of][:, None]
    one, other = (variance_targets(data_of(y, item_of, of)) for y in (value, moved))
    np.testing.assert_allclose(other.latent, one.latent, atol=0.02)
    np.testing.assert_allclose(other.noise, one.noise, atol=0.02)
    assert np.diagonal(other.bias).min() > np.diagonal(one.bias).max()


@pytest.mark.parametrize("constant", [3.0, 300.0])
def test_units_do_not_depend_on_the_level_of_one_annotator(constant):
    value, _, of = crowd(M=60, K=12, per_item=6)
    one, other = (np.array(units_of(y, of, 12)) for y in (value, value + constant * (of == 4)[:, None]))
    np.testing.assert_allclose(other, one, rtol=0.03, atol=0.08)


def test_biases_that_are_shared_by_dimensions_do_not_look_like_correlated_truths():
    found = []
    for seed in range(20):
        value, item_of, of = crowd(M=60, K=3, per_item=3, correlation=0.3, seed=seed)
        value += 2.0 * np.array([-1.0, 0.0, 1.0])[of][:, None]
        found.append(correlations(variance_targets(data_of(value, item_of, of)).latent)[0, 1])
    assert np.mean(found) == pytest.approx(0.3, abs=0.08)


def test_moods_of_judgements_are_told_from_correlated_truths_where_there_are_many():
    rng = np.random.default_rng(0)
    value, item_of, of = crowd(M=2000, correlation=0.0)
    value = value + rng.normal(size=len(value))[:, None]  # both answers of a judgement, whatever the item
    found = correlations(variance_targets(data_of(value, item_of, of)).latent)[0, 1]
    assert np.corrcoef(value.T)[0, 1] > 0.4
    assert abs(found) < 0.1


def test_a_handful_of_ratings_leaves_correlations_near_those_of_ratings():
    away = []
    for seed in range(30):
        value, item_of, of = crowd(M=15, K=6, per_item=3, truth=(0.15, 0.15), correlation=0.5, seed=seed)
        away.append(correlations(variance_targets(data_of(value, item_of, of)).latent)[0, 1] - 0.5)
    assert np.sqrt(np.mean(np.square(away))) < 0.45


def test_the_variance_of_a_correlation_is_that_of_simulations():
    rng, M, r, noise = np.random.default_rng(0), 400, 0.6, np.array([0.5, 1.0])
    root, found = np.linalg.cholesky(np.array([[1, r], [r, 1]])), []
    for _ in range(2000):
        mean = rng.normal(size=(M, 2)) @ root.T + np.sqrt(noise) * rng.normal(size=(M, 2))
        S = np.cov(mean.T) - np.diag(noise)
        found.append(S[0, 1] / np.sqrt(S[0, 0] * S[1, 1]))
    expected = correlation_variance(np.array([[1, r], [r, 1]]), 1 + noise)[0, 1] / M
    assert np.var(found) == pytest.approx(expected, rel=0.1)
    np.testing.assert_allclose(correlation_variance(np.array([[r]]), np.ones(1)), (1 - r**2) ** 2)


def test_what_may_be_chance_is_drawn_to_nothing():
    np.testing.assert_allclose(drawn(np.array([0.5, -0.5, 0.0]), np.array([0.25, 0.0, 0.0])), [0.25, -0.5, 0.0])


def test_without_two_ratings_of_anything_the_stated_shares_hold():
    rng = np.random.default_rng(0)
    alone = np.arange(30)
    value = rng.normal(size=(30, 2))
    found = variance_targets(data_of((value - value.mean(0)) / value.std(0), alone, alone))
    np.testing.assert_allclose(np.diagonal(found.latent), 0.5, rtol=0.1)
    np.testing.assert_allclose(np.diagonal(found.bias), LEAST_SHARE, rtol=0.1)
    np.testing.assert_allclose(np.diagonal(found.noise), np.diagonal(found.latent), rtol=1e-9)


def test_shares_stay_inside_their_limits():
    noise = variance_targets(data_of(*crowd(truth=(0.0, 0.0), bias=0.0)))
    total = np.diagonal(noise.latent + noise.noise)
    assert (np.diagonal(noise.latent) >= 0.99 * LEAST_SHARE * total).all()
    found = variance_targets(data_of(*crowd(truth=(0.999, 0.999), bias=0.0)))
    total = np.diagonal(found.latent + found.noise)
    np.testing.assert_allclose(np.diagonal(found.noise), LEAST_SHARE * total, rtol=0.05)


def test_correlations_that_cannot_be_are_brought_to_the_nearest_that_can():
    P = np.array([[1.0, 0.7, -0.2], [0.7, 1.0, 0.1], [-0.2, 0.1, 1.0]])
    np.testing.assert_allclose(positive_definite(P), P, atol=1e-12)
    impossible = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    found = positive_definite(impossible)
    np.testing.assert_allclose(np.diagonal(found), 1, rtol=1e-12)
    assert np.linalg.eigvalsh(found).min() > 0


@pytest.mark.parametrize("constant", [(1.0, 1.0), (2.0, 1.0), (3.0, 3.0, 1.0), (1.0, 1.0, 1.0)])
def test_annotators_of_one_answer_each_have_levels_and_units(constant):
    K = len(constant)
    who = np.tile(np.arange(K), 4)
    value = np.array(constant)[who][:, None]
    apart = float(np.ptp(constant))
    with np.errstate(all="raise"):
        levels = annotator_levels(annotator_moments(value, who, K))
        _, scale = units_of(value, who, K)
    assert (levels.bias[0] == 0) == (apart == 0)
    assert levels.bias[0] <= apart**2
    np.testing.assert_allclose(levels.away[:, 0], np.array(constant) - levels.centre[0])
    assert apart / 4 <= scale[0] <= max(constant)
