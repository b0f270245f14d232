"""What to rate next and how many ratings are enough, against brute force and simulation."""

import itertools

import numpy as np
import pytest
from scipy import stats

import unisono as un
from item_cases import drawn_from_the_model
from unisono.fusers.rating_design import next_ratings, plan_ratings, wrong_side
from unisono.maths.items.item_data import no_features, prepare
from unisono.maths.items.item_estep import posterior
from unisono.maths.items.item_estimates import expected_error, expected_reduction, rating_information
from unisono.maths.items.item_params import sample_ratings, sample_truths


def test_reduction_is_the_difference_of_traces():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 3, 5))
    V = root @ root.transpose(0, 2, 1)
    Q = V[0] + np.eye(3)
    found = expected_reduction(V[1:], Q)
    for v, reduction in zip(V[1:], found, strict=True):
        after = np.linalg.inv(np.linalg.inv(v) + Q)
        assert reduction == pytest.approx(np.trace(v) - np.trace(after))


def test_predicted_error_is_the_error_in_simulation():
    """The information matrix says how far estimates will be off; ratings drawn from the model agree."""
    _, _, params = drawn_from_the_model(10, seed=1)
    rng = np.random.default_rng(0)
    K, M = len(params.B), 4000
    share = np.full(K, 1 / K)
    for n in (1, 3, 7):
        who = np.sort(np.argpartition(rng.random((M, K)), n, axis=1)[:, :n], axis=1).reshape(-1)
        item_of = np.repeat(np.arange(M), n)
        truth = sample_truths(params, no_features(M), rng)
        y = sample_ratings(params, truth, item_of, who, rng)
        found = posterior(prepare(y, item_of, who, no_features(M), K), params).mean
        predicted = expected_error(params.Sigma, rating_information(params), share, n, rng)
        np.testing.assert_allclose(np.mean((found - truth) ** 2, axis=0), predicted, rtol=0.08)


def test_more_ratings_than_annotators_are_by_others_like_them():
    """All of them once more, and every pair beyond: the error is its mean, and it goes on falling as 1 / n does."""
    _, _, params = drawn_from_the_model(10, seed=1)
    Q, K, rng = rating_information(params), len(params.B), np.random.default_rng(0)
    share, before = np.full(K, 1 / K), np.linalg.inv(params.Sigma)
    pairs = [Q.sum(axis=0) + Q[a] + Q[b] for a, b in itertools.combinations(range(K), 2)]
    wanted = np.mean([np.diagonal(np.linalg.inv(before + one)) for one in pairs], axis=0)
    np.testing.assert_allclose(expected_error(params.Sigma, Q, share, K + 2, rng, draws=20_000), wanted, rtol=0.01)
    twice = np.diagonal(np.linalg.inv(before + 2 * Q.sum(axis=0)))
    np.testing.assert_allclose(expected_error(params.Sigma, Q, share, 2 * K, rng), twice, rtol=1e-12)


def test_items_with_few_ratings_and_good_annotators_come_first():
    ratings, _, params = drawn_from_the_model(120, seed=4)
    thin = np.isin(ratings.item_of, [3, 50]) & (np.arange(ratings.J) % 5 > 0)
    result = un.fuse(ratings.select_judgements(~thin))
    found = next_ratings(result.fuser, result.fit)
    assert set(found.items[:2]) == {"i3", "i50"}
    assert (np.diff(found.information) <= 0).all()
    noise = dict(zip(ratings.annotators, params.N[:, 0, 0], strict=True))
    assert np.mean([noise[k] for k in found.annotators[:5]]) < np.mean([noise[k] for k in found.annotators[-5:]])


def test_a_plan_gets_better_with_ratings_and_says_when_it_is_enough():
    ratings, _, _ = drawn_from_the_model(120, seed=4)
    result = un.fuse(ratings)
    plan = plan_ratings(result.fuser, result.fit, most=50)
    assert (plan.ratings[-1], plan.people) == (50, ratings.K)
    assert ratings.K < 50
    assert (np.diff(plan.sd, axis=0) < 0).all()
    enough = plan.enough(0.9)
    assert enough is not None
    assert (plan.correlation[enough - 1] >= 0.9).all()
    each = plan.enough_each(0.9)
    assert max(each.values()) == enough > 1
    for d, name in enumerate(plan.dimensions):
        assert plan.correlation[each[name] - 1, d] >= 0.9
        assert each[name] == 1 or plan.correlation[each[name] - 2, d] < 0.9
    assert plan.enough(1.0) is None
    assert set(plan.enough_each(1.0).values()) == {None}
    same = plan_ratings(result.fuser, result.fit, most=50)
    np.testing.assert_array_equal(same.sd, plan.sd)


@pytest.mark.parametrize("model", ["mean", "ewe", "independent"])
def test_advice_from_every_kind_of_model(model):
    ratings, _, _ = drawn_from_the_model(40, seed=4)
    result = un.fuse(ratings, model=model)
    assert np.isfinite(next_ratings(result.fuser, result.fit).item_reduction).all()
    assert np.isfinite(plan_ratings(result.fuser, result.fit).sd).all()


def test_repeated_labelling_ranks_by_the_wrong_side_and_by_the_fewest(tmp_path):
    world = un.simulate_items(items=20, annotators=6, features=0, ratings_per_item=4, seed=2)
    few = world.ratings.select_judgements(~((world.ratings.item_of < 4) & (world.ratings.annotator_of > 1)))
    result = un.fuse(few)
    given = dict(zip(few.items, np.bincount(few.item_of), strict=True))
    fewest = un.next_ratings(result, strategy="fewest").items
    assert [given[item] for item in fewest] == sorted(given.values())
    sd = np.sqrt(np.einsum("mdd->md", result.fused.cov))
    chance = dict(zip(result.fused.items, wrong_side(result.fused.mean, sd), strict=True))
    ranked = un.next_ratings(result, strategy="uncertainty").items
    assert [chance[item] for item in ranked] == sorted(chance.values(), reverse=True)
    assert ranked != fewest != un.next_ratings(result).items
    assert un.next_ratings(result.save(tmp_path / "out"), strategy="fewest").items == fewest
    with pytest.raises(un.SettingsError, match="choose one of reduction, uncertainty, fewest"):
        un.next_ratings(result, strategy="most")


def test_the_wrong_side_is_a_tail_of_the_normal():
    mean, sd = np.array([[0.0], [1.0], [3.0]]), np.array([[0.5], [0.5], [2.0]])
    np.testing.assert_allclose(wrong_side(mean, sd), stats.norm.cdf([-2, 0, -1]), rtol=1e-12)
