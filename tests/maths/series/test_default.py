"""The default for series: recovery, bands, conventions, units. Small and seeded; the tables are in the docs."""

import numpy as np
import pytest

from unisono.maths.series.error_bands import coverage_loss, error_variance, no_spread, spectrum
from unisono.maths.series.trace_data import SeriesData, Structure, identity_params
from unisono.maths.series.trace_em_fit import Settings, effective_share, to_convention
from unisono.maths.series.trace_estep import infer
from unisono.maths.series.trace_features import fit_with_features
from unisono.maths.series.trace_layout import make_layout
from unisono.maths.series.trace_truth import two_scale_truth
from unisono.maths.series.tracer_fit import fit_two_scales

pytestmark = pytest.mark.slow

RATE = 5.0


def simulate(seed, rho=0.0, K=6, M=6, T=200, spammer=False):
    """Slow truths in two dimensions; gains, biases, delays in frames; noise white or autocorrelated."""
    rng = np.random.default_rng(seed)
    kernel = np.ones(5) / 5
    truth = np.stack(
        [
            np.stack([np.convolve(np.cumsum(rng.standard_normal(T + 24)), kernel, "valid") for _ in range(2)], axis=1)
            for _ in range(M)
        ]
    )
    truth = (truth - truth.mean((0, 1))) / truth.std((0, 1))
    lag, gain = rng.integers(1, 7, (K, 2)), rng.uniform(0.8, 1.2, (K, 2))
    bias, sd = 0.3 * rng.standard_normal((K, 2)), rng.uniform(0.2, 0.6, (K, 2))
    y = np.zeros((M, K, T, 2))
    for k in range(K):
        noise = rng.standard_normal((M, T, 2)) * sd[k]
        for t in range(1, T):
            noise[:, t] = rho * noise[:, t - 1] + np.sqrt(1 - rho**2) * noise[:, t]
        for d in range(2):
            y[:, k, :, d] = gain[k, d] * truth[:, 20 - lag[k, d] : 20 - lag[k, d] + T, d]
        y[:, k] += bias[k] + noise
    if spammer:
        y[:, 0] = np.cumsum(rng.standard_normal((M, T, 2)), axis=1) * 0.1
    data = SeriesData(
        y.reshape(-1, 2), np.repeat(np.arange(M), K), np.tile(np.arange(K), M), np.full(M, T), np.zeros((M * T, 0)), K
    )
    return data, truth[:, 20:].reshape(-1, 2), lag


def pearson(a, b):
    return np.array([np.corrcoef(a[:, d], b[:, d])[0, 1] for d in range(a.shape[1])])


