"""From many comparisons to what a chapter shows: averages, bars with stars, tables; for traces also units per fold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from unisono.maths.metrics import paired_t
from unisono.paper.experiment_claims import ALPHA, BOTH, SIMILAR, ClaimPart, Direction, Lead, Numbers, Table, Unit
from unisono.paper.experiment_page import Bar
from unisono.paper.paper_protocol import (
    INDEPENDENT,
    JOINT,
    METRIC_NAMES,
    NAMES,
    PROTOCOL,
    collected,
    compared,
    gathered,
)

Bars = dict[str, dict[str, dict[str, Bar]]]  # metric -> model -> dimension


def number(values: Sequence[float]) -> str:
    """A mean for a table; a dash where nothing is known."""
    mean = float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")
    return "–" if np.isnan(mean) else f"{mean:.3f}"


def averaged(found: Sequence[Numbers], dimensions: Sequence[str], models: Sequence[str]) -> Numbers:
    """Mean and sd over data sets of every score."""
    return {
        model: {
            dimension: {
                metric: {"mean": float(np.nanmean(values)), "sd": _sd(values)}
                for metric in METRIC_NAMES
                if (values := collected(found, model, dimension, metric))
            }
            for dimension in dimensions
        }
        for model in models
    }


def score_table(caption: str, found: Sequence[Numbers], dimensions: Sequence[str], models: Sequence[str]) -> Table:
    """Models in rows, CCC and Pearson of every dimension in columns."""
    columns = ("", *(f"{METRIC_NAMES[metric]} {d}" for d in dimensions for metric in METRIC_NAMES))
    rows = tuple(
        (NAMES[model], *(number(collected(found, model, d, metric)) for d in dimensions for metric in METRIC_NAMES))
        for model in models
    )
    return Table(caption, columns, rows)


def bars_over_sets(found: Sequence[Numbers], dimensions: Sequence[str], models: Sequence[str]) -> Bars:
    """Means and sds over data sets; the better of joint and independent has a star if the t-test over sets says so."""
    bars: Bars = {}
    for metric in METRIC_NAMES:
        bars[metric] = {}
        for model in models:
            bars[metric][model] = {}
            for dimension in dimensions:
                values = collected(found, model, dimension, metric)
                star = _is_better(found, model, [dimension], metric)
                bars[metric][model][dimension] = Bar(float(np.nanmean(values)), _sd(values), star)
    return bars


def bars_over_splits(found: Sequence[Numbers], dimensions: Sequence[str], models: Sequence[str]) -> Bars:
    """One real data set: mean and sd over splits; the star is the bootstrap's, in most of the splits."""
    bars = bars_over_sets(found, dimensions, models)
    for metric, by_model in bars.items():
        for model, by_dimension in by_model.items():
            for dimension, bar in by_dimension.items():
                tests = compared(found, JOINT, INDEPENDENT, dimension, metric)
                wins = sum(row["better"] == model for row in tests)
                by_dimension[dimension] = bar._replace(star=wins > len(tests) / 2)
    return bars


def bars_along(
    found: Sequence[Sequence[Numbers]], dimensions: Sequence[str], models: Sequence[str]
) -> dict[str, dict[str, list[Bar]]]:
    """For every point of a sweep the mean over dimensions, and its sd over data sets; a star where joint is ahead."""
    bars: dict[str, dict[str, list[Bar]]] = {}
    for metric in METRIC_NAMES:
        bars[metric] = {
            model: [_over_dimensions(point, model, dimensions, metric) for point in found] for model in models
        }
    return bars


def stars_in_sets(found: Sequence[Numbers], dimensions: Sequence[str]) -> str:
    """How the paper's own test, one bootstrap per data set, came out: a sentence."""
    tests = [
        row for d in dimensions for metric in METRIC_NAMES for row in compared(found, JOINT, INDEPENDENT, d, metric)
    ]
    joint, other = (sum(row["better"] == model for row in tests) for model in (JOINT, INDEPENDENT))
    return (
        f"By the paper's bootstrap within each data set, joint is significantly better in {joint} of {len(tests)} "
        f"comparisons, independent in {other}"
    )


def mean_over(found: Sequence[Numbers], model: str, dimensions: Sequence[str], metric: str) -> list[float]:
    """The mean over dimensions of a score, in each data set."""
    values = np.array([collected(found, model, dimension, metric) for dimension in dimensions])
    return [float(value) for value in values.mean(axis=0)]


def _over_dimensions(found: Sequence[Numbers], model: str, dimensions: Sequence[str], metric: str) -> Bar:
    values = mean_over(found, model, dimensions, metric)
    return Bar(float(np.mean(values)), _sd(values), model == JOINT and _is_better(found, JOINT, dimensions, metric))


def _is_better(found: Sequence[Numbers], model: str, dimensions: Sequence[str], metric: str) -> bool:
    """Whether this one of joint and independent is significantly better over data sets."""
    pair: Mapping[str, str] = {JOINT: INDEPENDENT, INDEPENDENT: JOINT}
    if model not in pair or len(found) < 2 or not all(name in found[0]["scores"] for name in pair):
        return False
    own, other = (np.array(mean_over(found, name, dimensions, metric)) for name in (model, pair[model]))
    tested = paired_t(own - other)
    return tested.mean > 0 and tested.p < ALPHA


def _sd(values: Sequence[float]) -> float:
    return float(np.nanstd(values, ddof=1)) if len(values) > 1 else 0.0


def fold_units(
    group: str, work: Callable[..., Numbers], settings: Numbers, folds: int, models: Sequence[str]
) -> list[Unit]:
    """One unit for each model and fold; `work` gets `model` and `fold` beside its settings."""
    return [
        Unit(f"{group}_{model}_fold{fold}", work, settings | {"model": model, "fold": fold})
        for model in models
        for fold in range(folds)
    ]


def races_of(group: str, results: Mapping[str, Numbers], models: Sequence[str] = PROTOCOL) -> list[Numbers]:
    """The races of all data sets whose units' keys begin with `group`, one per data set."""
    by_set: dict[str, dict[str, list[Numbers]]] = {}
    for key, result in results.items():
        name, model, _ = key.rsplit("_", 2)
        if name.startswith(group):
            by_set.setdefault(name, {}).setdefault(model, []).append(result)
    return [gathered({model: found[model] for model in models if model in found}) for found in by_set.values()]


def over_folds(found: Sequence[Numbers], dimension: str, metric: str, direction: Direction) -> ClaimPart:
    """Joint against independent by the t-test over the folds of all data sets; similar also has to look similar."""
    tests = compared(found, JOINT, INDEPENDENT, dimension, metric)
    tested = paired_t(np.concatenate([np.array(test["by_fold"]) for test in tests]))
    joint, other = (float(np.mean(collected(found, model, dimension, metric))) for model in (JOINT, INDEPENDENT))
    shown = f"{joint:.3f} against {other:.3f} (mean over folds {tested.mean:+.3f}, p = {tested.p:.2g})"
    sure = tested.p < ALPHA
    holds = {
        "higher": sure and tested.mean > 0,
        "lower": sure and tested.mean < 0,
        "similar": not sure and abs(joint - other) < SIMILAR,
    }
    return ClaimPart(f"{METRIC_NAMES[metric]} of {dimension}", shown, bool(holds[direction]), Lead(*BOTH, tested.mean))
