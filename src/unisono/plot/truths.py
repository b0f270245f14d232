"""The fused truth: items as a caterpillar, traces over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unisono.errors import DataError
from unisono.fusers import make_fuser
from unisono.plot.canvas import ESTIMATE, MEAN, SINGLE, Result, axes_for, legend_above, place_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.13  # inches of height per item


def truth(result: Result, dimension: str | None = None, *, most: int = 40, ax: Axes | None = None) -> Axes:
    """Estimates of items in their order with 90 % intervals; open circles are plain means.

    Of more items than `most` some are drawn, at equal steps from the highest to the lowest.
    """
    fused = result.fused
    if fused.clock is not None:
        raise DataError("These are traces: draw them with plot.traces(result, recording).")
    d = place_of(dimension, fused.dimensions, "dimension")
    order = np.argsort(-fused.mean[:, d], kind="stable")
    if len(order) > most:
        order = order[np.linspace(0, len(order) - 1, most).round().astype(int)]
    low, high = fused.interval()
    mean = make_fuser("mean", series=False).fit(result.ratings).fuse().mean[:, d]
    axes = axes_for(ax, 0.6 + ROW * len(order))
    y = np.arange(len(order))
    axes.hlines(y, low[order, d], high[order, d], color=ESTIMATE, alpha=0.4, lw=2)
    axes.plot(mean[order], y, "o", mfc="none", mec=MEAN, ms=3, label="mean")
    axes.plot(fused.mean[order, d], y, "o", color=ESTIMATE, ms=3, label="estimate, 90 % interval")
    axes.set_yticks(y, [fused.items[m] for m in order], fontsize=6)
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_xlabel(fused.dimensions[d])
    legend_above(axes)
    return axes


def traces(
    result: Result,
    recording: str | None = None,
    dimension: str | None = None,
    *,
    seconds: tuple[float, float] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """All traces of a recording in grey, the estimate with its 90 % band, the plain mean dashed."""
    fused, ratings = result.fused, result.ratings
    if fused.clock is None:
        raise DataError("These are ratings of items: draw them with plot.truth(result, dimension).")
    m = place_of(recording, fused.items, "recording")
    d = place_of(dimension, fused.dimensions, "dimension")
    first = int(fused.length[:m].sum())
    own = slice(first, first + int(fused.length[m]))
    time = fused.clock.start[m] + np.arange(int(fused.length[m])) / fused.clock.rate
    low, high = fused.interval()
    mean = make_fuser("mean", series=True).fit(ratings).fuse().mean
    axes = axes_for(ax, 2.0)
    for j in range(int(ratings.item_ptr[m]), int(ratings.item_ptr[m + 1])):
        axes.plot(time, ratings.value[ratings.offset[j] : ratings.offset[j + 1], d], color=SINGLE, lw=0.4, alpha=0.7)
    axes.fill_between(time, low[own, d], high[own, d], color=ESTIMATE, alpha=0.25, lw=0)
    axes.plot(time, mean[own, d], "--", color=MEAN, lw=0.8, label="mean")
    axes.plot(time, fused.mean[own, d], color=ESTIMATE, lw=1.2, label="estimate, 90 % band")
    axes.set_xlim(seconds if seconds is not None else (float(time[0]), float(time[-1])))
    axes.set_xlabel(f"{fused.items[m]}, seconds")
    axes.set_ylabel(fused.dimensions[d])
    legend_above(axes)
    return axes
