"""How a fused truth compares with a reference, dimension by dimension, and what could not be compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unisono.data import ItemTable, Ratings
from unisono.data.labels import listed
from unisono.errors import DataError
from unisono.evaluate.series_scoring import LagScore, RecordingScore, best_lags, recording_scores
from unisono.maths.metrics import ccc, complete_pairs, pearson, rmse, spearman


@dataclass(frozen=True)
class DimensionScore:
    """The figures of one dimension; NaN where one is not defined."""

    name: str
    n: int
    ccc: float
    pearson: float
    rmse: float
    spearman: float


@dataclass(frozen=True)
class Scores:
    """Scores, and what the two tables do not share."""

    dimensions: tuple[DimensionScore, ...]
    items: int  # in both
    only_in_truth: tuple[str, ...]
    only_in_reference: tuple[str, ...]
    dimensions_only_in_reference: tuple[str, ...]
    frames_without_partner: int = 0  # of the truth, in recordings that both have
    recordings: tuple[RecordingScore, ...] = ()  # series alone: one by one
    at_best_lag: tuple[LagScore, ...] = ()  # series alone: one row per dimension

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def score_tables(
    truth: ItemTable, reference: ItemTable, *, align: Callable[[ItemTable, ItemTable], ItemTable] | None = None
) -> Scores:
    """Compares the columns that both tables have, on the items that both have.

    For series, `align` brings the reference onto the clock of the truth (see `unisono.io.align`).
    """
    names = [column for column in reference.columns if column in truth.columns]
    known = set(reference.items)
    items = [item for item in truth.items if item in known]
    if not names:
        raise DataError(
            f"{truth.source} and {reference.source} have no dimension in common: "
            f"{listed(truth.columns)} against {listed(reference.columns)}."
        )
    if not items:
        raise DataError(
            f"{truth.source} and {reference.source} have no item in common: "
            f"{listed(truth.items, 3)} against {listed(reference.items, 3)}."
        )
    estimate = truth.select_items(items).select_columns(names)
    known_values = reference.select_items(items).select_columns(names)
    partner = align(known_values, estimate) if align else known_values
    x, y = estimate.value, partner.value
    if len(x) != len(y):
        raise DataError(f"{truth.source} and {reference.source} are series on different clocks.")
    series = estimate.clock is not None
    of_truth = set(truth.items)
    return Scores(
        tuple(_score(name, x[:, d], y[:, d]) for d, name in enumerate(names)),
        len(items),
        tuple(item for item in truth.items if item not in known),
        tuple(item for item in reference.items if item not in of_truth),
        tuple(column for column in reference.columns if column not in names),
        int(np.count_nonzero(np.isnan(y).all(axis=1))) if series else 0,
        recording_scores(estimate, partner) if series else (),
        best_lags(estimate, partner) if series else (),
    )


def rated_reference(ratings: Ratings, reference: ItemTable) -> tuple[ItemTable, tuple[str, ...]]:
    """The reference for items that were rated, and the other rated items, which can only train."""
    names = [name for name in ratings.dimensions if name in reference.columns]
    if not names:
        raise DataError(
            f"{ratings.source} and {reference.source} have no dimension in common: "
            f"{listed(ratings.dimensions)} against {listed(reference.columns)}."
        )
    table = reference.select_columns(names)
    known = np.repeat(np.arange(table.M), table.length)[~np.isnan(table.value).all(axis=1)]
    with_truth = {table.items[m] for m in known}
    labelled = [item for item in ratings.items if item in with_truth]
    if not labelled:
        raise DataError(f"No item of {ratings.source} has a truth in {reference.source}: look at the item column.")
    return table.select_items(labelled), tuple(item for item in ratings.items if item not in with_truth)


def _score(name: str, x: np.ndarray, y: np.ndarray) -> DimensionScore:
    n = len(complete_pairs(x, y)[0])
    return DimensionScore(name, n, ccc(x, y), pearson(x, y), rmse(x, y), spearman(x, y))
