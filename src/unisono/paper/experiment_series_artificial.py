"""Moving colours: saturation and brightness as independent random walks with lag, traced one after the other.

The videos are those of the collection tool, features are RGB. The paper's traces are not public: here ten annotators
are simulated (see `experiment_data`) with reaction delays and noise that lasts, or the export of a study is used:

    unisono reproduce series-artificial --data EXPORT --out DIR

Beside it, as human traces of a signal that is known: green intensity (Booth et al.), which comes with the package. It
has one dimension, so there is nothing to model jointly, but it shows what the models make of real reaction delays.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from unisono.collect.stimuli.colours import Pace, make_walk
from unisono.evaluate.held_out_ratings import ItemFold
from unisono.paper import experiment_data, experiment_page, simulation
from unisono.paper.experiment_claims import (
    Chapter,
    Claim,
    ClaimPart,
    Experiment,
    Numbers,
    Picture,
    Settings,
    Unit,
    Words,
)
from unisono.paper.experiment_data import Traced
from unisono.paper.experiment_reporting import averaged, bars_over_splits, fold_units, over_folds, races_of, score_table
from unisono.paper.paper_protocol import DEFAULT, FOLDS, GOLD, INDEPENDENT, JOINT, MEAN, PROTOCOL, race_fold
from unisono.tables import Clock, ItemTable, Ratings
from unisono.tables.datasets import load_dataset, load_dataset_table
from unisono.tables.reading.clock_alignment import align_to
from unisono.tables.reading.ratings_reader import read_item_table, read_ratings

NAME = "series-artificial"
RATE = 5.0  # frames per second
PACE = Pace(hold=(2.0, 4.0), move=(1.0, 2.0))
LASTING = 0.9  # correlation of an annotator's noise from frame to frame: a hand drifts, it does not jump
PIECES = 4
TABLES = ("ratings.csv", "truth.csv", "features.csv")
GREEN = (INDEPENDENT, MEAN, DEFAULT, GOLD)


def run_simulated(
    seed: int, videos: int, seconds: float, annotators: int, restarts: int, model: str, fold: int
) -> Numbers:
    """One model on one fold of simulated traces."""
    traced = simulate_traces(seed, videos, seconds, annotators)
    return race_fold(traced, fold, model=model, restarts=restarts, seed=seed)


def run_collected(folder: str, sums: Numbers, seed: int, restarts: int, model: str, fold: int) -> Numbers:
    """One model on one fold of an export; `sums` make sure that the files are still the same."""
    place = Path(folder)
    ratings = read_ratings(place / "ratings.csv", rate=RATE)
    ratings = ratings.with_value(ratings.value / 100)
    truth, features = (read_item_table(place / f"{table}.csv") for table in ("truth", "features"))
    known = align_to(truth, ratings)
    traced = Traced(ratings, _scaled(known, 100.0), align_to(features, ratings, hold=1.0, complete=True))
    traced = experiment_data.cut(traced, PIECES) if ratings.M < FOLDS else traced
    return race_fold(traced, fold, model=model, restarts=restarts, seed=seed)


def run_green(seed: int, restarts: int, model: str, fold: int) -> Numbers:
    """One model on one fold of green intensity: one piece of each recording is tested, the next one validates."""
    ratings = load_dataset("green_intensity")
    traced = experiment_data.cut(
        Traced(ratings, align_to(load_dataset_table("green_intensity", "reference"), ratings), None), PIECES
    )

    def pieces(*which: int) -> tuple[str, ...]:
        return tuple(f"{item}/{piece % PIECES + 1}" for item in ratings.items for piece in which)

    part = ItemFold(pieces(*range(fold + 2, fold + PIECES)), pieces(fold + 1), pieces(fold))
    return race_fold(traced, part, model=model, restarts=restarts, seed=seed)


def simulate_traces(seed: int, videos: int, seconds: float, annotators: int) -> Traced:
    """Everybody traces every video, on a scale from 0 to 1; features are what the screen showed."""
    rng = np.random.default_rng(seed)
    people = experiment_data.draw_people(annotators, rng)
    names = [f"video{m + 1}" for m in range(videos)]
    walks = [make_walk(name, seconds, RATE, PACE, seed) for name in names]
    T = len(walks[0].saturation)
    values, known, shown = [], [], []
    for walk in walks:
        rgb = np.array(walk.frames) / 255
        truth = np.stack([walk.saturation, walk.brightness], axis=1)
        known.append(truth)
        shown.append(rgb)
        for k in range(annotators):
            seen = experiment_data.perceived(rgb, truth, people.effect[k])
            late = np.maximum(np.arange(T) - round(people.delay[k] * RATE), 0)
            values.append(experiment_data.judged(seen[late], people, k, simulation.lasting_noise((T, 2), LASTING, rng)))
    clock, length = Clock(RATE, np.zeros(videos)), np.full(videos, T)
    ratings = Ratings.from_judgements(
        np.concatenate(values) / 100,
        np.repeat(np.arange(videos), annotators),
        np.tile(np.arange(annotators), videos),
        items=names,
        annotators=[f"annotator{k + 1}" for k in range(annotators)],
        dimensions=experiment_data.DIMENSIONS,
        length=length,
        clock=clock,
        source="simulated traces",
    )
    tables = [
        ItemTable.from_rows(np.concatenate(rows), items=names, columns=columns, length=length, clock=clock)
        for rows, columns in ((known, experiment_data.DIMENSIONS), (shown, ("red", "green", "blue")))
    ]
    return Traced(ratings, _scaled(tables[0], 100.0), tables[1])


def units(settings: Settings) -> list[Unit]:
    quick = settings.quick
    restarts = 1 if quick else 20
    common = {"seed": settings.seed, "restarts": restarts}
    folder = settings.data.get(NAME)
    if folder is not None:
        experiment_data.require_tables(folder, TABLES)
        given = common | {"folder": str(folder), "sums": experiment_data.file_sums(folder, TABLES)}
        found = fold_units("colours", run_collected, given, FOLDS, PROTOCOL)
    else:
        size = (
            {"videos": 5, "seconds": 20.0, "annotators": 5}
            if quick
            else {"videos": 10, "seconds": 60.0, "annotators": 10}
        )
        found = fold_units("colours", run_simulated, common | size, FOLDS, PROTOCOL)
    return found + ([] if quick else fold_units("green", run_green, common, PIECES, GREEN))


def report(settings: Settings, results: Mapping[str, Numbers]) -> Chapter:
    human = NAME in settings.data
    colours, green = races_of("colours", results), races_of("green", results, GREEN)
    source = "traces gathered with the collection tool" if human else "simulated annotators"
    said = Words(NAME, source=source, rate=RATE)
    pictures = [
        Picture(
            NAME,
            said("bars"),
            lambda: experiment_page.score_bars(bars_over_splits(colours, experiment_data.DIMENSIONS, PROTOCOL)),
        )
    ]
    tables = [score_table(said("scores"), colours, experiment_data.DIMENSIONS, PROTOCOL)]
    if green:
        tables.append(score_table(said("green_scores"), green, ("green",), GREEN))
        pictures.append(
            Picture(
                "series-green-intensity",
                said("green_bars"),
                lambda: experiment_page.score_bars(bars_over_splits(green, ("green",), GREEN)),
            )
        )
    return Chapter(
        lead=(said("data") + ("" if human else said("simulated")),),
        tables=tuple(tables),
        pictures=tuple(pictures),
        claims=_claims(said, colours),
        summary={"colours": averaged(colours, experiment_data.DIMENSIONS, PROTOCOL)}
        | ({"green": averaged(green, ("green",), GREEN)} if green else {}),
    )


def _claims(said: Words, found: list[Numbers]) -> tuple[Claim, ...]:
    alike = (("saturation", "pearson"), ("brightness", "pearson"), ("saturation", "ccc"))
    return (
        said.judge("similar", [over_folds(found, *what, "similar") for what in alike]),
        said.judge("brightness", [_slightly(found)]),
    )


def _slightly(found: list[Numbers]) -> ClaimPart:
    similar = over_folds(found, "brightness", "ccc", "similar")
    joint, independent = (found[0]["scores"][model]["brightness"]["ccc"] for model in (JOINT, INDEPENDENT))
    return similar._replace(holds=similar.holds and joint < independent)


def _scaled(table: ItemTable, unit: float) -> ItemTable:
    return ItemTable.from_rows(
        table.value / unit, items=table.items, columns=table.columns, length=table.length, clock=table.clock
    )


EXPERIMENT = Experiment(NAME, "Traces, artificial task", "Sec. 4.2.2 (Artificial data)", units, report)
