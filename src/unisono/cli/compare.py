"""`unisono compare`: every model on the same ratings, without a reference or with one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.engine_options import Jobs, jobs_options
from unisono.cli.options import (
    TablePath,
    copies_option,
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
    from unisono.evaluate.compare.leaderboard import Comparison, ModelRow

HEAD = ["model", "log density", "s.e.", "RMSE", "s.e.", "90 % cover", "agreement", "s.e."]


@click.command("compare")
@ratings_argument
@reading_options
@click.option("--reference", type=TablePath(), metavar="FILE", help="Known truth: item, then dimensions.")
@features_option
@models_option("all")
@copies_option
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Parts to hide in turn.")
@seed_option
@jobs_options
@out_option
@json_option
def command(
    ratings: str,
    reading: dict[str, Any],
    reference: str | None,
    features: str | None,
    out: Path | None,
    as_json: bool,
    jobs: Jobs,
    **settings: Any,
) -> None:
    """Compare all models on RATINGS, and say whether joint modelling helps on them.

    Every model is fitted with a part of the ratings hidden and predicts the hidden ones; every annotator is left out
    and correlated with the truth fused from the others. With --reference, models are scored against it too. Figures
    are in standard deviations of the ratings; docs/compare.md says how to read them.

    \b
    Models: auto, joint, independent, paper-joint, paper-independent,
            mean, median, zscore-mean, ewe, weighted-mean,
            aligned-mean (traces alone)
    """
    from unisono.api import compare
    from unisono.io.tables import read_item_table, read_ratings

    table = read_ratings(ratings, **reading)
    known = read_item_table(reference, **of_items(reading)) if reference else None
    described = read_item_table(features, **of_items(reading), complete=True) if features else None
    with jobs.open() as workers, task_progress("Comparing") as on_task:
        found = compare(table, reference=known, features=described, jobs=workers, on_task=on_task, **settings)
    deliver(found, out, as_json, _print)


def _print(found: Comparison) -> None:
    what = "recording" if found.kind == "series" else "item"
    counts = [(found.items, what), (found.annotators, "annotator"), (found.judgements, "judgement")]
    tell(
        f"{found.source}: {', '.join(counted(n, one) for n, one in counts)}; {found.folds} folds, seed {found.seed}; "
        "figures in standard deviations of the ratings, s.e.: standard error of the figure before it"
    )
    against = [] if found.reference is None else ["CCC", "Pearson"]
    print_table([*HEAD, *against, "seconds", "iterations"], [_cells(row, bool(against)) for row in found.rows])
    tell(found.answer)


def _cells(row: ModelRow, referenced: bool) -> list[str]:
    figures = [row.log_density, row.log_density_se, row.rmse, row.rmse_se, row.coverage, row.agreement]
    against = [number(row.ccc), number(row.pearson)] if referenced else []
    iterations = f"{row.iterations}" if row.converged else f"{row.iterations}, not converged"
    return [
        row.model,
        *map(number, figures),
        number(row.agreement_se),
        *against,
        number(row.seconds, 2),
        iterations if row.iterations else "–",
    ]
