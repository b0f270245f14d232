"""Traces drawn from the model: joint against independent under the paper's protocol for series.

The paper: 18 recordings of 350 frames, 6 annotators, 2 dimensions, 500 features that walk at random, five folds. It
gives neither the noise nor the units of the ratings. Filters with elements from U(0, 1) multiply the truth by about ten
here; the ratings are divided by that, so that ratings, truth and the random starts of the published EM share a scale.
"""

from __future__ import annotations

from collections.abc import Mapping

from unisono.paper.experiment_claims import Chapter, Claim, Experiment, Numbers, Picture, Settings, Unit, Words
from unisono.paper.experiment_data import Traced
from unisono.paper.experiment_page import score_bars
from unisono.paper.experiment_reporting import (
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
    said = Words(NAME, **{name: given[name] for name in ("recordings", "frames", "restarts", "features")})
    return Chapter(
        lead=(said("data"), said("units")),
        tables=(
            score_table(said("scores"), featured, DIMENSIONS, PROTOCOL),
            score_table(said("plain_scores"), plain, DIMENSIONS, PROTOCOL),
        ),
        pictures=(
            Picture(NAME, said("bars"), lambda: score_bars(bars_over_splits(featured, DIMENSIONS, PROTOCOL))),
            Picture(
                f"{NAME}-no-features",
                said("plain_bars"),
                lambda: score_bars(bars_over_splits(plain, DIMENSIONS, PROTOCOL)),
            ),
        ),
        claims=(
            *_claims(said, featured, f"{given['features']} features"),
            *_claims(said, plain, "without features"),
        ),
        summary={
            "with features": averaged(featured, DIMENSIONS, PROTOCOL),
            "without": averaged(plain, DIMENSIONS, PROTOCOL),
        },
    )


def _claims(said: Words, found: list[Numbers], setting: str) -> tuple[Claim, ...]:
    gold = [
        row["difference"]
        for d in DIMENSIONS
        for metric in METRIC_NAMES
        for row in compared(found, GOLD, JOINT, d, metric)
    ]
    better = [
        over_folds(found, *what, "higher") for what in (("dim1", "pearson"), ("dim2", "pearson"), ("dim1", "ccc"))
    ]
    return (
        said.judge("joint", better, said("gold", low=min(gold), high=max(gold)), setting=setting),
        said.judge("independent", [over_folds(found, "dim2", "ccc", "lower")], said("chance"), setting=setting),
    )


EXPERIMENT = Experiment(NAME, "Traces, synthetic data", "Sec. 4.2.1 (Synthetic data)", units, report)
