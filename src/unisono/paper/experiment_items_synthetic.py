"""Ratings of items drawn from the model: joint against independent, and what our default makes of the same labels.

The paper: 100 items, 10 annotators who rate all of them, 2 dimensions, 500 features, F_k from U(0, 1). It does not
give the noise, so a sweep over noise, with and without features, shows where its claim holds. One data set is one draw
of luck; every setting is drawn several times.
"""

from __future__ import annotations

from collections.abc import Mapping

from unisono.paper.experiment_claims import (
    Chapter,
    Claim,
    ClaimPart,
    Experiment,
    Numbers,
    Picture,
    Settings,
    Table,
    Unit,
    Words,
    over_sets,
)
from unisono.paper.experiment_page import score_bars, sweep_lines
from unisono.paper.experiment_reporting import averaged, bars_along, bars_over_sets, number, score_table, stars_in_sets
from unisono.paper.paper_protocol import (
    DEFAULT,
    GOLD,
    INDEPENDENT,
    JOINT,
    MEAN,
    METRIC_NAMES,
    NAMES,
    PROTOCOL,
    SHORT,
    collected,
    race,
    switched_folds,
    unaided,
)
from unisono.paper.simulation import simulate_items

NOISE = 0.3  # the sd that the main figure is drawn for
DIMENSIONS = ("dim1", "dim2")
UNAIDED = (JOINT, INDEPENDENT, MEAN, DEFAULT)
OTHERS = {  # whom the paper names as its neighbours
    "types": "annotator types (Kara et al. 2015)",
    "regions": "noise by region (Audhkhasi and Narayanan 2013)",
    "raykar": "noise and predictor (Raykar et al. 2010)",
    "curved": "answers that bend (the conclusion)",
}


def run_set(noise: float, features: int, seed: int, items: int) -> Numbers:
    """One data set: the race under the paper's protocol, and what comes out without any label."""
    world = simulate_items(items=items, features=features, noise=noise, seed=seed)
    given = world.features if features else None
    found = race(world.ratings, world.truth, features=given, seed=seed)
    return found | {"unaided": unaided(world.ratings, world.truth, models=(*UNAIDED, *OTHERS), features=given)}


def units(settings: Settings) -> list[Unit]:
    noises = (NOISE,) if settings.quick else (0.1, NOISE, 0.5, 1.0)
    many, sets, items = (40, 3, 60) if settings.quick else (500, 10, 100)
    # The slow ones first, so that no core waits for a last long unit.
    return [
        Unit(
            f"features{features}-noise{noise:g}-set{s}",
            run_set,
            {"noise": noise, "features": features, "seed": settings.seed + s, "items": items},
        )
        for features in (many, 0)
        for noise in noises
        for s in range(sets)
    ]


def report(settings: Settings, results: Mapping[str, Numbers]) -> Chapter:
    by_setting = _grouped(settings, results)
    many = max(features for features, _ in by_setting)
    main, plain = by_setting[many, NOISE], by_setting[0, NOISE]
    moved, folds = switched_folds(main, JOINT)
    said = Words("items-synthetic", sets=len(main), gold=NAMES[GOLD], noise=NOISE, features=many)
    return Chapter(
        lead=(said("data"), said("switching", moved=moved, folds=folds)),
        tables=(
            score_table(said("scores"), main, DIMENSIONS, PROTOCOL),
            score_table(said("plain_scores"), plain, DIMENSIONS, PROTOCOL),
            _unaided_table(said("unaided"), by_setting),
            _others_table(said("others"), by_setting),
        ),
        pictures=(
            Picture("items-synthetic", said("bars"), lambda: score_bars(bars_over_sets(main, DIMENSIONS, PROTOCOL))),
            Picture(
                "items-synthetic-no-features",
                said("plain_bars"),
                lambda: score_bars(bars_over_sets(plain, DIMENSIONS, PROTOCOL)),
            ),
            *_sweep_pictures(said, by_setting),
        ),
        claims=_claims(said, main, plain, many),
        summary={
            f"features {features}, noise {noise:g}": averaged(found, DIMENSIONS, PROTOCOL)
            for (features, noise), found in by_setting.items()
        },
    )


