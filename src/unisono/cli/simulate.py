"""`unisono simulate`: ratings with a known truth, drawn from the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from unisono.cli.talk import say
from unisono.data.introduction import counted

if TYPE_CHECKING:
    from unisono.simulate import Simulation


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
def command() -> None:
    """Draw ratings from the model, with the truth behind them."""


@command.command("items")
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
    from unisono.simulate import simulate_items

    drawn = simulate_items(**settings)
    _write(drawn, settings, out)
    ratings = drawn.ratings
    what = f"{counted(ratings.J, 'judgement')} of {counted(ratings.M, 'item')} by {counted(ratings.K, 'annotator')}"
    say(f"{what}; written to {out}.")


@command.command("series")
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
    from unisono.simulate import simulate_series

    drawn = simulate_series(**settings)
    _write(drawn, settings, out)
    ratings = drawn.ratings
    traces = f"{counted(ratings.J, 'trace')} of {counted(settings['frames'], 'frame')}"
    say(f"{traces}, {counted(ratings.M, 'recording')} by {counted(ratings.K, 'annotator')}; written to {out}.")


def _write(drawn: Simulation, settings: dict[str, Any], out: Path) -> None:
    import polars as pl

    from unisono.io.atomic import atomic_directory
    from unisono.io.writing import item_columns, rating_columns

    with atomic_directory(out) as folder:
        pl.DataFrame(rating_columns(drawn.ratings)).fill_nan(None).write_csv(folder / "ratings.csv")
        pl.DataFrame(item_columns(drawn.features)).write_csv(folder / "features.csv")
        pl.DataFrame(item_columns(drawn.truth)).write_csv(folder / "truth.csv")
        described = {"settings": settings, "annotators": drawn.annotators}
        (folder / "annotators.json").write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
