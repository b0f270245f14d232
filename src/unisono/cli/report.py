"""`unisono report`: the page of a saved fusion, made again."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("report")
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Page to write.")
def command(directory: Path, out: Path | None) -> None:
    """Make the report of a saved fusion again: DIRECTORY is what `unisono fuse --out` wrote.

    The page is made of DIRECTORY/report.json alone, so neither the ratings nor the fit are needed. It is one HTML file
    that asks the network for nothing: mail it, print it, archive it.
    """
    from unisono.publish import page_again

    click.echo(f"Written to {page_again(directory, out)}.")
