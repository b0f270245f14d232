"""`unisono datasets`: what comes with the package, and what can be fetched."""

from __future__ import annotations

from pathlib import Path

import click

from unisono.cli.talk import say


@click.group("datasets")
def command() -> None:
    """List data sets, copy bundled ones, and fetch those that may not be bundled."""


@command.command("list")
def list_() -> None:
    """Name all data sets: bundled ones, and ones to fetch with where they come from."""
    from unisono.datasets import BUNDLED
    from unisono.datasets.fetch import ORIGINS, cached

    for name in BUNDLED:
        click.echo(f"{name}: bundled")
    for name, origin in ORIGINS.items():
        folder = cached(name)
        click.echo(f"{name}: {f'fetched, in {folder}' if folder else f'to fetch from {origin.url}'}")
        click.echo(f"  {origin.about}")


@command.command("fetch")
@click.argument("name")
def fetch(name: str) -> None:
    """Fetch the data set NAME into the user's cache (UNISONO_CACHE, or ~/.cache/unisono), checked by checksum."""
    from unisono.datasets.fetch import fetch as get

    folder = get(name)
    click.echo(str(folder))
    say("Commands that need it find it there.")


@command.command("copy")
@click.argument("name")
@click.option("--table", default="ratings", show_default=True, help="Which table: ratings, reference or features.")
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="File to write.")
def copy(name: str, table: str, out: Path | None) -> None:
    """Copy a bundled data set to a CSV file, to try commands on: NAME.csv unless --out says otherwise."""
    import gzip

    from unisono.datasets import dataset_path
    from unisono.io.atomic import atomic_path

    try:
        source = dataset_path(name, table)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    content = source.read_bytes()
    target = out if out is not None else Path(f"{name}.csv")
    with atomic_path(target) as temporary:
        temporary.write_bytes(gzip.decompress(content) if source.suffix == ".gz" else content)
    click.echo(f"Written to {target}; where it comes from and its licence: {source.parent / 'README.md'}")
