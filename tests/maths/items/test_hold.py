"""How strongly annotators are held to the others: less where they are far away, more where they are few."""

import numpy as np
import pytest

from unisono.maths.em_loop import run_em
from unisono.maths.items.annotator_rows import CLASS_GAINS
from unisono.maths.items.bayes_bound import BayesSettings, lower_bound
from unisono.maths.items.bayes_em import bayes_step, row_prior, settled
from unisono.maths.items.bayes_start import bayes_settings, bayes_start
from unisono.maths.items.item_data import ItemData, no_features, prepare
from unisono.maths.items.item_estep import expectation
from unisono.maths.items.item_params import Structure
from unisono.maths.items.item_priors import Priors


def crowd(seed: int, units: float, K: int = 12, M: int = 60, n: int = 5) -> tuple[ItemData, np.ndarray]:
    """Standardised answers on two dimensions, in units of the annotators' own (sd of their logarithms); truths."""
    rng = np.random.default_rng(seed)
    truth = rng.multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]], size=M)
    who = np.concatenate([rng.choice(K, n, replace=False) for _ in range(M)])
    item = np.repeat(np.arange(M), n)
    y = truth[item] * (1 + 0.2 * rng.normal(size=(K, 2)))[who] + 0.6 * rng.normal(size=(M * n, 2))
    y *= np.exp(units * rng.normal(size=K))[who, None]
    return prepare((y - y.mean(axis=0)) / y.std(axis=0), item, who, no_features(M), K), truth


def settings_of(data: ItemData) -> BayesSettings:
    return bayes_settings(data, Structure("gain"), Priors(), np.full(2, 1e-6))


def fitted(data: ItemData, settings: BayesSettings):
    start = bayes_start(data, settings)
    return run_em(lambda s: bayes_step(data, s, settings), start, stop_when=settled(1e-4), max_iter=300)


@pytest.mark.parametrize("units", [0.0, 0.9, 2.0])
def test_the_bound_never_falls_whatever_the_units(units):
    data, _ = crowd(1, units)
    state, trace = fitted(data, settings_of(data))
    assert np.diff(trace.objective).min() >= -1e-9 * np.abs(trace.objective).max()
    assert np.isfinite(state.mean).all()


def test_who_is_like_the_others_is_held_to_them_and_who_is_far_away_is_not():
    alike, apart = (fitted(data, settings_of(data))[0].hyper for data in (crowd(1, 0.0)[0], crowd(1, 1.5)[0]))
    assert np.abs(alike.hold - 1).max() < 0.25
    assert apart.hold.min() < 0.1
    far = np.abs(np.log(apart.r))
    assert apart.hold[np.argmax(far)] < apart.hold[np.argmin(far)]


def test_the_bound_is_highest_where_the_hold_leads():
    data, _ = crowd(2, 0.9)
    settings = settings_of(data)
    state, _ = fitted(data, settings)
    _, stats = expectation(data, state.params)

    def bound(hold):
        at = state._replace(hyper=state.hyper._replace(hold=hold))
        return lower_bound(data, stats, at, row_prior(data, at.hyper, settings), settings)

    for k in range(data.K):
        for factor in (0.9, 1.1):
            other = state.hyper.hold.copy()
            other[k] *= factor
            assert bound(other) < bound(state.hyper.hold)


def test_units_of_their_own_cost_little():
    """Of truths in units that differ by factors of ten, about as much is found as where units are common."""
    found = []
    for seed in range(4):
        data, truth = crowd(seed, 0.9)
        state, _ = fitted(data, settings_of(data))
        found.append([np.corrcoef(state.mean[:, d], truth[:, d])[0, 1] for d in range(2)])
    assert np.mean(found) > 0.958


@pytest.mark.parametrize(("K", "share"), [(3, 1 / 3), (4, 1 / 2), (10, 0.8)])
def test_few_annotators_are_held_closer_together(K, share):
    data, _ = crowd(0, 0.0, K=K, n=min(K, 4))
    settings = settings_of(data)
    assert settings.told_apart == pytest.approx(share)
    hyper = bayes_start(data, settings).hyper
    assert hyper.gain == pytest.approx(1 / (share * Priors().gain_variance))
    nu, _ = settings.noise_scale_prior(data, hyper.hold)
    np.testing.assert_allclose(nu, Priors().noise_numbers * 2 / min(share, 3 / 4))
    centers = settings.class_centers(np.array([1.0, 0.25]))
    np.testing.assert_allclose(centers[1, 0], CLASS_GAINS[0] * 0.5**share)


def test_two_are_equally_reliable_each_in_units_of_their_own():
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(60, 2))
    wide = np.array([1.0, 3.0])
    value = (truth[:, None] + 0.5 * rng.normal(size=(60, 2, 2))) * wide[:, None]
    item, who = np.divmod(np.arange(120), 2)
    data = prepare(value.reshape(120, 2) / 2.5, item, who, no_features(60), 2)
    settings = settings_of(data)
    np.testing.assert_allclose(settings.scales[1] / settings.scales[0], 9 ** (59 / 67), rtol=0.3)
    state, trace = fitted(data, settings)
    assert np.diff(trace.objective).min() >= -1e-9 * np.abs(trace.objective).max()
    np.testing.assert_allclose(state.hyper.r, settings.scales, rtol=1e-3)
    gain = np.einsum("kdd->kd", state.params.F)
    np.testing.assert_allclose(gain[1] / gain[0], np.sqrt(settings.scales[1] / settings.scales[0]), rtol=1e-3)
    alike = prepare(value.reshape(120, 2) / wide[who, None], item, who, no_features(60), 2)
    np.testing.assert_allclose(settings_of(alike).scales, 1, rtol=0.25)
    assert settings_of(crowd(0, 0.0, K=3, n=3)[0]).scales is None
