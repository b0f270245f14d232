"""What labels teach: intervals that know how few they are, groups that are not believed."""

import numpy as np
import pytest

from group_cases import random_params, random_ratings, simulated_panel
from unisono.maths.groups.group_data import prepare_groups
from unisono.maths.groups.group_estep import expectation
from unisono.maths.groups.group_fit import assembled, fit_groups, moments, start_latent, start_noise
from unisono.maths.groups.group_labels import (
    as_people_say,
    effective_number,
    learn_from_labels,
    rated_by_the_same,
    shared_share,
    told,
    widened,
    without_labels,
)
from unisono.maths.groups.group_priors import ALIKE_ANSWERS, JUDGES, PEOPLE, REFERENCE, GroupPriors
from unisono.maths.items.item_data import no_features


def fitted(panel, **settings):
    default = {"reference": True, "kinds": (REFERENCE, JUDGES), "priors": GroupPriors()}
    start = assembled(*panel.ratings, panel.group, no_features(panel.M), **(default | settings))
    state, trace = fit_groups(start.data, start.state, start.settings, tol=1e-3, max_iter=300)
    assert trace.converged
    return start, state.params


def test_truths_without_labels_are_those_of_the_other_groups():
    rng = np.random.default_rng(0)
    data, (value, item_of, annotator_of, _) = random_ratings(rng, 3, 9, 20, 2)
    params = random_params(rng, 3, 9, 2)
    found = without_labels(data, params)
    judged = data.group[annotator_of] > 0
    rest = prepare_groups(value[judged], item_of[judged], annotator_of[judged], data.group, 3, no_features(20))
    np.testing.assert_allclose(found.mean, expectation(rest, params)[0], rtol=1e-9, atol=1e-10)
    labelled = np.isfinite(found.label).any(axis=1)
    assert (found.weight[labelled] > 0.01).all()
    np.testing.assert_allclose(found.weight[~labelled], 0, atol=1e-12)


def test_few_labels_widen_more_than_many():
    added = {}
    for labels in (10, 100):
        panel = simulated_panel(0, labels=labels)
        start, params = fitted(panel)
        learned = learn_from_labels(start.data, params, start.settings)
        assert learned.labelled == labels
        cov = widened(without_labels(start.data, params), params, learned)
        assert (np.linalg.eigvalsh(cov) > -1e-12).all()
        added[labels] = np.trace(cov, axis1=1, axis2=2).mean(), learned.freedom
    assert added[10][0] > 3 * added[100][0]
    assert added[10][1] < added[100][1]


def test_judges_who_foretell_nothing_are_not_believed():
    panel = simulated_panel(0, labels=40)
    start, params = fitted(panel)
    assert learn_from_labels(start.data, params, start.settings).belief == 1
    shuffled = panel.with_judges_shuffled(1)
    start, params = fitted(shuffled)
    learned = learn_from_labels(start.data, params, start.settings)
    assert learned.belief < 0.3
    assert np.nanmean(learned.foretold) < 0.1


def test_people_who_foretell_nothing_are_not_believed_either():
    like_people = {"kinds": (REFERENCE, PEOPLE._replace(shared=0.02))}
    for seed in range(3):
        panel = simulated_panel(seed, labels=30)
        start, params = fitted(panel, **like_people)
        assert learn_from_labels(start.data, params, start.settings).belief == 1
        start, params = fitted(panel.with_judges_shuffled(1), **like_people)
        people = learn_from_labels(start.data, params, start.settings)
        assert people.belief < 0.3
        # What is expected of them narrows intervals, and does not speak for them when they are judged.
        judges = learn_from_labels(start.data, params, start.settings._replace(kinds=(REFERENCE, JUDGES)))
        assert people.spent < judges.spent
        np.testing.assert_allclose(people.foretold, judges.foretold)


def test_without_belief_what_is_left_are_the_labels():
    panel = simulated_panel(0, labels=40)
    start, params = fitted(panel.with_judges_shuffled(1))
    learned = learn_from_labels(start.data, params, start.settings)
    mean, cov = told(start.data, params, learned._replace(foretold=np.zeros(2)))
    labelled = np.isfinite(without_labels(start.data, params).label).any(axis=1)
    np.testing.assert_allclose(mean[~labelled], np.tile(learned.mu, (np.sum(~labelled), 1)))
    np.testing.assert_allclose(cov[~labelled][0], learned.Sigma * (1 + 1 / 40))
    assert np.ptp(mean[labelled][:, 0]) > 0.5
    believed, _ = told(start.data, params, learned._replace(foretold=learned.reliable))
    assert np.ptp(believed[~labelled][:, 0]) > 0.1


def test_the_fewer_labels_the_less_they_can_say_against_judges():
    beliefs = []
    for labels in (3, 6, 12):
        panel = simulated_panel(0, labels=labels).with_judges_shuffled(1)
        start, params = fitted(panel)
        learned = learn_from_labels(start.data, params, start.settings)
        enough = min(labels / 15, 1) * min(labels * 2 / 30, 1)
        assert learned._replace(foretold=np.zeros(2)).belief == pytest.approx(1 - enough)
        assert learned._replace(foretold=learned.reliable / 2).belief == 1
        beliefs.append(learned._replace(foretold=0.15 * learned.reliable).belief)
    np.testing.assert_allclose(beliefs, [0.98, 0.92, 0.68])


