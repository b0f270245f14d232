"""Plots of a fusion for papers: every function draws on axes of matplotlib, yours or its own, and returns them.

    import unisono as un
    axes = un.plot.truth(un.fuse("ratings.csv"), "valence")
    axes.figure.savefig("truth.pdf")

    truth        estimates of items with their intervals, beside the plain mean
    traces       all traces of a recording, the estimate with its band
    annotators   one figure of every annotator: reliability, bias, gain, noise, agreement or delay
    matrices     what every annotator does to the truth, as heat maps
    filters      how every annotator follows the truth in time
    agreement    figures of agreement with their intervals
    wins         how often items of comparisons beat each other
    leaderboard  means of systems with their intervals and the ranks they may have
    objective    the objective from iteration to iteration

and, to check a fit (`checking_plots`)

    bland_altman     two annotators, or the estimate and the plain mean: difference against mean
    calibration      answers that were held out against what was predicted
    residuals        answers less what is expected, along the estimate or in time
    drift            residuals of every annotator from the beginning to the end
    overlap          who rated how many items together with whom
    posterior_check  answers as they are, and as the fitted model draws them
    confusion        what is answered, given the true class

Figures are one column wide (3.4 inches) with 8 point letters, in colours that people with any colour vision tell apart
(`plot_style`). matplotlib is needed: pip install "unisono[plot]".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unisono.errors import DataError
from unisono.evaluate.agreement_measure import Drawing, estimate_of, measure_agreement
from unisono.evaluate.agreement_results import Agreement
from unisono.evaluate.leaderboard_results import Leaderboard
from unisono.evaluate.pair_agreement import most_compared, win_shares
from unisono.fusers import make_fuser
from unisono.fusers.fusion_results import by_reliability
from unisono.report import plot_style
from unisono.report.checking_plots import (
    bland_altman,
    calibration,
    confusion,
    drift,
    overlap,
    posterior_check,
    residuals,
)
from unisono.report.plot_style import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


AGREEMENT_FIGURES = ("ICC(A,1)", "ICC(A,k)", "alpha (interval)", "reliability")


def agreement(
    found: Agreement | Result, figures: Sequence[str] = AGREEMENT_FIGURES, *, draws: int = 500, ax: Axes | None = None
) -> Axes:
    """Figures of agreement with their 95 % intervals; takes the result of `un.agreement`, or a fusion."""
    if not isinstance(found, Agreement):
        estimate = estimate_of(found.fuser, found.fused)
        found = measure_agreement(found.ratings, drawing=Drawing(draws, 0.95, 0), estimate=estimate)
    rows = [(one, name) for one in found.dimensions for name in figures]
    axes = plot_style.axes_for(ax, 0.5 + 0.17 * len(rows))
    for y, (one, name) in enumerate(rows):
        value = one.figures[name]
        if np.isfinite(value.low):
            axes.hlines(y, value.low, value.high, color=plot_style.ESTIMATE, alpha=0.4, lw=2)
        axes.plot([value.value], [y], "o", color=plot_style.ESTIMATE, ms=3.5)
    axes.set_yticks(range(len(rows)), [f"{one.name}, {name}" for one, name in rows], fontsize=6)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(right=1.02)
    return plot_style.named(axes, f"agreement, {found.level:.0%} intervals")


def leaderboard(found: Leaderboard, dimension: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Means of systems, the best on top, with their intervals; beside them the ranks that they may have.

    Takes the result of `un.leaderboard`.
    """
    d = plot_style.place_of(dimension, found.dimensions, "dimension")
    table = found.system_columns()
    rows = [i for i, name in enumerate(table["dimension"]) if name == found.dimensions[d]]
    mean, low, high = (np.array([table[name][i] for i in rows]) for name in ("mean", "low", "high"))
    axes = plot_style.axes_for(ax, 0.8 + 0.17 * len(rows))
    place = -np.arange(len(rows))
    axes.errorbar(mean, place, xerr=[mean - low, high - mean], fmt="o", ms=3.5, lw=1, color=plot_style.ESTIMATE)
    axes.set_yticks(place, [table["system"][i] for i in rows])
    axes.set_xlabel(f"{found.dimensions[d]} (mean, {found.level:.0%} interval)")
    ranks = axes.secondary_yaxis("right")
    ends = [(table["rank_low"][i], table["rank_high"][i]) for i in rows]
    ranks.set_yticks(place, [f"{a}" if a == b else f"{a} to {b}" for a, b in ends])
    ranks.set_ylabel("rank", fontsize=axes.xaxis.label.get_fontsize())
    ranks.tick_params(labelsize=axes.yaxis.get_majorticklabels()[0].get_fontsize())
    ranks.spines["right"].set_visible(False)
    return axes


