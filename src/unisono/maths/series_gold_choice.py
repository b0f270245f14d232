"""What gold is good for: filters of some width, or, where there is little of it, the scale of a truth found without.

Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.metrics import ccc
from unisono.maths.series_anchored import AnchoredSettings, fit_with_gold, recordings_with, with_known
from unisono.maths.series_params import SeriesData

FRAMES_PER_TAP = 8  # known frames for every unknown of a filter row, at least
SCALE_FRAMES = 20.0  # frames' worth by which a calibrated truth keeps the scale of the ratings
LEVEL_FRAMES = 2.0  # the same for its level, which a few frames show well enough
LEAST_FACTOR = 0.1  # a truth is never calibrated to nothing, nor turned around


def choose_taps(
    data: SeriesData, gold: np.ndarray, rate: float, plain: np.ndarray, settings: AnchoredSettings | None = None
) -> int:
    """The number of taps with the best CCC on gold that is set aside: whole recordings, or the later half of one.

    Tried are 1, 3, 5, 10, 20 and 50 frames, 1 s and 3 s, as far as the gold has frames for their unknowns; and a truth
    found without gold, brought to its scale, which is 0 taps. plain: (sum T, D) that truth.
    """
    s = AnchoredSettings() if settings is None else settings
    part, known = with_known(data, gold)
    most = int((~np.isnan(known)).sum(axis=0).min()) // (FRAMES_PER_TAP * data.D)
    tried = sorted({1, 3, 5, 10, 20, 50, round(rate) + 1, round(3 * rate) + 1})
    tried = [W for W in tried if min(most, int(data.length.max()) // 2) >= W]
    aside = _aside(part, known)
    shown = np.where(aside, np.nan, known)
    own = plain[np.repeat(recordings_with(data, ~np.isnan(gold).all(axis=1)), data.length)]
    factor, offset = calibration(own, shown, plain)
    score = [_mean_ccc(own * factor + offset, known, aside)]
    for W in tried:
        fit = fit_with_gold(part, shown, s._replace(W=W, max_iter=s.gold_iter))
        score.append(_mean_ccc(fit.mean, known, aside))
    return [0, *tried][int(np.argmax(score))]


def calibration(mean: np.ndarray, gold: np.ndarray, everywhere: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(D,) factor and (D,) offset that bring a truth to the scale of the gold, drawn to 1 and 0 by a few frames' worth.

    mean, gold: (n, D), NaN where gold is not known; everywhere: (sum T, D) the whole truth, whose spread counts.
    """
    factor, offset = np.ones(gold.shape[1]), np.zeros(gold.shape[1])
    for d in range(gold.shape[1]):
        known = ~np.isnan(gold[:, d])
        n, few = int(known.sum()), SCALE_FRAMES * float(everywhere[:, d].var())
        if not n or few == 0:
            continue
        m, g = mean[known, d], gold[known, d]
        together = float((m - m.mean()) @ (g - g.mean()))
        factor[d] = max((together + few) / (float(np.sum((m - m.mean()) ** 2)) + few), LEAST_FACTOR)
        middle = m.mean() + (g.mean() - m.mean()) * n / (n + LEVEL_FRAMES)
        offset[d] = middle - factor[d] * m.mean()
    return factor, offset


def _aside(data: SeriesData, gold: np.ndarray) -> np.ndarray:
    """(sum T, D) bool, about half of the gold."""
    M, known = len(data.length), ~np.isnan(gold)
    if M > 1:
        return np.asarray(np.repeat(np.arange(M) >= (M + 1) // 2, data.length)[:, None] & known)
    return np.asarray(known & (np.cumsum(known, axis=0) > known.sum(axis=0) / 2))


def _mean_ccc(mean: np.ndarray, gold: np.ndarray, aside: np.ndarray) -> float:
    of_dims = [ccc(np.where(aside, mean, np.nan)[:, d], gold[:, d]) for d in range(gold.shape[1])]
    return float(np.mean(np.nan_to_num(of_dims, nan=-1.0)))
