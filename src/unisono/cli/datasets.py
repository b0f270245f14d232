"""`unisono datasets`: what comes with the package, and what can be fetched."""

from __future__ import annotations

import click

from unisono.cli.talk import say


@click.group("datasets")
def command() -> None:
    """List data sets, and fetch those that may not be bundled."""


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
