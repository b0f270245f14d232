"""Scores of classes against scikit-learn, and calibration by hand."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics

from unisono.maths.metrics import BINS, SMALLEST, accuracy, calibration_error, log_loss, macro_f1


@pytest.mark.parametrize("seed", range(4))
def test_scores_equal_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(4), 50)
    truth, best = rng.integers(0, 4, 50), p.argmax(axis=1)
    assert accuracy(best, truth) == pytest.approx(metrics.accuracy_score(truth, best))
    assert macro_f1(best, truth, 4) == pytest.approx(metrics.f1_score(truth, best, average="macro"))
    assert log_loss(p, truth) == pytest.approx(metrics.log_loss(truth, p, labels=range(4)))


def test_classes_that_do_not_occur_do_not_count():
    assert macro_f1(np.array([0, 1]), np.array([0, 1]), 7) == 1.0


def test_a_class_thought_impossible_costs_much_and_not_everything():
    assert log_loss(np.array([[1.0, 0.0]]), np.array([1])) == pytest.approx(-np.log(SMALLEST))


def test_calibration_error_is_the_mean_distance_of_bins():
    sure = np.repeat([0.6, 0.9], 5 * BINS)
    right = np.concatenate([np.tile([1, 0], 5 * BINS // 2), np.ones(5 * BINS)])
    assert calibration_error(sure, right) == pytest.approx(0.5 * 0.1 + 0.5 * 0.1)


def test_nothing_to_score_is_undefined():
    nothing = np.zeros(0, dtype=int)
    assert np.isnan(
        [accuracy(nothing, nothing), macro_f1(nothing, nothing, 2), log_loss(np.zeros((0, 2)), nothing)]
    ).all()
    assert np.isnan(calibration_error(np.zeros(0), np.zeros(0)))
