"""Latent classes of annotators: their place in the bound, and q(z) where it is highest."""

import numpy as np
import pytest
from scipy.stats import norm

from benchmarks.planted_crowds import planted_crowd
from item_cases import data_of
from unisono.maths.em_loop import run_em
from unisono.maths.items.annotator_rows import (
    CLASS_GAINS,
    CLASSES,
    FLIPPED_CLASS,
    SPAMMER_CLASS,
    USUAL_CLASS,
    class_centers,
    class_term,
    expected_gain,
    gain_variance,
    update_classes,
    usual_classes,
)
from unisono.maths.items.bayes_bound import lower_bound
from unisono.maths.items.bayes_em import bayes_step, row_prior, settled
from unisono.maths.items.bayes_start import bayes_settings, bayes_start
from unisono.maths.items.item_estep import expectation
from unisono.maths.items.item_params import Structure
from unisono.maths.items.item_priors import SPAMMER_GAIN, Priors
from unisono.maths.raters.rater_diagnosis import class_priors, diagnose


def random_classes(seed, K=4, D=3):
    rng = np.random.default_rng(seed)
    prior, q = (rng.dirichlet(np.ones(len(CLASSES)), size=(K, D)) for _ in range(2))
    centers = class_centers(np.exp(0.6 * rng.normal(size=K)))
    return prior, q, rng.normal(0.6, 0.5, size=(K, D)), centers, rng.uniform(5, 60, size=K)


def written_out(prior, q, gains, centers, precision):
    """E[log p(F, z)] + H[q(z)] class by class, with gains known for sure."""
    total = 0.0
    for k, d, z in np.ndindex(*q.shape):
        log_density = norm.logpdf(gains[k, d], centers[k, z], 1 / np.sqrt(precision[k]))
        total += q[k, d, z] * (np.log(prior[k, d, z]) + log_density - np.log(q[k, d, z]))
    return total


@pytest.mark.parametrize("seed", range(3))
def test_the_term_is_what_a_prior_around_the_expected_gain_leaves_out(seed):
    prior, q, gains, centers, precision = random_classes(seed)
    around = norm.logpdf(gains, expected_gain(q, centers), 1 / np.sqrt(precision[:, None])).sum()
    whole = written_out(prior, q, gains, centers, precision)
    np.testing.assert_allclose(around + class_term(q, prior, centers, precision), whole, rtol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_the_update_is_bayes_rule_and_nothing_is_higher(seed):
    prior, q, gains, centers, precision = random_classes(seed)
    found = update_classes(prior, gains, centers, precision)
    odds = prior * norm.pdf(gains[:, :, None], centers[:, None, :], 1 / np.sqrt(precision[:, None, None]))
    np.testing.assert_allclose(found, odds / odds.sum(axis=2, keepdims=True), rtol=1e-8)
    best = written_out(prior, found, gains, centers, precision)
    for share in (1e-3, 0.1, 1.0):
        assert written_out(prior, (1 - share) * found + share * q, gains, centers, precision) < best


def test_moments_of_the_centers():
    _, q, _, centers, _ = random_classes(7)
    second = expected_gain(q, centers**2)
    np.testing.assert_allclose(gain_variance(q, centers), second - expected_gain(q, centers) ** 2, atol=1e-12)
    usual, typical, precision = usual_classes(2, 3), class_centers(np.ones(2)), np.full(2, 50.0)
    assert (expected_gain(usual) == 1).all()
    assert (gain_variance(usual, typical) == 0).all()
    # Who is usual for sure remains so, whatever the gains.
    np.testing.assert_array_equal(update_classes(usual, -np.ones((2, 3)), typical, precision), usual)
    assert class_term(usual, usual, typical, precision) == 0.0


def test_gains_are_as_small_as_errors_but_not_those_of_spammers():
    centers = class_centers(np.array([1.0, 0.16]))
    np.testing.assert_allclose(centers[0], CLASS_GAINS)
    assert centers[1, USUAL_CLASS] == pytest.approx(0.4)
    assert centers[1, FLIPPED_CLASS] == pytest.approx(-0.4)
    assert centers[1, SPAMMER_CLASS] == SPAMMER_GAIN


def planted_fit(priors):
    crowd = planted_crowd(3, {"spammer": 0.2, "flipped": 0.1, "compressed": 0.2}, noise=0.8)
    data = data_of(crowd.value, crowd.item_of, crowd.annotator_of)
    found = diagnose(crowd.value, crowd.item_of, crowd.annotator_of, crowd.K)
    classes = class_priors(found, np.bincount(crowd.annotator_of, minlength=crowd.K).astype(float))
    return crowd, data, bayes_settings(data, Structure("gain"), priors, np.full(2, 1e-6), classes=classes)


def test_the_bound_is_highest_where_the_update_leads():
    _, data, settings = planted_fit(Priors())
    state = bayes_start(data, settings)
    for _ in range(3):
        state, _ = bayes_step(data, state, settings)
    _, stats = expectation(data, state.params)

    def bound(classes):
        at = state._replace(hyper=state.hyper._replace(classes=classes))
        return lower_bound(data, stats, at, row_prior(data, at.hyper, settings), settings)

    gains, centers = np.einsum("kdd->kd", state.params.F), settings.class_centers(state.hyper.r)
    precision = state.hyper.gain * state.hyper.hold
    best = update_classes(settings.classes, gains, centers, precision)
    for share in (1e-3, 0.1, 0.9):
        assert bound((1 - share) * best + share * settings.classes) < bound(best)
        assert bound((1 - share) * best + share / len(CLASSES)) < bound(best)


@pytest.mark.parametrize("estimated", [False, True])
def test_the_fit_goes_on_where_the_diagnosis_ended(estimated):
    crowd, data, settings = planted_fit(Priors(estimated=estimated))
    start = bayes_start(data, settings)
    state, trace = run_em(lambda s: bayes_step(data, s, settings), start, stop_when=settled(1e-4), max_iter=200)
    assert trace.largest_fall == 0.0
    before, after = start.hyper.classes, state.hyper.classes
    assert np.abs(after - before).max() > 0.1
    if estimated:  # gains that spread widely tell classes less well
        return
    planted = np.where((crowd.kind == "spammer")[:, None], SPAMMER_CLASS, USUAL_CLASS)
    planted = np.where(crowd.flipped, FLIPPED_CLASS, planted)
    right = [np.take_along_axis(q, planted[:, :, None], 2).mean() for q in (before, after)]
    assert right[1] > right[0] > 0.8
