"""What a cross-validation comes to: scores of the test predictions, and which differences are significant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from unisono.data import ItemTable
from unisono.evaluate.scoring import DimensionScore, score_tables
from unisono.maths.significance import (
    RESAMPLES,
    SIGNIFICANT,
    better_share,
    paired_t,
    resample_counts,
    resampled_scores,
)

METRICS = ("ccc", "pearson")


@dataclass(frozen=True)
class FoldOutcome:
    """One fold of one model: what was chosen on the validation items, and how the test items came out."""

    candidates: tuple[int, ...]  # per choice: one for all dimensions, or one for each
    iterations: tuple[int, ...]
    validation_ccc: float
    order: tuple[int, ...]  # dimension d is sign[d] times dimension order[d] of the model
    sign: tuple[int, ...]
    ccc: tuple[float, ...]  # per dimension, on the test items
    pearson: tuple[float, ...]


@dataclass(frozen=True)
class ModelResult:
    """One model over all folds; scores are of all test predictions together."""

    model: str
    ccc: float  # mean over dimensions
    pearson: float
    dimensions: tuple[DimensionScore, ...]
    folds: tuple[FoldOutcome, ...]


@dataclass(frozen=True)
class Difference:
    """Two models on one dimension by one metric, first minus second."""

    first: str
    second: str
    dimension: str
    metric: str
    difference: float
    share: float  # of bootstrap resamples in which the first is better; NaN for series
    p: float  # paired t-test over folds; for ratings of items NaN
    better: str | None  # the model that is significantly better


@dataclass(frozen=True)
class CrossValidation:
    """What `unisono evaluate` prints."""

    source: str
    reference: str
    items: int
    folds: int
    seed: int
    selected: bool  # whether an iteration was chosen on the validation items
    models: tuple[ModelResult, ...]
    differences: tuple[Difference, ...]
    predictions: Mapping[str, ItemTable]  # of every item with a reference, by the fold that tested it

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the predictions."""
        plain = {name: getattr(self, name) for name in ("source", "reference", "items", "folds", "seed", "selected")}
        return plain | {
            "models": [asdict(row) for row in self.models],
            "differences": [asdict(row) for row in self.differences],
        }


def model_result(model: str, predicted: ItemTable, reference: ItemTable, folds: Sequence[FoldOutcome]) -> ModelResult:
    """Scores of the test predictions of all folds, put end to end."""
    scores = score_tables(predicted, reference).dimensions
    return ModelResult(
        model,
        float(np.mean([score.ccc for score in scores])),
        float(np.mean([score.pearson for score in scores])),
        scores,
        tuple(folds),
    )


def differences(
    results: Sequence[ModelResult], predictions: Mapping[str, ItemTable], reference: ItemTable, seed: int, series: bool
) -> tuple[Difference, ...]:
    """Every pair of models on every dimension: bootstrap over items, for series a paired t-test over folds."""
    if series:
        pairs = combinations(results, 2)
        return tuple(row for one, other in pairs for row in _by_folds(one, other, reference.columns))
    counts = resample_counts(reference.M, RESAMPLES, np.random.default_rng(seed))
    drawn = {row.model: resampled_scores(predictions[row.model].value, reference.value, counts) for row in results}
    found: list[Difference] = []
    for one, other in combinations(results, 2):
        for metric in METRICS:
            a, b = (getattr(drawn[row.model], metric) for row in (one, other))
            # Ties count for neither, so both sides are asked.
            for d, (ahead, behind) in enumerate(zip(better_share(a, b), better_share(b, a), strict=True)):
                better = one.model if ahead >= SIGNIFICANT else other.model if behind >= SIGNIFICANT else None
                found.append(_difference(one, other, d, metric, float(ahead), float("nan"), better))
    return tuple(found)


def _by_folds(one: ModelResult, other: ModelResult, names: Sequence[str]) -> Iterator[Difference]:
    for metric in METRICS:
        for d in range(len(names)):
            pairs = zip(one.folds, other.folds, strict=True)
            tested = paired_t(np.array([getattr(a, metric)[d] - getattr(b, metric)[d] for a, b in pairs]))
            significant = tested.p < 1 - SIGNIFICANT
            better = (one if tested.mean > 0 else other).model if significant else None
            yield _difference(one, other, d, metric, float("nan"), tested.p, better)


def _difference(
    one: ModelResult, other: ModelResult, d: int, metric: str, share: float, p: float, better: str | None
) -> Difference:
    a, b = one.dimensions[d], other.dimensions[d]
    gap = getattr(a, metric) - getattr(b, metric)
    return Difference(one.model, other.model, a.name, metric, gap, share, p, better)
