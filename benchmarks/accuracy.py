"""How close every model comes to the truth: `make bench-accuracy`, with the data sets in the folder UNISONO_DATA.

Writes the tables of docs/accuracy.md between their markers (the prose around them is written by hand) and all figures
to bench-out/accuracy.json. Options: --seeds N (default 20), --jobs N (default: all cores), --models A,B (measures these
and keeps the others of bench-out/accuracy.json, if it is there), --render (only the tables again, from that file).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks.accuracy_page import write_page
from benchmarks.accuracy_sets import Case, cases, data_folder, draw
from unisono.evaluate.held_out_ratings import judgement_folds, score_hidden, timed_fit
from unisono.evaluate.model_comparison import distinct_models
from unisono.fusers import make_fuser
from unisono.maths.metrics import ccc, pearson, resample_counts, resampled_scores
from unisono.scale.executors import run_tasks

OUT = Path("bench-out") / "accuracy.json"
HIDDEN = 5  # one part in five is hidden to see whether intervals cover it
RESAMPLES = 500


def main(arguments: list[str]) -> None:
    options = _options(arguments)
    if not options.render:
        # Looked at before anything is measured: draws that do not fit would cost an hour.
        before = json.loads(OUT.read_text()) if options.models and OUT.exists() else None
        if before is not None:
            require_same_draws(before, options.seeds)
        started = time.perf_counter()
        found = run(options.seeds, options.jobs, options.models.split(",") if options.models else None)
        found["minutes"] = (time.perf_counter() - started) / 60
        if before is not None:
            found = measured_again(before, found)
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps(found) + "\n")
    for line in write_page(json.loads(OUT.read_text())):
        print(line)


def run(seeds: int, jobs: int, models: list[str] | None = None) -> dict[str, Any]:
    """All cases with all models; each task is one case, so that models are compared on the same draw."""
    names = distinct_models(models)
    todo, missing = cases(seeds, data_folder())
    for group in missing:
        print(f"skipped: {group} is not in UNISONO_DATA", file=sys.stderr)
    columns = (TextColumn("Accuracy"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=len(todo))
        rows = run_tasks(
            one_case, [(case, names) for case in todo], jobs, lambda done, total: bar.update(task, completed=done)
        )
    return {"seeds": seeds, "models": names, "missing": missing, "rows": rows}


def require_same_draws(before: dict[str, Any], seeds: int) -> None:
    """Raises unless the earlier figures are of the cases that there would be now."""
    drawn = [Case(*(row[key] for key in Case._fields)) for row in before["rows"]]
    if drawn != cases(seeds, data_folder())[0]:
        raise SystemExit(f"{OUT} has other draws: run all models with these seeds first.")


def measured_again(before: dict[str, Any], again: dict[str, Any]) -> dict[str, Any]:
    """The earlier figures with those of some models replaced."""
    rows = [
        {**old, "models": old["models"] | new["models"]} for old, new in zip(before["rows"], again["rows"], strict=True)
    ]
    return {**before, "rows": rows}


def one_case(case: Case, names: list[str]) -> dict[str, Any]:
    """Every model on one draw: accuracy, held-out ratings, iterations."""
    ratings, target = draw(case)
    hidden = judgement_folds(ratings, HIDDEN, np.random.default_rng(case.seed)) == 0
    counts = resample_counts(len(target), RESAMPLES, np.random.default_rng(0))
    found = {}
    for name in names:
        fuser = make_fuser(name)
        effort = timed_fit(fuser, ratings, None)
        estimate = fuser.fuse().mean
        held_out = score_hidden(make_fuser(name), ratings, None, hidden)
        dims = range(ratings.D)
        drawn = resampled_scores(estimate, target, counts)
        found[name] = {
            "ccc": float(np.mean([ccc(estimate[:, d], target[:, d]) for d in dims])),
            "pearson": float(np.mean(np.nan_to_num([pearson(estimate[:, d], target[:, d]) for d in dims]))),
            "coverage": held_out.coverage,
            "log_density": held_out.log_density,
            "iterations": effort.iterations,
            "converged": effort.converged,
            "seconds": effort.seconds,
            # Kept for the one set where nothing is drawn: its items are drawn again instead.
            "resampled": [drawn.ccc.mean(axis=1).tolist(), drawn.pearson.mean(axis=1).tolist()]
            if case.row == "snow/all"
            else None,
        }
    return {**case._asdict(), "row": case.row, "models": found}


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--models", default="")
    parser.add_argument("--render", action="store_true")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
