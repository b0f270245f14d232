"""How much annotators have in common: the share, its standard error, and the probability that it is anything."""

import numpy as np
import pytest

from benchmarks.planted_crowds import planted_crowd
from unisono.maths.raters.signal import FEWEST_SIGNAL_ITEMS, SharedSignal, shared_signal, signal_correlation


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


def test_the_standard_error_is_that_of_repeated_crowds():
    found = [of_crowd(planted_crowd(seed, {"spammer": 0.3})) for seed in range(60)]
    actual = np.std([one.share for one in found], axis=0)
    np.testing.assert_allclose(np.mean([one.error for one in found], axis=0), actual, rtol=0.25)


def test_pure_noise_is_not_clear():
    found = [of_crowd(planted_crowd(seed, {"spammer": 1.0})) for seed in range(40)]
    z = np.concatenate([one.share / one.error for one in found])
    assert abs(z.mean()) < 0.3
    assert 0.8 < z.std() < 1.25
    assert np.mean([one.clear for one in found]) < 0.06
    assert np.mean([one.probability for one in found]) < 0.5


def test_missing_answers_and_single_ratings():
    crowd = planted_crowd(0, {})
    value = np.where(np.random.default_rng(0).random(crowd.value.shape) < 0.3, np.nan, crowd.value)
    # One more answer to every item, by people who answered once: nothing can be taken off as theirs.
    item_of = np.append(crowd.item_of, np.arange(200))
    annotator_of = np.append(crowd.annotator_of, crowd.K + np.arange(200))
    thinned = shared_signal(np.vstack([value, np.full((200, 2), 50.0)]), item_of, annotator_of)
    np.testing.assert_allclose(thinned.share, of_crowd(crowd).share, atol=0.08)


def test_too_few_items_have_no_standard_error():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(FEWEST_SIGNAL_ITEMS - 1, 1, 1)) + 0.1 * rng.normal(size=(FEWEST_SIGNAL_ITEMS - 1, 3, 1))
    found = shared_signal(*complete(y))
    assert np.isinf(found.error[0])
    assert not found.clear[0]
    nothing = shared_signal(np.full((4, 1), np.nan), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    assert np.isnan(nothing.share[0])


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
