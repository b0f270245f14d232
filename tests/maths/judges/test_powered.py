"""Prediction-powered means: right on average, intervals that hold, with useless and with biased predictions."""

import numpy as np
import pytest
from scipy import stats

from unisono.maths.groups.judge_tests import difference, powered_means, prediction_weight

N, S, LABELLED = 120, 3, 15  # prompts, systems, labels per system
MEANS = np.array([0.0, 0.3, -0.2])


def drawn(rng, *, quality, bias=(0.0, 0.0, 0.0), paired=True):
    """One item per prompt and system; prompts are hard or easy for all systems."""
    prompt, system = np.repeat(np.arange(N), S), np.tile(np.arange(S), N)
    truth = MEANS[system] + 0.7 * rng.normal(size=N)[prompt] + 0.7 * rng.normal(size=N * S)
    prediction = quality * truth + np.asarray(bias)[system] + np.sqrt(1 - quality**2) * rng.normal(size=N * S)
    label = np.full(N * S, np.nan)
    same = rng.permutation(N)[:LABELLED]
    for s in range(S):
        at = same if paired else rng.permutation(N)[:LABELLED]
        label[at * S + s] = truth[at * S + s] + 0.5 * rng.normal(size=LABELLED)
    return label, prediction, system, prompt


def covered(draws, **world):
    """How often 90 % intervals of the means and of a difference hold, and the errors of labels alone and powered."""
    rng = np.random.default_rng(0)
    inside, errors = [], []
    for _ in range(draws):
        label, prediction, system, prompt = drawn(rng, **world)
        found = powered_means(label, prediction, system, S, prompt)
        half = stats.t.ppf(0.95, found.freedom) * np.sqrt(np.diagonal(found.cov))
        gap = difference(found, 1, 2)
        reach = stats.t.ppf(0.95, gap.freedom) * gap.sd
        inside.append([*(np.abs(found.mean - MEANS) <= half), abs(gap.mean - 0.5) <= reach])
        errors.append([found.mean - MEANS, found.labels_mean - MEANS])
    return np.mean(inside, axis=0), np.array(errors)


@pytest.mark.parametrize(
    ("quality", "bias"), [(0.9, (0, 0, 0)), (0.0, (0, 0, 0)), (0.7, (0, -1.5, 0)), (0.0, (0, 2.0, 0))]
)
@pytest.mark.parametrize("paired", [True, False])
def test_powered_intervals_hold_whatever_the_predictions_are(quality, bias, paired):
    inside, errors = covered(400, quality=quality, bias=bias, paired=paired)
    assert (inside > 0.85).all(), inside
    assert (inside < 0.96).all(), inside
    assert (np.abs(errors[:, 0].mean(axis=0)) < 0.05).all()


def test_good_predictions_help_and_useless_ones_do_no_harm():
    good, useless = covered(200, quality=0.95)[1], covered(200, quality=0.0)[1]
    squares = [(errors**2).mean(axis=(0, 2)) for errors in (good, useless)]
    assert squares[0][0] < 0.7 * squares[0][1]
    assert squares[1][0] < 1.05 * squares[1][1]


def test_a_powered_mean_is_the_formula():
    label = np.array([1.0, 3.0, np.nan, np.nan, 2.0, np.nan])
    prediction = np.array([1.0, 2.0, 3.0, 4.0, 0.0, 1.0])
    system = np.array([0, 0, 0, 0, 1, 1])
    weight = prediction_weight(label, prediction, system, 2)
    assert weight == 1.0  # 2 by regression, believed once
    found = powered_means(label, prediction, system, 3, np.arange(6))
    np.testing.assert_allclose(found.mean, [2 - (1.5 - 2.5), 2 - (0 - 0.5), np.nan])
    h = np.array([0.0, 1.0])  # h - f of the labelled
    u = (prediction[:4] - 2.5) / 4
    u[:2] += np.sqrt(2) * (h - 0.5) / 2
    np.testing.assert_allclose(found.cov[0, 0], (u**2).sum())
    assert np.isnan(found.cov[1, 1])
    assert found.labelled.tolist() == [2, 1, 0]
