"""The default on the scale and level of gold, where gold is too little for filters."""

from __future__ import annotations

import numpy as np

from unisono.fusers.series.estimated import Estimated, whole
from unisono.fusers.series.model import model_of
from unisono.maths.series.default import DefaultFit
from unisono.maths.series.gauge import rescale, shift
from unisono.maths.series.gold import GoldSettings
from unisono.maths.series.gold_choice import calibration
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
