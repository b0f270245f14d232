"""How much annotators have in common: the share, what chance makes of it, and the probability that it is anything."""

import itertools

import numpy as np
import pytest

from benchmarks.planted_crowds import planted_crowd
from unisono.maths.raters.rater_signal import (
    SharedSignal,
    annotator_means,
    shared_signal,
    signal_correlation,
    signal_from,
    signal_sums,
    without_annotator_means,
)


def of_crowd(crowd):
    return shared_signal(crowd.value, crowd.item_of, crowd.annotator_of)


def complete(y):
    """Items by annotators (M, K, D) as judgements."""
    M, K, D = y.shape
    item_of, annotator_of = np.divmod(np.arange(M * K), K)
    return y.reshape(-1, D), item_of, annotator_of


def test_the_share_is_the_mean_product_of_pairs():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(12, 4, 1)) + rng.normal(size=(12, 1, 1))
    z = (y - y.mean(axis=0)) * np.sqrt(12 / 11)
    pairs = [z[m, k, 0] * z[m, j, 0] for m in range(12) for k in range(4) for j in range(4) if j != k]
    found = shared_signal(*complete(y))
    assert found.share[0] == pytest.approx(np.mean(pairs) / np.mean(z**2), rel=1e-12)


def test_the_share_is_the_intraclass_correlation():
    rng = np.random.default_rng(1)
    y = np.sqrt(0.3) * rng.normal(size=(4000, 1, 2)) + np.sqrt(0.7) * rng.normal(size=(4000, 5, 2)) + [[3.0, -2.0]]
    y += 2 * rng.normal(size=(5, 2))  # offsets of the annotators do not matter
    found = shared_signal(*complete(y))
    np.testing.assert_allclose(found.share, 0.3, atol=0.03)
    assert found.clear.all()
    assert (found.probability > 0.999).all()


def test_chance_is_the_deviation_over_all_signs_of_the_answers():
    rng = np.random.default_rng(3)
    item_of, n = np.repeat([0, 1, 2], [3, 4, 2]), 9
    y = rng.normal(size=(n, 1)) ** 3
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=n)))
    products = sum((signs * y[:, 0])[:, item_of == m].sum(axis=1) ** 2 for m in range(3)) - np.sum(y**2)
    sums = signal_sums(y, np.ones(y.shape, dtype=bool), item_of, 3)
    assert np.mean(products) == pytest.approx(0, abs=1e-12)
    assert sums.chance[0] == pytest.approx(np.mean(products**2), rel=1e-12)
    found = signal_from(sums)
    ratio = found.error[0] / (np.sqrt(sums.chance[0]) / sums.pairs[0] / np.mean(y**2))
    assert ratio == pytest.approx(np.sqrt(3 / 2), rel=1e-12)


def test_sums_of_parts_of_the_items_add_up():
    crowd = planted_crowd(1, {"spammer": 0.3})
    first = crowd.item_of < 70
    y, seen = without_annotator_means(
        crowd.value, crowd.annotator_of, annotator_means(crowd.value, crowd.annotator_of, crowd.K)
    )
    parts = [signal_sums(y[at], seen[at], crowd.item_of[at], 200) for at in (first, ~first)]
    for whole, one, other in zip(signal_sums(y, seen, crowd.item_of, 200), *parts, strict=True):
        np.testing.assert_allclose(whole, one + other, rtol=1e-12)


def test_chance_is_that_of_repeated_crowds_in_which_nothing_is_shared():
    found = [of_crowd(planted_crowd(seed, {"spammer": 1.0})) for seed in range(60)]
    actual = np.std([one.share for one in found], axis=0)
    np.testing.assert_allclose(np.mean([one.error for one in found], axis=0), actual, rtol=0.25)


