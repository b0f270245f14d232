"""How close every model of traces comes to the truth: `make bench-accuracy-series UNISONO_DATA=DIR`.

Writes the tables of docs/accuracy-series.md between their markers. Figures are kept draw by draw in
bench-out/accuracy-series.jsonl; what this code has measured already is not measured again, so that a run that was
interrupted goes on. Options: --seeds N (default 10), --jobs N (default: all cores), --only PART,PART (studies, crowds,
models, realistic, paper, green, halves, fours), --render (only the tables again).
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
    CROWDS,
    REACH,
    REALISTIC,
    TASKS,
    WIDTHS,
    against_the_others,
    best_lag,
    film,
    fours,
    green,
    halves,
    lagged,
    made_crowd,
    mean_delay,
    raters_only,
    realistic,
    with_known_hands,
)
from benchmarks.accuracy_sets import data_folder
from benchmarks.studies import code_digest
from benchmarks.trace_draws import draw_traces, trace_studies
from benchmarks.trace_scores import bands, figures, strangers, stretches, study_figures, timed, votes
from unisono.fusers import make_fuser
from unisono.fusers.model_registry import models_for
from unisono.maths.metrics import ccc, pearson
from unisono.scale.executors import open_engine, run_tasks
from unisono.tables.ratings import Ratings

OUT = Path("bench-out") / "accuracy-series.jsonl"
VOTERS = ("mean", "zscore-mean", "ewe", "aligned-mean", "auto")
MODELS = ("auto", "independent", "mean", "median", "zscore-mean", "aligned-mean", "ewe")
EVERY = [name for name in models_for(series=True) if name != "joint" and not name.startswith("paper")]
FEW_SEEDS = 3  # of every model, at most
PAPER_SEEDS = 3  # at most: the published model is slow, and its spread shows soon
RESTARTS = 5  # of the published model, each looked at by itself
PUBLISHED_TOL, RUN_ON_TOL = 5e-3, 1e-4  # change of the log-likelihood at which it stops: as published, and run on
GREEN_REACH = 4.0  # seconds
Z = 1.6448536269514722  # of a 90 % band
BATCH = 4  # draws that are written down together

Draw = tuple[str, str, int]  # part, set, seed
Case = Callable[[str, str, int], dict[str, Any]]


def main(arguments: list[str]) -> None:
    options = _options(arguments)
    OUT.parent.mkdir(exist_ok=True)
    todo, missing = draws(options.seeds, data_folder())
    if not options.render:
        measure([draw for draw in todo if not options.only or draw[0] in options.only.split(",")], options.jobs)
    for line in fill_page(
        tables({"seeds": options.seeds, "missing": missing, "rows": kept(todo)}), PAGE, "benchmarks.accuracy_series"
    ):
        print(line)


def draws(seeds: int, folder: Path | None) -> tuple[list[Draw], list[str]]:
    """Every draw, and which sets are not at hand."""
    todo: list[Draw] = [("studies", study, s) for study in trace_studies(folder) for s in range(seeds)]
    todo += [("crowds", setting, s) for setting in CROWDS for s in range(2 * seeds)]
    every = [*trace_studies(folder), *CROWDS]
    todo += [("models", name, s) for name in every for s in range(min(seeds, FEW_SEEDS))]
    todo += [("realistic", setting, s) for setting in REALISTIC for s in range(seeds)]
    todo += [("paper", str(W), s) for W in WIDTHS for s in range(min(seeds, PAPER_SEEDS))]
    todo += [("green", task, 0) for task in TASKS]
    todo += [("halves", "forrest", s) for s in range(seeds)]
    missing = [] if folder and (folder / "ceap360vr").exists() else ["ceap"]
    todo += [("halves", "ceap", s) for s in range(0 if missing else seeds)]
    return todo + [("fours", "forrest", choice) for choice in range(len(fours()))], missing


def kept(todo: list[Draw], path: Path = OUT) -> list[dict[str, Any]]:
    """What was measured last of every draw, in their order."""
    lines = path.read_text().splitlines() if path.exists() else []
    rows = {(row["part"], row["name"], row["seed"]): row for row in map(json.loads, lines)}
    return [rows[draw] for draw in todo if draw in rows]


def measure(todo: list[Draw], jobs: int, path: Path = OUT, case: Case | None = None) -> None:
    """Measures what this code has not measured yet, one task per draw, so that models are compared on the same draw.

    case: what is measured of a draw, with its name and the digest of the code; without it `one_case`.
    """
    case, engine = case or one_case, "serial" if jobs == 1 else "processes"
    done = {(row["part"], row["name"], row["seed"]) for row in kept(todo, path) if row["code"] == code_digest()}
    todo = [draw for draw in todo if draw not in done]
    columns = (TextColumn("Accuracy"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with (
        path.open("a") as file,
        Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar,
        open_engine(engine, None if jobs < 1 else jobs) as executor,
    ):
        task = bar.add_task("", total=len(todo))
        for start in range(0, len(todo), BATCH):
            for row in run_tasks(case, todo[start : start + BATCH], executor):
                file.write(json.dumps(row) + "\n")
            file.flush()
            bar.update(task, completed=min(start + BATCH, len(todo)))


def one_case(part: str, name: str, seed: int) -> dict[str, Any]:
    """Every model on one draw."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", un.ConvergenceWarning)
        found = PARTS[part](name, seed)
    seconds = time.process_time() - began
    return {"part": part, "name": name, "seed": seed, "code": code_digest(), "seconds": seconds, **found}


