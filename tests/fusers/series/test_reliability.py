"""Reliability of fused traces: the squared correlation with the truth, which made crowds know."""

import numpy as np
import pandas as pd
import pytest

import unisono as un
from trace_crowds import crowd
from unisono.maths.series.error_bands import KnownFrames, trace_correlations


def study(seed, people=5, noise=0.0, late=0):
    """Traces at two frames a second, and the truth."""
    lag = late + np.arange(people) % 2
    data, truth, _ = crowd(seed, people, lengths=(150,) * 5, lag=lag, gaps=False, gain_sd=0.2)
    length = data.length[data.item_of]
    y = data.y[:, 0] + noise * np.random.default_rng(seed).normal(size=len(data.y))
    return pd.DataFrame(
        {
            "recording": np.repeat([f"r{m}" for m in data.item_of], length),
            "time": np.concatenate([np.arange(n) / 2.0 for n in length]),
            "annotator": np.repeat([f"a{k}" for k in data.annotator_of], length),
            "arousal": y,
        }
    ), truth


def said(result):
    found = un.agreement(result.ratings, fit=result, draws=200).to_dict()["dimensions"][0]["figures"]["reliability"]
    return found["value"], found["low"], found["high"]


def reached(result, truth):
    return np.corrcoef(result.fused.mean[:, 0], truth)[0, 1] ** 2


@pytest.mark.parametrize("people", [3, 8])
def test_it_is_the_squared_correlation_with_the_truth_and_its_interval_holds(people):
    away, held = [], []
    for seed in range(6):
        table, truth = study(seed, people)
        result = un.fuse(table)
        value, low, high = said(result)
        is_ = reached(result, truth)
        away.append(value - is_)
        held.append(low <= is_ <= high)
    assert abs(np.mean(away)) < 0.05
    assert np.mean(held) >= 0.8


def test_noisier_annotators_are_less_reliable_and_a_delay_of_all_changes_nothing():
    good, bad, late = (said(un.fuse(study(1, *how)[0]))[0] for how in ((5,), (5, 4.0), (5, 0.0, 4)))
    assert good > bad + 0.1
    assert abs(good - late) < 0.05


def test_draws_of_the_correlation_follow_the_variances_of_estimate_and_error():
    rng = np.random.default_rng(0)
    estimate, each = rng.normal(0.0, 2.0, 4000), np.arange(4000)
    known = KnownFrames(estimate, np.full(4000, 0.7), np.full(4000, 0.3), each, each)
    found = trace_correlations(known, (0.0, 0.0), 200, np.random.default_rng(1))
    assert found.mean() == pytest.approx(estimate.var() / (estimate.var() + 1.0), abs=0.005)
    lasting = trace_correlations(known._replace(stretch=each // 400), (0.0, 0.0), 200, np.random.default_rng(1))
    assert lasting.std() > 5.0 * found.std()  # ten errors are not four thousand
    still = trace_correlations(known._replace(estimate=np.ones(4000)), (0.0, 0.0), 3, np.random.default_rng(1))
    assert np.isnan(still).all()
