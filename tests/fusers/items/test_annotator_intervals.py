"""What is said about annotators has intervals that hold, and nobody is called the least reliable by chance."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unisono as un
from unisono.evaluate.annotator_findings import differ_in_reliability
from unisono.fusers.fusion_results import BOUNDED


def crowd(seed, M=60, K=12, n=4, gain=0.2, noise=0.6, spread=0.3):
    """Ratings, and what their annotators are, by the names of the figures; (K,) each."""
    rng = np.random.default_rng(seed)
    truth, bias, gains = rng.normal(size=M), 0.4 * rng.normal(size=K), 1 + gain * rng.normal(size=K)
    sd = noise * np.exp(spread * rng.normal(size=K))
    item = np.repeat(np.arange(M), n)
    who = np.concatenate([rng.choice(K, n, replace=False) for _ in range(M)])
    y = bias[who] + gains[who] * truth[item] + sd[who] * rng.normal(size=len(item))
    names = {"item": [f"i{m:03d}" for m in item], "annotator": [f"a{k:02d}" for k in who]}
    signal = gains**2 * truth.var()
    true = {"bias": bias, "gain": gains, "noise": sd, "reliability": signal / (signal + sd**2)}
    return pl.DataFrame(names | {"value": y}), true


def described(table):
    found = un.fuse(table).described
    return found, [int(name[1:]) for name in found.annotators]


def share_held(times=10, **world):
    held = {name: [] for name in BOUNDED}
    for seed in range(times):
        table, true = crowd(seed, **world)
        found, order = described(table)
        for name in BOUNDED:
            low, high = (end[:, 0] for end in found.ends[name])
            held[name].append(np.mean((low <= true[name][order]) & (true[name][order] <= high)))
            value = getattr(found, name)[:, 0]
            assert (low <= value).all()
            assert (value <= high).all()
    return {name: float(np.mean(found)) for name, found in held.items()}


@pytest.mark.parametrize("world", [{}, {"n": 8}, {"K": 5}, {"K": 40, "n": 5, "M": 100, "times": 3}])
def test_intervals_hold_what_annotators_are(world):
    shares = share_held(**world)
    assert min(shares.values()) >= 0.8
    assert np.mean(list(shares.values())) <= 0.97  # wide enough, and no wider


def test_more_answers_make_them_narrower():
    widths = []
    for M in (40, 400):
        found, _ = described(crowd(1, M=M)[0])
        widths.append({name: np.mean(found.ends[name][1] - found.ends[name][0]) for name in BOUNDED})
    assert all(widths[1][name] < 0.8 * widths[0][name] for name in ("noise", "reliability"))
    assert widths[1]["noise"] < 0.5 * widths[0]["noise"]


def test_columns_and_what_averages_do_not_know():
    table, _ = crowd(2)
    columns = un.fuse(table).annotators.columns
    assert columns.index("reliability_high") == columns.index("reliability_low") + 1
    assert "bias_low" not in un.fuse(table, model="mean").annotators.columns


def test_known_items_leave_the_intervals_in_place():
    table, _ = crowd(3)
    gold = table.group_by("item").agg(pl.col("value").mean()).sort("item").head(20)
    found = un.fuse(table, gold=gold).described
    for name in BOUNDED:
        low, high = found.ends[name]
        assert (low <= getattr(found, name)).all()
        assert (getattr(found, name) <= high).all()


def named(table):
    result = un.fuse(table)
    data, found = result.summary_data, result.described
    everybody = np.arange(len(found.annotators))
    assert bool(data["least_reliable"]) == differ_in_reliability(found, everybody, np.array([True]))
    assert bool(data["alike"]) != bool(data["least_reliable"])
    assert ("beyond chance" in result.summary()) == bool(data["alike"])
    return [one["annotator"] for one in data["least_reliable"]]


def test_nobody_is_called_least_reliable_among_equals():
    assert sum(bool(named(crowd(seed, gain=0.0, spread=0.0)[0])) for seed in range(8)) <= 1


def test_who_clicks_at_random_is():
    for seed in range(4):
        table, _ = crowd(seed, gain=0.0, spread=0.0)
        rng = np.random.default_rng(seed)
        noisy = pl.when(pl.col("annotator") == "a03").then(pl.Series(rng.normal(size=table.height))).otherwise("value")
        assert named(table.with_columns(value=noisy))[0] == "a03"
