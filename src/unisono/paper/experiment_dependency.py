"""How much dependency between the dimensions matters: all annotators share F = [[1, c], [c, 1]], c from .1 to 1.

As in the paper: 100 annotators with 10 items each, 100 items with 10 ratings each, five folds. The second half is the
paper's appendix: the average of the estimated F_k beside the true matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unisono.maths.metrics import spearman
from unisono.paper.experiment_claims import (
    BOTH,
    Chapter,
    Claim,
    ClaimPart,
    Experiment,
    Lead,
    Numbers,
    Picture,
    Settings,
    Table,
    Unit,
    Words,
    over_sets,
)
from unisono.paper.experiment_page import Heat, heat_row, sweep_lines
from unisono.paper.experiment_reporting import averaged, bars_along, mean_over, number
from unisono.paper.paper_protocol import GOLD, INDEPENDENT, JOINT, METRIC_NAMES, NAMES, PROTOCOL, average_matrices, race
from unisono.paper.simulation import Simulation, labelled

NAME = "dependency"
NOISE = 0.3
DIMENSIONS = ("dim1", "dim2")
SWEEP: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MAPS: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # where the appendix shows F
SHOWN = (JOINT, GOLD)
WASHED_OUT = 0.5  # what the paper reads off its last map, where the truth is 1
CLOSE = 0.1  # mean absolute error of an element of F up to which matrices "closely resemble"


def run_set(c: float, features: int, seed: int, size: int, per_item: int, compare: bool, matrices: bool) -> Numbers:
    """One data set: the race, and the average matrices."""
    world = shared_world(c, features, seed, size, per_item)
    given = world.features if features else None
    found = race(world.ratings, world.truth, features=given, seed=seed) if compare else {}
    if matrices:
        found["matrices"] = {
            model: average_matrices(world.ratings, world.truth, model=model, features=given, folds=5, seed=seed)["F"]
            for model in SHOWN
        }
    return found


def shared_world(c: float, features: int, seed: int, size: int, per_item: int) -> Simulation:
    """As many annotators as items; everybody rates `per_item` items, and every item is rated by as many."""
    rng = np.random.default_rng(seed)
    F = true_matrix(c)
    X, truth = rng.standard_normal((size, features)), rng.uniform(-1, 1, (size, 2))
    place, people = rng.permutation(size), rng.permutation(size)
    shift = rng.choice(size, per_item, replace=False)
    item_of = np.repeat(place, per_item)
    annotator_of = people[(np.repeat(np.arange(size), per_item) + np.tile(shift, size)) % size]
    y = truth[item_of] @ F.T + NOISE * rng.standard_normal((size * per_item, 2))
    everybody = [{"F": F.tolist(), "bias": [0.0, 0.0], "noise_sd": NOISE}] * size
    return labelled(y, (item_of, annotator_of), X, truth, everybody)


def units(settings: Settings) -> list[Unit]:
    quick = settings.quick
    strengths: tuple[float, ...] = (0.2, 0.6, 1.0) if quick else SWEEP
    shown: tuple[float, ...] = (0.2, 1.0) if quick else MAPS
    sets, features, size, per_item = (2, 0, 30, 6) if quick else (5, 500, 100, 10)
    return [
        Unit(
            f"c{c:g}-set{s}",
            run_set,
            {
                "c": c,
                "features": features,
                "seed": settings.seed + s,
                "size": size,
                "per_item": per_item,
                "compare": c in strengths,
                "matrices": c in shown,
            },
        )
        for c in sorted({*strengths, *shown})
        for s in range(sets)
    ]


def report(settings: Settings, results: Mapping[str, Numbers]) -> Chapter:
    by_strength: dict[float, list[Numbers]] = {}
    for unit in units(settings):
        by_strength.setdefault(unit.settings["c"], []).append(results[unit.key])
    races = {c: found for c, found in by_strength.items() if "scores" in found[0]}
    matrices = {c: _average_F(found) for c, found in by_strength.items() if "matrices" in found[0]}
    first = units(settings)[0].settings
    sets = len(next(iter(by_strength.values())))
    scores = bars_along(list(races.values()), DIMENSIONS, PROTOCOL)
    said = Words(NAME, sets=sets, noise=NOISE, **{name: first[name] for name in ("size", "per_item", "features")})
    return Chapter(
        lead=(said("data"),),
        tables=(_error_table(said("errors"), matrices),),
        pictures=(
            Picture(
                NAME,
                said("sweep"),
                lambda: sweep_lines(
                    list(races), scores, "off-diagonal element c of F", "* joint significantly better than independent"
                ),
            ),
            Picture(
                "dependency-matrices",
                said("matrices"),
                lambda: heat_row(_heats(matrices), "element of F", per_row=len(matrices), low=0.0, high=1.1),
            ),
        ),
        claims=_claims(races, matrices),
        summary={
            "scores": {f"{c:g}": averaged(found, DIMENSIONS, PROTOCOL) for c, found in races.items()},
            "average F": {f"{c:g}": {m: F.tolist() for m, F in found.items()} for c, found in matrices.items()},
        },
    )


def true_matrix(c: float) -> np.ndarray:
    return np.array([[1.0, c], [c, 1.0]])


def error(estimate: np.ndarray, c: float) -> float:
    """Mean absolute error of the elements of F."""
    return float(np.abs(estimate - true_matrix(c)).mean())


def scaled_error(estimate: np.ndarray, c: float) -> float:
    """The same after the one factor that suits best."""
    truth = true_matrix(c)
    return float(np.abs(estimate * (estimate * truth).sum() / (estimate**2).sum() - truth).mean())


def _average_F(found: Sequence[Numbers]) -> dict[str, np.ndarray]:
    """Over folds and data sets."""
    return {m: np.mean([np.mean(result["matrices"][m], axis=0) for result in found], axis=0) for m in SHOWN}


def _heats(matrices: Mapping[float, Mapping[str, np.ndarray]]) -> list[Heat]:
    rows = {"true": {c: true_matrix(c) for c in matrices}} | {
        NAMES[m]: {c: found[m] for c, found in matrices.items()} for m in SHOWN
    }
    return [
        Heat(f"{name}\nc = {c:g}", value, ("rated 1", "rated 2"), ("true 1", "true 2"))
        for name, by_c in rows.items()
        for c, value in by_c.items()
    ]


def _error_table(caption: str, matrices: Mapping[float, Mapping[str, np.ndarray]]) -> Table:
    columns = ("c", *(f"{NAMES[m]}: {what}" for m in SHOWN for what in ("error", "error up to scale")))
    rows = tuple(
        (f"{c:g}", *(number([e(found[m], c)]) for m in SHOWN for e in (error, scaled_error)))
        for c, found in matrices.items()
    )
    return Table(caption, columns, rows)


def _claims(
    races: Mapping[float, list[Numbers]], matrices: Mapping[float, Mapping[str, np.ndarray]]
) -> tuple[Claim, ...]:
    said, lowest = Words(NAME, close=CLOSE, washed_out=WASHED_OUT), min(races)
    middle = [c for c in matrices if 0 < c < 1] or list(matrices)
    scored = [(model, metric) for model in (JOINT, INDEPENDENT) for metric in METRIC_NAMES]
    most = max(matrices)
    washed = _washed(matrices[most][JOINT], most) if most == max(races) else []
    return (
        said.judge("ahead", [_gap(c, found, metric) for c, found in races.items() for metric in METRIC_NAMES]),
        said.judge("start", [_start(races[lowest], lowest, metric) for metric in METRIC_NAMES]),
        said.judge("trend", [_trend(races, model, metric) for model, metric in scored]),
        said.judge("growth", [_growth(races, metric) for metric in METRIC_NAMES]),
        said.judge("resembles", [_resembles(matrices[c], c) for c in middle]),
        said.judge("washed", washed),
    )


def _gap(c: float, found: list[Numbers], metric: str) -> ClaimPart:
    first, second = (mean_over(found, model, DIMENSIONS, metric) for model in (JOINT, INDEPENDENT))
    return over_sets(f"{METRIC_NAMES[metric]} at c = {c:g}", first, second)


def _start(found: list[Numbers], c: float, metric: str) -> ClaimPart:
    first, second = (float(np.mean(mean_over(found, model, DIMENSIONS, metric))) for model in (JOINT, INDEPENDENT))
    return ClaimPart(
        f"{METRIC_NAMES[metric]} at c = {c:g}",
        f"{first:.3f} against {second:.3f}",
        abs(first - second) < 0.02,
        Lead(*BOTH, first - second),
    )


def _trend(races: Mapping[float, list[Numbers]], model: str, metric: str) -> ClaimPart:
    values = np.array([np.mean(mean_over(found, model, DIMENSIONS, metric)) for found in races.values()])
    rank = spearman(np.array(list(races)), values)
    return ClaimPart(
        f"{METRIC_NAMES[metric]}, {NAMES[model]}", f"{values[0]:.3f} to {values[-1]:.3f}, rank {rank:+.2f}", rank < -0.8
    )


def _growth(races: Mapping[float, list[Numbers]], metric: str) -> ClaimPart:
    gaps = {
        c: float(
            np.mean(mean_over(f, JOINT, DIMENSIONS, metric)) - np.mean(mean_over(f, INDEPENDENT, DIMENSIONS, metric))
        )
        for c, f in races.items()
    }
    top = max(gaps, key=lambda c: gaps[c])
    return ClaimPart(
        METRIC_NAMES[metric],
        f"{gaps[min(gaps)]:+.3f} at c = {min(gaps):g}, largest {gaps[top]:+.3f} at c = {top:g}, "
        f"{gaps[max(gaps)]:+.3f} at c = {max(gaps):g}",
        min(gaps) < top < 1.0,
    )


def _resembles(found: Mapping[str, np.ndarray], c: float) -> ClaimPart:
    joint, gold = (error(found[m], c) for m in SHOWN)
    return ClaimPart(f"c = {c:g}", f"error {joint:.3f} (our default with gold {gold:.3f})", joint < CLOSE)


def _washed(estimate: np.ndarray, c: float) -> list[ClaimPart]:
    shown = ", ".join(f"{value:.2f}" for value in estimate.ravel())
    scaled = scaled_error(estimate, c)
    return [
        ClaimPart(f"elements at c = {c:g}", shown, bool((np.abs(estimate - WASHED_OUT) < 0.15).all())),
        ClaimPart("error up to scale", f"{scaled:.3f}", scaled < CLOSE),
    ]


EXPERIMENT = Experiment(NAME, "Effect of dependency among dimensions", "Sec. 4.3 and App. A.2", units, report)
