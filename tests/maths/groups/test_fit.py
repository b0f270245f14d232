"""Laws of a step: the bound rises, recentring leaves the likelihood alone."""

import numpy as np
import pytest

from group_cases import random_ratings, simulated_panel
from unisono.maths.groups.group_estep import expectation
from unisono.maths.groups.group_fit import (
    GroupState,
    assembled,
    fit_groups,
    group_step,
    recentred,
    start_hyper,
    start_params,
)
from unisono.maths.groups.group_mstep import GroupSettings
from unisono.maths.groups.group_priors import JUDGES, PEOPLE, REFERENCE, GroupPriors
from unisono.maths.items.item_data import no_features


def settings_for(data):
    priors = GroupPriors()
    G, D = data.G, data.D
    S0 = np.tile(0.4 * np.eye(D), (G, 1, 1))
    learned = np.arange(G) > 0
    kinds = (REFERENCE, *[JUDGES] * (G - 1))
    return GroupSettings(priors, 0.5 * np.eye(D), learned, kinds, S0, np.full((G, D), 0.6))


def start_for(data, settings):
    S = settings.S0 * settings.learned[:, None, None]
    hyper = start_hyper(data, settings.priors)
    params = start_params(data, hyper, settings.target, np.zeros((data.G, data.D)), S, settings.s_start)
    return GroupState(params, hyper, np.full((data.M, data.D), np.nan))


@pytest.mark.parametrize(("G", "covariates", "features"), [(1, 0, 0), (2, 0, 0), (3, 2, 2), (4, 0, 3)])
def test_group_bound_rises_at_every_step(G, covariates, features):
    rng = np.random.default_rng(G)
    missing = 0.3 if G % 2 else 0.0
    data, _ = random_ratings(rng, G, 2 * G + 4, 40, 3, missing, covariates=covariates, features=features)
    settings = settings_for(data)
    state, bounds = start_for(data, settings), []
    for _ in range(60):
        state, bound = group_step(data, state, settings)
        bounds.append(bound)
    rise = np.diff(bounds)
    assert (rise >= -1e-9 * np.abs(bounds[0])).all(), rise.min()
    assert np.isfinite(bounds).all()
    assert rise[0] > 1


def test_group_bound_rises_with_an_assumed_shared_error():
    """One group without a reference; its shared error is given, and stays."""
    data, _ = random_ratings(np.random.default_rng(5), 1, 6, 40, 3)
    settings = settings_for(data)
    state = start_for(data, settings)
    state = state._replace(params=state.params._replace(S=settings.S0))
    bounds = []
    for _ in range(40):
        state, bound = group_step(data, state, settings)
        bounds.append(bound)
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[0])).all()
    np.testing.assert_array_equal(state.params.S, settings.S0)


@pytest.mark.parametrize("gains", [False, True])
def test_recentring_changes_no_likelihood(gains):
    rng = np.random.default_rng(0)
    G = 1 if gains else 3
    data, _ = random_ratings(rng, G, 9, 30, 2, covariates=1)
    settings = settings_for(data)._replace(recentre_gains=gains)
    state = start_for(data, settings)
    for _ in range(3):
        state, _ = group_step(data, state, settings)
    moved = recentred(data, state.params, settings)
    before, after = (expectation(data, params) for params in (state.params, moved))
    np.testing.assert_allclose(after[1].loglik, before[1].loglik, rtol=1e-11)
    for g in range(G):
        own = data.members(g)
        gain, bias = moved.rows.mean[own, :, 0], moved.rows.mean[own, :, 1]
        weight = data.answers[own] * np.clip(state.params.rows.mean[own, :, 0], 0, 1)
        np.testing.assert_allclose((weight * bias).sum(axis=0), 0, atol=1e-10)
        if gains:
            np.testing.assert_allclose((weight * gain).sum(axis=0) / weight.sum(axis=0), 1)
    assert np.abs(after[0] - before[0]).max() > 1e-3


@pytest.mark.parametrize("level", [1.0, 2.0])
def test_people_at_another_level_do_not_blow_up_their_group(level):
    """Where the level of the reference is expected, t_g is not pushed out again after each step."""
    panel = simulated_panel(0, items=100, labels=10, judges=4, shared=0.1, gain=0.3, leak=0.0)
    value, item_of, annotator_of = panel.ratings
    value = value + level * (panel.group[annotator_of] > 0)[:, None]
    kinds = (REFERENCE, PEOPLE)
    given = value, item_of, annotator_of, panel.group, no_features(panel.M)
    start = assembled(*given, reference=True, kinds=kinds, priors=GroupPriors())
    state, trace = fit_groups(start.data, start.state, start.settings, tol=5e-4, max_iter=300)
    assert trace.converged
    assert np.abs(state.params.S[1]).max() < 1
    assert np.abs(state.params.A[1]).max() < 2
    own = start.data.members(1)
    weight = start.data.answers[own] * np.clip(state.params.rows.mean[own, :, 0], 0, 1)
    np.testing.assert_allclose((weight * state.params.rows.mean[own, :, 1]).sum(axis=0), 0, atol=1e-8)
