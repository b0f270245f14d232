"""`unisono simulate`, `datasets` and `reproduce`: ratings with a known truth, data sets, the paper's experiments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.table_options import seed_option
from unisono.cli.terminal import say, task_progress
from unisono.tables.labels import counted

if TYPE_CHECKING:
    from unisono.paper.simulation import Simulation


class SimulateGroup(click.Group):
    """Takes the word that earlier versions had for items, with a note."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] == "global":
            say("Deprecated: 'simulate global' is now called 'simulate items'.")
            args = ["items", *args[1:]]
        return super().resolve_command(ctx, args)


@click.group("simulate", cls=SimulateGroup)
def simulate_group() -> None:
    """Draw ratings from the model, with the truth behind them."""


@simulate_group.command("items")
@click.option("--items", type=click.IntRange(min=1), default=100, show_default=True, help="Items (M).")
@click.option("--annotators", type=click.IntRange(min=1), default=10, show_default=True, help="Annotators (K).")
@click.option("--dimensions", type=click.IntRange(min=1), default=2, show_default=True, help="Dimensions (D).")
@click.option("--features", type=click.IntRange(min=0), default=500, show_default=True, help="Features (P).")
@click.option("--ratings-per-item", type=click.IntRange(min=1), help="Annotators per item.  [default: all]")
@click.option("--noise", type=click.FloatRange(min=0), default=0.3, show_default=True, help="Noise sd.")
@click.option(
    "--transform",
    type=click.Choice(["uniform", "identity", "near-identity", "shared"]),
    default="uniform",
    show_default=True,
    help="Law of F_k: U(0,1); I; I plus normal; the same 1 on, --spread off the diagonal.",
)
@click.option("--spread", type=float, default=0.3, show_default=True, help="For near-identity and shared.")
@click.option("--bias", type=click.FloatRange(min=0), default=0.0, show_default=True, help="Sd of offsets.")
@click.option(
    "--missing", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Share of missing answers."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR", help="Folder.")
def items(out: Path, **settings: Any) -> None:
    """Ratings of items; the defaults are the paper's synthetic experiment.

    Writes ratings.csv, features.csv, truth.csv and annotators.json into DIR.
    """
    from unisono.paper.simulation import simulate_items

    drawn = simulate_items(**settings)
    _write(drawn, settings, out)
    ratings = drawn.ratings
    what = f"{counted(ratings.J, 'judgement')} of {counted(ratings.M, 'item')} by {counted(ratings.K, 'annotator')}"
    say(f"{what}; written to {out}.")


@simulate_group.command("series")
@click.option("--recordings", type=click.IntRange(min=1), default=18, show_default=True, help="Recordings (M).")
@click.option("--frames", type=click.IntRange(min=2), default=350, show_default=True, help="Frames of each (T).")
@click.option("--annotators", type=click.IntRange(min=1), default=6, show_default=True, help="Annotators (K).")
@click.option("--dimensions", type=click.IntRange(min=1), default=2, show_default=True, help="Dimensions (D).")
@click.option("--features", type=click.IntRange(min=0), default=500, show_default=True, help="Features (P).")
@click.option("--window", type=click.IntRange(min=1), default=10, show_default=True, help="Frames of a filter (W).")
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), default=5.0, show_default=True, help="Frames per second."
)
@click.option(
    "--noise",
    type=click.FloatRange(min=0),
    default=0.5,
    show_default=True,
    help="Noise sd on average, in sds of the annotator's signal.",
)
@click.option("--realistic", is_flag=True, help="Annotators with a smooth delay, a gain, leakage and a bias.")
@click.option(
    "--correlation",
    type=click.FloatRange(-1, 1, min_open=True, max_open=True),
    default=0.0,
    show_default=True,
    help="Of the true dimensions.",
)
@click.option(
    "--autocorrelation",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="Of the noise of neighbouring frames.",
)
@click.option(
    "--spammers", type=click.IntRange(min=0), default=0, show_default=True, help="Annotators who trace random walks."
)
@click.option(
    "--missing", type=click.FloatRange(0, 1), default=0.0, show_default=True, help="Share of frames lost in stretches."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, metavar="DIR", help="Folder.")
def series(out: Path, **settings: Any) -> None:
    """Traces; the defaults are the paper's synthetic experiment.

    Features walk at random, hold for 2 to 4 frames and move on in straight lines; the truth is a linear map of them.
    Writes ratings.csv, features.csv, truth.csv and annotators.json into DIR.
    """
    from unisono.paper.simulation import simulate_series

    drawn = simulate_series(**settings)
    _write(drawn, settings, out)
    ratings = drawn.ratings
    traces = f"{counted(ratings.J, 'trace')} of {counted(settings['frames'], 'frame')}"
    say(f"{traces}, {counted(ratings.M, 'recording')} by {counted(ratings.K, 'annotator')}; written to {out}.")


def _write(drawn: Simulation, settings: dict[str, Any], out: Path) -> None:
    import polars as pl

    from unisono.tables.atomic_files import atomic_directory
    from unisono.tables.exporting.result_folder import item_columns, rating_columns

    with atomic_directory(out) as folder:
        pl.DataFrame(rating_columns(drawn.ratings)).fill_nan(None).write_csv(folder / "ratings.csv")
        pl.DataFrame(item_columns(drawn.features)).write_csv(folder / "features.csv")
        pl.DataFrame(item_columns(drawn.truth)).write_csv(folder / "truth.csv")
        described = {"settings": settings, "annotators": drawn.annotators}
        (folder / "annotators.json").write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")


@click.group("datasets")
def datasets_group() -> None:
    """List data sets, copy bundled ones, and fetch those that may not be bundled."""


@datasets_group.command("list")
def list_() -> None:
    """Name all data sets: bundled ones, and ones to fetch with where they come from."""
    from unisono.tables.datasets import BUNDLED
    from unisono.tables.datasets.fetched import ORIGINS, cached

    for name in BUNDLED:
        click.echo(f"{name}: bundled")
    for name, origin in ORIGINS.items():
        folder = cached(name)
        click.echo(f"{name}: {f'fetched, in {folder}' if folder else f'to fetch from {origin.url}'}")
        click.echo(f"  {origin.about}")


@datasets_group.command("fetch")
@click.argument("name")
def fetch(name: str) -> None:
    """Fetch the data set NAME into the user's cache (UNISONO_CACHE, or ~/.cache/unisono), checked by checksum."""
    from unisono.tables.datasets.fetched import fetch as get

    folder = get(name)
    click.echo(str(folder))
    say("Commands that need it find it there.")


@datasets_group.command("copy")
@click.argument("name")
@click.option("--table", default="ratings", show_default=True, help="Which table: ratings, reference or features.")
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="File to write.")
def copy(name: str, table: str, out: Path | None) -> None:
    """Copy a bundled data set to a CSV file, to try commands on: NAME.csv unless --out says otherwise."""
    import gzip

    from unisono.tables.atomic_files import atomic_path
    from unisono.tables.datasets import dataset_path

    try:
        source = dataset_path(name, table)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
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
    """The name as it is today; a name of earlier versions is taken, with a note."""
    from unisono.paper.experiment_runs import known_name

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
