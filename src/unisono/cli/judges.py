"""`unisono judges`: judges beside people, one by one and together, and means of systems that hold."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.kind_options import covariate_option, kind_options
from unisono.cli.options import TablePath, json_option, ratings_argument, reading_options, seed_option
from unisono.cli.progress import estimation_progress
from unisono.cli.talk import number, print_json, print_table, say
from unisono.errors import LeftOutWarning

if TYPE_CHECKING:
    from unisono.evaluate.judges.measure import JudgesReport

SHOWN = 10  # items named
TARGET = 0.9  # correlation of estimate and truth that is reckoned enough


@click.command("judges")
@ratings_argument
@reading_options
@kind_options
@covariate_option
@click.option("--by", metavar="COLUMN", help="Column that names the system of an item: means of systems, and ties.")
@click.option("--prompt", metavar="COLUMN", help="Column that names the prompt of an item, to pair systems.")
@click.option("--items", type=TablePath(), metavar="FILE", help="Table with these columns, if RATINGS has them not.")
@click.option(
    "--shared",
    type=click.FloatRange(0, 1, max_open=True),
    metavar="SHARE",
    help="Share of their errors that judges are expected to have in common.  [default: chosen by labels]",
)
@click.option(
    "--epsilon",
    type=click.FloatRange(0, 1),
    default=0.2,
    show_default=True,
    help="How much worse than a person a judge may be and still replace one.",
)
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Folds of the cross-fitting.")
@seed_option
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Folder for the tables.")
@json_option
def command(
    ratings: str,
    reading: dict[str, Any],
    out: Path | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Look at judges in RATINGS beside people: each judge, the panel, whether judges may replace people, what to label.

    Kinds come from a column 'kind', --kind or --humans. With --by it also gives means of systems that hold whatever the
    judges do (prediction-powered), with intervals and ties. --out DIR writes judges.csv, groups.csv, next_items.csv
    and, with --covariate, covariates.csv, with --by, leaderboard.csv and differences.csv.
    """
    from unisono.api import judges
    from unisono.io.atomic import atomic_directory
    from unisono.io.writing import csv_text

    warnings.simplefilter("ignore", LeftOutWarning)  # systems and prompts are no ratings
    with estimation_progress("Estimating") as watching:
        found = judges(ratings, reading=reading, on_step=watching, **asked)
    if out is not None:
        with atomic_directory(out) as folder:
            for name, columns in found.tables().items():
                (folder / name).write_text(csv_text(columns), encoding="utf-8")
    if as_json:
        print_json(found.to_dict())
        return
    _show(found)
    if out is not None:
        say(f"Written to {out}: {', '.join(found.tables())}")


def _show(found: JudgesReport) -> None:
    judged, panel, dimensions = found.judge_columns(), found.groups.columns(), found.annotators.dimensions
    click.echo(f"Judges beside '{found.reference}', who rated {found.labelled} items")
    _print(judged, "judge", "dimension", "bias", "gain", "noise", "reliability", "advantage", "replaces_people")
    click.echo("Groups: what their members do in common")
    _print(panel, "kind", "dimension", "annotators", "leniency", "gain", "shared_error", "share", "effective")
    click.echo("Correlation of estimate and truth to expect, by ratings of people on every item")
    rows = [[str(n), *map(number, row)] for n, row in enumerate(found.correlation.tolist())]
    print_table(["people", *dimensions], rows)
    needed = [
        f"{name} {_number_needed(column)}"
        for name, column in zip(dimensions, found.correlation.T.tolist(), strict=True)
    ]
    click.echo(f"People per item for a correlation of {TARGET:g}: {', '.join(needed)}.")
    _show_effects(found.effects)
    if found.systems is not None:
        click.echo("Systems, with 90 % intervals; ranks that cannot be told apart overlap")
        board = found.systems.columns()
        _print(
            board, "system", "dimension", "mean", "low", "high", "best_rank", "worst_rank", "labels_mean", "labelled"
        )
    say(f"People should rate next: {', '.join(found.next_items[:SHOWN])}")


def _number_needed(correlation: list[float]) -> str:
    """The fewest people, of 0, 1, ..., with whom this correlation is reached."""
    enough = [n for n, reached in enumerate(correlation) if reached >= TARGET]
    return str(enough[0]) if enough else f"more than {len(correlation) - 1}"


def _show_effects(effects: dict[str, Any]) -> None:
    """Those effects of covariates that are clearly not nothing."""
    if not effects:
        return
    limits = zip(effects["low"], effects["high"], strict=True)
    clear = [row for row, (low, high) in enumerate(limits) if low > 0 or high < 0]
    shown = f"{len(clear)} of {len(effects['effect'])} effects of covariates are clear of 0"
    click.echo(f"{shown}: change of the answer per unit, with 90 % intervals" if clear else f"{shown}.")
    if clear:
        names = ("annotator", "dimension", "covariate", "effect", "low", "high")
        _print({name: [effects[name][row] for row in clear] for name in names}, *names)


def _print(columns: dict[str, Any], *names: str) -> None:
    rows = zip(*(list(columns[name]) for name in names), strict=True)
    print_table(list(names), [[cell if isinstance(cell, str) else _figure(cell) for cell in row] for row in rows])


def _figure(value: Any) -> str:
    """Counts as they are, everything else with three digits."""
    return number(float(value)) if isinstance(value, float) else str(int(value))
