"""From many races to what a chapter shows: averages, bars with stars, tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unisono.maths.significance import paired_t
from unisono.reproduce.engine.charts import Bar
from unisono.reproduce.engine.claims import ALPHA
from unisono.reproduce.engine.experiment import Numbers, Table
from unisono.reproduce.engine.protocol import INDEPENDENT, JOINT, METRIC_NAMES, NAMES, collected, compared

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
