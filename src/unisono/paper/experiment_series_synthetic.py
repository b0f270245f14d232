"""Traces drawn from the model: joint against independent under the paper's protocol for series.

The paper: 18 recordings of 350 frames, 6 annotators, 2 dimensions, 500 features that walk at random, five folds. It
gives neither the noise nor the units of the ratings. Filters with elements from U(0, 1) multiply the truth by about ten
here; the ratings are divided by that, so that ratings, truth and the random starts of the published EM share a scale.
"""

from __future__ import annotations

from collections.abc import Mapping

from unisono.paper.experiment_claims import Chapter, Claim, Experiment, Numbers, Picture, Settings, Unit, judge
from unisono.paper.experiment_data import Traced
from unisono.paper.experiment_page import score_bars
from unisono.paper.experiment_reporting import (
    OVER_FOLDS,
    averaged,
    bars_over_splits,
    fold_units,
    over_folds,
    races_of,
    score_table,
)
from unisono.paper.paper_protocol import FOLDS, GOLD, JOINT, METRIC_NAMES, PROTOCOL, compared, race_fold
from unisono.paper.simulation import simulate_series

NAME = "series-synthetic"
DIMENSIONS = ("dim1", "dim2")
WINDOW = 10  # frames of the true filters


def run_fold(features: int, seed: int, recordings: int, frames: int, restarts: int, model: str, fold: int) -> Numbers:
    """One model on one fold of one data set."""
    world = simulate_series(recordings=recordings, frames=frames, features=features, window=WINDOW, seed=seed)
    gain = WINDOW * len(DIMENSIONS) / 2  # expected sum of the taps from U(0, 1) that make one rating
    ratings = world.ratings.with_value(world.ratings.value / gain)
    traced = Traced(ratings, world.truth, world.features if features else None)
    return race_fold(traced, fold, model=model, restarts=restarts, seed=seed)


def units(settings: Settings) -> list[Unit]:
    many, recordings, frames, restarts = (8, 5, 80, 1) if settings.quick else (500, 18, 350, 20)
    size = {"recordings": recordings, "frames": frames, "restarts": restarts, "seed": settings.seed}
    return [
        unit
        for group, features in (("features", many), ("plain", 0))
        for unit in fold_units(group, run_fold, {"features": features} | size, FOLDS, PROTOCOL)
    ]


def report(settings: Settings, results: Mapping[str, Numbers]) -> Chapter:
    featured, plain = (races_of(group, results) for group in ("features", "plain"))
    given = units(settings)[0].settings
    return Chapter(
        lead=(
            f"{given['recordings']} recordings of {given['frames']} frames, 6 annotators, five folds; width (5, 10, 20 "
            f"or 50 frames), one of {given['restarts']} random starts and iteration chosen on the validation "
            f"recordings. With {given['features']} features and without.",
            "Ratings are divided by the expected sum of the filter taps, so that CCC can be read at all: nothing in "
            "the published model fixes the scale of the truth.",
        ),
        tables=(
            score_table(f"Test frames end to end, {given['features']} features", featured, DIMENSIONS, PROTOCOL),
            score_table("The same without features", plain, DIMENSIONS, PROTOCOL),
        ),
        pictures=(
            Picture(
                NAME,
                f"Performance of the series model on synthetic data, {given['features']} features (the paper's Fig. "
                "'Concordance and Pearson correlation coefficients … time series annotation model', synthetic).",
                lambda: score_bars(bars_over_splits(featured, DIMENSIONS, PROTOCOL)),
            ),
            Picture(
                f"{NAME}-no-features",
                "The same without features.",
                lambda: score_bars(bars_over_splits(plain, DIMENSIONS, PROTOCOL)),
            ),
        ),
        claims=(*_claims(featured, f"{given['features']} features"), *_claims(plain, "without features")),
        summary={
            "with features": averaged(featured, DIMENSIONS, PROTOCOL),
            "without": averaged(plain, DIMENSIONS, PROTOCOL),
        },
    )


def _claims(found: list[Numbers], setting: str) -> tuple[Claim, ...]:
    where = "Sec. 4.2.1, Fig. 'Concordance and Pearson …, time series'"
    gold = [
        row["difference"]
        for d in DIMENSIONS
        for metric in METRIC_NAMES
        for row in compared(found, GOLD, JOINT, d, metric)
    ]
    aside = f"Our default with gold is ahead of joint by {min(gold):+.2f} to {max(gold):+.2f} (mean over folds)"
    return (
        judge(
            "The joint model achieves a higher Pearson correlation for both dimensions, and a higher CCC for "
            f"dimension 1 ({setting}).",
            where,
            OVER_FOLDS,
            [
                over_folds(found, "dim1", "pearson", "higher"),
                over_folds(found, "dim2", "pearson", "higher"),
                over_folds(found, "dim1", "ccc", "higher"),
            ],
            aside,
        ),
        judge(
            f"For dimension 2 the independent model achieves the better CCC ({setting}).",
            where,
            OVER_FOLDS,
            [over_folds(found, "dim2", "ccc", "lower")],
            "The dimensions are exchangeable in the simulation, so this can only be chance.",
        ),
    )


EXPERIMENT = Experiment(NAME, "Traces, synthetic data", "Sec. 4.2.1 (Synthetic data)", units, report)
