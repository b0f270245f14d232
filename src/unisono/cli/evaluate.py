"""`unisono evaluate`: cross-validation against a reference, with the paper's protocol."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.engine_options import Jobs, jobs_options
from unisono.cli.options import (
    TablePath,
    features_option,
    json_option,
    models_option,
    of_items,
    out_option,
    ratings_argument,
    reading_options,
    seed_option,
)
from unisono.cli.progress import task_progress
from unisono.cli.talk import deliver, number, print_table, tell
from unisono.data.introduction import counted

if TYPE_CHECKING:
    from unisono.evaluate.protocol.results import CrossValidation, ModelResult

METRICS = {"ccc": "CCC", "pearson": "Pearson"}


@click.command("evaluate")
@ratings_argument
@reading_options
@click.option("--reference", type=TablePath(), metavar="FILE", required=True, help="Known truth: item, dimensions.")
@features_option
@models_option("paper-joint,paper-independent,auto,auto+gold,mean", suffix="+gold")
@click.option("--folds", type=click.IntRange(min=3), default=5, show_default=True, help="Folds of items.")
@click.option(
    "--select/--no-select",
    "select_iteration",
    default=True,
    show_default=True,
    help="Keep the EM iteration that is best on the validation items.",
)
@seed_option
@jobs_options
@out_option
@json_option
def command(
    ratings: str,
    reading: dict[str, Any],
    reference: str,
    features: str | None,
    out: Path | None,
    as_json: bool,
    jobs: Jobs,
    **settings: Any,
) -> None:
    """Cross-validate models on RATINGS against a reference, with the paper's protocol.

    Items are dealt out to folds; each fold is tested once, the next one validates, the others train. After every EM
    iteration a model is scored on the validation items (CCC) and the best iteration is kept; the test items are then
    fused with fixed parameters. A model's name followed by +gold gets the validation labels as known truths.
    """
    from unisono.api import cross_validate
    from unisono.io.tables import read_item_table, read_ratings

    table = read_ratings(ratings, **reading)
    known = read_item_table(reference, **of_items(reading))
    described = read_item_table(features, **of_items(reading), complete=True) if features else None
    with jobs.open() as workers, task_progress("Cross-validating") as on_task:
        found = cross_validate(table, known, features=described, jobs=workers, on_task=on_task, **settings)
    deliver(found, out, as_json, _print)


def _print(found: CrossValidation) -> None:
    tell(
        f"{found.source} against {found.reference}: {counted(found.items, 'item')}, {found.folds} folds, "
        f"seed {found.seed}; "
        + ("iterations chosen on the validation items" if found.selected else "models as they converge")
    )
    rows = [[row.model, number(row.ccc), number(row.pearson), _iterations(row)] for row in found.models]
    print_table(["model", "CCC", "Pearson", "iteration"], rows)
    names = [row.model for row in found.models]
    print_table(["dimension", "", *names], list(_by_dimension(found)))
    for line in significance_lines(found):
        tell(line)


def _iterations(row: ModelResult) -> str:
    chosen = [iteration for fold in row.folds for iteration in fold.iterations]
    return f"{min(chosen)}" if min(chosen) == max(chosen) else f"{min(chosen)} to {max(chosen)}"


def _by_dimension(found: CrossValidation) -> Iterator[list[str]]:
    for d, score in enumerate(found.models[0].dimensions):
        for metric, shown in METRICS.items():
            cells = [number(getattr(row.dimensions[d], metric)) for row in found.models]
            yield [score.name if metric == "ccc" else "", shown, *cells]


def significance_lines(found: CrossValidation) -> Iterator[str]:
    """Who is significantly better than whom, and in what."""
    sure = [row for row in found.differences if row.better is not None]
    if not sure:
        yield "No difference between two models is significant."
    entries = [(row.better or "", row.second if row.better == row.first else row.first, row) for row in sure]
    pairs = sorted(entries, key=lambda entry: entry[:2])
    for (better, worse), rows in groupby(pairs, key=lambda entry: entry[:2]):
        what = ", ".join(f"{METRICS[row.metric]} of {row.dimension}" for _, _, row in rows)
        yield f"{better} is significantly better than {worse}: {what}."