def plain_mean(data):
    M = len(data.length)
    return data.y.reshape(M, data.K, -1, 2).mean(axis=1).reshape(-1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_better_than_the_mean_and_bands_hold(rho):
    inside = []
    for seed in range(10):
        data, truth, lag = simulate(seed, rho)
        fit = fit_two_scales(data, RATE, Settings(lag=lag.mean() / RATE))
        assert np.all(pearson(fit.mean, truth) > pearson(plain_mean(data), truth) + 0.003)
        inside.append(np.mean(np.abs(truth - fit.mean) < 1.645 * fit.sd, axis=0))
    assert 0.85 <= np.mean(inside) <= 0.95


@pytest.mark.slow
def test_a_spammer_costs_little():
    losses = []
    for seed in range(4):
        clean, truth, lag = simulate(seed)
        spoiled, _, _ = simulate(seed, spammer=True)
        s = Settings(lag=lag.mean() / RATE)
        without, spoilt = fit_two_scales(clean, RATE, s), fit_two_scales(spoiled, RATE, s)
        losses.append(pearson(without.mean, truth) - pearson(spoilt.mean, truth))
    assert np.mean(losses) < 0.01
    assert np.max(losses) < 0.02


def test_the_convention_is_stated_and_followed():
    data, _, _ = simulate(1)
    free = fit_two_scales(data, RATE)
    assert free.convention == "earliest"
    np.testing.assert_allclose(free.lag.min(), 0.2, atol=0.11)
    np.testing.assert_allclose(free.lag.mean(axis=0), free.mean_lag, atol=0.11)  # the same in every dimension
    given = fit_two_scales(data, RATE, Settings(lag=1.0))
    assert given.convention == "given"
    np.testing.assert_allclose(given.mean_lag, 1.0, atol=0.11)
    np.testing.assert_allclose(given.lag.mean(), given.mean_lag)
    assert np.all(given.sd.mean(0) < free.sd.mean(0))  # a delay that is a convention is uncertain


def test_the_parameters_give_the_truth_again_inside_its_band():
    data, _, _ = simulate(2)
    fit = fit_two_scales(data, RATE)
    again = two_scale_truth(data, fit.params, fit.structure, fit.levels, no_spread(2))
    np.testing.assert_allclose(again.mean, fit.mean, rtol=1e-12, atol=1e-12)
    band, posterior = (np.diagonal(cov, axis1=1, axis2=2) for cov in (fit.cov, again.cov))
    assert np.all(band > posterior)
    np.testing.assert_allclose(fit.cov[:, 0, 1], again.cov[:, 0, 1], rtol=1e-12)


def test_missing_frames_widen_the_band():
    data, truth, _ = simulate(3)
    y = data.y.copy().reshape(6, 6, 200, 2)
    y[0, 1:, 80:120] = np.nan  # one annotator left for a while
    independent = Settings(shared=0.0, lag=1.0)  # what all have in common does not depend on how many rated
    data = data._replace(X=np.random.default_rng(0).standard_normal((len(truth), 1)))
    both = (data.y, y)
    whole, holed = (fit_with_features(data._replace(y=v.reshape(-1, 2)), RATE, independent).fit for v in both)
    ratio = (holed.sd / whole.sd).reshape(6, 200, 2)[0]
    assert np.all(ratio[90:110].mean(0) > 1.1 * ratio[10:60].mean(0))


def test_frames_with_fewer_raters_are_thinner():
    y = np.array([0.0, np.nan, 0.0, np.nan, 0.0, np.nan])[:, None]  # two annotators, three frames
    data = SeriesData(y, np.zeros(2, int), np.arange(2), np.array([3]), np.zeros((3, 0)), 2)
    got = coverage_loss(data, np.array([[1.0], [0.5]]))
    np.testing.assert_allclose(got[:, 0], [3.0, 1.5, 3.0])


def test_shared_error_widens_the_band_by_its_share():
    data, _, _ = simulate(4)
    none, some = (fit_two_scales(data, RATE, Settings(shared=share)) for share in (0.0, 0.2))
    more = some.sd**2 - none.sd**2
    np.testing.assert_allclose(more, np.tile(more[0], (len(more), 1)), rtol=1e-8)  # the same at every frame
    assert np.all(more > 0.1 * none.noise.mean(axis=0))
    assert np.all(more < 0.4 * none.noise.mean(axis=0))


def test_effective_share_of_white_and_of_slow_noise():
    white, _, _ = simulate(0)
    slow, _, _ = simulate(0, rho=0.95)
    assert effective_share(slow) < 0.2 < effective_share(white)


def test_white_noise_gives_the_nominal_variance():
    structure = Structure(W=3, transform="delay")
    data, _, _ = simulate(0)
    params = identity_params(data, structure, noise=0.3, phi=0.9, lag=np.ones((6, 2)))._replace(sigma=0.1 * np.eye(2))
    flat = spectrum(np.concatenate([np.ones((2, 1)), np.zeros((2, 5))], axis=1))
    robust, nominal = error_variance(params, np.full((6, 2), 0.3), flat)
    np.testing.assert_allclose(robust, nominal, rtol=1e-10)
    middle = infer(make_layout(data, structure), data.X, params, structure).cov[100]
    np.testing.assert_allclose(nominal, np.diagonal(middle), rtol=1e-6)


def test_the_mean_delay_is_the_same_in_every_dimension():
    data, _, _ = simulate(0)
    structure = Structure(W=16, transform="delay")
    lag = np.array([[1, 9], [2, 8], [3, 10], [2, 9], [1, 9], [3, 9]], dtype=float)  # means 2 and 9
    params = identity_params(data, structure, lag=lag)
    moved, mean = to_convention(params, np.ones(6, dtype=bool), RATE, Settings(lag=1.0))
    np.testing.assert_allclose(moved.lag.mean(axis=0), 5.0)
    assert mean == 1.0
    np.testing.assert_array_equal(moved.F[2, :, 0, 0], np.eye(16)[6])
    by_rule, mean = to_convention(params, np.ones(6, dtype=bool), RATE, Settings(earliest=0.4))
    np.testing.assert_allclose(by_rule.lag.mean(axis=0), 3.0)  # the earliest, one before the mean, reacts at two frames
    np.testing.assert_allclose(mean, 0.6)


@pytest.mark.parametrize(
    "edge", ["one annotator", "inactive annotator", "nobody rated", "short", "slow clock", "constant"]
)
def test_edges_give_finite_results(edge):
    data, _, _ = simulate(0, M=2, T=60, K=1 if edge == "one annotator" else 3)
    y, rate = data.y.copy().reshape(2, data.K, 60, 2), RATE
    if edge == "inactive annotator":
        y[:, 1] = np.nan
    if edge == "nobody rated":
        y[1] = np.nan
    if edge == "constant":
        y[:, 0] = 1.0
    if edge == "slow clock":
        rate = 0.1
    data = data._replace(y=y.reshape(-1, 2))
    if edge == "short":
        data = data._replace(y=y[:, :, :5].reshape(-1, 2), length=np.array([5, 5]), X=np.zeros((10, 0)))
    fit = fit_two_scales(data, rate)
    assert np.isfinite(fit.mean).all()
    assert np.isfinite(fit.sd).all()
    assert np.all(fit.sd > 0)


@pytest.mark.slow
def test_leakage_is_taken_apart_where_a_dimension_alone_takes_it_for_truth():
    """The typical annotator does not leak; whoever is trusted most does."""
    gains = []
    for seed in range(2):
        data, truth, lag = simulate(seed)
        M, K, T = len(data.length), data.K, 200
        y = data.y.reshape(M, K, T, 2).copy()
        precise = np.argmin(np.diff(y, axis=2).std(axis=(0, 2, 3)))
        for k in range(K):
            leak = 1.0 if k == precise else -1.0 / (K - 1)
            y[:, k, :, 0] += leak * truth.reshape(M, T, 2)[:, :, 1]
        data = data._replace(y=y.reshape(-1, 2))
        both = fit_two_scales(data, RATE, Settings(lag=lag.mean() / RATE)).mean[:, 0]
        alone = fit_two_scales(data._replace(y=data.y[:, :1]), RATE, Settings(lag=lag.mean() / RATE)).mean[:, 0]
        gains.append(np.corrcoef(both, truth[:, 0])[0, 1] - np.corrcoef(alone, truth[:, 0])[0, 1])
    assert min(gains) > 0.001
