"""Crowds of simulated tracers on arrays: private gains, levels of recordings, errors that last or not, delays, gaps."""

from __future__ import annotations

import numpy as np

from unisono.maths.series.trace_data import SeriesData


def lasting(rng, T, memory):
    phi, x = np.exp(-1.0 / memory), np.zeros(T)
    x[0] = rng.standard_normal()
    for t in range(1, T):
        x[t] = phi * x[t - 1] + np.sqrt(1 - phi**2) * rng.standard_normal()
    return x


def crowd(seed=0, K=5, lengths=(60, 45, 50), turned=(), lag=None, gaps=True, gain_sd=0.4):
    """Traces of a slow truth with private gains, levels of recordings, lasting errors; SeriesData and the truth."""
    rng = np.random.default_rng(seed)
    lag = np.zeros(K, dtype=int) if lag is None else np.array(lag)
    gain = np.exp(gain_sd * rng.standard_normal(K)) * np.where(np.isin(np.arange(K), turned), -1.0, 1.0)
    y, item_of, annotator_of, truths = [], [], [], []
    for m, T in enumerate(lengths):
        a = 0.7 * rng.standard_normal() + lasting(rng, T + 10, 15.0)
        truths.append(a[10:])
        for k in range(K):
            error = 0.5 * lasting(rng, T, 4.0) + 0.2 * rng.standard_normal(T)
            y.append(gain[k] * a[10 - lag[k] : 10 - lag[k] + T] + abs(gain[k]) * error + 0.2 * rng.standard_normal())
            item_of.append(m)
            annotator_of.append(k)
    if gaps:
        y[1][:17] = np.nan
        y[K + 2][20:] = np.nan
        y[2 * K][:] = np.nan
    data = SeriesData(
        np.concatenate(y)[:, None], np.array(item_of), np.array(annotator_of), np.array(lengths),
        np.zeros((sum(lengths), 0)), K,
    )  # fmt: skip
    return data, np.concatenate(truths), gain


def white_crowd(lag, seed=0, K=5, T=400, M=3):
    """Two dimensions with delays of their own (K, 2), errors new in every frame."""
    rng = np.random.default_rng(seed)
    y = np.zeros((M, K, T, 2))
    for m in range(M):
        for d in range(2):
            a = lasting(rng, T + 10, 10.0)
            for k in range(K):
                y[m, k, :, d] = a[10 - lag[k, d] : 10 - lag[k, d] + T] + 0.3 * rng.standard_normal(T)
    return SeriesData(
        y.reshape(-1, 2), np.repeat(np.arange(M), K), np.tile(np.arange(K), M), np.full(M, T), np.zeros((M * T, 0)), K
    )