def _study(study: str, seed: int) -> dict[str, Any]:
    folder = data_folder()
    assert folder is not None
    draw = draw_traces(folder, study, seed)
    return {"known": draw.reference is not None, "votes": votes(draw, VOTERS), "bands": bands(draw, seed)}


def _crowd(setting: str, seed: int) -> dict[str, Any]:
    """Correlation at the best lag, the band where the annotators' mean delay is given, and predicted ratings."""
    ratings, truth, delay = made_crowd(setting, seed)
    assert ratings.clock is not None
    reach = round(REACH * ratings.clock.rate)
    fused = {model: un.fuse(ratings, model=model).fused for model in VOTERS}
    fused["who knows who is who"] = un.fuse(with_known_hands(ratings, setting)).fused
    scores = {name: best_lag(one.mean[:, 0], truth[:, 0], ratings.length, reach)[1] for name, one in fused.items()}
    shown, usual = un.fuse(ratings, lag=delay, shared=0.0).fused, un.fuse(ratings, lag=delay).fused
    inside = [float((np.abs(truth - fused.mean) < Z * fused.sd).mean()) for fused in (shown, usual)]
    return {
        "scores": scores,
        "shown": inside[0],
        "coverage": inside[1],
        "stretches": stretches(ratings, seed),
        "strangers": float(np.mean([_stranger(ratings, k) for k in range(ratings.K)])),
    }


def _every_model(name: str, seed: int) -> dict[str, Any]:
    """Correlation, error, cover and seconds of every model: of a study as votes, of a crowd at the best lag."""
    if name not in CROWDS:
        folder = data_folder()
        assert folder is not None
        return {"found": study_figures(draw_traces(folder, name, seed), EVERY)}
    ratings, truth, _ = made_crowd(name, seed)
    assert ratings.clock is not None
    reach, found = round(REACH * ratings.clock.rate), {}
    for model in EVERY:
        fused, seconds = timed(ratings, model)
        lag, r = best_lag(fused.mean[:, 0], truth[:, 0], ratings.length, reach)
        (mean, target), (sd, _) = (lagged(x[:, 0], truth[:, 0], ratings.length, lag) for x in (fused.mean, fused.sd))
        found[model] = {"r": r, **figures(mean[:, None], sd[:, None], target[:, None], 0.0), "seconds": seconds}
    return {"found": found}


def _stranger(ratings: Ratings, k: int) -> float:
    """What is predicted for annotator k by those who are left."""
    own = ratings.annotator_of == k
    others, traces = (raters_only(ratings.select_judgements(chosen)) for chosen in (~own, own))
    return strangers(traces, un.fuse(others))


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


def _four(name: str, choice: int) -> dict[str, Any]:
    """One choice of four annotators of the film: the default and the mean, against all the others."""
    who = fours()[choice]
    ratings, target = against_the_others(film(), np.array(who))
    scores = {
        model: [pearson(un.fuse(ratings, model=model).fused.mean[:, d], target[:, d]) for d in range(ratings.D)]
        for model in ("auto", "mean")
    }
    return {"who": who, "scores": scores}


PARTS = {
    "studies": _study,
    "crowds": _crowd,
    "models": _every_model,
    "realistic": _realistic,
    "paper": _paper,
    "green": _green,
    "halves": _halves,
    "fours": _four,
}


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy_series", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--only", default="")
    parser.add_argument("--render", action="store_true")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    # Workers look for their task in the module by its name, and __main__ is another module to them.
    from benchmarks.accuracy_series import main as by_name

    by_name(sys.argv[1:])
