"""The delay convention in words: what the time axis of a fused series means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono.fusers.series.model import SeriesModel

RELATIVE = "Ratings show only how late annotators are relative to each other."
WHY = {
    "earliest": "By convention the earliest annotator reacts after 0.2 s, so that they are {lag} s late on average, "
    "and the truth is placed that much earlier. Set the mean reaction time with --lag SECONDS.",
    "given": "Their mean delay was given as {lag} s, and the truth is placed that much earlier.",
    "features": "The features fix the rest: annotators are {lag} s late on average.",
    "gold": "The known frames fix the rest: annotators are {lag} s late on average.",
    "none": "This model does not place the truth: it is as late as its filters leave it, {lag} s on average.",
}


def lag_notes(models: Sequence[SeriesModel], rate: float) -> dict[str, Any]:
    """What the summary says about time."""
    lag = round(float(np.mean([model.mean_lag for model in models])), 3)
    why = models[0].convention
    window = max(model.params.F.shape[1] - 1 for model in models) / rate
    words = f"{RELATIVE} {WHY[why].format(lag=f'{lag:g}')}"
    return {"mean_delay": lag, "delay_convention": why, "window": round(window, 6), "delay_words": words}


def unmoved_notes(words: str) -> dict[str, Any]:
    """The same for averages that leave the traces where they are, or move them onto each other alone."""
    return {"mean_delay": None, "delay_convention": "none", "window": 0.0, "delay_words": words}
