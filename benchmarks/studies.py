"""Every model on a folder of studies, each study one vote: `make bench-studies STUDIES=DIR`.

Where the target is other annotators, its noise is taken out, because a noisy target flatters the plain mean:

    pearson   with the target as it is
    ccc       with the truth behind the target: the target's noise is taken out of its variance
    error     squared error to that truth, over the variance of the target; `gone` is the share of the mean's
    cover     share of targets inside the 90 % interval, widened by the target's own noise

Results are kept line by line in bench-out/studies.jsonl; what this code has measured already is not measured again, so
that a run that was interrupted goes on. Writes the tables of docs/accuracy.md. Options: --seeds N, --jobs N,
--engine NAME, --scheduler ADDRESS, --models A,B, --only A,B, --render (only the tables again). Beside the models by
name there are auto+ordinal, auto+warp, auto+censored (ends of the scale are "at least this much") and auto+leakage
(`transform="full"`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import unisono
from benchmarks.studies_page import write_studies
from benchmarks.study_cases import StudyCase, Target, draw_case, study_cases
from unisono.engines.choice import open_engine
from unisono.fusers import Fuser, make_fuser
from unisono.maths.items.predictive import half_width
from unisono.maths.metrics import pearson
from unisono.tasks import Workers, run_tasks
from unisono.words import ENGINE_WORDS

OUT = Path("bench-out") / "studies.jsonl"
# Settings of the default that tables show beside it, by the names that --models takes.
VARIANTS: dict[str, dict[str, Any]] = {"auto+censored": {"censored": True}, "auto+leakage": {"transform": "full"}}
LEAST_SIGNAL = 0.02  # of a target's variance that is taken for signal, however noisy it is
FEWEST_ITEMS = 3
BATCH = 32  # cases that are written down together


def main(arguments: list[str]) -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("folder", type=Path)
    ask.add_argument("--models", default="mean,auto")
    ask.add_argument("--seeds", type=int, default=2)
    ask.add_argument("--jobs", type=int, default=-1)
    ask.add_argument("--engine", default="processes", choices=ENGINE_WORDS)
    ask.add_argument("--scheduler")
    ask.add_argument("--only", default="")
    ask.add_argument("--render", action="store_true")
    given = ask.parse_args(arguments)
    OUT.parent.mkdir(exist_ok=True)
    if not given.render:
        only = set(filter(None, given.only.split(",")))
        with open_engine(given.engine, given.jobs if given.jobs > 0 else None, given.scheduler) as executor:
            measure(given.folder, given.models.split(","), given.seeds, executor, only)
    for line in write_studies(kept()):
        print(line)


def kept(path: Path = OUT) -> list[dict[str, Any]]:
    """What this code has measured, one row per case and model."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [row for row in rows if row["code"] == code_digest()]


@cache
def code_digest() -> str:
    """Of everything that results may depend on: the package itself."""
    digest = hashlib.sha256()
    for path in sorted(Path(unisono.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def measure(folder: Path, models: list[str], seeds: int, workers: Workers, only: set[str], out: Path = OUT) -> None:
    """Measures what is not there yet, some cases at a time, and writes them down as they come."""
    done = {(row["study"], row["per_item"], row["seed"], row["model"]) for row in kept(out)}
    todo = [
        (folder, case, model)
        for case in study_cases(folder, seeds, only)
        for model in models
        if (*case, model) not in done
    ]
    with out.open("a") as file:
        for start in range(0, len(todo), BATCH):
            for row in run_tasks(one_case, todo[start : start + BATCH], workers):
                file.write(json.dumps(row) + "\n")
            file.flush()
            print(f"{min(start + BATCH, len(todo))} of {len(todo)}", file=sys.stderr)


def one_case(folder: Path, case: StudyCase, model: str) -> dict[str, Any]:
    """One model on one draw."""
    ratings, target = draw_case(folder, case)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fused = fuser_of(model).fit(ratings).fuse()
    seconds = time.perf_counter() - began
    low, high = fused.interval()
    scores = measures(fused.mean, low, high, target)
    shape = {"D": ratings.D, "K": len(np.unique(ratings.annotator_of)), "M": ratings.M, "J": ratings.J}
    return {**case._asdict(), "model": model, **scores, **shape, "seconds": seconds, "code": code_digest()}


def fuser_of(model: str) -> Fuser:
    """A model by its name, or the default with some of its settings changed."""
    return make_fuser("auto", **VARIANTS[model]) if model in VARIANTS else make_fuser(model)


def measures(mean: np.ndarray, low: np.ndarray, high: np.ndarray, target: Target) -> dict[str, float | None]:
    """Means over dimensions; None where a reference is not on the scale of the ratings."""
    rows = []
    for d in range(mean.shape[1]):
        at = np.flatnonzero(~np.isnan(target.value[:, d]) & ~np.isnan(mean[:, d]))
        if len(at) >= FEWEST_ITEMS and np.ptp(target.value[at, d]) > 0:
            columns = (part[at, d] for part in (mean, low, high, target.value, target.noise))
            rows.append(_one_dimension(*columns))
    found = np.mean(rows, axis=0) if rows else np.full(4, np.nan)
    names = ("pearson", "ccc", "error", "cover")
    shown = {name: float(value) if np.isfinite(value) else None for name, value in zip(names, found, strict=True)}
    return shown if target.comparable else {"pearson": shown["pearson"], "ccc": None, "error": None, "cover": None}


def _one_dimension(
    mean: np.ndarray, low: np.ndarray, high: np.ndarray, value: np.ndarray, noise: np.ndarray
) -> tuple[float, float, float, float]:
    total, blur = value.var(), noise.mean()
    truth = max(total - blur, LEAST_SIGNAL * total)
    together = ((mean - mean.mean()) * (value - value.mean())).mean()
    ccc = 2 * together / (mean.var() + truth + (mean.mean() - value.mean()) ** 2)
    error = max(((mean - value) ** 2).mean() - blur, 0.0) / total
    reach = np.sqrt(((high - low) / 2) ** 2 + half_width(0.9, np.inf) ** 2 * noise)
    cover = (np.abs((low + high) / 2 - value) <= reach).mean()
    order = float(pearson(mean, value)) if np.ptp(mean) > 0 else 0.0
    return order, float(ccc), float(error), float(cover)


if __name__ == "__main__":
    # Workers look for their task in the module by its name, and __main__ is another module to them.
    from benchmarks.studies import main as by_name

    by_name(sys.argv[1:])