def wins(result: Any, dimension: str | None = None, *, most: int = 20, ax: Axes | None = None) -> Axes:
    """How often the item of the row was found to have more than that of the column, a tie as half.

    Takes a fusion of comparisons. The items that were compared most are drawn, the highest estimate on top; empty
    squares are pairs that nobody compared.
    """
    compared = getattr(result, "comparisons", None)
    if compared is None:
        raise DataError("Wins are of comparisons: draw those of un.fuse(comparisons=...).")
    d = plot_style.place_of(dimension, compared.dimensions, "dimension")
    fused, of = result.fused, min(d, len(result.fused.dimensions) - 1)
    place = {item: m for m, item in enumerate(fused.items)}
    items = most_compared(compared, fused.mean[[place[item] for item in compared.items], of], most)
    axes = plot_style.axes_for(ax, 0.9 + 0.14 * len(items))
    drawn = axes.imshow(win_shares(compared, d, items), cmap=plot_style.DIVERGING, vmin=0, vmax=1)
    names = [compared.items[m] for m in items]
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.set_xticks(range(len(names)), names, fontsize=6, rotation=90)
    plot_style.colour_bar(axes, drawn, f"wins of the row on {compared.dimensions[d]}")
    return axes


def objective(result: Result, *, ax: Axes | None = None) -> Axes:
    """What the estimation raised, iteration by iteration."""
    values = result.fuser.trace_.objective
    if not len(values):
        raise DataError("An average has no objective: nothing was iterated.")
    axes = plot_style.axes_for(ax, 1.8)
    axes.plot(np.arange(1, len(values) + 1), values, "-o", color=plot_style.ESTIMATE, ms=2, lw=1)
    return plot_style.named(axes, "iteration", "objective")


ANNOTATOR_FIGURES = ("reliability", "bias", "gain", "noise", "agreement", "delay")
IDEAL = {"bias": 0.0, "gain": 1.0}
MOST_LABELLED = 6  # dimensions whose names fit beside a matrix
VISIBLE = 0.01  # of the largest weight: beyond the last weight that can be seen a filter is not drawn


