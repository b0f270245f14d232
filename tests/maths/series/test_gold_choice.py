"""What gold is good for: filters where they are clearly better, scale and level elsewhere."""

import numpy as np
import pytest

from series_cases import rotated
from unisono.maths.gold_slope import slope_on
from unisono.maths.series.trace_data import SeriesData
from unisono.maths.series.trace_gold import (
    FRAMES_PER_TAP,
    calibration,
    choose_taps,
    delay_by_gold,
    frame_slope,
    gold_slopes,
)


def gold_of(truth, frames):
    gold = np.full_like(truth, np.nan)
    gold[:frames] = truth[:frames]
    return gold


def test_filters_where_annotators_mix_the_dimensions():
    data, truth = rotated()
    assert choose_taps(data, gold_of(truth, 150), 1.0) == 150 // (FRAMES_PER_TAP * 2)
    assert choose_taps(data, gold_of(truth, 12), 1.0) == 0  # too few frames for a single tap


def test_scale_alone_where_annotators_answer_the_truth():
    rng = np.random.default_rng(0)
    truth = np.cumsum(rng.standard_normal((400, 2)), axis=0)
    y = np.concatenate([truth + 0.3 * rng.standard_normal(truth.shape) for _ in range(4)])
    data = SeriesData(y, np.zeros(4, int), np.arange(4), np.array([400]), np.zeros((400, 0)), 4)
    assert choose_taps(data, gold_of(2 * truth + 5, 80), 1.0) == 0


def test_calibration_follows_gold_as_far_as_there_is_some():
    mean = np.random.default_rng(1).standard_normal((1000, 1))
    factor, offset = calibration(mean, 3 * mean + 2, mean)
    np.testing.assert_allclose((factor[0], offset[0]), (3, 2), rtol=0.01)
    some = np.where(np.arange(1000)[:, None] < 10, 2.5 * mean + 2, np.nan)
    factor, offset = calibration(mean, some, mean)
    assert 2.0 < factor[0] < 2.45  # ten frames without doubt against one
    assert 1 < offset[0] < 2
    assert calibration(mean, np.full_like(mean, np.nan), mean) == (1.0, 0.0)


def test_gold_that_says_something_else_leaves_the_scale_alone():
    rng = np.random.default_rng(2)
    mean = rng.standard_normal((1000, 1))
    assert calibration(mean, -3 * mean, mean)[0] == pytest.approx(-3, rel=0.01)  # most traced the other way round
    unrelated = [calibration(mean, 5 * rng.standard_normal((1000, 1)), mean)[0][0] for _ in range(20)]
    assert np.median(unrelated) < 1.1
    assert calibration(mean, np.full_like(mean, 4.0), mean)[0] == 1


def test_frames_that_go_together_count_as_few():
    rng = np.random.default_rng(4)
    mean, drift = rng.standard_normal((1000, 1)), np.cumsum(rng.standard_normal((1000, 1)), axis=0) / 10
    noise = np.std(drift) * rng.standard_normal((1000, 1)) + drift.mean()
    shifts = []
    for away in (noise, drift):
        gold = np.where(np.arange(1000)[:, None] < 200, mean + 2 + away, np.nan)
        factor, offset = calibration(mean, gold, mean)
        known = ~np.isnan(gold)
        shifts.append((factor * mean[known] + offset).mean() / gold[known].mean())
    assert shifts[0] > 0.98
    assert shifts[1] < 0.9


def test_the_delay_is_that_at_which_truth_and_gold_agree_best():
    rng = np.random.default_rng(3)
    walk = np.cumsum(rng.standard_normal((600, 2)), axis=0)
    gold = np.full_like(walk, np.nan)
    gold[50:250] = walk[50:250]
    behind = np.concatenate([walk[[0] * 4], walk[:-4]])
    length = np.array([300, 300])
    assert delay_by_gold(behind, gold, length, 10) == 4
    assert delay_by_gold(walk, gold, length, 10) == 0
    assert delay_by_gold(behind, gold, length, 3) == 0  # the best delay is the last one tried: there may be better ones
    assert delay_by_gold(rng.standard_normal((600, 2)), gold, length, 10) == 0


def test_gold_turns_a_truth_that_runs_against_it_and_only_then():
    rng = np.random.default_rng(0)
    signal = np.cumsum(rng.standard_normal((400, 3)), axis=0)
    mean = signal + 0.3 * rng.standard_normal(signal.shape)
    gold = np.stack([2 * signal[:, 0] + 1, 5 - 3 * signal[:, 1], rng.standard_normal(400)], axis=1)
    factor, offset = calibration(mean, gold, mean)
    assert np.array_equal(np.sign(factor), [1, -1, 1])
    np.testing.assert_allclose((mean * factor + offset)[:, 1], gold[:, 1], atol=0.4 * gold[:, 1].std())


def test_no_filter_is_learned_from_a_constant():
    data, truth = rotated()
    gold = gold_of(truth, 150)
    gold[:150, 1] = 3.0
    assert choose_taps(data, gold, 1.0) == 0


@pytest.mark.parametrize(("late", "factor"), [(0, 1.0), (4, 1.0), (4, -1.0), (4, 0.01), (-3, 1.0)])
def test_the_slope_of_gold_is_that_at_the_delay_at_which_the_two_go_together_best(late, factor):
    rng = np.random.default_rng(5)
    wave = np.sin(np.arange(700)[:, None] / np.array([3.0, 4.0])) + 0.3 * rng.standard_normal((700, 2))
    mean, gold = wave[50 - late : 650 - late], np.full((600, 2), np.nan)
    gold[40:260] = factor * wave[90:310]
    length = np.array([300, 300])
    found = gold_slopes(mean, gold, length, 10)
    np.testing.assert_allclose([slope.value for slope in found], factor, rtol=1e-9)
    assert [slope.upside_down for slope in found] == [factor < 0] * 2
    assert [slope.other_unit for slope in found] == [factor == 0.01] * 2


def test_frames_that_go_together_prove_little():
    rng = np.random.default_rng(6)
    walks = [np.cumsum(rng.standard_normal((2, 300)), axis=1) for _ in range(100)]
    refuted = [frame_slope(x, g).refuted for x, g in walks]
    assert np.mean(refuted) < 0.1  # as independent frames, two thirds would be
    assert np.mean([slope_on(x, g).upside_down for x, g in walks]) > 0.3
