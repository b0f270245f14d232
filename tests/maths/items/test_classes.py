"""Latent classes of annotators, and their place in the bound."""

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
    usual_classes,
)
from unisono.maths.items.bayes_em import bayes_step, settled
from unisono.maths.items.bayes_start import bayes_settings, bayes_start
from unisono.maths.items.item_params import Structure
from unisono.maths.items.item_priors import SPAMMER_GAIN, Priors
from unisono.maths.raters.rater_diagnosis import class_priors, diagnose


def random_classes(seed, K=4, D=3):
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.ones(len(CLASSES)), size=(K, D))
    centers = class_centers(np.exp(0.6 * rng.normal(size=K)))
    return q, rng.normal(0.6, 0.5, size=(K, D)), centers, rng.uniform(5, 60, size=K)


def written_out(q, gains, centers, precision):
    """E[log p(F | z)] class by class, with gains known for sure."""
    total = 0.0
    for k, d, z in np.ndindex(*q.shape):
        log_density = norm.logpdf(gains[k, d], centers[k, z], 1 / np.sqrt(precision[k]))
        total += q[k, d, z] * log_density
    return total


@pytest.mark.parametrize("seed", range(3))
def test_the_term_is_what_a_prior_around_the_expected_gain_leaves_out(seed):
    q, gains, centers, precision = random_classes(seed)
    around = norm.logpdf(gains, expected_gain(q, centers), 1 / np.sqrt(precision[:, None])).sum()
    whole = written_out(q, gains, centers, precision)
    np.testing.assert_allclose(around + class_term(q, centers, precision), whole, rtol=1e-10)


def test_moments_of_the_centers():
    q, _, centers, _ = random_classes(7)
    second = expected_gain(q, centers**2)
    np.testing.assert_allclose(gain_variance(q, centers), second - expected_gain(q, centers) ** 2, atol=1e-12)
    usual, typical, precision = usual_classes(2, 3), class_centers(np.ones(2)), np.full(2, 50.0)
    assert (expected_gain(usual) == 1).all()
    assert (gain_variance(usual, typical) == 0).all()
    assert class_term(usual, typical, precision) == 0.0


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


@pytest.mark.parametrize("estimated", [False, True])
def test_classes_are_what_the_diagnosis_made_of_the_answers(estimated):
    crowd, data, settings = planted_fit(Priors(estimated=estimated))
    start = bayes_start(data, settings)
    state, trace = run_em(lambda s: bayes_step(data, s, settings), start, stop_when=settled(1e-4), max_iter=200)
    assert trace.largest_fall == 0.0
    np.testing.assert_array_equal(state.hyper.classes, settings.classes)
    planted = np.where((crowd.kind == "spammer")[:, None], SPAMMER_CLASS, USUAL_CLASS)
    planted = np.where(crowd.flipped, FLIPPED_CLASS, planted)
    assert np.take_along_axis(state.hyper.classes, planted[:, :, None], 2).mean() > 0.8
