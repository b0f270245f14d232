"""How slowly the truth is taken to change: what left-out annotators say of it, and what comes of it."""

import numpy as np
import pytest

from reference.dense_tracers import left_out_fit
from trace_crowds import crowd, lasting
from unisono.maths.series import trace_priors
from unisono.maths.series.delays_and_memory import left_out_fits, smoothed, truth_memory
from unisono.maths.series.trace_data import SeriesData
from unisono.maths.series.trace_em_fit import Settings
from unisono.maths.series.trace_frames import Hands, placed
from unisono.maths.series.trace_parts import HeldParts, two_scales
from unisono.maths.series.tracer_climb import sweep
from unisono.maths.series.tracer_fit import fit_two_scales
from unisono.maths.series.tracer_rows import first_tracers, hands_of

RATE = 10.0


def steady_crowd(seed, memory, error_memory, K=6, T=3000):
    """One recording of a truth with this memory, and errors with theirs, in seconds; 0: new in every frame."""
    rng = np.random.default_rng(seed)
    truth = lasting(rng, T, memory * RATE)
    errors = [lasting(rng, T, error_memory * RATE) if error_memory else rng.standard_normal(T) for _ in range(K)]
    y = np.concatenate([truth + error for error in errors])[:, None]
    data = SeriesData(y / y.std(), np.zeros(K, int), np.arange(K), np.array([T]), np.zeros((T, 0)), K)
    return data, truth


def fitted(data, memory=None):
    return fit_two_scales(data, RATE, Settings(memory=memory, window=0.0))


def memory_of(fit):
    return -1.0 / (RATE * np.log(fit.params.phi))


def known_hands(data, lag):
    """Parts, and scales and rows of every dimension after a few sweeps."""
    ones, parts = np.ones(data.K), HeldParts(data, rows=300)
    scales = two_scales(parts, data.K, data.D)
    places = placed(parts, tuple(Hands(one.unit, one.flat, lag, ones, ones, 1.0) for one in scales))
    rows = [first_tracers(one, place) for one, place in zip(scales, places, strict=True)]
    for _ in range(3):
        rows = [sweep(one, place, 0.05, now) for one, place, now in zip(scales, places, rows, strict=True)]
    return parts, scales, rows


def two_dimensions():
    """Traces on two dimensions with gaps; a recording that two annotators rated, another that one did."""
    one, other = crowd(0, turned=(1,))[0], crowd(1)[0]
    y = np.concatenate([one.y, other.y], axis=1)
    judgement = np.repeat(np.arange(len(one.item_of)), one.length[one.item_of])
    y[np.isin(judgement, [5, 6, 8])] = np.nan  # of the second recording, two annotators remain
    y[np.isin(judgement, [11, 12, 13]), 1] = np.nan
    return one._replace(y=y)


@pytest.mark.parametrize("lag", [[0, 0, 0, 0, 0], [2, 0, 1, 5, 3]])
def test_what_left_out_annotators_say_equals_the_dense_reference(lag):
    data, lag, phi = two_dimensions(), np.array(lag), np.array([0.5, 0.98])
    parts, scales, rows = known_hands(data, lag)
    assert len(parts.parts) > 1
    hands = tuple(hands_of(one, now, lag) for one, now in zip(scales, rows, strict=True))
    found = np.sum(parts.map(left_out_fits, hands, phi), axis=0)
    for d, (one, now) in enumerate(zip(scales, rows, strict=True)):
        own = data._replace(y=data.y[:, [d]])
        dense = np.array([left_out_fit(own, one, now, lag, one_phi) for one_phi in phi.tolist()]).T
        np.testing.assert_allclose(found[:, d], dense, rtol=1e-8)


