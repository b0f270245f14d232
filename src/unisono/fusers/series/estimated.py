"""What an estimation brings, before labels and units: models of some of the dimensions, the truth, how EM went."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.fusers.items.estimate import sum_of_traces
from unisono.fusers.series.model import SeriesModel, model_of
from unisono.maths.em import EmTrace
from unisono.maths.gold_slope import Slope
from unisono.maths.series.default import DefaultFit


class DimensionModel(NamedTuple):
    """A model of some of the dimensions."""

    dims: tuple[int, ...]
    model: SeriesModel


class Estimated(NamedTuple):
    """What an estimation brings: models, how it went, and the truth of the fitted frames."""

    parts: tuple[DimensionModel, ...]
    trace: EmTrace
    truth: tuple[np.ndarray, np.ndarray] | None = None  # (sum T, D), (sum T, D, D); None: computed when it is needed
    gold: bool = False  # whether known frames went into that truth
    slopes: tuple[Slope, ...] = ()  # of gold on the truth fused without it, by dimension


def finished(fit: DefaultFit) -> Estimated:
    """A fit of the default as it is."""
    return Estimated((whole(model_of(fit)),), fit.trace, (fit.mean, fit.cov))


def whole(model: SeriesModel) -> DimensionModel:
    """A model of all dimensions together."""
    return DimensionModel(tuple(range(len(model.params.mu))), model)


def combined(found: list[Estimated]) -> Estimated:
    """Estimates of one dimension each as one estimate; dimensions are independent."""
    parts = tuple(DimensionModel((d,), one.parts[0].model) for d, one in enumerate(found))
    truths = [one.truth for one in found if one.truth is not None]
    truth = None
    if truths:
        mean = np.concatenate([own for own, _ in truths], axis=1)
        cov = np.zeros((len(mean), len(found), len(found)))
        for d, (_, own) in enumerate(truths):
            cov[:, d, d] = own[:, 0, 0]
        truth = (mean, cov)
    slopes = tuple(slope for one in found for slope in one.slopes)
    gold = any(one.gold for one in found)
    return Estimated(parts, sum_of_traces([one.trace for one in found]), truth, gold=gold, slopes=slopes)
