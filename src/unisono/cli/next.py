"""`unisono next`: what to rate next, and whom to ask."""

from __future__ import annotations

from pathlib import Path

import click

from unisono.cli.options import json_option
from unisono.cli.talk import number, print_json, print_table


@click.command("next")
@click.argument("fit", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--count", type=click.IntRange(min=1), default=10, show_default=True, help="Items and annotators shown.")
@json_option
def command(fit: Path, count: int, as_json: bool) -> None:
    """Say which items to rate next, and whose ratings tell most.

    FIT is the folder that `unisono fuse --out` wrote, or the fit/ in it. Items are ranked by how much uncertainty one
    more rating by a typical annotator would remove, annotators by how much of the truth's variance one rating explains.
    """
    from unisono.api import next_ratings

    found = next_ratings(fit).to_dict(count)
    if as_json:
        print_json(found)
        return
    items, people = ([list(row.values()) for row in found[what]] for what in ("items", "annotators"))
    print_table(["rate next", "uncertainty", "reduction"], [[m, number(sd), number(less)] for m, sd, less in items])
    print_table(["ask", "information"], [[k, number(value)] for k, value in people])