def test_labels_full_of_noise_leave_less_to_foretell():
    reliable = []
    for noise in (0.4, 1.5):
        start, params = fitted(simulated_panel(0, labels=60, noise=noise))
        reliable.append(learn_from_labels(start.data, params, start.settings).reliable)
        assert (abs(reliable[-1] - 1 / (1 + noise**2 / 2)) < 0.15).all()
    assert (reliable[0] > reliable[1] + 0.2).all()


@pytest.mark.parametrize("share", [0.0, 0.6])
def test_the_shared_error_is_found_from_labels(share):
    found = []
    for seed in range(3):
        panel = simulated_panel(seed, items=400, labels=400, shared=share)
        start, params = fitted(panel)
        own = start.data.members(1)
        found.append(shared_share(params.S[1], params.noise(start.data.group)[own]).mean())
    assert abs(np.mean(found) - share) < 0.15


def test_a_panel_that_shares_its_errors_is_worth_few():
    np.testing.assert_allclose(effective_number(6, np.array([0.0, 0.3, 1.0])), [6, 6 / 2.5, 1])
    noise, S = np.full((6, 2), 0.7), np.diag([0.3, 0.0])
    np.testing.assert_allclose(shared_share(S, noise), [0.3, 0])


def test_moments_at_the_start_are_those_of_an_analysis_of_variance():
    rng = np.random.default_rng(0)
    M, K = 2000, 5
    truth, bias = rng.normal(size=M), rng.normal(size=K)
    value = (truth[:, None] + bias + 0.5 * rng.normal(size=(M, K))).reshape(-1, 1)
    found = moments(value, np.repeat(np.arange(M), K), np.tile(np.arange(K), M))
    np.testing.assert_allclose(found.within, 0.25, rtol=0.05)
    np.testing.assert_allclose(found.between, 1.0, rtol=0.1)
    alone = moments(value[::K], np.arange(M), np.zeros(M, dtype=int))
    assert np.isnan(alone.within).all()


def test_variances_of_few_labels_are_drawn_to_the_mean_over_dimensions():
    rng = np.random.default_rng(0)
    sd = np.array([0.1, 1.0])
    spread = {}
    for M in (10, 1000):
        value = (sd * (rng.normal(size=(M, 2)) + 0 * sd))[:, None] + 0.5 * sd * rng.normal(size=(M, 2, 2))
        found = moments(value.reshape(-1, 2), np.repeat(np.arange(M), 2), np.tile([0, 1], M))
        within, drawn = found.within, start_noise([found])[0]
        typical, freedom = within.mean(), found.freedom
        np.testing.assert_allclose(
            drawn[1], (freedom[1] * within[1] + ALIKE_ANSWERS * typical) / (freedom[1] + ALIKE_ANSWERS)
        )
        latent = np.diagonal(start_latent([found], M))
        spread[M] = latent[1] / latent[0]
        assert (latent > 0).all()
    assert spread[10] < 5 < spread[1000]


def test_without_reference_the_assumed_share_is_kept():
    panel = simulated_panel(0, labels=0)
    for share in (0.1, 0.5):
        kinds = (JUDGES._replace(shared=share),)
        only = panel.judges_alone()
        start, params = fitted(only, reference=False, kinds=kinds)
        found = shared_share(params.S[0], params.noise(start.data.group))
        np.testing.assert_allclose(found, share, rtol=1e-6)
        gain = params.rows.mean[:, :, 0]
        np.testing.assert_allclose(gain.mean(axis=0), 1, atol=0.02)


def test_truths_rated_by_the_same_people_are_their_means():
    rng = np.random.default_rng(3)
    D, M, people = 2, 40, 3
    rows = [(m, k) for m in range(M) for k in range(5) if not (m == 7 and k == 1)]
    item_of, annotator_of = (np.array(part) for part in zip(*rows, strict=True))
    group = np.repeat([0, 1], [people, 2])
    value, x = rng.normal(size=(len(rows), D)), rng.normal(size=(len(rows), 1))
    data = prepare_groups(value, item_of, annotator_of, group, 2, no_features(M), x)
    params = random_params(rng, 2, 5, D, X=2)
    assert rated_by_the_same(data).all()
    before = rng.normal(size=(M, D)), np.tile(np.eye(D), (M, 1, 1))
    mean, cov = as_people_say(data, params, np.array([True, False]), *before)
    b, effect = params.rows.mean[:people, 0, 1], params.rows.mean[:people, 0, 2]
    noise = params.noise(data.group)[:people, 0]
    for m in range(M):
        at = np.flatnonzero((item_of == m) & (annotator_of < people))
        who = annotator_of[at]
        left = value[at, 0] - (b - b.mean())[who] - effect[who] * x[at, 0]
        assert mean[m, 0] == pytest.approx(left.mean(), abs=1e-12)
        assert cov[m, 0, 0] == pytest.approx(noise[who].sum() / len(at) ** 2, rel=1e-12)
    np.testing.assert_array_equal(mean[:, 1], before[0][:, 1])
    np.testing.assert_array_equal(cov[:, 1, 1], 1.0)
    np.testing.assert_array_equal(cov[:, 0, 1], 0.0)
    some = annotator_of[:] >= people
    some |= item_of < M // 2
    half = prepare_groups(value[some], item_of[some], annotator_of[some], group, 2, no_features(M))
    assert not rated_by_the_same(half).any()