def annotators(
    result: Result, figure: str = "reliability", *, most: int = plot_style.MOST, ax: Axes | None = None
) -> Axes:
    """One figure of every annotator with its 90 % interval, a colour per dimension, the most reliable at the top."""
    found = result.described
    if figure not in ANNOTATOR_FIGURES or getattr(found, figure) is None:
        known = [name for name in ANNOTATOR_FIGURES if getattr(found, name) is not None]
        raise DataError(f"There is no figure '{figure}' of annotators here. There are: {', '.join(known)}.")
    order = by_reliability(found)
    if len(order) > most:
        order = np.concatenate([order[: most // 2], order[-(most - most // 2) :]])
    values = getattr(found, figure)
    axes = plot_style.axes_for(ax, 0.7 + 0.16 * len(order))
    y = np.arange(len(order))
    D = len(found.dimensions)
    for d, name in enumerate(found.dimensions):
        shift = 0.0 if D == 1 else 0.5 * (d / (D - 1) - 0.5)
        colour = plot_style.DIMENSIONS[d % len(plot_style.DIMENSIONS)]
        if found.ends is not None and figure in found.ends:
            axes.hlines(y + shift, *(end[order, d] for end in found.ends[figure]), color=colour, lw=0.7, alpha=0.6)
        axes.plot(values[order, d], y + shift, "o", ms=3, color=colour, label=name)
    if figure in IDEAL:
        axes.axvline(IDEAL[figure], color=plot_style.SINGLE, lw=0.6, zorder=0)
    axes.set_yticks(y, [found.annotators[k] for k in order], fontsize=6)
    axes.set_ylim(len(order) - 0.4, -0.6)
    return plot_style.named(
        axes,
        f"{figure}, seconds" if figure == "delay" else figure,
        legend=3 if 1 < D <= len(plot_style.DIMENSIONS) else 0,
    )


def matrices(
    result: Result, annotators: Sequence[str] | None = None, *, most: int = 12, axes: Any = None
) -> np.ndarray:
    """What annotators do to the truth: rows are answers, columns truths; nobody's leakage would be empty squares.

    Returns an array of axes, one per annotator; `axes` may be such an array of your own.
    """
    found = result.described
    names = list(annotators) if annotators is not None else [found.annotators[k] for k in by_reliability(found)]
    places = [plot_style.place_of(name, found.annotators, "annotator") for name in names[:most]]
    if axes is None:
        columns = min(len(places), 4)
        rows = -(-len(places) // columns)
        axes = plot_style.subplots(rows, columns, figsize=(0.9 * columns, 1.05 * rows + 0.2), squeeze=False)
        figure = axes[0, 0].figure
        figure.supxlabel("truth", fontsize=7)
        figure.supylabel("answer", fontsize=7)
        if len(places) < len(names):
            figure.suptitle(f"{len(places)} of {len(names)} annotators, the most reliable", fontsize=7)
    panels = np.asarray(axes, dtype=object).ravel()
    for panel, k in zip(panels, places, strict=False):
        image = panel.imshow(found.leakage[k] + np.diag(found.gain[k]), cmap=plot_style.DIVERGING, vmin=-1.5, vmax=1.5)
        panel.set_title(found.annotators[k], fontsize=7)
        panel.set_xticks([])
        panel.set_yticks([])
    if len(found.dimensions) <= MOST_LABELLED:
        panels[0].set_yticks(range(len(found.dimensions)), found.dimensions, fontsize=5)
    for panel in panels[len(places) :]:
        panel.set_axis_off()
    plot_style.colour_bar(list(panels), image, "change of the answer\nper unit of truth")
    return panels[: len(places)]


def filters(result: Result, dimension: str | None = None, *, ax: Axes | None = None) -> Axes:
    """How an answer follows the truth of its own dimension in time: weight of the truth so many seconds earlier."""
    fused, found = result.fused, result.described
    if fused.clock is None:
        raise DataError("Ratings of items have no filters: filters are for traces.")
    d = plot_style.place_of(dimension, fused.dimensions, "dimension")
    weights = _filters(result, d)
    if weights is None:
        raise DataError("This model has no filters in time: fuse with the model 'auto', 'joint' or 'paper-joint'.")
    axes = plot_style.axes_for(ax, 2.0)
    seconds = np.arange(weights.shape[1]) / fused.clock.rate
    for k, row in enumerate(weights):
        axes.plot(
            seconds, row, lw=0.8, color=plot_style.DIMENSIONS[k % len(plot_style.DIMENSIONS)], label=found.annotators[k]
        )
    reach = np.flatnonzero((np.abs(weights) > VISIBLE * np.abs(weights).max()).any(axis=0))
    axes.set_xlim(0.0, seconds[min(int(reach[-1]) + 2, len(seconds) - 1)] if len(reach) else seconds[-1])
    return plot_style.named(
        axes,
        "seconds before the answer",
        f"weight of the true {fused.dimensions[d]}",
        legend=3 if len(weights) <= len(plot_style.DIMENSIONS) else 0,
    )


def _filters(result: Result, d: int) -> np.ndarray | None:
    """(K, W) weights on the own dimension, from the part of the model that holds it."""
    for part in getattr(result.fuser, "parts_", ()):
        dims = [int(i) for i in part.dims]
        if d in dims:
            own = dims.index(d)
            return np.asarray(part.model.params.F[:, :, own, own])
    return None


ROW = 0.13  # inches of height per item


def truth(
    result: Result,
    dimension: str | None = None,
    *,
    items: Sequence[str] | None = None,
    most: int = 40,
    ax: Axes | None = None,
) -> Axes:
    """Estimates of items in their order with 90 % intervals; open circles are plain means.

    `items` are those to draw; else, of more than `most`, some at equal steps from the highest to the lowest.
    """
    fused = result.fused
    if fused.clock is not None:
        raise DataError("These are traces: draw them with plot.traces(result, recording).")
    d = plot_style.place_of(dimension, fused.dimensions, "dimension")
    order = np.argsort(-fused.mean[:, d], kind="stable")
    if items is not None:
        chosen = [plot_style.place_of(str(item), fused.items, "item") for item in items]
        order = order[np.isin(order, chosen)]
    elif len(order) > most:
        order = order[np.linspace(0, len(order) - 1, most).round().astype(int)]
    low, high = fused.interval()
    axes = plot_style.axes_for(ax, 0.6 + ROW * len(order))
    y = np.arange(len(order))
    axes.hlines(y, low[order, d], high[order, d], color=plot_style.ESTIMATE, alpha=0.4, lw=2)
    if not hasattr(result, "comparisons"):  # which have no mean
        mean = make_fuser("mean", series=False).fit(result.ratings).fuse().mean[:, d]
        axes.plot(mean[order], y, "o", mfc="none", mec=plot_style.MEAN, ms=3, label="mean")
    axes.plot(fused.mean[order, d], y, "o", color=plot_style.ESTIMATE, ms=3, label="estimate, 90 % interval")
    axes.set_yticks(y, [fused.items[m] for m in order], fontsize=6)
    axes.set_ylim(len(order) - 0.4, -0.6)
    return plot_style.named(axes, fused.dimensions[d], legend=3)


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
    m = plot_style.place_of(recording, fused.items, "recording")
    d = plot_style.place_of(dimension, fused.dimensions, "dimension")
    first = int(fused.length[:m].sum())
    own = slice(first, first + int(fused.length[m]))
    time = fused.clock.start[m] + np.arange(int(fused.length[m])) / fused.clock.rate
    low, high = fused.interval()
    mean = make_fuser("mean", series=True).fit(ratings).fuse().mean
    axes = plot_style.axes_for(ax, 2.0)
    for j in range(int(ratings.item_ptr[m]), int(ratings.item_ptr[m + 1])):
        axes.plot(
            time,
            ratings.value[ratings.offset[j] : ratings.offset[j + 1], d],
            color=plot_style.SINGLE,
            lw=0.4,
            alpha=0.7,
        )
    axes.fill_between(time, low[own, d], high[own, d], color=plot_style.ESTIMATE, alpha=0.25, lw=0)
    axes.plot(time, mean[own, d], "--", color=plot_style.MEAN, lw=0.8, label="mean")
    axes.plot(time, fused.mean[own, d], color=plot_style.ESTIMATE, lw=1.2, label="estimate, 90 % band")
    axes.set_xlim(seconds if seconds is not None else (float(time[0]), float(time[-1])))
    return plot_style.named(axes, f"{fused.items[m]}, seconds", fused.dimensions[d], legend=3)


__all__ = [
    "agreement",
    "annotators",
    "bland_altman",
    "calibration",
    "confusion",
    "drift",
    "filters",
    "leaderboard",
    "matrices",
    "objective",
    "overlap",
    "posterior_check",
    "residuals",
    "traces",
    "truth",
    "wins",
]
