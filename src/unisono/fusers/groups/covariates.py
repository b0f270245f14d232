"""Covariates of ratings: their units, and what they do to the answers of every annotator and group."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unisono.data import Ratings
from unisono.data.rating_numbers import RatingNumbers
from unisono.errors import DataError
from unisono.fusers.groups.units import GroupUnits
from unisono.maths.groups.params import Rows
from unisono.maths.items.predictive import half_width

LEVEL = 0.90


class CovariateUnits(NamedTuple):
    """x = center + scale * z for the covariates of ratings."""

    names: tuple[str, ...]
    center: np.ndarray  # (P,)
    scale: np.ndarray  # (P,)


NO_COVARIATES = CovariateUnits((), np.zeros(0), np.zeros(0))


def standardised(numbers: RatingNumbers | None, ratings: Ratings) -> tuple[CovariateUnits, np.ndarray]:
    """The units of the covariates, and their standardised numbers (J, P)."""
    if numbers is None:
        return NO_COVARIATES, np.zeros((ratings.J, 0))
    x = numbers.of(ratings)
    center, scale = x.mean(axis=0), x.std(axis=0)
    for name, spread in zip(numbers.names, scale, strict=True):
        if spread == 0:
            raise DataError(f"{numbers.source}: the covariate '{name}' is the same for all ratings. Leave it out.")
    return CovariateUnits(numbers.names, center, scale), (x - center) / scale


def effect_columns(
    annotators: tuple[str, ...],
    kinds: tuple[str, ...],
    dimensions: tuple[str, ...],
    rows: Rows,
    group: np.ndarray,
    units: GroupUnits,
    covariates: CovariateUnits,
    common: np.ndarray | None,
) -> dict[str, Any]:
    """One row per annotator, dimension and covariate: change of the answer per unit of it, with a 90 % interval.

    `common` (G, D, P): variance of what a covariate does to a whole group.
    """
    K, reach = len(annotators), half_width(LEVEL, np.inf)
    table: list[dict[str, Any]] = []
    for k in range(K):
        for d, dimension in enumerate(dimensions):
            for p, name in enumerate(covariates.names):
                unit = units.scale[group[k], d] / covariates.scale[p]
                effect = rows.mean[k, d, 2 + p] * unit
                variance = rows.cov[k, d, 2 + p, 2 + p] + (0.0 if common is None else common[group[k], d, p])
                sd = float(np.sqrt(variance)) * unit
                labels = {"annotator": annotators[k], "kind": kinds[group[k]], "dimension": dimension}
                figures = {"effect": effect, "sd": sd, "low": effect - reach * sd, "high": effect + reach * sd}
                table.append(labels | {"covariate": name} | figures)
    columns = {name: [row[name] for row in table] for name in table[0]} if table else {}
    return {name: np.array(column) if isinstance(column[0], float) else column for name, column in columns.items()}