@pytest.mark.parametrize("kappa", [[0.4, 0.1], [0.02, 0.3]])
@pytest.mark.parametrize("turned", [False, True])
def test_the_memory_is_the_mean_of_its_logarithm_over_octaves(kappa, turned):
    data, lag = two_dimensions(), np.zeros(5, dtype=int)
    parts, scales, rows = known_hands(data, lag)
    if turned:  # annotators who contradict each other say nothing of how far to smooth
        rows[0] = rows[0]._replace(sign=np.array([1.0, -1.0, 1.0, -1.0, -1.0]))
    hands = tuple(hands_of(one, now, lag) for one, now in zip(scales, rows, strict=True))
    weight, logarithm = [], []
    for octave in range(-5, 7):
        memory, log = 60.0 * 2.0**octave, -0.5 * (octave * np.log(2.0)) ** 2
        for d, (one, now) in enumerate(zip(scales, rows, strict=True)):
            own = data._replace(y=data.y[:, [d]])
            cross, square = left_out_fit(own, one, now, lag, np.exp(-1.0 / (RATE * memory)))
            log += 0.5 * kappa[d] * max(cross, 0.0) ** 2 / square
            assert d == 1 or (cross < 0) == turned
        weight.append(np.exp(log))
        logarithm.append(np.log(memory))
    expected = np.exp(np.average(logarithm, weights=weight))
    assert truth_memory(parts, hands, np.array(kappa), RATE) == pytest.approx(expected, rel=1e-8)


def test_a_single_frame_is_drawn_to_the_mean_as_any_other():
    assert smoothed(np.array([2.0]), np.array([3.0]), 0.5, 0.9) == pytest.approx(3.0 / (2.0 + 1.0 / 0.5))
    Q, S, time = np.array([2.0, 0.0, 1.0]), np.array([3.0, 0.0, -1.0]), np.arange(3)
    prior = 0.5 * 0.9 ** np.abs(np.subtract.outer(time, time))
    dense = np.linalg.solve(np.linalg.inv(prior) + np.diag(Q), S)
    np.testing.assert_allclose(smoothed(Q, S, 0.5, 0.9), dense, rtol=1e-10)


def test_a_slow_truth_is_taken_for_slow_and_a_fast_one_for_fast():
    fast, slow = (memory_of(fitted(steady_crowd(0, memory, 0.0)[0])) for memory in (2.0, 100.0))
    assert fast < 8.0
    assert slow > 40.0


def test_errors_that_last_are_smoothed_away():
    """As far as the best of fixed memories does it, which is far from where white errors would have it."""
    for seed in range(2):
        data, truth = steady_crowd(seed, 100.0, 0.5)
        learned = fitted(data)
        r = {m: np.corrcoef(fitted(data, m).mean[:, 0], truth)[0, 1] for m in (30.0, 100.0, 500.0, 2000.0)}
        assert memory_of(learned) > 300.0
        assert np.corrcoef(learned.mean[:, 0], truth)[0, 1] > max(r.values()) - 0.002
        assert max(r.values()) > r[100.0] + 0.005


def test_one_annotator_leaves_what_is_usual_and_a_memory_that_is_given_is_kept():
    data, _ = steady_crowd(0, 10.0, 0.5, K=1, T=200)
    parts = HeldParts(data)
    hands = Hands(1.0, np.zeros(1, bool), np.zeros(1, int), np.ones(1), np.ones(1), 1.0)
    assert truth_memory(parts, (hands,), np.ones(1), RATE) == pytest.approx(trace_priors.MEMORY, rel=0.2)
    data, _ = steady_crowd(0, 10.0, 0.5, T=300)
    assert memory_of(fitted(data, 17.0)) == pytest.approx(17.0)


def test_recordings_of_one_frame_say_nothing():
    data = SeriesData(np.arange(3.0)[:, None], np.zeros(3, int), np.arange(3), np.array([1]), np.zeros((1, 0)), 3)
    hands = Hands(1.0, np.zeros(3, bool), np.zeros(3, int), np.ones(3), np.ones(3), 1.0)
    found = HeldParts(data).map(left_out_fits, (hands,), np.array([0.5]))[0]
    assert np.array_equal(found, np.zeros((2, 1, 1)))
