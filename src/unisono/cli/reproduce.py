"""`unisono reproduce`: the paper's experiments, its figures, and a verdict on each of its claims."""

from __future__ import annotations

from pathlib import Path

import click

from unisono.cli.options import seed_option
from unisono.cli.progress import task_progress
from unisono.cli.talk import say


def _folders(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, Path]:
    """NAME=DIR pairs; a folder alone is for the one experiment that was asked for."""
    from unisono.reproduce.engine.registry import ALL

    found: dict[str, Path] = {}
    for text in given:
        name, equals, folder = text.rpartition("=")
        experiment = _known(ctx, param, name if equals else str(ctx.params["name"]))
        if experiment == ALL:
            raise click.BadParameter(f"Say which experiment '{text}' is for: NAME={text}.", ctx, param)
        path = Path(folder)
        if not path.is_dir():
            raise click.BadParameter(f"There is no folder '{folder}'.", ctx, param)
        found[experiment] = path
    return found


def _known(ctx: click.Context, param: click.Parameter, name: str) -> str:
    """The name as it is today; a name of earlier versions is taken, with a note."""
    from unisono.reproduce.engine.registry import known_name

    try:
        today = known_name(name)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from None
    if today != name:
        say(f"'{name}' is now called '{today}'.")
    return today


@click.command("reproduce")
@click.argument("name", default="all", callback=_known, is_eager=True, metavar="[NAME|all]")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR", help="Folder.")
@click.option(
    "--quick",
    is_flag=True,
    help="Fewer and smaller data sets: minutes instead of an hour. Claims come out as too small to judge.",
)
@click.option(
    "--data",
    multiple=True,
    callback=_folders,
    metavar="[NAME=]DIR",
    help="Tables of your own for an experiment (see docs/reproduction.md). Repeatable.",
)
@seed_option
@click.option(
    "--jobs", type=int, default=-1, show_default=True, metavar="N", help="Processes at once; -1 for one per core."
)
def command(name: str, out: Path, quick: bool, data: dict[str, Path], seed: int, jobs: int) -> None:
    """Run the paper's experiments, draw its figures, and say for each of its claims whether it holds here.

    Writes index.html, results.json and figures/ into DIR. An interrupted run goes on where it stopped when it is
    called again with the same folder; experiments that were run into it before stay on the page. Needs the extra
    `report` (pip install 'unisono[plot]').

    Experiments: correlations, items-synthetic, items-artificial, items-real, series-synthetic, series-artificial,
    series-real, dependency.
    """
    from unisono.reproduce.engine.experiment import Settings
    from unisono.reproduce.engine.registry import ALL, find_experiments
    from unisono.reproduce.engine.run import reproduce

    try:
        experiments = find_experiments(name)
    except ImportError as error:
        raise click.UsageError(f"{error.name} is missing: pip install 'unisono[plot]'.") from None
    settings = Settings(quick, data, seed)
    try:
        with task_progress("Reproducing") as on_task:
            reports = reproduce(experiments, out, settings, jobs=jobs, on_task=on_task, others=find_experiments(ALL))
    except KeyboardInterrupt:
        say(f"Interrupted. What is finished is kept in {out}: the same command goes on from there.")
        raise click.exceptions.Exit(130) from None
    for one in (one for one in reports if one.experiment in experiments):
        click.echo(one.experiment.title)
        for claim in one.chapter.claims:
            click.echo(f"  {claim.judgement:>16}  {claim.text}")
    say(f"Written to {out / 'index.html'}.")
