"""Saturation and brightness of single colours: a task with a known truth.

In one regime saturation varies and brightness is held, in the other the reverse; the colours are green or blue at
random, a reference comes after every ten images and looks like any other, and RGB values are the features. The
colours are those of the collection tool. The paper's ratings are not public: here annotators are simulated (see
`experiment_data`), or the export of a study that was run with the collection tool is used:

    unisono reproduce items-artificial --data EXPORT --out DIR
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from unisono.collect.stimuli.colours import Colour, reference_colours, regime_colours
from unisono.maths.metrics import pearson
from unisono.paper.experiment_claims import (
    OVER_ITEMS,
    OVER_SETS,
    Chapter,
    Claim,
    ClaimPart,
    Direction,
    Experiment,
    Numbers,
    Picture,
    Settings,
    Unit,
    Words,
    over_sets,
    over_splits,
)
from unisono.paper.experiment_data import DIMENSIONS, draw_people, file_sums, judged, perceived, require_tables
from unisono.paper.experiment_page import score_bars
from unisono.paper.experiment_reporting import averaged, bars_over_sets, bars_over_splits, score_table, stars_in_sets
from unisono.paper.paper_protocol import INDEPENDENT, JOINT, METRIC_NAMES, PROTOCOL, collected, compared, race
from unisono.tables import ItemTable, Ratings
from unisono.tables.reading.ratings_reader import read_item_table, read_ratings

NAME = "items-artificial"
EVERY, FIXED, REFERENCE = 10, 60.0, {"saturation": 50.0, "brightness": 70.0}
TABLES = tuple(f"{regime}/{table}.csv" for regime in DIMENSIONS for table in ("ratings", "truth", "features"))


class Task(NamedTuple):
    """A regime: what was rated, the truth of the dimension that varies, and RGB."""

    ratings: Ratings
    truth: ItemTable
    features: ItemTable


def run_simulated(regime: str, seed: int, images: int, annotators: int) -> Numbers:
    """One regime with simulated annotators."""
    task = simulate_regime(regime, seed, images, annotators)
    return race(task.ratings, task.truth, features=task.features, seed=seed) | {"effect": effect_of(task, regime)}


def run_collected(folder: str, regime: str, seed: int, sums: Numbers) -> Numbers:
    """One regime of an export; `seed` splits it into folds, `sums` make sure that the files are still the same."""
    place = Path(folder) / regime
    task = Task(
        read_ratings(place / "ratings.csv"),
        read_item_table(place / "truth.csv"),
        read_item_table(place / "features.csv", complete=True),
    )
    return race(task.ratings, task.truth, features=task.features, seed=seed) | {"effect": effect_of(task, regime)}


def simulate_regime(regime: str, seed: int, images: int, annotators: int) -> Task:
    """Everybody rates every image, and the reference after every ten."""
    rng = np.random.default_rng([seed, DIMENSIONS.index(regime)])
    shown: list[tuple[str, Colour]] = []
    for index, colour in enumerate(regime_colours(regime, images, FIXED, seed)):
        if index and index % EVERY == 0:
            shown.append((f"reference{index // EVERY}", reference_colours(REFERENCE)[int(rng.integers(2))]))
        shown.append((f"image{index + 1}", colour))
    rgb = np.array([colour.rgb for _, colour in shown]) / 255
    truth = np.array([[colour.truth[name] for name in DIMENSIONS] for _, colour in shown])
    people = draw_people(annotators, rng)
    answers = [
        judged(perceived(rgb, truth, people.effect[k]), people, k, rng.standard_normal((len(rgb), 2)))
        for k in range(annotators)
    ]
    items = [name for name, _ in shown]
    ratings = Ratings.from_judgements(
        np.concatenate(answers),
        np.tile(np.arange(len(items)), annotators),
        np.repeat(np.arange(annotators), len(items)),
        items=items,
        annotators=[f"annotator{k + 1}" for k in range(annotators)],
        dimensions=DIMENSIONS,
        source="simulated judgements",
    )
    # The references are rated like everything else but nothing is scored on them.
    scored = [m for m, name in enumerate(items) if name.startswith("image")]
    known = ItemTable.from_rows(
        truth[scored][:, [DIMENSIONS.index(regime)]], items=[items[m] for m in scored], columns=[regime]
    )
    return Task(ratings, known, ItemTable.from_rows(rgb, items=items, columns=("red", "green", "blue")))


def effect_of(task: Task, regime: str) -> list[float]:
    """For each annotator the correlation of what they say of the dimension that is held with the one that varies."""
    held = DIMENSIONS.index("brightness" if regime == "saturation" else "saturation")
    place = {item: i for i, item in enumerate(task.truth.items)}
    truth = np.array([task.truth.value[place[item], 0] if item in place else np.nan for item in task.ratings.items])
    found = []
    for k in range(task.ratings.K):
        own = task.ratings.annotator_of == k
        found.append(pearson(task.ratings.value[own, held], truth[task.ratings.item_of[own]]))
    return found


def units(settings: Settings) -> list[Unit]:
    count, images, annotators = (3, 30, 6) if settings.quick else (10, 50, 10)
    folder = settings.data.get(NAME)
    if folder is not None:
        require_tables(folder, TABLES)
        sums = file_sums(folder, TABLES)
        return [
            Unit(
                f"{regime}-split{s}",
                run_collected,
                {"folder": str(folder), "regime": regime, "seed": settings.seed + s, "sums": sums},
            )
            for regime in DIMENSIONS
            for s in range(5)
        ]
    return [
        Unit(
            f"{regime}-set{s}",
            run_simulated,
            {"regime": regime, "seed": settings.seed + s, "images": images, "annotators": annotators},
        )
        for regime in DIMENSIONS
        for s in range(count)
    ]


def report(settings: Settings, results: Mapping[str, Numbers]) -> Chapter:
    human = NAME in settings.data
    by_regime = {regime: [result for key, result in results.items() if key.startswith(regime)] for regime in DIMENSIONS}
    # Each regime is scored on the dimension that varies, so that both make one race with two dimensions.
    both = [_side_by_side(*pair) for pair in zip(*by_regime.values(), strict=True)]
    bars = bars_over_splits if human else bars_over_sets
    source = "judgements gathered with the collection tool" if human else "simulated annotators"
    sets = "splits" if human else "data sets"
    said = Words(NAME, source=source, count=len(both), sets=sets, over=OVER_ITEMS if human else OVER_SETS)
    return Chapter(
        lead=(said("data"), said("source") + ("" if human else said("simulated"))),
        tables=(score_table(said("scores"), both, DIMENSIONS, PROTOCOL),),
        pictures=(Picture(NAME, said("bars"), lambda: score_bars(bars(both, DIMENSIONS, PROTOCOL))),),
        claims=_claims(said, both, by_regime, human),
        summary={"scores": averaged(both, DIMENSIONS, PROTOCOL)}
        | {f"effect in the {regime} regime": _mean_effect(found) for regime, found in by_regime.items()},
    )


def _claims(said: Words, both: list[Numbers], by_regime: Mapping[str, list[Numbers]], human: bool) -> tuple[Claim, ...]:
    aside = "" if human else stars_in_sets(both, DIMENSIONS)

    def parts(dimension: str, direction: Direction) -> list[ClaimPart]:
        return [_compare(both, dimension, metric, direction, human) for metric in METRIC_NAMES]

    return (
        said.judge("saturation", parts("saturation", "higher"), aside),
        said.judge("brightness", parts("brightness", "lower"), aside),
        _effect_claim(said, "effect", by_regime["saturation"], human),
        _effect_claim(said, "no_effect", by_regime["brightness"], human),
    )


def _compare(found: list[Numbers], dimension: str, metric: str, direction: Direction, human: bool) -> ClaimPart:
    what = f"{METRIC_NAMES[metric]} of {dimension}, joint against independent"
    if human:
        tests = compared(found, JOINT, INDEPENDENT, dimension, metric)
        return over_splits(what, [t["difference"] for t in tests], [t["share"] for t in tests], direction)
    first, second = (collected(found, model, dimension, metric) for model in (JOINT, INDEPENDENT))
    return over_sets(what, first, second, direction)


def _effect_claim(said: Words, claim: str, found: list[Numbers], human: bool) -> Claim:
    if not human:
        return said.untestable(claim, measured=f"mean correlation over annotators {_mean_effect(found):+.3f}")
    values = [float(value) for value in found[0]["effect"]]
    direction: Direction = "higher" if claim == "effect" else "similar"
    part = over_sets("correlation with the dimension that varies", values, [0.0] * len(values), direction)
    # Not one model against another, but a correlation against zero.
    return said.judge(claim, [part._replace(lead=None)])


def _mean_effect(found: list[Numbers]) -> float:
    return float(np.nanmean([value for result in found for value in result["effect"]]))


def _side_by_side(one: Numbers, other: Numbers) -> Numbers:
    return {
        "scores": {model: one["scores"][model] | other["scores"][model] for model in one["scores"]},
        "differences": one["differences"] + other["differences"],
    }


EXPERIMENT = Experiment(NAME, "Ratings of items, artificial task", "Sec. 4.1.2 (Artificial data)", units, report)
