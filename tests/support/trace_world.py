"""Small worlds of traces with a known truth, as labelled ratings: delays, gains, biases, noise that lasts, gaps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.tables.item_table import Clock, ItemTable
from unisono.tables.ratings import Ratings

RATE = 5.0


class World(NamedTuple):
    ratings: Ratings
    truth: ItemTable
    features: ItemTable
    lag: np.ndarray  # (K, D) frames


def trace_world(seed=0, K=4, lengths=(90, 70, 90), gaps=True, noise=0.3) -> World:
    """Slow truths in two dimensions, rated by everybody; one annotator leaves out a stretch, one a dimension."""
    rng = np.random.default_rng(seed)
    length = np.array(lengths)
    lag, gain, bias = rng.integers(1, 6, (K, 2)), rng.uniform(0.8, 1.2, (K, 2)), 0.2 * rng.standard_normal((K, 2))
    values, truths = [], []
    for T in lengths:
        walk = np.cumsum(rng.standard_normal((T + 24, 2)), axis=0)
        a = np.stack([np.convolve(walk[:, d], np.ones(5) / 5, "valid") for d in range(2)], axis=1)
        a = (a - a.mean(0)) / a.std(0)
        truths.append(a[20:])
        for k in range(K):
            y = np.stack([gain[k, d] * a[20 - lag[k, d] : 20 - lag[k, d] + T, d] for d in range(2)], axis=1)
            values.append(y + bias[k] + noise * rng.standard_normal((T, 2)))
    if gaps:
        values[1][20:35] = np.nan
        values[K][:, 1] = np.nan
    items = [f"clip {m}" for m in range(len(lengths))]
    clock = Clock(RATE, np.arange(len(lengths)) * 0.4)
    ratings = Ratings.from_judgements(
        np.concatenate(values),
        np.repeat(np.arange(len(lengths)), K),
        np.tile(np.arange(K), len(lengths)),
        items=items,
        annotators=[f"rater {k}" for k in range(K)],
        dimensions=("valence", "arousal"),
        length=length,
        clock=clock,
    )
    truth = np.concatenate(truths)
    seen = truth + 0.2 * rng.standard_normal(truth.shape)
    return World(
        ratings,
        ItemTable.from_rows(truth, items=items, columns=("valence", "arousal"), length=length, clock=clock),
        ItemTable.from_rows(seen, items=items, columns=("f", "g"), length=length, clock=clock),
        lag,
    )


def pearson(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array([np.corrcoef(a[:, d], b[:, d])[0, 1] for d in range(a.shape[1])])


def with_spoiled_annotator(ratings: Ratings, how: str, seed: int) -> Ratings:
    """The first annotator answers at random, drifts, or turns the scale around."""
    rng, value = np.random.default_rng(seed), ratings.value.copy()
    own = np.repeat(ratings.annotator_of, ratings.length[ratings.item_of]) == 0
    noise = rng.standard_normal(value[own].shape)
    value[own] = {"random": noise, "drifting": 0.1 * np.cumsum(noise, axis=0), "reversed": -value[own]}[how]
    return ratings.with_value(value)


def by(ratings, names):
    """The same ratings by annotators with these names."""
    return Ratings.from_judgements(
        ratings.value,
        ratings.item_of,
        ratings.annotator_of,
        items=ratings.items,
        annotators=names,
        dimensions=ratings.dimensions,
        length=ratings.length,
        clock=ratings.clock,
    )
