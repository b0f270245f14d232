"""Agreement before the model, and the path of the estimation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unisono.errors import DataError
from unisono.evaluate.agreement.figures import Drawing
from unisono.evaluate.agreement.measure import measure_agreement
from unisono.evaluate.agreement.results import Agreement
from unisono.plot.canvas import ESTIMATE, Result, axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURES = ("ICC(A,1)", "ICC(A,k)", "alpha (interval)", "reliability")


def agreement(
    found: Agreement | Result, figures: Sequence[str] = FIGURES, *, draws: int = 500, ax: Axes | None = None
) -> Axes:
    """Figures of agreement with their 95 % intervals; takes the result of `un.agreement`, or a fusion."""
    if not isinstance(found, Agreement):
        shrunk = found.fuser.gives_posterior_means()
        found = measure_agreement(found.ratings, drawing=Drawing(draws, 0.95, 0), fused=found.fused, shrunk=shrunk)
    rows = [(one, name) for one in found.dimensions for name in figures]
    axes = axes_for(ax, 0.5 + 0.17 * len(rows))
    for y, (one, name) in enumerate(rows):
        value = one.figures[name]
        if np.isfinite(value.low):
            axes.hlines(y, value.low, value.high, color=ESTIMATE, alpha=0.4, lw=2)
        axes.plot([value.value], [y], "o", color=ESTIMATE, ms=3.5)
    axes.set_yticks(range(len(rows)), [f"{one.name}, {name}" for one, name in rows], fontsize=6)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(right=1.02)
    axes.set_xlabel(f"agreement, {found.level:.0%} intervals")
    return axes


def objective(result: Result, *, ax: Axes | None = None) -> Axes:
    """What the estimation raised, iteration by iteration."""
    values = result.fuser.trace_.objective
    if not len(values):
        raise DataError("An average has no objective: nothing was iterated.")
    axes = axes_for(ax, 1.8)
    axes.plot(np.arange(1, len(values) + 1), values, "-o", color=ESTIMATE, ms=2, lw=1)
    axes.set_xlabel("iteration")
    axes.set_ylabel("objective")
    return axes
