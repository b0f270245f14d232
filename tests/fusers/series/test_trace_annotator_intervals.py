"""Intervals of what is said about annotators of traces; nobody is ranked where they do not differ beyond chance."""

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

import unisono as un

RATE, FRAMES, LATE = 4, 400, 6
LEVELS, LASTS = (
    0.6,
    0.2,
)  # sd of levels beside courses of 1, and of errors that are new in every frame beside others of 1


def memory(rng, frames, seconds):
    """Frames with variance 1 that are correlated 1/e after so many seconds."""
    phi = np.exp(-1 / (seconds * RATE))
    new = rng.normal(size=frames) * np.sqrt(1 - phi**2)
    new[0] /= np.sqrt(1 - phi**2)
    return lfilter([1], [1, -phi], new)


def crowd(seed, annotators=6, recordings=4, differ=1.0):
    """Traces of one dimension, and what is true of their annotators."""
    rng = np.random.default_rng(seed)
    gain = np.exp(0.25 * differ * rng.normal(size=annotators))
    bias, noise = 0.4 * rng.normal(size=annotators), 0.6 * np.exp(0.3 * differ * rng.normal(size=annotators))
    rows = []
    for r in range(recordings):
        truth = LEVELS * rng.normal() + memory(rng, FRAMES + 20, 8)
        for k in range(annotators):
            errors = noise[k] * (memory(rng, FRAMES, 2) + LASTS * rng.normal(size=FRAMES))
            y = bias[k] + gain[k] * truth[20 - LATE : 20 - LATE + FRAMES] + errors
            rows.append(
                pd.DataFrame({"recording": f"r{r}", "time": np.arange(FRAMES) / RATE, "annotator": f"a{k}", "x": y})
            )
    sd = noise * np.sqrt(1 + LASTS**2)
    signal = gain**2 * (1 + LEVELS**2)
    return pd.concat(rows), {"bias": bias, "gain": gain, "noise": sd, "reliability": signal / (signal + sd**2)}


@pytest.mark.slow
@pytest.mark.parametrize(("annotators", "recordings"), [(6, 4), (10, 3), (6, 1)])
def test_intervals_hold_about_as_often_as_they_say(annotators, recordings):
    held = {}
    for seed in range(8):
        table, true = crowd([seed, 1], annotators, recordings)
        found = un.fuse(table).annotators
        for name, value in true.items():
            low, high = found[f"{name}_low"].to_numpy(), found[f"{name}_high"].to_numpy()
            assert ((low <= found[name]) & (found[name] <= high)).all()
            held.setdefault(name, []).extend((low <= value) & (value <= high))
    # Of 48 or 80; levels and units are shared by all annotators of a crowd, so that they are not independent.
    assert {name: np.mean(inside) > 0.8 for name, inside in held.items()} == dict.fromkeys(held, True)


def test_more_recordings_make_intervals_narrower():
    few, many = (un.fuse(crowd(2, recordings=n)[0]).annotators for n in (2, 8))
    for name in ("noise", "reliability"):
        wide, narrow = ((one[f"{name}_high"] - one[f"{name}_low"]).mean() for one in (few, many))
        assert narrow < 0.8 * wide, name


def test_annotators_are_ranked_only_where_they_differ():
    alike = un.fuse(crowd(3, recordings=2, differ=0.0)[0])
    assert "do not differ in reliability beyond chance" in alike.summary()
    assert "Least reliable" not in alike.summary()
    table = crowd(3, recordings=2, differ=0.0)[0]
    rng, own = np.random.default_rng(0), table["annotator"] == "a0"
    table.loc[own, "x"] = 0.3 * table.loc[own, "x"] + 3 * memory(rng, int(own.sum()), 2)
    uneven = un.fuse(table).summary()
    assert "beyond chance" not in uneven
    assert uneven.split("Least reliable")[1].split("\n")[1].strip().startswith("a0")
