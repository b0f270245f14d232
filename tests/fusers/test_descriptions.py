"""What is said of annotators is right, in the units they rated in; baselines do what their names say."""

import numpy as np

import unisono as un
from unisono.fusers.fusion_results import dimension_columns
from unisono.paper.simulation import simulate_items
from unisono.tables.ratings import Ratings

SCALE = np.array([20.0, 0.5])


def world_in_units(M=400):
    """Annotators with known bias and leakage, on a scale of tens and one of tenths."""
    rng = np.random.default_rng(0)
    K, D = 6, 2
    truth = rng.normal(size=(M, D))
    F = np.eye(D) + np.array([[0.0, 0.3], [-0.2, 0.0]]) * np.array([1, -1, 1, -1, 0, 0])[:, None, None]
    b = np.array([[0.8, 0], [-0.8, 0], [0, 0.5], [0, -0.5], [0, 0], [0, 0]])
    y = np.einsum("kij,mj->mki", F, truth) + b + 0.2 * rng.normal(size=(M, K, D))
    item_of, annotator_of = np.divmod(np.arange(M * K), K)
    ratings = Ratings.from_judgements(
        y.reshape(-1, D) * SCALE + 7,
        item_of,
        annotator_of,
        items=[str(m) for m in range(M)],
        annotators=list("abcdef"),
        dimensions=("tens", "tenths"),
    )
    return ratings, F, b


def test_annotators_in_their_own_units():
    ratings, F, b = world_in_units()
    table = un.fuse(ratings, transform="full").described
    np.testing.assert_allclose(table.bias / SCALE, b, atol=0.06)
    np.testing.assert_allclose(table.noise / SCALE, 0.2, atol=0.03)
    expected = F[:, 0, 1] * SCALE[0] / SCALE[1]
    np.testing.assert_allclose(table.leakage[:, 0, 1], expected, atol=0.06 * SCALE[0] / SCALE[1])
    expected = F[:, 1, 0] * SCALE[1] / SCALE[0]
    np.testing.assert_allclose(table.leakage[:, 1, 0], expected, atol=0.06 * SCALE[1] / SCALE[0])
    columns = dimension_columns(table)
    tens = np.array(columns["dimension"]) == "tens"
    np.testing.assert_array_equal(columns["from_tenths"][tens], table.leakage[:, 0, 1])
    assert np.isnan(columns["from_tenths"][~tens]).all()


def test_noise_is_that_of_every_annotator_on_every_dimension():
    rng = np.random.default_rng(1)
    M, K = 300, 8
    noise = np.array([[0.3, 0.9], [0.9, 0.3], *[[0.5, 0.5]] * 6])
    y = rng.normal(size=(M, 1, 2)) + noise * rng.normal(size=(M, K, 2))
    item_of, annotator_of = np.divmod(np.arange(M * K), K)
    names = {"items": [str(m) for m in range(M)], "annotators": list("abcdefgh"), "dimensions": ("v", "a")}
    ratings = Ratings.from_judgements(y.reshape(-1, 2), item_of, annotator_of, **names)
    np.testing.assert_allclose(un.fuse(ratings).described.noise, noise, atol=0.13)
    few = ratings.select_judgements((ratings.annotator_of != 1) | (ratings.item_of < 2))
    # Of two answers little is known: nearly what the model has for everybody.
    assert np.ptp(un.fuse(few).described.noise[1]) < 0.2


def test_baselines_do_what_their_names_say():
    ratings = simulate_items(items=25, annotators=5, features=0, ratings_per_item=3, seed=2).ratings
    items = [ratings.value[ratings.item_of == m] for m in range(25)]
    means = np.array([y.mean(axis=0) for y in items])
    np.testing.assert_allclose(un.fuse(ratings, model="mean").fused.mean, means)
    medians = np.array([np.median(y, axis=0) for y in items])
    np.testing.assert_allclose(un.fuse(ratings, model="median").fused.mean, medians)
    own = [ratings.value[ratings.annotator_of == k] for k in range(5)]
    z = ratings.value.copy()
    for k in range(5):
        z[ratings.annotator_of == k] = (own[k] - own[k].mean(axis=0)) / own[k].std(axis=0)
    z = z * ratings.value.std(axis=0) + ratings.value.mean(axis=0)
    expected = np.array([z[ratings.item_of == m].mean(axis=0) for m in range(25)])
    np.testing.assert_allclose(un.fuse(ratings, model="zscore-mean").fused.mean, expected)


def test_ewe_weighs_by_correlation_with_the_others():
    ratings = simulate_items(items=30, annotators=4, features=0, seed=3).ratings
    y = ratings.value.reshape(30, 4, 2)
    weight = np.zeros((4, 2))
    for k in range(4):
        others = np.delete(y, k, axis=1).mean(axis=1)
        weight[k] = [max(np.corrcoef(y[:, k, d], others[:, d])[0, 1], 0) for d in range(2)]
    expected = np.einsum("mkd,kd->md", y, weight) / weight.sum(axis=0)
    np.testing.assert_allclose(un.fuse(ratings, model="ewe").fused.mean, expected)


def test_the_weighted_mean_removes_bias_and_trusts_the_precise():
    rng = np.random.default_rng(4)
    truth = rng.normal(size=(200, 1))
    noise = np.array([0.1, 0.5, 1.0, 1.0])
    y = truth + np.array([2.0, -1.0, 0.0, -1.0]) + noise * rng.normal(size=(200, 4))
    item_of, annotator_of = np.divmod(np.arange(800), 4)
    names = {"items": [str(m) for m in range(200)], "annotators": list("abcd"), "dimensions": ("d",)}
    ratings = Ratings.from_judgements(y.reshape(-1, 1), item_of, annotator_of, **names)
    found = un.fuse(ratings, model="weighted-mean").fused.mean
    plain = un.fuse(ratings, model="mean").fused.mean
    assert np.std(found - truth) < 0.5 * np.std(plain - truth)
    assert abs(np.mean(found - truth)) < 0.1
