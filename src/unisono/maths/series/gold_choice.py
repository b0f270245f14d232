"""How gold is used: free filters where cross-validation favours them, else calibration of a truth fused without gold.

Imports NumPy, the sibling modules and those beside the rooms alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from unisono.maths.gold_slope import Slope, slope_of, slope_on
from unisono.maths.metrics import pearson
from unisono.maths.series.align import independent_share, masked_correlation
from unisono.maths.series.gold import with_known
from unisono.maths.series.params import SeriesData

MOST_TAPS, MOST_SECONDS = 20, 3.0
FRAMES_PER_TAP = 8  # known frames for every unknown of a filter row, at least
CLEARLY = 0.87  # of the other's squared errors
LEAST_TRAINING = 5  # answers that a half of a trace needs to be trained on
RIDGE = 0.1  # of the mean square of the lagged truths: neighbouring ones are nearly the same
IMAGINARY_FRAMES = 1.0  # independent known frames by which a calibrated truth keeps its scale and its level


def choose_taps(data: SeriesData, gold: np.ndarray, rate: float) -> int:
    """As many taps as the gold has frames for, up to 20 or 3 s, whichever is more; 0 for no free filters.

    Free filters have to predict held-out ratings from gold clearly better than one gain and one delay do. All
    annotators who rated known frames are evidence about that, so the choice has less variance than one by the fused
    truth. More taps than needed cost little; their number is not chosen, since that choice would be mostly noise.
    """
    part, known = with_known(data, gold)
    if constant_dimensions(known):
        return 0
    W = min(max(MOST_TAPS, round(MOST_SECONDS * rate) + 1), most_taps(known), int(data.length.max()) // 2)
    if not W:
        return 0
    free = delayed = 0.0
    for answers, lagged in _rated_with_past(part, known, W):
        of_free, of_delay = _held_out_errors(answers, lagged)
        free, delayed = free + of_free, delayed + of_delay
    return W if free < CLEARLY * delayed else 0


def constant_dimensions(gold: np.ndarray) -> list[int]:
    """Dimensions whose known frames (n, D) are all equal: no filter can be learned from them."""
    spread = np.nanmax(gold, axis=0) - np.nanmin(gold, axis=0)
    return [int(d) for d in np.flatnonzero(spread == 0)]


def most_taps(gold: np.ndarray) -> int:
    """How many taps the known frames (n, D) have evidence for."""
    return int((~np.isnan(gold)).sum(axis=0).min() // (FRAMES_PER_TAP * gold.shape[1]))


def delay_by_gold(mean: np.ndarray, gold: np.ndarray, length: np.ndarray, max_lag: int) -> int:
    """Frames that a fused truth lies behind the gold; 0 unless another delay agrees clearly better and has neighbours.

    mean, gold: (sum T, D), NaN where gold is not known. The correlation of all dimensions and recordings decides.
    """
    agreement = _agreement(mean, gold, length, max_lag)
    best = int(np.nanargmax(agreement))
    # Of a delay that nothing is known of nothing is said.
    here = agreement[max_lag] if np.isfinite(agreement[max_lag]) else -1.0
    clearly = 1 - agreement[best] < CLEARLY * (1 - here)
    return best - max_lag if clearly and 0 < best < 2 * max_lag else 0


def gold_slopes(mean: np.ndarray, gold: np.ndarray, length: np.ndarray, max_lag: int) -> tuple[Slope, ...]:
    """Of the gold on a truth fused without it, for every dimension, at the delay at which they go together best.

    Against each other rather than together where that is clearly more: gold may be upside down. mean, gold: (sum T, D).
    """
    agreement = _agreement(mean, gold, length, max_lag)
    up, down = int(np.nanargmax(agreement)), int(np.nanargmin(agreement))
    lag = (down if 1 + agreement[down] < CLEARLY * (1 - agreement[up]) else up) - max_lag
    there = _moved(mean, length, lag)
    return tuple(frame_slope(there[:, d], gold[:, d]) for d in range(gold.shape[1]))


def frame_slope(mean: np.ndarray, gold: np.ndarray) -> Slope:
    """The same of one dimension (n,); neighbouring frames tell much the same, so few of them count."""
    plain = slope_on(mean, gold)
    if not np.isfinite(plain.correlation):
        return plain
    seen = ~np.isnan(gold) & ~np.isnan(mean)
    n = _effective_frames(gold[seen] - plain.value * mean[seen])
    return slope_of(plain.known, plain.correlation, plain.spread, n)


def _agreement(mean: np.ndarray, gold: np.ndarray, length: np.ndarray, max_lag: int) -> np.ndarray:
    """(2 max_lag + 1,) correlation of truth and gold over dimensions and recordings, by delay; NaN where unknown."""
    weighted, frames = np.zeros(2 * max_lag + 1), np.zeros(2 * max_lag + 1)
    end = np.cumsum(length)
    for first, last in zip(end - length, end, strict=True):
        for d in range(gold.shape[1]):
            if (~np.isnan(gold[first:last, d])).sum() > 2 * max_lag:
                r, n = masked_correlation(mean[first:last, d], gold[first:last, d], min(max_lag, int(last - first) - 1))
                middle = (len(r) - 1) // 2
                weighted[max_lag - middle : max_lag + middle + 1] += n * r
                frames[max_lag - middle : max_lag + middle + 1] += n
    if not frames.any():
        return np.where(np.arange(2 * max_lag + 1) == max_lag, 0.0, np.nan)
    return np.where(frames > 0, weighted / np.maximum(frames, 1), np.nan)


def _moved(mean: np.ndarray, length: np.ndarray, lag: int) -> np.ndarray:
    """(sum T, D) truths `lag` frames later, recording by recording; NaN beyond their ends."""
    moved, end = np.full_like(mean, np.nan), np.cumsum(length)
    for first, last in zip(end - length, end, strict=True):
        there = slice(max(first + lag, first), min(last + lag, last))
        moved[there.start - lag : there.stop - lag] = mean[there]
    return moved


def calibration(mean: np.ndarray, gold: np.ndarray, everywhere: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(D,) factor and (D,) offset that bring a truth to the spread and level of the gold.                eq. S34

    Both are drawn to 1 and 0: known frames next to each other tell much the same, so few of them count as independent,
    and gold that disagrees with the truth says little about its scale. The ratio of spreads, not a regression: a
    regression shrinks whatever it is not sure of, and each known piece by another factor. Gold that is upside down, or
    in another unit, counts alone (B31): it is refused before, unless it is to be obeyed.

    mean, gold: (n, D), NaN where gold is not known; everywhere: (sum T, D) the whole truth, whose spread counts.
    """
    factor, offset = np.ones(gold.shape[1]), np.zeros(gold.shape[1])
    for d in range(gold.shape[1]):
        known = ~np.isnan(gold[:, d])
        usual = float(everywhere[:, d].var())
        if not known.any() or usual == 0:
            continue
        found = frame_slope(mean[known, d], gold[known, d])
        turn, unchanged = -1.0 if found.upside_down else 1.0, 0.0 if found.refuted else IMAGINARY_FRAMES
        m, g = turn * mean[known, d], gold[known, d]
        r = pearson(m, g)
        slope = r * g.std() / m.std() if r > 0 else 0.0
        n = _effective_frames(g - slope * m)
        if r > 0:
            few = unchanged / r**4
            factor[d] = np.sqrt((n * g.var() + few * usual) / (n * m.var() + few * usual))
        middle = m.mean() + (g.mean() - m.mean()) * n / (n + unchanged)
        offset[d] = middle - factor[d] * m.mean()
        factor[d] *= turn
    return factor, offset


