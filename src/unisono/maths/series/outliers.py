"""Single frames that stand far outside everything that an annotator traced: typing errors, glitches of a device.

A hand takes time, so that what a trace shows lasts for some frames. The range of running medians, over all traces of an
annotator, is what they said; a frame further out than that range once more is drawn to the running median where it
stands, and as far out again it says nothing else. Nothing jumps between, and other frames stay as they are.
Imports NumPy, SciPy and the sibling modules alone.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import median_filter

from unisono.maths.series.params import SeriesData

WINDOW = 5  # frames of a running median: two of them, side by side, may be wrong


def without_outliers(data: SeriesData) -> np.ndarray:
    """(S, D) ratings, the same array where there is nothing to be done."""
    y = data.y
    for d in range(data.D):
        found = _drawn_in(data, data.y[:, d])
        if found is not None:
            y = data.y.copy() if y is data.y else y
            y[:, d] = found
    return y


def _drawn_in(data: SeriesData, y: np.ndarray) -> np.ndarray | None:
    """(S,) ratings of one dimension; None where nothing is far out."""
    lasting = _running_medians(data, y)
    annotator = np.repeat(data.annotator_of, data.length[data.item_of])
    seen = ~np.isnan(lasting)
    low, high = np.full(data.K, np.inf), np.full(data.K, -np.inf)
    np.minimum.at(low, annotator[seen], lasting[seen])
    np.maximum.at(high, annotator[seen], lasting[seen])
    width = np.where(high > low, high - low, 0.0)
    if not (width > 0).any():
        return None
    width = np.maximum(width, np.median(width[width > 0]))  # who never moves may begin to
    out = np.maximum(y - high[annotator], low[annotator] - y) / width[annotator] - 1.0  # ranges beyond the bound
    far = seen & (out > 0)
    if not far.any():
        return None
    found, k = y.copy(), annotator[far]
    bound = np.where(y[far] > high[k], high[k] + width[k], low[k] - width[k])
    found[far] = lasting[far] + (bound - lasting[far]) * np.maximum(1.0 - out[far], 0.0)
    return found


def _running_medians(data: SeriesData, y: np.ndarray) -> np.ndarray:
    """(S,) of the ratings of each trace, gaps skipped; NaN where missing, and in traces too short for any."""
    end = np.cumsum(data.length[data.item_of])
    found = np.full(len(y), np.nan)
    for hi, length in zip(end.tolist(), data.length[data.item_of].tolist(), strict=True):
        rated = hi - length + np.flatnonzero(~np.isnan(y[hi - length : hi]))
        if len(rated) >= WINDOW:
            found[rated] = median_filter(y[rated], WINDOW)
    return found
