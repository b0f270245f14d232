"""`unisono export`: fused truth goes back to the tool that the ratings came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unisono.cli.talk import say
from unisono.data.introduction import counted

KINDS = ("label-studio", "inspect", "crowd-kit", "nova", "elan")


@click.command("export")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("fused", type=click.Path(exists=True, path_type=Path), metavar="DIR")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, metavar="PATH", help="File or folder to write."
)
@click.option("--dim", "dims", metavar="NAME", multiple=True, help="Dimension to export; all by default. Repeatable.")
@click.option("--to-name", metavar="NAME", help="label-studio: the object that is rated.  [default: item]")
@click.option(
    "--as", "form", type=click.Choice(("number", "rating")), help="label-studio: the control.  [default: number]"
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0, min_open=True),
    metavar="HZ",
    help="elan: intervals per second.  [default: 1]",
)
@click.pass_context
def command(ctx: click.Context, /, kind: str, fused: Path, out: Path, dims: tuple[str, ...], **options: Any) -> None:
    """Write the truth in DIR (the folder that `unisono fuse --out` wrote) as KIND.

    \b
    label-studio  tasks with predictions (JSON)
    inspect       scores for precomputed_scores (JSON lines)
    crowd-kit     task, label of one dimension (CSV)
    nova          annotations with confidence, for traces (a folder)
    elan          tiers of means per interval, for traces (a folder)
    """
    from unisono.errors import DataError
    from unisono.io.exporting.registry import export_truth
    from unisono.io.exporting.truth import read_truth

    truth = read_truth(fused, dims)
    try:
        export_truth(kind, truth, out, options)
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise click.UsageError(str(error), ctx) from None
    say(f"Written to {out}: {counted(len(truth.items), 'item')}, {', '.join(truth.dimensions)}.")
