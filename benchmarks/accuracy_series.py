"""How close every model of traces comes to the truth: `make bench-accuracy-series UNISONO_DATA=DIR`.

Writes the tables of docs/accuracy-series.md between their markers and all figures to bench-out/accuracy-series.json.
Options: --seeds N (default 10), --jobs N (default: all cores), --render (only the tables again).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import unisono as un
from benchmarks.accuracy_page import fill_page
from benchmarks.accuracy_series_page import PAGE, tables
from benchmarks.accuracy_series_sets import (
    REACH,
    REALISTIC,
    TASKS,
    WIDTHS,
    best_lag,
    green,
    halves,
    lagged,
    mean_delay,
    realistic,
)
from benchmarks.accuracy_sets import data_folder
from unisono.fusers import make_fuser
from unisono.maths.metrics import ccc, pearson
from unisono.tasks import run_tasks

OUT = Path("bench-out") / "accuracy-series.json"
MODELS = ("auto", "independent", "mean", "median", "zscore-mean", "aligned-mean", "ewe")
PAPER_SEEDS = 3  # at most: the published model is slow, and its spread shows soon
RESTARTS = 5  # of the published model, each looked at by itself
PUBLISHED_TOL, RUN_ON_TOL = 5e-3, 1e-4  # change of the log-likelihood at which it stops: as published, and run on
GREEN_REACH = 4.0  # seconds
Z = 1.6448536269514722  # of a 90 % band


def main(arguments: list[str]) -> None:
    options = _options(arguments)
    if not options.render:
        started = time.perf_counter()
        found = run(options.seeds, options.jobs)
        found["minutes"] = (time.perf_counter() - started) / 60
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps(found) + "\n")
    for line in fill_page(tables(json.loads(OUT.read_text())), PAGE):
        print(line)


def run(seeds: int, jobs: int) -> dict[str, Any]:
    """Everything, one task per draw, so that models are compared on the same draw."""
    folder = data_folder()
    todo: list[tuple[str, str, int]] = [("realistic", setting, s) for setting in REALISTIC for s in range(seeds)]
    todo += [("paper", str(W), s) for W in WIDTHS for s in range(min(seeds, PAPER_SEEDS))]
    todo += [("green", task, 0) for task in TASKS]
    todo += [("halves", "forrest", s) for s in range(seeds)]
    missing = [] if folder and (folder / "ceap360vr").exists() else ["ceap"]
    todo += [("halves", "ceap", s) for s in range(0 if missing else seeds)]
    columns = (TextColumn("Accuracy"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=len(todo))
        rows = run_tasks(one_case, todo, jobs, lambda done, total: bar.update(task, completed=done))
    return {"seeds": seeds, "missing": missing, "rows": rows}


def one_case(part: str, name: str, seed: int) -> dict[str, Any]:
    """Every model on one draw."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.ConvergenceWarning)
        found = {"realistic": _realistic, "paper": _paper, "green": _green, "halves": _halves}[part](name, seed)
    return {"part": part, "name": name, "seed": seed, **found}


def _realistic(setting: str, seed: int) -> dict[str, Any]:
    world = realistic(setting, seed)
    ratings, truth = world.ratings, world.truth.value
    assert ratings.clock is not None
    reach = round(REACH * ratings.clock.rate)
    scores = {}
    for model in MODELS:
        estimate = un.fuse(ratings, model=model).fused.mean
        found = [best_lag(estimate[:, d], truth[:, d], ratings.length, reach)[1] for d in range(ratings.D)]
        scores[model] = float(np.mean(found))
    # The mean delay is a convention; bands are looked at where it is the true one.
    fused = un.fuse(ratings, lag=mean_delay(world)).fused
    inside = np.abs(truth - fused.mean) < Z * fused.sd
    return {"scores": scores, "coverage": float(inside.mean())}


def _paper(width: str, seed: int) -> dict[str, Any]:
    """The published restarts without a reference, and the default with one recording known; on the other recordings."""
    world = un.simulate_series(features=0, window=int(width), seed=seed)
    ratings, truth = world.ratings, world.truth.value
    rest = slice(int(ratings.length[0]), None)

    def scored(**settings: Any) -> list[float]:
        estimate = un.fuse(ratings, **settings).fused.mean
        return [pearson(estimate[rest, d], truth[rest, d]) for d in range(ratings.D)]

    def published(start: int, tol: float) -> float:
        fuser = make_fuser("paper-joint", series=True, width=int(width), restarts=1, seed=start)
        return float(np.mean(scored(model=fuser.alike(tol=tol))))

    gold = world.truth.select_items(ratings.items[:1])
    chosen = scored(gold=gold)
    return {
        "mean": scored(model="mean"),
        "plain": scored(),
        "published": [published(start, PUBLISHED_TOL) for start in range(RESTARTS)],
        "run_on": [published(start, RUN_ON_TOL) for start in range(RESTARTS)],
        "gold": chosen,
        "gold_width": _unless_refused(lambda: scored(gold=gold, window=(int(width) - 1) / 5.0)),
    }


def _unless_refused(score: Callable[[], list[float]]) -> list[float] | None:
    """None where the gold is too little for filters of that width."""
    try:
        return score()
    except un.DataError:
        return None


def _green(task: str, seed: int) -> dict[str, Any]:
    ratings, truth, features = green(task)
    scores = {model: _compared(un.fuse(ratings, model=model).fused, truth, ratings.length) for model in MODELS}
    driven = un.fuse(ratings, features=features, features_drive=True).fused
    scores["auto, delta_intensity drives the truth"] = _compared(driven, truth, ratings.length)
    return {"scores": scores, "published": _published(task, truth[:, 0])}


def _compared(fused: Any, truth: np.ndarray, length: np.ndarray) -> dict[str, float]:
    """Pearson, CCC, Pearson at the best lag; share in the band after lag and scale are removed, and as it stands."""
    mean, sd, t = fused.mean[:, 0], fused.sd[:, 0], truth[:, 0]
    lag, r = best_lag(mean, t, length, round(GREEN_REACH * 10))
    moved, target = lagged(mean, t, length, lag)
    width, _ = lagged(sd, t, length, lag)
    slope, level = np.polyfit(moved, target, 1)
    inside = np.abs(slope * moved + level - target) < Z * abs(slope) * width
    return {
        "pearson": pearson(mean, t),
        "ccc": ccc(mean, t),
        "best": r,
        "lag": lag / 10.0,
        "inside": float(inside.mean()),
        "inside_raw": float((np.abs(mean - t) < Z * sd).mean()),
    }


def _published(task: str, truth: np.ndarray) -> dict[str, list[float]]:
    """Pearson and CCC of the fusions that were published with the recordings; empty where they are not at hand."""
    import polars as pl

    folder = data_folder()
    path = None if folder is None else folder / "green_intensity" / "published_fusions_10hz.csv.gz"
    if path is None or not path.exists():
        return {}
    table = pl.read_csv(path).filter(pl.col("recording") == f"Task{task}")
    found = {}
    for (method,), rows in table.group_by("method", maintain_order=True):
        value = rows.sort("time")["green"].to_numpy()
        n = min(len(value), len(truth))
        found[str(method)] = [pearson(value[:n], truth[:n]), ccc(value[:n], truth[:n])]
    return found


def _halves(name: str, seed: int) -> dict[str, Any]:
    ratings, target = halves(name, seed, data_folder())
    scores = {}
    for model in MODELS:
        estimate = un.fuse(ratings, model=model).fused.mean
        scores[model] = [pearson(estimate[:, d], target[:, d]) for d in range(ratings.D)]
    return {"scores": scores}


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy_series", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--render", action="store_true")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