def _effective_frames(left: np.ndarray) -> float:
    """Effective number of independent frames in the mean of these residuals."""
    away = left - left.mean()
    return max(len(left) * independent_share(float(away[1:] @ away[:-1]), float(away @ away)), 1.0)


def _rated_with_past(data: SeriesData, gold: np.ndarray, W: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For every trace: its answers (n, D) where the last W frames are known, and those frames (n, W, D)."""
    begin = np.cumsum(data.length) - data.length
    row = 0
    for m in data.item_of:
        T = int(data.length[m])
        trace, truth = data.y[row : row + T], gold[begin[m] : begin[m] + T]
        row += T
        if T < W:
            continue
        # windows[t, d, w] is the truth w frames before the last one of the window.
        windows = np.lib.stride_tricks.sliding_window_view(truth, W, axis=0)[:, :, ::-1]
        whole = ~np.isnan(windows).any(axis=(1, 2))
        yield trace[W - 1 :][whole], windows[whole].transpose(0, 2, 1)


def _held_out_errors(answers: np.ndarray, lagged: np.ndarray) -> tuple[float, float]:
    """Squared errors of a trace's answers on quarters set aside, by free filters and by one gain and delay.

    In variances of the answers, added up over dimensions; each half predicts the other.
    """
    n, W, D = lagged.shape
    even = (4 * np.arange(n)) // max(n, 1) % 2 == 0
    free = delayed = 0.0
    for d in range(D):
        seen = ~np.isnan(answers[:, d])
        spread = float(np.nanvar(answers[:, d])) if seen.any() else 0.0
        for train, test in ((seen & even, seen & ~even), (seen & ~even, seen & even)):
            if spread == 0 or train.sum() < LEAST_TRAINING or not test.any():
                continue
            y, target = answers[train, d], answers[test, d]
            everything = lagged.reshape(n, W * D)
            free += float(np.sum((target - _ridge_prediction(everything[train], y, everything[test])) ** 2)) / spread
            one_lag = [lagged[:, [w], d] for w in range(W)]
            fits = [float(np.sum((y - _ridge_prediction(x[train], y, x[train])) ** 2)) for x in one_lag]
            best = one_lag[int(np.argmin(fits))]
            delayed += float(np.sum((target - _ridge_prediction(best[train], y, best[test])) ** 2)) / spread
    return free, delayed


def _ridge_prediction(X: np.ndarray, y: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Regression of y on the columns of X with a mild ridge, at other rows."""
    middle, level = X.mean(axis=0), y.mean()
    away = X - middle
    gram = away.T @ away
    ridge = RIDGE * max(float(np.trace(gram)) / len(gram), np.finfo(float).tiny)
    return np.asarray(level + (at - middle) @ np.linalg.solve(gram + ridge * np.eye(len(gram)), away.T @ (y - level)))
