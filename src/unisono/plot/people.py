"""Annotators: their figures, what they do to the truth, how they follow it in time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unisono.errors import DataError
from unisono.fusers.annotator_columns import by_reliability
from unisono.plot.canvas import DIMENSIONS, DIVERGING, SINGLE, Result, axes_for, legend_above, place_of, subplots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURES = ("reliability", "bias", "gain", "noise", "agreement", "delay")
IDEAL = {"bias": 0.0, "gain": 1.0}
MOST = 40
MOST_LABELLED = 6  # dimensions whose names fit beside a matrix
VISIBLE = 0.01  # of the largest weight: beyond the last weight that can be seen a filter is not drawn


def annotators(result: Result, figure: str = "reliability", *, most: int = MOST, ax: Axes | None = None) -> Axes:
    """One figure of every annotator, a colour per dimension, the most reliable at the top."""
    found = result.described
    if figure not in FIGURES or getattr(found, figure) is None:
        known = [name for name in FIGURES if getattr(found, name) is not None]
        raise DataError(f"There is no figure '{figure}' of annotators here. There are: {', '.join(known)}.")
    order = by_reliability(found)
    if len(order) > most:
        order = np.concatenate([order[: most // 2], order[-(most - most // 2) :]])
    values = getattr(found, figure)
    axes = axes_for(ax, 0.7 + 0.16 * len(order))
    y = np.arange(len(order))
    D = len(found.dimensions)
    for d, name in enumerate(found.dimensions):
        shift = 0.0 if D == 1 else 0.5 * (d / (D - 1) - 0.5)
        axes.plot(values[order, d], y + shift, "o", ms=3, color=DIMENSIONS[d % len(DIMENSIONS)], label=name)
    if figure in IDEAL:
        axes.axvline(IDEAL[figure], color=SINGLE, lw=0.6, zorder=0)
    axes.set_yticks(y, [found.annotators[k] for k in order], fontsize=6)
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_xlabel(f"{figure}, seconds" if figure == "delay" else figure)
    if 1 < D <= len(DIMENSIONS):
        legend_above(axes)
    return axes


def matrices(
    result: Result, annotators: Sequence[str] | None = None, *, most: int = 12, axes: Any = None
) -> np.ndarray:
    """What annotators do to the truth: rows are answers, columns truths; nobody's leakage would be empty squares.

    Returns an array of axes, one per annotator; `axes` may be such an array of your own.
    """
    found = result.described
    names = list(annotators) if annotators is not None else [found.annotators[k] for k in by_reliability(found)]
    places = [place_of(name, found.annotators, "annotator") for name in names[:most]]
    if axes is None:
        columns = min(len(places), 4)
        rows = -(-len(places) // columns)
        axes = subplots(rows, columns, figsize=(0.9 * columns, 1.05 * rows + 0.2), squeeze=False)
        figure = axes[0, 0].figure
        figure.supxlabel("truth", fontsize=7)
        figure.supylabel("answer", fontsize=7)
    panels = np.asarray(axes, dtype=object).ravel()
    for panel, k in zip(panels, places, strict=False):
        panel.imshow(found.leakage[k] + np.diag(found.gain[k]), cmap=DIVERGING, vmin=-1.5, vmax=1.5)
        panel.set_title(found.annotators[k], fontsize=7)
        panel.set_xticks([])
        panel.set_yticks([])
    if len(found.dimensions) <= MOST_LABELLED:
        panels[0].set_yticks(range(len(found.dimensions)), found.dimensions, fontsize=5)
    for panel in panels[len(places) :]:
        panel.set_axis_off()
    return panels[: len(places)]


def filters(result: Result, dimension: str | None = None, *, ax: Axes | None = None) -> Axes:
    """How an answer follows the truth of its own dimension in time: weight of the truth so many seconds earlier."""
    fused, found = result.fused, result.described
    if fused.clock is None:
        raise DataError("Ratings of items have no filters: filters are for traces.")
    d = place_of(dimension, fused.dimensions, "dimension")
    weights = _filters(result, d)
    if weights is None:
        raise DataError("This model has no filters in time: fuse with the model 'auto', 'joint' or 'paper-joint'.")
    axes = axes_for(ax, 2.0)
    seconds = np.arange(weights.shape[1]) / fused.clock.rate
    for k, row in enumerate(weights):
        axes.plot(seconds, row, lw=0.8, color=DIMENSIONS[k % len(DIMENSIONS)], label=found.annotators[k])
    reach = np.flatnonzero((np.abs(weights) > VISIBLE * np.abs(weights).max()).any(axis=0))
    axes.set_xlim(0.0, seconds[min(int(reach[-1]) + 2, len(seconds) - 1)] if len(reach) else seconds[-1])
    axes.set_xlabel("seconds before the answer")
    axes.set_ylabel(f"weight of the true {fused.dimensions[d]}")
    if len(weights) <= len(DIMENSIONS):
        legend_above(axes)
    return axes


def _filters(result: Result, d: int) -> np.ndarray | None:
    """(K, W) weights on the own dimension, from the part of the model that holds it."""
    for part in getattr(result.fuser, "parts_", ()):
        dims = [int(i) for i in part.dims]
        if d in dims:
            own = dims.index(d)
            return np.asarray(part.model.params.F[:, :, own, own])
    return None
