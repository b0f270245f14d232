"""What a comparison of models comes to: one row per model, the paired contrasts, the answer. Plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from unisono.data import ItemTable
from unisono.data.introduction import Introduction, counted
from unisono.evaluate.compare.contrasts import Contrast
from unisono.evaluate.compare.held_out import Effort
from unisono.evaluate.scoring import DimensionScore, score_tables
from unisono.fusers import Fused
from unisono.maths.items.predictive import HeldOut
from unisono.maths.significance import standard_error


class Findings(NamedTuple):
    """Everything that was found about one model."""

    effort: Effort  # of fitting all ratings
    fused: Fused  # from all ratings
    held_out: Sequence[HeldOut]  # fold by fold
    agreement: np.ndarray  # (people,) with left-out annotators


@dataclass(frozen=True)
class ModelRow:
    """One line of the leaderboard; standard errors are over folds, for the agreement over annotators."""

    model: str
    log_density: float  # per held-out number, in standard deviations of the ratings
    log_density_se: float
    rmse: float
    rmse_se: float
    coverage: float  # share of held-out ratings inside their 90 % predictive interval
    coverage_se: float
    agreement: float  # mean correlation of left-out annotators with the truth fused without them
    agreement_se: float
    ccc: float  # mean over dimensions; NaN without a reference
    pearson: float
    dimensions: tuple[DimensionScore, ...]  # against the reference
    seconds: float  # fitting all ratings once
    iterations: int
    converged: bool
    folds: tuple[float, ...]  # log density fold by fold


@dataclass(frozen=True, repr=False)
class Comparison:
    """What `unisono compare` prints; the best model comes first."""

    source: str
    kind: str  # items or series
    items: int
    annotators: int
    judgements: int
    folds: int
    seed: int
    reference: str | None
    rows: tuple[ModelRow, ...]
    contrasts: tuple[Contrast, ...]
    answer: str
    unclear: tuple[str, ...] = ()  # dimensions on which annotators do not clearly agree

    def __repr__(self) -> str:
        return self._introduction().text()

    def _repr_html_(self) -> str:
        return self._introduction().html()

    def _introduction(self) -> Introduction:
        rows = [
            (row.model, *(f"{x:.3f}" for x in (row.log_density, row.rmse, row.coverage, row.agreement)))
            for row in self.rows
        ]
        title = f"{counted(len(self.rows), 'model')} on '{self.source}', best first"
        header = ("model", "log density", "RMSE", "90 % cover", "agreement")
        return Introduction.of(title, header, rows, "See .answer, .rows, .contrasts and .to_dict().")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        found = asdict(self)
        for row, own in zip(found["contrasts"], self.contrasts, strict=True):
            row["log_density"], row["agreement"] = own.log_density._asdict(), own.agreement._asdict()
        return found


def model_row(name: str, found: Findings, reference: ItemTable | None) -> ModelRow:
    """The figures of one model."""
    density, rmse, coverage = (
        np.array([getattr(fold, figure) for fold in found.held_out]) for figure in ("log_density", "rmse", "coverage")
    )
    scores = () if reference is None else score_tables(truth_table(found.fused), reference).dimensions
    return ModelRow(
        model=name,
        log_density=known_mean(density),
        log_density_se=standard_error(density),
        rmse=known_mean(rmse),
        rmse_se=standard_error(rmse),
        coverage=known_mean(coverage),
        coverage_se=standard_error(coverage),
        agreement=known_mean(found.agreement),
        agreement_se=standard_error(found.agreement),
        ccc=known_mean(np.array([score.ccc for score in scores])),
        pearson=known_mean(np.array([score.pearson for score in scores])),
        dimensions=scores,
        seconds=found.effort.seconds,
        iterations=found.effort.iterations,
        converged=found.effort.converged,
        folds=tuple(density.tolist()),
    )


def best_first(rows: Sequence[ModelRow], by: str) -> tuple[ModelRow, ...]:
    """Rows by a figure of which more is better; rows without it come last."""
    return tuple(sorted(rows, key=lambda row: -np.nan_to_num(getattr(row, by), nan=-np.inf)))


def truth_table(fused: Fused) -> ItemTable:
    """A fused truth as a table that can be scored."""
    return ItemTable.from_rows(
        fused.mean,
        items=fused.items,
        columns=fused.dimensions,
        length=fused.length,
        clock=fused.clock,
        source="the fused truth",
    )


def known_mean(values: np.ndarray) -> float:
    """The mean of what is known, NaN if nothing is."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
