"""Flipped, unrelated, flat, late and drifting traces are found in simulated crowds; good ones left alone."""

import numpy as np
import pytest

from unisono.maths.series import trace_priors
from unisono.maths.series.trace_data import SeriesData
from unisono.maths.series.trace_em_fit import Settings
from unisono.maths.series.trace_frames import trace_shapes
from unisono.maths.series.trace_parts import HeldParts
from unisono.maths.series.tracer_diagnosis import KINDS, late_starts
from unisono.maths.series.tracer_fit import fit_two_scales
from unisono.maths.series.tracer_rows import Strata, noise_evidence, row_prior

RATE, T, M, K = 2.0, 240, 5, 6


def lasting(rng, memory):
    phi, x = np.exp(-1.0 / memory), np.zeros(T)
    for t in range(1, T):
        x[t] = phi * x[t - 1] + np.sqrt(1 - phi**2) * rng.standard_normal()
    return x


def spoiled(kind, seed):
    """Six annotators, the third of whom is of the kind."""
    rng = np.random.default_rng(seed)
    y = np.zeros((M, K, T))
    for m in range(M):
        truth = lasting(rng, 15.0)
        for k in range(K):
            y[m, k] = truth + 0.5 * lasting(rng, 4.0) + 0.2 * rng.standard_normal(T)
        own = y[m, 2]
        y[m, 2] = {
            "flipped": -own,
            "unrelated": lasting(rng, 15.0),
            "flat": np.full(T, 0.3),
            "late": np.where(np.arange(T) < 60, own[60], own),
            "drifting": own + np.linspace(-2, 2, T) * rng.choice([-1, 1]),
            "nothing": own,
        }[kind]
    data = SeriesData(
        y.reshape(-1, 1), np.repeat(np.arange(M), K), np.tile(np.arange(K), M), np.full(M, T), np.zeros((M * T, 0)), K
    )
    return data._replace(y=(data.y - data.y.mean()) / data.y.std())


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_found_and_good_annotators_are_left_alone(kind):
    found = np.stack(
        [fit_two_scales(spoiled(kind, seed), RATE, Settings(memory=30.0)).diagnosis[:, 0] for seed in range(4)]
    )
    at = KINDS.index(kind)
    assert (found[:, 2, at] > 0.9).mean() >= 0.75
    good = [0, 1, 3, 5]
    assert found[:, good].max() < 0.9
    assert found[:, good].mean() < 0.1


@pytest.mark.slow
def test_a_good_crowd_has_nothing():
    for seed in range(6):
        found = fit_two_scales(spoiled("nothing", seed), RATE, Settings(memory=30.0)).diagnosis[:, 0]
        assert found.max() < 0.9


@pytest.mark.parametrize(
    ("still", "missing", "late"), [(60, 0, True), (0, 60, False), (60, 60, True), (90, 150, False)]
)
def test_what_is_missing_at_the_start_is_no_waiting(still, missing, late):
    """The third of six waits `still` frames after the `missing` ones; where more are missing, others wait too."""
    rng = np.random.default_rng(3)
    y = np.stack([lasting(rng, 8.0) for _ in range(K)])
    if missing > still:
        y[:, missing : missing + still] = y[:, [missing]]
    y[2, missing : missing + still] = y[2, missing]
    y[2, :missing] = np.nan
    data = SeriesData(y.reshape(-1, 1), np.zeros(K, dtype=int), np.arange(K), np.full(1, T), np.zeros((T, 0)), K)
    (shapes,) = HeldParts(data).map(trace_shapes, (1.0,))[0]
    assert late_starts(shapes, RATE).tolist() == [False, False, late, False, False, False]


def test_the_evidence_of_noise_equals_the_integral():
    rng = np.random.default_rng(0)
    columns = [[0.5, 1.0], [40.0, 1.0], [1.0, 1.0], [1.0, 0.7], [33.0, 2.0], [0.0, 0.0], [0.0, 0.0]]
    strata = Strata(*(np.array(column) for column in columns))
    beta = np.linspace(-6, 6, 20001)
    mean, variance = rng.uniform(-0.5, 0.5), 0.4
    prior, A = row_prior(np.array([0.0, mean]), np.array([[0.2, 0.1], [0.1, variance]])), 0.7
    mean = np.log(A + np.exp(mean))
    cost = sum(
        w * (n * np.log(f * np.exp(beta)) + yy / (f * np.exp(beta)))
        for w, n, _, f, yy, _, _ in zip(*strata, strict=True)
    )
    usual = np.exp(-0.5 * (beta - mean) ** 2 / variance) / np.sqrt(2 * np.pi * variance)
    any_unit = 1.0 / np.sqrt(2 * np.pi * (2 * trace_priors.OWN_UNIT_SD) ** 2)
    density = np.exp(-0.5 * cost) * ((1 - trace_priors.OWN) * usual + trace_priors.OWN * any_unit)
    expected = np.log(np.sum(density) * (beta[1] - beta[0]))
    assert noise_evidence(strata, prior, A) == pytest.approx(expected, abs=0.02)  # Laplace, not exact
