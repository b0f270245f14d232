"""Features: what they add to the truth, and the common delay that they alone can show."""

import numpy as np
import pytest

from unisono.maths.series.trace_data import SeriesData
from unisono.maths.series.trace_em_fit import Settings
from unisono.maths.series.trace_features import FeatureSettings, accumulate, fit_with_features

RATE, FEW = 5.0, FeatureSettings(steps=4)


def driven(seed=0, late=4, K=5, T=500):
    """Everybody is `late` frames behind a truth whose increments are a known feature; slow errors."""
    rng = np.random.default_rng(seed)
    change = rng.standard_normal((T, 1)) * (rng.random((T, 1)) < 0.3)
    truth = np.cumsum(change, axis=0)
    lagged = np.concatenate([np.repeat(truth[:1], late, axis=0), truth[: T - late]])
    noise = rng.standard_normal((K, T, 1)) * truth.std() * 0.1
    for t in range(1, T):
        noise[:, t] += 0.95 * noise[:, t - 1]
    y = (lagged + noise).reshape(-1, 1)
    return SeriesData(y, np.zeros(K, int), np.arange(K), np.array([T]), change, K), truth


@pytest.mark.slow
def test_features_find_the_common_delay_and_improve_the_truth():
    data, truth = driven()
    data = data._replace(X=accumulate(data.X, data.length))
    found = fit_with_features(data, RATE, features=FEW)
    assert found.identified
    assert found.fit.convention == "features"
    np.testing.assert_allclose(found.fit.mean_lag, 4 / RATE, atol=0.21)
    plain = data.y.reshape(5, 500).mean(0)
    r = np.corrcoef(found.fit.mean[:, 0], truth[:, 0])[0, 1]
    assert r > np.corrcoef(plain, truth[:, 0])[0, 1] + 0.01


@pytest.mark.slow
def test_groups_that_share_no_recording_have_delays_of_their_own():
    one, _ = driven(0, late=3)
    two, _ = driven(1, late=8)
    data = SeriesData(
        np.concatenate([one.y, two.y]),
        np.repeat([0, 1], 5),
        np.arange(10),
        np.array([500, 500]),
        np.concatenate([accumulate(part.X, part.length) for part in (one, two)]),
        10,
    )
    found = fit_with_features(data, RATE, features=FEW)
    assert found.identified
    np.testing.assert_allclose(found.fit.lag[:5].mean() * RATE, 3, atol=1.1)
    np.testing.assert_allclose(found.fit.lag[5:].mean() * RATE, 8, atol=1.1)


def test_a_feature_that_says_nothing_leaves_the_convention():
    data, _ = driven()
    noise = np.random.default_rng(1).standard_normal((500, 1))
    found = fit_with_features(data._replace(X=noise), RATE, features=FEW)
    assert not found.identified
    assert found.fit.convention == "earliest"


def test_a_delay_that_is_given_is_not_searched():
    data, _ = driven()
    found = fit_with_features(data, RATE, Settings(lag=0.6), FEW)
    assert [len(values) for values in found.profile] == [1]
    assert found.fit.convention == "given"
    np.testing.assert_allclose(found.fit.mean_lag, 0.6, atol=0.11)


def test_accumulate_starts_afresh_in_every_recording():
    X = np.ones((5, 1))
    np.testing.assert_array_equal(accumulate(X, np.array([3, 2]))[:, 0], [1, 2, 3, 1, 2])
    np.testing.assert_array_equal(accumulate(X, np.array([3, 2]), 0.5)[:, 0], [1, 1.5, 1.75, 1, 1.5])
    np.testing.assert_array_equal(X, 1.0)
