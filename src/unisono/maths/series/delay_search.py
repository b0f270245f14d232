"""Relative delays by cross-correlation: annotator k is moved against the mean of the others, moved already.

On every dimension, until nothing changes. Missing frames are left out pair by pair. A positive lag means that the
annotator is late. That is also what a lag-aligned mean needs.
"""

from __future__ import annotations

import numpy as np
import scipy

from unisono.maths.series.trace_data import SeriesData, recordings_of

LEAST_OVERLAP = 10  # convention: frames that two traces must share before their correlation counts
MAX_CORRELATION = 0.9999  # numerical: correlation of neighbouring frames
FLAT = 1e-12  # numerical: variance below this share of the sum of squares is rounding: the trace is constant


def independent_share(cross: float, square: float) -> float:
    """(1 - rho) / (1 + rho), rho = cross / square the correlation of neighbouring frames, never below none."""
    rho = min(max(cross / square, 0.0), MAX_CORRELATION) if square > 0 else 0.0
    return (1.0 - rho) / (1.0 + rho)


def relative_lags(data: SeriesData, max_lag: int, *, rounds: int = 10) -> np.ndarray:
    """(K, D) int, delays in frames around a median of 0, each within +-max_lag."""
    traces = recordings_of(data)
    lag = np.zeros((data.K, data.D), dtype=np.int64)
    for _ in range(rounds):
        before = lag.copy()
        for d in range(data.D):
            centred = [_centred(trace[:, :, d]) for trace in traces]
            for k in range(data.K):
                lag[k, d] = _best_lag(centred, lag[:, d], k, max_lag)
            lag[:, d] -= int(np.round(np.median(lag[:, d])))
        if np.array_equal(lag, before):
            break
    return np.clip(lag, -max_lag, max_lag)


def advanced(x: np.ndarray, lag: int) -> np.ndarray:
    """A trace moved `lag` frames towards the past; NaN where nothing is left. x: (T,)."""
    out = np.full(len(x), np.nan)
    if abs(lag) < len(x):
        out[max(-lag, 0) : len(x) - max(lag, 0)] = x[max(lag, 0) : len(x) - max(-lag, 0)]
    return out


def masked_correlation(x: np.ndarray, y: np.ndarray, max_lag: int) -> tuple[np.ndarray, np.ndarray]:
    """Correlation of x[t + l] with y[t] and the frames both have, for l = -max_lag..max_lag, each (2 max_lag + 1,)."""
    n = scipy.fft.next_fast_len(len(x) + max_lag + 1, real=True)
    mx, my = ~np.isnan(x), ~np.isnan(y)
    zx, zy = np.where(mx, x, 0.0), np.where(my, y, 0.0)
    left = scipy.fft.rfft(np.stack([mx, zx, zx**2]).astype(float), n)
    right = np.conj(scipy.fft.rfft(np.stack([my, zy, zy**2]).astype(float), n))
    pick = np.r_[n - max_lag : n, 0 : max_lag + 1] if max_lag else np.array([0])

    def lagged(i: int, j: int) -> np.ndarray:
        return np.asarray(scipy.fft.irfft(left[i] * right[j], n))[pick]

    count = np.round(lagged(0, 0))
    size = np.maximum(count, 1.0)
    sx, sy = lagged(1, 0), lagged(0, 1)
    cov = lagged(1, 1) - sx * sy / size
    vx, vy = lagged(2, 0) - sx**2 / size, lagged(0, 2) - sy**2 / size
    flat = (vx <= FLAT * np.sum(zx**2)) | (vy <= FLAT * np.sum(zy**2))
    return np.where(flat, 0.0, cov / np.sqrt(np.where(flat, 1.0, vx * vy))), count


def _centred(trace: np.ndarray) -> np.ndarray:
    """Traces less their own mean; NaN stays. trace: (K, T)."""
    seen = ~np.isnan(trace)
    mean = np.where(seen, trace, 0.0).sum(axis=1, keepdims=True) / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    return np.asarray(trace - mean)


def _best_lag(traces: list[np.ndarray], lag: np.ndarray, k: int, max_lag: int) -> int:
    total = np.zeros(2 * max_lag + 1)
    for trace in traces:
        others = [advanced(trace[j], int(lag[j])) for j in range(len(lag)) if j != k and not np.isnan(trace[j]).all()]
        if others and not np.isnan(trace[k]).all():
            stack = np.stack(others)
            seen = ~np.isnan(stack)
            total += _score(trace[k], _mean(stack, seen), max_lag)
    # Of equal scores the smallest delay wins; without any evidence that is none.
    order = np.argsort(np.abs(np.arange(-max_lag, max_lag + 1)), kind="stable")
    return int(order[np.argmax(total[order])] - max_lag)


def _score(x: np.ndarray, y: np.ndarray, max_lag: int) -> np.ndarray:
    """Correlations weighted by the frames they rest on."""
    r, count = masked_correlation(x, y, max_lag)
    return np.where(count >= LEAST_OVERLAP, r * count, 0.0)


def _mean(stack: np.ndarray, seen: np.ndarray) -> np.ndarray:
    count = seen.sum(axis=0)
    total = np.where(seen, stack, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