def _claims(said: Words, main: list[Numbers], plain: list[Numbers], many: int) -> tuple[Claim, ...]:
    settings = {f"{many} features": main, "without features": plain}
    unaided = [result["unaided"] for result in plain]
    return (
        *(
            said.judge("ahead", _against(found, JOINT, INDEPENDENT), stars_in_sets(found, DIMENSIONS), setting=setting)
            for setting, found in settings.items()
        ),
        said.judge("default", _against(main, GOLD, JOINT)),
        said.judge("converged", _against(unaided, JOINT, INDEPENDENT), said("unresolved")),
        said.judge("switching", [_switching([*main, *plain])]),
    )


def _against(found: list[Numbers], first: str, second: str) -> list[ClaimPart]:
    return [
        over_sets(
            f"{METRIC_NAMES[metric]} of {dimension}",
            collected(found, first, dimension, metric),
            collected(found, second, dimension, metric),
            names=(SHORT[first], SHORT[second]),
        )
        for dimension in DIMENSIONS
        for metric in METRIC_NAMES
    ]


def _switching(found: list[Numbers]) -> ClaimPart:
    moved, folds = switched_folds(found, JOINT)
    return ClaimPart("folds switched or flipped", f"{moved} of {folds}", moved > 0.05 * folds)


def _unaided_table(caption: str, by_setting: Mapping[tuple[int, float], list[Numbers]]) -> Table:
    rows = []
    for (features, noise), found in by_setting.items():
        for model in UNAIDED:
            rows.append((f"{NAMES[model]}, {features} features, noise {noise:g}", *_unaided_cells(found, model)))
    columns = ("", "CCC", "Pearson", "CCC, switched", "Pearson, switched")
    return Table(caption, columns, tuple(rows))


def _others_table(caption: str, by_setting: Mapping[tuple[int, float], list[Numbers]]) -> Table:
    """An extra that the paper does not have: the models it names, on the same ratings."""
    rows = []
    for (features, noise), found in by_setting.items():
        for model, name in {DEFAULT: NAMES[DEFAULT], **OTHERS}.items():
            rows.append((f"{name}, {features} features, noise {noise:g}", *_unaided_cells(found, model)[:2]))
    return Table(caption, ("", "CCC", "Pearson"), tuple(rows))


def _unaided_cells(found: list[Numbers], model: str) -> tuple[str, ...]:
    cells = []
    for kind in ("scores", "switched"):
        own = [result["unaided"][kind].get(model) for result in found]
        for metric in METRIC_NAMES:
            values = [scores[d][metric] for scores in own if scores for d in DIMENSIONS]
            cells.append(number(values) if values else "")
    return tuple(cells)


def _sweep_pictures(said: Words, by_setting: Mapping[tuple[int, float], list[Numbers]]) -> list[Picture]:
    noises = sorted({noise for _, noise in by_setting})
    pictures = []
    for features in sorted({features for features, _ in by_setting}, reverse=True) if len(noises) > 1 else ():
        found = [by_setting[features, noise] for noise in noises]
        pictures.append(_sweep(said, features, noises, found))
    return pictures


def _sweep(said: Words, features: int, noises: list[float], found: list[list[Numbers]]) -> Picture:
    scores = bars_along(found, DIMENSIONS, PROTOCOL)
    what = f"{features} features" if features else "no features"
    return Picture(
        f"items-synthetic-noise-{'features' if features else 'plain'}",
        said("sweep", what=what),
        lambda: sweep_lines(
            noises, scores, "sd of the annotators' noise", "* joint significantly better than independent"
        ),
    )


def _grouped(settings: Settings, results: Mapping[str, Numbers]) -> dict[tuple[int, float], list[Numbers]]:
    found: dict[tuple[int, float], list[Numbers]] = {}
    for unit in units(settings):
        found.setdefault((unit.settings["features"], unit.settings["noise"]), []).append(results[unit.key])
    return found


EXPERIMENT = Experiment(
    "items-synthetic", "Ratings of items, synthetic data", "Sec. 4.1.1 (Synthetic data)", units, report
)
