"""`unisono simulate`, `datasets` and `reproduce`: ratings with a known truth, data sets, the paper's experiments."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.option_groups import NEW_FILE, NEW_FOLDER, QUESTION, RESULT, WORK, command, option, takes
from unisono.cli.setting_table import FROM_ONE, SIMULATED, SIMULATED_COMPARISONS, SIMULATED_ITEMS, SIMULATED_SERIES
from unisono.cli.table_options import seed_option
from unisono.cli.terminal import say, task_progress, tell
from unisono.errors import in_shell
from unisono.tables.atomic_files import atomic_directory, atomic_path
from unisono.tables.labels import counted, listed

if TYPE_CHECKING:
    from unisono.paper.simulation import SimulatedComparisons, Simulation


# A name of both stands in `SIMULATED`.
_SIMULATED = {one.name: one for one in (*SIMULATED_ITEMS, *SIMULATED_SERIES, *SIMULATED_COMPARISONS)}


@command("simulate")
@click.argument("kind", type=click.Choice(("items", "series", "comparisons")))
@option(QUESTION, "--items M", "Items.  [default: 100]", FROM_ONE)
@option(QUESTION, "--recordings M", "Recordings, of series.  [default: 18]", FROM_ONE)
@option(QUESTION, "--annotators K", "Annotators.  [default: 10; 6 of series; 30]", FROM_ONE)
@option(QUESTION, "--dimensions D", "Dimensions.  [default: 2; 1 of comparisons]", FROM_ONE)
@option(QUESTION, "--missing SHARE", "Share of missing answers, or of frames.  [default: 0]", click.FloatRange(0, 1))
@option(QUESTION, "--seed N", "Seed.  [default: 0]", int)
@takes("--set", *SIMULATED, *_SIMULATED.values(), title=QUESTION)
@option(RESULT, "--out DIR", "Folder to write.", NEW_FOLDER, required=True)
@click.pass_context
def simulate_command(ctx: click.Context, /, kind: str, out: Path, **given: Any) -> None:
    """Draw ratings from the model, with the truth behind them; the defaults are the paper's synthetic experiments.

    \b
    items         ratings of items
    series        traces
    comparisons   pairs of items: left, tie or right

    Features of traces walk at random, hold for 2 to 4 frames and move on in straight lines; the truth is a linear map
    of them.

    Writes ratings.csv, features.csv, truth.csv and annotators.json (or comparisons.csv, truth.csv and annotators.json)
    into DIR.
    """
    from unisono.paper.simulation import simulate_comparisons, simulate_items, simulate_series
    from unisono.tables.exporting.result_folder import item_columns, rating_columns

    simulate: Any = {"items": simulate_items, "series": simulate_series}.get(kind, simulate_comparisons)
    words = inspect.signature(simulate).parameters
    asked = {name: value for name, value in given.items() if value is not None}
    if foreign := sorted(set(asked) - set(words)):
        raise click.UsageError(f"simulate {kind} has no {listed(foreign)}. It has {', '.join(words)}.", ctx)
    settings = {name: word.default for name, word in words.items()} | asked
    drawn = simulate(**settings)
    if kind == "comparisons":
        _write({"comparisons": drawn.comparisons.columns(), "truth": item_columns(drawn.truth)}, drawn, settings, out)
        say(f"{counted(drawn.comparisons.n, 'comparison')} of {counted(settings['items'], 'item')}; written to {out}.")
        return
    ratings = drawn.ratings
    tables = {"ratings": rating_columns(ratings), "features": item_columns(drawn.features)}
    _write(tables | {"truth": item_columns(drawn.truth)}, drawn, settings, out)
    if kind == "items":
        what = f"{counted(ratings.J, 'judgement')} of {counted(ratings.M, 'item')}"
    else:
        traces = f"{counted(ratings.J, 'trace')} of {counted(settings['frames'], 'frame')}"
        what = f"{traces}, {counted(ratings.M, 'recording')}"
    say(f"{what} by {counted(ratings.K, 'annotator')}; written to {out}.")


def _write(
    tables: dict[str, dict[str, Any]], drawn: Simulation | SimulatedComparisons, settings: dict[str, Any], out: Path
) -> None:
    import polars as pl

    with atomic_directory(out) as folder:
        for name, columns in tables.items():
            pl.DataFrame(columns).fill_nan(None).write_csv(folder / f"{name}.csv")
        described = {"settings": settings, "annotators": drawn.annotators}
        (folder / "annotators.json").write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")


@command("datasets")
@click.argument("action", type=click.Choice(("list", "copy", "fetch")), default="list")
@click.argument("name", required=False)
@option(RESULT, "--table", "copy: which table: ratings, reference or features.", default="ratings")
@option(RESULT, "-o, --out FILE", "copy: file to write.  [default: NAME.csv]", NEW_FILE)
@click.pass_context
def datasets_command(ctx: click.Context, /, action: str, name: str | None, table: str, out: Path | None) -> None:
    """List data sets, copy bundled ones to try commands on, and fetch those that may not be bundled.

    \b
    unisono datasets             all: bundled, and to fetch
    unisono datasets copy NAME   a bundled one as a CSV file
    unisono datasets fetch NAME  into the user's cache

    The cache is UNISONO_CACHE, or ~/.cache/unisono; what is fetched is checked by checksum.
    """
    if action == "list":
        _list_datasets()
    elif name is None:
        raise click.UsageError(f"Say which data set: unisono datasets {action} NAME. `unisono datasets` has all.", ctx)
    elif action == "copy":
        _copy_dataset(name, table, out)
    else:
        from unisono.tables.datasets.fetched import fetch

        click.echo(str(fetch(name)))
        say("Commands that need it find it there.")


def _list_datasets() -> None:
    from unisono.tables.datasets import BUNDLED
    from unisono.tables.datasets.fetched import ORIGINS, cached

    for name in BUNDLED:
        click.echo(f"{name}: bundled")
    for name, origin in ORIGINS.items():
        folder = cached(name)
        tell(f"{name}: {f'fetched, in {folder}' if folder else f'to fetch from {origin.url}'}")
        tell(f"  {origin.about}")


def _copy_dataset(name: str, table: str, out: Path | None) -> None:
    import gzip

    from unisono.tables.datasets import dataset_path

    try:
        source = dataset_path(name, table)
    except ValueError as error:
        raise click.UsageError(in_shell(error)) from None
    content = source.read_bytes()
    target = out if out is not None else Path(f"{name}.csv")
    with atomic_path(target) as temporary:
        temporary.write_bytes(gzip.decompress(content) if source.suffix == ".gz" else content)
    click.echo(f"Written to {target}; where it comes from and its licence: {source.parent / 'README.md'}")


def _folders(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> dict[str, Path]:
    """NAME=DIR pairs; a folder alone is for the one experiment that was asked for."""
    from unisono.paper.experiment_runs import ALL

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
    from unisono.paper.experiment_runs import known_name

    try:
        return known_name(name)
    except ValueError as error:
        raise click.BadParameter(in_shell(error), ctx, param) from None


@command("reproduce")
@click.argument("name", default="all", callback=_known, is_eager=True, metavar="[NAME|all]")
@option(RESULT, "--out DIR", "Folder to write.", NEW_FOLDER, required=True)
@option(QUESTION, "--quick", "Smaller data sets: minutes instead of an hour, too little to judge claims.", is_flag=True)
@option(QUESTION, "--data [NAME=]DIR", "Tables of your own, see docs/reproduction.md.", each=_folders)
@seed_option
@option(WORK, "--jobs N", "Processes at once; -1 for one per core.", int, default=-1)
def reproduce_command(name: str, out: Path, quick: bool, data: dict[str, Path], seed: int, jobs: int) -> None:
    """Run the paper's experiments, draw its figures, and say for each of its claims whether it holds here.

    Writes index.html, results.json and figures/ into DIR. An interrupted run goes on where it stopped when it is
    called again with the same folder; experiments that were run into it before stay on the page. Needs the extra
    `report` (pip install 'unisono[plot]').

    Experiments: correlations, items-synthetic, items-artificial, items-real, series-synthetic, series-artificial,
    series-real, dependency.
    """
    from unisono.paper.experiment_claims import Settings
    from unisono.paper.experiment_runs import ALL, find_experiments, reproduce

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
