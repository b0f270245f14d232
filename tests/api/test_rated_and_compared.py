"""Ratings and comparisons of the same items, fused into one truth on the scale of the ratings."""

import warnings

import numpy as np
import polars as pl
import pytest

import unisono as un
from unisono.errors import DataError
from unisono.fusers import Joint
from unisono.fusers.compared_items import Pairwise
from unisono.tables.comparisons import Comparisons
from unisono.tables.ratings import Ratings


def crowd(ratings, comparisons, D=1, seed=0, M=100, K=30):
    """Truths (M, D), correlated by .5; annotators with biases who rate, of whom a tenth compare at random."""
    rng = np.random.default_rng(seed)
    truth = rng.multivariate_normal(np.zeros(D), 0.5 + 0.5 * np.eye(D), M)
    cell, bias = rng.permutation(M * K)[:ratings], rng.normal(0, 0.5, (K, D))
    item, who = cell // K, cell % K
    labels = [f"i{m}" for m in range(M)], [f"k{k}" for k in range(K)], [f"d{d}" for d in range(D)]
    value = truth[item] + bias[who] + rng.normal(size=(ratings, D))
    named = {"items": labels[0], "annotators": labels[1], "dimensions": labels[2]}
    rated = Ratings.from_judgements(value, item, who, scale="none", **named)
    gain, order, tau = rng.normal(1, 0.3, K), rng.normal(0, 0.3, K), np.exp(rng.normal(-1, 0.4, K))
    gain[rng.permutation(K)[: K // 10]] = 0
    N = comparisons * D
    i, d, k = rng.integers(0, M, N), rng.integers(0, D, N), rng.integers(0, K, N)
    j = (i + rng.integers(1, M, N)) % M
    delta, u = gain[k] * (truth[i, d] - truth[j, d]) + order[k], rng.random(N)
    left, right = 1 / (1 + np.exp(tau[k] - delta)), 1 / (1 + np.exp(tau[k] + delta))
    answer = np.where(u < left, 0, np.where(u < left + right, 2, 1))
    return rated, Comparisons.from_answers((i, j, k, d, answer, np.arange(N)), labels), truth


@pytest.mark.parametrize("case", [(200, 250, 1), (200, 1000, 1), (200, 4000, 1), (200, 1000, 3)])
def test_intervals_of_differences_cover(case):
    inside, rng = [], np.random.default_rng(0)
    for seed in range(4):
        rated, compared, truth = crowd(*case, seed=seed)
        fuser = Pairwise().compare(compared).fit(rated)
        i, d = rng.integers(0, 100, 2000), rng.integers(0, case[2], 2000)
        j = (i + rng.integers(1, 100, 2000)) % 100
        mean, variance = fuser.posterior_.differences(i * case[2] + d, j * case[2] + d)
        away = mean * fuser.scaling_.scale[d] - truth[i, d] + truth[j, d]
        inside.append(np.abs(away) < 1.645 * np.sqrt(variance) * fuser.scaling_.scale[d])
    assert 0.86 < np.mean(inside) < 0.93, np.mean(inside)


def test_both_are_better_than_each_alone():
    found = []
    for seed in range(3):
        rated, compared, truth = crowd(300, 1000, seed=seed)
        both = un.fuse(rated, comparisons=compared).fused.mean[:, 0]
        alone = Joint().fit(rated).fuse().mean[:, 0], un.fuse(comparisons=compared).fused.mean[:, 0]
        found.append([np.corrcoef(x, truth[:, 0])[0, 1] for x in (both, *alone)])
    both, *alone = np.mean(found, axis=0)
    assert both > max(alone) + 0.01


def test_the_scale_is_that_of_the_ratings():
    rated, compared, truth = crowd(600, 2000)
    result = un.fuse(rated.with_value(50 + 10 * rated.value), comparisons=compared)
    mean = result.fused.mean[:, 0]
    assert abs(mean.mean() - 50 - 10 * truth.mean()) < 4
    assert 6 < mean.std() < 12
    one = un.fuse(rated, comparisons=compared)
    np.testing.assert_allclose(mean, 50 + 10 * one.fused.mean[:, 0], atol=0.2)
    assert "logits of a comparison" in result.summary()


def test_a_dimension_without_ratings_learns_from_those_with():
    rated, compared, truth = crowd(600, 300, D=2)
    other = compared.rows(compared.dimension_of == 1)
    alone = un.fuse(comparisons=other).fused.mean[:, 1]
    result = un.fuse(rated.select_dimensions(["d0"]), comparisons=other)
    assert result.fused.dimensions == ("d0", "d1")
    r = [np.corrcoef(x, truth[:, 1])[0, 1] for x in (result.fused.mean[:, 1], alone)]
    assert r[0] > r[1] + 0.01


def test_a_dimension_without_a_name_is_that_of_the_ratings():
    rated, compared, _ = crowd(200, 100)
    arena = pl.DataFrame(
        {
            "judge": [compared.annotators[k] for k in compared.annotator_of],
            "model_a": [compared.items[m] for m in compared.left],
            "model_b": [compared.items[m] for m in compared.right],
            "winner": [("model_a", "tie", "model_b")[a] for a in compared.answer],
        }
    )
    assert un.fuse(rated, comparisons=arena).fused.dimensions == ("d0",)


def test_items_that_were_only_compared_or_only_rated():
    rated, compared, _ = crowd(300, 500)
    some = rated.select_items([f"i{m}" for m in range(50)])
    result = un.fuse(some, comparisons=compared.rows((compared.left >= 20) & (compared.right >= 20)))
    assert len(result.fused.items) == 100
    sd = dict(zip(result.fused.items, result.fused.sd[:, 0], strict=True))
    assert np.isfinite(list(sd.values())).all()
    assert result.probability("i0", "i99").probability > 0  # ratings connect what comparisons do not


def test_left_out_ratings_are_predicted_from_comparisons_too():
    rated, compared, _ = crowd(400, 3000)
    out = np.random.default_rng(1).random(rated.J) < 0.2
    seen, unseen = rated.select_judgements(~out), rated.select_judgements(out)
    both = Pairwise().compare(compared).fit(seen).predict_ratings(unseen)
    alone = Joint().fit(seen).predict_ratings(unseen)
    errors = [float(((unseen.value - found.mean) ** 2).mean()) for found in (both, alone)]
    assert errors[0] < errors[1]


def test_saved_and_loaded(tmp_path):
    rated, compared, _ = crowd(200, 300, D=2)
    result = un.fuse(rated, comparisons=compared)
    result.save(tmp_path / "out")
    loaded = un.load(tmp_path / "out")
    assert loaded.probability("i1", "i2", "d1") == result.probability("i1", "i2", "d1")
    np.testing.assert_array_equal(loaded.fuse().mean, result.fused.mean)
    assert (tmp_path / "out" / "comparison_annotators.csv").exists()
    assert {"bias", "gain"} <= set(result.annotators.columns)


def test_known_truths_set_the_level_of_ratings_and_comparisons():
    rated, compared, truth = crowd(400, 1000)
    gold = pl.DataFrame({"item": [f"i{m}" for m in range(0, 100, 5)], "d0": 2 + 1.5 * truth[::5, 0]})
    known, plain = (un.fuse(rated, comparisons=compared, gold=g).fused.mean[:, 0] for g in (gold, None))
    away = [np.abs(x - 2 - 1.5 * truth[:, 0]).mean() for x in (known, plain)]
    assert away[0] < 0.8 < 1.5 < away[1]


def test_what_cannot_be_beside_comparisons():
    rated, compared, _ = crowd(100, 100)
    with pytest.raises(DataError, match="'covariates' cannot be used together with comparisons"):
        un.fuse(rated, comparisons=compared, covariates="length")
    with pytest.raises(DataError, match="Kinds of annotators"):
        un.fuse(rated, comparisons=compared, kinds={"judge": "k1*"})


def test_equal_calls_have_equal_results():
    rated, compared, _ = crowd(200, 300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, other = (un.fuse(rated, comparisons=compared).fused for _ in range(2))
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.sd, other.sd)
