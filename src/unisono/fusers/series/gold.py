"""The default on the scale and level of gold, where gold is too little for filters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unisono.errors import DataError
from unisono.fusers.series.estimated import Estimated, whole
from unisono.fusers.series.model import model_of
from unisono.maths.series.default import DefaultFit
from unisono.maths.series.gauge import rescale, shift
from unisono.maths.series.gold import GoldSettings
from unisono.maths.series.gold_choice import FRAMES_PER_TAP, calibration, constant_dimensions, most_taps
from unisono.maths.series.tracer_diagnosis import turned_diagnosis
from unisono.maths.series.tracer_truth import rescaled_levels

GOLD_VARIANCE = GoldSettings().gold_variance  # of the gold's own error, in variances of the gold


def calibrated(fit: DefaultFit, gold: np.ndarray) -> Estimated:
    """The default's truth on the scale of the gold, where free filters are no better than one gain and delay."""
    factor, offset = calibration(fit.mean, gold, fit.mean)
    params = shift(rescale(fit.params, np.diag(factor)), offset)
    model = model_of(fit)
    levels = None if fit.levels is None else rescaled_levels(fit.levels, factor)
    unusual = None if fit.diagnosis is None else turned_diagnosis(fit.diagnosis, factor < 0)
    model = model._replace(
        params=params,
        levels=levels,
        diagnosis=unusual,
        extra=fit.extra * factor**2,
        spread=fit.spread._replace(bias=fit.spread.bias * factor**2),
    )
    known = ~np.isnan(gold)
    mean = np.where(known, gold, fit.mean * factor + offset)
    variance = np.where(known, GOLD_VARIANCE * np.nanvar(gold, axis=0), (fit.sd * factor) ** 2)
    cov = np.eye(gold.shape[1]) * np.maximum(variance, np.finfo(float).tiny)[:, :, None]
    return Estimated((whole(model),), fit.trace, (mean, cov), gold=True)


def require_movement(dimensions: Sequence[str], gold: np.ndarray) -> None:
    """A DataError where known frames (sum T, D) of a dimension are all equal, and filters were asked for."""
    if flat := constant_dimensions(gold):
        raise DataError(
            f"The known frames of {dimensions[flat[0]]} are all equal, and no filter is learned from a constant. Leave "
            "the window out: the gold then sets the level alone."
        )


def require_enough(gold: np.ndarray, W: int, window: float, rate: float) -> None:
    """A DataError where known frames (sum T, D) cannot tell filters of W frames, which take `window` seconds."""
    most, D = most_taps(gold), gold.shape[1]
    if most < W:
        raise DataError(
            f"A window of {window:g} s makes filters of {W} frames: {W * D + 1} unknowns for every annotator and "
            f"dimension, of which the known frames can tell {most * D}. Know {FRAMES_PER_TAP * D * W} frames of every "
            f"dimension, give a window of at most {max(most - 1, 0) / rate:g} s, or leave it out: the gold then "
            "calibrates the default."
        )
