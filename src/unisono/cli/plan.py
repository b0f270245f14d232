"""`unisono plan`: how many ratings per item are enough."""

from __future__ import annotations

from pathlib import Path

import click

from unisono.cli.options import json_option
from unisono.cli.talk import number, print_json, print_table, say


@click.command("plan")
@click.argument("fit", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--most", type=click.IntRange(min=1), default=20, show_default=True, help="Ratings per item at most.")
@click.option("--target", type=click.FloatRange(0, 1), default=0.9, show_default=True, help="Correlation to reach.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the drawn annotators.")
@json_option
def command(fit: Path, most: int, target: float, seed: int, as_json: bool) -> None:
    """Predict the error for 1, 2, ... ratings per item by annotators like those of FIT.

    For each dimension: the correlation of estimate and truth to expect, and the sd of the truth that remains.
    """
    from unisono.api import plan

    found = plan(fit, most=most, seed=seed)
    if as_json:
        print_json(found.to_dict(target))
        return
    each, enough = found.enough_each(target), found.enough(target)
    # One quantity at a time: side by side, seven dimensions would not fit a screen.
    for what, values in (("Correlation of estimate and truth", found.correlation), ("Sd that remains", found.sd)):
        click.echo(f"{what}, by ratings per item")
        rows = [[str(n), *map(number, row)] for n, row in zip(found.ratings, values.tolist(), strict=True)]
        print_table(["ratings", *found.dimensions], rows)
    most_tried = int(found.ratings[-1])
    words = f"{enough} ratings per item are" if enough else f"{most_tried} ratings per item are not"
    say(f"{words} enough for a correlation of {target:g} in every dimension.")
    if len(each) > 1:
        needed = ", ".join(f"{name} {n or f'more than {most_tried}'}" for name, n in each.items())
        say(f"Needed: {needed}.")
