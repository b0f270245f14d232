"""Crowds who compare: truths, annotators and answers from the model of comparisons."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.comparisons.comparison_data import ComparisonData, comparison_data


class World(NamedTuple):
    data: ComparisonData
    truth: np.ndarray  # (M, D), in the unit in which usual annotators have a mean gain of 1
    gain: np.ndarray  # (K,)
    order: np.ndarray  # (K,)
    tau: np.ndarray  # (K,)
    kind: np.ndarray  # (K,) 0 usual, 1 spammer, 2 the wrong way round


def world(
    M=100, K=30, N=4000, D=1, seed=0, *, spammers=0.1, flipped=0.0, ties=True, spread=1.0, islands=1, steps=1, slips=0.0
):
    rng = np.random.default_rng(seed)
    truth, gain = rng.normal(0, spread, (M, D)), rng.normal(1, 0.3, K)
    kind, shuffled = np.zeros(K, dtype=int), rng.permutation(K)
    s, f = round(spammers * K), round(flipped * K)
    kind[shuffled[:s]], kind[shuffled[s : s + f]] = 1, 2
    order = rng.normal(0, 0.3, K)
    tau = np.exp(rng.normal(np.log(0.4), 0.4, K)) if ties else np.zeros(K)
    unit = gain[kind == 0].mean()
    gain = np.where(kind == 1, rng.normal(0, 0.02, K), np.where(kind == 2, -gain, gain)) / unit
    truth = truth * unit
    size = M // islands
    island = rng.integers(0, islands, N)
    i = rng.integers(0, size, N)
    j = (i + rng.integers(1, size, N)) % size + island * size
    i, d, k = i + island * size, rng.integers(0, D, N), rng.integers(0, K, N)
    delta = gain[k] * (truth[i, d] - truth[j, d]) + order[k]
    left, right = 1 / (1 + np.exp(tau[k] - delta)), 1 / (1 + np.exp(tau[k] + delta))
    u = rng.random(N)
    answer = np.where(u < left, 0, np.where(u < left + right, 2, 1))
    if slips:
        answer = np.where(rng.random(N) < slips, rng.integers(0, 2, N) * 2, answer)
    strength = strengths(rng, delta, tau[k], answer, steps)
    data = comparison_data((i, j), d, k, answer, (M, D, K), strength=strength)
    return World(data, truth, gain, order, tau, kind)


def strengths(rng, delta, tau, answer, steps):
    """Of what was answered, how strong it was: thresholds lie at tau, tau + .8, tau + 1.6 and so on."""
    strength = np.ones(len(answer), dtype=int)
    for s in range(1, steps):  # how probable it is to be beyond the next threshold, being beyond this one
        away = np.where(answer == 0, delta, -delta) - tau - 0.8 * (s - 1)
        beyond = (1 + np.exp(-away)) / (1 + np.exp(0.8 - away))
        strength += (strength == s) & (answer != 1) & (rng.random(len(answer)) < beyond)
    return strength
