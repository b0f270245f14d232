"""Every model on a folder of studies, each study one vote: `make bench-studies STUDIES=DIR`.

One call measures all models (`study_models`, which says who runs where) on all draws of all studies (`study_cases`) by
the same measures (`study_measures`), and writes the tables of docs/accuracy.md and what they are made of. Results are
kept line by line in bench-out/studies.jsonl; what this code has measured already is not measured again, so that a run
that was interrupted goes on where it stopped. Options: --seeds N, --jobs N, --engine NAME, --scheduler ADDRESS,
--models A,B, --only A,B, --render (only the tables again).
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
from benchmarks import study_cases, study_measures, study_models
from benchmarks.studies_page import write_studies
from benchmarks.study_cases import StudyCase, draw_case, load_study
from benchmarks.study_measures import NAMES, measures
from benchmarks.study_models import MODELS, applies, fuser_of
from unisono.errors import DataError
from unisono.maths.structure_words import ENGINE_WORDS
from unisono.scale.executors import Workers, open_engine, run_tasks

OUT = Path("bench-out") / "studies.jsonl"
BATCH = 32  # fits that are written down together

Fit = tuple[StudyCase, str]  # a draw, and the model that is fitted to it


def main(arguments: list[str]) -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("folder", type=Path)
    ask.add_argument("--models", default=",".join(MODELS))
    ask.add_argument("--seeds", type=int, default=2)
    ask.add_argument("--jobs", type=int, default=-1)
    ask.add_argument("--engine", default="processes", choices=ENGINE_WORDS)
    ask.add_argument("--scheduler")
    ask.add_argument("--only", default="")
    ask.add_argument("--render", action="store_true")
    given = ask.parse_args(arguments)
    OUT.parent.mkdir(exist_ok=True)
    fits = all_fits(given.folder, given.models.split(","), given.seeds)
    if not given.render:
        only = set(filter(None, given.only.split(",")))
        with open_engine(given.engine, given.jobs if given.jobs > 0 else None, given.scheduler) as executor:
            measure(given.folder, [fit for fit in fits if not only or fit[0].study in only], executor)
    for line in write_studies(asked_for(kept(), fits), len(fits)):
        print(line)


def all_fits(folder: Path, models: list[str], seeds: int) -> list[Fit]:
    """Every draw of a folder with every model that its study says anything about."""
    return [
        (case, model)
        for case in study_cases.study_cases(folder, seeds)
        for model in models
        if applies(model, load_study(folder, case.study)[0])
    ]


def kept(path: Path = OUT) -> list[dict[str, Any]]:
    """What this code has measured, one row per fit."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [row for row in rows if row["code"] == code_digest()]


def asked_for(rows: list[dict[str, Any]], fits: list[Fit]) -> list[dict[str, Any]]:
    """The rows of these fits, in their order."""
    found = {fit_of(row): row for row in rows}
    return [found[fit] for fit in fits if fit in found]


def fit_of(row: dict[str, Any]) -> Fit:
    return StudyCase(row["study"], row["per_item"], row["seed"]), row["model"]


@cache
def code_digest() -> str:
    """Of everything that results may depend on: the package, draws, measures and settings."""
    digest = hashlib.sha256()
    own = [Path(module.__file__ or "") for module in (study_cases, study_measures, study_models)]
    for path in [*sorted(Path(unisono.__file__).parent.rglob("*.py")), *own]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def measure(folder: Path, fits: list[Fit], workers: Workers, out: Path = OUT) -> None:
    """Measures what is not there yet, some fits at a time, and writes them down as they come."""
    done = set(map(fit_of, kept(out)))
    todo = [(folder, *fit) for fit in fits if fit not in done]
    with out.open("a") as file:
        for start in range(0, len(todo), BATCH):
            for row in run_tasks(one_case, todo[start : start + BATCH], workers):
                file.write(json.dumps(row) + "\n")
            file.flush()
            print(f"{min(start + BATCH, len(todo))} of {len(todo)}", file=sys.stderr)


def one_case(folder: Path, case: StudyCase, model: str) -> dict[str, Any]:
    """One model on one draw; a draw that cannot be fused is a finding."""
    ratings, target = draw_case(folder, case)
    began = time.perf_counter()
    shape = {"D": ratings.D, "K": len(np.unique(ratings.annotator_of)), "M": ratings.M, "J": ratings.J}
    scores: dict[str, Any] = dict.fromkeys(NAMES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fused = fuser_of(model).fit(ratings).fuse()
            scores = dict(measures(fused.mean, *fused.interval(), target))
        except DataError as problem:
            scores["problem"] = str(problem)
    seconds = time.perf_counter() - began
    return {**case._asdict(), "model": model, **scores, **shape, "seconds": seconds, "code": code_digest()}


if __name__ == "__main__":
    # Workers look for their task in the module by its name, and __main__ is another module to them.
    from benchmarks.studies import main as by_name

    by_name(sys.argv[1:])
