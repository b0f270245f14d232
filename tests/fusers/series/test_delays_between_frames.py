"""Delays of smooth traces: finer than frames, with intervals that hold as often as they say."""

import numpy as np
import pandas as pd
import pytest
from scipy.ndimage import gaussian_filter1d

import unisono as un

FINE = 20  # frames a second of the truth


def smooth(rng, shape, seconds):
    x = gaussian_filter1d(rng.normal(size=shape), seconds * FINE, axis=-1, mode="wrap")
    return x / x.std(axis=-1, keepdims=True)


def study(seed, rate, error_lasts, recordings=4, people=5, seconds=90):
    """Traces of one dimension, and everybody's delay in seconds."""
    rng = np.random.default_rng(seed)
    delay = 1.5 + np.clip(rng.normal(0, 0.5, people), -1.2, 1.2)
    at, rows = np.arange(8 * FINE, (seconds + 8) * FINE, FINE // rate), []
    for r in range(recordings):
        truth = smooth(rng, (seconds + 16) * FINE, 2.0)
        for k in range(people):
            error = 0.6 * smooth(rng, (seconds + 16) * FINE, error_lasts)
            y = np.interp(at - delay[k] * FINE, np.arange(len(truth)), truth) + error[at]
            own = {"time": np.arange(len(at)) / rate, "arousal": y + 0.05 * rng.normal(size=len(at))}
            rows.append(pd.DataFrame({"recording": f"r{r}", "annotator": f"a{k}", **own}))
    return pd.concat(rows, ignore_index=True), delay


def told(seed, rate, error_lasts):
    """Errors of the delays beside their mean, and whether their intervals hold."""
    table, delay = study(seed, rate, error_lasts)
    found = un.fuse(table).annotators.sort_values("annotator")
    off = (found.delay - delay).mean()
    inside = (found.delay_low - off <= delay) & (delay <= found.delay_high - off)
    return found.delay - off - delay, inside


@pytest.mark.parametrize(("rate", "error_lasts"), [(1, 0.7), (4, 0.7), (4, 2.5)])
def test_intervals_of_delays_hold_whatever_the_rate_and_however_long_errors_last(rate, error_lasts):
    found = [told(seed, rate, error_lasts) for seed in range(10)]
    held = np.mean([inside for _, inside in found])
    assert 0.8 <= held <= 0.99  # of 50 at .90: .80 to .98 by chance


def test_delays_are_found_below_the_frame():
    errors = np.concatenate([told(seed, 1, 0.3)[0] for seed in range(6)])
    assert np.sqrt(np.mean(errors**2)) < 0.15  # whole seconds are off by .29
