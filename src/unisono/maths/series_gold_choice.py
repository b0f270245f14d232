"""What gold is good for: filters of some width, or, where there is little of it, the scale of a truth found without.

Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np

from unisono.maths.metrics import ccc
from unisono.maths.series_anchored import AnchoredSettings, fit_with_gold, recordings_with, with_known
from unisono.maths.series_params import SeriesData

MOST_TAPS, MOST_SECONDS = 20, 3.0
FRAMES_PER_TAP = 8  # known frames for every unknown of a filter row, at least
CLEARLY = 0.8  # of the other's distance from a CCC of 1
SCALE_SECONDS = 20.0  # worth of gold by which a calibrated truth keeps the scale of the ratings
LEVEL_SECONDS = 2.0  # the same for its level, which is seen sooner
LEAST_FACTOR = 0.1  # a truth is never calibrated to nothing, nor turned around


def choose_taps(
    data: SeriesData, gold: np.ndarray, rate: float, plain: np.ndarray, settings: AnchoredSettings | None = None
) -> int:
    """As many taps as the gold has frames for, up to 20 or 3 s, whichever is more; 0 where that is no good.

    It is no good unless it comes clearly closer, by CCC, to gold that is set aside (whole recordings, or quarters
    of one) than a truth found without gold and brought to its scale. More taps than needed cost little; a choice of
    their number by the same gold would be a lottery. plain: (sum T, D) the truth found without gold.
    """
    s = AnchoredSettings() if settings is None else settings
    part, known = with_known(data, gold)
    most = int((~np.isnan(known)).sum(axis=0).min()) // (FRAMES_PER_TAP * data.D)
    W = min(max(MOST_TAPS, round(MOST_SECONDS * rate) + 1), most, int(data.length.max()) // 2)
    if not W:
        return 0
    aside = _aside(part, known)
    shown = np.where(aside, np.nan, known)
    own = plain[np.repeat(recordings_with(data, ~np.isnan(gold).all(axis=1)), data.length)]
    factor, offset = calibration(own, shown, plain, rate)
    fit = fit_with_gold(part, shown, s._replace(W=W))
    free, calibrated = (1.0 - _mean_ccc(mean, known, aside) for mean in (fit.mean, own * factor + offset))
    return W if free < CLEARLY * calibrated else 0


def calibration(
    mean: np.ndarray, gold: np.ndarray, everywhere: np.ndarray, rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """(D,) factor and (D,) offset that bring a truth to the scale of the gold, drawn to 1 and 0 by some seconds' worth.

    mean, gold: (n, D), NaN where gold is not known; everywhere: (sum T, D) the whole truth, whose spread counts; rate:
    frames per second.
    """
    factor, offset = np.ones(gold.shape[1]), np.zeros(gold.shape[1])
    for d in range(gold.shape[1]):
        known = ~np.isnan(gold[:, d])
        n, few = int(known.sum()), SCALE_SECONDS * rate * float(everywhere[:, d].var())
        if not n or few == 0:
            continue
        m, g = mean[known, d], gold[known, d]
        together = float((m - m.mean()) @ (g - g.mean()))
        factor[d] = max((together + few) / (float(np.sum((m - m.mean()) ** 2)) + few), LEAST_FACTOR)
        middle = m.mean() + (g.mean() - m.mean()) * n / (n + LEVEL_SECONDS * rate)
        offset[d] = middle - factor[d] * m.mean()
    return factor, offset


def _aside(data: SeriesData, gold: np.ndarray) -> np.ndarray:
    """(sum T, D) bool, about half of the gold."""
    M, known = len(data.length), ~np.isnan(gold)
    if M > 1:
        return np.asarray(np.repeat(np.arange(M) >= (M + 1) // 2, data.length)[:, None] & known)
    # The second and the fourth quarter: a later half may lie where the truth never was before.
    quarter = (4 * (np.cumsum(known, axis=0) - 1)) // np.maximum(known.sum(axis=0), 1)
    return np.asarray(known & (quarter % 2 == 1))


def _mean_ccc(mean: np.ndarray, gold: np.ndarray, aside: np.ndarray) -> float:
    of_dims = [ccc(np.where(aside, mean, np.nan)[:, d], gold[:, d]) for d in range(gold.shape[1])]
    return float(np.mean(np.nan_to_num(of_dims, nan=-1.0)))
