"""What the default for traces owes to the choice of its constants: `make bench-trace-constants UNISONO_DATA=DIR`.

Every constant of src/unisono/maths/series/trace_priors.py that the estimate rests on is made smaller and larger, one
at a time, and every study is fused again. Writes two tables of docs/accuracy-series.md between their markers: what
each setting changes, and what every study has under the setting that is best on the *other* studies. Figures are kept
draw by draw in bench-out/trace-constants.jsonl; what this code has measured already is not measured again. Options:
--seeds N (default 10), --jobs N (default: all cores), --only CONSTANT,CONSTANT, --studies NAME,NAME, --render (only
the tables again).
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import unisono as un
from benchmarks.accuracy_page import fill_page
from benchmarks.accuracy_series import VOTERS, Draw, kept, measure
from benchmarks.accuracy_series_page import PAGE
from benchmarks.accuracy_sets import data_folder
from benchmarks.studies import code_digest
from benchmarks.trace_constants_page import DEFAULT, tables
from benchmarks.trace_draws import TraceDraw, draw_traces, trace_studies
from benchmarks.trace_scores import votes
from unisono.maths.series import trace_priors

OUT = Path("bench-out") / "trace-constants.jsonl"

# Neighbours of every constant: half and double, or about as far where that would leave its range.
VALUES: dict[str, tuple[float, ...]] = {
    "REVERSED": (0.003, 0.03),
    "GAIN_SD": (0.15, 0.6),
    "NOISE_SD": (0.3, 1.2),
    "GAIN_NOISE": (0.5, 0.9),
    "PRIOR_ANNOTATORS": (2.0, 8.0),
    "MOST_WEIGHT": (2.0, 6.0),
    "EVIDENCE": (0.125, 0.5),
    "LEVEL_VARIANCE": (0.5, 2.0),
    "BIAS_VARIANCE": (0.05, 0.2),
    "PRIOR_LEVELS": (2.0, 8.0),
    "DELAY_SD": (0.25, 1.0),
    "MEMORY": (30.0, 120.0),
    "MEMORY_SD": (0.5, 2.0),
    "LEAKAGE_SD": (0.05, 0.1, 0.2, 0.3),
    "PRIOR_LEAKAGES": (1.0, 16.0),
    "PRIOR_BLOCKS": (0.5, 8.0),
    "TRACE_FREEDOM": (2.0, 8.0),
    "FREEDOM_SD": (0.01, 1.5),
}
BETWEEN_DIMENSIONS = ("LEAKAGE_SD", "PRIOR_LEAKAGES")  # one dimension does not see them
SETTINGS: dict[str, tuple[str, float] | None] = {
    DEFAULT: None,
    **{f"{name} {value:g}": (name, value) for name, values in VALUES.items() for value in values},
}


def main(arguments: list[str]) -> None:
    options = _options(arguments)
    folder = data_folder()
    OUT.parent.mkdir(exist_ok=True)
    todo = draws(trace_studies(folder), options.seeds)
    if not options.render:
        measure([draw for draw in todo if _asked(draw, options)], options.jobs, OUT, one_case)
    for line in fill_page(tables(kept(todo, OUT)), PAGE, "benchmarks.trace_constants"):
        print(line)


def draws(studies: list[str], seeds: int) -> list[Draw]:
    """Setting, study and seed; settings of a draw one after the other."""
    return [(setting, study, seed) for study in studies for seed in range(seeds) for setting in SETTINGS]


def one_case(setting: str, study: str, seed: int) -> dict[str, Any]:
    """The default under one setting on one draw; the other models beside the default as it is."""
    began, draw, changed = time.process_time(), _draw(study, seed), SETTINGS[setting]
    found: dict[str, float] = {}
    if changed is None or changed[0] not in BETWEEN_DIMENSIONS or draw.fused.D > 1:
        with warnings.catch_warnings(), constants(*([] if changed is None else [changed])):
            warnings.simplefilter("ignore", un.ConvergenceWarning)
            found = votes(draw, VOTERS if changed is None else ("auto",))
    seconds = time.process_time() - began
    row = {"part": setting, "name": study, "seed": seed, "code": code_digest(), "seconds": seconds}
    return {**row, "votes": found}


@contextmanager
def constants(*changed: tuple[str, float]) -> Iterator[None]:
    """The priors of traces with other values, in this process, until the end of the block."""
    before = {name: getattr(trace_priors, name) for name, _ in changed}
    try:
        for name, value in changed:
            setattr(trace_priors, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(trace_priors, name, value)


@lru_cache(maxsize=1)
def _draw(study: str, seed: int) -> TraceDraw:
    folder = data_folder()
    assert folder is not None
    return draw_traces(folder, study, seed)


def _asked(draw: Draw, options: argparse.Namespace) -> bool:
    setting, study, _ = draw
    names, studies = (set(filter(None, words.split(","))) for words in (options.only, options.studies))
    return (not names or setting.split()[0] in names) and (not studies or study in studies)


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trace_constants", description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--only", default="")
    parser.add_argument("--studies", default="")
    parser.add_argument("--render", action="store_true")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    # Workers look for their task in the module by its name, and __main__ is another module to them.
    from benchmarks.trace_constants import main as by_name

    by_name(sys.argv[1:])
