"""Crowds with planted annotators: spammers, flipped, swapped, compressed and constant ones among honest ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Crowd(NamedTuple):
    value: np.ndarray  # (J, D), sorted by item
    item_of: np.ndarray
    annotator_of: np.ndarray
    K: int
    kind: np.ndarray  # (K,) what was planted
    flipped: np.ndarray  # (K, D) dimensions that were turned round
    truth: np.ndarray  # (M, D)


def planted_crowd(
    seed: int,
    shares: dict[str, float],
    *,
    items: int = 200,
    per_item: int = 5,
    ratings_each: int = 20,
    dimensions: int = 2,
    noise: float = 0.6,
    integer: bool = False,
) -> Crowd:
    """Truths are standard normal, honest gains 1 +- .2, offsets +- .4; `integer` answers run from 1 to 5."""
    rng = np.random.default_rng(seed)
    K = items * per_item // ratings_each
    truth = rng.normal(size=(items, dimensions))
    annotator_of = _who_rates(items, per_item, K, ratings_each, rng)
    item_of = np.repeat(np.arange(items), per_item)
    kind = np.full(K, "honest", dtype=object)
    order = iter(rng.permutation(K))
    for name, share in shares.items():
        for _ in range(round(share * K)):
            kind[next(order)] = name
    gain = 1 + 0.2 * rng.normal(size=(K, dimensions))
    turned = rng.random((K, dimensions)) < 0.7
    turned[np.arange(K), rng.integers(dimensions, size=K)] = True
    turned &= (kind == "flipped")[:, None]
    seen = truth[item_of]
    seen = np.where((kind == "swapped")[annotator_of, None], seen[:, ::-1], seen)
    value = (gain * np.where(turned, -1, 1))[annotator_of] * seen + noise * rng.normal(size=seen.shape)
    value = np.where((kind == "compressed")[annotator_of, None], 0.3 * value, value)
    value += 0.4 * rng.normal(size=(K, dimensions))[annotator_of]
    value = np.where((kind == "spammer")[annotator_of, None], rng.uniform(-2, 2, size=value.shape), value)
    value = np.where((kind == "constant")[annotator_of, None], 1.0, value)
    if integer:
        value = np.clip(np.round(3 + value), 1, 5)
    return Crowd(value, item_of, annotator_of, K, kind, turned, truth)


def _who_rates(items: int, per_item: int, K: int, each: int, rng: np.random.Generator) -> np.ndarray:
    """(items * per_item,) annotators, sorted within items, everybody about equally often and nobody twice."""
    who = np.concatenate([rng.permutation(K) for _ in range(each)])[: items * per_item].reshape(items, per_item)
    for m in range(items):
        if len(set(who[m])) < per_item:
            who[m] = rng.choice(K, per_item, replace=False)
    return np.sort(who, axis=1).reshape(-1)


def area_under_curve(score: np.ndarray, positive: np.ndarray) -> float:
    """The chance that a positive scores higher than a negative; ties count half."""
    difference = score[positive][:, None] - score[~positive]
    return float((difference > 0).mean() + 0.5 * (difference == 0).mean())
