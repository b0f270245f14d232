"""Averages that laboratories use for traces, recording by recording: y (p, T, D), NaN where missing.

Weights of evaluators by windows; ranks instead of values; functional principal components on splines; and delays
against features by mutual information. What a paper leaves open is said where it is chosen.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv

from unisono.maths.series.delay_search import advanced

KINDS = 8  # published: kinds of answers and of what features show, for mutual information
CURVE_SECONDS = 2.0  # choice: between knots of splines
KEPT = 0.95  # choice: share of the variance between annotators that principal components keep
USUAL = 0.975  # choice: of the chi-squared distribution: whose scores lie further out is left out
QUANTILES = 201  # numerical: of an annotator's answers, by which they are turned into ranks


def known_mean(y: np.ndarray) -> np.ndarray:
    """Mean over the first axis of what is known, NaN where nothing is."""
    count = (~np.isnan(y)).sum(axis=0)
    return np.asarray(np.where(count > 0, np.nansum(y, axis=0) / np.maximum(count, 1), np.nan))


def window_weights(y: np.ndarray, width: int) -> np.ndarray:
    """(p, T, D) weights: correlation with the mean of the others in windows of `width` frames, never below 0.

    Windows overlap by half, and weights go linearly from the middle of one to that of the next.
    """  # eq. S64
    p, T, D = y.shape
    seen, value = ~np.isnan(y), np.nan_to_num(y)
    count = seen.sum(axis=0) - seen
    others = np.where(count > 0, (value.sum(axis=0) - value) / np.maximum(count, 1), np.nan)
    starts = np.arange(0, max(T - width, 0) + 1, max(width // 2, 1))
    weight = np.zeros((len(starts), p, D))
    for i, lo in enumerate(starts.tolist()):
        weight[i] = _positive_correlation(y[:, lo : lo + width], others[:, lo : lo + width])
    middle, at = starts + (min(width, T) - 1) / 2, np.arange(T)
    flat = np.stack([np.interp(at, middle, one) for one in weight.reshape(len(starts), -1).T], axis=1)
    return np.moveaxis(flat.reshape(T, p, D), 1, 0)


def _positive_correlation(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(p, D) correlations over frames both know; 0 where they are negative or undefined. x, y: (p, w, D)."""
    known = ~np.isnan(x) & ~np.isnan(y)
    n = np.maximum(known.sum(axis=1, keepdims=True), 1)
    a, b = (np.where(known, v, 0.0) for v in (x, y))
    a, b = (np.where(known, v - v.sum(axis=1, keepdims=True) / n, 0.0) for v in (a, b))
    size = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    moves = size > 1e-12 * n[:, 0]
    return np.maximum(np.where(moves, (a * b).sum(axis=1) / np.where(moves, size, 1.0), 0.0), 0.0)


def quantiles_of(y: np.ndarray, annotator: np.ndarray, K: int) -> np.ndarray:
    """(K, QUANTILES, D) of the answers (S, D) of each annotator (S,); zeros of who gave none."""
    found, share = np.zeros((K, QUANTILES, y.shape[1])), np.linspace(0.0, 1.0, QUANTILES)
    for k in range(K):
        for d in range(y.shape[1]):
            own = y[annotator == k, d]
            if (known := own[~np.isnan(own)]).size:
                found[k, :, d] = np.quantile(known, share)
    return found


def ranks(y: np.ndarray, quantiles: np.ndarray) -> np.ndarray:
    """(T,) the annotator's ranks of answers, with mean 0 and sd 1; equal answers alike. quantiles: (QUANTILES,)"""
    # eq. S65
    value, first, count = np.unique(quantiles, return_index=True, return_counts=True)
    middle = (first + (count - 1) / 2) / (len(quantiles) - 1)
    rank = np.interp(np.where(np.isnan(y), 0.0, y), value, middle)
    return np.where(np.isnan(y), np.nan, np.sqrt(12.0) * (rank - 0.5))