def test_pure_noise_is_not_clear():
    found = [of_crowd(planted_crowd(seed, {"spammer": 1.0})) for seed in range(40)]
    z = np.concatenate([one.share / one.error for one in found])
    assert abs(z.mean()) < 0.3
    assert 0.8 < z.std() < 1.25
    assert np.mean([one.clear for one in found]) < 0.06
    assert np.mean([one.probability for one in found]) < 0.5


@pytest.mark.parametrize(("M", "K"), [(3, 5), (5, 4), (10, 10), (20, 30)])
def test_noise_is_called_clear_in_one_crowd_of_twenty_at_most(M, K):
    y = np.random.default_rng(4).normal(size=(M, K, 2000))  # every dimension a crowd
    assert shared_signal(*complete(y)).clear.mean() <= 0.055


def test_of_weak_agreement_on_few_items_three_quarters_are_seen():
    rng = np.random.default_rng(5)
    y = 0.45 * rng.normal(size=(10, 1, 2000)) + rng.normal(size=(10, 10, 2000))
    assert shared_signal(*complete(y)).clear.mean() > 0.7


@pytest.mark.parametrize("K", [30, 268])
def test_agreement_on_one_item_of_twenty_is_clear(K):
    rng = np.random.default_rng(6)
    y = 1.6 * rng.normal(size=(20, K, 50))
    y[0] += 3.0
    found = shared_signal(*complete(y))
    assert found.clear.mean() > 0.95
    assert np.median(found.probability) > 0.99


def test_missing_answers_and_single_ratings():
    crowd = planted_crowd(0, {})
    value = np.where(np.random.default_rng(0).random(crowd.value.shape) < 0.3, np.nan, crowd.value)
    # One more answer to every item, by people who answered once: nothing can be taken off as theirs.
    item_of = np.append(crowd.item_of, np.arange(200))
    annotator_of = np.append(crowd.annotator_of, crowd.K + np.arange(200))
    thinned = shared_signal(np.vstack([value, np.full((200, 2), 50.0)]), item_of, annotator_of)
    np.testing.assert_allclose(thinned.share, of_crowd(crowd).share, atol=0.08)


def test_few_items_tell_as_much_as_they_can():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(5, 1, 1)) + 0.1 * rng.normal(size=(5, 6, 1))
    assert shared_signal(*complete(y)).clear[0]
    alone = shared_signal(*complete(y[:1]))
    assert not alone.told[0]
    assert not alone.clear[0]
    with np.errstate(all="raise"):
        cancelling = shared_signal(
            np.array([[1.0], [3.0], [4.0], [3.0]]), np.array([0, 0, 1, 2]), np.array([0, 1, 0, 1])
        )
    assert not cancelling.told[0]
    nothing = shared_signal(np.full((4, 1), np.nan), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    assert np.isnan(nothing.share[0])
    assert not nothing.told[0]
    assert nothing.probability[0] == pytest.approx(0.9)


def test_the_probability_rises_with_the_evidence():
    share = np.array([-0.05, 0.0, 0.05, 0.1, 0.2, 0.5])
    found = SharedSignal(share, np.full(6, 0.05)).probability
    assert (np.diff(found) > 0).all()
    assert found[0] < 0.4
    assert found[3] > 0.8
    assert found[-1] > 0.999


def test_correlation_of_what_is_shared():
    rng = np.random.default_rng(2)
    root = np.linalg.cholesky(np.array([[1.0, 0.6], [0.6, 1.0]]))
    # TypicalNoise that is correlated within an annotator is no correlation of what annotators share.
    impression = 2 * rng.normal(size=(1500, 5, 1))
    y = (rng.normal(size=(1500, 2)) @ root.T)[:, None] + impression + 0.3 * rng.normal(size=(1500, 5, 2))
    found = signal_correlation(*complete(y))
    assert found[0, 1] == pytest.approx(0.6, abs=0.1)
    noise = signal_correlation(*complete(rng.normal(size=(20, 3, 4))))
    assert np.linalg.eigvalsh(noise).min() > 0
