"""Units of series: ratings with mean 0 and variance 1 per dimension, and parameters taken there and back.

Imports NumPy and the sibling modules alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unisono.maths.series.params import SeriesData, SeriesParams


class Scale(NamedTuple):
    level: np.ndarray  # (D,)
    size: np.ndarray  # (D,)


def standardise(data: SeriesData) -> tuple[SeriesData, Scale]:
    """Every dimension with mean 0 and variance 1 over all ratings, every feature over all frames."""
    given = ~np.isnan(data.y)
    count = np.maximum(given.sum(axis=0), 1)
    level = np.where(given, data.y, 0.0).sum(axis=0) / count
    size = np.sqrt((np.where(given, data.y - level, 0.0) ** 2).sum(axis=0) / count)
    size = np.where(size > 0, size, 1.0)
    centre, width = data.X.mean(axis=0), data.X.std(axis=0)
    X = (data.X - centre) / np.where(width > 0, width, 1.0)
    return data._replace(y=(data.y - level) / size, X=X), Scale(level, size)


def in_units(params: SeriesParams, scale: Scale) -> SeriesParams:
    """Parameters of standardised ratings as parameters of the ratings; features stay standardised."""
    ratio = scale.size[:, None] / scale.size[None, :]
    F = params.F * ratio
    return params._replace(
        F=F,
        b=scale.size * params.b + scale.level - np.einsum("kwdp,p->kd", F, scale.level),
        N=params.N * np.outer(scale.size, scale.size),
        mu=scale.size * params.mu + scale.level,
        theta=params.theta * scale.size,
        sigma=params.sigma * np.outer(scale.size, scale.size),
    )
