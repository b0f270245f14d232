"""Crowds with a planted copy: one annotator's answers once more, some of them changed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Planted(NamedTuple):
    value: np.ndarray  # (J, D)
    item_of: np.ndarray
    annotator_of: np.ndarray
    K: int  # annotators, the copy among them
    original: int
    copy: int
    truth: np.ndarray  # (M, D)


def crowd(rng, *, items=100, annotators=10, per_item=None, dims=1, levels=5, noise=0.7, skew=0.0):
    """Answers of annotators with offsets, gains and noise of their own, sorted by item."""
    n = per_item or annotators
    truth = np.sqrt(0.5) * (rng.normal(size=(items, dims)) + rng.normal(size=(items, 1)))
    offset, gain = 0.3 * rng.normal(size=(annotators, dims)), np.exp(0.2 * rng.normal(size=(annotators, dims)))
    own = noise * np.exp(0.3 * rng.normal(size=(annotators, dims)))
    item_of = np.repeat(np.arange(items), n)
    who = np.concatenate([np.sort(rng.choice(annotators, n, replace=False)) for _ in range(items)])
    answer = offset[who] + gain[who] * truth[item_of] + own[who] * rng.normal(size=(items * n, dims)) + skew
    return np.clip(np.round((answer + 2) * (levels - 1) / 4), 0, levels - 1), item_of, who, truth


def with_copy(rng, *, changed=0.1, levels=5, annotators=10, **settings) -> Planted:
    """The same with one more annotator, who gives the answers of another, a tenth of them changed to any other."""
    value, item_of, who, truth = crowd(rng, levels=levels, annotators=annotators, **settings)
    original = int(rng.integers(annotators))
    rows = np.flatnonzero(who == original)
    pasted = value[rows]
    other = (pasted + rng.integers(1, levels, size=pasted.shape)) % levels
    pasted = np.where(rng.random(pasted.shape) < changed, other, pasted)
    value = np.concatenate([value, pasted])
    item_of, who = np.append(item_of, item_of[rows]), np.append(who, np.full(len(rows), annotators))
    order = np.lexsort((who, item_of))
    return Planted(value[order], item_of[order], who[order], annotators + 1, original, annotators, truth)


def area_under_curve(positive, negative) -> float:
    """The probability that a positive has the higher score."""
    positive, negative = np.asarray(positive), np.sort(negative)
    below = np.searchsorted(negative, positive, "left") + np.searchsorted(negative, positive, "right")
    return float(below.mean() / 2 / len(negative))