def smooth_curves(y: np.ndarray, frames: float) -> np.ndarray:
    """(p, T, D) traces as cubic B-splines with a knot every `frames`.

    Least squares on known frames, with a penalty on differences just large enough to carry curves over gaps.
    A dimension somebody left out is the mean of the others there.
    """
    from scipy.interpolate import BSpline  # a second to load, and no other model needs it
    from scipy.sparse import csc_array, diags_array
    from scipy.sparse.linalg import splu

    T = y.shape[1]
    inner = np.linspace(0.0, max(T - 1, 1), max(min(round((T - 1) / frames), T - 3), 1) + 1)
    knots = np.concatenate([np.repeat(inner[0], 3), inner, np.repeat(inner[-1], 3)])
    basis = BSpline.design_matrix(np.arange(T, dtype=float), knots, 3)
    B = basis.shape[1]
    change = diags_array([-1.0, 1.0], offsets=[0, 1], shape=(B - 1, B))
    penalty = 1e-3 * change.T @ change + 1e-9 * diags_array(np.ones(B))
    curve = np.full(y.shape, np.nan)
    for i, d in np.argwhere((~np.isnan(y)).any(axis=1)).tolist():
        known = ~np.isnan(y[i, :, d])
        own, level = basis[known], y[i, known, d].mean()
        solved = splu(csc_array(own.T @ own + penalty)).solve(own.T @ (y[i, known, d] - level))
        curve[i, :, d] = level + basis @ solved  # splines sum to 1
    return np.where(np.isnan(curve), known_mean(curve), curve)


def usual_curves(curve: np.ndarray) -> np.ndarray:
    """(p,) bool, whose scores on the first principal components of all dimensions are not far from the median.

    Components keep 95 % of the variance between annotators. Distance: sum of squares over 1.4826 times the median
    absolute deviation. At least half are kept, the nearest. curve: (p, T, D).
    """  # eq. S66
    p = len(curve)
    centred = (curve - curve.mean(axis=0)).reshape(p, -1)
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    share = np.cumsum(size**2) / max((size**2).sum(), np.finfo(float).tiny)
    L = min(int(np.searchsorted(share, KEPT)) + 1, len(size))
    scores = (left * size)[:, :L]
    away = np.abs(scores - np.median(scores, axis=0))
    spread = 1.4826 * np.median(away, axis=0)
    usable = spread > 1e-9 * max(size[0], np.finfo(float).tiny)
    distance = ((away[:, usable] / spread[usable]) ** 2).sum(axis=1)
    near = np.sort(distance)[(p - 1) // 2]
    return np.asarray(distance <= max(near * (1 + 1e-9), 2 * gammaincinv(max(usable.sum(), 1) / 2, USUAL)))


def kinds_of_answers(x: np.ndarray) -> np.ndarray:
    """(T,) which of KINDS equally frequent kinds an answer is, -1 where missing; equal answers are of one kind."""
    known = ~np.isnan(x)
    found = np.full(len(x), -1)
    if known.any():
        cuts = np.unique(np.quantile(x[known], np.arange(1, KINDS) / KINDS))
        found[known] = np.searchsorted(cuts, x[known], side="right")
    return found


def mutual_information(a: np.ndarray, b: np.ndarray) -> float:
    """Of two sequences of kinds in nats, over places both know, less what independent ones have (Miller and Madow)."""
    known = (a >= 0) & (b >= 0)
    if not known.any():
        return 0.0
    table = np.zeros((KINDS, KINDS))
    np.add.at(table, (a[known], b[known]), 1.0)
    n, rows, columns = table.sum(), table.sum(axis=1), table.sum(axis=0)
    share = np.where(table > 0, table * n / np.where(table > 0, np.outer(rows, columns), 1.0), 1.0)
    chance = ((rows > 0).sum() - 1) * ((columns > 0).sum() - 1) / (2 * n)
    return float((table * np.log(share)).sum() / n - chance)


def informative_lag(traces: list[np.ndarray], signals: list[np.ndarray], least: int, most: int) -> int:
    """The delay in frames at which traces say most about signals, summed over these; the smallest of equals.

    traces[i] (T,), signals[i] (T, P): of one recording.
    """  # eq. S67
    lags = np.array(sorted(range(least, most + 1), key=lambda lag: (abs(lag), lag)))
    said = kinds_of_answers(np.concatenate([_led(x, most - least) for x in traces]))
    shown = [np.concatenate([_led(x[:, i], most - least) for x in signals]) for i in range(signals[0].shape[1])]
    shown = [kinds_of_answers(one) for one in shown]
    # Gaps as long as the longest delay keep recordings apart.
    score = []
    for lag in lags.tolist():
        moved = advanced(said.astype(float), lag)
        score.append(sum(mutual_information(np.where(np.isnan(moved), -1, moved).astype(int), one) for one in shown))
    return int(lags[np.argmax(np.round(score, 12))])


def _led(x: np.ndarray, gap: int) -> np.ndarray:
    return np.concatenate([x, np.full(gap + 1, np.nan)])
